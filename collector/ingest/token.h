/*
 * Tokens: what an upload's page token is worth under the rules of its site. Any thread.
 */
#ifndef FP_INGEST_TOKEN_H
#define FP_INGEST_TOKEN_H

#include "collector/base/problem.h"
#include "collector/ingest/metrics.h"
#include "collector/ingest/nonces.h"
#include "collector/ingest/rules.h"

/* By how much the clocks of web servers and collectors may differ. */
#define FP_TOKEN_SKEW_S 60

/* An upload's token, and what it is held against. */
struct fp_token_claim {
    const struct fp_site *site;
    struct fp_str token; /* "" when the upload has none */
    int64_t now_us;      /* epoch */
    struct fp_nonce_table *nonces;
    struct fp_metric_set *metrics; /* the ingest room's; counts the verdict */
};

/*
 * Checks the token and, if it is good, uses it once. True: the upload may come in, and *rate_ppm is
 * the sample rate that its token verifies, 0 when none does. False: the site demands a good token
 * and *problem says why this is none. A site without keys looks at no token.
 */
bool fp_token_admit(const struct fp_token_claim *claim, uint32_t *rate_ppm,
                    struct fp_problem *problem) FP_MUST_CHECK;

#endif
