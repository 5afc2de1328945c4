/* SPDX-License-Identifier: Apache-2.0 */
/* Checks an origin part by part, and joins lists of origins without repeats. */
#include "timing_allow_origin.h"

#include <string.h>

#define PORT_MAX 65535

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static bool has_any(struct fleetprof_slice text, const char *set)
{
    size_t i;

    for (i = 0; i < text.len; i++) {
        if (is_one_of(text.data[i], set)) {
            return true;
        }
    }
    return false;
}

static bool has_upper(struct fleetprof_slice text)
{
    return has_any(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* True if the text is a scheme (RFC 3986 §3.1), lower-case. */
static bool is_scheme(struct fleetprof_slice text)
{
    size_t i;

    if (text.len == 0 || !is_lower(text.data[0])) {
        return false;
    }
    for (i = 1; i < text.len; i++) {
        if (!is_lower(text.data[i]) && !is_digit(text.data[i]) && !is_one_of(text.data[i], "+-.")) {
            return false;
        }
    }
    return true;
}

static bool is_host(struct fleetprof_slice text)
{
    bool is_ipv6 = text.len >= 4 && text.data[0] == '[' && text.data[text.len - 1] == ']';
    size_t first = is_ipv6 ? 1 : 0;
    size_t end = is_ipv6 ? text.len - 1 : text.len;
    size_t i;

    for (i = first; i < end; i++) {
        char c = text.data[i];
        bool fits = is_ipv6 ? is_digit(c) || (c >= 'a' && c <= 'f') || c == ':'
                            : is_digit(c) || is_lower(c) || is_one_of(c, "-._");

        if (!fits) {
            return false;
        }
    }
    return text.len > 0 && text.data[0] != '.';
}

/* Returns the number of a port in serialised form: no leading zero. Returns 0 for anything else. */
static unsigned port_number(struct fleetprof_slice text)
{
    unsigned port = 0;
    size_t i;

    if (text.len == 0 || text.len > 5 || text.data[0] == '0') {
        return 0;
    }
    for (i = 0; i < text.len; i++) {
        if (!is_digit(text.data[i])) {
            return 0;
        }
        port = port * 10 + (unsigned)(text.data[i] - '0');
    }
    return port <= PORT_MAX ? port : 0;
}

/* True if the port is the default of one of the URL Standard's special schemes: it is never part of
 * an origin. */
static bool is_default_port(struct fleetprof_slice scheme, unsigned port)
{
    static const struct {
        struct fleetprof_slice scheme;
        unsigned port;
    } defaults[] = {
        {{"http", 4}, 80}, {{"https", 5}, 443}, {{"ws", 2}, 80},
        {{"wss", 3}, 443}, {{"ftp", 3}, 21},
    };
    size_t i;

    for (i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        if (fleetprof_slice_equal(scheme, defaults[i].scheme)) {
            return port == defaults[i].port;
        }
    }
    return false;
}

/* Cuts `:port` off `host`. True if there was a colon; the colons of an IPv6 address are inside [].
 */
static bool cut_port(struct fleetprof_slice *host, struct fleetprof_slice *port)
{
    size_t i = host->len;

    while (i > 0 && host->data[i - 1] != ':' && host->data[i - 1] != ']') {
        i--;
    }
    if (i == 0 || host->data[i - 1] != ':') {
        return false;
    }
    *port = (struct fleetprof_slice){host->data + i, host->len - i};
    host->len = i - 1;
    return true;
}

/* Checks the text after `://`. */
static enum fleetprof_origin_error check_authority(struct fleetprof_slice scheme,
                                                   struct fleetprof_slice host)
{
    struct fleetprof_slice port;
    unsigned number;

    if (has_any(host, "/?#\\")) {
        return FLEETPROF_ORIGIN_PATH;
    }
    if (has_any(host, "@")) {
        return FLEETPROF_ORIGIN_USER;
    }
    if (has_any(host, "*")) {
        return FLEETPROF_ORIGIN_WILDCARD;
    }
    if (cut_port(&host, &port)) {
        number = port_number(port);
        if (number == 0) {
            return FLEETPROF_ORIGIN_PORT;
        }
        if (is_default_port(scheme, number)) {
            return FLEETPROF_ORIGIN_DEFAULT_PORT;
        }
    }
    return is_host(host) ? FLEETPROF_ORIGIN_OK : FLEETPROF_ORIGIN_HOST;
}

enum fleetprof_origin_error fleetprof_origin_check(struct fleetprof_slice origin)
{
    struct fleetprof_slice scheme = origin;
    struct fleetprof_slice host;
    size_t i;

    if (fleetprof_slice_equal(origin, FLEETPROF_SLICE("null")) ||
        fleetprof_slice_equal(origin, FLEETPROF_SLICE("*"))) {
        return FLEETPROF_ORIGIN_OK;
    }
    if (has_any(origin, ", \t")) {
        return FLEETPROF_ORIGIN_LIST;
    }
    if (has_upper(origin)) {
        return FLEETPROF_ORIGIN_UPPER_CASE;
    }
    for (i = 0; i + 3 <= origin.len; i++) {
        if (memcmp(origin.data + i, "://", 3) == 0) {
            scheme.len = i;
            host = (struct fleetprof_slice){origin.data + i + 3, origin.len - i - 3};
            return is_scheme(scheme) ? check_authority(scheme, host) : FLEETPROF_ORIGIN_NO_SCHEME;
        }
    }
    return FLEETPROF_ORIGIN_NO_SCHEME;
}

const char *fleetprof_origin_error_text(enum fleetprof_origin_error error)
{
    switch (error) {
    case FLEETPROF_ORIGIN_NO_SCHEME:
        return "it has no scheme; write it as \"https://shop.example\"";
    case FLEETPROF_ORIGIN_UPPER_CASE:
        return "browsers write origins in lower case and compare them exactly; write it in lower "
               "case";
    case FLEETPROF_ORIGIN_PATH:
        return "an origin ends before the path; leave out everything from the first \"/\" after "
               "the host";
    case FLEETPROF_ORIGIN_USER:
        return "an origin has no user name; leave out everything up to the \"@\"";
    case FLEETPROF_ORIGIN_WILDCARD:
        return "\"*\" stands for every origin and can't be a part of one; name each origin, or use "
               "\"*\" alone";
    case FLEETPROF_ORIGIN_HOST:
        return "its host is not as browsers write it; use letters, digits, \"-\", \"_\" and \".\", "
               "\"xn--\" labels for other scripts, brackets around an IPv6 address";
    case FLEETPROF_ORIGIN_PORT:
        return "its port is not a number from 1 to 65535 without leading zeros; leave the port out "
               "or correct it";
    case FLEETPROF_ORIGIN_DEFAULT_PORT:
        return "browsers leave the scheme's default port out of an origin; also leave it out";
    case FLEETPROF_ORIGIN_LIST:
        return "it contains a comma or space; write each origin as a parameter of its own";
    case FLEETPROF_ORIGIN_OK:
    default:
        return "it is fine";
    }
}

static bool contains(struct fleetprof_slice list, struct fleetprof_slice wanted)
{
    struct fleetprof_slice entry;

    while (fleetprof_slice_split(&list, ',', &entry)) {
        if (fleetprof_slice_equal(entry, wanted)) {
            return true;
        }
    }
    return false;
}

bool fleetprof_timing_allow_origin_add(struct fleetprof_buffer *out, struct fleetprof_slice list)
{
    struct fleetprof_slice entry;

    while (fleetprof_slice_split(&list, ',', &entry)) {
        if (entry.len == 0 || contains(fleetprof_buffer_text(out), entry)) {
            continue;
        }
        if (out->len > 0 && !fleetprof_buffer_put(out, FLEETPROF_SLICE(", "))) {
            return false;
        }
        if (!fleetprof_buffer_put(out, entry)) {
            return false;
        }
    }
    return true;
}

static bool allows_everyone(struct fleetprof_lines upstream, struct fleetprof_slice ours)
{
    size_t i;

    for (i = 0; i < upstream.count; i++) {
        if (contains(upstream.line[i], FLEETPROF_SLICE("*"))) {
            return true;
        }
    }
    return contains(ours, FLEETPROF_SLICE("*"));
}

enum fleetprof_outcome fleetprof_timing_allow_origin_merge(struct fleetprof_lines upstream,
                                                           struct fleetprof_slice ours,
                                                           struct fleetprof_buffer *out)
{
    bool fits = true;
    size_t i;

    out->len = 0;
    if (allows_everyone(upstream, ours)) {
        fits = fleetprof_buffer_put(out, FLEETPROF_SLICE("*"));
    } else {
        for (i = 0; i < upstream.count && fits; i++) {
            fits = fleetprof_timing_allow_origin_add(out, upstream.line[i]);
        }
        fits = fits && fleetprof_timing_allow_origin_add(out, ours);
    }
    if (!fits) {
        return FLEETPROF_TOO_LONG;
    }
    return upstream.count == 1 && fleetprof_slice_equal(fleetprof_slice_trim(upstream.line[0]),
                                                        fleetprof_buffer_text(out))
               ? FLEETPROF_UNCHANGED
               : FLEETPROF_CHANGED;
}
