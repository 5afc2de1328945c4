/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Shared by the parts of the nginx module: its configuration, the decision
 * kept for each main request, and the few functions that cross files.
 *
 * All of it runs in a worker's event loop; everything but the main
 * configuration comes from the request's or the configuration's pool.
 */


#ifndef _NGX_HTTP_FLEETPROF_MODULE_H_INCLUDED_
#define _NGX_HTTP_FLEETPROF_MODULE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "arms.h"
#include "document_policy.h"
#include "origin_trial.h"
#include "page_token.h"
#include "reporting_endpoints.h"
#include "response.h"
#include "sampling.h"
#include "server_timing.h"
#include "timing_allow_origin.h"


#if (defined __GNUC__)
#pragma GCC visibility push(hidden)
#endif


/* a field with more lines than this is left alone */
#define NGX_HTTP_FLEETPROF_MAX_LINES  32


typedef struct {
    uint64_t                   random;      /* this worker's stream */
    time_t                     logged;      /* when this worker last logged */
} ngx_http_fleetprof_main_conf_t;


typedef struct {
    ngx_http_complex_value_t   value;
    uint32_t                   ppm;         /* if the value is a constant */
    ngx_http_complex_value_t  *key;         /* NULL: decide at random */
} ngx_http_fleetprof_sample_t;


typedef struct {
    struct fleetprof_arms      experiments;
    ngx_http_complex_value_t  *key;         /* NULL: draw at random */
} ngx_http_fleetprof_arms_t;


typedef struct {
    ngx_str_t                  members;     /* one dictionary */
    unsigned                   says_yes:1;
} ngx_http_fleetprof_policy_t;


typedef enum {
    NGX_HTTP_FLEETPROF_UNSAMPLED_NEGATIVE = 0,
    NGX_HTTP_FLEETPROF_UNSAMPLED_OMIT
} ngx_http_fleetprof_unsampled_e;


typedef enum {
    NGX_HTTP_FLEETPROF_304_AUTO = 0,
    NGX_HTTP_FLEETPROF_304_SEND,
    NGX_HTTP_FLEETPROF_304_OMIT
} ngx_http_fleetprof_not_modified_e;


typedef struct {
    ngx_http_complex_value_t     *enable;        /* NULL: off */
    ngx_str_t                     enable_file;   /* where the directive is */
    ngx_uint_t                    enable_line;
    ngx_http_fleetprof_sample_t  *sample;        /* NULL only if off */
    ngx_http_fleetprof_arms_t    *arms;          /* NULL: none */
    ngx_http_fleetprof_policy_t  *policy;
    ngx_str_t                    *members;       /* of it, and for reports */
    const struct fleetprof_types *types;
    ngx_uint_t                    unsampled;
    ngx_uint_t                    conflict;      /* enum fleetprof_conflict */
    ngx_uint_t                    not_modified;
    ngx_uint_t                    cacheable;
    ngx_uint_t                    always;
    ngx_uint_t                    server_timing;
    ngx_str_t                     site;          /* empty: none */
    struct fleetprof_token_keys  *keys;          /* NULL: no tokens */
    ngx_str_t                    *reports;       /* a URL; empty: off */
    ngx_str_t                    *origins;       /* a comma list; empty: off */
    ngx_str_t                    *trial;         /* tokens, in the same way */
} ngx_http_fleetprof_loc_conf_t;


/* $fleetprof_reason; up to CACHEABLE the policy is ours */

typedef enum {
    NGX_HTTP_FLEETPROF_SAMPLED = 0,
    NGX_HTTP_FLEETPROF_RATE,
    NGX_HTTP_FLEETPROF_BAD_RATE,
    NGX_HTTP_FLEETPROF_CACHEABLE,
    NGX_HTTP_FLEETPROF_UPSTREAM,
    NGX_HTTP_FLEETPROF_UNPARSABLE,
    NGX_HTTP_FLEETPROF_TOO_LONG,
    NGX_HTTP_FLEETPROF_NOT_MODIFIED,
    NGX_HTTP_FLEETPROF_STATUS,
    NGX_HTTP_FLEETPROF_TYPE,
    NGX_HTTP_FLEETPROF_OFF
} ngx_http_fleetprof_reason_e;


/*
 * One per main request.  The decision is made once: sampled, rate or bad
 * rate.  The response may still overrule it.
 */

typedef struct {
    uint32_t                     ppm;
    ngx_http_fleetprof_reason_e  decision;
    ngx_http_fleetprof_reason_e  reason;
    unsigned                     decided:1;
    unsigned                     header_made:1;
    unsigned                     upstream_yes:1;  /* reason UPSTREAM: it lets
                                                     browsers profile */
    ngx_http_fleetprof_arms_t   *arms;            /* drawn, and not withdrawn;
                                                     NULL: none */
    u_char                       drawn[FLEETPROF_EXPERIMENTS_MAX];
} ngx_http_fleetprof_ctx_t;


/* directives; see docs/headers.md */

char *ngx_http_fleetprof_enable(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_fleetprof_sample(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_fleetprof_arms(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_fleetprof_policy(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_fleetprof_types(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_fleetprof_site(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_fleetprof_token_key(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_fleetprof_reports(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_fleetprof_timing_allow_origin(ngx_conf_t *cf,
    ngx_command_t *cmd, void *conf);
char *ngx_http_fleetprof_origin_trial(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * Sets a directive that takes one of a few words: cmd->post is an array of
 * ngx_conf_enum_t, cmd->offset that of an ngx_uint_t.  Unlike that of
 * ngx_conf_set_enum_slot(), its error message lists the words.
 */
char *ngx_http_fleetprof_choice(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * Gives a location with an endpoint of crash reports a copy of its policy that
 * lets browsers put stacks into them.
 */
ngx_int_t ngx_http_fleetprof_allow_stacks(ngx_conf_t *cf,
    ngx_http_fleetprof_loc_conf_t *conf);

/* logs what is wrong with a parameter, and returns NGX_CONF_ERROR */
char *ngx_http_fleetprof_invalid(ngx_conf_t *cf, ngx_str_t *parameter,
    ngx_err_t err, const char *reason);

/* true if the module is on for this request in its current location */
ngx_uint_t ngx_http_fleetprof_enabled(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf);

/*
 * Returns the main request's context.  NULL when there is none and create is
 * 0, or when out of memory.
 */
ngx_http_fleetprof_ctx_t *ngx_http_fleetprof_get_ctx(ngx_http_request_t *r,
    ngx_uint_t create);

/* makes the decision for the main request, if it is not made yet */
void ngx_http_fleetprof_decide(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx);

/*
 * True if the response comes from an upstream server, or from a cache of its
 * responses.
 */
ngx_uint_t ngx_http_fleetprof_proxied(ngx_http_request_t *r);

/* true if shared caches may store the response */
ngx_uint_t ngx_http_fleetprof_cacheable(ngx_http_request_t *r);

/* writes the outcome of the decision into Server-Timing */
ngx_int_t ngx_http_fleetprof_set_timing(ngx_http_request_t *r,
    ngx_http_fleetprof_loc_conf_t *flcf, ngx_http_fleetprof_ctx_t *ctx,
    uint32_t lengths);

/* returns the word for a reason, as in $fleetprof_reason */
ngx_str_t *ngx_http_fleetprof_reason_text(ngx_http_fleetprof_reason_e reason);

/* adds $fleetprof_sampled, $fleetprof_rate and $fleetprof_reason */
ngx_int_t ngx_http_fleetprof_add_variables(ngx_conf_t *cf);

/* adds $fleetprof_arm_NAME; its name must outlive the configuration */
ngx_int_t ngx_http_fleetprof_add_arm_variable(ngx_conf_t *cf,
    struct fleetprof_slice *experiment);

/* true at most once per second and worker */
ngx_uint_t ngx_http_fleetprof_may_log(ngx_http_request_t *r);

/* puts the header filter on top of those that are installed */
void ngx_http_fleetprof_install_filter(void);

/*
 * Returns the lengths of all response field names, as a bit mask.  Most fields
 * that we look for are absent; the mask shows this without a walk per field.
 */
uint32_t ngx_http_fleetprof_lengths(ngx_http_request_t *r);

/*
 * Collects the values of a response field into lines[], which has room for
 * NGX_HTTP_FLEETPROF_MAX_LINES.  Returns their number, or NGX_DECLINED if
 * there are more.  The values are not copied.
 */
ngx_int_t ngx_http_fleetprof_lines(ngx_http_request_t *r, uint32_t lengths,
    ngx_str_t *name, struct fleetprof_slice *lines);

/* returns the first value of a request field, empty if there is none */
struct fleetprof_slice ngx_http_fleetprof_request_field(ngx_http_request_t *r,
    ngx_str_t *name);

/* removes every line of a response field */
void ngx_http_fleetprof_remove(ngx_http_request_t *r, uint32_t lengths,
    ngx_str_t *name);

/*
 * Adds a line of Server-Timing before the existing ones, and removes metrics
 * with our name from those; value must outlive the request.
 */
ngx_int_t ngx_http_fleetprof_add_timing(ngx_http_request_t *r,
    uint32_t lengths, ngx_str_t *name, ngx_str_t *value);

/* adds a line to a response field; name and value must outlive the request */
ngx_int_t ngx_http_fleetprof_add(ngx_http_request_t *r, ngx_str_t *name,
    ngx_str_t *value);

/* the same, but copies the value */
ngx_int_t ngx_http_fleetprof_add_copy(ngx_http_request_t *r, ngx_str_t *name,
    struct fleetprof_slice value);


extern ngx_module_t  ngx_http_fleetprof_module
#if (defined __GNUC__)
    __attribute__((visibility("default")))
#endif
    ;


static ngx_inline struct fleetprof_slice
ngx_http_fleetprof_slice(ngx_str_t *text)
{
    struct fleetprof_slice  slice;

    slice.data = (char *) text->data;
    slice.len = text->len;

    return slice;
}


#if (defined __GNUC__)
#pragma GCC visibility pop
#endif


#endif /* _NGX_HTTP_FLEETPROF_MODULE_H_INCLUDED_ */
