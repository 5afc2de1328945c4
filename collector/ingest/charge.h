/*
 * Ingest, budgets: what a request costs its site, and the refusal when that is too much.
 */
#ifndef FP_INGEST_CHARGE_H
#define FP_INGEST_CHARGE_H

#include "collector/base/problem.h"
#include "collector/ingest/budget.h"
#include "collector/ingest/rules.h"

/*
 * Charges a site. False: nothing was charged, and the shortage is in *problem (429). Any thread.
 */
bool fp_ingest_spend(const struct fp_site *site, const struct fp_budget_cost *cost,
                     struct fp_problem *problem) FP_MUST_CHECK;

/* Gives back what was charged: bytes that were announced and never came, all of an upload that is
 * refused in the middle. Any thread. */
void fp_ingest_refund(const struct fp_site *site, const struct fp_budget_cost *cost);

#endif
