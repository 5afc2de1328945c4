/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body: buffers a request's body as it arrives. Its memory counts against the limits of its site
 * and of all bodies in flight.
 *
 * One thread at a time. Private to collector/http.
 */
#ifndef FP_HTTP_BODY_H
#define FP_HTTP_BODY_H

#include "collector/base/buf.h"
#include "collector/ingest/ingest.h"

struct fp_body_buf {
    struct fp_ingest *ingest;
    const struct fp_rules *rules;
    const struct fp_site *site;
    struct fp_buf bytes; /* its capacity is held from the ingest */
};

enum fp_body_result {
    FP_BODY_FINE,
    FP_BODY_LARGE,     /* beyond limits.max_body */
    FP_BODY_NO_MEMORY, /* the site, all bodies together, or the machine ran out */
};

/* Initialises an empty body. A body of zeros is empty too, but nothing can be added to it. Rules
 * (which contain the site) and ingest must outlive it. */
void fp_body_buf_init(struct fp_body_buf *body, struct fp_ingest *ingest,
                      const struct fp_rules *rules, const struct fp_site *site);

/* Appends a piece. announced_len: the length of the whole body, 0 if unknown. On failure the body
 * is unchanged. */
enum fp_body_result fp_body_buf_add(struct fp_body_buf *body, struct fp_str piece,
                                    uint64_t announced_len) FP_MUST_CHECK;

/* Moves the bytes to the caller, who owns them from now on; they are no longer held. */
struct fp_buf fp_body_buf_take(struct fp_body_buf *body);

/* Frees the bytes; the body stays usable. */
void fp_body_buf_release(struct fp_body_buf *body);

#endif
