/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request: routes, receives and answers one request.
 *
 * MHD calls fp_request_handle several times: when the headers are there, for each piece of the
 * body, when the body is complete, and once more after a suspended connection was resumed. All
 * calls for one connection come from one thread. While it is suspended, the upload's turn comes to
 * be decoded, on another thread; then the spool's committer records the outcome. Whoever has the
 * outcome counts the upload and, as its last act, resumes the connection.
 *
 * A request refused on its headers is still read to its end, up to a bound: most clients lose a
 * reply that is sent into a half-read body, and lose the connection too.
 *
 * A step returns false after it has refused the request. The state says what happens to the body.
 */
#include "collector/http/request.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/base/words.h"
#include "collector/http/body.h"
#include "collector/http/client.h"
#include "collector/http/content_type.h"
#include "collector/http/long_session.h"
#include "collector/http/reply.h"
#include "collector/http/strict.h"
#include "collector/ingest/charge.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    DISCARD_MAX = 32 * 1024 * 1024, /* bytes past limits.max_body that are still read */
};

/* The kind of a request. */
enum request_kind {
    REQUEST_UNKNOWN, /* no such path, or a method that the path does not have */
    REQUEST_PREFLIGHT,
    REQUEST_UPLOAD,
    REQUEST_PART,  /* of a long session */
    REQUEST_START, /* of a long session */
    REQUEST_STOP,
};

enum request_state {
    STATE_RECEIVING,       /* no error so far; an upload's body is collected */
    STATE_KEEPING_REFUSED, /* refused; the body is collected, to be kept as a dead letter */
    STATE_DISCARDING,      /* refused; the rest of the body is dropped */
    STATE_SUSPENDED,       /* until it is decoded, and the spool has stored or refused the record */
    STATE_ACCEPTED,        /* counted as accepted; only the reply is left */
    STATE_REFUSED,         /* counted as refused; only the reply is left */
    STATE_COUNT
};

struct http_request {
    struct fp_http *http;
    struct MHD_Connection *connection;
    struct fp_http_connection *watched; /* the same */
    struct fp_rules *rules;             /* a reference; contains site and origin */
    const struct fp_site *site;
    const struct fp_str *origin;
    enum request_kind kind;
    enum request_state state;
    bool is_malformed; /* as HTTP: gets its reply before the body is read */
    bool is_last;      /* its connection ends with the reply */
    bool is_dry_run;   /* `?dry_run`: answer as always, without any lasting effect */
    bool is_keepable;  /* set from the headers: keep as a dead letter if refused for its content */
    struct fp_http_target target;
    struct fp_uuid id;          /* from `Idempotency-Key`, or a part's */
    const struct fp_uuid *key;  /* &id; NULL: the upload's own id, or a random one */
    struct fp_upload_part part; /* of REQUEST_PART */
    uint8_t address[FP_CLIENT_ADDRESS_LEN];
    struct fp_uuid started;  /* the session of an accepted REQUEST_START */
    struct fp_str boundary;  /* in MHD's memory of the headers */
    uint64_t announced_len;  /* Content-Length, 0 if absent */
    uint64_t spent_len;      /* charged to the site's budget */
    struct fp_body_buf body; /* empty until the request is admitted */
    uint64_t received_len;
    int64_t received_us; /* monotonic: when the body was complete */
    struct fp_upload upload;
    struct fp_turn turn;
    struct fp_ticket ticket;
    struct fp_problem problem; /* of a refused request */
};

static bool is_upload(const struct http_request *request)
{
    return request->kind == REQUEST_UPLOAD || request->kind == REQUEST_PART;
}

static bool is_refused(const struct http_request *request)
{
    return request->state == STATE_KEEPING_REFUSED || request->state == STATE_DISCARDING;
}

/* ---- headers ---- */

static const char *header(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static struct fp_str header_or_empty(const struct http_request *request, const char *name)
{
    const char *value = header(request, name);
    return value != NULL ? fp_str_of(value) : FP_STR("");
}

/* The moves that a request may make, from row to column. It is settled once. */
static const bool is_legal_move[STATE_COUNT][STATE_COUNT] = {
    [STATE_RECEIVING] = {false, true, true, true, true, true},
    [STATE_KEEPING_REFUSED] = {[STATE_DISCARDING] = true, [STATE_REFUSED] = true},
    [STATE_DISCARDING] = {[STATE_DISCARDING] = true, [STATE_REFUSED] = true},
    [STATE_SUSPENDED] = {[STATE_ACCEPTED] = true, [STATE_REFUSED] = true},
};

static void enter(struct http_request *request, enum request_state state)
{
    FP_ASSERT(is_legal_move[request->state][state]);
    request->state = state;
}

/* Refuses a request whose problem is already set, and drops its body. Returns false. */
static bool discard(struct http_request *request)
{
    enter(request, STATE_DISCARDING);
    return false;
}

/* Refuses a request; its body may still become a dead letter. Returns false. */
static bool refuse(struct http_request *request, enum fp_refusal reason, const char *detail)
{
    fp_problem_refuse(&request->problem, reason, "%s", detail);
    enter(request, request->is_keepable ? STATE_KEEPING_REFUSED : STATE_DISCARDING);
    return false;
}

/* True if the query has `dry_run`. Sets *value to its value, NULL if it has none. */
static bool has_dry_run(struct MHD_Connection *connection, const char **value)
{
    *value = NULL;
    return MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "dry_run",
                                         sizeof("dry_run") - 1, value, NULL) != MHD_NO;
}

static bool admit(struct http_request *request, struct fp_str key)
{
    const char *origin = header(request, "Origin");
    const char *gpc = header(request, "Sec-GPC");
    const struct fp_admission admission = {
        .key = key,
        .has_origin = origin != NULL,
        .origin = origin != NULL ? fp_str_of(origin) : FP_STR(""),
        .gpc = gpc != NULL && strcmp(gpc, "1") == 0,
    };
    return fp_ingest_admit(request->rules, &admission, &request->site, &request->origin,
                           &request->problem) ||
           discard(request);
}

static bool check_type(struct http_request *request)
{
    switch (fp_content_type_read(header_or_empty(request, "Content-Type"), &request->boundary)) {
    case FP_CONTENT_PLAIN:
    case FP_CONTENT_MULTIPART:
        return true;
    case FP_CONTENT_MULTIPART_BROKEN:
        return refuse(request, FP_REFUSAL_HEADER,
                      "a Content-Type of multipart/form-data needs a valid boundary");
    case FP_CONTENT_UNSUPPORTED:
        break;
    }
    return refuse(request, FP_REFUSAL_TYPE,
                  "this Content-Type is not supported; send application/json, text/plain, "
                  "application/octet-stream, application/x-ndjson, application/reports+json, "
                  "multipart/form-data or none");
}

/* Parses `Idempotency-Key`: a UUID, with or without the quotes of a structured field's string. */
static bool read_key(struct http_request *request)
{
    const char *text = header(request, "Idempotency-Key");
    if (text == NULL)
        return true;
    struct fp_str key = fp_str_of(text);
    if (key.len >= 2 && key.ptr[0] == '"' && key.ptr[key.len - 1] == '"')
        key = (struct fp_str){key.ptr + 1, key.len - 2};
    if (!fp_uuid_parse(key, &request->id))
        return refuse(request, FP_REFUSAL_HEADER,
                      "the header Idempotency-Key must be a UUID, such as "
                      "f81d4fae-7dec-41d0-a765-00a0c91e6bf6");
    request->key = &request->id;
    return true;
}

static bool refuse_large(struct http_request *request)
{
    fp_problem_refuse(&request->problem, FP_REFUSAL_SIZE,
                      "the body is larger than %zu bytes (limits.max_body)",
                      request->rules->max_body);
    return discard(request);
}

/* Returns the Content-Length. MHD has already refused an invalid number. */
static uint64_t announced_len(const struct http_request *request)
{
    const char *length = header(request, "Content-Length");
    return length != NULL ? strtoull(length, NULL, 10) : 0;
}

static bool check_length(struct http_request *request)
{
    bool has_length =
        header(request, "Content-Length") != NULL || header(request, "Transfer-Encoding") != NULL;
    /* Start and stop take no body, and many clients then send no length header. */
    if (is_upload(request) && !has_length)
        return refuse(request, FP_REFUSAL_LENGTH, "send a Content-Length, or the body in chunks");
    return request->announced_len <= request->rules->max_body || refuse_large(request);
}

/* Charges the site's budget. */
static bool spend(struct http_request *request, const struct fp_budget_cost *cost)
{
    if (!fp_ingest_spend(request->site, cost, &request->problem))
        return discard(request);
    request->spent_len += cost->of[FP_BUDGET_BYTES];
    return true;
}

/* Charges the announced length in advance, so that a body over budget is not even received. */
static bool spend_announced(struct http_request *request)
{
    const struct fp_budget_cost cost = {
        .of = {[FP_BUDGET_REQUESTS] = 1, [FP_BUDGET_BYTES] = request->announced_len},
        .is_dry_run = request->is_dry_run};
    return spend(request, &cost);
}

/* True if a refused body may become a dead letter. Not for clients that opt out (Sec-GPC), nor for
 * a replayed dead letter or a dry run. */
static bool may_be_kept(const struct http_request *request)
{
    return !request->is_dry_run && fp_ingest_keeps_refused(request->http->ingest) &&
           header(request, "Sec-GPC") == NULL && header(request, "Fleetprof-Replay") == NULL;
}

static struct fp_long_session long_session(const struct http_request *request)
{
    return (struct fp_long_session){request->http->captures, request->connection, request->site,
                                    &request->target};
}

static bool admit_part(struct http_request *request)
{
    const struct fp_long_session session = long_session(request);
    request->is_keepable = false; /* refusals in this function keep nothing */
    if (!fp_long_session_admit_part(&session, &request->part.number, &request->problem))
        return discard(request);
    if (request->boundary.len > 0)
        return refuse(request, FP_REFUSAL_TYPE,
                      "a part of a session is one upload, not multipart/form-data");
    request->is_keepable = may_be_kept(request);
    request->part.session = request->target.session;
    request->part.captures = request->http->captures;
    request->id = fp_uuid_of_part(&request->part.session, request->part.number);
    request->key = &request->id;
    return true;
}

static enum request_kind kind_of(enum fp_http_target_kind target, const char *method)
{
    static const enum request_kind posted[] = {
        [FP_HTTP_NOTHING] = REQUEST_UNKNOWN, [FP_HTTP_UPLOAD] = REQUEST_UPLOAD,
        [FP_HTTP_PART] = REQUEST_PART,       [FP_HTTP_START] = REQUEST_START,
        [FP_HTTP_STOP] = REQUEST_STOP,       [FP_HTTP_REPORTS] = REQUEST_UPLOAD,
    };
    if (strcmp(method, "POST") == 0)
        return posted[target];
    return strcmp(method, "OPTIONS") == 0 ? REQUEST_PREFLIGHT : REQUEST_UNKNOWN;
}

/* Admits the site and the origin, and checks the method. */
static bool admit_request(struct http_request *request, const char *path, const char *method)
{
    request->target = fp_http_target_of(path);
    if (request->target.kind == FP_HTTP_NOTHING)
        return refuse(request, FP_REFUSAL_PATH,
                      "no such path; post uploads to /v1/ingest/KEY, parts of a long session to "
                      "/v1/ingest/KEY/sessions/ID, and reports to /v1/reports/KEY; a proxy must "
                      "pass the whole path (nginx: "
                      "proxy_pass without a path of its own)");
    request->kind = kind_of(request->target.kind, method);
    /* Before the method is checked, because every reply carries CORS headers. */
    bool is_admitted = admit(request, request->target.key);
    if (request->kind == REQUEST_UNKNOWN)
        return refuse(request, FP_REFUSAL_METHOD, "uploads are sent with POST");
    return is_admitted;
}

/* Admits an upload or part, and prepares to receive its body. */
static bool admit_upload(struct http_request *request)
{
    request->is_keepable = may_be_kept(request);
    fp_body_buf_init(&request->body, request->http->ingest, request->rules, request->site);
    return check_type(request) &&
           (request->kind == REQUEST_PART ? admit_part(request) : read_key(request)) &&
           spend_announced(request);
}

/* Refuses a dry run of what changes a long session, and one with a value but 1: `?dry_run=0` might
 * be meant as an upload. */
static bool check_dry_run(struct http_request *request)
{
    const char *value;
    if (!has_dry_run(request->connection, &value))
        return true;
    if (request->kind != REQUEST_UPLOAD)
        return refuse(request, FP_REFUSAL_SESSION,
                      "?dry_run is for uploads to /v1/ingest/KEY; long sessions have none");
    return value == NULL || value[0] == '\0' || strcmp(value, "1") == 0 ||
           refuse(request, FP_REFUSAL_HEADER, "?dry_run takes no value but 1");
}

/* Refuses a request that another HTTP server could read in another way. */
static bool check_framing(struct http_request *request, const char *method, const char *version)
{
    const char *trouble = fp_strict_trouble(request->connection, method, version);
    request->is_malformed = trouble != NULL;
    request->is_last = request->is_malformed || fp_strict_is_chunked(request->connection);
    return trouble == NULL || refuse(request, FP_REFUSAL_MALFORMED, trouble);
}

/* Decides from the headers alone how to handle the request. */
static void route(struct http_request *request, const char *path, const char *method)
{
    if (!admit_request(request, path, method) || request->kind == REQUEST_PREFLIGHT ||
        !check_dry_run(request) || !check_length(request))
        return;
    (void)(is_upload(request) ? admit_upload(request) : spend_announced(request));
}

static void move(const struct http_request *request, enum fp_connection_state state)
{
    fp_connections_move(request->http->connections, request->watched, state);
}

static struct http_request *begin(struct fp_http *http, struct MHD_Connection *connection)
{
    struct fp_http_connection *watched =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct http_request *request = watched != NULL ? calloc(1, sizeof(*request)) : NULL;
    if (request == NULL)
        return NULL;
    request->http = http;
    request->connection = connection;
    request->watched = watched;
    request->rules = fp_ingest_rules(http->ingest);
    request->announced_len = announced_len(request);
    request->is_dry_run = has_dry_run(connection, &(const char *){NULL});
    atomic_fetch_add(&http->in_flight, 1);
    move(request, FP_CONNECTION_RECEIVING);
    return request;
}

void fp_request_completed(void *cls, struct MHD_Connection *connection, void **request_cls,
                          enum MHD_RequestTerminationCode why)
{
    (void)connection;
    struct fp_http *http = cls;
    struct http_request *request = *request_cls;
    if (request == NULL)
        return;
    FP_ASSERT(request->state != STATE_SUSPENDED); /* else another thread still uses it */
    if (request->kind == REQUEST_START && request->state == STATE_ACCEPTED &&
        why != MHD_REQUEST_TERMINATED_COMPLETED_OK) {
        const struct fp_long_session session = long_session(request);
        fp_long_session_abandon(&session, &request->started);
    }
    fp_body_buf_release(&request->body);
    if (request->spent_len > request->received_len)
        fp_ingest_refund(request->site,
                         &(struct fp_budget_cost){
                             .of = {[FP_BUDGET_BYTES] = request->spent_len - request->received_len},
                             .is_dry_run = request->is_dry_run});
    fp_rules_unref(request->rules);
    move(request, FP_CONNECTION_WAITING);
    free(request);
    *request_cls = NULL;
    const size_t before = atomic_fetch_sub(&http->in_flight, 1);
    FP_ASSERT(before > 0);
}

/* ---- the reply ---- */

static void count_accepted(const struct http_request *request)
{
    fp_ingest_count_accepted(request->site, &request->ticket);
    fp_metrics_observe_us(request->http->metrics, FP_METRIC_ACK_SECONDS,
                          fp_clock_monotonic_us() - request->received_us);
}

/* Settles a request as accepted or refused, and counts it. Called once per request. */
static void settle(struct http_request *request, bool is_accepted)
{
    enter(request, is_accepted ? STATE_ACCEPTED : STATE_REFUSED);
    if (request->is_dry_run && request->kind != REQUEST_PREFLIGHT)
        fp_ingest_count_dry_run(request->http->ingest, is_accepted);
    else if (!is_accepted)
        fp_ingest_count_refused(request->http->ingest, request->site, &request->problem);
    else if (is_upload(request))
        count_accepted(request);
}

static enum MHD_Result reply(const struct http_request *request)
{
    const bool is_accepted = request->state == STATE_ACCEPTED;
    FP_ASSERT(is_accepted || request->state == STATE_REFUSED);
    const struct fp_reply reply = {
        .problem = is_accepted ? NULL : &request->problem,
        .origin = request->origin,
        .started = is_accepted && request->kind == REQUEST_START ? &request->started : NULL,
        .refused = is_accepted && is_upload(request) ? request->ticket.refused.count : 0,
        .not_kept = is_accepted && is_upload(request) ? request->ticket.not_kept.sessions : 0,
        .preflight = request->kind == REQUEST_PREFLIGHT,
        .requested_headers = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                         "Access-Control-Request-Headers"),
        .dry_run = request->is_dry_run,
        .token_trouble = request->ticket.token_trouble,
        .close = request->is_last || atomic_load(&request->http->stopping),
    };
    return fp_reply_send(request->connection, request->http->metrics, &reply);
}

static enum MHD_Result settle_and_reply(struct http_request *request, bool is_accepted)
{
    settle(request, is_accepted);
    return reply(request);
}

/* True if a refused client waits for 100 Continue, or has more left to send than is worth reading,
 * or if nobody can say what it sends. It gets its reply now; MHD closes the connection after such a
 * reply. */
static bool replies_early(const struct http_request *request)
{
    const char *expect = header(request, "Expect");
    return is_refused(request) &&
           (request->is_malformed || (expect != NULL && strcasecmp(expect, "100-continue") == 0) ||
            request->announced_len > DISCARD_MAX);
}

/* ---- the body ---- */

/* Charges bytes that arrived in chunks, without a Content-Length. If they are over budget, refunds
 * everything. */
static void spend_received(struct http_request *request)
{
    uint64_t paid = request->spent_len;
    if (request->received_len <= paid ||
        spend(request,
              &(struct fp_budget_cost){.of = {[FP_BUDGET_BYTES] = request->received_len - paid},
                                       .paid = {[FP_BUDGET_BYTES] = paid},
                                       .is_dry_run = request->is_dry_run}))
        return;
    fp_ingest_refund(request->site, &(struct fp_budget_cost){
                                        .of = {[FP_BUDGET_REQUESTS] = 1, [FP_BUDGET_BYTES] = paid},
                                        .is_dry_run = request->is_dry_run});
    request->spent_len = 0;
}

static void append(struct http_request *request, const char *bytes, size_t len)
{
    const bool was_refused = is_refused(request);
    enum fp_body_result result =
        fp_body_buf_add(&request->body, (struct fp_str){bytes, len}, request->announced_len);
    if (result == FP_BODY_FINE)
        return;
    (void)discard(request);
    if (was_refused)
        return;
    if (result == FP_BODY_LARGE)
        (void)refuse_large(request);
    else
        fp_problem_defer(&request->problem, FP_REFUSAL_MEMORY, FP_RETRY_BUSY_S,
                         "there is not enough memory to receive the body now");
}

/*
 * True if the client closed the connection with its body half sent. MHD reads the last bytes
 * together with the end of the stream, and does not notice that end before the timeout. (The rest
 * of a chunked body may be in MHD's buffer; only the timeout ends that.)
 */
static bool is_abandoned(const struct http_request *request)
{
    if (request->announced_len <= request->received_len)
        return false;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char byte;
    return info != NULL && recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static enum MHD_Result receive(struct http_request *request, const char *bytes, size_t len)
{
    fp_metrics_add(request->http->metrics, FP_METRIC_BODY_BYTES, len);
    request->received_len += len;
    if (is_upload(request) && request->state == STATE_RECEIVING)
        spend_received(request);
    if (is_upload(request) && request->state != STATE_DISCARDING)
        append(request, bytes, len);
    if (request->state == STATE_DISCARDING)
        fp_body_buf_release(&request->body);
    return request->received_len <= DISCARD_MAX + request->rules->max_body && !is_abandoned(request)
               ? MHD_YES
               : MHD_NO;
}

/* ---- the upload ---- */

/*
 * Settles and resumes a suspended request, on the thread that has its outcome. Counts the upload,
 * which may be durable although its client has gone. After the resume the request belongs to the
 * connection's thread again, so nothing may follow.
 */
static void resume(struct http_request *request, bool is_accepted)
{
    FP_ASSERT(request->state == STATE_SUSPENDED);
    settle(request, is_accepted);
    MHD_resume_connection(request->connection);
}

/* Continues a committed request, on the committer's thread. */
static void conclude(void *context)
{
    struct http_request *request = context;
    resume(request, fp_ingest_outcome(&request->ticket, &request->problem));
}

/* Returns the address of the browser; empty for other clients, which name no origin. */
static struct fp_str address_of(struct http_request *request)
{
    return request->origin != NULL
               ? fp_client_address(request->connection, request->http->proxies, request->address)
               : FP_STR("");
}

/* Returns the name of the upload's format: the path may say it, or the query. "": neither does. */
static struct fp_str format_of(const struct http_request *request)
{
    if (request->target.kind == FP_HTTP_REPORTS)
        return fp_str_of(fp_upload_format_name(FP_UPLOAD_REPORTS));
    const char *format =
        MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, "format");
    return format != NULL ? fp_str_of(format) : FP_STR("");
}

static struct fp_upload describe(struct http_request *request)
{
    return (struct fp_upload){
        .rules = request->rules,
        .site = request->site,
        .body = {(const char *)request->body.bytes.data, request->body.bytes.len},
        .encoding = header_or_empty(request, "Content-Encoding"),
        .boundary = request->boundary,
        .format = format_of(request),
        .key = request->key,
        .token = header_or_empty(request, "Fleetprof-Token"),
        .part = request->kind == REQUEST_PART ? &request->part : NULL,
        .referer = header_or_empty(request, "Referer"),
        .user_agent = header_or_empty(request, "User-Agent"),
        .address = address_of(request),
        .origin = request->origin != NULL ? *request->origin : FP_STR(""),
        .content_type = header_or_empty(request, "Content-Type"),
        .is_dry_run = request->is_dry_run,
    };
}

/* Keeps a refused body as a dead letter. */
static void keep_refused(struct http_request *request, const struct fp_upload *upload)
{
    struct fp_buf body = fp_body_buf_take(&request->body);
    fp_ingest_keep_refused(request->http->ingest, upload, &request->problem, &body);
}

/* Prepares an upload whose turn has come. */
static bool prepare(struct http_request *request, bool is_granted)
{
    if (is_granted) {
        const int64_t begun_us = fp_clock_thread_us();
        const bool is_prepared = fp_ingest_prepare(request->http->ingest, &request->upload,
                                                   &request->ticket, &request->problem);
        fp_ingest_count_decoding(request->site, fp_clock_thread_us() - begun_us);
        return is_prepared;
    }
    fp_problem_refuse(&request->problem, FP_REFUSAL_BUDGET_DECODING,
                      "the site sends more than its share of the collector can decode "
                      "(http.threads); retry");
    request->problem.retry_s = FP_RETRY_BUSY_S;
    return false;
}

/* Decodes an upload, on a thread of the turns, and hands its record to the spool. */
static void decode(void *context, bool is_granted)
{
    struct http_request *request = context;
    const bool is_prepared = prepare(request, is_granted);
    if (!is_prepared && request->is_keepable)
        keep_refused(request, &request->upload);
    fp_body_buf_release(&request->body);
    if (!is_prepared || request->is_dry_run) {
        resume(request, is_prepared && fp_ingest_end_dry_run(&request->ticket, &request->problem));
        return;
    }
    request->ticket.done = conclude;
    request->ticket.context = request;
    fp_ingest_commit(&request->ticket);
}

/* Suspends the connection until the upload has its outcome. */
static enum MHD_Result submit(struct http_request *request)
{
    const size_t most = fp_rules_waiting_share(request->rules, request->http->waiting_max);
    request->upload = describe(request);
    request->received_us = fp_clock_monotonic_us();
    request->turn =
        (struct fp_turn){.run = decode, .context = request, .lane = request->site->lane};
    enter(request, STATE_SUSPENDED);
    MHD_suspend_connection(request->connection); /* first: the outcome may be there at once */
    fp_turns_add(request->http->turns, &request->turn, most);
    return MHD_YES;
}

/* Starts or stops a long session. */
static enum MHD_Result turn(struct http_request *request)
{
    const struct fp_long_session session = long_session(request);
    return settle_and_reply(request,
                            fp_long_session_turn(&session, &request->started, &request->problem));
}

/* Answers a complete request without errors so far. */
static enum MHD_Result answer(struct http_request *request)
{
    switch (request->kind) {
    case REQUEST_UPLOAD:
    case REQUEST_PART:
        return submit(request);
    case REQUEST_START:
    case REQUEST_STOP:
        return turn(request);
    case REQUEST_PREFLIGHT:
    case REQUEST_UNKNOWN:
        break;
    }
    return settle_and_reply(request, true);
}

/* Continues a complete or resumed request. */
static enum MHD_Result finish(struct http_request *request)
{
    FP_ASSERT(request->state != STATE_SUSPENDED);
    move(request, FP_CONNECTION_ANSWERED);
    if (request->state == STATE_RECEIVING)
        return answer(request);
    if (request->state == STATE_KEEPING_REFUSED) {
        const struct fp_upload upload = describe(request);
        keep_refused(request, &upload);
    }
    return is_refused(request) ? settle_and_reply(request, false) : reply(request);
}

// NOLINTNEXTLINE(readability-function-size): the parameters are MHD's
enum MHD_Result fp_request_handle(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload_data,
                                  size_t *upload_data_size, void **request_cls)
{
    struct http_request *request = *request_cls;
    if (request == NULL) {
        request = begin(cls, connection);
        if (request == NULL)
            return MHD_NO;
        *request_cls = request;
        if (check_framing(request, method, version))
            route(request, url, method);
        return replies_early(request) ? settle_and_reply(request, false) : MHD_YES;
    }
    if (*upload_data_size > 0) {
        size_t len = *upload_data_size;
        *upload_data_size = 0;
        return receive(request, upload_data, len);
    }
    return finish(request);
}
