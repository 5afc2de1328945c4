/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Decides once per main request whether the page load is sampled, and reports
 * the decision in variables.
 */


#include "ngx_http_fleetprof_module.h"


static void ngx_http_fleetprof_cleanup(void *data);
static ngx_int_t ngx_http_fleetprof_rate(ngx_http_request_t *r,
    ngx_http_fleetprof_sample_t *sample, uint32_t *ppm);
static uint64_t ngx_http_fleetprof_number(ngx_http_request_t *r,
    ngx_http_fleetprof_sample_t *sample);
static void ngx_http_fleetprof_draw_arms(ngx_http_request_t *r,
    ngx_http_fleetprof_arms_t *arms, ngx_http_fleetprof_ctx_t *ctx);
static ngx_int_t ngx_http_fleetprof_arm_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_fleetprof_sampled_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_fleetprof_rate_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_http_fleetprof_reason_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);


static ngx_http_variable_t  ngx_http_fleetprof_vars[] = {

    { ngx_string("fleetprof_sampled"), NULL,
      ngx_http_fleetprof_sampled_variable, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("fleetprof_rate"), NULL,
      ngx_http_fleetprof_rate_variable, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("fleetprof_reason"), NULL,
      ngx_http_fleetprof_reason_variable, 0, NGX_HTTP_VAR_NOCACHEABLE, 0 },

      ngx_http_null_variable
};


/* in the order of ngx_http_fleetprof_reason_e */

static ngx_str_t  ngx_http_fleetprof_reasons[] = {
    ngx_string("sampled"),
    ngx_string("rate"),
    ngx_string("bad_rate"),
    ngx_string("cacheable"),
    ngx_string("upstream"),
    ngx_string("unparsable"),
    ngx_string("too_long"),
    ngx_string("not_modified"),
    ngx_string("status"),
    ngx_string("type"),
    ngx_string("off")
};


ngx_str_t *
ngx_http_fleetprof_reason_text(ngx_http_fleetprof_reason_e reason)
{
    return &ngx_http_fleetprof_reasons[reason];
}


ngx_uint_t
ngx_http_fleetprof_enabled(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf)
{
    ngx_str_t  value;

    if (flcf->enable == NULL) {
        return 0;
    }

    if (flcf->enable->lengths == NULL) {
        return 1;
    }

    if (ngx_http_complex_value(r, flcf->enable, &value) != NGX_OK) {
        return 0;
    }

    if ((value.len == 1 && value.data[0] == '1')
        || (value.len == 2 && ngx_strncmp(value.data, "on", 2) == 0))
    {
        return 1;
    }

    if (value.len != 0
        && !(value.len == 1 && value.data[0] == '0')
        && !(value.len == 3 && ngx_strncmp(value.data, "off", 3) == 0)
        && ngx_http_fleetprof_may_log(r))
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "invalid value \"%V\" of the variable in \"fleetprof\" "
                      "taken as \"off\": it is neither \"on\" nor \"off\" nor "
                      "\"1\" nor \"0\" nor empty", &value);
    }

    return 0;
}


/*
 * An internal redirect clears module contexts, but not the request's pool.  So
 * the context is the data of a cleanup handler that does nothing.
 */

static void
ngx_http_fleetprof_cleanup(void *data)
{
    return;
}


ngx_http_fleetprof_ctx_t *
ngx_http_fleetprof_get_ctx(ngx_http_request_t *r, ngx_uint_t create)
{
    ngx_pool_cleanup_t        *cln;
    ngx_http_fleetprof_ctx_t  *ctx;

    r = r->main;
    ctx = ngx_http_get_module_ctx(r, ngx_http_fleetprof_module);

    if (ctx != NULL) {
        return ctx;
    }

    if (r->internal || r->filter_finalize) {

        for (cln = r->pool->cleanup; cln; cln = cln->next) {
            if (cln->handler == ngx_http_fleetprof_cleanup) {
                ngx_http_set_ctx(r, cln->data, ngx_http_fleetprof_module);
                return cln->data;
            }
        }
    }

    if (!create) {
        return NULL;
    }

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_fleetprof_ctx_t));
    if (cln == NULL) {
        return NULL;
    }

    cln->handler = ngx_http_fleetprof_cleanup;

    ctx = cln->data;
    ngx_memzero(ctx, sizeof(ngx_http_fleetprof_ctx_t));
    ngx_http_set_ctx(r, ctx, ngx_http_fleetprof_module);

    return ctx;
}


void
ngx_http_fleetprof_decide(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx)
{
    uint64_t  number;

    if (ctx->decided) {
        return;
    }

    /* set first: the rate or the key may contain our own variables */

    ctx->decided = 1;
    ctx->decision = NGX_HTTP_FLEETPROF_BAD_RATE;
    ctx->reason = ctx->decision;

    r = r->main;

    if (ngx_http_fleetprof_rate(r, flcf->sample, &ctx->ppm) == NGX_OK) {
        number = ngx_http_fleetprof_number(r, flcf->sample);

        ctx->decision = fleetprof_sampled(number, ctx->ppm)
                        ? NGX_HTTP_FLEETPROF_SAMPLED : NGX_HTTP_FLEETPROF_RATE;
        ctx->reason = ctx->decision;
    }

    if (flcf->arms != NULL) {
        ngx_http_fleetprof_draw_arms(r, flcf->arms, ctx);
    }

    ngx_log_debug2(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "fleetprof decision: %V, rate: %uDppm",
                   ngx_http_fleetprof_reason_text(ctx->decision), ctx->ppm);
}


static ngx_int_t
ngx_http_fleetprof_rate(ngx_http_request_t *r,
    ngx_http_fleetprof_sample_t *sample, uint32_t *ppm)
{
    ngx_str_t                  value;
    enum fleetprof_rate_error  error;

    if (sample->value.lengths == NULL) {
        *ppm = sample->ppm;
        return NGX_OK;
    }

    if (ngx_http_complex_value(r, &sample->value, &value) != NGX_OK) {
        return NGX_ERROR;
    }

    error = fleetprof_rate_parse(ngx_http_fleetprof_slice(&value), ppm);

    if (error == FLEETPROF_RATE_OK) {
        return NGX_OK;
    }

    if (ngx_http_fleetprof_may_log(r)) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "invalid rate \"%V\" in \"fleetprof_sample\", "
                      "nobody is sampled: %s",
                      &value, fleetprof_rate_error_text(error));
    }

    return NGX_ERROR;
}


static uint64_t
ngx_http_fleetprof_number(ngx_http_request_t *r,
    ngx_http_fleetprof_sample_t *sample)
{
    ngx_str_t                        key;
    ngx_http_fleetprof_main_conf_t  *fmcf;

    if (sample->key != NULL
        && ngx_http_complex_value(r, sample->key, &key) == NGX_OK
        && key.len != 0)
    {
        return fleetprof_key_number(ngx_http_fleetprof_slice(&key));
    }

    fmcf = ngx_http_get_module_main_conf(r, ngx_http_fleetprof_module);

    return fleetprof_random_number(&fmcf->random);
}


static void
ngx_http_fleetprof_draw_arms(ngx_http_request_t *r,
    ngx_http_fleetprof_arms_t *arms, ngx_http_fleetprof_ctx_t *ctx)
{
    uint64_t                         number;
    ngx_str_t                        key;
    ngx_uint_t                       i;
    struct fleetprof_experiment     *experiment;
    ngx_http_fleetprof_main_conf_t  *fmcf;

    fmcf = ngx_http_get_module_main_conf(r, ngx_http_fleetprof_module);

    if (arms->key == NULL
        || ngx_http_complex_value(r, arms->key, &key) != NGX_OK)
    {
        key.len = 0;
    }

    for (i = 0; i < arms->experiments.count; i++) {
        experiment = &arms->experiments.experiment[i];

        number = key.len != 0
                 ? fleetprof_arm_number(experiment->name,
                                        ngx_http_fleetprof_slice(&key))
                 : fleetprof_random_number(&fmcf->random);

        ctx->drawn[i] = (u_char) fleetprof_arm_draw(experiment, number);
    }

    ctx->arms = arms;
}


ngx_uint_t
ngx_http_fleetprof_may_log(ngx_http_request_t *r)
{
    time_t                           now;
    ngx_http_fleetprof_main_conf_t  *fmcf;

    fmcf = ngx_http_get_module_main_conf(r, ngx_http_fleetprof_module);
    now = ngx_time();

    if (fmcf->logged == now) {
        return 0;
    }

    fmcf->logged = now;

    return 1;
}


ngx_int_t
ngx_http_fleetprof_add_variables(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_http_fleetprof_vars; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}


/* several places may name the same experiment: its variable stays changeable */

ngx_int_t
ngx_http_fleetprof_add_arm_variable(ngx_conf_t *cf,
    struct fleetprof_slice *experiment)
{
    u_char                data[sizeof("fleetprof_arm_") - 1
                               + FLEETPROF_ARM_NAME_MAX];
    ngx_str_t             name;
    ngx_http_variable_t  *var;

    name.data = data;
    name.len = ngx_snprintf(data, sizeof(data), "fleetprof_arm_%*s",
                            experiment->len, experiment->data)
               - data;

    var = ngx_http_add_variable(cf, &name, NGX_HTTP_VAR_CHANGEABLE
                                           |NGX_HTTP_VAR_NOCACHEABLE);
    if (var == NULL) {
        return NGX_ERROR;
    }

    var->get_handler = ngx_http_fleetprof_arm_variable;
    var->data = (uintptr_t) experiment;

    return NGX_OK;
}


/*
 * Before the header is made a variable tells the decision, which it makes if
 * need be; afterwards, what has become of it.  NULL: the module is off.
 */

static ngx_http_fleetprof_ctx_t *
ngx_http_fleetprof_variable_ctx(ngx_http_request_t *r)
{
    ngx_http_fleetprof_ctx_t       *ctx;
    ngx_http_fleetprof_loc_conf_t  *flcf;

    ctx = ngx_http_fleetprof_get_ctx(r, 0);

    if (ctx != NULL && (ctx->decided || ctx->header_made)) {
        return ctx;
    }

    flcf = ngx_http_get_module_loc_conf(r->main, ngx_http_fleetprof_module);

    if (!ngx_http_fleetprof_enabled(r->main, flcf)) {
        return NULL;
    }

    ctx = ngx_http_fleetprof_get_ctx(r, 1);

    if (ctx != NULL) {
        ngx_http_fleetprof_decide(r, flcf, ctx);
    }

    return ctx;
}


static ngx_int_t
ngx_http_fleetprof_text(ngx_http_variable_value_t *v, u_char *data, size_t len)
{
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    v->data = data;
    v->len = len;

    return NGX_OK;
}


static ngx_int_t
ngx_http_fleetprof_sampled_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_http_fleetprof_ctx_t  *ctx;

    ctx = ngx_http_fleetprof_variable_ctx(r);

    if (ctx == NULL || ctx->reason > NGX_HTTP_FLEETPROF_CACHEABLE) {
        return ngx_http_fleetprof_text(v, (u_char *) "", 0);
    }

    return ngx_http_fleetprof_text(v,
               (u_char *) (ctx->reason == NGX_HTTP_FLEETPROF_SAMPLED ? "1"
                                                                     : "0"),
               1);
}


static ngx_int_t
ngx_http_fleetprof_rate_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    char                      *text;
    ngx_http_fleetprof_ctx_t  *ctx;

    ctx = ngx_http_fleetprof_variable_ctx(r);

    if (ctx == NULL
        || !ctx->decided
        || ctx->decision == NGX_HTTP_FLEETPROF_BAD_RATE)
    {
        return ngx_http_fleetprof_text(v, (u_char *) "", 0);
    }

    text = ngx_pnalloc(r->pool, FLEETPROF_RATE_TEXT_MAX);
    if (text == NULL) {
        return NGX_ERROR;
    }

    return ngx_http_fleetprof_text(v, (u_char *) text,
                                   fleetprof_rate_format(ctx->ppm, text));
}


static ngx_int_t
ngx_http_fleetprof_reason_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_str_t                 *reason;
    ngx_http_fleetprof_ctx_t  *ctx;

    ctx = ngx_http_fleetprof_variable_ctx(r);

    reason = ngx_http_fleetprof_reason_text(ctx ? ctx->reason
                                                : NGX_HTTP_FLEETPROF_OFF);

    return ngx_http_fleetprof_text(v, reason->data, reason->len);
}


/* data is the experiment's name: another place may have it at another index */

static ngx_int_t
ngx_http_fleetprof_arm_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_uint_t                    i;
    struct fleetprof_slice       *name = (struct fleetprof_slice *) data;
    struct fleetprof_slice        arm;
    ngx_http_fleetprof_ctx_t     *ctx;
    struct fleetprof_experiment  *experiment;

    ctx = ngx_http_fleetprof_variable_ctx(r);

    if (ctx != NULL && ctx->arms != NULL) {

        for (i = 0; i < ctx->arms->experiments.count; i++) {
            experiment = &ctx->arms->experiments.experiment[i];

            if (fleetprof_slice_equal(experiment->name, *name)) {
                arm = experiment->arm[ctx->drawn[i]].name;

                return ngx_http_fleetprof_text(v, (u_char *) arm.data, arm.len);
            }
        }
    }

    return ngx_http_fleetprof_text(v, (u_char *) "", 0);
}
