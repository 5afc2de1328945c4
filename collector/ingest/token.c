/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: combines page_token, which verifies a token, with the nonce table, which counts its uses,
 * into one verdict.
 */
#include "collector/ingest/token.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"

#include "page_token/page_token.h"

#define RETRY_UNCHECKED_S 5

_Static_assert(FP_NONCE_LEN == FLEETPROF_TOKEN_NONCE_LEN, "a token's nonce fits the table");

struct verdict {
    enum fp_ingest_metric metric;
    enum fp_refusal reason; /* unused for a valid token */
    const char *detail;     /* for a web developer */
};

static const struct verdict good = {FP_METRIC_PAGE_TOKENS_GOOD, FP_REFUSAL_COUNT, ""};
static const struct verdict missing = {
    FP_METRIC_PAGE_TOKENS_MISSING, FP_REFUSAL_TOKEN_MISSING,
    "the upload has no page token, and this site requires one; send the description of the page's "
    "Server-Timing entry \"fleetprof\" as token"};
static const struct verdict unsampled = {
    FP_METRIC_PAGE_TOKENS_FORGED, FP_REFUSAL_TOKEN_FORGED,
    "the token is of a page load that was not sampled, but the upload has a profile"};
static const struct verdict used_up = {FP_METRIC_PAGE_TOKENS_USED_UP, FP_REFUSAL_TOKEN_USED_UP,
                                       "the token is used up: its page load has sent as many "
                                       "uploads as the site's token_uploads says"};
static const struct verdict forgotten = {
    FP_METRIC_PAGE_TOKENS_FORGOTTEN, FP_REFUSAL_TOKEN_FORGOTTEN,
    "the token is too old: the collector no longer knows how often it was used"};

static struct verdict judge_error(enum fleetprof_token_error error)
{
    const char *detail = fleetprof_token_error_text(error);
    switch (error) {
    case FLEETPROF_TOKEN_OK:
        return good;
    case FLEETPROF_TOKEN_EXPIRED:
        return (struct verdict){FP_METRIC_PAGE_TOKENS_EXPIRED, FP_REFUSAL_TOKEN_EXPIRED, detail};
    case FLEETPROF_TOKEN_EARLY:
        return (struct verdict){FP_METRIC_PAGE_TOKENS_EARLY, FP_REFUSAL_TOKEN_EARLY, detail};
    case FLEETPROF_TOKEN_CRYPTO:
        return (struct verdict){FP_METRIC_PAGE_TOKENS_UNCHECKED, FP_REFUSAL_TOKEN_UNCHECKED,
                                detail};
    case FLEETPROF_TOKEN_MALFORMED:
    case FLEETPROF_TOKEN_VERSION:
    case FLEETPROF_TOKEN_UNKNOWN_KEY:
    case FLEETPROF_TOKEN_FORGED:
    case FLEETPROF_TOKEN_OTHER_SITE:
    default:
        return (struct verdict){FP_METRIC_PAGE_TOKENS_FORGED, FP_REFUSAL_TOKEN_FORGED, detail};
    }
}

static struct verdict judge_nonce(enum fp_nonce_verdict verdict)
{
    switch (verdict) {
    case FP_NONCE_FINE:
        return good;
    case FP_NONCE_USED_UP:
        return used_up;
    case FP_NONCE_FORGOTTEN:
    default:
        return forgotten;
    }
}

/* Returns the result of the first key file that contains the token's key. */
static enum fleetprof_token_error check(const struct fp_token_claim *claim, int64_t max_age_s,
                                        struct fleetprof_token *token)
{
    const struct fp_site *site = claim->site;
    const struct fleetprof_token_rules rules = {
        .site = site->name.ptr,
        .site_len = site->name.len,
        .now_s = claim->now_us / FP_US_PER_S,
        .max_age_s = max_age_s,
        .skew_s = FP_TOKEN_SKEW_S,
    };
    enum fleetprof_token_error error = FLEETPROF_TOKEN_UNKNOWN_KEY;
    for (size_t i = 0; i < site->token_key_files.count && error == FLEETPROF_TOKEN_UNKNOWN_KEY; i++)
        error = fleetprof_token_check(site->token_keys[i], claim->token.ptr, claim->token.len,
                                      &rules, token);
    return error;
}

/* Uses the nonce once, or finds out whether a dry run could. */
static enum fp_nonce_verdict claim_nonce(const struct fp_token_claim *claim,
                                         const struct fleetprof_token *token, int64_t expires_s)
{
    const uint32_t uses_max = claim->site->token_uploads;
    struct fp_token_trial *trial = claim->trial;
    if (trial == NULL)
        return fp_nonce_table_use(claim->site->nonces, token->nonce, expires_s, uses_max);
    uint32_t uses_before = 0;
    for (size_t i = 0; i < trial->count; i++)
        if (memcmp(trial->nonces[i], token->nonce, FP_NONCE_LEN) == 0)
            uses_before++;
    FP_ASSERT(trial->count < FP_RECORD_DELTAS_MAX);
    memcpy(trial->nonces[trial->count++], token->nonce, FP_NONCE_LEN);
    return fp_nonce_table_peek(claim->site->nonces, token->nonce, expires_s, uses_max, uses_before);
}

static struct verdict judge(const struct fp_token_claim *claim, struct fp_token_proof *proof)
{
    int64_t max_age_s = claim->site->token_max_age_us / FP_US_PER_S;
    struct fleetprof_token token;
    if (claim->token.len == 0)
        return missing;
    enum fleetprof_token_error error = check(claim, max_age_s, &token);
    if (error != FLEETPROF_TOKEN_OK)
        return judge_error(error);
    if (token.ppm == 0 && claim->has_samples)
        return unsampled;
    enum fp_nonce_verdict nonce =
        claim_nonce(claim, &token, token.time_s + max_age_s + FP_TOKEN_SKEW_S);
    if (nonce == FP_NONCE_FINE)
        *proof = (struct fp_token_proof){token.ppm, {token.arms, token.arms_len}};
    return judge_nonce(nonce);
}

bool fp_token_admit(const struct fp_token_claim *claim, struct fp_token_proof *proof,
                    struct fp_problem *problem)
{
    *proof = (struct fp_token_proof){0, {"", 0}};
    if (claim->site->token_key_files.count == 0)
        return true;
    struct verdict verdict = judge(claim, proof);
    if (claim->trial == NULL)
        fp_metrics_add(claim->metrics, verdict.metric, 1);
    else if (verdict.metric != FP_METRIC_PAGE_TOKENS_GOOD && claim->trial->trouble == NULL)
        claim->trial->trouble = fp_refusal_name(verdict.reason);
    if (verdict.metric == FP_METRIC_PAGE_TOKENS_GOOD || !claim->site->require_token)
        return true;
    fp_problem_refuse(problem, verdict.reason, "%s", verdict.detail);
    problem->retry_s = verdict.reason == FP_REFUSAL_TOKEN_UNCHECKED ? RETRY_UNCHECKED_S : 0;
    return false;
}
