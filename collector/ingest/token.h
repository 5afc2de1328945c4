/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: checks an upload's page token under the rules of its site. Any thread.
 */
#ifndef FP_INGEST_TOKEN_H
#define FP_INGEST_TOKEN_H

#include "collector/base/problem.h"
#include "collector/ingest/metrics.h"
#include "collector/ingest/nonces.h"
#include "collector/ingest/rules.h"
#include "collector/rollup/record.h"

/* Most seconds by which the clocks of web servers and collectors may differ. */
#define FP_TOKEN_SKEW_S 60

/* The tokens that one dry run has claimed: a form may claim one several times. */
struct fp_token_trial {
    char nonces[FP_RECORD_DELTAS_MAX][FP_NONCE_LEN];
    size_t count;
    const char *trouble; /* of the first token that is not valid, though not required; else NULL */
};

/* The facts that a good token proves. */
struct fp_token_proof {
    uint32_t rate_ppm;  /* the sample rate of its page load; 0: none, or it was not sampled */
    struct fp_str arms; /* of experiments, `NAME=ARM,NAME=ARM`, in the claim's token; "" if none */
};

/* An upload's token, and what it is checked against. */
struct fp_token_claim {
    const struct fp_site *site;
    struct fp_str token;           /* "" if the upload has none */
    bool has_samples;              /* the upload has a profile: its page load was sampled */
    int64_t now_us;                /* epoch */
    struct fp_metric_set *metrics; /* ingest's; counts the verdict */
    struct fp_token_trial *trial;  /* of a dry run, which neither uses nor counts; otherwise NULL */
};

/*
 * Checks the token and, if it is valid, uses it once. True: the upload is admitted, and *proof is
 * what its token proves, which may be nothing. False: the site requires a valid token, and *problem
 * says why this one is not. A site without keys ignores tokens.
 */
bool fp_token_admit(const struct fp_token_claim *claim, struct fp_token_proof *proof,
                    struct fp_problem *problem) FP_MUST_CHECK;

#endif
