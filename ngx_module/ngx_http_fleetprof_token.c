/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writes the line of Server-Timing that carries the decision to the page's
 * script, and sets the directives that name the token's site and key.
 */


#include "ngx_http_fleetprof_module.h"


#if (FLEETPROF_ARMS_TEXT_MAX > FLEETPROF_TOKEN_ARMS_MAX)
#error "a token has no room for the arms"
#endif


static void ngx_http_fleetprof_free_keys(void *data);
static ngx_int_t ngx_http_fleetprof_signed_timing(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    ngx_uint_t may_profile, ngx_str_t *value);
static ngx_int_t ngx_http_fleetprof_add_share(ngx_http_request_t *r,
    ngx_str_t *value);


static ngx_str_t  ngx_http_fleetprof_server_timing =
    ngx_string("Server-Timing");

static ngx_str_t  ngx_http_fleetprof_unsampled_timing =
    ngx_string(FLEETPROF_TOKEN_NO_FIELD);


char *
ngx_http_fleetprof_site(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    ngx_str_t  *value;

    if (flcf->site.data != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (!fleetprof_token_site_is_valid((char *) value[1].data, value[1].len)) {
        return ngx_http_fleetprof_invalid(cf, &value[1], 0,
                   "it is not a site's name; write 1 to 64 of A-Z a-z 0-9 . _ "
                   "- as in the collector's configuration");
    }

    flcf->site = value[1];

    return NGX_CONF_OK;
}


char *
ngx_http_fleetprof_token_key(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    u_char                       reason[256];
    ngx_str_t                   *value, file;
    ngx_pool_cleanup_t          *cln;
    struct fleetprof_key_result  result;

    if (flcf->keys != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        flcf->keys = NULL;
        return NGX_CONF_OK;
    }

    file = value[1];
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (cln == NULL || ngx_conf_full_name(cf->cycle, &file, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    result = fleetprof_token_keys_load((char *) file.data, &flcf->keys);

    if (result.error == FLEETPROF_KEY_OK) {
        cln->handler = ngx_http_fleetprof_free_keys;
        cln->data = flcf->keys;

        return NGX_CONF_OK;
    }

    if (result.line == 0) {
        return ngx_http_fleetprof_invalid(cf, &value[1],
                   result.error == FLEETPROF_KEY_UNREADABLE ? ngx_errno : 0,
                   fleetprof_key_error_text(result.error));
    }

    *ngx_snprintf(reason, sizeof(reason) - 1, "in line %ud: %s", result.line,
                  fleetprof_key_error_text(result.error)) = '\0';

    return ngx_http_fleetprof_invalid(cf, &value[1], 0, (char *) reason);
}


static void
ngx_http_fleetprof_free_keys(void *data)
{
    fleetprof_token_keys_free(data);
}


/*
 * Policy and Server-Timing change together: a 304 that leaves the stored policy
 * in force also leaves the stored Server-Timing.  If upstream's own policy
 * allows profiling, its Server-Timing stays: it may have this module.
 */

ngx_int_t
ngx_http_fleetprof_set_timing(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    uint32_t lengths)
{
    ngx_str_t   value, sampled;
    ngx_uint_t  may_profile;

    if (ctx->reason == NGX_HTTP_FLEETPROF_NOT_MODIFIED
        || (ctx->reason == NGX_HTTP_FLEETPROF_UPSTREAM && ctx->upstream_yes))
    {
        return NGX_OK;
    }

    value = ngx_http_fleetprof_unsampled_timing;
    may_profile = ctx->reason == NGX_HTTP_FLEETPROF_SAMPLED
                  && flcf->policy->says_yes;

    if (may_profile || ctx->arms != NULL) {

        if (ngx_http_fleetprof_signed_timing(r, flcf, ctx, may_profile,
                                             &sampled)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (sampled.len != 0) {
            value = sampled;
        }
    }

    /* a shared cache would repeat the time of one response */

    if (flcf->server_timing
        && (flcf->cacheable || !ngx_http_fleetprof_cacheable(r))
        && ngx_http_fleetprof_add_share(r, &value) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_fleetprof_add_timing(r, lengths,
                                         &ngx_http_fleetprof_server_timing,
                                         &value);
}


/*
 * Returns how long upstream servers took until their header was there, in ms:
 * 0 for a cache hit.  A server that failed took until its failure.
 */

static ngx_msec_t
ngx_http_fleetprof_upstream_time(ngx_http_request_t *r)
{
    ngx_msec_t                 total;
    ngx_uint_t                 i;
    ngx_http_upstream_state_t *state;

    total = 0;

    if (r->upstream_states == NULL) {
        return 0;
    }

    state = r->upstream_states->elts;

    for (i = 0; i < r->upstream_states->nelts; i++) {

        if (state[i].header_time != (ngx_msec_t) -1) {
            total += state[i].header_time;

        } else if (state[i].response_time != (ngx_msec_t) -1) {
            total += state[i].response_time;
        }
    }

    return total;
}


/* returns the word of nginx's cache, as in $upstream_cache_status */

static ngx_str_t
ngx_http_fleetprof_cache_status(ngx_http_request_t *r)
{
    ngx_str_t  none = ngx_null_string;

#if (NGX_HTTP_CACHE)
    if (ngx_http_fleetprof_proxied(r) && r->upstream->cache_status != 0) {
        return ngx_http_cache_status[r->upstream->cache_status - 1];
    }
#endif

    return none;
}


/* appends the server's share of the time to first byte, if there is one */

static ngx_int_t
ngx_http_fleetprof_add_share(ngx_http_request_t *r, ngx_str_t *value)
{
    u_char     *p;
    ngx_str_t   status;

    if (!ngx_http_fleetprof_proxied(r)
        && (r->upstream_states == NULL || r->upstream_states->nelts == 0))
    {
        return NGX_OK;
    }

    status = ngx_http_fleetprof_cache_status(r);

    p = ngx_pnalloc(r->pool, value->len + sizeof(FLEETPROF_TIMING_SERVER)
                             + NGX_TIME_T_LEN + sizeof(FLEETPROF_TIMING_CACHE)
                             + status.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    value->len = ngx_sprintf(p, "%V" FLEETPROF_TIMING_SERVER "%M", value,
                             ngx_http_fleetprof_upstream_time(r))
                 - p;
    value->data = p;

    if (status.len != 0) {
        value->len = ngx_sprintf(p + value->len, FLEETPROF_TIMING_CACHE "%V",
                                 &status)
                     - p;
    }

    return NGX_OK;
}


/*
 * Makes the metric of a document that is sampled or has arms; empty, and no
 * arms, if libcrypto failed.
 */

static ngx_int_t
ngx_http_fleetprof_signed_timing(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    ngx_uint_t may_profile, ngx_str_t *value)
{
    char                    arms[FLEETPROF_ARMS_TEXT_MAX];
    struct fleetprof_token  token;

    token.arms = arms;
    token.arms_len = ctx->arms == NULL ? 0
                     : fleetprof_arms_format(&ctx->arms->experiments,
                                             ctx->drawn, arms);

    token.site = (char *) flcf->site.data;
    token.site_len = flcf->site.len;
    token.ppm = may_profile ? ctx->ppm : 0;
    token.time_s = ngx_time();

    value->data = ngx_pnalloc(r->pool, FLEETPROF_TOKEN_FIELD_MAX);
    if (value->data == NULL) {
        return NGX_ERROR;
    }

    value->len = fleetprof_token_field(flcf->keys, token,
                                       (char *) value->data);

    if (value->len == 0) {
        ctx->arms = NULL;

        if (ngx_http_fleetprof_may_log(r)) {
            ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                          "no token for a sampled page, libcrypto failed");
        }
    }

    return NGX_OK;
}
