/*
 * Rules: the reference-counted snapshot and its look-ups.
 */
#include "collector/ingest/rules.h"

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
        fp_site_metrics_unref(rules->sites[i].metrics);
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

const struct fp_site *fp_rules_site_named(const struct fp_rules *rules, struct fp_str name)
{
    for (size_t i = 0; i < rules->site_count; i++) {
        if (fp_str_equal(rules->sites[i].name, name))
            return &rules->sites[i];
    }
    return NULL;
}

void fp_rules_carry_over(struct fp_rules *rules, const struct fp_rules *running)
{
    for (size_t i = 0; i < rules->site_count; i++) {
        struct fp_site *site = &rules->sites[i];
        const struct fp_site *same = fp_rules_site_named(running, site->name);
        if (same == NULL)
            continue;
        fp_budget_unref(site->budget);
        site->budget = fp_budget_ref(same->budget);
        fp_site_metrics_unref(site->metrics);
        site->metrics = fp_site_metrics_ref(same->metrics);
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
