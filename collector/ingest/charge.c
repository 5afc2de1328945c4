/*
 * Ingest, budgets: a shortage in words, in the metrics and in the log.
 */
#include "collector/ingest/charge.h"

#include "collector/base/clock.h"
#include "collector/base/log.h"

static bool has_budget(const struct fp_site *site)
{
    const uint64_t *per_s = site->budgets.per_s;
    return per_s[FP_BUDGET_REQUESTS] > 0 || per_s[FP_BUDGET_BYTES] > 0;
}

bool fp_ingest_spend(const struct fp_site *site, const struct fp_budget_cost *cost,
                     struct fp_metrics *metrics, struct fp_problem *problem)
{
    static const struct {
        enum fp_metric refusals;
        const char *setting;
    } kinds[FP_BUDGET_KINDS] = {
        [FP_BUDGET_REQUESTS] = {FP_METRIC_BUDGET_REFUSALS_REQUESTS, "requests_per_second"},
        [FP_BUDGET_BYTES] = {FP_METRIC_BUDGET_REFUSALS_BYTES, "bytes_per_second"},
    };
    struct fp_budget_shortage shortage;
    int64_t now_us = fp_clock_monotonic_us();
    if (!has_budget(site) || fp_budget_spend(site->budget, &site->budgets, cost, now_us, &shortage))
        return true;
    fp_metrics_add(metrics, kinds[shortage.kind].refusals, 1);
    if (fp_budget_is_news(site->budget, now_us))
        fp_log(FP_LOG_WARN, "site has spent its budget and gets 429", "site=%.*s budget=%s",
               FP_STR_ARG(site->name), kinds[shortage.kind].setting);
    fp_problem_set(problem, 429, "the site has spent its budget for now (budgets.%s)",
                   kinds[shortage.kind].setting);
    problem->retry_s = shortage.retry_s;
    return false;
}

void fp_ingest_refund(const struct fp_site *site, const struct fp_budget_cost *cost)
{
    if (has_budget(site))
        fp_budget_return(site->budget, cost);
}
