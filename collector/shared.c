/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared: every ten seconds, on the writer's connection. A failure does not stop flushes: the next
 * exchange waits for a minute.
 */
#include "collector/shared.h"

#include "collector/base/clock.h"

#define AGAIN_US (10 * FP_US_PER_S)
#define AFTER_FAILURE_US (60 * FP_US_PER_S)

enum { KEPT_MAX = 128 * 1024 }; /* more than 1,000 sites take */

_Static_assert(sizeof(struct fp_draw_key) == FP_STORE_SECRET_LEN, "the secret is the key");

/* The sum of the answers of one exchange. */
struct exchange {
    struct fp_ingest *ingest;
    int64_t hour;
    struct fp_kept_shares sum;
};

static void learn(void *context, const struct fp_store_kept *site)
{
    struct exchange *exchange = context;
    const struct fp_kept_shares shares = {site->own, site->others};
    fp_ingest_learn_kept(exchange->ingest, exchange->hour, site->site, &shares);
    exchange->sum.own += site->own;
    exchange->sum.others += site->others;
}

static enum fp_store_result share_secret(struct fp_shared *shared, struct fp_store *store)
{
    struct fp_draw_key key;
    fp_ingest_draw_key(shared->ingest, &key);
    enum fp_store_result result = fp_store_share_secret(store, key.bytes);
    if (result == FP_STORE_OK)
        fp_ingest_set_draw_key(shared->ingest, &key);
    return result;
}

static enum fp_store_result share_kept(struct fp_shared *shared, struct fp_store *store,
                                       const struct fp_uuid *spool_id)
{
    struct exchange exchange = {shared->ingest, fp_clock_real_us() / FP_US_PER_HOUR, {0}};
    struct fp_buf kept;
    fp_buf_init(&kept, KEPT_MAX);
    fp_ingest_print_kept(shared->ingest, exchange.hour, &kept);
    fp_buf_add(&kept, "", 1);
    const struct fp_store_kept_exchange given = {
        .spool_id = *spool_id,
        .hour_us = exchange.hour * FP_US_PER_HOUR,
        .kept = (const char *)kept.data,
        .learn = learn,
        .context = &exchange,
    };
    enum fp_store_result result =
        kept.failed ? FP_STORE_MEMORY : fp_store_share_kept(store, &given);
    if (result == FP_STORE_OK)
        fp_ingest_learn_kept(shared->ingest, exchange.hour, FP_STR(""), &exchange.sum);
    fp_buf_release(&kept);
    return result;
}

enum fp_store_result fp_shared_exchange(void *context, struct fp_store *store,
                                        const struct fp_uuid *spool_id)
{
    struct fp_shared *shared = context;
    const int64_t now_us = fp_clock_monotonic_us();
    if (now_us < shared->next_us)
        return FP_STORE_OK;
    shared->next_us = now_us + AFTER_FAILURE_US;
    enum fp_store_result result = share_secret(shared, store);
    if (result == FP_STORE_OK)
        result = share_kept(shared, store, spool_id);
    if (result == FP_STORE_OK)
        shared->next_us = now_us + AGAIN_US;
    return result;
}
