/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the page's scripts: do they load, and may profiles and timings show them?
 */
#include "cli/doctor/doctor.h"
#include "cli/doctor/web_address.h"
#include "cli/kit/memory.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <strings.h>

enum {
    FETCHED_MAX = 100,
    SCRIPT_MAX = 4 * 1024 * 1024,
    MINIFIED_LINE_MIN = 2000, /* bytes; people write no such lines */
};

/* A script being fetched. */
struct script_fetch {
    struct fp_doctor *doctor;
    const struct fp_page_script *script;
    bool has_left;  /* one of its addresses is on another origin than the page */
    bool is_hidden; /* one of these has no Timing-Allow-Origin for the page */
    struct fp_client_reply reply;
    char *url; /* the last address */
};

static bool uses_cors(const struct fp_page_script *script)
{
    return script->crossorigin != NULL || script->is_module;
}

/* ---- fields ---- */

/* True if a comma list names the origin or "*". */
static bool names_origin(const char *list, const char *origin)
{
    size_t len = strlen(origin);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += strspn(at, ", \t");
        size_t item = strcspn(at, ", \t");
        if ((item == 1 && at[0] == '*') || (item == len && memcmp(at, origin, len) == 0))
            return true;
        if (at[0] == '\0')
            return false;
    }
    return false;
}

static bool allows_timing(const struct fp_client_reply *reply, const char *origin)
{
    char *list = fp_fetch_joined(reply, "Timing-Allow-Origin");
    bool allowed = list != NULL && names_origin(list, origin);
    free(list);
    return allowed;
}

static bool allows_cors(const struct script_fetch *fetch)
{
    const char *allowed = fp_client_field(&fetch->reply, "Access-Control-Allow-Origin");
    const char *mode = fetch->script->crossorigin;
    const bool with_credentials = mode != NULL && strcasecmp(mode, "use-credentials") == 0;
    return strcmp(allowed, fetch->doctor->origin) == 0 ||
           (strcmp(allowed, "*") == 0 && !with_credentials);
}

/* Looks at one address of the chain. */
static void see(struct script_fetch *fetch, const char *url, const struct fp_client_reply *reply)
{
    if (fp_web_same_origin(url, fetch->doctor->url))
        return;
    fetch->has_left = true;
    fetch->is_hidden = fetch->is_hidden || !allows_timing(reply, fetch->doctor->origin);
}

/* Follows any redirect, as browsers do: the page could as well name its target. */
static bool see_hop(void *context, const char *url, const char *target,
                    const struct fp_client_reply *reply)
{
    (void)target;
    see(context, url, reply);
    return true;
}

/* ---- source maps ---- */

static bool is_minified(const struct fp_buf *body)
{
    const char *at = (const char *)body->data, *end = at + body->len;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (line_end == NULL)
            line_end = end;
        if (line_end - at >= MINIFIED_LINE_MIN)
            return true;
        at = line_end + 1;
    }
    return false;
}

/* Returns the address of the script's source map as written; NULL: none. The caller frees it. */
static char *map_of(const struct fp_client_reply *reply)
{
    static const char mark[] = "# sourceMappingURL=";
    const char *field = fp_client_nth(reply, "SourceMap", 0);
    if (field != NULL)
        return fp_memory_copy(field);
    const struct fp_buf *body = &reply->body;
    const char *text = (const char *)body->data, *found = NULL, *next = text;
    while (next != NULL &&
           (next = memmem(next, body->len - (size_t)(next - text), mark, sizeof(mark) - 1)) != NULL)
        found = next += sizeof(mark) - 1;
    if (found == NULL)
        return NULL;
    size_t len = 0, left = body->len - (size_t)(found - text);
    while (len < left && strchr(" \t\r\n*", found[len]) == NULL)
        len++;
    return fp_memory_print("%.*s", (int)len, found);
}

static void check_map(struct script_fetch *fetch)
{
    struct fp_doctor *doctor = fetch->doctor;
    char *map = map_of(&fetch->reply);
    if (map == NULL) {
        if (is_minified(&fetch->reply.body))
            fp_finding_add(&doctor->findings, FP_FINDING_SOURCE_MAP_MISSING, fetch->url,
                           "neither sourceMappingURL nor a SourceMap field");
        return;
    }
    char *url = strncmp(map, "data:", 5) != 0 ? fp_web_resolve(fetch->url, map) : NULL;
    if (url != NULL && fp_doctor_has_time(doctor)) {
        const struct fp_fetch_request request = {.method = "GET", .url = url, .body_max = 1};
        struct fp_client_reply reply;
        fp_fetch(doctor->fetcher, &request, &reply);
        if (reply.status != 200)
            fp_finding_add(&doctor->findings, FP_FINDING_SOURCE_MAP_UNREACHABLE, url,
                           "status %ld %s", reply.status, reply.error);
        fp_client_release(&reply);
    }
    free(url);
    free(map);
}

static void check_workers(struct fp_doctor *doctor, const struct fp_buf *body, const char *url)
{
    static const char *const calls[] = {"new Worker(", "new SharedWorker("};
    for (size_t i = 0; body->len > 0 && i < FP_COUNT(calls); i++)
        if (memmem(body->data, body->len, calls[i], strlen(calls[i])) != NULL)
            fp_finding_add(&doctor->findings, FP_FINDING_WORKER, url, "%s…)", calls[i]);
}

/* ---- the agent ---- */

static bool is_javascript(const struct fp_client_reply *reply)
{
    const char *type = fp_client_field(reply, "Content-Type");
    return strcasestr(type, "javascript") != NULL || strcasestr(type, "ecmascript") != NULL;
}

/* True if one hash of the strongest kind in the attribute is the body's (SRI §3.3.5). */
static bool has_integrity(const struct fp_buf *body, const char *integrity)
{
    static const char *const names[] = {"sha512", "sha384", "sha256"};
    for (size_t i = 0; i < FP_COUNT(names); i++) {
        if (strstr(integrity, names[i]) == NULL)
            continue;
        unsigned char digest[EVP_MAX_MD_SIZE], text[EVP_MAX_MD_SIZE * 2];
        size_t len;
        if (!EVP_Q_digest(NULL, names[i], NULL, body->data, body->len, digest, &len))
            fp_memory_end();
        (void)EVP_EncodeBlock(text, digest, (int)len);
        char *wanted = fp_memory_print("%s-%s", names[i], (const char *)text);
        bool found = strstr(integrity, wanted) != NULL;
        free(wanted);
        return found;
    }
    return true; /* browsers ignore unknown kinds */
}

static void check_agent_file(struct script_fetch *fetch)
{
    struct fp_findings *findings = &fetch->doctor->findings;
    const struct fp_client_reply *reply = &fetch->reply;
    if (reply->status != 200 || !is_javascript(reply))
        fp_finding_add(findings, FP_FINDING_AGENT_NOT_SERVED, fetch->url,
                       "status %ld, Content-Type: %s %s", reply->status,
                       fp_client_field(reply, "Content-Type"), reply->error);
    else if (fetch->script->integrity != NULL && !reply->is_cut &&
             !has_integrity(&reply->body, fetch->script->integrity))
        fp_finding_add(findings, FP_FINDING_AGENT_INTEGRITY, fetch->url, "integrity=\"%s\"",
                       fetch->script->integrity);
}

/* ---- each script ---- */

static void judge(struct script_fetch *fetch)
{
    struct fp_doctor *doctor = fetch->doctor;
    struct fp_findings *findings = &doctor->findings;
    const struct fp_page_script *script = fetch->script;
    see(fetch, fetch->url, &fetch->reply);
    if (fetch->has_left && !uses_cors(script))
        fp_finding_add(findings, FP_FINDING_SCRIPT_BLIND, fetch->url, "%s", script->tag);
    if (fetch->has_left && uses_cors(script) && !allows_cors(fetch))
        fp_finding_add(findings, FP_FINDING_SCRIPT_BLOCKED, fetch->url,
                       "Access-Control-Allow-Origin: %s",
                       fp_client_field(&fetch->reply, "Access-Control-Allow-Origin"));
    if (fetch->has_left && fetch->is_hidden)
        fp_finding_add(findings, FP_FINDING_TIMING_HIDDEN, fetch->url, "Timing-Allow-Origin: %s",
                       fp_client_field(&fetch->reply, "Timing-Allow-Origin"));
    if (script == doctor->agent || fp_page_is_agent(script->src))
        return;
    check_workers(doctor, &fetch->reply.body, fetch->url);
    if (!fetch->reply.is_cut)
        check_map(fetch);
}

static void check_script(struct fp_doctor *doctor, const struct fp_page_script *script,
                         const char *url)
{
    char *origin = fp_memory_print("Origin: %s", doctor->origin);
    char *referer = fp_memory_print("Referer: %s/", doctor->origin);
    const bool is_foreign = !fp_web_same_origin(url, doctor->url);
    const char *const fields[] = {
        "Accept: */*",
        "Sec-Fetch-Dest: script",
        uses_cors(script) ? "Sec-Fetch-Mode: cors" : "Sec-Fetch-Mode: no-cors",
        referer,
        uses_cors(script) && is_foreign ? origin : NULL,
        NULL,
    };
    const struct fp_fetch_request request = {
        .method = "GET", .url = url, .fields = fields, .body_max = SCRIPT_MAX};
    struct script_fetch fetch = {.doctor = doctor, .script = script};
    fetch.url = fp_fetch_following(doctor->fetcher, &request, &fetch.reply, see_hop, &fetch);
    if (script == doctor->agent)
        check_agent_file(&fetch);
    if (fetch.reply.status == 200)
        judge(&fetch);
    else if (script != doctor->agent)
        fp_finding_add(&doctor->findings, FP_FINDING_SCRIPT_UNREACHABLE, fetch.url, "status %ld %s",
                       fetch.reply.status, fetch.reply.error);
    fp_client_release(&fetch.reply);
    free(fetch.url);
    free(referer);
    free(origin);
}

static bool is_mixed(const struct fp_doctor *doctor, const char *url)
{
    return strncmp(doctor->url, "https:", 6) == 0 && strncmp(url, "http:", 5) == 0;
}

void fp_doctor_check_scripts(struct fp_doctor *doctor)
{
    const struct fp_page *page = &doctor->page;
    unsigned fetched = 0;
    for (size_t i = 0; i < page->script_count; i++) {
        const struct fp_page_script *script = &page->scripts[i];
        if (script->makes_workers)
            fp_finding_add(&doctor->findings, FP_FINDING_WORKER, doctor->url, "%s", script->tag);
        if (script->src == NULL || script->src[0] == '\0' || fetched == FETCHED_MAX ||
            !fp_doctor_has_time(doctor))
            continue;
        char *url = fp_web_resolve(doctor->base, script->src);
        if (url != NULL && is_mixed(doctor, url)) {
            fp_finding_add(&doctor->findings, FP_FINDING_SCRIPT_MIXED, url, "%s", script->tag);
        } else if (url != NULL) {
            fetched++;
            check_script(doctor, script, url);
        }
        free(url);
    }
}
