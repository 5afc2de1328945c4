/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the endpoint: dry runs, small as the agent's uploads and large as dumps.
 */
#include "cli/doctor/doctor.h"
#include "cli/doctor/dry_run.h"
#include "cli/doctor/remedies.h"
#include "cli/doctor/web_address.h"
#include "cli/kit/memory.h"
#include "collector/base/domain.h"

#include <libdeflate.h>
#include <stdlib.h>

enum { REPLY_MAX = 64 * 1024 };

/* ---- the upload ---- */

/* Returns an envelope with the page's token. The caller frees it. */
static char *make_envelope(const struct fp_doctor *doctor, size_t *len)
{
    const bool is_signed = doctor->decision.state == FP_DECISION_SIGNED;
    return fp_dry_run_envelope(doctor->url, is_signed ? doctor->decision.text : FP_STR(""), len);
}

/* Compresses as the agent does. The caller frees it. */
static char *compress(const char *text, size_t len, size_t *packed_len)
{
    struct libdeflate_compressor *compressor = fp_memory_need(libdeflate_alloc_compressor(6));
    size_t max = libdeflate_gzip_compress_bound(compressor, len);
    char *packed = fp_memory_need(malloc(max));
    *packed_len = libdeflate_gzip_compress(compressor, text, len, packed, max);
    libdeflate_free_compressor(compressor);
    return packed;
}

/* ---- the reply ---- */

/* Names the sender of a reply without Fleetprof-Dry-Run by its status. */
static enum fp_finding_id id_of_stranger(const struct fp_client_reply *reply, bool is_large)
{
    if (reply->status == 0)
        return is_large ? FP_FINDING_BODY_LIMIT : FP_FINDING_ENDPOINT_UNREACHABLE;
    if (fp_dry_run_is_problem(reply))
        return reply->status == 404 ? FP_FINDING_ENDPOINT_PATH : FP_FINDING_COLLECTOR_OLD;
    switch (reply->status) {
    case 204:
        return FP_FINDING_COLLECTOR_OLD;
    case 413:
        return FP_FINDING_BODY_LIMIT;
    case 429:
        return FP_FINDING_BUDGET_SPENT;
    case 502:
    case 503:
    case 504:
        return FP_FINDING_COLLECTOR_DOWN;
    case 400:
    case 403:
    case 406:
    case 411:
    case 415:
        return FP_FINDING_UPLOAD_REFUSED;
    default:
        return FP_FINDING_ENDPOINT_NOT_COLLECTOR;
    }
}

/* Corrects a missing token if no page load was sampled: there was none to send. */
static enum fp_finding_id correct(const struct fp_doctor *doctor, enum fp_finding_id id)
{
    return id == FP_FINDING_TOKEN_MISSING && !fp_decision_is_yes(&doctor->decision)
               ? FP_FINDING_TOKEN_UNSEEN
               : id;
}

/* True if the collector would take the upload. Reports why not, and a token that proves nothing. */
static bool judge(struct fp_doctor *doctor, const char *url, const struct fp_client_reply *reply,
                  const char *size)
{
    const char *result = fp_dry_run_result(reply);
    char seen[400];
    fp_dry_run_describe(reply, seen, sizeof(seen));
    if (strncmp(result, "accepted", 8) == 0) {
        const char *remark = strstr(result, "token_");
        if (remark != NULL && fp_decision_is_yes(&doctor->decision))
            fp_finding_add(&doctor->findings, fp_doctor_finding_of(remark), url,
                           "the upload would be accepted without a sample rate (%s)", remark);
        return true;
    }
    enum fp_finding_id id = result[0] != '\0' ? correct(doctor, fp_doctor_finding_of(result))
                                              : id_of_stranger(reply, size != NULL);
    fp_finding_add(&doctor->findings, id, url, "%s%s%s", size != NULL ? size : "",
                   size != NULL ? ": " : "", seen);
    return false;
}

/* ---- requests ---- */

/* True if the user has named the endpoint's address; a relative one depends on the page. */
static bool is_named(const struct fp_doctor *doctor)
{
    char *origin =
        doctor->options->endpoint != NULL ? fp_web_origin(doctor->options->endpoint) : NULL;
    free(origin);
    return origin != NULL;
}

static void post(struct fp_doctor *doctor, const char *url, struct fp_str body,
                 struct fp_client_reply *reply)
{
    const struct fp_dry_run run = {
        .url = url, .origin = doctor->origin, .body = body, .is_named = is_named(doctor)};
    fp_dry_run_post(doctor->fetcher, &run, reply);
}

/* Sends an upload padded with spaces to a size. */
static bool post_large(struct fp_doctor *doctor, const char *url, size_t megabytes)
{
    const size_t size = megabytes * 1000 * 1000;
    size_t len;
    char *envelope = make_envelope(doctor, &len);
    char *body = fp_memory_need(malloc(size));
    memset(body, ' ', size);
    memcpy(body, envelope, len < size ? len : size);
    char name[16];
    (void)snprintf(name, sizeof(name), "%zu MB", megabytes);
    struct fp_client_reply reply;
    post(doctor, url, (struct fp_str){body, size}, &reply);
    bool accepted = judge(doctor, url, &reply, name);
    fp_client_release(&reply);
    free(body);
    free(envelope);
    return accepted;
}

/* The rules for an endpoint on another origin. */
static void check_cors(struct fp_doctor *doctor, const char *url,
                       const struct fp_client_reply *posted)
{
    const char *allowed = fp_client_field(posted, "Access-Control-Allow-Origin");
    if (strcmp(allowed, doctor->origin) != 0)
        fp_finding_add(&doctor->findings, FP_FINDING_ENDPOINT_CORS, url,
                       "Access-Control-Allow-Origin: %s", allowed);
    char *origin = fp_memory_print("Origin: %s", doctor->origin);
    const char *const fields[] = {origin, "Access-Control-Request-Method: POST",
                                  "Access-Control-Request-Headers: content-type", NULL};
    const struct fp_fetch_request request = {.method = "OPTIONS",
                                             .url = url,
                                             .fields = fields,
                                             .body_max = REPLY_MAX,
                                             .is_named = is_named(doctor)};
    struct fp_client_reply reply;
    fp_fetch(doctor->fetcher, &request, &reply);
    if (reply.status < 200 || reply.status > 299 ||
        strcmp(fp_client_field(&reply, "Access-Control-Allow-Origin"), doctor->origin) != 0)
        fp_finding_add(&doctor->findings, FP_FINDING_PREFLIGHT, url, "OPTIONS: status %ld %s",
                       reply.status, reply.error);
    fp_client_release(&reply);
    free(origin);
}

static bool is_mixed(const struct fp_doctor *doctor, const char *url)
{
    return strncmp(doctor->url, "https:", 6) == 0 && strncmp(url, "http:", 5) == 0;
}

/* True if the endpoint has the page's registrable domain, or its host if that has none. */
static bool is_own_site(const struct fp_doctor *doctor, const char *url)
{
    char *origin = fp_web_origin(url);
    const struct fp_str site = fp_domain_of_url(fp_str_of(doctor->origin));
    const bool is_own = origin != NULL && fp_str_equal(fp_domain_of_url(fp_str_of(origin)), site);
    free(origin);
    return is_own;
}

static void check(struct fp_doctor *doctor, const char *url)
{
    size_t len, packed_len;
    char *envelope = make_envelope(doctor, &len);
    char *packed = compress(envelope, len, &packed_len);
    struct fp_client_reply reply;
    post(doctor, url, (struct fp_str){packed, packed_len}, &reply);
    const bool accepted = judge(doctor, url, &reply, NULL);
    if (accepted && !fp_web_same_origin(url, doctor->url))
        check_cors(doctor, url, &reply);
    fp_client_release(&reply);
    free(packed);
    free(envelope);
    if (accepted && fp_doctor_has_time(doctor) && post_large(doctor, url, 2) &&
        fp_doctor_has_time(doctor))
        (void)post_large(doctor, url, 8);
}

void fp_doctor_check_endpoint(struct fp_doctor *doctor)
{
    char *url = doctor->base != NULL ? fp_doctor_endpoint(doctor) : NULL;
    if (url == NULL || !fp_doctor_has_time(doctor)) {
        free(url);
        return;
    }
    if (is_mixed(doctor, url))
        fp_finding_add(&doctor->findings, FP_FINDING_ENDPOINT_MIXED, url, "the page is %s",
                       doctor->url);
    else if (!is_named(doctor) && !is_own_site(doctor, url))
        fp_finding_add(&doctor->findings, FP_FINDING_ENDPOINT_ELSEWHERE, url, "the page is %s",
                       doctor->url);
    else
        check(doctor, url);
    free(url);
}
