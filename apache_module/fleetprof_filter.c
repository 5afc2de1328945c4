/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output filter: finds out what the response is, asks header_policy for
 * the fields, and replaces them.  It leaves a field that it cannot merge.
 *
 * httpd keeps response fields in two tables.  It sends those of err_headers_out
 * first, then those of headers_out.
 */

#include "mod_fleetprof.h"

#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"

#include "apr_cstr.h"
#include "apr_date.h"
#include "apr_strings.h"
#include "mod_cache.h"

APLOG_USE_MODULE(fleetprof);

#define DOCUMENT_POLICY "Document-Policy"
#define REPORTING_ENDPOINTS "Reporting-Endpoints"
#define TIMING_ALLOW_ORIGIN "Timing-Allow-Origin"

#define NOT_A_DICTIONARY "is not a structured-field dictionary"
#define IS_LONG "would have more than 32 lines or 4096 bytes"

static ap_filter_rec_t *filter_handle;

/* The lines of one field, in the order in which they are sent. */
typedef struct {
    struct fleetprof_slice line[MOD_FLEETPROF_MAX_LINES];
    size_t count;
    int too_many;
} field_lines;

static int collect_line(void *data, const char *name, const char *value)
{
    field_lines *lines = data;

    if (lines->count == MOD_FLEETPROF_MAX_LINES) {
        lines->too_many = 1;
        return 0;
    }
    lines->line[lines->count++] = mod_fleetprof_slice(value);

    return 1;
}

static void collect_lines(request_rec *r, const char *name, field_lines *lines)
{
    lines->count = 0;
    lines->too_many = 0;
    apr_table_do(collect_line, lines, r->err_headers_out, name, NULL);
    apr_table_do(collect_line, lines, r->headers_out, name, NULL);
}

static void remove_field(request_rec *r, const char *name)
{
    apr_table_unset(r->err_headers_out, name);
    apr_table_unset(r->headers_out, name);
}

static void replace_field(request_rec *r, const char *name,
                          const struct fleetprof_buffer *value)
{
    remove_field(r, name);
    if (value->len > 0) {
        apr_table_setn(r->headers_out, name,
                       apr_pstrmemdup(r->pool, value->data, value->len));
    }
}

static void log_field(request_rec *r, const char *name, const char *reason)
{
    if (mod_fleetprof_may_log()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "response header \"%s\" %s, it is sent as it is", name,
                      reason);
    }
}

/* True if mod_cache says in the environment that it serves the response. */
static int is_from_cache(request_rec *r)
{
    return apr_table_get(r->subprocess_env, AP_CACHE_HIT_ENV) != NULL
           || apr_table_get(r->subprocess_env, AP_CACHE_REVALIDATE_ENV) != NULL;
}

int mod_fleetprof_is_proxied(request_rec *r)
{
    return r->proxyreq != PROXYREQ_NONE || is_from_cache(r);
}

/*
 * True if an upstream server sent a 304.  The fields of a 304 replace those
 * that the browser has stored.  If this 304 lacks a field, we do not know the
 * stored one, and ours would erase it.  A 304 that mod_cache makes has all the
 * fields of the stored response.
 */
static int is_upstreams_304(request_rec *r)
{
    return r->status == HTTP_NOT_MODIFIED && r->proxyreq != PROXYREQ_NONE
           && !is_from_cache(r);
}

/* Ignores the type that httpd guesses from the URL for an upstream's 304. */
static const char *content_type_of(request_rec *r)
{
    return is_upstreams_304(r) ? apr_table_get(r->headers_out, "Content-Type")
                               : r->content_type;
}

static int has_policy(request_rec *r, const mod_fleetprof_conf *conf)
{
    struct fleetprof_exchange exchange;

    exchange.content_type = mod_fleetprof_slice(content_type_of(r));
    exchange.sec_fetch_dest =
        mod_fleetprof_slice(apr_table_get(r->headers_in, "Sec-Fetch-Dest"));
    exchange.sec_fetch_mode =
        mod_fleetprof_slice(apr_table_get(r->headers_in, "Sec-Fetch-Mode"));
    exchange.accept =
        mod_fleetprof_slice(apr_table_get(r->headers_in, "Accept"));
    exchange.not_modified = r->status == HTTP_NOT_MODIFIED;

    return fleetprof_has_policy(conf->types ? conf->types
                                            : &fleetprof_default_types,
                                &exchange);
}

/* True if a response with this status may carry the policy. */
static int has_status(request_rec *r, const mod_fleetprof_conf *conf)
{
    if (r->status < 400) {
        return r->status == HTTP_NOT_MODIFIED || ap_is_HTTP_SUCCESS(r->status);
    }

    /* A request that could not be read was not mapped to a file. */
    return conf->always == MOD_FLEETPROF_ON
           && (r->filename != NULL || is_from_cache(r));
}

/* True if this is a 304 that is left as it is. */
static int keeps_stored_304(request_rec *r, const mod_fleetprof_conf *conf,
                         int has_field)
{
    if (r->status != HTTP_NOT_MODIFIED
        || conf->not_modified == MOD_FLEETPROF_304_SEND) {
        return 0;
    }

    return conf->not_modified == MOD_FLEETPROF_304_OMIT
           || (!has_field && is_upstreams_304(r));
}

static int read_caching(void *data, const char *name, const char *value)
{
    struct fleetprof_cache_control *control = data;

    fleetprof_cache_control_add(control, mod_fleetprof_slice(name),
                                mod_fleetprof_slice(value));
    if (apr_cstr_casecmp(name, "Expires") == 0
        && apr_date_parse_http(value) > apr_time_now()) {
        control->expires = true;
    }

    return 1;
}

int mod_fleetprof_is_cacheable(request_rec *r)
{
    struct fleetprof_cache_control control;

    memset(&control, 0, sizeof(control));
    apr_table_do(read_caching, &control, r->err_headers_out, NULL);
    apr_table_do(read_caching, &control, r->headers_out, NULL);

    return fleetprof_cache_control_is_shared(&control);
}

/*
 * Withdraws arms that the response cannot carry: a 304 leaves the stored page
 * in force, whose arm may be another, and upstream's own yes its
 * Server-Timing; the place that answers may have no key.
 */
static void withdraw_arms(request_rec *r, const mod_fleetprof_conf *conf,
                          mod_fleetprof_decision *decision,
                          mod_fleetprof_reason reason)
{
    if (r->status == HTTP_NOT_MODIFIED
        || !mod_fleetprof_has_keys(conf) || conf->site == NULL
        || (reason == MOD_FLEETPROF_UPSTREAM && decision->upstream_yes)) {
        decision->are_arms_withdrawn = 1;
    }
}

/*
 * A sampled page must not be revalidated by a 304 without a policy, such as
 * that of an upstream server: it would keep the yes alive.  No 304 can say
 * which arm a stored page has, so a page with an arm never has validators.
 */
static void drop_validators(request_rec *r, const mod_fleetprof_conf *conf,
                            const mod_fleetprof_decision *decision)
{
    if (r->status == HTTP_NOT_MODIFIED) {
        return;
    }

    if (mod_fleetprof_has_arms(decision)
        || conf->not_modified == MOD_FLEETPROF_304_OMIT
        || (conf->not_modified != MOD_FLEETPROF_304_SEND
            && mod_fleetprof_is_proxied(r))) {
        remove_field(r, "ETag");
        remove_field(r, "Last-Modified");
    }
}

static int has_reports(const mod_fleetprof_conf *conf)
{
    return conf->reports != NULL && *conf->reports != '\0';
}

/* Returns the members of a sampled page. */
static const char *sampled_members(request_rec *r,
                                   const mod_fleetprof_conf *conf)
{
    const char *policy = conf->policy ? conf->policy : FLEETPROF_POLICY_YES;
    char data[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer members = { data, 0, sizeof(data) };

    /* A policy of at most half the buffer leaves room. */
    if (!has_reports(conf)
        || !fleetprof_buffer_put(&members, mod_fleetprof_slice(policy))
        || !fleetprof_document_policy_add_stacks(&members)) {
        return policy;
    }

    return apr_pstrmemdup(r->pool, members.data, members.len);
}

/* Returns the members that we would add. */
static const char *members_for(request_rec *r, mod_fleetprof_reason reason,
                               const mod_fleetprof_conf *conf)
{
    if (reason == MOD_FLEETPROF_SAMPLED) {
        return sampled_members(r, conf);
    }

    return conf->unsampled == MOD_FLEETPROF_UNSAMPLED_OMIT ? ""
                                                        : FLEETPROF_POLICY_NO;
}

static enum fleetprof_conflict conflict_of(const mod_fleetprof_conf *conf)
{
    return conf->conflict == MOD_FLEETPROF_LOCAL_WINS
               ? FLEETPROF_CONFLICT_LOCAL : FLEETPROF_CONFLICT_UPSTREAM;
}

static mod_fleetprof_reason merge_policy(request_rec *r,
                                         const mod_fleetprof_conf *conf,
                                         mod_fleetprof_reason reason,
                                         int *upstream_yes)
{
    char data[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer merged = { data, 0, sizeof(data) };
    struct fleetprof_merge_result result = { FLEETPROF_TOO_LONG, false };
    struct fleetprof_policy_request request;
    field_lines lines;

    collect_lines(r, DOCUMENT_POLICY, &lines);
    if (keeps_stored_304(r, conf, lines.count > 0)) {
        return MOD_FLEETPROF_NOT_MODIFIED;
    }

    if (!lines.too_many) {
        request.upstream.line = lines.line;
        request.upstream.count = lines.count;
        request.members = mod_fleetprof_slice(members_for(r, reason, conf));
        request.conflict = conflict_of(conf);
        result = fleetprof_document_policy_merge(&request, &merged);
    }

    if (result.outcome == FLEETPROF_UNPARSABLE) {
        log_field(r, DOCUMENT_POLICY, NOT_A_DICTIONARY);
        return MOD_FLEETPROF_UNPARSABLE;
    }
    if (result.outcome == FLEETPROF_TOO_LONG) {
        log_field(r, DOCUMENT_POLICY, IS_LONG);
        return MOD_FLEETPROF_TOO_LONG;
    }

    if (result.upstream_decides) {
        reason = MOD_FLEETPROF_UPSTREAM;
        *upstream_yes =
            fleetprof_document_policy_says_yes(fleetprof_buffer_text(&merged));
    }
    if (result.outcome == FLEETPROF_CHANGED) {
        replace_field(r, DOCUMENT_POLICY, &merged);
    }

    return reason;
}

/* Names the endpoint of crash reports in a sampled page. */
static void set_endpoint(request_rec *r, const mod_fleetprof_conf *conf)
{
    char data[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer merged = { data, 0, sizeof(data) };
    struct fleetprof_merge_result result = { FLEETPROF_TOO_LONG, false };
    struct fleetprof_endpoint_request request;
    field_lines lines;

    collect_lines(r, REPORTING_ENDPOINTS, &lines);
    if (keeps_stored_304(r, conf, lines.count > 0)) {
        return;
    }

    if (!lines.too_many) {
        request.upstream.line = lines.line;
        request.upstream.count = lines.count;
        request.url = mod_fleetprof_slice(conf->reports);
        request.conflict = conflict_of(conf);
        result = fleetprof_reporting_endpoints_merge(&request, &merged);
    }

    if (result.outcome == FLEETPROF_UNPARSABLE) {
        log_field(r, REPORTING_ENDPOINTS, NOT_A_DICTIONARY);
    }
    else if (result.outcome == FLEETPROF_TOO_LONG) {
        log_field(r, REPORTING_ENDPOINTS, IS_LONG);
    }
    else if (result.outcome == FLEETPROF_CHANGED) {
        replace_field(r, REPORTING_ENDPOINTS, &merged);
    }
}

static mod_fleetprof_reason set_policy(request_rec *r,
                                       const mod_fleetprof_conf *conf,
                                       mod_fleetprof_decision *decision)
{
    mod_fleetprof_reason reason;

    if (!has_status(r, conf)) {
        return MOD_FLEETPROF_STATUS;
    }
    if (!has_policy(r, conf)) {
        return MOD_FLEETPROF_TYPE;
    }

    reason = mod_fleetprof_decide(r, conf)->decision;
    if ((reason == MOD_FLEETPROF_SAMPLED || mod_fleetprof_has_arms(decision))
        && conf->cacheable != MOD_FLEETPROF_ON && mod_fleetprof_is_cacheable(r)) {
        decision->are_arms_withdrawn = 1;
        if (reason == MOD_FLEETPROF_SAMPLED) {
            reason = MOD_FLEETPROF_CACHEABLE;
        }
    }

    reason = merge_policy(r, conf, reason, &decision->upstream_yes);
    withdraw_arms(r, conf, decision, reason);
    if (reason == MOD_FLEETPROF_SAMPLED || mod_fleetprof_has_arms(decision)) {
        drop_validators(r, conf, decision);
    }
    if (reason == MOD_FLEETPROF_SAMPLED) {
        if (conf->trial != NULL && *conf->trial != '\0') {
            apr_table_addn(r->headers_out, "Origin-Trial", conf->trial);
        }
        if (has_reports(conf)) {
            set_endpoint(r, conf);
        }
    }

    return reason;
}

static void set_origins(request_rec *r, const mod_fleetprof_conf *conf)
{
    char data[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer merged = { data, 0, sizeof(data) };
    enum fleetprof_outcome outcome = FLEETPROF_TOO_LONG;
    struct fleetprof_lines upstream;
    field_lines lines;

    if (r->status < 200 || r->status > 399) {
        return;
    }

    collect_lines(r, TIMING_ALLOW_ORIGIN, &lines);
    if (lines.count == 0 && is_upstreams_304(r)) {
        return;
    }

    if (!lines.too_many) {
        upstream.line = lines.line;
        upstream.count = lines.count;
        outcome = fleetprof_timing_allow_origin_merge(
            upstream, mod_fleetprof_slice(conf->origins), &merged);
    }

    if (outcome == FLEETPROF_TOO_LONG) {
        log_field(r, TIMING_ALLOW_ORIGIN, IS_LONG);
    }
    else if (outcome == FLEETPROF_CHANGED) {
        replace_field(r, TIMING_ALLOW_ORIGIN, &merged);
    }
}

static int has_origins(const mod_fleetprof_conf *conf)
{
    return conf->origins != NULL && *conf->origins != '\0';
}

static int may_be_on(const mod_fleetprof_conf *conf)
{
    return conf->enabled == MOD_FLEETPROF_ON
           || conf->enabled == MOD_FLEETPROF_EXPRESSION;
}

static apr_status_t fleetprof_filter(ap_filter_t *f, apr_bucket_brigade *bb)
{
    request_rec *r = f->r;
    const mod_fleetprof_conf *conf = mod_fleetprof_conf_of(r);

    if (has_origins(conf)) {
        set_origins(r, conf);
    }
    if (mod_fleetprof_enabled(r, conf)) {
        mod_fleetprof_decision *decision = mod_fleetprof_decision_of(r);

        decision->reason = set_policy(r, conf, decision);
        if (decision->reason < MOD_FLEETPROF_NOT_MODIFIED) {
            mod_fleetprof_set_timing(r, conf, decision);
        }
        else {
            decision->are_arms_withdrawn = 1;
        }
        mod_fleetprof_set_env(r, decision);
        ap_log_rerror(APLOG_MARK, APLOG_TRACE1, 0, r, "header: %s",
                      mod_fleetprof_reason_text(decision->reason));
    }

    ap_remove_output_filter(f);

    return ap_pass_brigade(f->next, bb);
}

/* Parts of a page (subrequests) and HTTP/0.9 have no header of their own. */
static void insert_filter(request_rec *r)
{
    const mod_fleetprof_conf *conf = mod_fleetprof_conf_of(r);

    if (r->main == NULL && !r->assbackwards
        && (may_be_on(conf) || has_origins(conf))) {
        ap_add_output_filter_handle(filter_handle, NULL, r, r->connection);
    }
}

/*
 * The filter runs after mod_headers (CONTENT_SET), so that it merges its
 * fields, and after mod_cache's filters (+1), so that a decision is neither
 * stored nor replayed.  Errors and 304s of httpd have only the error filters.
 */
void mod_fleetprof_register_filter(apr_pool_t *p)
{
    filter_handle = ap_register_output_filter("FLEETPROF", fleetprof_filter,
                                              NULL, AP_FTYPE_CONTENT_SET + 5);
    ap_hook_insert_filter(insert_filter, NULL, NULL, APR_HOOK_LAST);
    ap_hook_insert_error_filter(insert_filter, NULL, NULL, APR_HOOK_LAST);
}
