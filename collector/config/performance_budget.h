/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performance budget: reads the texts of sites[].performance_budgets, such as "INP p75 <= 200ms on
 * /checkout". The database judges them (schema/functions/budgets.sql). Any thread.
 */
#ifndef FP_CONFIG_PERFORMANCE_BUDGET_H
#define FP_CONFIG_PERFORMANCE_BUDGET_H

#include "collector/base/buf.h"

enum { FP_PERFORMANCE_BUDGETS_MAX = 50 }; /* of a site */

struct fp_performance_budget {
    const char *kind;    /* as in the table performance_budget */
    struct fp_str what;  /* name of a vital or measure, host; empty: none */
    int percentile;      /* 0: the mean per page load */
    int64_t limit_us;    /* of a score: times 1,000,000 */
    struct fp_str route; /* a path in which * is any text; empty: all routes */
};

/* Reads a text into the budget, which points into the text. Returns NULL, or what is wrong with it
 * and what would be right, as a sentence. */
const char *fp_performance_budget_read(struct fp_str text,
                                       struct fp_performance_budget *budget) FP_MUST_CHECK;

/* Appends a valid text as the JSON object that the database takes. */
void fp_performance_budget_print(struct fp_str text, struct fp_buf *out);

#endif
