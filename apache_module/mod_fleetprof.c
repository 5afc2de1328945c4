/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mod_fleetprof: decides for each page load whether the browser may profile
 * it, and says so in Document-Policy; keeps one Timing-Allow-Origin line.
 *
 * This file is the module as httpd sees it: configuration and how it is
 * inherited, hooks, the start of a child.
 */

#include "mod_fleetprof.h"

#include "http_request.h"

#include "apr_strings.h"

static void *create_conf(apr_pool_t *p, char *dir)
{
    return apr_pcalloc(p, sizeof(mod_fleetprof_conf));
}

static void *merge_conf(apr_pool_t *p, void *parent, void *child)
{
    const mod_fleetprof_conf *outer = parent;
    const mod_fleetprof_conf *inner = child;
    mod_fleetprof_conf *conf = apr_palloc(p, sizeof(*conf));

#define INHERIT(setting) \
    conf->setting = inner->setting ? inner->setting : outer->setting

    INHERIT(enabled);
    conf->condition = inner->enabled ? inner->condition : outer->condition;
    INHERIT(sample);
    INHERIT(arms);
    INHERIT(policy);
    INHERIT(unsampled);
    INHERIT(conflict);
    INHERIT(types);
    INHERIT(always);
    INHERIT(not_modified);
    INHERIT(cacheable);
    INHERIT(site);
    INHERIT(keys);
    INHERIT(reports);
    INHERIT(origins);
    INHERIT(trial);
    INHERIT(server_timing);

#undef INHERIT

    return conf;
}

const mod_fleetprof_conf *mod_fleetprof_conf_of(request_rec *r)
{
    return ap_get_module_config(r->per_dir_config, &fleetprof_module);
}

/*
 * Decides before the handler runs, so that applications and RequestHeader can
 * read the decision.  If an internal redirect is pending, the place that it
 * goes to decides.
 */
static int decide_early(request_rec *r)
{
    const mod_fleetprof_conf *conf = mod_fleetprof_conf_of(r);

    if (r->main != NULL
        || (r->handler != NULL && strcmp(r->handler, "redirect-handler") == 0)
        || !mod_fleetprof_enabled(r, conf)) {
        return DECLINED;
    }

    mod_fleetprof_set_env(r, mod_fleetprof_decide(r, conf));

    return DECLINED;
}

/* Returns where a server is defined, for messages. */
static const char *place_of(apr_pool_t *p, const server_rec *s)
{
    return s->defn_name == NULL ? "the server config"
                                : apr_psprintf(p, "the virtual host at %s:%u",
                                               s->defn_name,
                                               s->defn_line_number);
}

/*
 * Checks for whole servers that the directives that others need are set.
 * Sections are checked at run time.
 */
static int check_conf(apr_pool_t *p, apr_pool_t *plog, apr_pool_t *ptemp,
                      server_rec *s)
{
    for (; s != NULL; s = s->next) {
        const mod_fleetprof_conf *conf =
            ap_get_module_config(s->lookup_defaults, &fleetprof_module);

        if (conf->enabled == 0 || conf->enabled == MOD_FLEETPROF_OFF) {
            continue;
        }
        if (conf->sample == NULL) {
            ap_log_error(APLOG_MARK, APLOG_EMERG, 0, s,
                         "\"FleetProf\" is on but there is no "
                         "\"FleetProfSample\" at the same level or above it: "
                         "write for example \"FleetProfSample 1%%\" in %s",
                         place_of(ptemp, s));
            return HTTP_INTERNAL_SERVER_ERROR;
        }
        if (mod_fleetprof_has_keys(conf) && conf->site == NULL) {
            ap_log_error(APLOG_MARK, APLOG_EMERG, 0, s,
                         "\"FleetProfTokenKey\" needs \"FleetProfSite\" at "
                         "the same level or above it; name the site as the "
                         "collector's configuration does");
            return HTTP_INTERNAL_SERVER_ERROR;
        }
        if (conf->arms != NULL && conf->arms->experiments.count > 0
            && !mod_fleetprof_has_keys(conf)) {
            ap_log_error(APLOG_MARK, APLOG_EMERG, 0, s,
                         "\"FleetProfArms\" needs \"FleetProfTokenKey\" "
                         "where the module is on, as in %s: the collector "
                         "believes only arms that are signed",
                         place_of(ptemp, s));
            return HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    return OK;
}

static void start_child(apr_pool_t *p, server_rec *s)
{
    mod_fleetprof_seed(s);
}

static void register_hooks(apr_pool_t *p)
{
    /* after mod_dir chose the index file, before RequestHeader reads us */
    static const char *const before_us[] = { "mod_dir.c", NULL };
    static const char *const after_us[] = { "mod_headers.c", NULL };

    ap_hook_check_config(check_conf, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_init(start_child, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_fixups(decide_early, before_us, after_us, APR_HOOK_LAST);
    mod_fleetprof_register_filter(p);
}

AP_DECLARE_MODULE(fleetprof) = {
    STANDARD20_MODULE_STUFF,
    create_conf,                /* of a directory */
    merge_conf,
    NULL,                       /* of a server: its directory settings do */
    NULL,
    mod_fleetprof_directives,
    register_hooks
};
