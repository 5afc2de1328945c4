/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nonces: counts how often the token of each page load was used, in a fixed amount of memory.
 *
 * A used nonce may be evicted only if its token would be refused anyway. So when a set is full, the
 * token that expires first is evicted, and from then on unknown tokens that expire no later are
 * refused. A flood of page loads makes old tokens worthless sooner, but never allows a used one to
 * start again. Only tokens with a valid signature get here, so filling the table takes as many
 * sampled page loads as it has places.
 *
 * Each site with token keys has a table of its own, so no site can evict another's nonces. It lives
 * as long as the configuration names the site, across reloads. Any thread.
 */
#ifndef FP_INGEST_NONCES_H
#define FP_INGEST_NONCES_H

#include "collector/base/base.h"

#define FP_NONCE_LEN 16

enum fp_nonce_verdict {
    FP_NONCE_FINE,
    FP_NONCE_USED_UP,
    FP_NONCE_FORGOTTEN, /* it may have been evicted: its uses are unknown */
};

struct fp_nonce_table;

/* Makes an empty table with one reference, which uses about `bytes` when it is full (32 bytes per
 * nonce, at least 16 nonces); NULL when out of memory. */
struct fp_nonce_table *fp_nonce_table_create(size_t bytes) FP_MUST_CHECK;

/* Add and drop a reference; dropping the last one frees the table. NULL is fine. */
struct fp_nonce_table *fp_nonce_table_ref(struct fp_nonce_table *table);
void fp_nonce_table_unref(struct fp_nonce_table *table);

/*
 * Changes how much a table may use. It keeps its nonces; if they no longer fit, those that expire
 * last. Still no used nonce may start again: unknown tokens that expire before one that was
 * perhaps evicted earlier are refused. False when out of memory: the table stays as it was.
 */
bool fp_nonce_table_resize(struct fp_nonce_table *table, size_t bytes) FP_MUST_CHECK;

/*
 * Uses a nonce once more, unless it was used uses_max times. expires_s: when its token expires, in
 * seconds since 1970, above 0, the same at each use (if token_max_age is raised, an evicted nonce
 * may be accepted again).
 */
enum fp_nonce_verdict fp_nonce_table_use(struct fp_nonce_table *table,
                                         const char nonce[FP_NONCE_LEN], int64_t expires_s,
                                         uint32_t uses_max) FP_MUST_CHECK;

/* Returns what fp_nonce_table_use would return if the nonce had been used `uses_before` times more.
 * Changes nothing. */
enum fp_nonce_verdict fp_nonce_table_peek(struct fp_nonce_table *table,
                                          const char nonce[FP_NONCE_LEN], int64_t expires_s,
                                          uint32_t uses_max, uint32_t uses_before) FP_MUST_CHECK;

#endif
