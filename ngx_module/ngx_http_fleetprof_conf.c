
/*
 * The directives' parameters: checked once, at configuration time, with
 * messages that say what would be right.
 */


#include "ngx_http_fleetprof_module.h"


static ngx_int_t ngx_http_fleetprof_compile(ngx_conf_t *cf, ngx_str_t *text,
    ngx_http_complex_value_t *value);
static const char *ngx_http_fleetprof_check_origin(ngx_str_t *value,
    ngx_uint_t nelts);
static ngx_str_t *ngx_http_fleetprof_copy(ngx_conf_t *cf, char *data,
    size_t len);
static char *ngx_http_fleetprof_invalid(ngx_conf_t *cf, ngx_str_t *parameter,
    const char *reason);


char *
ngx_http_fleetprof_enable(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    ngx_str_t                 *value;
    ngx_http_complex_value_t  *cv;

    if (flcf->enable != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        flcf->enable = NULL;
        return NGX_CONF_OK;
    }

    if (ngx_strcmp(value[1].data, "on") != 0
        && ngx_http_script_variables_count(&value[1]) == 0)
    {
        return ngx_http_fleetprof_invalid(cf, &value[1],
                   "it is neither \"on\" nor \"off\" nor a variable");
    }

    cv = ngx_palloc(cf->pool, sizeof(ngx_http_complex_value_t));
    if (cv == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_http_fleetprof_compile(cf, &value[1], cv) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    flcf->enable = cv;

    return NGX_CONF_OK;
}


char *
ngx_http_fleetprof_sample(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    ngx_str_t                    *value, key;
    enum fleetprof_rate_error     error;
    ngx_http_fleetprof_sample_t  *sample;

    if (flcf->sample != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    sample = ngx_pcalloc(cf->pool, sizeof(ngx_http_fleetprof_sample_t));
    if (sample == NULL) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    if (ngx_http_fleetprof_compile(cf, &value[1], &sample->value) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (sample->value.lengths == NULL) {
        error = fleetprof_rate_parse(ngx_http_fleetprof_slice(&value[1]),
                                     &sample->ppm);

        if (error != FLEETPROF_RATE_OK) {
            return ngx_http_fleetprof_invalid(cf, &value[1],
                                          fleetprof_rate_error_text(error));
        }
    }

    if (cf->args->nelts == 3) {

        if (value[2].len <= 4 || ngx_strncmp(value[2].data, "key=", 4) != 0) {
            return ngx_http_fleetprof_invalid(cf, &value[2],
                       "it is not a key; write for example "
                       "\"key=$cookie_visitor\"");
        }

        key.data = value[2].data + 4;
        key.len = value[2].len - 4;

        sample->key = ngx_palloc(cf->pool, sizeof(ngx_http_complex_value_t));
        if (sample->key == NULL) {
            return NGX_CONF_ERROR;
        }

        if (ngx_http_fleetprof_compile(cf, &key, sample->key) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    flcf->sample = sample;

    return NGX_CONF_OK;
}


char *
ngx_http_fleetprof_policy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    char                         data[FLEETPROF_FIELD_MAX / 2];
    ngx_str_t                   *value;
    ngx_uint_t                   i;
    enum fleetprof_policy_error  error;
    struct fleetprof_buffer      list = { data, 0, sizeof(data) };

    if (flcf->policy != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        error = fleetprof_document_policy_add(&list,
                                          ngx_http_fleetprof_slice(&value[i]));

        if (error != FLEETPROF_POLICY_OK) {
            return ngx_http_fleetprof_invalid(cf, &value[i],
                                        fleetprof_policy_error_text(error));
        }
    }

    flcf->policy = ngx_http_fleetprof_copy(cf, list.data, list.len);

    return flcf->policy ? NGX_CONF_OK : NGX_CONF_ERROR;
}


char *
ngx_http_fleetprof_timing_allow_origin(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    char                     data[FLEETPROF_FIELD_MAX / 2];
    ngx_str_t               *value;
    ngx_uint_t               i;
    const char              *reason;
    struct fleetprof_buffer  list = { data, 0, sizeof(data) };

    if (flcf->origins != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (cf->args->nelts == 2 && ngx_strcmp(value[i].data, "off") == 0) {
            break;
        }

        reason = ngx_http_fleetprof_check_origin(&value[i], cf->args->nelts);

        if (reason == NULL
            && !fleetprof_timing_allow_origin_add(&list,
                                          ngx_http_fleetprof_slice(&value[i])))
        {
            reason = "the list is longer than 2048 bytes; name fewer origins";
        }

        if (reason != NULL) {
            return ngx_http_fleetprof_invalid(cf, &value[i], reason);
        }
    }

    flcf->origins = ngx_http_fleetprof_copy(cf, list.data, list.len);

    return flcf->origins ? NGX_CONF_OK : NGX_CONF_ERROR;
}


/* NULL, or what is wrong with one parameter of several */

static const char *
ngx_http_fleetprof_check_origin(ngx_str_t *value, ngx_uint_t nelts)
{
    enum fleetprof_origin_error  error;

    if (nelts > 2
        && (ngx_strcmp(value->data, "off") == 0
            || ngx_strcmp(value->data, "*") == 0))
    {
        return "it has to stand alone; leave it out, or the others";
    }

    if (ngx_http_script_variables_count(value)) {
        return "a variable would let the request choose its own answer; "
               "write the origins out";
    }

    error = fleetprof_origin_check(ngx_http_fleetprof_slice(value));

    return error == FLEETPROF_ORIGIN_OK ? NULL
                                        : fleetprof_origin_error_text(error);
}


static ngx_int_t
ngx_http_fleetprof_compile(ngx_conf_t *cf, ngx_str_t *text,
    ngx_http_complex_value_t *value)
{
    ngx_http_compile_complex_value_t  ccv;

    ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));

    ccv.cf = cf;
    ccv.value = text;
    ccv.complex_value = value;

    return ngx_http_compile_complex_value(&ccv);
}


static ngx_str_t *
ngx_http_fleetprof_copy(ngx_conf_t *cf, char *data, size_t len)
{
    ngx_str_t  *copy, text;

    copy = ngx_palloc(cf->pool, sizeof(ngx_str_t));
    if (copy == NULL) {
        return NULL;
    }

    text.data = (u_char *) data;
    text.len = len;

    copy->len = len;
    copy->data = ngx_pstrdup(cf->pool, &text);

    return copy->data ? copy : NULL;
}


static char *
ngx_http_fleetprof_invalid(ngx_conf_t *cf, ngx_str_t *parameter,
    const char *reason)
{
    ngx_str_t  *value;

    value = cf->args->elts;

    /* the reason has to fit in the line as well */

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid parameter \"%*s%s\" in \"%V\": %s",
                       ngx_min(parameter->len, 128), parameter->data,
                       parameter->len > 128 ? "..." : "", &value[0], reason);

    return NGX_CONF_ERROR;
}
