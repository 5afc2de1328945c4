/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ingest, budgets: charges a request to its site, and refuses one that costs too much.
 */
#ifndef FP_INGEST_CHARGE_H
#define FP_INGEST_CHARGE_H

#include "collector/base/problem.h"
#include "collector/ingest/budget.h"
#include "collector/ingest/rules.h"

/*
 * Charges a site. False: nothing was charged, and *problem (429) describes the shortage. Any
 * thread.
 */
bool fp_ingest_spend(const struct fp_site *site, const struct fp_budget_cost *cost,
                     struct fp_problem *problem) FP_MUST_CHECK;

/* Refunds what was charged: bytes that were announced but never arrived, or all of an upload that
 * is refused midway. Any thread. */
void fp_ingest_refund(const struct fp_site *site, const struct fp_budget_cost *cost);

#endif
