/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: what the configuration says about uploads, as one immutable snapshot that running requests
 * share.
 *
 * The holder of a reference may read without a lock. A reload makes new rules; requests that hold
 * the old ones keep them. Nothing changes after the first fp_rules_ref.
 */
#ifndef FP_INGEST_RULES_H
#define FP_INGEST_RULES_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/format/limits.h"
#include "collector/ingest/backlog.h"
#include "collector/ingest/budget.h"
#include "collector/ingest/kept.h"
#include "collector/ingest/nonces.h"
#include "collector/ingest/site_metrics.h"
#include "collector/ingest/turns.h"
#include "collector/profile/fold/ceilings.h"
#include "collector/profile/scrub/scrub.h"

#include "page_token/page_token.h"

#include <stdatomic.h>

/* A tenant. All texts end with a NUL. */
struct fp_site {
    struct fp_str name;
    struct fp_str key;
    struct fp_str_list origins;
    struct fp_str_list format_names; /* as the configuration has them */
    uint32_t closed_formats;         /* that it does not take, as in fp_format_limits */
    struct fp_str_list routes;
    struct fp_str_list timing_names; /* templates */
    struct fp_str_list custom;       /* names of custom dimensions */
    struct fp_str_list scripts;      /* templates; the database matches them */
    struct fp_str_list ignore;       /* patterns of code; the database matches them */
    struct fp_str source_link;       /* a template; the database fills it. Empty: none */
    struct fp_str timezone;          /* whose days its days are; the database works with it */
    struct fp_str_list first_party;  /* hosts; the database matches them */
    struct fp_str_list performance_budgets; /* texts; the database judges them */
    bool require_token;                     /* refuse uploads without a valid page token */
    struct fp_str_list token_key_files;
    struct fleetprof_token_keys **token_keys; /* of each file; the rules own them */
    int64_t token_max_age_us;
    uint32_t token_uploads;        /* that one page token allows */
    struct fp_nonce_table *nonces; /* a reference; how often tokens were used, across reloads. NULL
                                    * without token keys */
    uint64_t kept_per_hour;        /* bytes that are kept whole */
    struct fp_kept *kept;          /* a reference; what was kept in this hour, across reloads */
    uint32_t sample_keep_ppm;      /* share of traces kept whole */
    struct fp_budget_limits budgets;
    struct fp_budget *budget;        /* a reference; what is spent, across reloads */
    struct fp_lane *lane;            /* a reference; uploads that wait for their turn */
    struct fp_backlog *backlog;      /* a reference; what waits in the spool, across reloads */
    struct fp_site_metrics *metrics; /* a reference; what is counted, across reloads */
};

struct fp_rules {
    atomic_uint references;
    struct fp_arena arena; /* owns everything below */
    struct fp_site *sites;
    size_t site_count;
    size_t max_body;                /* bytes of a request's body as received */
    size_t upload_memory;           /* bytes of working memory per upload */
    size_t body_memory;             /* bytes of all bodies in flight together */
    uint64_t kept_per_hour;         /* bytes of all sites together that are kept whole */
    size_t token_memory;            /* bytes of the nonces of all sites together */
    struct fp_format_limits format; /* ceilings per upload */
    struct fp_ceiling_limits ceilings;
    uint32_t measures;         /* names of measures per upload that are joined with samples */
    bool keep_query;           /* keep query strings in URLs */
    struct fp_scrub_kept kept; /* what the scrubber lets through otherwise */
    bool keep_raw;             /* keep whole traces as they were sent */
    bool honour_gpc;           /* refuse an upload with `Sec-GPC: 1` */
};

/* Makes empty rules with one reference; arena_max bounds their texts. Returns NULL when out of
 * memory. */
struct fp_rules *fp_rules_create(size_t arena_max) FP_MUST_CHECK;

/* Adds a reference. Any thread. */
struct fp_rules *fp_rules_ref(struct fp_rules *rules);

/* Drops a reference; dropping the last one frees the rules. Any thread; rules may be NULL. */
void fp_rules_unref(struct fp_rules *rules);

/* Returns how much of body_memory one site may hold: half, so that it cannot starve the others; all
 * of it if it is the only site. */
size_t fp_rules_body_share(const struct fp_rules *rules);

/* Returns how many of all uploads that may wait to be decoded one site may have: half, at least
 * one; all if it is the only site. */
size_t fp_rules_waiting_share(const struct fp_rules *rules, size_t all);

/* Returns how many bytes per hour a site may keep whole: its own ceiling, and at most half of that
 * of all sites, unless it is the only one. */
uint64_t fp_rules_kept_share(const struct fp_rules *rules, const struct fp_site *site);

/* Returns how many bytes of the spool one site may fill while the database does not take them:
 * half; all if it is the only site. */
uint64_t fp_rules_spool_share(const struct fp_rules *rules, uint64_t max_bytes);

/* Gives each site with token keys a table for nonces: an equal share of token_memory. False when
 * out of memory. Call it once, when all sites are there. */
bool fp_rules_share_nonces(struct fp_rules *rules) FP_MUST_CHECK;

/* Carries over what the sites in both have spent of their budgets, kept, counted, used of their
 * page tokens, and left waiting. Call it before `rules` are used. */
void fp_rules_carry_over(struct fp_rules *rules, const struct fp_rules *running);

/* Returns the site with this name, NULL if there is none. */
const struct fp_site *fp_rules_site_named(const struct fp_rules *rules, struct fp_str name);

/* Returns the site with this key, NULL if there is none. */
const struct fp_site *fp_rules_site(const struct fp_rules *rules, struct fp_str key);

/* Returns the origin on the site's list that equals this one, NULL if it is not listed. */
const struct fp_str *fp_site_origin(const struct fp_site *site, struct fp_str origin);

#endif
