/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the document: policy, decision, rate, caches.
 */
#include "cli/doctor/doctor.h"
#include "cli/doctor/interval.h"
#include "cli/doctor/web_address.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "collector/base/clock.h"

#include "header_policy/response.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { SKEW_MAX_S = 60, NONCES_MAX = 1000, PAGE_MAX = 2 * 1024 * 1024 };

static const char user_agent[] =
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36 fleetprof-doctor/" FP_VERSION;

static const char *const navigation[] = {
    user_agent,
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Sec-Fetch-Dest: document",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-Site: none",
    NULL,
};

bool fp_doctor_has_time(const struct fp_doctor *doctor)
{
    return !fp_fetcher_is_late(doctor->fetcher);
}

static struct fleetprof_slice slice(const char *text)
{
    return (struct fleetprof_slice){text, strlen(text)};
}

/* ---- one reply ---- */

/* The facts of one reply. Owns its texts. */
struct look {
    char *policy_text; /* NULL: no field */
    char *timing_text;
    struct fp_policy policy;
    struct fp_decision decision;
};

static struct look look_at(const struct fp_client_reply *reply)
{
    struct look look = {
        .policy_text = fp_fetch_joined(reply, "Document-Policy"),
        .timing_text = fp_fetch_joined(reply, "Server-Timing"),
    };
    look.policy = fp_policy_judge(look.policy_text);
    look.decision = fp_decision_judge(look.timing_text);
    return look;
}

static void look_away(struct look *look)
{
    free(look->policy_text);
    free(look->timing_text);
}

/* Reports a policy that browsers do not understand. */
static void report_policy(struct fp_doctor *doctor, const struct look *look)
{
    static const enum fp_finding_id ids[] = {
        [FP_POLICY_BROKEN] = FP_FINDING_POLICY_BROKEN,
        [FP_POLICY_PARAMETER] = FP_FINDING_POLICY_PARAMETER,
        [FP_POLICY_TYPE] = FP_FINDING_POLICY_TYPE,
        [FP_POLICY_MODE_ONLY] = FP_FINDING_POLICY_MODE_ONLY,
    };
    if (look->policy.state < FP_POLICY_BROKEN)
        return;
    if (look->policy.state == FP_POLICY_BROKEN)
        fp_finding_add(&doctor->findings, FP_FINDING_POLICY_BROKEN, doctor->url,
                       "Document-Policy: %s (column %zu)", look->policy_text, look->policy.at + 1);
    else
        fp_finding_add(&doctor->findings, ids[look->policy.state], doctor->url,
                       "Document-Policy: %s", look->policy_text);
}

/* Reports a policy and a decision that contradict each other. */
static void report_contradiction(struct fp_doctor *doctor, const struct look *look)
{
    struct fp_findings *findings = &doctor->findings;
    const enum fp_policy_state policy = look->policy.state;
    if (look->decision.state == FP_DECISION_UNKNOWN)
        fp_finding_add(findings, FP_FINDING_DECISION_UNKNOWN, doctor->url,
                       "Server-Timing: fleetprof;desc=\"%.*s\"", FP_STR_ARG(look->decision.text));
    if (fp_decision_is_yes(&look->decision) && policy == FP_POLICY_ABSENT)
        fp_finding_add(findings, FP_FINDING_POLICY_DROPPED, doctor->url,
                       "Server-Timing says yes; Document-Policy: %s",
                       look->policy_text != NULL ? look->policy_text : "no such field");
    if (fp_decision_is_yes(&look->decision) && policy == FP_POLICY_NO)
        fp_finding_add(findings, FP_FINDING_POLICY_OVERRIDDEN, doctor->url,
                       "Server-Timing says yes; Document-Policy: %s", look->policy_text);
    if (look->decision.state == FP_DECISION_NO && policy == FP_POLICY_YES)
        fp_finding_add(findings, FP_FINDING_POLICY_CONFLICT, doctor->url,
                       "Server-Timing says no; Document-Policy: %s", look->policy_text);
}

static void report_report_only(struct fp_doctor *doctor, const struct fp_client_reply *reply)
{
    char *text = fp_fetch_joined(reply, "Document-Policy-Report-Only");
    if (fp_policy_judge(text).state == FP_POLICY_YES)
        fp_finding_add(&doctor->findings, FP_FINDING_POLICY_REPORT_ONLY, doctor->url,
                       "Document-Policy-Report-Only: %s", text);
    free(text);
}

/* ---- caches ---- */

static bool has_directive(const struct fp_client_reply *reply, const char *directive)
{
    char *text = fp_fetch_joined(reply, "Cache-Control");
    bool found = text != NULL && strcasestr(text, directive) != NULL;
    free(text);
    return found;
}

/* Returns the field that lets shared caches store the reply, NULL if they may not. */
static const struct fp_client_field *shared_by(const struct fp_client_reply *reply)
{
    struct fleetprof_cache_control control = {0};
    const struct fp_client_field *by = NULL;
    for (size_t i = 0; i < reply->field_count; i++) {
        const struct fp_client_field *field = &reply->fields[i];
        fleetprof_cache_control_add(&control, slice(field->name), slice(field->value));
        if (strcasecmp(field->name, "Expires") == 0)
            control.expires = curl_getdate(field->value, NULL) > time(NULL);
        if (!fleetprof_cache_control_is_shared(&control))
            by = NULL;
        else if (by == NULL)
            by = field;
    }
    return by;
}

static bool has_validator(const struct fp_client_reply *reply)
{
    return fp_client_nth(reply, "ETag", 0) != NULL ||
           fp_client_nth(reply, "Last-Modified", 0) != NULL;
}

/* Reports what Cache-Control of one reply does to sampling. */
static void report_caching(struct fp_doctor *doctor, const struct fp_client_reply *reply,
                           const struct look *look)
{
    struct fp_findings *findings = &doctor->findings;
    const char *control = fp_client_field(reply, "Cache-Control");
    const bool no_store = has_directive(reply, "no-store");
    const struct fp_client_field *shared = shared_by(reply);
    if (shared != NULL && !fp_decision_is_yes(&look->decision))
        fp_finding_add(findings, FP_FINDING_PAGE_CACHEABLE, doctor->url, "%s: %s", shared->name,
                       shared->value);
    if (no_store)
        fp_finding_add(findings, FP_FINDING_PAGE_NO_STORE, doctor->url, "Cache-Control: %s",
                       control);
    if (look->decision.state == FP_DECISION_NO && look->policy_text == NULL && !no_store &&
        has_validator(reply))
        fp_finding_add(findings, FP_FINDING_POLICY_OMITTED, doctor->url,
                       "no Document-Policy, but an ETag or Last-Modified");
}

/* ---- all replies ---- */

/* The nonces of the decisions so far: the same one twice comes out of a cache. */
struct nonces {
    char (*items)[16];
    size_t count;
};

static void report_nonce(struct fp_doctor *doctor, struct nonces *nonces,
                         const struct fp_decision *decision)
{
    if (!fp_decision_is_yes(decision))
        return;
    for (size_t i = 0; i < nonces->count; i++)
        if (memcmp(nonces->items[i], decision->nonce.ptr, decision->nonce.len) == 0) {
            fp_finding_add(&doctor->findings, FP_FINDING_PAGE_FROZEN, doctor->url,
                           "two replies have the decision %.*s", FP_STR_ARG(decision->text));
            return;
        }
    if (nonces->count < NONCES_MAX)
        memcpy(nonces->items[nonces->count++], decision->nonce.ptr, decision->nonce.len);
}

static void report_clock(struct fp_doctor *doctor, const struct fp_decision *decision)
{
    if (!fp_decision_is_yes(decision))
        return;
    int64_t ahead_s = decision->time_s - fp_clock_real_us() / FP_US_PER_S;
    if (ahead_s > SKEW_MAX_S || ahead_s < -SKEW_MAX_S)
        fp_finding_add(&doctor->findings, FP_FINDING_CLOCK_SERVER, doctor->url,
                       "the decision's time is %" PRId64 " s %s this machine's",
                       ahead_s < 0 ? -ahead_s : ahead_s, ahead_s < 0 ? "behind" : "ahead of");
}

static void count(struct fp_doctor_tally *tally, const struct look *look)
{
    tally->answered++;
    tally->with_policy += look->policy.state != FP_POLICY_ABSENT;
    tally->with_decision += look->decision.state != FP_DECISION_ABSENT;
    tally->sampled += fp_decision_is_yes(&look->decision);
}

/* Keeps the reply that the other checks are about: a sampled one rather than another. */
static void keep(struct fp_doctor *doctor, struct fp_client_reply *reply, struct look *look)
{
    const bool is_first = doctor->tally.answered == 1;
    const bool is_better =
        fp_decision_is_yes(&look->decision) && !fp_decision_is_yes(&doctor->decision);
    if (is_first || is_better) {
        fp_client_release(&doctor->reply);
        free(doctor->timing);
        doctor->reply = *reply;
        doctor->timing = look->timing_text;
        doctor->decision = look->decision;
        *reply = (struct fp_client_reply){0};
        look->timing_text = NULL;
    }
    fp_client_release(reply);
    look_away(look);
}

static void judge(struct fp_doctor *doctor, struct fp_client_reply *reply, struct nonces *nonces)
{
    struct look look = look_at(reply);
    count(&doctor->tally, &look);
    report_policy(doctor, &look);
    report_contradiction(doctor, &look);
    report_report_only(doctor, reply);
    report_caching(doctor, reply, &look);
    report_nonce(doctor, nonces, &look.decision);
    report_clock(doctor, &look.decision);
    keep(doctor, reply, &look);
}

static void report_absence(struct fp_doctor *doctor)
{
    const struct fp_doctor_tally *tally = &doctor->tally;
    struct fp_findings *findings = &doctor->findings;
    if (tally->with_decision == 0 && tally->with_policy == 0)
        fp_finding_add(findings, FP_FINDING_POLICY_MISSING, doctor->url,
                       "neither Document-Policy nor Server-Timing says anything, in %u of %u "
                       "replies",
                       tally->answered, tally->answered);
    else if (tally->with_decision == 0)
        fp_finding_add(findings, FP_FINDING_DECISION_MISSING, doctor->url,
                       "Document-Policy in %u of %u replies, Server-Timing: fleetprof in none",
                       tally->with_policy, tally->answered);
    else if (tally->with_decision < tally->answered)
        fp_finding_add(findings, FP_FINDING_DECISION_SOMETIMES, doctor->url,
                       "Server-Timing: fleetprof in %u of %u replies", tally->with_decision,
                       tally->answered);
}

static void report_rate(struct fp_doctor *doctor)
{
    const struct fp_doctor_options *options = doctor->options;
    const struct fp_doctor_tally *tally = &doctor->tally;
    const struct fp_interval seen = fp_interval_of(tally->sampled, tally->answered);
    const double wanted = options->rate_ppm / 1e6;
    if (options->has_rate && (wanted < seen.low || wanted > seen.high))
        fp_finding_add(&doctor->findings, FP_FINDING_RATE_DIFFERS, doctor->url,
                       "%u of %u page loads, so %.4g to %.4g %%; expected %.4g %%", tally->sampled,
                       tally->answered, 100 * seen.low, 100 * seen.high, 100 * wanted);
    else if (tally->with_decision > 0 && tally->sampled == 0)
        fp_finding_add(&doctor->findings, FP_FINDING_RATE_ZERO, doctor->url,
                       "0 of %u page loads, so at most %.4g %%", tally->answered, 100 * seen.high);
}

/* ---- revalidation ---- */

/* A conditional request as a navigation, or as a service worker passes one on. */
static void revalidate(struct fp_doctor *doctor, const char *condition, bool by_worker)
{
    const char *const fields[] = {
        user_agent,
        condition,
        "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        by_worker ? "Sec-Fetch-Dest: empty" : "Sec-Fetch-Dest: document",
        "Sec-Fetch-Mode: navigate",
        NULL,
    };
    const struct fp_fetch_request request = {
        .method = "GET", .url = doctor->url, .fields = fields, .body_max = PAGE_MAX};
    struct fp_client_reply reply;
    fp_fetch(doctor->fetcher, &request, &reply);
    if (reply.status == 304 && fp_client_nth(&reply, "Document-Policy", 0) == NULL)
        fp_finding_add(&doctor->findings, FP_FINDING_REVALIDATION_KEEPS_YES, doctor->url,
                       "a 304 without Document-Policy to %s%s", condition,
                       by_worker ? ", as from a service worker" : "");
    fp_client_release(&reply);
}

/* Revalidates a sampled page. */
static void check_revalidation(struct fp_doctor *doctor)
{
    const char *etag = fp_client_nth(&doctor->reply, "ETag", 0);
    const char *modified = fp_client_nth(&doctor->reply, "Last-Modified", 0);
    if (!fp_decision_is_yes(&doctor->decision) || (etag == NULL && modified == NULL))
        return;
    char *condition = etag != NULL ? fp_memory_print("If-None-Match: %s", etag)
                                   : fp_memory_print("If-Modified-Since: %s", modified);
    for (int by_worker = 0; by_worker < 2 && fp_doctor_has_time(doctor); by_worker++)
        revalidate(doctor, condition, by_worker != 0);
    free(condition);
}

/* ---- the page ---- */

static bool is_html(const struct fp_client_reply *reply)
{
    const char *type = fp_client_field(reply, "Content-Type");
    return strncasecmp(type, "text/html", 9) == 0 ||
           strncasecmp(type, "application/xhtml+xml", 21) == 0;
}

/* Reports replies that cannot be judged. False for one of them. */
static bool is_page(struct fp_doctor *doctor, const struct fp_client_reply *reply)
{
    struct fp_findings *findings = &doctor->findings;
    if (doctor->is_elsewhere)
        fp_finding_add(findings, FP_FINDING_PAGE_ELSEWHERE, doctor->url, "status %ld, Location: %s",
                       reply->status, fp_client_field(reply, "Location"));
    else if (reply->status >= 300 && reply->status < 400)
        fp_finding_add(findings, FP_FINDING_PAGE_REDIRECTS, doctor->url, "status %ld, Location: %s",
                       reply->status, fp_client_field(reply, "Location"));
    else if (reply->status >= 400)
        fp_finding_add(findings, FP_FINDING_PAGE_STATUS, doctor->url, "status %ld", reply->status);
    else if (!is_html(reply))
        fp_finding_add(findings, FP_FINDING_PAGE_NOT_HTML, doctor->url, "Content-Type: %s",
                       fp_client_field(reply, "Content-Type"));
    else
        return true;
    return false;
}

static void repeat(struct fp_doctor *doctor, struct nonces *nonces)
{
    const struct fp_fetch_request request = {
        .method = "GET", .url = doctor->url, .fields = navigation, .body_max = PAGE_MAX};
    while (doctor->tally.asked < doctor->options->repeat && fp_doctor_has_time(doctor)) {
        struct fp_client_reply reply;
        fp_fetch(doctor->fetcher, &request, &reply);
        doctor->tally.asked++;
        if (reply.status == 200 && is_html(&reply)) {
            judge(doctor, &reply, nonces);
            continue;
        }
        /* The deadline ends the last request early. */
        if (reply.status != 0 || fp_doctor_has_time(doctor))
            fp_finding_add(&doctor->findings, FP_FINDING_PAGE_UNSTEADY, doctor->url, "%s%ld%s%s",
                           reply.status != 0 ? "status " : "no reply, ", reply.status,
                           reply.error[0] != '\0' ? ": " : "", reply.error);
        fp_client_release(&reply);
    }
}

/* True for http to https on the host's usual ports: the same server, only encrypted. */
static bool is_upgrade(const char *url, const char *target)
{
    struct fp_web_address from, to;
    if (!fp_web_address_parse(url, &from))
        return false;
    bool upgrade = fp_web_address_parse(target, &to);
    if (upgrade) {
        upgrade = strcmp(from.host, to.host) == 0 && strcmp(from.scheme, "http") == 0 &&
                  strcmp(from.port, "80") == 0 && strcmp(to.scheme, "https") == 0 &&
                  strcmp(to.port, "443") == 0;
        fp_web_address_release(&to);
    }
    fp_web_address_release(&from);
    return upgrade;
}

/* Asks on a terminal. */
static bool may_leave(const char *url, const char *target)
{
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1)
        return false;
    char *from = fp_message_make_plain(fp_memory_copy(url));
    char *to = fp_message_make_plain(fp_memory_copy(target));
    (void)fprintf(stderr, "%s redirects to another origin: %s\nFollow it? [y/N] ", from, to);
    free(from);
    free(to);
    char answer[16] = "";
    return fgets(answer, sizeof(answer), stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
}

/* A redirect to another origin needs a yes: a page must not choose whom we ask. */
static bool follow(void *context, const char *url, const char *target,
                   const struct fp_client_reply *reply)
{
    struct fp_doctor *doctor = context;
    (void)reply;
    doctor->is_elsewhere = !doctor->options->follows && !fp_web_same_origin(url, target) &&
                           !is_upgrade(url, target) && !may_leave(url, target);
    return !doctor->is_elsewhere;
}

bool fp_doctor_check_page(struct fp_doctor *doctor)
{
    char *first = fp_web_resolve(doctor->options->url, "");
    const struct fp_fetch_request request = {
        .method = "GET", .url = first, .fields = navigation, .body_max = PAGE_MAX};
    struct fp_client_reply reply;
    doctor->url = fp_fetch_following(doctor->fetcher, &request, &reply, follow, doctor);
    doctor->origin = fp_web_origin(doctor->url);
    free(first);
    doctor->tally.asked = 1;
    if (reply.status == 0) {
        fp_message_error("could not fetch %s", doctor->url);
        fp_message_detail("%s", reply.error);
        fp_client_release(&reply);
        return false;
    }
    if (!is_page(doctor, &reply)) {
        fp_client_release(&reply);
        return true;
    }
    struct nonces nonces = {fp_memory_need(calloc(NONCES_MAX, sizeof(*nonces.items))), 0};
    judge(doctor, &reply, &nonces);
    repeat(doctor, &nonces);
    free(nonces.items);
    report_absence(doctor);
    report_rate(doctor);
    check_revalidation(doctor);
    return true;
}

/* ---- directly ---- */

void fp_doctor_check_direct(struct fp_doctor *doctor)
{
    static const char *const names[] = {"Document-Policy", "Server-Timing", "Timing-Allow-Origin"};
    if (doctor->options->direct == NULL || doctor->tally.answered == 0)
        return;
    const struct fp_fetch_request request = {
        .method = "GET", .url = doctor->url, .fields = navigation, .body_max = PAGE_MAX};
    struct fp_client_reply reply;
    fp_fetcher_direct(doctor->fetcher, doctor->options->direct);
    fp_fetch(doctor->fetcher, &request, &reply);
    fp_fetcher_direct(doctor->fetcher, NULL);
    if (reply.status == 0)
        fp_finding_add(&doctor->findings, FP_FINDING_DIRECT_DIFFERS, doctor->options->direct,
                       "no reply: %s", reply.error);
    for (size_t i = 0; reply.status != 0 && i < FP_COUNT(names); i++)
        if (fp_client_nth(&reply, names[i], 0) != NULL &&
            fp_client_nth(&doctor->reply, names[i], 0) == NULL)
            fp_finding_add(&doctor->findings, FP_FINDING_DIRECT_DIFFERS, doctor->url,
                           "%s: %s comes from %s only", names[i], fp_client_field(&reply, names[i]),
                           doctor->options->direct);
    fp_client_release(&reply);
}
