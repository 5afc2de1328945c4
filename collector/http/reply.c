/*
 * Reply: builds responses, with CORS as in the Fetch standard and problems as in RFC 9457.
 */
#include "collector/http/reply.h"

#include "collector/base/uuid.h"
#include "collector/http/problem_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- headers ---- */

/* Adds a header. False when out of memory. Such a reply is not sent: without the header a page
 * could not read it, or would not know when to retry. */
static bool add(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
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
           add(response, "Access-Control-Allow-Headers",
               "content-type, content-encoding, idempotency-key") &&
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

static bool add_refused(struct MHD_Response *response, uint64_t refused)
{
    char count[24];
    snprintf(count, sizeof(count), "%" PRIu64, refused);
    return add(response, "Fleetprof-Refused", count);
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
    else if (reply->refused > 0)
        added = add_refused(response, reply->refused);
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

enum MHD_Result fp_reply_text(struct MHD_Connection *connection, unsigned status,
                              const char *content_type, struct fp_str body)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body.len, (void *)(uintptr_t)body.ptr, MHD_RESPMEM_MUST_COPY);
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", content_type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}
