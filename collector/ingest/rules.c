/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: the reference-counted snapshot and its look-ups.
 */
#include "collector/ingest/rules.h"

#include "collector/base/log.h"

#include <stdlib.h>

struct fp_rules *fp_rules_create(size_t arena_max)
{
    struct fp_rules *rules = calloc(1, sizeof(*rules));
    if (rules == NULL)
        return NULL;
    atomic_init(&rules->references, 1);
    fp_arena_init(&rules->arena, arena_max);
    return rules;
}

struct fp_rules *fp_rules_ref(struct fp_rules *rules)
{
    atomic_fetch_add_explicit(&rules->references, 1, memory_order_relaxed);
    return rules;
}

static void free_keys(struct fp_site *site)
{
    for (size_t i = 0; site->token_keys != NULL && i < site->token_key_files.count; i++)
        fleetprof_token_keys_free(site->token_keys[i]);
}

void fp_rules_unref(struct fp_rules *rules)
{
    if (rules == NULL || atomic_fetch_sub_explicit(&rules->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < rules->site_count; i++) {
        free_keys(&rules->sites[i]);
        fp_budget_unref(rules->sites[i].budget);
        fp_lane_unref(rules->sites[i].lane);
        fp_backlog_unref(rules->sites[i].backlog);
        fp_site_metrics_unref(rules->sites[i].metrics);
        fp_nonce_table_unref(rules->sites[i].nonces);
        fp_kept_unref(rules->sites[i].kept);
    }
    fp_arena_release(&rules->arena);
    free(rules);
}

size_t fp_rules_body_share(const struct fp_rules *rules)
{
    size_t half = rules->body_memory / 2;
    if (rules->site_count == 1)
        return rules->body_memory;
    return half > rules->max_body ? half : rules->max_body;
}

size_t fp_rules_waiting_share(const struct fp_rules *rules, size_t all)
{
    return rules->site_count == 1 ? all : (all + 1) / 2;
}

uint64_t fp_rules_kept_share(const struct fp_rules *rules, const struct fp_site *site)
{
    const uint64_t share = rules->kept_per_hour / (rules->site_count == 1 ? 1 : 2);
    return site->kept_per_hour < share ? site->kept_per_hour : share;
}

uint64_t fp_rules_spool_share(const struct fp_rules *rules, uint64_t max_bytes)
{
    return rules->site_count == 1 ? max_bytes : max_bytes / 2;
}

const struct fp_site *fp_rules_site_named(const struct fp_rules *rules, struct fp_str name)
{
    for (size_t i = 0; i < rules->site_count; i++) {
        if (fp_str_equal(rules->sites[i].name, name))
            return &rules->sites[i];
    }
    return NULL;
}

static bool has_keys(const struct fp_site *site)
{
    return site->token_key_files.count > 0;
}

/* Returns how many bytes each site with token keys may use for nonces. */
static size_t nonce_share(const struct fp_rules *rules)
{
    size_t sites = 0;
    for (size_t i = 0; i < rules->site_count; i++)
        sites += has_keys(&rules->sites[i]);
    return rules->token_memory / (sites > 0 ? sites : 1);
}

bool fp_rules_share_nonces(struct fp_rules *rules)
{
    const size_t share = nonce_share(rules);
    for (size_t i = 0; i < rules->site_count; i++) {
        struct fp_site *site = &rules->sites[i];
        if (!has_keys(site))
            continue;
        site->nonces = fp_nonce_table_create(share);
        if (site->nonces == NULL)
            return false;
    }
    return true;
}

/* Continues with the nonces of the same site, as many as fit. */
static void carry_over_nonces(struct fp_site *site, const struct fp_site *same, size_t share)
{
    if (site->nonces == NULL || same->nonces == NULL)
        return;
    fp_nonce_table_unref(site->nonces);
    site->nonces = fp_nonce_table_ref(same->nonces);
    if (!fp_nonce_table_resize(site->nonces, share))
        fp_log(FP_LOG_WARN, "no memory for the new share of limits.token_memory, the old one stays",
               "site=%.*s", FP_STR_ARG(site->name));
}

void fp_rules_carry_over(struct fp_rules *rules, const struct fp_rules *running)
{
    const size_t share = nonce_share(rules);
    for (size_t i = 0; i < rules->site_count; i++) {
        struct fp_site *site = &rules->sites[i];
        const struct fp_site *same = fp_rules_site_named(running, site->name);
        if (same == NULL)
            continue;
        fp_budget_unref(site->budget);
        site->budget = fp_budget_ref(same->budget);
        fp_lane_unref(site->lane);
        site->lane = fp_lane_ref(same->lane);
        fp_backlog_unref(site->backlog);
        site->backlog = fp_backlog_ref(same->backlog);
        fp_kept_unref(site->kept);
        site->kept = fp_kept_ref(same->kept);
        fp_site_metrics_unref(site->metrics);
        site->metrics = fp_site_metrics_ref(same->metrics);
        carry_over_nonces(site, same, share);
    }
}

const struct fp_site *fp_rules_site(const struct fp_rules *rules, struct fp_str key)
{
    for (size_t i = 0; i < rules->site_count; i++) {
        if (fp_str_equal(rules->sites[i].key, key))
            return &rules->sites[i];
    }
    return NULL;
}

const struct fp_str *fp_site_origin(const struct fp_site *site, struct fp_str origin)
{
    for (size_t i = 0; i < site->origins.count; i++) {
        if (fp_str_equal(site->origins.items[i], origin))
            return &site->origins.items[i];
    }
    return NULL;
}
