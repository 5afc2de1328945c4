
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
static ngx_int_t ngx_http_fleetprof_init(ngx_conf_t *cf);
static ngx_int_t ngx_http_fleetprof_init_process(ngx_cycle_t *cycle);
static uint64_t ngx_http_fleetprof_seed(ngx_cycle_t *cycle);


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

    { ngx_string("fleetprof_policy"),
      NGX_HTTP_FLEETPROF_CONTEXTS|NGX_CONF_1MORE,
      ngx_http_fleetprof_policy,
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


static ngx_str_t  ngx_http_fleetprof_default_policy =
    ngx_string(FLEETPROF_POLICY_YES);

static ngx_str_t  ngx_http_fleetprof_no_origins = ngx_null_string;

/* without a directive: everybody, at random */

static ngx_http_fleetprof_sample_t  ngx_http_fleetprof_default_sample = {
    { ngx_string("100%"), NULL, NULL, NULL, { 0 } }, FLEETPROF_RATE_ONE, NULL
};


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
    flcf->sample = NGX_CONF_UNSET_PTR;
    flcf->policy = NGX_CONF_UNSET_PTR;
    flcf->origins = NGX_CONF_UNSET_PTR;

    return flcf;
}


static char *
ngx_http_fleetprof_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_fleetprof_loc_conf_t  *prev = parent;
    ngx_http_fleetprof_loc_conf_t  *conf = child;

    ngx_conf_merge_ptr_value(conf->enable, prev->enable, NULL);
    ngx_conf_merge_ptr_value(conf->sample, prev->sample,
                             &ngx_http_fleetprof_default_sample);
    ngx_conf_merge_ptr_value(conf->policy, prev->policy,
                             &ngx_http_fleetprof_default_policy);
    ngx_conf_merge_ptr_value(conf->origins, prev->origins,
                             &ngx_http_fleetprof_no_origins);

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_fleetprof_init(ngx_conf_t *cf)
{
    ngx_http_fleetprof_install_filter();

    return NGX_OK;
}


/*
 * A worker draws its own seed after the fork: workers that shared one would
 * sample in step.
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
