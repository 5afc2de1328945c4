/*
 * Body: the bytes of a request's body as they come, in memory that is taken out of what its site
 * and all bodies together may use.
 *
 * One thread at a time. Private to this room.
 */
#ifndef FP_HTTP_BODY_H
#define FP_HTTP_BODY_H

#include "collector/base/buf.h"
#include "collector/ingest/ingest.h"

struct fp_body_buf {
    struct fp_ingest *ingest;
    const struct fp_rules *rules;
    const struct fp_site *site;
    struct fp_buf bytes; /* its capacity is charged */
};

enum fp_body_result {
    FP_BODY_FINE,
    FP_BODY_LARGE,     /* beyond limits.max_body */
    FP_BODY_NO_MEMORY, /* the site, all bodies, or the machine have none left */
};

/* An empty one, as one of zeros is, to which nothing can be added; rules (with the site in them)
 * and ingest must outlive it. */
void fp_body_buf_init(struct fp_body_buf *body, struct fp_ingest *ingest,
                      const struct fp_rules *rules, const struct fp_site *site);

/* Adds a piece. announced_len: what the whole body will have, 0 when that is
 * unknown. What does not fit leaves the body as it is. */
enum fp_body_result fp_body_buf_add(struct fp_body_buf *body, struct fp_str piece,
                                    uint64_t announced_len) FP_MUST_CHECK;

/* Hands the bytes over to the caller, who owns them now; they are not charged any more. */
struct fp_buf fp_body_buf_take(struct fp_body_buf *body);

/* Frees the bytes; the body may be used on. */
void fp_body_buf_release(struct fp_body_buf *body);

#endif
