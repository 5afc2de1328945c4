/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides once per main request, however it is redirected internally, whether
 * the page load is sampled, and reports the decision in the environment.
 */

#include "mod_fleetprof.h"

#include "apr_strings.h"

#include <unistd.h>

APLOG_USE_MODULE(fleetprof);

/* The state of this child, set after the fork; threads share it by atomics. */
static struct {
    uint64_t random;            /* state of its random numbers */
    apr_int64_t logged;         /* the second of its last message */
} child;

/* In the order of mod_fleetprof_reason. */
static const char *const reasons[] = {
    "sampled", "rate", "bad_rate", "cacheable", "upstream", "unparsable",
    "too_long", "not_modified", "status", "type"
};

int mod_fleetprof_may_log(void)
{
    apr_int64_t now = apr_time_sec(apr_time_now());

    return __atomic_exchange_n(&child.logged, now, __ATOMIC_RELAXED) != now;
}

/*
 * Seeds each child on its own: children with the same seed would sample in
 * step.
 */
void mod_fleetprof_seed(server_rec *s)
{
    unsigned char bytes[sizeof(child.random)];
    apr_status_t status = apr_generate_random_bytes(bytes, sizeof(bytes));

    if (status == APR_SUCCESS) {
        memcpy(&child.random, bytes, sizeof(bytes));
        return;
    }

    ap_log_error(APLOG_MARK, APLOG_WARNING, status, s,
                 "no random seed from the operating system, taking process id "
                 "and time");
    child.random = ((uint64_t) getpid() << 48) ^ (uint64_t) apr_time_now();
}

static uint64_t random_number(void)
{
    uint64_t before = __atomic_load_n(&child.random, __ATOMIC_RELAXED);
    uint64_t after, number;

    do {
        after = before;
        number = fleetprof_random_number(&after);
    } while (!__atomic_compare_exchange_n(&child.random, &before, after, 1,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));

    return number;
}

/* Returns the value of an expression; logs and returns NULL if it has none. */
static const char *evaluate(request_rec *r, const ap_expr_info_t *expression,
                            const char *directive)
{
    const char *error = NULL;
    const char *value = ap_expr_str_exec(r, expression, &error);

    if (error == NULL) {
        return value;
    }
    if (mod_fleetprof_may_log()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "the expression in \"%s\" has no value: %s", directive,
                      error);
    }

    return NULL;
}

int mod_fleetprof_enabled(request_rec *r, const mod_fleetprof_conf *conf)
{
    const char *error = NULL;
    int is_true;

    if (conf->enabled != MOD_FLEETPROF_EXPRESSION) {
        return conf->enabled == MOD_FLEETPROF_ON;
    }

    is_true = ap_expr_exec(r, conf->condition, &error);
    if (is_true < 0 && mod_fleetprof_may_log()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "the expression in \"FleetProf\" has no value, taken as "
                      "\"off\": %s", error);
    }

    return is_true > 0;
}

static int rate_of(request_rec *r, const mod_fleetprof_sample *sample,
                   apr_uint32_t *ppm)
{
    enum fleetprof_rate_error error;
    const char *value;

    if (sample->rate == NULL) {
        *ppm = sample->ppm;
        return 1;
    }

    value = evaluate(r, sample->rate, "FleetProfSample");
    if (value == NULL) {
        return 0;
    }

    error = fleetprof_rate_parse(mod_fleetprof_slice(value), ppm);
    if (error != FLEETPROF_RATE_OK && mod_fleetprof_may_log()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "invalid rate \"%s\" in \"FleetProfSample\", nobody is "
                      "sampled: %s", value, fleetprof_rate_error_text(error));
    }

    return error == FLEETPROF_RATE_OK;
}

static uint64_t number_of(request_rec *r, const mod_fleetprof_sample *sample)
{
    const char *key = NULL;

    if (sample->key != NULL) {
        key = evaluate(r, sample->key, "FleetProfSample");
    }

    return key != NULL && *key != '\0'
               ? fleetprof_key_number(mod_fleetprof_slice(key))
               : random_number();
}

mod_fleetprof_decision *mod_fleetprof_decision_of(request_rec *r)
{
    mod_fleetprof_decision *decision;

    while (r->main != NULL || r->prev != NULL) {
        r = r->main != NULL ? r->main : r->prev;
    }

    decision = ap_get_module_config(r->request_config, &fleetprof_module);
    if (decision == NULL) {
        decision = apr_pcalloc(r->pool, sizeof(*decision));
        ap_set_module_config(r->request_config, &fleetprof_module, decision);
    }

    return decision;
}

/*
 * Makes the decision.  A section may lack a rate, which is known only when the
 * sections are merged for a request: then nobody is sampled.
 */
static mod_fleetprof_reason draw(request_rec *r,
                                 const mod_fleetprof_sample *sample,
                                 apr_uint32_t *ppm)
{
    if (sample == NULL) {
        if (mod_fleetprof_may_log()) {
            ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                          "\"FleetProf\" is on but there is no "
                          "\"FleetProfSample\", nobody is sampled: write for "
                          "example \"FleetProfSample 1%%\"");
        }
        return MOD_FLEETPROF_BAD_RATE;
    }
    if (!rate_of(r, sample, ppm)) {
        return MOD_FLEETPROF_BAD_RATE;
    }

    return fleetprof_sampled(number_of(r, sample), *ppm)
               ? MOD_FLEETPROF_SAMPLED : MOD_FLEETPROF_RATE;
}

/*
 * Draws the arms.  A section may lack the key that signs them, which is known
 * only when the sections are merged for a request: then there are none.
 */
static void draw_arms(request_rec *r, const mod_fleetprof_conf *conf,
                      mod_fleetprof_decision *decision)
{
    const mod_fleetprof_arms *arms = conf->arms;
    const char *key = NULL;
    size_t i;

    if (arms == NULL || arms->experiments.count == 0) {
        return;
    }
    if (!mod_fleetprof_has_keys(conf) || conf->site == NULL) {
        if (mod_fleetprof_may_log()) {
            ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                          "no arms for a page, \"FleetProfArms\" also needs "
                          "\"FleetProfTokenKey\" and \"FleetProfSite\"");
        }
        return;
    }

    if (arms->key != NULL) {
        key = evaluate(r, arms->key, "FleetProfArms");
    }
    for (i = 0; i < arms->experiments.count; i++) {
        const struct fleetprof_experiment *experiment =
            &arms->experiments.experiment[i];
        uint64_t number =
            key != NULL && *key != '\0'
                ? fleetprof_arm_number(experiment->name,
                                       mod_fleetprof_slice(key))
                : random_number();

        decision->drawn[i] =
            (unsigned char) fleetprof_arm_draw(experiment, number);
    }
    decision->arms = arms;
}

mod_fleetprof_decision *mod_fleetprof_decide(request_rec *r,
                                             const mod_fleetprof_conf *conf)
{
    mod_fleetprof_decision *decision = mod_fleetprof_decision_of(r);

    if (!decision->decided) {
        decision->decided = 1;
        decision->decision = draw(r, conf->sample, &decision->ppm);
        decision->reason = decision->decision;
        draw_arms(r, conf, decision);
        ap_log_rerror(APLOG_MARK, APLOG_TRACE1, 0, r,
                      "decision: %s, rate: %u ppm",
                      reasons[decision->decision], decision->ppm);
    }

    return decision;
}

const char *mod_fleetprof_reason_text(mod_fleetprof_reason reason)
{
    return reasons[reason];
}

static void set_variable(request_rec *r, const char *name, const char *value)
{
    if (value != NULL) {
        apr_table_setn(r->subprocess_env, name, value);
    }
    else {
        apr_table_unset(r->subprocess_env, name);
    }
}

/* Sets FLEETPROF_ARM_NAME, or unsets it once the arms are withdrawn. */
static void set_arms_env(request_rec *r, const mod_fleetprof_decision *decision)
{
    size_t i;

    if (decision->arms == NULL) {
        return;
    }

    for (i = 0; i < decision->arms->experiments.count; i++) {
        const struct fleetprof_experiment *experiment =
            &decision->arms->experiments.experiment[i];
        struct fleetprof_slice arm = experiment->arm[decision->drawn[i]].name;
        char *name = apr_psprintf(r->pool, "FLEETPROF_ARM_%.*s",
                                  (int) experiment->name.len,
                                  experiment->name.data);

        ap_str_toupper(name);
        set_variable(r, name, mod_fleetprof_has_arms(decision)
                                  ? apr_pstrmemdup(r->pool, arm.data, arm.len)
                                  : NULL);
    }
}

void mod_fleetprof_set_env(request_rec *r,
                           const mod_fleetprof_decision *decision)
{
    char text[FLEETPROF_RATE_TEXT_MAX];
    const char *sampled = NULL, *rate = NULL;

    if (decision->reason <= MOD_FLEETPROF_CACHEABLE) {
        sampled = decision->reason == MOD_FLEETPROF_SAMPLED ? "1" : "0";
    }
    if (decision->reason < MOD_FLEETPROF_STATUS
        && decision->decision != MOD_FLEETPROF_BAD_RATE) {
        rate = apr_pstrmemdup(r->pool, text,
                              fleetprof_rate_format(decision->ppm, text));
    }

    set_variable(r, "FLEETPROF_SAMPLED", sampled);
    set_variable(r, "FLEETPROF_RATE", rate);
    set_variable(r, "FLEETPROF_REASON", reasons[decision->reason]);
    set_arms_env(r, decision);
}
