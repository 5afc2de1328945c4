/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Checks the parameters of directives once, at configuration time.  The error
 * messages say what would be right.
 */


#include "ngx_http_fleetprof_module.h"


#define NGX_HTTP_FLEETPROF_ALONE                                              \
    "it must be the only parameter; remove it or the others"


static ngx_int_t ngx_http_fleetprof_compile(ngx_conf_t *cf, ngx_str_t *text,
    ngx_http_complex_value_t *value);
static ngx_http_complex_value_t *ngx_http_fleetprof_key(ngx_conf_t *cf,
    ngx_str_t *parameter);
static const char *ngx_http_fleetprof_check_origin(ngx_str_t *value,
    ngx_uint_t nelts);
static const char *ngx_http_fleetprof_check_type(ngx_str_t *value,
    ngx_uint_t nelts);
static ngx_int_t ngx_http_fleetprof_copy(ngx_conf_t *cf,
    struct fleetprof_buffer *text, ngx_str_t *copy);


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
        return ngx_http_fleetprof_invalid(cf, &value[1], 0,
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
    flcf->enable_file = cf->conf_file->file.name;
    flcf->enable_line = cf->conf_file->line;

    return NGX_CONF_OK;
}


char *
ngx_http_fleetprof_sample(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    ngx_str_t                    *value;
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
            return ngx_http_fleetprof_invalid(cf, &value[1], 0,
                                          fleetprof_rate_error_text(error));
        }
    }

    if (cf->args->nelts == 3) {

        if (value[2].len <= 4 || ngx_strncmp(value[2].data, "key=", 4) != 0) {
            return ngx_http_fleetprof_invalid(cf, &value[2], 0,
                       "it is not a key; write for example "
                       "\"key=$cookie_visitor\"");
        }

        sample->key = ngx_http_fleetprof_key(cf, &value[2]);

        if (sample->key == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    flcf->sample = sample;

    return NGX_CONF_OK;
}


/* compiles the value of "key="; logs why it is invalid, and returns NULL */

static ngx_http_complex_value_t *
ngx_http_fleetprof_key(ngx_conf_t *cf, ngx_str_t *parameter)
{
    ngx_str_t                  key;
    ngx_http_complex_value_t  *value;

    key.data = parameter->data + 4;
    key.len = parameter->len - 4;

    value = ngx_palloc(cf->pool, sizeof(ngx_http_complex_value_t));

    if (value == NULL || ngx_http_fleetprof_compile(cf, &key, value) != NGX_OK)
    {
        return NULL;
    }

    return value;
}


/* adds one parameter to the arms: an experiment or the key */

static char *
ngx_http_fleetprof_add_arms(ngx_conf_t *cf, ngx_http_fleetprof_arms_t *arms,
    ngx_str_t *parameter)
{
    enum fleetprof_arms_error   error;
    struct fleetprof_arms      *all = &arms->experiments;

    if (ngx_strncmp(parameter->data, "key=", 4) == 0) {

        if (parameter->len == 4 || arms->key != NULL) {
            return ngx_http_fleetprof_invalid(cf, parameter, 0,
                       "write one key, for example \"key=$cookie_visitor\"");
        }

        arms->key = ngx_http_fleetprof_key(cf, parameter);

        return arms->key != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
    }

    error = fleetprof_arms_add(all, ngx_http_fleetprof_slice(parameter));

    if (error != FLEETPROF_ARMS_OK) {
        return ngx_http_fleetprof_invalid(cf, parameter, 0,
                                          fleetprof_arms_error_text(error));
    }

    return ngx_http_fleetprof_add_arm_variable(cf,
                                        &all->experiment[all->count - 1].name)
           == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}


char *
ngx_http_fleetprof_arms(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    char                       *result;
    ngx_str_t                  *value;
    ngx_uint_t                  i;
    ngx_http_fleetprof_arms_t  *arms;

    if (flcf->arms != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        flcf->arms = NULL;
        return NGX_CONF_OK;
    }

    arms = ngx_pcalloc(cf->pool, sizeof(ngx_http_fleetprof_arms_t));
    if (arms == NULL) {
        return NGX_CONF_ERROR;
    }

    for (i = 1; i < cf->args->nelts; i++) {
        result = ngx_http_fleetprof_add_arms(cf, arms, &value[i]);

        if (result != NGX_CONF_OK) {
            return result;
        }
    }

    if (arms->experiments.count == 0) {
        return ngx_http_fleetprof_invalid(cf, &value[1], 0,
                   fleetprof_arms_error_text(FLEETPROF_ARMS_SYNTAX));
    }

    flcf->arms = arms;

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
            return ngx_http_fleetprof_invalid(cf, &value[i], 0,
                                        fleetprof_policy_error_text(error));
        }
    }

    flcf->policy = ngx_pcalloc(cf->pool, sizeof(ngx_http_fleetprof_policy_t));
    if (flcf->policy == NULL
        || ngx_http_fleetprof_copy(cf, &list, &flcf->policy->members)
           != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    flcf->policy->says_yes =
               fleetprof_document_policy_says_yes(fleetprof_buffer_text(&list));

    return NGX_CONF_OK;
}


char *
ngx_http_fleetprof_types(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    ngx_str_t               *value;
    ngx_uint_t               i;
    const char              *reason;
    struct fleetprof_types  *types;
    struct fleetprof_slice  *list;

    if (flcf->types != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    types = ngx_pcalloc(cf->pool, sizeof(struct fleetprof_types));
    list = ngx_pcalloc(cf->pool,
                       (cf->args->nelts - 1) * sizeof(struct fleetprof_slice));

    if (types == NULL || list == NULL) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (cf->args->nelts == 2 && ngx_strcmp(value[i].data, "*") == 0) {
            types->any = true;
            break;
        }

        reason = ngx_http_fleetprof_check_type(&value[i], cf->args->nelts);

        if (reason != NULL) {
            return ngx_http_fleetprof_invalid(cf, &value[i], 0, reason);
        }

        ngx_strlow(value[i].data, value[i].data, value[i].len);
        list[types->count++] = ngx_http_fleetprof_slice(&value[i]);
    }

    types->type = list;
    flcf->types = types;

    return NGX_CONF_OK;
}


static const char *
ngx_http_fleetprof_check_type(ngx_str_t *value, ngx_uint_t nelts)
{
    enum fleetprof_type_error  error;

    if (nelts > 2 && ngx_strcmp(value->data, "*") == 0) {
        return NGX_HTTP_FLEETPROF_ALONE;
    }

    error = fleetprof_type_check(ngx_http_fleetprof_slice(value));

    return error == FLEETPROF_TYPE_OK ? NULL : fleetprof_type_error_text(error);
}


char *
ngx_http_fleetprof_choice(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char  *p = conf;

    u_char            reason[128], *last;
    ngx_str_t        *value;
    ngx_uint_t       *chosen, i;
    ngx_conf_enum_t  *words;

    chosen = (ngx_uint_t *) (p + cmd->offset);

    if (*chosen != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    words = cmd->post;
    last = ngx_cpymem(reason, "it is not one of", sizeof("it is not one of") - 1);

    for (i = 0; words[i].name.len != 0; i++) {

        if (ngx_strcmp(value[1].data, words[i].name.data) == 0) {
            *chosen = words[i].value;
            return NGX_CONF_OK;
        }

        last = ngx_slprintf(last, reason + sizeof(reason) - 1, "%s \"%V\"",
                            i ? "," : "", &words[i].name);
    }

    *last = '\0';

    return ngx_http_fleetprof_invalid(cf, &value[1], 0, (char *) reason);
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
            return ngx_http_fleetprof_invalid(cf, &value[i], 0, reason);
        }
    }

    flcf->origins = ngx_palloc(cf->pool, sizeof(ngx_str_t));
    if (flcf->origins == NULL) {
        return NGX_CONF_ERROR;
    }

    return ngx_http_fleetprof_copy(cf, &list, flcf->origins) == NGX_OK
           ? NGX_CONF_OK : NGX_CONF_ERROR;
}


char *
ngx_http_fleetprof_origin_trial(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    char                         data[FLEETPROF_FIELD_MAX];
    ngx_str_t                   *value;
    ngx_uint_t                   i;
    struct fleetprof_buffer      list = { data, 0, sizeof(data) };
    enum fleetprof_trial_error   error;

    if (flcf->trial != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (cf->args->nelts == 2 && ngx_strcmp(value[i].data, "off") == 0) {
            break;
        }

        error = fleetprof_trial_add(&list, ngx_http_fleetprof_slice(&value[i]));

        if (error != FLEETPROF_TRIAL_OK) {
            return ngx_http_fleetprof_invalid(cf, &value[i], 0,
                                              fleetprof_trial_error_text(error));
        }
    }

    flcf->trial = ngx_palloc(cf->pool, sizeof(ngx_str_t));
    if (flcf->trial == NULL) {
        return NGX_CONF_ERROR;
    }

    return ngx_http_fleetprof_copy(cf, &list, flcf->trial) == NGX_OK
           ? NGX_CONF_OK : NGX_CONF_ERROR;
}


char *
ngx_http_fleetprof_reports(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf = conf;

    ngx_str_t                      *value;
    enum fleetprof_endpoint_error   error;

    if (flcf->reports != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    flcf->reports = ngx_pcalloc(cf->pool, sizeof(ngx_str_t));
    if (flcf->reports == NULL) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        return NGX_CONF_OK;
    }

    if (ngx_http_script_variables_count(&value[1])) {
        return ngx_http_fleetprof_invalid(cf, &value[1], 0,
                   "a variable would let the request choose where reports go; "
                   "write the URL out");
    }

    error = fleetprof_endpoint_check(ngx_http_fleetprof_slice(&value[1]));

    if (error != FLEETPROF_ENDPOINT_OK) {
        return ngx_http_fleetprof_invalid(cf, &value[1], 0,
                                      fleetprof_endpoint_error_text(error));
    }

    *flcf->reports = value[1];

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_fleetprof_allow_stacks(ngx_conf_t *cf,
    ngx_http_fleetprof_loc_conf_t *conf)
{
    char                      data[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer   members = { data, 0, sizeof(data) };

    conf->members = &conf->policy->members;

    if (conf->reports->len == 0) {
        return NGX_OK;
    }

    conf->members = ngx_palloc(cf->pool, sizeof(ngx_str_t));

    /* a list of at most half the buffer leaves room */

    if (conf->members == NULL
        || !fleetprof_buffer_put(&members,
                            ngx_http_fleetprof_slice(&conf->policy->members))
        || !fleetprof_document_policy_add_stacks(&members))
    {
        return NGX_ERROR;
    }

    return ngx_http_fleetprof_copy(cf, &members, conf->members);
}


/* returns NULL, or what is wrong with one of nelts - 1 parameters */

static const char *
ngx_http_fleetprof_check_origin(ngx_str_t *value, ngx_uint_t nelts)
{
    enum fleetprof_origin_error  error;

    if (nelts > 2
        && (ngx_strcmp(value->data, "off") == 0
            || ngx_strcmp(value->data, "*") == 0))
    {
        return NGX_HTTP_FLEETPROF_ALONE;
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


static ngx_int_t
ngx_http_fleetprof_copy(ngx_conf_t *cf, struct fleetprof_buffer *text,
    ngx_str_t *copy)
{
    copy->len = text->len;
    copy->data = ngx_pnalloc(cf->pool, text->len);

    if (copy->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(copy->data, text->data, text->len);

    return NGX_OK;
}


char *
ngx_http_fleetprof_invalid(ngx_conf_t *cf, ngx_str_t *parameter, ngx_err_t err,
    const char *reason)
{
    ngx_str_t  *value;

    value = cf->args->elts;

    /* the parameter is cut, so that the reason fits into the line */

    ngx_conf_log_error(NGX_LOG_EMERG, cf, err,
                       "invalid parameter \"%*s%s\" in \"%V\": %s",
                       ngx_min(parameter->len, 128), parameter->data,
                       parameter->len > 128 ? "..." : "", &value[0], reason);

    return NGX_CONF_ERROR;
}
