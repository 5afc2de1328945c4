/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict: looks at every field of a header once.
 */
#include "collector/http/strict.h"

#include "collector/base/ascii.h"

#include <strings.h>

/* The fields that decide where a request ends, and for whom it is. */
enum framing_field { FIELD_LENGTH, FIELD_CODING, FIELD_HOST, FIELD_COUNT };

static const struct {
    const char *name;
    const char *twice;
} framing[FIELD_COUNT] = {
    [FIELD_LENGTH] = {"Content-Length", "the request has two Content-Length headers"},
    [FIELD_CODING] = {"Transfer-Encoding", "the request has two Transfer-Encoding headers"},
    [FIELD_HOST] = {"Host", "the request has two Host headers"},
};

struct field_reading {
    const char *trouble;
    const char *expected; /* where the next field begins; NULL: unknown */
    unsigned counts[FIELD_COUNT];
};

static const char not_lines[] =
    "a line of the header does not end in CR LF, is folded, or has a NUL";

/* ---- the library ---- */

/* True for a library that takes nearly any line for a header's, and leaves the fields where they
 * came. */
static bool is_lenient_library(void)
{
    return strncmp(MHD_get_version(), "0.", 2) == 0;
}

int fp_strict_library_level(void)
{
    return is_lenient_library() ? 0 : 1;
}

/* ---- the request line ---- */

static struct fp_request_target *target_of(struct MHD_Connection *connection)
{
    struct fp_http_connection *watched =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    return watched != NULL ? fp_connections_target(watched) : NULL;
}

void *fp_strict_read_target(void *cls, const char *text, struct MHD_Connection *connection)
{
    struct fp_request_target *target = target_of(connection);
    (void)cls;
    if (target == NULL)
        return NULL;
    *target = (struct fp_request_target){.len = text != NULL ? strlen(text) : 0};
    for (size_t i = 0; i < target->len; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7F)
            target->trouble = "the path has a space or a control character";
    const size_t path_len = target->len > 0 ? strcspn(text, "?") : 0;
    if (path_len > 0 && memmem(text, path_len, "%00", 3) != NULL)
        target->trouble = "the path has a NUL (%00)";
    return NULL;
}

/* True if nothing but a space was between method, target and version. */
static bool is_whole_line(const struct fp_request_target *target, const char *method,
                          const char *version)
{
    return method + strlen(method) + 1 + target->len + 1 == version;
}

/* ---- fields ---- */

static bool is_of(struct fp_str text, const char *others)
{
    for (size_t i = 0; i < text.len; i++)
        if (!fp_is_alnum(text.ptr[i]) &&
            (text.ptr[i] == '\0' || strchr(others, text.ptr[i]) == NULL))
            return false;
    return true;
}

/* True for a name of a header or a method. */
static bool is_token(struct fp_str text)
{
    return text.len > 0 && is_of(text, "!#$%&'*+-.^_`|~");
}

static bool has_control(struct fp_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        const unsigned char c = (unsigned char)value.ptr[i];
        if ((c < ' ' && c != '\t') || c == 0x7F)
            return true;
    }
    return false;
}

static bool is_digits(struct fp_str value)
{
    for (size_t i = 0; i < value.len; i++)
        if (!fp_is_digit(value.ptr[i]))
            return false;
    return true;
}

/* A colon and a number, or nothing. */
static bool is_port(struct fp_str text)
{
    return text.len == 0 || (text.ptr[0] == ':' && is_digits(fp_str_skip(text, 1)));
}

/* A name or an address, with a port or without; may be empty. */
static bool is_host(struct fp_str value)
{
    const bool is_address = value.len > 0 && value.ptr[0] == '[';
    size_t end = 0;
    while (end < value.len && value.ptr[end] != (is_address ? ']' : ':'))
        end++;
    const struct fp_str name = {value.ptr, end};
    const struct fp_str port = fp_str_skip(value, end + (is_address && end < value.len));
    if (is_address)
        return end < value.len && is_of(fp_str_skip(name, 1), ":.%-_~") && is_port(port);
    return is_of(name, "-._~%!$&'()*+;=") && is_port(port);
}

static const char *framing_trouble(enum framing_field field, struct fp_str value)
{
    if (field == FIELD_LENGTH && (value.len == 0 || !is_digits(value)))
        return "the header Content-Length is not one whole number";
    if (field == FIELD_CODING && !fp_str_equal_nocase(value, FP_STR("chunked")))
        return "the only Transfer-Encoding that is supported is chunked";
    if (field == FIELD_HOST && !is_host(value))
        return "the header Host is not a host";
    return NULL;
}

static const char *field_trouble(struct field_reading *reading, struct fp_str name,
                                 struct fp_str value)
{
    if (reading->expected != NULL && name.ptr != reading->expected)
        return not_lines;
    if (!is_token(name))
        return "the name of a header is malformed";
    if (has_control(value))
        return "a header has a control character";
    for (int field = 0; field < FIELD_COUNT; field++) {
        if (!fp_str_equal_nocase(name, fp_str_of(framing[field].name)))
            continue;
        return reading->counts[field]++ > 0 ? framing[field].twice
                                            : framing_trouble((enum framing_field)field, value);
    }
    return NULL;
}

// NOLINTNEXTLINE(readability-function-size): the parameters are MHD's
static enum MHD_Result read_field(void *cls, enum MHD_ValueKind kind, const char *key,
                                  size_t key_len, const char *value, size_t value_len)
{
    struct field_reading *reading = cls;
    (void)kind;
    reading->trouble = field_trouble(reading, (struct fp_str){key, key_len},
                                     (struct fp_str){value != NULL ? value : "", value_len});
    if (reading->expected != NULL && value != NULL)
        reading->expected = value + value_len + strlen("\r\n");
    return reading->trouble == NULL ? MHD_YES : MHD_NO;
}

/* ---- the request ---- */

/* Returns what is wrong with the fields together. */
static const char *joint_trouble(const struct field_reading *reading, const char *version)
{
    const bool is_old = strcmp(version, "HTTP/1.0") == 0;
    if (reading->counts[FIELD_LENGTH] > 0 && reading->counts[FIELD_CODING] > 0)
        return "the request has both Content-Length and Transfer-Encoding";
    if (reading->counts[FIELD_CODING] > 0 && is_old)
        return "HTTP/1.0 has no Transfer-Encoding";
    if (reading->counts[FIELD_HOST] == 0 && !is_old)
        return "the request has no Host header";
    return NULL;
}

/* True if the header ends right after its last field, with an empty line. */
static bool ends_here(struct MHD_Connection *connection, const char *method, const char *end)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info != NULL && method + info->header_size == end + strlen("\r\n");
}

const char *fp_strict_trouble(struct MHD_Connection *connection, const char *method,
                              const char *version)
{
    const bool are_places_known = is_lenient_library();
    const struct fp_request_target *target = target_of(connection);
    struct field_reading reading = {0};
    if (target == NULL)
        return "there is not enough memory for another connection";
    if (!is_token(fp_str_of(method)))
        return "the method is malformed";
    if (target->trouble != NULL)
        return target->trouble;
    if (are_places_known && !is_whole_line(target, method, version))
        return "the request line has a NUL, or not one space between its words";
    if (are_places_known)
        reading.expected = version + strlen(version) + strlen("\r\n");
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, read_field, &reading);
    if (reading.trouble != NULL)
        return reading.trouble;
    if (are_places_known && !ends_here(connection, method, reading.expected))
        return not_lines;
    return joint_trouble(&reading, version);
}

bool fp_strict_is_chunked(struct MHD_Connection *connection)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding") != NULL;
}
