/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the endpoint of crash reports, and merges it into Reporting-Endpoints. */
#include "reporting_endpoints.h"

#include <string.h>

static bool begins_with(struct fleetprof_slice text, struct fleetprof_slice start)
{
    return text.len > start.len && memcmp(text.data, start.data, start.len) == 0;
}

/* True for http: to this machine, which browsers trust as they trust https: (Secure Contexts). */
static bool is_local(struct fleetprof_slice url)
{
    static const struct fleetprof_slice hosts[] = {
        {"http://localhost", 16}, {"http://127.0.0.1", 16}, {"http://[::1]", 12}};
    size_t i;

    for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        if (begins_with(url, hosts[i]) &&
            (url.data[hosts[i].len] == '/' || url.data[hosts[i].len] == ':')) {
            return true;
        }
    }
    return false;
}

/* True for what a URL may have in a structured field's string without escapes. */
static bool is_url_char(char c)
{
    return c > ' ' && c < 0x7f && strchr("\"\\#<>", c) == NULL;
}

enum fleetprof_endpoint_error fleetprof_endpoint_check(struct fleetprof_slice url)
{
    size_t i;

    if (url.len > FLEETPROF_ENDPOINT_MAX) {
        return FLEETPROF_ENDPOINT_LONG;
    }
    for (i = 0; i < url.len; i++) {
        if (!is_url_char(url.data[i])) {
            return FLEETPROF_ENDPOINT_CHARACTER;
        }
    }
    if (begins_with(url, FLEETPROF_SLICE("https://")) || is_local(url) ||
        (begins_with(url, FLEETPROF_SLICE("/")) && url.data[1] != '/')) {
        return FLEETPROF_ENDPOINT_OK;
    }
    return begins_with(url, FLEETPROF_SLICE("http://")) ? FLEETPROF_ENDPOINT_INSECURE
                                                        : FLEETPROF_ENDPOINT_SCHEME;
}

const char *fleetprof_endpoint_error_text(enum fleetprof_endpoint_error error)
{
    switch (error) {
    case FLEETPROF_ENDPOINT_SCHEME:
        return "it is neither a URL nor a path; write for example "
               "\"https://collect.example/v1/reports/KEY\" or \"/v1/reports/KEY\"";
    case FLEETPROF_ENDPOINT_INSECURE:
        return "browsers send reports only over https; write \"https://\"";
    case FLEETPROF_ENDPOINT_CHARACTER:
        return "it has a byte that no endpoint may have: a space, a quote, \"\\\", \"<\", \">\", "
               "\"#\", or one outside ASCII; percent-encode it";
    case FLEETPROF_ENDPOINT_LONG:
        return "it is longer than 1024 bytes; shorten it";
    case FLEETPROF_ENDPOINT_OK:
    default:
        return "it is fine";
    }
}

/* Writes `crash-reporting="URL"`. False: no room. */
static bool write_member(struct fleetprof_buffer *member, struct fleetprof_slice url)
{
    return fleetprof_buffer_put(member, FLEETPROF_SLICE("crash-reporting=\"")) &&
           fleetprof_buffer_put(member, url) && fleetprof_buffer_put(member, FLEETPROF_SLICE("\""));
}

struct fleetprof_merge_result
fleetprof_reporting_endpoints_merge(const struct fleetprof_endpoint_request *request,
                                    struct fleetprof_buffer *out)
{
    static const struct fleetprof_slice keys[] = {{"crash-reporting", 15}, {"default", 7}};
    char data[FLEETPROF_ENDPOINT_MAX + sizeof("crash-reporting=\"\"") - 1];
    struct fleetprof_buffer member = {data, 0, sizeof(data)};
    struct fleetprof_merge_request merge;

    if (!write_member(&member, request->url)) {
        const struct fleetprof_merge_result too_long = {FLEETPROF_TOO_LONG, false};

        return too_long;
    }
    merge.upstream = request->upstream;
    merge.members = fleetprof_buffer_text(&member);
    merge.conflict = request->conflict;
    merge.matter.key = keys;
    merge.matter.count = request->conflict == FLEETPROF_CONFLICT_LOCAL ? 1 : 2;
    return fleetprof_sf_merge(&merge, out);
}
