/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budget: keeps what is spent from each bucket, in millionths, under a lock.
 */
#include "collector/ingest/budget.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define MILLION UINT64_C(1000000)

enum budget_use { USE_UPLOADS, USE_DRY_RUNS, USES };

struct fp_budget {
    atomic_uint references;
    atomic_size_t held;                    /* bytes of bodies in flight */
    pthread_mutex_t lock;                  /* protects what follows */
    int64_t drained_us;                    /* when spent was last updated */
    uint64_t spent[USES][FP_BUDGET_KINDS]; /* millionths of a request, of a byte */
    uint64_t whole[FP_BUDGET_KINDS];       /* a full bucket, by the limits of the last call */
};

struct fp_budget *fp_budget_create(void)
{
    struct fp_budget *budget = calloc(1, sizeof(*budget));
    if (budget == NULL || pthread_mutex_init(&budget->lock, NULL) != 0) {
        free(budget);
        return NULL;
    }
    atomic_init(&budget->references, 1);
    return budget;
}

struct fp_budget *fp_budget_ref(struct fp_budget *budget)
{
    if (budget == NULL)
        return NULL;
    const unsigned before = atomic_fetch_add_explicit(&budget->references, 1, memory_order_relaxed);
    FP_ASSERT(before > 0);
    return budget;
}

void fp_budget_unref(struct fp_budget *budget)
{
    if (budget == NULL)
        return;
    const unsigned before = atomic_fetch_sub_explicit(&budget->references, 1, memory_order_acq_rel);
    FP_ASSERT(before > 0);
    if (before > 1)
        return;
    FP_ASSERT(atomic_load_explicit(&budget->held, memory_order_relaxed) == 0);
    pthread_mutex_destroy(&budget->lock);
    free(budget);
}

/* Returns the millionths that a full bucket holds. */
static uint64_t whole(const struct fp_budget_limits *limits, enum fp_budget_kind kind)
{
    return limits->per_s[kind] * (uint64_t)limits->burst_us;
}

/* Fits the buckets to new limits. A bucket keeps its level; one that shrank below what is spent is
 * empty, without a debt. */
static void fit(struct fp_budget *budget, const struct fp_budget_limits *limits)
{
    for (enum fp_budget_kind kind = 0; kind < FP_BUDGET_KINDS; kind++) {
        uint64_t now = whole(limits, kind);
        for (int use = 0; use < USES; use++)
            if (now != budget->whole[kind] && budget->spent[use][kind] > now)
                budget->spent[use][kind] = now;
        budget->whole[kind] = now;
    }
}

/* Refills the buckets for the time that has passed. A caller that another one overtook adds
 * nothing. */
static void drain(struct fp_budget *budget, const struct fp_budget_limits *limits, int64_t now_us)
{
    if (now_us <= budget->drained_us)
        return;
    uint64_t elapsed_us = (uint64_t)(now_us - budget->drained_us);
    budget->drained_us = now_us;
    for (int use = 0; use < USES; use++) {
        for (int kind = 0; kind < FP_BUDGET_KINDS; kind++) {
            uint64_t *spent = &budget->spent[use][kind];
            uint64_t per_us = limits->per_s[kind]; /* 1 per s is 1 millionth per us */
            bool is_paid = per_us == 0 || elapsed_us > *spent / per_us;
            *spent = is_paid ? 0 : *spent - per_us * elapsed_us;
        }
    }
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the microseconds until a bucket of which so much is spent holds the cost, 0 if it does.
 * All pieces of an upload together need at most a full bucket. */
static uint64_t wait_us(uint64_t spent, const struct fp_budget_limits *limits,
                        const struct fp_budget_cost *cost, enum fp_budget_kind kind)
{
    uint64_t per_us = limits->per_s[kind];
    if (per_us == 0 || cost->of[kind] == 0)
        return 0;
    uint64_t full = whole(limits, kind);
    uint64_t paid = cost->paid[kind];
    uint64_t wanted =
        smaller((paid + cost->of[kind]) * MILLION, full) - smaller(paid * MILLION, full);
    uint64_t needed = spent + wanted;
    return wanted == 0 || needed <= full ? 0 : (needed - full + per_us - 1) / per_us;
}

static bool spend(struct fp_budget *budget, const struct fp_budget_limits *limits,
                  const struct fp_budget_cost *cost, struct fp_budget_shortage *shortage)
{
    const enum budget_use own = cost->is_dry_run ? USE_DRY_RUNS : USE_UPLOADS;
    uint64_t longest = 0;
    for (enum fp_budget_kind kind = 0; kind < FP_BUDGET_KINDS; kind++) {
        const uint64_t *uploads = budget->spent[USE_UPLOADS], *owned = budget->spent[own];
        uint64_t most = uploads[kind] > owned[kind] ? uploads[kind] : owned[kind];
        uint64_t wait = wait_us(most, limits, cost, kind);
        if (wait <= longest)
            continue;
        longest = wait;
        *shortage = (struct fp_budget_shortage){kind, (unsigned)((wait + MILLION - 1) / MILLION)};
    }
    if (longest > 0)
        return false;
    for (int kind = 0; kind < FP_BUDGET_KINDS; kind++)
        budget->spent[own][kind] += limits->per_s[kind] > 0 ? cost->of[kind] * MILLION : 0;
    return true;
}

bool fp_budget_spend(struct fp_budget *budget, const struct fp_budget_limits *limits,
                     const struct fp_budget_cost *cost, int64_t now_us,
                     struct fp_budget_shortage *shortage)
{
    pthread_mutex_lock(&budget->lock);
    fit(budget, limits);
    drain(budget, limits, now_us);
    bool granted = spend(budget, limits, cost, shortage);
    pthread_mutex_unlock(&budget->lock);
    return granted;
}

void fp_budget_return(struct fp_budget *budget, const struct fp_budget_cost *cost)
{
    uint64_t *spent = budget->spent[cost->is_dry_run ? USE_DRY_RUNS : USE_UPLOADS];
    pthread_mutex_lock(&budget->lock);
    for (int kind = 0; kind < FP_BUDGET_KINDS; kind++)
        spent[kind] -= smaller(cost->of[kind] * MILLION, spent[kind]);
    pthread_mutex_unlock(&budget->lock);
}

bool fp_budget_hold(struct fp_budget *budget, size_t bytes, size_t most)
{
    if (budget == NULL)
        return true;
    size_t before = atomic_fetch_add_explicit(&budget->held, bytes, memory_order_relaxed);
    if (before + bytes <= most)
        return true;
    fp_budget_let_go(budget, bytes);
    return false;
}

void fp_budget_let_go(struct fp_budget *budget, size_t bytes)
{
    if (budget == NULL)
        return;
    const size_t before = atomic_fetch_sub_explicit(&budget->held, bytes, memory_order_relaxed);
    FP_ASSERT(before >= bytes);
}
