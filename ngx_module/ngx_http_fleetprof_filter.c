/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The header filter: finds out what the response is, asks header_policy for
 * the fields, and replaces them.  It leaves a field that it cannot merge.
 */


#include "ngx_http_fleetprof_module.h"


static ngx_int_t ngx_http_fleetprof_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_fleetprof_set_policy(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    uint32_t lengths);
static ngx_int_t ngx_http_fleetprof_merge_policy(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    uint32_t lengths);
static ngx_int_t ngx_http_fleetprof_set_endpoint(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, uint32_t lengths);
static void ngx_http_fleetprof_withdraw_arms(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx);
static void ngx_http_fleetprof_drop_validators(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    uint32_t lengths);
static ngx_int_t ngx_http_fleetprof_replace(ngx_http_request_t *r,
    uint32_t lengths, ngx_str_t *name, struct fleetprof_slice value);
static ngx_int_t ngx_http_fleetprof_set_origins(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, uint32_t lengths);


#define NGX_HTTP_FLEETPROF_NOT_A_DICTIONARY                                   \
    "is not a structured-field dictionary"
#define NGX_HTTP_FLEETPROF_IS_LONG                                            \
    "would have more than 32 lines or 4096 bytes"


static ngx_str_t  ngx_http_fleetprof_document_policy =
    ngx_string("Document-Policy");
static ngx_str_t  ngx_http_fleetprof_reporting_endpoints =
    ngx_string("Reporting-Endpoints");
static ngx_str_t  ngx_http_fleetprof_tao = ngx_string("Timing-Allow-Origin");
static ngx_str_t  ngx_http_fleetprof_trial = ngx_string("Origin-Trial");
static ngx_str_t  ngx_http_fleetprof_expires = ngx_string("Expires");
static ngx_str_t  ngx_http_fleetprof_etag = ngx_string("ETag");
static ngx_str_t  ngx_http_fleetprof_last_modified =
    ngx_string("Last-Modified");
static ngx_str_t  ngx_http_fleetprof_sec_fetch_dest =
    ngx_string("Sec-Fetch-Dest");
static ngx_str_t  ngx_http_fleetprof_sec_fetch_mode =
    ngx_string("Sec-Fetch-Mode");
static ngx_str_t  ngx_http_fleetprof_accept = ngx_string("Accept");

static ngx_str_t  ngx_http_fleetprof_no = ngx_string(FLEETPROF_POLICY_NO);
static ngx_str_t  ngx_http_fleetprof_nothing = ngx_null_string;


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;


void
ngx_http_fleetprof_install_filter(void)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_fleetprof_header_filter;
}


static ngx_int_t
ngx_http_fleetprof_header_filter(ngx_http_request_t *r)
{
    uint32_t                        lengths;
    ngx_uint_t                      enabled;
    ngx_http_fleetprof_ctx_t       *ctx;
    ngx_http_fleetprof_loc_conf_t  *flcf;

    if (r != r->main || r->http_version < NGX_HTTP_VERSION_10) {
        return ngx_http_next_header_filter(r);
    }

    flcf = ngx_http_get_module_loc_conf(r, ngx_http_fleetprof_module);

    enabled = ngx_http_fleetprof_enabled(r, flcf);

    lengths = (enabled || flcf->origins->len != 0)
              ? ngx_http_fleetprof_lengths(r) : 0;

    if (flcf->origins->len != 0
        && ngx_http_fleetprof_set_origins(r, flcf, lengths) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (enabled) {
        ctx = ngx_http_fleetprof_get_ctx(r, 1);

        if (ctx == NULL
            || ngx_http_fleetprof_set_policy(r, flcf, ctx, lengths) != NGX_OK)
        {
            return NGX_ERROR;
        }

        ngx_log_debug1(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                       "fleetprof header: %V",
                       ngx_http_fleetprof_reason_text(ctx->reason));

        return ngx_http_next_header_filter(r);
    }

    ctx = ngx_http_fleetprof_get_ctx(r, 0);

    if (ctx != NULL) {
        ctx->header_made = 1;
        ctx->reason = NGX_HTTP_FLEETPROF_OFF;
        ctx->arms = NULL;
    }

    return ngx_http_next_header_filter(r);
}


/*
 * After X-Accel-Redirect or an intercepted error r->upstream is still set, but
 * its cleanup is not.
 */

ngx_uint_t
ngx_http_fleetprof_proxied(ngx_http_request_t *r)
{
    if (r->upstream == NULL) {
        return 0;
    }

#if (NGX_HTTP_CACHE)
    if (r->cached && r->cache != NULL) {
        return 1;
    }
#endif

    return r->upstream->cleanup != NULL;
}


/*
 * True if the upstream server sent a 304.  The fields of a 304 replace those
 * that the browser has stored.  If this 304 lacks a field, we do not know the
 * stored one, and ours would erase it.  A 304 that nginx makes from a 200 has
 * all the fields of that 200.
 */

static ngx_uint_t
ngx_http_fleetprof_upstream_not_modified(ngx_http_request_t *r)
{
    return r->headers_out.status == NGX_HTTP_NOT_MODIFIED
           && ngx_http_fleetprof_proxied(r)
           && r->upstream->headers_in.status_n == NGX_HTTP_NOT_MODIFIED;
}


/* true if the response, which has n lines of a field, may carry ours */

static ngx_uint_t
ngx_http_fleetprof_may_send(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_int_t n)
{
    if (r->headers_out.status != NGX_HTTP_NOT_MODIFIED) {
        return 1;
    }

    switch (flcf->not_modified) {

    case NGX_HTTP_FLEETPROF_304_SEND:
        return 1;

    case NGX_HTTP_FLEETPROF_304_OMIT:
        return 0;

    default: /* NGX_HTTP_FLEETPROF_304_AUTO */
        return n != 0 || !ngx_http_fleetprof_upstream_not_modified(r);
    }
}


/*
 * True if a response with this status can have a policy.  A malformed request
 * never reaches a location: the default server sends its error.
 */

static ngx_uint_t
ngx_http_fleetprof_has_status(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf)
{
    ngx_uint_t  status;

    status = r->headers_out.status;

    if (status >= 400) {
        return flcf->always && r->valid_location;
    }

    return (status >= 200 && status < 300) || status == NGX_HTTP_NOT_MODIFIED;
}


static ngx_uint_t
ngx_http_fleetprof_has_policy(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf)
{
    ngx_str_t                  type;
    struct fleetprof_exchange  exchange;

    ngx_memzero(&exchange, sizeof(struct fleetprof_exchange));

    exchange.not_modified =
                        r->headers_out.status == NGX_HTTP_NOT_MODIFIED;

    type = r->headers_out.content_type;

    if (exchange.not_modified && type.len == 0 && type.data != NULL) {

        /*
         * nginx makes a 304 from a 200 by setting the length of its type to
         * 0; the type itself and content_type_len stay
         */

        type.len = r->headers_out.content_type_len;
    }

    exchange.content_type = ngx_http_fleetprof_slice(&type);

    if (fleetprof_is_document(flcf->types, exchange.content_type)) {
        return 1;
    }

    exchange.sec_fetch_dest =
        ngx_http_fleetprof_request_field(r, &ngx_http_fleetprof_sec_fetch_dest);

    if (exchange.not_modified) {
        exchange.sec_fetch_mode = ngx_http_fleetprof_request_field(r,
                                         &ngx_http_fleetprof_sec_fetch_mode);
        exchange.accept = ngx_http_fleetprof_request_field(r,
                                         &ngx_http_fleetprof_accept);
    }

    return fleetprof_has_policy(flcf->types, &exchange);
}


ngx_uint_t
ngx_http_fleetprof_cacheable(ngx_http_request_t *r)
{
    ngx_uint_t                      i;
    ngx_list_part_t                *part;
    ngx_table_elt_t                *h;
    struct fleetprof_cache_control  control;

    ngx_memzero(&control, sizeof(struct fleetprof_cache_control));

    for (part = &r->headers_out.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].hash == 0) {
                continue;
            }

            fleetprof_cache_control_add(&control,
                                        ngx_http_fleetprof_slice(&h[i].key),
                                        ngx_http_fleetprof_slice(&h[i].value));

            if (h[i].key.len == ngx_http_fleetprof_expires.len
                && ngx_strncasecmp(h[i].key.data,
                                   ngx_http_fleetprof_expires.data,
                                   h[i].key.len) == 0
                && ngx_parse_http_time(h[i].value.data, h[i].value.len)
                   > ngx_time())
            {
                control.expires = 1;
            }
        }
    }

    return fleetprof_cache_control_is_shared(&control);
}


static ngx_int_t
ngx_http_fleetprof_set_policy(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    uint32_t lengths)
{
    ctx->header_made = 1;

    if (!ngx_http_fleetprof_has_status(r, flcf)) {
        ctx->reason = NGX_HTTP_FLEETPROF_STATUS;
        ctx->arms = NULL;
        return NGX_OK;
    }

    if (!ngx_http_fleetprof_has_policy(r, flcf)) {
        ctx->reason = NGX_HTTP_FLEETPROF_TYPE;
        ctx->arms = NULL;
        return NGX_OK;
    }

    ngx_http_fleetprof_decide(r, flcf, ctx);
    ctx->reason = ctx->decision;

    if ((ctx->decision == NGX_HTTP_FLEETPROF_SAMPLED || ctx->arms != NULL)
        && !flcf->cacheable
        && ngx_http_fleetprof_cacheable(r))
    {
        ctx->arms = NULL;

        if (ctx->decision == NGX_HTTP_FLEETPROF_SAMPLED) {
            ctx->reason = NGX_HTTP_FLEETPROF_CACHEABLE;
        }
    }

    if (ngx_http_fleetprof_merge_policy(r, flcf, ctx, lengths) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_http_fleetprof_withdraw_arms(r, flcf, ctx);

    if (ctx->reason == NGX_HTTP_FLEETPROF_SAMPLED || ctx->arms != NULL) {
        ngx_http_fleetprof_drop_validators(r, flcf, ctx, lengths);
    }

    if (ctx->reason == NGX_HTTP_FLEETPROF_SAMPLED) {

        if (flcf->trial->len != 0
            && ngx_http_fleetprof_add(r, &ngx_http_fleetprof_trial, flcf->trial)
               != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (flcf->reports->len != 0
            && ngx_http_fleetprof_set_endpoint(r, flcf, lengths) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_http_fleetprof_set_timing(r, flcf, ctx, lengths);
}


/*
 * Withdraws arms that the response cannot carry: a 304 leaves the stored page
 * in force, whose arm may be another, and upstream's own yes its Server-Timing.
 */

static void
ngx_http_fleetprof_withdraw_arms(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx)
{
    if (r->headers_out.status == NGX_HTTP_NOT_MODIFIED
        || flcf->keys == NULL
        || (ctx->reason == NGX_HTTP_FLEETPROF_UPSTREAM && ctx->upstream_yes))
    {
        ctx->arms = NULL;
    }
}


/*
 * A sampled page must not be revalidated by a 304 without a policy, which would
 * keep the yes alive.  So it is sent without validators if its 304 would come
 * from upstream, or if the configuration leaves 304s untouched.  No 304 can say
 * which arm a stored page has, so a page with an arm never has validators.
 */

static void
ngx_http_fleetprof_drop_validators(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    uint32_t lengths)
{
    if (r->headers_out.status == NGX_HTTP_NOT_MODIFIED) {
        return;
    }

    if (ctx->arms == NULL
        && (flcf->not_modified == NGX_HTTP_FLEETPROF_304_SEND
            || (flcf->not_modified == NGX_HTTP_FLEETPROF_304_AUTO
                && !ngx_http_fleetprof_proxied(r))))
    {
        return;
    }

    ngx_http_fleetprof_remove(r, lengths, &ngx_http_fleetprof_etag);
    ngx_http_fleetprof_remove(r, lengths, &ngx_http_fleetprof_last_modified);

    r->headers_out.etag = NULL;
    r->headers_out.last_modified = NULL;
    r->headers_out.last_modified_time = -1;
}


static void
ngx_http_fleetprof_log(ngx_http_request_t *r, ngx_str_t *name,
    const char *reason)
{
    if (ngx_http_fleetprof_may_log(r)) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "response header \"%V\" %s, it is sent as it is",
                      name, reason);
    }
}


static ngx_str_t *
ngx_http_fleetprof_members(ngx_http_fleetprof_loc_conf_t *flcf,
    ngx_http_fleetprof_ctx_t *ctx)
{
    if (ctx->reason == NGX_HTTP_FLEETPROF_SAMPLED) {
        return flcf->members;
    }

    return flcf->unsampled == NGX_HTTP_FLEETPROF_UNSAMPLED_NEGATIVE
           ? &ngx_http_fleetprof_no : &ngx_http_fleetprof_nothing;
}


static ngx_int_t
ngx_http_fleetprof_merge_policy(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    uint32_t lengths)
{
    char                             data[FLEETPROF_FIELD_MAX];
    ngx_int_t                        n;
    ngx_str_t                       *members;
    struct fleetprof_slice           lines[NGX_HTTP_FLEETPROF_MAX_LINES];
    struct fleetprof_buffer          merged = { data, 0, sizeof(data) };
    struct fleetprof_merge_result   result = { FLEETPROF_TOO_LONG, false };
    struct fleetprof_policy_request  request;

    members = ngx_http_fleetprof_members(flcf, ctx);
    n = ngx_http_fleetprof_lines(r, lengths,
                                 &ngx_http_fleetprof_document_policy, lines);

    if (!ngx_http_fleetprof_may_send(r, flcf, n)) {
        ctx->reason = NGX_HTTP_FLEETPROF_NOT_MODIFIED;
        return NGX_OK;
    }

    if (n == 0) {
        return members->len == 0 ? NGX_OK
               : ngx_http_fleetprof_add(r, &ngx_http_fleetprof_document_policy,
                                        members);
    }

    if (n != NGX_DECLINED) {
        request.upstream.line = lines;
        request.upstream.count = n;
        request.members = ngx_http_fleetprof_slice(members);
        request.conflict = flcf->conflict;

        result = fleetprof_document_policy_merge(&request, &merged);
    }

    if (result.upstream_decides) {
        ctx->reason = NGX_HTTP_FLEETPROF_UPSTREAM;
        ctx->upstream_yes = fleetprof_document_policy_says_yes(
                                               fleetprof_buffer_text(&merged));
    }

    switch (result.outcome) {

    case FLEETPROF_UNPARSABLE:
        ctx->reason = NGX_HTTP_FLEETPROF_UNPARSABLE;
        ngx_http_fleetprof_log(r, &ngx_http_fleetprof_document_policy,
                                    NGX_HTTP_FLEETPROF_NOT_A_DICTIONARY);
        return NGX_OK;

    case FLEETPROF_TOO_LONG:
        ctx->reason = NGX_HTTP_FLEETPROF_TOO_LONG;
        ngx_http_fleetprof_log(r, &ngx_http_fleetprof_document_policy,
                                    NGX_HTTP_FLEETPROF_IS_LONG);
        return NGX_OK;

    case FLEETPROF_UNCHANGED:
        return NGX_OK;

    default: /* FLEETPROF_CHANGED */
        return ngx_http_fleetprof_replace(r, lengths,
                                          &ngx_http_fleetprof_document_policy,
                                          fleetprof_buffer_text(&merged));
    }
}


/* names the endpoint of crash reports in a sampled page */

static ngx_int_t
ngx_http_fleetprof_set_endpoint(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, uint32_t lengths)
{
    char                               data[FLEETPROF_FIELD_MAX];
    ngx_int_t                          n;
    ngx_str_t                         *name;
    struct fleetprof_slice             lines[NGX_HTTP_FLEETPROF_MAX_LINES];
    struct fleetprof_buffer            merged = { data, 0, sizeof(data) };
    struct fleetprof_merge_result      result = { FLEETPROF_TOO_LONG, false };
    struct fleetprof_endpoint_request  request;

    name = &ngx_http_fleetprof_reporting_endpoints;
    n = ngx_http_fleetprof_lines(r, lengths, name, lines);

    if (!ngx_http_fleetprof_may_send(r, flcf, n)) {
        return NGX_OK;
    }

    if (n != NGX_DECLINED) {
        request.upstream.line = lines;
        request.upstream.count = n;
        request.url = ngx_http_fleetprof_slice(flcf->reports);
        request.conflict = flcf->conflict;

        result = fleetprof_reporting_endpoints_merge(&request, &merged);
    }

    switch (result.outcome) {

    case FLEETPROF_UNPARSABLE:
        ngx_http_fleetprof_log(r, name, NGX_HTTP_FLEETPROF_NOT_A_DICTIONARY);
        return NGX_OK;

    case FLEETPROF_TOO_LONG:
        ngx_http_fleetprof_log(r, name, NGX_HTTP_FLEETPROF_IS_LONG);
        return NGX_OK;

    case FLEETPROF_UNCHANGED:
        return NGX_OK;

    default: /* FLEETPROF_CHANGED */
        return ngx_http_fleetprof_replace(r, lengths, name,
                                          fleetprof_buffer_text(&merged));
    }
}


/* replaces all lines of a field by one, or by none if the value is empty */

static ngx_int_t
ngx_http_fleetprof_replace(ngx_http_request_t *r, uint32_t lengths,
    ngx_str_t *name, struct fleetprof_slice value)
{
    ngx_http_fleetprof_remove(r, lengths, name);

    return value.len == 0 ? NGX_OK
                          : ngx_http_fleetprof_add_copy(r, name, value);
}


static ngx_int_t
ngx_http_fleetprof_set_origins(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, uint32_t lengths)
{
    char                     data[FLEETPROF_FIELD_MAX];
    ngx_int_t                n;
    enum fleetprof_outcome   outcome;
    struct fleetprof_lines   upstream;
    struct fleetprof_slice   lines[NGX_HTTP_FLEETPROF_MAX_LINES];
    struct fleetprof_buffer  merged = { data, 0, sizeof(data) };

    if (r->headers_out.status < 200 || r->headers_out.status > 399) {
        return NGX_OK;
    }

    n = ngx_http_fleetprof_lines(r, lengths, &ngx_http_fleetprof_tao, lines);

    if (n == 0 && ngx_http_fleetprof_upstream_not_modified(r)) {
        return NGX_OK;
    }

    if (n == 0) {
        return ngx_http_fleetprof_add(r, &ngx_http_fleetprof_tao,
                                      flcf->origins);
    }

    outcome = FLEETPROF_TOO_LONG;

    if (n != NGX_DECLINED) {
        upstream.line = lines;
        upstream.count = n;

        outcome = fleetprof_timing_allow_origin_merge(upstream,
                              ngx_http_fleetprof_slice(flcf->origins), &merged);
    }

    if (outcome == FLEETPROF_TOO_LONG) {
        ngx_http_fleetprof_log(r, &ngx_http_fleetprof_tao,
                                    NGX_HTTP_FLEETPROF_IS_LONG);
    }

    if (outcome != FLEETPROF_CHANGED) {
        return NGX_OK;
    }

    return ngx_http_fleetprof_replace(r, lengths, &ngx_http_fleetprof_tao,
                                      fleetprof_buffer_text(&merged));
}
