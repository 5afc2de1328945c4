/*
 * Budget: how much of a site's requests and bytes a second is left, two token buckets; and the
 * memory that its bodies hold.
 *
 * A bucket holds what its rate brings in the time of a burst, is full at the start, and fills at
 * its rate. It is counted in millionths, so that a microsecond brings a whole number of them:
 * nothing is rounded, however often it is asked. What differs from a configuration to the next (the
 * limits) comes with each call; what has to outlive a reload (what is spent) is in the budget,
 * which the rules of both share. Any thread.
 */
#ifndef FP_INGEST_BUDGET_H
#define FP_INGEST_BUDGET_H

#include "collector/base/base.h"

#define FP_BUDGET_RATE_MAX (INT64_C(1) << 30)
#define FP_BUDGET_BURST_MAX_US INT64_C(3600000000) /* with that rate still within 64 bits */

enum fp_budget_kind { FP_BUDGET_REQUESTS, FP_BUDGET_BYTES, FP_BUDGET_KINDS };

struct fp_budget_limits {
    uint64_t per_s[FP_BUDGET_KINDS]; /* 0: no limit */
    int64_t burst_us;
};

/* What is asked for at once, at most FP_BUDGET_RATE_MAX of each. */
struct fp_budget_cost {
    uint64_t of[FP_BUDGET_KINDS];
    uint64_t paid[FP_BUDGET_KINDS]; /* for the same upload before, when it is paid for in pieces */
};

/* Why a cost was not granted: of two reasons the one that lasts longer. */
struct fp_budget_shortage {
    enum fp_budget_kind kind;
    unsigned retry_s; /* whole seconds until it would be, if nobody else asks; at least 1 */
};

struct fp_budget;

/* Makes a budget of which nothing is spent, with one reference; NULL when out of memory. */
struct fp_budget *fp_budget_create(void) FP_MUST_CHECK;

/* One more holder, one holder less; the last one frees. NULL is fine. */
struct fp_budget *fp_budget_ref(struct fp_budget *budget);
void fp_budget_unref(struct fp_budget *budget);

/*
 * Spends the cost at a moment of the monotonic clock: all of it, or nothing and *shortage says
 * why. A cost beyond a whole bucket is granted when that is full, and leaves a debt; so is one in
 * pieces whose first found it full.
 */
bool fp_budget_spend(struct fp_budget *budget, const struct fp_budget_limits *limits,
                     const struct fp_budget_cost *cost, int64_t now_us,
                     struct fp_budget_shortage *shortage) FP_MUST_CHECK;

/* Gives back what was spent and not had: bytes that did not come, all of an upload in pieces that
 * was refused in the middle. */
void fp_budget_return(struct fp_budget *budget, const struct fp_budget_cost *cost);

/*
 * Memory of bodies being received, of which the site may hold `most` bytes. False, and nothing
 * held, when it would be more. Without a budget (NULL) nothing is counted.
 */
bool fp_budget_hold(struct fp_budget *budget, size_t bytes, size_t most) FP_MUST_CHECK;
void fp_budget_let_go(struct fp_budget *budget, size_t bytes);

#endif
