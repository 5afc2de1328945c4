/*
 * The signed token of a sampled page, in Server-Timing, where the page's
 * script can read it.
 */

#include "mod_fleetprof.h"

#include "apr_strings.h"

APLOG_USE_MODULE(fleetprof);

#define SERVER_TIMING "Server-Timing"

static int keep_others(void *kept, const char *name, const char *value)
{
    if (!fleetprof_token_is_field(value, strlen(value))) {
        apr_table_addn(kept, SERVER_TIMING, value);
    }

    return 1;
}

/* Takes the lines with a token, and no others, out of a table. */
static void remove_tokens(request_rec *r, apr_table_t *fields)
{
    apr_table_t *kept = apr_table_make(r->pool, 1);

    apr_table_do(keep_others, kept, fields, SERVER_TIMING, NULL);
    apr_table_unset(fields, SERVER_TIMING);
    apr_table_overlap(fields, kept, APR_OVERLAP_TABLES_ADD);
}

static void complain(request_rec *r, const char *reason)
{
    if (mod_fleetprof_may_complain()) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      "no token for a sampled page, %s", reason);
    }
}

static void add_token(request_rec *r, const mod_fleetprof_conf *conf,
                      apr_uint32_t ppm)
{
    char value[FLEETPROF_TOKEN_FIELD_MAX];
    struct fleetprof_token token = { NULL };
    size_t len;

    if (conf->site == NULL) {
        complain(r, "\"FleetProfTokenKey\" needs \"FleetProfSite\", too");
        return;
    }

    token.site = conf->site;
    token.site_len = strlen(conf->site);
    token.ppm = ppm;
    token.time_s = apr_time_sec(apr_time_now());

    len = fleetprof_token_field(conf->keys->keys, token, value);
    if (len == 0) {
        complain(r, "libcrypto failed");
        return;
    }

    apr_table_addn(r->headers_out, SERVER_TIMING,
                   apr_pstrmemdup(r->pool, value, len));
}

void mod_fleetprof_set_token(request_rec *r, const mod_fleetprof_conf *conf,
                             const mod_fleetprof_decision *decision)
{
    if (conf->conflict == MOD_FLEETPROF_LOCAL_WINS) {
        /* That of another tier, whose policy has just been replaced. */
        remove_tokens(r, r->err_headers_out);
        remove_tokens(r, r->headers_out);
    }

    if (decision->reason == MOD_FLEETPROF_SAMPLED) {
        if (conf->policy == NULL
            || fleetprof_document_policy_says_yes(
                   mod_fleetprof_slice(conf->policy))) {
            add_token(r, conf, decision->ppm);
        }
    }
    else if (r->status == HTTP_NOT_MODIFIED) {
        apr_table_addn(r->headers_out, SERVER_TIMING, FLEETPROF_TOKEN_NO_FIELD);
    }
}
