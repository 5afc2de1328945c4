/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ingest, budgets: describes a shortage in words.
 */
#include "collector/ingest/charge.h"

#include "collector/base/clock.h"

static bool has_budget(const struct fp_site *site)
{
    const uint64_t *per_s = site->budgets.per_s;
    return per_s[FP_BUDGET_REQUESTS] > 0 || per_s[FP_BUDGET_BYTES] > 0;
}

bool fp_ingest_spend(const struct fp_site *site, const struct fp_budget_cost *cost,
                     struct fp_problem *problem)
{
    static const struct {
        enum fp_refusal reason;
        const char *setting;
    } kinds[FP_BUDGET_KINDS] = {
        [FP_BUDGET_REQUESTS] = {FP_REFUSAL_BUDGET_REQUESTS, "requests_per_second"},
        [FP_BUDGET_BYTES] = {FP_REFUSAL_BUDGET_BYTES, "bytes_per_second"},
    };
    struct fp_budget_shortage shortage;
    int64_t now_us = fp_clock_monotonic_us();
    if (!has_budget(site) || fp_budget_spend(site->budget, &site->budgets, cost, now_us, &shortage))
        return true;
    fp_problem_refuse(problem, kinds[shortage.kind].reason,
                      "the site has spent its budget for now (budgets.%s)",
                      kinds[shortage.kind].setting);
    problem->retry_s = shortage.retry_s;
    return false;
}

void fp_ingest_refund(const struct fp_site *site, const struct fp_budget_cost *cost)
{
    if (has_budget(site))
        fp_budget_return(site->budget, cost);
}
