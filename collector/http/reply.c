/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reply: builds responses, with CORS as in the Fetch standard and problems as in RFC 9457.
 */
#include "collector/http/reply.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/uuid.h"
#include "collector/http/problem_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- headers ---- */

/* Adds a header. False when out of memory. Such a reply is not sent: without the header a page
 * could not read it, or would not know when to retry. */
static bool add(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

/* Headers that the agent sends; a browser asks for permission for none of them. */
#define OWN_HEADERS "content-type, content-encoding, idempotency-key"
#define MAX_REQUESTED_LEN 1024

/* True for a comma list of names (RFC 9110, 5.1), as browsers send it. */
static bool is_name_list(const char *list)
{
    const size_t len = strlen(list);
    for (size_t i = 0; i < len; i++) {
        if (!fp_is_alnum(list[i]) && strchr("!#$%&'*+-.^_`|~, ", list[i]) == NULL)
            return false;
    }
    return len > 0 && len <= MAX_REQUESTED_LEN;
}

/* Allows our own headers and those that the page wants to send: tracing libraries add theirs to
 * each fetch of a page, and without a yes the browser sends no upload at all. */
static bool add_allowed_headers(struct MHD_Response *response, const char *requested)
{
    char allowed[sizeof(OWN_HEADERS ", ") + MAX_REQUESTED_LEN] = OWN_HEADERS;
    if (requested != NULL && is_name_list(requested))
        snprintf(allowed, sizeof(allowed), OWN_HEADERS ", %s", requested);
    return add(response, "Access-Control-Allow-Headers", allowed);
}

static bool add_cors(struct MHD_Response *response, const struct fp_reply *reply)
{
    /* A cache must not serve one origin's reply to another. */
    if (!add(response, "Vary", "Origin"))
        return false;
    if (reply->origin == NULL)
        return true;
    if (!add(response, "Access-Control-Allow-Origin", reply->origin->ptr) ||
        !add(response, "Access-Control-Allow-Credentials", "true"))
        return false;
    if (!reply->preflight)
        return add(response, "Access-Control-Expose-Headers", "Retry-After, Fleetprof-Refused");
    return add(response, "Access-Control-Allow-Methods", "POST") &&
           add_allowed_headers(response, reply->requested_headers) &&
           add(response, "Access-Control-Max-Age", "7200");
}

static bool add_of_problem(struct MHD_Response *response, const struct fp_problem *problem)
{
    char seconds[16];
    snprintf(seconds, sizeof(seconds), "%u", problem->retry_s);
    return add(response, "Content-Type", "application/problem+json") &&
           add(response, "X-Content-Type-Options", "nosniff") &&
           (problem->status != MHD_HTTP_METHOD_NOT_ALLOWED ||
            add(response, "Allow", "POST, OPTIONS")) &&
           (problem->retry_s == 0 || add(response, "Retry-After", seconds));
}

/* Adds the session's address, relative to the request's, …/sessions. */
static bool add_of_session(struct MHD_Response *response, const struct fp_uuid *session)
{
    char id[FP_UUID_TEXT_LEN + 1];
    char address[sizeof("sessions/") + FP_UUID_TEXT_LEN];
    fp_uuid_format(session, id);
    snprintf(address, sizeof(address), "sessions/%s", id);
    return add(response, "Content-Type", "application/json") && add(response, "Location", address);
}

static bool add_of_dry_run(struct MHD_Response *response, const struct fp_reply *reply)
{
    char result[64];
    const bool has_trouble = reply->problem == NULL && reply->token_trouble != NULL;
    snprintf(result, sizeof(result), "%s%s%s",
             reply->problem != NULL ? fp_refusal_name(reply->problem->reason) : "accepted",
             has_trouble ? ", " : "", has_trouble ? reply->token_trouble : "");
    return add(response, "Fleetprof-Dry-Run", result);
}

static bool add_count(struct MHD_Response *response, const char *name, uint64_t number)
{
    char count[24];
    snprintf(count, sizeof(count), "%" PRIu64, number);
    return number == 0 || add(response, name, count);
}

static bool add_headers(struct MHD_Response *response, const struct fp_reply *reply)
{
    bool added = true;
    if (reply->problem != NULL)
        added = add_of_problem(response, reply->problem);
    else if (reply->started != NULL)
        added = add_of_session(response, reply->started);
    else if (reply->preflight)
        added = add(response, "Allow", "POST, OPTIONS");
    else
        added = add_count(response, "Fleetprof-Refused", reply->refused) &&
                add_count(response, "Fleetprof-Not-Kept", reply->not_kept);
    return added && add_cors(response, reply) &&
           (!reply->dry_run || add_of_dry_run(response, reply)) &&
           (!reply->close || add(response, "Connection", "close"));
}

/* ---- bodies ---- */

static struct MHD_Response *problem_response(const struct fp_problem *problem)
{
    size_t len;
    char *json = fp_problem_json(problem, &len);
    if (json == NULL)
        return NULL;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, json, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        free(json);
    return response;
}

/* 201 */
static struct MHD_Response *started_response(const struct fp_uuid *session)
{
    char id[FP_UUID_TEXT_LEN + 1];
    char json[sizeof("{\"session\":\"\"}") + FP_UUID_TEXT_LEN];
    fp_uuid_format(session, id);
    int len = snprintf(json, sizeof(json), "{\"session\":\"%s\"}", id);
    return MHD_create_response_from_buffer((size_t)len, json, MHD_RESPMEM_MUST_COPY);
}

static struct MHD_Response *make_response(const struct fp_reply *reply)
{
    static char nothing[] = "";
    if (reply->problem != NULL)
        return problem_response(reply->problem);
    if (reply->started != NULL)
        return started_response(reply->started);
    return MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
}

static unsigned status_of(const struct fp_reply *reply)
{
    if (reply->problem != NULL)
        return reply->problem->status;
    return reply->started != NULL ? MHD_HTTP_CREATED : MHD_HTTP_NO_CONTENT;
}

void fp_reply_count(struct fp_metric_set *metrics, unsigned status)
{
    enum fp_http_metric metric = status < 400   ? FP_METRIC_RESPONSES_2XX
                                 : status < 500 ? FP_METRIC_RESPONSES_4XX
                                                : FP_METRIC_RESPONSES_5XX;
    fp_metrics_add(metrics, metric, 1);
}

enum MHD_Result fp_reply_send(struct MHD_Connection *connection, struct fp_metric_set *metrics,
                              const struct fp_reply *reply)
{
    unsigned status = status_of(reply);
    FP_ASSERT((reply->problem != NULL) == (status >= 400));
    struct MHD_Response *response = make_response(reply);
    if (response == NULL)
        return MHD_NO;
    enum MHD_Result queued = MHD_NO;
    if (add_headers(response, reply))
        queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    if (queued == MHD_YES)
        fp_reply_count(metrics, status);
    return queued;
}

/* Queues and releases a response with a text. */
static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
                                 const char *content_type, struct MHD_Response *response)
{
    MHD_add_response_header(response, "Content-Type", content_type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

static struct MHD_Response *text_response(struct fp_str body)
{
    return MHD_create_response_from_buffer(body.len, (void *)(uintptr_t)body.ptr,
                                           MHD_RESPMEM_MUST_COPY);
}

enum MHD_Result fp_reply_text(struct MHD_Connection *connection, unsigned status,
                              const char *content_type, struct fp_str body)
{
    struct MHD_Response *response = text_response(body);
    if (response == NULL)
        return MHD_NO;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    return send_text(connection, status, content_type, response);
}

enum MHD_Result fp_reply_bad_request(struct MHD_Connection *connection, struct fp_str body)
{
    struct MHD_Response *response = text_response(body);
    if (response == NULL)
        return MHD_NO;
    /* Without this header the connection would go on, and so would what follows in it. */
    if (!add(response, "Connection", "close")) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_text(connection, MHD_HTTP_BAD_REQUEST, "text/plain; charset=utf-8", response);
}
