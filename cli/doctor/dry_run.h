/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dry run: one small upload that a collector checks and does not store. Private to cli/doctor.
 *
 * One thread.
 */
#ifndef FP_CLI_DOCTOR_DRY_RUN_H
#define FP_CLI_DOCTOR_DRY_RUN_H

#include "cli/doctor/fetch.h"

/* Returns a valid envelope; token: "" for none. The caller frees it. */
char *fp_dry_run_envelope(const char *page_url, struct fp_str token, size_t *len) FP_MUST_CHECK;

struct fp_dry_run {
    const char *url;         /* of the endpoint, without ?dry_run */
    const char *unix_socket; /* as in struct fp_fetch_request */
    const char *origin;      /* of the page; NULL: none is sent */
    const char *token;       /* sent as a header; NULL: none is */
    struct fp_str body;
    bool is_named; /* as in struct fp_fetch_request */
};

/* Posts it as the agent does. The caller calls fp_fetch_release. */
void fp_dry_run_post(struct fp_fetcher *fetcher, const struct fp_dry_run *run,
                     struct fp_client_reply *reply);

/* Returns the collector's result: "accepted…" or the reason of a refusal; "": not a collector's
 * reply to a dry run. */
const char *fp_dry_run_result(const struct fp_client_reply *reply);

/* True if the reply has the form of a collector's errors. */
bool fp_dry_run_is_problem(const struct fp_client_reply *reply);

/* Writes what a reply says: its status, and the collector's detail. */
void fp_dry_run_describe(const struct fp_client_reply *reply, char *text, size_t size);

#endif
