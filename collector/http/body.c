/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body: grows as pieces arrive, and holds its capacity of the memory for bodies.
 */
#include "collector/http/body.h"

#include "collector/base/assert.h"

enum {
    FIRST_CAP = 16 * 1024, /* reserved at most on the strength of a Content-Length */
    UNKNOWN_LEN_CAP = 1024,
    CAP_MIN = 256,
};

void fp_body_buf_init(struct fp_body_buf *body, struct fp_ingest *ingest,
                      const struct fp_rules *rules, const struct fp_site *site)
{
    *body = (struct fp_body_buf){.ingest = ingest, .rules = rules, .site = site};
    fp_buf_init(&body->bytes, rules->max_body);
}

/* Returns the first capacity. A Content-Length is only a hint: announcing is free, so little is
 * reserved for it. */
static size_t first_cap(uint64_t announced_len)
{
    if (announced_len == 0)
        return UNKNOWN_LEN_CAP;
    return announced_len < CAP_MIN     ? CAP_MIN
           : announced_len > FIRST_CAP ? FIRST_CAP
                                       : (size_t)announced_len;
}

/* Grows by doubling, so a client reserves at most twice what it really sent. */
static bool make_room(struct fp_body_buf *body, size_t more, uint64_t announced_len)
{
    struct fp_buf *bytes = &body->bytes;
    size_t needed = bytes->len + more;
    if (needed <= bytes->cap)
        return true;
    size_t held = bytes->cap;
    size_t cap = held > bytes->max / 2 ? bytes->max : held * 2;
    if (held == 0)
        cap = first_cap(announced_len);
    if (cap < needed)
        cap = needed;
    FP_ASSERT(held < cap && cap <= bytes->max);
    if (!fp_ingest_hold(body->ingest, body->rules, body->site, cap - held))
        return false;
    if (fp_buf_reserve(bytes, cap - bytes->len) != NULL) {
        FP_ASSERT(bytes->cap == cap); /* as much as is held */
        return true;
    }
    fp_ingest_let_go(body->ingest, body->site, cap - held);
    return false;
}

enum fp_body_result fp_body_buf_add(struct fp_body_buf *body, struct fp_str piece,
                                    uint64_t announced_len)
{
    if (piece.len > body->bytes.max - body->bytes.len)
        return FP_BODY_LARGE;
    if (!make_room(body, piece.len, announced_len))
        return FP_BODY_NO_MEMORY;
    fp_buf_add(&body->bytes, piece.ptr, piece.len);
    return FP_BODY_FINE;
}

/* Returns what the body holds. */
static void let_go(const struct fp_body_buf *body)
{
    if (body->bytes.cap > 0)
        fp_ingest_let_go(body->ingest, body->site, body->bytes.cap);
}

struct fp_buf fp_body_buf_take(struct fp_body_buf *body)
{
    struct fp_buf bytes = body->bytes;
    let_go(body);
    fp_buf_init(&body->bytes, bytes.max);
    return bytes;
}

void fp_body_buf_release(struct fp_body_buf *body)
{
    let_go(body);
    fp_buf_release(&body->bytes);
}
