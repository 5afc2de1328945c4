/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dry run: writes the envelope with yyjson, and reads the collector's problems with it.
 */
#include "cli/doctor/dry_run.h"

#include "cli/doctor/web_address.h"
#include "cli/kit/memory.h"

#include <stdlib.h>
#include <strings.h>
#include <yyjson.h>

enum { REPLY_MAX = 64 * 1024 };

char *fp_dry_run_envelope(const char *page_url, struct fp_str token, size_t *len)
{
    static const char trace[] =
        "{\"resources\":[],\"frames\":[{\"name\":\"doctor\"}],\"stacks\":[{\"frameId\":0}],"
        "\"samples\":[{\"timestamp\":0,\"stackId\":0},{\"timestamp\":10,\"stackId\":0}]}";
    yyjson_mut_doc *doc = fp_memory_need(yyjson_mut_doc_new(NULL));
    yyjson_mut_val *root = fp_memory_need(yyjson_mut_obj(doc));
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_val *page = fp_memory_need(yyjson_mut_obj(doc));
    bool fine =
        yyjson_mut_obj_add_int(doc, root, "version", 1) &&
        yyjson_mut_obj_add_val(doc, root, "page", page) &&
        yyjson_mut_obj_add_str(doc, page, "url", page_url) &&
        yyjson_mut_obj_add_int(doc, root, "sampleInterval", 10) &&
        yyjson_mut_obj_add_val(doc, root, "trace", yyjson_mut_raw(doc, trace)) &&
        (token.len == 0 || yyjson_mut_obj_add_strn(doc, root, "token", token.ptr, token.len));
    /* A URL is any bytes; what is not UTF-8 must not keep us from asking. */
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, len);
    yyjson_mut_doc_free(doc);
    return fp_memory_need(fine ? text : NULL);
}

void fp_dry_run_post(struct fp_fetcher *fetcher, const struct fp_dry_run *run,
                     struct fp_client_reply *reply)
{
    char *url = fp_web_with(run->url, "dry_run");
    char *origin = run->origin != NULL ? fp_memory_print("Origin: %s", run->origin) : NULL;
    char *token = run->token != NULL ? fp_memory_print("Fleetprof-Token: %s", run->token) : NULL;
    const char *fields[5] = {"Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"};
    size_t count = 2;
    if (origin != NULL)
        fields[count++] = origin;
    if (token != NULL)
        fields[count] = token;
    const struct fp_fetch_request request = {.method = "POST",
                                             .url = url,
                                             .fields = fields,
                                             .body = run->body,
                                             .body_max = REPLY_MAX,
                                             .unix_socket = run->unix_socket,
                                             .is_named = run->is_named};
    fp_fetch(fetcher, &request, reply);
    free(token);
    free(origin);
    free(url);
}

const char *fp_dry_run_result(const struct fp_client_reply *reply)
{
    return fp_client_field(reply, "Fleetprof-Dry-Run");
}

bool fp_dry_run_is_problem(const struct fp_client_reply *reply)
{
    return strncasecmp(fp_client_field(reply, "Content-Type"), "application/problem+json", 24) == 0;
}

void fp_dry_run_describe(const struct fp_client_reply *reply, char *text, size_t size)
{
    yyjson_doc *doc = fp_dry_run_is_problem(reply) && reply->body.len > 0
                          ? yyjson_read((const char *)reply->body.data, reply->body.len, 0)
                          : NULL;
    const char *detail = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "detail"));
    const char *location = fp_client_field(reply, "Location");
    if (detail == NULL)
        detail = reply->status == 0 ? reply->error : location;
    (void)snprintf(text, size, "status %ld%s%s", reply->status, detail[0] != '\0' ? ": " : "",
                   detail);
    yyjson_doc_free(doc);
}
