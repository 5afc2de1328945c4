/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the agent's tag, and of the Content-Security-Policy against it.
 */
#include "cli/doctor/csp.h"
#include "cli/doctor/doctor.h"
#include "cli/doctor/web_address.h"
#include "cli/kit/memory.h"

#include <float.h>
#include <stdlib.h>

/* ---- the tag ---- */

/* True for a tag that gives the agent an endpoint, whatever its file is called. */
static bool has_ingest_endpoint(const struct fp_page_script *script)
{
    for (size_t i = 0; i < script->data_count; i++)
        if (strcmp(script->data[i].name, "endpoint") == 0 &&
            strstr(script->data[i].value, "/v1/ingest/") != NULL)
            return true;
    return false;
}

/* Finds the first agent. Reports further ones, and scripts before it. */
static void find_agent(struct fp_doctor *doctor)
{
    const struct fp_page *page = &doctor->page;
    struct fp_findings *findings = &doctor->findings;
    for (size_t i = 0; i < page->script_count; i++) {
        const struct fp_page_script *script = &page->scripts[i];
        if (script->src == NULL)
            continue;
        const bool has_name = fp_page_is_agent(script->src);
        if (!has_name && !has_ingest_endpoint(script))
            continue;
        if (doctor->agent != NULL) {
            fp_finding_add(findings, FP_FINDING_AGENT_TWICE, doctor->url, "%s", script->tag);
            continue;
        }
        doctor->agent = script;
        if (!has_name)
            fp_finding_add(findings, FP_FINDING_AGENT_RENAMED, doctor->url, "%s", script->tag);
        if (i > 0)
            fp_finding_add(findings, FP_FINDING_AGENT_LATE, doctor->url, "%zu before it; first: %s",
                           i, page->scripts[0].tag);
        else if (!script->is_in_head)
            fp_finding_add(findings, FP_FINDING_AGENT_LATE, doctor->url, "it is not in <head>: %s",
                           script->tag);
    }
}

static bool is_between(const char *value, double least, double most)
{
    char *end;
    double number = strtod(value, &end);
    return end != value && *end == '\0' && number >= least && number <= most;
}

/* Limits of numbers: outside of them, the agent treats a number as absent. */

static bool is_interval(const char *value)
{
    return is_between(value, 1, 10000);
}

static bool is_length(const char *value)
{
    return is_between(value, 1, DBL_MAX);
}

static bool is_delay(const char *value)
{
    return is_between(value, 0, DBL_MAX);
}

static bool is_share(const char *value)
{
    return is_between(value, 0, 1);
}

static bool is_switch(const char *value)
{
    return strcmp(value, "") == 0 || strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
}

static bool is_try(const char *value)
{
    return strcmp(value, "try") == 0;
}

static bool is_coverage(const char *value)
{
    return strcmp(value, "all") == 0 || strcmp(value, "off") == 0;
}

/* The attributes of docs/agent.md. */
static const struct {
    const char *name;
    bool (*is_valid)(const char *value); /* NULL: any text */
} options[] = {
    {"endpoint", NULL},
    {"release", NULL},
    {"environment", NULL},
    {"variant", NULL},
    {"custom", NULL},
    {"route", NULL},
    {"hash-routes", NULL},
    {"sample-interval", is_interval},
    {"part-length", is_length},
    {"max-duration", is_length},
    {"max-buffer-size", is_length},
    {"after-load", is_delay},
    {"policy", is_try},
    {"profile", is_switch},
    {"coverage", is_coverage},
    {"vitals-sample", is_share},
    {"debug", NULL},
};

static void check_option(struct fp_doctor *doctor, const struct fp_page_data *data)
{
    for (size_t i = 0; i < FP_COUNT(options); i++) {
        if (strcmp(options[i].name, data->name) != 0)
            continue;
        if (options[i].is_valid != NULL && !options[i].is_valid(data->value))
            fp_finding_add(&doctor->findings, FP_FINDING_AGENT_OPTION, doctor->url,
                           "data-%s=\"%s\" is not a valid value", data->name, data->value);
        return;
    }
    fp_finding_add(&doctor->findings, FP_FINDING_AGENT_OPTION, doctor->url,
                   "data-%s is not an option of the agent", data->name);
}

static void check_agent(struct fp_doctor *doctor)
{
    const struct fp_page_script *agent = doctor->agent;
    struct fp_findings *findings = &doctor->findings;
    const bool has_options = agent->data_count > 0;
    if (agent->is_module && has_options)
        fp_finding_add(findings, FP_FINDING_AGENT_MODULE, doctor->url, "%s", agent->tag);
    else if (agent->is_module || agent->has_async || agent->has_defer)
        fp_finding_add(findings, FP_FINDING_AGENT_DEFERRED, doctor->url, "%s", agent->tag);
    bool has_endpoint = doctor->options->endpoint != NULL;
    for (size_t i = 0; i < agent->data_count; i++) {
        check_option(doctor, &agent->data[i]);
        has_endpoint = has_endpoint || (strcmp(agent->data[i].name, "endpoint") == 0 &&
                                        agent->data[i].value[0] != '\0');
    }
    if (!has_endpoint)
        fp_finding_add(findings, FP_FINDING_AGENT_NO_ENDPOINT, doctor->url, "%s", agent->tag);
}

/* ---- Content-Security-Policy ---- */

/* Asks one policy, and reports a no. */
static void ask(struct fp_doctor *doctor, const char *policy, enum fp_finding_id id,
                const struct fp_csp_question *question)
{
    struct fp_str directive = {"", 0};
    const bool is_allowed = id == FP_FINDING_CSP_SCRIPT
                                ? fp_csp_allows_script(policy, question, &directive)
                                : fp_csp_allows_connect(policy, question, &directive);
    if (!is_allowed)
        fp_finding_add(&doctor->findings, id, question->url, "%.*s", FP_STR_ARG(directive));
}

/* Asks all policies of the page: those of the header, and those of meta elements. */
static void ask_all(struct fp_doctor *doctor, enum fp_finding_id id,
                    const struct fp_csp_question *question)
{
    const char *policy;
    for (size_t i = 0;
         (policy = fp_client_nth(&doctor->reply, "Content-Security-Policy", i)) != NULL; i++)
        ask(doctor, policy, id, question);
    for (size_t i = 0; i < doctor->page.csp_count; i++)
        ask(doctor, doctor->page.csp[i], id, question);
}

static void check_sandbox(struct fp_doctor *doctor)
{
    const char *policy;
    for (size_t i = 0;
         (policy = fp_client_nth(&doctor->reply, "Content-Security-Policy", i)) != NULL; i++)
        if (fp_csp_sandboxes(policy, "allow-scripts") ||
            fp_csp_sandboxes(policy, "allow-same-origin"))
            fp_finding_add(&doctor->findings, FP_FINDING_CSP_SANDBOX, doctor->url, "%s", policy);
}

static void check_csp(struct fp_doctor *doctor)
{
    const struct fp_page_script *agent = doctor->agent;
    char *script = agent != NULL ? fp_web_resolve(doctor->base, agent->src) : NULL;
    if (script != NULL)
        ask_all(doctor, FP_FINDING_CSP_SCRIPT,
                &(struct fp_csp_question){doctor->url, script, agent->nonce, agent->integrity});
    free(script);
    char *endpoint = fp_doctor_endpoint(doctor);
    if (endpoint != NULL)
        ask_all(doctor, FP_FINDING_CSP_CONNECT,
                &(struct fp_csp_question){.page_url = doctor->url, .url = endpoint});
    free(endpoint);
    check_sandbox(doctor);
}

char *fp_doctor_endpoint(const struct fp_doctor *doctor)
{
    const char *endpoint = doctor->options->endpoint;
    for (size_t i = 0; endpoint == NULL && doctor->agent != NULL && i < doctor->agent->data_count;
         i++)
        if (strcmp(doctor->agent->data[i].name, "endpoint") == 0)
            endpoint = doctor->agent->data[i].value;
    return endpoint != NULL && endpoint[0] != '\0' ? fp_web_resolve(doctor->base, endpoint) : NULL;
}

void fp_doctor_check_tag(struct fp_doctor *doctor)
{
    struct fp_page *page = &doctor->page;
    struct fp_findings *findings = &doctor->findings;
    const struct fp_buf *body = &doctor->reply.body;
    if (doctor->tally.answered == 0)
        return;
    fp_page_parse((struct fp_str){(const char *)body->data, body->len}, &doctor->arena, page);
    doctor->base = page->base != NULL ? fp_web_resolve(doctor->url, page->base) : NULL;
    if (doctor->base == NULL)
        doctor->base = fp_memory_copy(doctor->url);
    if (page->has_policy_meta)
        fp_finding_add(findings, FP_FINDING_POLICY_IN_META, doctor->url,
                       "<meta http-equiv=\"Document-Policy\">");
    find_agent(doctor);
    if (doctor->agent != NULL)
        check_agent(doctor);
    else if (page->inert_agent != NULL)
        fp_finding_add(findings, FP_FINDING_AGENT_INERT, doctor->url, "%s", page->inert_agent);
    else if (doctor->options->endpoint == NULL)
        fp_finding_add(findings, FP_FINDING_AGENT_MISSING, doctor->url,
                       "no script whose name is fleetprof*.js among %zu", page->script_count);
    check_csp(doctor);
}
