/*
 * Rules: what the configuration says about uploads, as one immutable snapshot that running requests
 * share.
 *
 * Whoever holds a reference may read without a lock; a reload makes new rules and leaves these to
 * the requests that still hold them. Nothing changes after the first fp_rules_ref.
 */
#ifndef FP_INGEST_RULES_H
#define FP_INGEST_RULES_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/format/limits.h"
#include "collector/ingest/budget.h"
#include "collector/ingest/site_metrics.h"
#include "collector/profile/ceilings.h"
#include "collector/profile/scrub.h"

#include "page_token/page_token.h"

#include <stdatomic.h>

/* A tenant. All texts are followed by a NUL. */
struct fp_site {
    struct fp_str name;
    struct fp_str key;
    struct fp_str_list origins;
    struct fp_str_list routes;
    struct fp_str_list timing_names; /* templates */
    bool require_token;              /* uploads without a good page token are refused */
    struct fp_str_list token_key_files;
    struct fleetprof_token_keys **token_keys; /* of each file; the rules own them */
    int64_t token_max_age_us;
    uint32_t token_uploads;   /* that one page token is good for */
    uint32_t sample_keep_ppm; /* share of traces that are kept whole */
    struct fp_budget_limits budgets;
    struct fp_budget *budget;        /* a reference; what is spent, across reloads */
    struct fp_site_metrics *metrics; /* the same of what is counted */
};

struct fp_rules {
    atomic_uint references;
    struct fp_arena arena; /* of everything below */
    struct fp_site *sites;
    size_t site_count;
    size_t max_body;                /* bytes of a request's body as received */
    size_t upload_memory;           /* bytes of working memory of one upload */
    size_t body_memory;             /* bytes of all bodies in flight together */
    struct fp_format_limits format; /* ceilings of one upload */
    struct fp_ceiling_limits ceilings;
    uint32_t measures; /* names of measures of one upload that are joined with samples */
    bool keep_query;   /* query strings stay in URLs */
    bool keep_raw;     /* what is kept whole is kept as it was sent */
    bool honour_gpc;   /* an upload with `Sec-GPC: 1` is refused */
};

/* Makes empty rules with one reference; NULL when out of memory. arena_max bounds their texts. */
struct fp_rules *fp_rules_create(size_t arena_max) FP_MUST_CHECK;

/* One more holder. Any thread. */
struct fp_rules *fp_rules_ref(struct fp_rules *rules);

/* One holder less; the last one frees. Any thread; rules may be NULL. */
void fp_rules_unref(struct fp_rules *rules);

/* What of body_memory one site may hold: half, so that none leaves the others without; all of it
 * when there are no others. */
size_t fp_rules_body_share(const struct fp_rules *rules);

/* Takes over what the sites that are in both have spent of their budgets and counted, before
 * `rules` are used. */
void fp_rules_carry_over(struct fp_rules *rules, const struct fp_rules *running);

/* The site of this name, NULL when there is none. */
const struct fp_site *fp_rules_site_named(const struct fp_rules *rules, struct fp_str name);

/* The site whose key this is, NULL when there is none. */
const struct fp_site *fp_rules_site(const struct fp_rules *rules, struct fp_str key);

/* The origin on the site's list that equals this one, NULL when it is not listed. */
const struct fp_str *fp_site_origin(const struct fp_site *site, struct fp_str origin);

#endif
