/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budget: limits a site's requests and bytes per second with two token buckets, and the memory that
 * its bodies hold.
 *
 * A bucket's size is its rate times the burst time. It starts full and refills at its rate. It
 * counts in millionths, so each microsecond adds a whole number and repeated calls never round. Dry
 * runs have buckets of their own of the same size: they take nothing from uploads. The
 * limits may change with the configuration, so they come with each call. What is spent must survive
 * a reload, so it is in the budget, which old and new rules share. Any thread.
 */
#ifndef FP_INGEST_BUDGET_H
#define FP_INGEST_BUDGET_H

#include "collector/base/base.h"

#define FP_BUDGET_RATE_MAX (INT64_C(1) << 30)
#define FP_BUDGET_BURST_MAX_US INT64_C(3600000000) /* at that rate, still within 64 bits */

enum fp_budget_kind { FP_BUDGET_REQUESTS, FP_BUDGET_BYTES, FP_BUDGET_KINDS };

struct fp_budget_limits {
    uint64_t per_s[FP_BUDGET_KINDS]; /* 0: no limit */
    int64_t burst_us;
};

/* The cost of one call, at most FP_BUDGET_RATE_MAX of each kind. */
struct fp_budget_cost {
    uint64_t of[FP_BUDGET_KINDS];
    uint64_t paid[FP_BUDGET_KINDS]; /* earlier, by the same upload, if it is charged in pieces */
    bool is_dry_run;                /* also needs room in the buckets of uploads, but takes none */
};

/* Why a cost was not granted. If both kinds are short, the one that takes longer. */
struct fp_budget_shortage {
    enum fp_budget_kind kind;
    unsigned retry_s; /* whole seconds until it would be granted, if nobody else asks; at least 1 */
};

struct fp_budget;

/* Makes an unspent budget with one reference. Returns NULL when out of memory. */
struct fp_budget *fp_budget_create(void) FP_MUST_CHECK;

/* Add and drop a reference; dropping the last one frees the budget. NULL is fine. */
struct fp_budget *fp_budget_ref(struct fp_budget *budget);
void fp_budget_unref(struct fp_budget *budget);

/*
 * Spends the whole cost at a time of the monotonic clock, or nothing; *shortage then says why. A
 * cost larger than a full bucket is granted when the bucket is full, and leaves a debt. So are the
 * pieces of an upload whose first piece found the bucket full.
 */
bool fp_budget_spend(struct fp_budget *budget, const struct fp_budget_limits *limits,
                     const struct fp_budget_cost *cost, int64_t now_us,
                     struct fp_budget_shortage *shortage) FP_MUST_CHECK;

/* Refunds what was spent but not used: bytes that never arrived, or all of an upload in pieces that
 * was refused midway. */
void fp_budget_return(struct fp_budget *budget, const struct fp_budget_cost *cost);

/*
 * Reserves memory for bodies being received; the site may hold at most `most` bytes. False if that
 * would be exceeded; then nothing is reserved. Without a budget (NULL) nothing is counted.
 */
bool fp_budget_hold(struct fp_budget *budget, size_t bytes, size_t most) FP_MUST_CHECK;
void fp_budget_let_go(struct fp_budget *budget, size_t bytes);

#endif
