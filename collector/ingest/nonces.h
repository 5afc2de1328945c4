/*
 * Nonces: how often the token of each page load was used, in memory of a fixed size.
 *
 * What is used once may be forgotten only when its token would be refused anyway. So when there is
 * no room, the token that expires first is forgotten, and from then on unknown tokens that expire
 * no later are refused: a flood of page loads makes old tokens worthless sooner, but never lets one
 * be used again from the start. Only tokens whose signature is good get here, so that filling the
 * table takes as many sampled page loads as it has places.
 *
 * A table lives as long as the process, across reloads. Any thread.
 */
#ifndef FP_INGEST_NONCES_H
#define FP_INGEST_NONCES_H

#include "collector/base/base.h"

#define FP_NONCE_LEN 16

enum fp_nonce_verdict {
    FP_NONCE_FINE,
    FP_NONCE_USED_UP,
    FP_NONCE_FORGOTTEN, /* whether it was used is not known any more */
};

struct fp_nonce_table;

/* Makes an empty table for about `places` nonces (32 bytes each); NULL when out of memory. */
struct fp_nonce_table *fp_nonce_table_create(size_t places) FP_MUST_CHECK;

/* NULL is fine. */
void fp_nonce_table_free(struct fp_nonce_table *table);

/*
 * Uses a nonce once more, unless it was used uses_max times. expires_s: when its token does,
 * seconds since 1970, above 0, the same at every use (when token_max_age is raised, what was
 * forgotten before may come once more).
 */
enum fp_nonce_verdict fp_nonce_table_use(struct fp_nonce_table *table,
                                         const char nonce[FP_NONCE_LEN], int64_t expires_s,
                                         uint32_t uses_max) FP_MUST_CHECK;

#endif
