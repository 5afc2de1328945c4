/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trouble: why a request gets no answer, as application/problem+json (RFC 9457).
 */
#ifndef FP_CLI_SERVE_TROUBLE_H
#define FP_CLI_SERVE_TROUBLE_H

#include "collector/base/base.h"

struct fp_trouble {
    unsigned status;       /* HTTP; 0: there is no trouble */
    unsigned retry_s;      /* `Retry-After`; 0: none */
    bool is_final;         /* only another way of starting the server ends it */
    const char *allow;     /* `Allow` of a status 405, static; NULL: GET and HEAD */
    const char *parameter; /* the one at fault, static; NULL: none */
    char unknown[81];      /* the name of a parameter that there is not; "": none; not escaped */
    char detail[640];      /* a sentence; not escaped */
    char hint[1024];       /* what to do; "": nothing to say; not escaped */
};

/* Seconds for `Retry-After`. */
enum {
    FP_TROUBLE_BUSY_S = 2,  /* until other requests have their answers */
    FP_TROUBLE_AWAY_S = 10, /* until a database is back */
};

/* Fills the trouble; detail is a printf format. Any thread. */
void fp_trouble_set(struct fp_trouble *trouble, unsigned status, const char *detail, ...)
    FP_PRINTF(3, 4);

/* Fills the hint of a trouble. */
void fp_trouble_hint(struct fp_trouble *trouble, const char *hint, ...) FP_PRINTF(2, 3);

/* Fills a bad request (400) about a parameter, whose name is static. */
void fp_trouble_parameter(struct fp_trouble *trouble, const char *parameter, const char *detail,
                          ...) FP_PRINTF(3, 4);

/* Fills a lack of memory (503). */
void fp_trouble_memory(struct fp_trouble *trouble);

/* Returns the trouble as JSON: type, title, status, detail and, where they apply, parameter and
 * hint. The text is malloc'd and the caller frees it; NULL when out of memory. */
char *fp_trouble_json(const struct fp_trouble *trouble, size_t *len) FP_MUST_CHECK;

#endif
