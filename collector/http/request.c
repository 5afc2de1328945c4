/*
 * Request: routes, receives and answers one request.
 *
 * MHD calls fp_request_handle several times: when the headers are there, for each piece of the
 * body, when the body is complete, and once more after a suspended connection was resumed. All
 * calls for one connection come from one thread; while it is suspended the spool's committer writes
 * the outcome down, counts the upload and as its last act resumes the connection.
 *
 * A request that is refused on its headers is still read to its end, up to a bound: a reply sent
 * into a half-read body is lost to most clients, and the connection with it.
 */
#include "collector/http/request.h"

#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/http/body.h"
#include "collector/http/content_type.h"
#include "collector/http/long_session.h"
#include "collector/http/reply.h"
#include "collector/ingest/charge.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    DISCARD_MAX = 32 * 1024 * 1024, /* bytes past limits.max_body that are read all the same */
};

struct request {
    struct fp_http *http;
    struct MHD_Connection *connection;
    struct fp_connection *watched; /* the same */
    struct fp_rules *rules;        /* a reference; site and origin lie in it */
    const struct fp_site *site;
    const struct fp_str *origin;
    struct fp_http_target target;
    struct fp_uuid key;         /* `Idempotency-Key`, or a part's */
    struct fp_upload_part part; /* of FP_HTTP_PART */
    struct fp_uuid started;     /* of FP_HTTP_START */
    bool has_key;
    bool is_preflight;
    bool is_upload;   /* POST to a site's path, whatever becomes of it */
    bool is_turn;     /* a long session is started or stopped */
    bool has_started; /* it was started */
    bool has_problem; /* problem will be the reply */
    bool is_committing;
    bool may_keep;           /* should it be refused for its body, that may become a dead letter */
    struct fp_str boundary;  /* in MHD's memory of the headers */
    uint64_t announced_len;  /* Content-Length, 0 when there is none */
    uint64_t spent_len;      /* charged to the site's budget */
    struct fp_body_buf body; /* empty until the request is admitted */
    uint64_t received_len;
    int64_t received_us; /* monotonic: when the body was complete */
    struct fp_ticket ticket;
    struct fp_problem problem;
};

/* ---- headers ---- */

static const char *header(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static struct fp_str header_or_empty(const struct request *request, const char *name)
{
    const char *value = header(request, name);
    return value != NULL ? fp_str_of(value) : FP_STR("");
}

/* What follows is the reply; the body, if any, is of no use. */
static void refuse(struct request *request, enum fp_refusal reason, const char *detail)
{
    fp_problem_refuse(&request->problem, reason, "%s", detail);
    request->has_problem = true;
}

static void admit(struct request *request, struct fp_str key)
{
    const char *origin = header(request, "Origin");
    const char *gpc = header(request, "Sec-GPC");
    const struct fp_admission admission = {
        .key = key,
        .has_origin = origin != NULL,
        .origin = origin != NULL ? fp_str_of(origin) : FP_STR(""),
        .gpc = gpc != NULL && strcmp(gpc, "1") == 0,
    };
    request->has_problem = !fp_ingest_admit(request->rules, &admission, &request->site,
                                            &request->origin, &request->problem);
}

static void check_type(struct request *request)
{
    switch (fp_content_type_read(header_or_empty(request, "Content-Type"), &request->boundary)) {
    case FP_CONTENT_PLAIN:
    case FP_CONTENT_MULTIPART:
        return;
    case FP_CONTENT_MULTIPART_BROKEN:
        refuse(request, FP_REFUSAL_HEADER,
               "a Content-Type of multipart/form-data needs a valid boundary");
        return;
    case FP_CONTENT_UNSUPPORTED:
        break;
    }
    refuse(request, FP_REFUSAL_TYPE,
           "this Content-Type is not taken; send application/json, text/plain, "
           "application/octet-stream, application/x-ndjson, multipart/form-data or none");
}

/* A UUID, with or without the quotes of a structured field's string. */
static void read_key(struct request *request)
{
    const char *text = header(request, "Idempotency-Key");
    if (text == NULL)
        return;
    struct fp_str key = fp_str_of(text);
    if (key.len >= 2 && key.ptr[0] == '"' && key.ptr[key.len - 1] == '"')
        key = (struct fp_str){key.ptr + 1, key.len - 2};
    request->has_key = fp_uuid_parse(key, &request->key);
    if (!request->has_key)
        refuse(request, FP_REFUSAL_HEADER,
               "the header Idempotency-Key must be a UUID, such as "
               "f81d4fae-7dec-41d0-a765-00a0c91e6bf6");
}

static void refuse_large(struct request *request)
{
    fp_problem_refuse(&request->problem, FP_REFUSAL_SIZE,
                      "the body is larger than %zu bytes (limits.max_body)",
                      request->rules->max_body);
    request->has_problem = true;
}

/* MHD has refused what is not a number. */
static uint64_t announced_len(const struct request *request)
{
    const char *length = header(request, "Content-Length");
    return length != NULL ? strtoull(length, NULL, 10) : 0;
}

/* Starts and stops need no body, and many a client says nothing of one that it does not send. */
static void check_length(struct request *request)
{
    if (!request->is_turn && header(request, "Content-Length") == NULL &&
        header(request, "Transfer-Encoding") == NULL)
        refuse(request, FP_REFUSAL_LENGTH, "send a Content-Length, or the body in chunks");
    else if (request->announced_len > request->rules->max_body)
        refuse_large(request);
}

static bool spend(struct request *request, const struct fp_budget_cost *cost)
{
    request->has_problem = !fp_ingest_spend(request->site, cost, &request->problem);
    if (request->has_problem)
        request->may_keep = false;
    else
        request->spent_len += cost->of[FP_BUDGET_BYTES];
    return !request->has_problem;
}

/* What is announced is paid in advance, so that what is too much is not even received. */
static void spend_announced(struct request *request)
{
    (void)spend(request,
                &(struct fp_budget_cost){
                    .of = {[FP_BUDGET_REQUESTS] = 1, [FP_BUDGET_BYTES] = request->announced_len}});
}

/* Nothing is kept of people who ask for that, nor again of what comes from the dead letters. */
static bool may_be_kept(const struct request *request)
{
    return fp_ingest_keeps_refused(request->http->ingest) && header(request, "Sec-GPC") == NULL &&
           header(request, "Fleetprof-Replay") == NULL;
}

static struct fp_long_session long_session(const struct request *request)
{
    return (struct fp_long_session){request->http->captures, request->connection, request->site,
                                    &request->target};
}

static void admit_part(struct request *request)
{
    const struct fp_long_session session = long_session(request);
    request->has_problem =
        !fp_long_session_admit_part(&session, &request->part.number, &request->problem);
    request->part.session = request->target.session;
    request->has_key = true;
    request->key = fp_uuid_of_part(&request->part.session, request->part.number);
    if (!request->has_problem && request->boundary.len > 0)
        refuse(request, FP_REFUSAL_TYPE,
               "a part of a session is one upload, not multipart/form-data");
    request->may_keep = request->may_keep && !request->has_problem;
}

/* Decides, on the headers alone, what is to become of the request. */
static void route(struct request *request, const char *path, const char *method)
{
    request->target = fp_http_target_of(path);
    if (request->target.kind == FP_HTTP_NOTHING) {
        refuse(
            request, FP_REFUSAL_PATH,
            "there is nothing here; uploads go to /v1/ingest/KEY, with a site's key, and what is "
            "of a long session to /v1/ingest/KEY/sessions and behind that its id, a UUID; a proxy "
            "must pass the path on whole (nginx: proxy_pass without a path of its own)");
        return;
    }
    bool is_post = strcmp(method, "POST") == 0;
    request->is_turn =
        is_post && (request->target.kind == FP_HTTP_START || request->target.kind == FP_HTTP_STOP);
    request->is_upload = is_post && !request->is_turn;
    request->is_preflight = strcmp(method, "OPTIONS") == 0;
    /* Before the method is judged: the reply carries CORS headers in any case. */
    admit(request, request->target.key);
    if (!is_post && !request->is_preflight)
        refuse(request, FP_REFUSAL_METHOD, "uploads are sent with POST");
    if (request->has_problem || request->is_preflight)
        return;
    check_length(request);
    if (request->has_problem)
        return;
    if (request->is_turn) {
        spend_announced(request);
        return;
    }
    request->may_keep = may_be_kept(request);
    fp_body_buf_init(&request->body, request->http->ingest, request->rules, request->site);
    check_type(request);
    if (!request->has_problem && request->target.kind == FP_HTTP_PART)
        admit_part(request);
    else if (!request->has_problem)
        read_key(request);
    if (!request->has_problem)
        spend_announced(request);
}

static void move(const struct request *request, enum fp_connection_state state)
{
    fp_connections_move(request->http->connections, request->watched, state);
}

static struct request *begin(struct fp_http *http, struct MHD_Connection *connection)
{
    struct fp_connection *watched =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct request *request = watched != NULL ? calloc(1, sizeof(*request)) : NULL;
    if (request == NULL)
        return NULL;
    request->http = http;
    request->connection = connection;
    request->watched = watched;
    request->rules = fp_ingest_rules(http->ingest);
    request->announced_len = announced_len(request);
    atomic_fetch_add(&http->in_flight, 1);
    move(request, FP_CONNECTION_RECEIVING);
    return request;
}

void fp_request_completed(void *cls, struct MHD_Connection *connection, void **request_cls,
                          enum MHD_RequestTerminationCode why)
{
    (void)connection;
    struct fp_http *http = cls;
    struct request *request = *request_cls;
    if (request == NULL)
        return;
    if (request->has_started && why != MHD_REQUEST_TERMINATED_COMPLETED_OK) {
        const struct fp_long_session session = long_session(request);
        fp_long_session_abandon(&session, &request->started);
    }
    fp_body_buf_release(&request->body);
    if (request->spent_len > request->received_len)
        fp_ingest_refund(request->site, &(struct fp_budget_cost){
                                            .of = {[FP_BUDGET_BYTES] = request->spent_len -
                                                                       request->received_len}});
    fp_rules_unref(request->rules);
    move(request, FP_CONNECTION_WAITING);
    free(request);
    *request_cls = NULL;
    atomic_fetch_sub(&http->in_flight, 1);
}

/* ---- the reply ---- */

/* Once per request: what became of it. */
static void count_outcome(const struct request *request)
{
    const struct fp_http *http = request->http;
    if (request->has_problem) {
        fp_ingest_count_refused(http->ingest, request->site, &request->problem);
    } else if (request->is_upload) {
        fp_ingest_count_accepted(request->site, request->ticket.upload_count);
        fp_metrics_observe_us(http->metrics, FP_METRIC_ACK_SECONDS,
                              fp_clock_monotonic_us() - request->received_us);
    }
}

static enum MHD_Result reply(struct request *request)
{
    if (!request->is_committing)
        count_outcome(request);
    const struct fp_reply reply = {
        .problem = request->has_problem ? &request->problem : NULL,
        .origin = request->origin,
        .started = request->has_started ? &request->started : NULL,
        .preflight = request->is_preflight,
        .close = atomic_load(&request->http->stopping),
    };
    return fp_reply_send(request->connection, request->http->metrics, &reply);
}

/* A client that waits for 100 Continue, or has more to send than is worth reading, is told now;
 * MHD closes the connection behind such a reply. */
static bool replies_early(const struct request *request)
{
    const char *expect = header(request, "Expect");
    return request->has_problem && ((expect != NULL && strcasecmp(expect, "100-continue") == 0) ||
                                    request->announced_len > DISCARD_MAX);
}

/* ---- the body ---- */

/* Charges what came in chunks, which nobody announced. When it is too much, nothing is charged. */
static void spend_received(struct request *request)
{
    uint64_t paid = request->spent_len;
    if (request->received_len <= paid ||
        spend(request,
              &(struct fp_budget_cost){.of = {[FP_BUDGET_BYTES] = request->received_len - paid},
                                       .paid = {[FP_BUDGET_BYTES] = paid}}))
        return;
    fp_ingest_refund(
        request->site,
        &(struct fp_budget_cost){.of = {[FP_BUDGET_REQUESTS] = 1, [FP_BUDGET_BYTES] = paid}});
    request->spent_len = 0;
}

static void append(struct request *request, const char *bytes, size_t len)
{
    enum fp_body_result result =
        fp_body_buf_add(&request->body, (struct fp_str){bytes, len}, request->announced_len);
    if (result == FP_BODY_FINE)
        return;
    request->may_keep = false;
    if (request->has_problem)
        return;
    if (result == FP_BODY_LARGE) {
        refuse_large(request);
    } else {
        fp_problem_defer(&request->problem, FP_REFUSAL_MEMORY, FP_RETRY_BUSY_S,
                         "there is no memory to receive the body just now");
        request->has_problem = true;
    }
}

/*
 * Whether the client closed the connection with its body half sent. MHD takes what comes together
 * with the end of the stream, and does not look for that end again before the timeout. (Of a body
 * in chunks the rest may be in MHD's buffer; there the timeout has to do.)
 */
static bool is_abandoned(const struct request *request)
{
    if (request->announced_len <= request->received_len)
        return false;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char byte;
    return info != NULL && recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static enum MHD_Result receive(struct request *request, const char *bytes, size_t len)
{
    fp_metrics_add(request->http->metrics, FP_METRIC_BODY_BYTES, len);
    request->received_len += len;
    if (request->is_upload && !request->has_problem)
        spend_received(request);
    if (request->is_upload && (!request->has_problem || request->may_keep))
        append(request, bytes, len);
    if (request->has_problem && !request->may_keep)
        fp_body_buf_release(&request->body);
    return request->received_len <= DISCARD_MAX + request->rules->max_body && !is_abandoned(request)
               ? MHD_YES
               : MHD_NO;
}

/* ---- the upload ---- */

/*
 * On the committer's thread. The upload is counted here, as it may be durable though its client has
 * gone. The connection's thread goes on from here: nothing may follow.
 */
static void resume(void *context)
{
    struct request *request = context;
    request->has_problem = !fp_ingest_outcome(&request->ticket, &request->problem);
    count_outcome(request);
    MHD_resume_connection(request->connection);
}

static struct fp_upload describe(const struct request *request)
{
    const char *format =
        MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, "format");
    return (struct fp_upload){
        .rules = request->rules,
        .site = request->site,
        .body = {(const char *)request->body.bytes.data, request->body.bytes.len},
        .encoding = header_or_empty(request, "Content-Encoding"),
        .boundary = request->boundary,
        .format = format != NULL ? fp_str_of(format) : FP_STR(""),
        .key = request->has_key ? &request->key : NULL,
        .token = header_or_empty(request, "Fleetprof-Token"),
        .part = request->target.kind == FP_HTTP_PART ? &request->part : NULL,
        .referer = header_or_empty(request, "Referer"),
        .user_agent = header_or_empty(request, "User-Agent"),
        .origin = request->origin != NULL ? *request->origin : FP_STR(""),
        .content_type = header_or_empty(request, "Content-Type"),
    };
}

static void keep_refused(struct request *request, const struct fp_upload *upload)
{
    struct fp_ingest *ingest = request->http->ingest;
    struct fp_buf body = fp_body_buf_take(&request->body);
    fp_ingest_keep_refused(ingest, upload, &request->problem, &body);
}

static enum MHD_Result submit(struct request *request)
{
    struct fp_ingest *ingest = request->http->ingest;
    const struct fp_upload upload = describe(request);
    request->received_us = fp_clock_monotonic_us();
    request->has_problem = !fp_ingest_prepare(ingest, &upload, &request->ticket, &request->problem);
    if (request->has_problem && request->may_keep)
        keep_refused(request, &upload);
    fp_body_buf_release(&request->body);
    if (request->has_problem)
        return reply(request);

    /* Suspended first: resume may be called before fp_ingest_commit is back. */
    request->is_committing = true;
    request->ticket.done = resume;
    request->ticket.context = request;
    MHD_suspend_connection(request->connection);
    fp_ingest_commit(&request->ticket);
    return MHD_YES;
}

static enum MHD_Result finish(struct request *request)
{
    move(request, FP_CONNECTION_ANSWERED);
    if (request->is_turn && !request->has_problem) {
        const struct fp_long_session session = long_session(request);
        request->has_problem =
            !fp_long_session_turn(&session, &request->started, &request->problem);
        request->has_started = request->target.kind == FP_HTTP_START && !request->has_problem;
    }
    bool is_new = request->is_upload && !request->is_committing;
    if (is_new && !request->has_problem)
        return submit(request);
    if (is_new && request->may_keep) {
        const struct fp_upload upload = describe(request);
        keep_refused(request, &upload);
    }
    return reply(request);
}

// NOLINTNEXTLINE(readability-function-size): the parameters are MHD's
enum MHD_Result fp_request_handle(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload_data,
                                  size_t *upload_data_size, void **request_cls)
{
    (void)version;
    struct request *request = *request_cls;
    if (request == NULL) {
        request = begin(cls, connection);
        if (request == NULL)
            return MHD_NO;
        *request_cls = request;
        route(request, url, method);
        return replies_early(request) ? reply(request) : MHD_YES;
    }
    if (*upload_data_size > 0) {
        size_t len = *upload_data_size;
        *upload_data_size = 0;
        return receive(request, upload_data, len);
    }
    return finish(request);
}
