/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the line of Server-Timing that carries the decision to the page's
 * script: the token of a sampled page, or a no.
 */

#include "mod_fleetprof.h"

#include "apr_strings.h"
#include "mod_cache.h"

APLOG_USE_MODULE(fleetprof);

#define SERVER_TIMING "Server-Timing"

/* Adds an application's line, without metrics that have our name. */
static int add_others(void *fields, const char *name, const char *value)
{
    struct fleetprof_slice line = mod_fleetprof_slice(value);
    char *others;
    size_t len;

    if (!fleetprof_server_timing_names_us(line)) {
        apr_table_addn(fields, SERVER_TIMING, value);
        return 1;
    }

    others = apr_palloc(apr_table_elts(fields)->pool, line.len + 1);
    len = fleetprof_server_timing_others(line, others);
    others[len] = '\0';
    if (len > 0) {
        apr_table_addn(fields, SERVER_TIMING, others);
    }

    return 1;
}

/* Puts our line before those of both tables. */
static void add_timing(request_rec *r, const char *value)
{
    apr_table_t *fields = apr_table_make(r->pool, 4);

    apr_table_addn(fields, SERVER_TIMING, value);
    apr_table_do(add_others, fields, r->err_headers_out, SERVER_TIMING, NULL);
    apr_table_do(add_others, fields, r->headers_out, SERVER_TIMING, NULL);

    apr_table_unset(r->err_headers_out, SERVER_TIMING);
    apr_table_unset(r->headers_out, SERVER_TIMING);
    apr_table_overlap(r->headers_out, fields, APR_OVERLAP_TABLES_ADD);
}

static void log_token(request_rec *r, const char *reason)
{
    if (mod_fleetprof_may_log()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "no token for a sampled page, %s", reason);
    }
}

#if FLEETPROF_ARMS_TEXT_MAX > FLEETPROF_TOKEN_ARMS_MAX
#error "a token has no room for the arms"
#endif

/*
 * Returns the metric of a page that is sampled, at the rate of ppm, or has
 * arms; NULL if libcrypto failed.
 */
static const char *signed_timing(request_rec *r,
                                 const mod_fleetprof_conf *conf,
                                 const mod_fleetprof_decision *decision,
                                 apr_uint32_t ppm)
{
    char arms[FLEETPROF_ARMS_TEXT_MAX];
    const struct fleetprof_token_keys *keys = conf->keys ? conf->keys->keys
                                                         : NULL;
    char value[FLEETPROF_TOKEN_FIELD_MAX];
    struct fleetprof_token token = { NULL };
    size_t len;

    if (keys != NULL && conf->site == NULL) {
        log_token(r, "\"FleetProfTokenKey\" also needs \"FleetProfSite\"");
        keys = NULL;
    }
    if (keys != NULL) {
        token.site = conf->site;
        token.site_len = strlen(conf->site);
        token.ppm = ppm;
        if (mod_fleetprof_has_arms(decision)) {
            token.arms = arms;
            token.arms_len = fleetprof_arms_format(
                &decision->arms->experiments, decision->drawn, arms);
        }
    }
    token.time_s = apr_time_sec(apr_time_now());

    len = fleetprof_token_field(keys, token, value);
    if (len == 0) {
        log_token(r, "libcrypto failed");
        return NULL;
    }

    return apr_pstrmemdup(r->pool, value, len);
}

/* Returns what mod_cache did, in nginx's words; NULL if it says nothing. */
static const char *cache_status(request_rec *r)
{
    static const struct {
        const char *variable;
        const char *word;
    } statuses[] = {
        { AP_CACHE_HIT_ENV, "HIT" },
        { AP_CACHE_REVALIDATE_ENV, "REVALIDATED" },
        { AP_CACHE_MISS_ENV, "MISS" }
    };
    size_t i;

    for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (apr_table_get(r->subprocess_env, statuses[i].variable) != NULL) {
            return statuses[i].word;
        }
    }

    return NULL;
}

/*
 * Returns the metrics with the server's share of the time to first byte, if
 * there is one.  A shared cache would repeat the time of one response.
 */
static const char *with_share(request_rec *r, const mod_fleetprof_conf *conf,
                              const char *value)
{
    apr_time_t us = apr_time_now() - r->request_time;
    const char *status = cache_status(r);

    if (conf->server_timing != MOD_FLEETPROF_ON || !mod_fleetprof_is_proxied(r)
        || (conf->cacheable != MOD_FLEETPROF_ON
            && mod_fleetprof_is_cacheable(r))) {
        return value;
    }

    return apr_psprintf(r->pool,
                        "%s" FLEETPROF_TIMING_SERVER "%" APR_TIME_T_FMT "%s%s",
                        value, us > 0 ? (us + 500) / 1000 : 0,
                        status ? FLEETPROF_TIMING_CACHE : "",
                        status ? status : "");
}

/*
 * Policy and Server-Timing change together.  If upstream's own policy allows
 * profiling, its Server-Timing stays: it may have this module.
 */
void mod_fleetprof_set_timing(request_rec *r, const mod_fleetprof_conf *conf,
                              mod_fleetprof_decision *decision)
{
    const char *value = NULL;
    int may_profile = decision->reason == MOD_FLEETPROF_SAMPLED
                      && (conf->policy == NULL
                          || fleetprof_document_policy_says_yes(
                                 mod_fleetprof_slice(conf->policy)));

    if (decision->reason == MOD_FLEETPROF_UPSTREAM && decision->upstream_yes) {
        return;
    }

    if (may_profile || mod_fleetprof_has_arms(decision)) {
        value = signed_timing(r, conf, decision,
                              may_profile ? decision->ppm : 0);
        decision->are_arms_withdrawn |= value == NULL;
    }

    add_timing(r, with_share(r, conf, value ? value
                                            : FLEETPROF_TOKEN_NO_FIELD));
}
