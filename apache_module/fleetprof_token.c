/*
 * The signed token of a sampled page, in Server-Timing, where the agent can
 * read it.
 */

#include "mod_fleetprof.h"

#include "apr_strings.h"

APLOG_USE_MODULE(fleetprof);

#define SERVER_TIMING "Server-Timing"

static void complain(request_rec *r, const char *reason)
{
    if (mod_fleetprof_may_complain()) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      "a sampled page has no token: %s", reason);
    }
}

void mod_fleetprof_add_token(request_rec *r, const mod_fleetprof_conf *conf,
                             apr_uint32_t ppm)
{
    char value[FLEETPROF_TOKEN_FIELD_MAX];
    struct fleetprof_token token = { NULL };
    size_t len;

    if (conf->keys == NULL) {
        return;
    }
    if (conf->site == NULL) {
        complain(r, "\"FleetProfTokenKey\" needs \"FleetProfSite\", too");
        return;
    }

    token.site = conf->site;
    token.site_len = strlen(conf->site);
    token.ppm = ppm;
    token.time_s = apr_time_sec(apr_time_now());

    len = fleetprof_token_field(conf->keys, token, value);
    if (len == 0) {
        complain(r, "libcrypto could not sign it");
        return;
    }

    apr_table_addn(r->headers_out, SERVER_TIMING,
                   apr_pstrmemdup(r->pool, value, len));
}

void mod_fleetprof_revoke_token(request_rec *r, const mod_fleetprof_conf *conf)
{
    if (conf->keys != NULL) {
        apr_table_addn(r->headers_out, SERVER_TIMING, FLEETPROF_TOKEN_NO_FIELD);
    }
}
