/*
 * Checks of the endpoint: dry runs, small as the agent's uploads and large as dumps.
 */
#include "cli/doctor/doctor.h"
#include "cli/doctor/web_address.h"
#include "cli/memory.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <strings.h>
#include <yyjson.h>

enum { REPLY_MAX = 64 * 1024 };

/* ---- the upload ---- */

/* Returns a valid envelope with the page's token. The caller frees it. */
static char *make_envelope(const struct fp_doctor *doctor, size_t *len)
{
    static const char trace[] =
        "{\"resources\":[],\"frames\":[{\"name\":\"doctor\"}],\"stacks\":[{\"frameId\":0}],"
        "\"samples\":[{\"timestamp\":0,\"stackId\":0},{\"timestamp\":10,\"stackId\":0}]}";
    yyjson_mut_doc *doc = fp_memory_need(yyjson_mut_doc_new(NULL));
    yyjson_mut_val *root = fp_memory_need(yyjson_mut_obj(doc));
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_val *page = fp_memory_need(yyjson_mut_obj(doc));
    const struct fp_str token = doctor->decision.text;
    bool fine = yyjson_mut_obj_add_int(doc, root, "version", 1) &&
                yyjson_mut_obj_add_val(doc, root, "page", page) &&
                yyjson_mut_obj_add_str(doc, page, "url", doctor->url) &&
                yyjson_mut_obj_add_int(doc, root, "sampleInterval", 10) &&
                yyjson_mut_obj_add_val(doc, root, "trace", yyjson_mut_raw(doc, trace)) &&
                (doctor->decision.state != FP_DECISION_SIGNED ||
                 yyjson_mut_obj_add_strn(doc, root, "token", token.ptr, token.len));
    /* A URL is any bytes; what is not UTF-8 must not keep us from asking. */
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, len);
    yyjson_mut_doc_free(doc);
    return fp_memory_need(fine ? text : NULL);
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

static bool is_problem(const struct fp_fetch_reply *reply)
{
    return strncasecmp(fp_fetch_field(reply, "Content-Type"), "application/problem+json", 24) == 0;
}

/* Writes what a reply says into `text`: its status, and the collector's detail. */
static void describe(const struct fp_fetch_reply *reply, char *text, size_t size)
{
    yyjson_doc *doc = is_problem(reply) && reply->body.len > 0
                          ? yyjson_read((const char *)reply->body.data, reply->body.len, 0)
                          : NULL;
    const char *detail = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "detail"));
    const char *location = fp_fetch_field(reply, "Location");
    if (detail == NULL)
        detail = reply->status == 0 ? reply->error : location;
    (void)snprintf(text, size, "status %ld%s%s", reply->status, detail[0] != '\0' ? ": " : "",
                   detail);
    yyjson_doc_free(doc);
}

/* The collector's reasons, and the findings that they are. */
static const struct {
    const char *reason; /* or the start of some */
    enum fp_finding_id id;
} reasons[] = {
    {"unknown_key", FP_FINDING_KEY_UNKNOWN},
    {"origin", FP_FINDING_ORIGIN_REFUSED},
    {"token_missing", FP_FINDING_TOKEN_MISSING},
    {"token_unchecked", FP_FINDING_COLLECTOR_BUSY},
    {"token_", FP_FINDING_TOKEN_REFUSED},
    {"budget_", FP_FINDING_BUDGET_SPENT},
    {"spool_", FP_FINDING_COLLECTOR_BUSY},
    {"stopping", FP_FINDING_COLLECTOR_BUSY},
    {"memory", FP_FINDING_COLLECTOR_BUSY},
    {"path", FP_FINDING_ENDPOINT_PATH},
    {"size", FP_FINDING_BODY_LIMIT},
    {"inflated_size", FP_FINDING_BODY_LIMIT},
};

static enum fp_finding_id id_of_reason(const char *reason)
{
    for (size_t i = 0; i < FP_COUNT(reasons); i++)
        if (strncmp(reason, reasons[i].reason, strlen(reasons[i].reason)) == 0)
            return reasons[i].id;
    return FP_FINDING_UPLOAD_REFUSED;
}

/* Names the sender of a reply without Fleetprof-Dry-Run by its status. */
static enum fp_finding_id id_of_stranger(const struct fp_fetch_reply *reply, bool is_large)
{
    if (reply->status == 0)
        return is_large ? FP_FINDING_BODY_LIMIT : FP_FINDING_ENDPOINT_UNREACHABLE;
    if (is_problem(reply))
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
static bool judge(struct fp_doctor *doctor, const char *url, const struct fp_fetch_reply *reply,
                  const char *size)
{
    const char *result = fp_fetch_field(reply, "Fleetprof-Dry-Run");
    char seen[400];
    describe(reply, seen, sizeof(seen));
    if (strncmp(result, "accepted", 8) == 0) {
        const char *remark = strstr(result, "token_");
        if (remark != NULL && fp_decision_is_yes(&doctor->decision))
            fp_finding_add(&doctor->findings, id_of_reason(remark), url,
                           "the upload would be accepted without a sample rate (%s)", remark);
        return true;
    }
    enum fp_finding_id id = result[0] != '\0' ? correct(doctor, id_of_reason(result))
                                              : id_of_stranger(reply, size != NULL);
    fp_finding_add(&doctor->findings, id, url, "%s%s%s", size != NULL ? size : "",
                   size != NULL ? ": " : "", seen);
    return false;
}

/* ---- requests ---- */

static void post(struct fp_doctor *doctor, const char *url, struct fp_str body,
                 struct fp_fetch_reply *reply)
{
    char *dry_run = fp_web_with(url, "dry_run");
    char *origin = fp_memory_print("Origin: %s", doctor->origin);
    const char *const fields[] = {origin, "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty", NULL};
    const struct fp_fetch_request request = {
        .method = "POST", .url = dry_run, .fields = fields, .body = body, .body_max = REPLY_MAX};
    fp_fetch(doctor->fetcher, &request, reply);
    free(origin);
    free(dry_run);
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
    struct fp_fetch_reply reply;
    post(doctor, url, (struct fp_str){body, size}, &reply);
    bool accepted = judge(doctor, url, &reply, name);
    fp_fetch_release(&reply);
    free(body);
    free(envelope);
    return accepted;
}

/* The rules for an endpoint on another origin. */
static void check_cors(struct fp_doctor *doctor, const char *url,
                       const struct fp_fetch_reply *posted)
{
    const char *allowed = fp_fetch_field(posted, "Access-Control-Allow-Origin");
    if (strcmp(allowed, doctor->origin) != 0)
        fp_finding_add(&doctor->findings, FP_FINDING_ENDPOINT_CORS, url,
                       "Access-Control-Allow-Origin: %s", allowed);
    char *origin = fp_memory_print("Origin: %s", doctor->origin);
    const char *const fields[] = {origin, "Access-Control-Request-Method: POST",
                                  "Access-Control-Request-Headers: content-type", NULL};
    const struct fp_fetch_request request = {
        .method = "OPTIONS", .url = url, .fields = fields, .body_max = REPLY_MAX};
    struct fp_fetch_reply reply;
    fp_fetch(doctor->fetcher, &request, &reply);
    if (reply.status < 200 || reply.status > 299 ||
        strcmp(fp_fetch_field(&reply, "Access-Control-Allow-Origin"), doctor->origin) != 0)
        fp_finding_add(&doctor->findings, FP_FINDING_PREFLIGHT, url, "OPTIONS: status %ld %s",
                       reply.status, reply.error);
    fp_fetch_release(&reply);
    free(origin);
}

static bool is_mixed(const struct fp_doctor *doctor, const char *url)
{
    return strncmp(doctor->url, "https:", 6) == 0 && strncmp(url, "http:", 5) == 0;
}

static void check(struct fp_doctor *doctor, const char *url)
{
    size_t len, packed_len;
    char *envelope = make_envelope(doctor, &len);
    char *packed = compress(envelope, len, &packed_len);
    struct fp_fetch_reply reply;
    post(doctor, url, (struct fp_str){packed, packed_len}, &reply);
    const bool accepted = judge(doctor, url, &reply, NULL);
    if (accepted && !fp_web_same_origin(url, doctor->url))
        check_cors(doctor, url, &reply);
    fp_fetch_release(&reply);
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
    else
        check(doctor, url);
    free(url);
}
