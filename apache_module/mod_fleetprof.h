/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the parts of mod_fleetprof: its configuration, the decision kept
 * for each main request, and the few functions that cross files.
 *
 * Configuration is made in one thread and never changes afterwards.  All else
 * runs in any thread of a child, for one request, out of that request's pool.
 */

#ifndef MOD_FLEETPROF_H
#define MOD_FLEETPROF_H

#include "httpd.h"
#include "http_config.h"
#include "http_log.h"
#include "ap_expr.h"

#include "arms.h"
#include "document_policy.h"
#include "origin_trial.h"
#include "page_token.h"
#include "reporting_endpoints.h"
#include "response.h"
#include "sampling.h"
#include "server_timing.h"
#include "timing_allow_origin.h"

#if defined(__GNUC__)
#define MOD_FLEETPROF_EXPORTED __attribute__((visibility("default")))
#else
#define MOD_FLEETPROF_EXPORTED
#endif

extern module AP_MODULE_DECLARE_DATA fleetprof_module MOD_FLEETPROF_EXPORTED;

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* A field with more lines than this is left alone. */
#define MOD_FLEETPROF_MAX_LINES 32

/*
 * In every setting 0 or NULL means: not set here, the level above decides.
 * The choices are in the order of the words in fleetprof_conf.c.
 */
enum { MOD_FLEETPROF_ON = 1, MOD_FLEETPROF_OFF, MOD_FLEETPROF_EXPRESSION };
enum { MOD_FLEETPROF_UNSAMPLED_NEGATIVE = 1, MOD_FLEETPROF_UNSAMPLED_OMIT };
enum { MOD_FLEETPROF_UPSTREAM_WINS = 1, MOD_FLEETPROF_LOCAL_WINS };
enum { MOD_FLEETPROF_304_AUTO = 1, MOD_FLEETPROF_304_SEND,
       MOD_FLEETPROF_304_OMIT };

typedef struct {
    ap_expr_info_t *rate;       /* NULL: ppm is the rate */
    apr_uint32_t ppm;
    ap_expr_info_t *key;        /* NULL: decide at random */
} mod_fleetprof_sample;

typedef struct {
    struct fleetprof_arms experiments;
    ap_expr_info_t *key;        /* NULL: draw at random */
} mod_fleetprof_arms;

typedef struct {
    struct fleetprof_token_keys *keys;  /* the pool's; NULL: off */
} mod_fleetprof_keys;

typedef struct {
    int enabled;                /* ON, OFF, EXPRESSION */
    ap_expr_info_t *condition;
    const mod_fleetprof_sample *sample;
    const mod_fleetprof_arms *arms;     /* without experiments: off */
    const char *policy;         /* one dictionary */
    int unsampled;              /* UNSAMPLED_NEGATIVE, UNSAMPLED_OMIT */
    int conflict;               /* UPSTREAM_WINS, LOCAL_WINS */
    const struct fleetprof_types *types;
    int always;                 /* ON, OFF */
    int not_modified;           /* 304_AUTO, 304_SEND, 304_OMIT */
    int cacheable;              /* ON, OFF */
    const char *site;
    const mod_fleetprof_keys *keys;
    const char *reports;        /* a URL; empty: off */
    const char *origins;        /* one comma list; empty: off */
    const char *trial;          /* tokens, in the same way */
    int server_timing;          /* ON, OFF */
} mod_fleetprof_conf;

/*
 * FLEETPROF_REASON.  Up to CACHEABLE the policy is ours; from STATUS on it is
 * not a page load at all.
 */
typedef enum {
    MOD_FLEETPROF_SAMPLED = 0,
    MOD_FLEETPROF_RATE,
    MOD_FLEETPROF_BAD_RATE,
    MOD_FLEETPROF_CACHEABLE,
    MOD_FLEETPROF_UPSTREAM,
    MOD_FLEETPROF_UNPARSABLE,
    MOD_FLEETPROF_TOO_LONG,
    MOD_FLEETPROF_NOT_MODIFIED,
    MOD_FLEETPROF_STATUS,
    MOD_FLEETPROF_TYPE
} mod_fleetprof_reason;

/*
 * One per main request, kept with the first request of its chain.  It is made
 * once: SAMPLED, RATE or BAD_RATE.  The response may still overrule it.
 */
typedef struct {
    int decided;
    apr_uint32_t ppm;           /* unless the rate is BAD_RATE */
    mod_fleetprof_reason decision;
    mod_fleetprof_reason reason;
    int upstream_yes;           /* reason UPSTREAM: it lets browsers profile */
    const mod_fleetprof_arms *arms;     /* drawn */
    int are_arms_withdrawn;     /* the response cannot carry them */
    unsigned char drawn[FLEETPROF_EXPERIMENTS_MAX];
} mod_fleetprof_decision;

/* The directives: see docs/headers.md. */
extern const command_rec mod_fleetprof_directives[];

/* Returns the settings of the request's current place; read-only. */
const mod_fleetprof_conf *mod_fleetprof_conf_of(request_rec *r);

/* True if the module is on for this request in its current place. */
int mod_fleetprof_enabled(request_rec *r, const mod_fleetprof_conf *conf);

/* Seeds the calling child's random numbers, once, when it starts. */
void mod_fleetprof_seed(server_rec *s);

/* Returns the main request's decision; makes it by these settings if needed. */
mod_fleetprof_decision *mod_fleetprof_decide(request_rec *r,
                                             const mod_fleetprof_conf *conf);

/* Returns the main request's decision, which may not be made yet. */
mod_fleetprof_decision *mod_fleetprof_decision_of(request_rec *r);

/* Writes the decision's outcome into the request's environment. */
void mod_fleetprof_set_env(request_rec *r,
                           const mod_fleetprof_decision *decision);

/* Returns the word for a reason, as in FLEETPROF_REASON. */
const char *mod_fleetprof_reason_text(mod_fleetprof_reason reason);

/* True at most once per second and child. */
int mod_fleetprof_may_log(void);

/* True if pages get signed tokens. */
static APR_INLINE int mod_fleetprof_has_keys(const mod_fleetprof_conf *conf)
{
    return conf->keys != NULL && conf->keys->keys != NULL;
}

/* True if the response comes from an upstream server or from mod_cache. */
int mod_fleetprof_is_proxied(request_rec *r);

/* True if shared caches may store the response. */
int mod_fleetprof_is_cacheable(request_rec *r);

/* True if the response carries drawn arms. */
static APR_INLINE int
mod_fleetprof_has_arms(const mod_fleetprof_decision *decision)
{
    return decision->arms != NULL && !decision->are_arms_withdrawn;
}

/*
 * Writes the outcome of the decision into Server-Timing.  Withdraws arms that
 * cannot be signed.
 */
void mod_fleetprof_set_timing(request_rec *r, const mod_fleetprof_conf *conf,
                              mod_fleetprof_decision *decision);

/* Registers the output filter, and the hooks that put it in the chain. */
void mod_fleetprof_register_filter(apr_pool_t *p);

static APR_INLINE struct fleetprof_slice mod_fleetprof_slice(const char *text)
{
    struct fleetprof_slice slice = { text, text ? strlen(text) : 0 };

    return slice;
}

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
