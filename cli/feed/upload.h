/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload: posts a body to a collector over HTTP, as a browser would.
 *
 * One thread.
 */
#ifndef FP_CLI_FEED_UPLOAD_H
#define FP_CLI_FEED_UPLOAD_H

#include "collector/base/base.h"

struct fp_upload_target {
    const char *url;         /* …/v1/ingest/KEY */
    const char *unix_socket; /* path, NULL for TCP */
    const char *page;        /* sent as Referer; NULL: none */
    const char *user_agent;  /* NULL: none */
};

/* The collector's answer; texts are cut to fit. */
struct fp_upload_reply {
    long status;       /* HTTP's; 0 when there was no answer */
    char detail[512];  /* what the collector, or libcurl, said; "" for nothing */
    char pointer[256]; /* "" when the reply has none */
    int64_t offset;    /* -1 when the reply has none */
    long not_kept;     /* sessions that are counted, but not kept whole */
    bool is_tls;       /* the URL asks for TLS, but the server does not speak it */
};

/* A connection that is kept from one upload to the next. */
struct fp_uploader;

/* Returns an uploader that is not connected yet; the target must outlive it. The caller calls
 * fp_uploader_free. */
struct fp_uploader *fp_uploader_create(const struct fp_upload_target *target);
void fp_uploader_free(struct fp_uploader *uploader);

struct fp_upload_content {
    struct fp_str body;
    struct fp_str type;     /* Content-Type, "" for none */
    struct fp_str encoding; /* Content-Encoding, "" for none */
    struct fp_uuid key;     /* Idempotency-Key */
    struct fp_str token;    /* Fleetprof-Token, "" for none */
    bool is_replay;         /* of a dead letter: the collector must not keep it a second time */
};

/*
 * Posts one body and waits for the answer. While the collector is busy (429, 503), prints a notice,
 * waits as long as the collector asks for, at most a minute, and tries again, five times in all.
 */
void fp_uploader_send(struct fp_uploader *uploader, const struct fp_upload_content *content,
                      struct fp_upload_reply *reply);

/* Prints that the upload called `what` got no answer, or one that is not about its content. */
void fp_upload_complain(const char *what, const struct fp_upload_reply *reply);

#endif
