/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetch: one HTTP request after another by libcurl, bounded in time, size and number.
 *
 * Credentials of the first URL go to its origin only. Nothing is followed: fp_fetch_following does
 * that step by step. One thread.
 */
#ifndef FP_CLI_DOCTOR_FETCH_H
#define FP_CLI_DOCTOR_FETCH_H

#include "cli/kit/client.h"
#include "collector/base/buf.h"

enum { FP_FETCH_HOPS_MAX = 10 };

struct fp_fetch_settings {
    const char *url;     /* absolute; may contain user and password */
    const char *ca_file; /* trusted certificates; NULL: the system's */
    int64_t deadline_us; /* monotonic: when all requests must have ended */
    /* If the first request went to a public address, none goes to this machine or its neighbours:
     * a page must not steer us there. Judges the address of each connection. */
    bool is_guarded;
};

struct fp_fetcher;

/* Returns a fetcher; settings' texts must outlive it. */
struct fp_fetcher *fp_fetcher_create(const struct fp_fetch_settings *settings);
void fp_fetcher_free(struct fp_fetcher *fetcher);

/* True once the deadline has passed. */
bool fp_fetcher_is_late(const struct fp_fetcher *fetcher);

/* From now on, connects to HOST:PORT instead of the URLs' hosts; NULL: to the URLs' hosts. */
void fp_fetcher_direct(struct fp_fetcher *fetcher, const char *direct);

struct fp_fetch_request {
    const char *method;        /* GET, POST or OPTIONS */
    const char *url;           /* absolute, without credentials */
    const char *const *fields; /* "Name: value", up to a NULL; NULL: none */
    struct fp_str body;        /* of a POST */
    size_t body_max;           /* bytes of the reply's body that are read */
    const char *unix_socket;   /* connect to this path instead of the host; NULL: to the host */
    bool is_named;             /* the user has named this address: it is not guarded */
};

/* Sends one request and waits for its reply. The caller calls fp_client_release. */
void fp_fetch(struct fp_fetcher *fetcher, const struct fp_fetch_request *request,
              struct fp_client_reply *reply);

/* Returns all values of this name joined by ", "; NULL if there is none. The caller frees it. */
char *fp_fetch_joined(const struct fp_client_reply *reply, const char *name) FP_MUST_CHECK;

/* Looks at one redirect, from `url` to `target`. False: do not follow it. */
typedef bool fp_fetch_hop_fn(void *context, const char *url, const char *target,
                             const struct fp_client_reply *reply);

/* Sends a GET and follows redirects. Returns the URL of the last reply, which the caller frees. If
 * there are too many hops, or `hop` says no, the last reply is a redirect. */
char *fp_fetch_following(struct fp_fetcher *fetcher, const struct fp_fetch_request *request,
                         struct fp_client_reply *reply, fp_fetch_hop_fn *hop, void *context);

#endif
