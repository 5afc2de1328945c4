/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The module as nginx sees it: its directives, its configuration and how it
 * is inherited, its start in each worker.
 */


#include "ngx_http_fleetprof_module.h"


#define NGX_HTTP_FLEETPROF_CONTEXTS                                           \
    NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_HTTP_LIF_CONF


static void *ngx_http_fleetprof_create_main_conf(ngx_conf_t *cf);
static void *ngx_http_fleetprof_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_fleetprof_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);
static char *ngx_http_fleetprof_check_loc_conf(ngx_conf_t *cf,
    ngx_http_fleetprof_loc_conf_t *conf);
static ngx_int_t ngx_http_fleetprof_init(ngx_conf_t *cf);
static ngx_int_t ngx_http_fleetprof_init_process(ngx_cycle_t *cycle);
static uint64_t ngx_http_fleetprof_seed(ngx_cycle_t *cycle);


static ngx_conf_enum_t  ngx_http_fleetprof_unsampled[] = {
    { ngx_string("negative"), NGX_HTTP_FLEETPROF_UNSAMPLED_NEGATIVE },
    { ngx_string("omit"), NGX_HTTP_FLEETPROF_UNSAMPLED_OMIT },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_fleetprof_conflict[] = {
    { ngx_string("upstream"), FLEETPROF_CONFLICT_UPSTREAM },
    { ngx_string("local"), FLEETPROF_CONFLICT_LOCAL },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_fleetprof_not_modified[] = {
    { ngx_string("auto"), NGX_HTTP_FLEETPROF_304_AUTO },
    { ngx_string("send"), NGX_HTTP_FLEETPROF_304_SEND },
    { ngx_string("omit"), NGX_HTTP_FLEETPROF_304_OMIT },
    { ngx_null_string, 0 }
};


static ngx_conf_enum_t  ngx_http_fleetprof_switch[] = {
    { ngx_string("on"), 1 },
    { ngx_string("off"), 0 },
    { ngx_null_string, 0 }
};


static ngx_command_t  ngx_http_fleetprof_commands[] = {

    { ngx_string("fleetprof"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_enable,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("fleetprof_sample"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE12,
      ngx_http_fleetprof_sample,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("fleetprof_arms"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_1MORE,
      ngx_http_fleetprof_arms,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("fleetprof_policy"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_1MORE,
      ngx_http_fleetprof_policy,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("fleetprof_unsampled"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_choice,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_fleetprof_loc_conf_t, unsampled),
      &ngx_http_fleetprof_unsampled },

    { ngx_string("fleetprof_conflict"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_choice,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_fleetprof_loc_conf_t, conflict),
      &ngx_http_fleetprof_conflict },

    { ngx_string("fleetprof_not_modified"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_choice,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_fleetprof_loc_conf_t, not_modified),
      &ngx_http_fleetprof_not_modified },

    { ngx_string("fleetprof_cacheable"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_choice,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_fleetprof_loc_conf_t, cacheable),
      &ngx_http_fleetprof_switch },

    { ngx_string("fleetprof_always"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_choice,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_fleetprof_loc_conf_t, always),
      &ngx_http_fleetprof_switch },

    { ngx_string("fleetprof_types"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_1MORE,
      ngx_http_fleetprof_types,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("fleetprof_site"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_site,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("fleetprof_token_key"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_token_key,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("fleetprof_server_timing"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_choice,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_fleetprof_loc_conf_t, server_timing),
      &ngx_http_fleetprof_switch },

    { ngx_string("fleetprof_origin_trial"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_1MORE,
      ngx_http_fleetprof_origin_trial,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("fleetprof_reports"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_TAKE1,
      ngx_http_fleetprof_reports,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("timing_allow_origin"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_1MORE,
      ngx_http_fleetprof_timing_allow_origin,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_fleetprof_module_ctx = {
    ngx_http_fleetprof_add_variables,      /* preconfiguration */
    ngx_http_fleetprof_init,               /* postconfiguration */

    ngx_http_fleetprof_create_main_conf,   /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_fleetprof_create_loc_conf,    /* create location configuration */
    ngx_http_fleetprof_merge_loc_conf      /* merge location configuration */
};


ngx_module_t  ngx_http_fleetprof_module = {
    NGX_MODULE_V1,
    &ngx_http_fleetprof_module_ctx,        /* module context */
    ngx_http_fleetprof_commands,           /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    ngx_http_fleetprof_init_process,       /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_http_fleetprof_policy_t  ngx_http_fleetprof_default_policy = {
    ngx_string(FLEETPROF_POLICY_YES), 1
};

static ngx_str_t  ngx_http_fleetprof_no_reports = ngx_null_string;
static ngx_str_t  ngx_http_fleetprof_empty_list = ngx_null_string;


static void *
ngx_http_fleetprof_create_main_conf(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_http_fleetprof_main_conf_t));
}


static void *
ngx_http_fleetprof_create_loc_conf(ngx_conf_t *cf)
{
    ngx_http_fleetprof_loc_conf_t  *flcf;

    flcf = ngx_palloc(cf->pool, sizeof(ngx_http_fleetprof_loc_conf_t));
    if (flcf == NULL) {
        return NULL;
    }

    flcf->enable = NGX_CONF_UNSET_PTR;
    ngx_str_null(&flcf->enable_file);
    flcf->enable_line = 0;
    flcf->sample = NGX_CONF_UNSET_PTR;
    flcf->arms = NGX_CONF_UNSET_PTR;
    flcf->policy = NGX_CONF_UNSET_PTR;
    flcf->types = NGX_CONF_UNSET_PTR;
    flcf->unsampled = NGX_CONF_UNSET_UINT;
    flcf->conflict = NGX_CONF_UNSET_UINT;
    flcf->not_modified = NGX_CONF_UNSET_UINT;
    flcf->cacheable = NGX_CONF_UNSET_UINT;
    flcf->always = NGX_CONF_UNSET_UINT;
    flcf->server_timing = NGX_CONF_UNSET_UINT;
    ngx_str_null(&flcf->site);
    flcf->keys = NGX_CONF_UNSET_PTR;
    flcf->reports = NGX_CONF_UNSET_PTR;
    flcf->origins = NGX_CONF_UNSET_PTR;
    flcf->trial = NGX_CONF_UNSET_PTR;

    return flcf;
}


static char *
ngx_http_fleetprof_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_fleetprof_loc_conf_t  *prev = parent;
    ngx_http_fleetprof_loc_conf_t  *conf = child;

    if (conf->enable == NGX_CONF_UNSET_PTR) {
        conf->enable_file = prev->enable_file;
        conf->enable_line = prev->enable_line;
    }

    ngx_conf_merge_ptr_value(conf->enable, prev->enable, NULL);
    ngx_conf_merge_ptr_value(conf->sample, prev->sample, NULL);
    ngx_conf_merge_ptr_value(conf->arms, prev->arms, NULL);
    ngx_conf_merge_ptr_value(conf->policy, prev->policy,
                             &ngx_http_fleetprof_default_policy);
    ngx_conf_merge_ptr_value(conf->types, prev->types,
                             &fleetprof_default_types);
    ngx_conf_merge_uint_value(conf->unsampled, prev->unsampled,
                              NGX_HTTP_FLEETPROF_UNSAMPLED_NEGATIVE);
    ngx_conf_merge_uint_value(conf->conflict, prev->conflict,
                              FLEETPROF_CONFLICT_UPSTREAM);
    ngx_conf_merge_uint_value(conf->not_modified, prev->not_modified,
                              NGX_HTTP_FLEETPROF_304_AUTO);
    ngx_conf_merge_uint_value(conf->cacheable, prev->cacheable, 0);
    ngx_conf_merge_uint_value(conf->always, prev->always, 0);
    ngx_conf_merge_uint_value(conf->server_timing, prev->server_timing, 0);
    ngx_conf_merge_str_value(conf->site, prev->site, "");
    ngx_conf_merge_ptr_value(conf->keys, prev->keys, NULL);
    ngx_conf_merge_ptr_value(conf->reports, prev->reports,
                             &ngx_http_fleetprof_no_reports);
    ngx_conf_merge_ptr_value(conf->origins, prev->origins,
                             &ngx_http_fleetprof_empty_list);
    ngx_conf_merge_ptr_value(conf->trial, prev->trial,
                             &ngx_http_fleetprof_empty_list);

    if (ngx_http_fleetprof_allow_stacks(cf, conf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return ngx_http_fleetprof_check_loc_conf(cf, conf);
}


/* checks that the directives that others need are set */

static char *
ngx_http_fleetprof_check_loc_conf(ngx_conf_t *cf,
    ngx_http_fleetprof_loc_conf_t *conf)
{
    if (conf->enable == NULL) {
        return NGX_CONF_OK;
    }

    if (conf->sample == NULL) {

        /* configurations are merged when the whole file has been read */

        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"fleetprof\" is on but there is no "
                      "\"fleetprof_sample\" at the same level or above it: "
                      "write for example \"fleetprof_sample 1%%;\" in %V:%ui",
                      &conf->enable_file, conf->enable_line);
        return NGX_CONF_ERROR;
    }

    if (conf->keys != NULL && conf->site.len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"fleetprof_token_key\" needs \"fleetprof_site\" "
                           "at the same level or above it; name the site as "
                           "the collector's configuration does");
        return NGX_CONF_ERROR;
    }

    if (conf->arms != NULL && conf->keys == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"fleetprof_arms\" needs \"fleetprof_token_key\" where "
                      "the module is on, as in %V:%ui: the collector believes "
                      "only arms that are signed",
                      &conf->enable_file, conf->enable_line);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_fleetprof_init(ngx_conf_t *cf)
{
    ngx_http_fleetprof_install_filter();

    return NGX_OK;
}


/*
 * Seeds each worker after the fork: workers with the same seed would sample in
 * step.
 */

static ngx_int_t
ngx_http_fleetprof_init_process(ngx_cycle_t *cycle)
{
    ngx_http_fleetprof_main_conf_t  *fmcf;

    fmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_fleetprof_module);
    if (fmcf != NULL) {
        fmcf->random = ngx_http_fleetprof_seed(cycle);
    }

    return NGX_OK;
}


static uint64_t
ngx_http_fleetprof_seed(ngx_cycle_t *cycle)
{
    ssize_t      n;
    uint64_t     seed;
    ngx_fd_t     fd;
    ngx_time_t  *tp;

    n = 0;
    fd = ngx_open_file("/dev/urandom", NGX_FILE_RDONLY, NGX_FILE_OPEN, 0);

    if (fd != NGX_INVALID_FILE) {
        n = ngx_read_fd(fd, &seed, sizeof(uint64_t));
        (void) ngx_close_file(fd);
    }

    if (n == sizeof(uint64_t)) {
        return seed;
    }

    ngx_log_error(NGX_LOG_WARN, cycle->log, ngx_errno,
                  "fleetprof: no random seed from \"/dev/urandom\", "
                  "taking process id and time");

    tp = ngx_timeofday();

    return ((uint64_t) ngx_pid << 32) ^ ((uint64_t) tp->sec << 10) ^ tp->msec;
}
