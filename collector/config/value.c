/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: parses numbers with units and checks texts.
 */
#include "collector/config/value.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "header_policy/timing_allow_origin.h"
#include "page_token/page_token.h"

#include <errno.h>
#include <inttypes.h>
#include <libpq-fe.h>

struct unit {
    struct fp_str name;
    int64_t factor;
};

/* In ascending order: printing takes the last unit that divides the value. */
static const struct unit byte_units[] = {
    {{"B", 1}, 1},
    {{"KiB", 3}, INT64_C(1) << 10},
    {{"MiB", 3}, INT64_C(1) << 20},
    {{"GiB", 3}, INT64_C(1) << 30},
    {{"TiB", 3}, INT64_C(1) << 40},
};
static const struct unit duration_units[] = {
    {{"ms", 2}, FP_US_PER_MS},      {{"s", 1}, FP_US_PER_S},   {{"m", 1}, 60 * FP_US_PER_S},
    {{"h", 1}, 3600 * FP_US_PER_S}, {{"d", 1}, FP_US_PER_DAY},
};
enum { BYTE_UNIT_COUNT = FP_COUNT(byte_units), DURATION_UNIT_COUNT = FP_COUNT(duration_units) };

/* Takes the digits off the front of text. False when there are none or too many. */
static bool take_number(struct fp_str *text, int64_t *number)
{
    int64_t value = 0;
    size_t i = 0;
    for (; i < text->len && fp_is_digit(text->ptr[i]); i++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text->ptr[i] - '0', &value))
            return false;
    }
    *text = (struct fp_str){text->ptr + i, text->len - i};
    *number = value;
    return i > 0;
}

/* Parses a number followed by the name of one of the units. */
static bool read_measured(struct fp_str text, const struct unit *units, size_t unit_count,
                          int64_t *value)
{
    int64_t number;
    if (!take_number(&text, &number))
        return false;
    for (size_t i = 0; i < unit_count; i++) {
        if (fp_str_equal(text, units[i].name))
            return !__builtin_mul_overflow(number, units[i].factor, value);
    }
    return false;
}

const char *fp_value_count(struct fp_str text, int64_t *value)
{
    int64_t number;
    if (!take_number(&text, &number) || text.len > 0)
        return "is not a whole number; write digits only";
    *value = number;
    return NULL;
}

const char *fp_value_bytes(struct fp_str text, int64_t *bytes)
{
    if (fp_value_count(text, bytes) == NULL ||
        read_measured(text, byte_units, BYTE_UNIT_COUNT, bytes))
        return NULL;
    return "is not a size; write a number and B, KiB, MiB, GiB or TiB, such as 8MiB";
}

const char *fp_value_duration(struct fp_str text, int64_t *duration_us)
{
    if (read_measured(text, duration_units, DURATION_UNIT_COUNT, duration_us))
        return NULL;
    return "is not a duration; write a number and ms, s, m, h or d, such as 250ms or 7d";
}

const char *fp_value_share(struct fp_str text, int64_t *ppm)
{
    enum { PPM_PER_PERCENT = 10000, PERCENT_MAX = 100 };
    static const char wrong[] =
        "is not a share; write a number from 0 to 100 with at most four decimals and %, such as 1%";
    int64_t whole;
    if (!take_number(&text, &whole) || whole > PERCENT_MAX || text.len == 0)
        return wrong;
    int64_t part = 0;
    int64_t digit = PPM_PER_PERCENT;
    if (text.ptr[0] == '.') {
        for (text = (struct fp_str){text.ptr + 1, text.len - 1};
             text.len > 0 && digit > 1 && fp_is_digit(text.ptr[0]);
             text = (struct fp_str){text.ptr + 1, text.len - 1})
            part += (digit /= 10) * (text.ptr[0] - '0');
        if (digit == PPM_PER_PERCENT)
            return wrong;
    }
    if (!fp_str_equal(text, FP_STR("%")) || whole * PPM_PER_PERCENT + part > 1000000)
        return wrong;
    *ppm = whole * PPM_PER_PERCENT + part;
    return NULL;
}

const char *fp_value_flag(struct fp_str text, bool *value)
{
    bool is_true = fp_str_equal(text, FP_STR("true"));
    if (!is_true && !fp_str_equal(text, FP_STR("false")))
        return "is neither true nor false";
    *value = is_true;
    return NULL;
}

const char *fp_value_check_text(struct fp_str text)
{
    enum { TEXT_MAX = 1024 };
    if (text.len == 0)
        return "is empty";
    if (text.len > TEXT_MAX)
        return "is longer than 1024 bytes";
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
            return "holds a control character";
    }
    return NULL;
}

/* True if libpq can parse it; otherwise its message is PQfreemem'd by the caller, and errno is
 * ENOMEM when out of memory, which libpq may also report in words. */
static bool parse_connection(struct fp_str text, char **message)
{
    *message = NULL;
    char *conninfo = strndup(text.ptr, text.len);
    if (conninfo == NULL) {
        errno = ENOMEM; /* clang takes it for unchanged by allocations */
        return false;
    }
    errno = 0;
    PQconninfoOption *options = PQconninfoParse(conninfo, message);
    int cause = errno;
    free(conninfo);
    PQconninfoFree(options);
    errno = cause;
    return options != NULL;
}

const char *fp_value_check_connection(struct fp_str text)
{
    const char *wrong = fp_value_check_text(text);
    char *message;
    if (wrong == NULL && !parse_connection(text, &message)) {
        wrong =
            errno != ENOMEM ? "is not a libpq connection string or URI" : "does not fit in memory";
        PQfreemem(message);
    }
    return wrong;
}

void fp_value_explain_connection(struct fp_str text, char *detail, size_t size)
{
    detail[0] = '\0';
    char *message;
    if (memmem(text.ptr, text.len, "pass", strlen("pass")) != NULL ||
        memchr(text.ptr, '@', text.len) != NULL || parse_connection(text, &message))
        return;
    if (message != NULL && errno != ENOMEM)
        (void)snprintf(detail, size, ": %.*s", (int)strcspn(message, "\n"), message);
    PQfreemem(message);
}

const char *fp_value_check_path(struct fp_str text)
{
    const char *wrong = fp_value_check_text(text);
    if (wrong == NULL && text.ptr[0] != '/')
        wrong = "is not an absolute path; begin it with /";
    return wrong;
}

const char *fp_value_check_name(struct fp_str text)
{
    if (text.len > 0 && fleetprof_token_site_is_valid(text.ptr, text.len))
        return NULL;
    return "is not 1 to 64 letters, digits, dots, underscores and hyphens";
}

/* Returns what is wrong with an origin, by the web server modules' rules. */
static const char *origin_phrase(enum fleetprof_origin_error error)
{
    switch (error) {
    case FLEETPROF_ORIGIN_OK:
        return NULL;
    case FLEETPROF_ORIGIN_NO_SCHEME:
    case FLEETPROF_ORIGIN_LIST:
        break;
    case FLEETPROF_ORIGIN_UPPER_CASE:
        return "has upper-case letters; write it as browsers send it, in lower case";
    case FLEETPROF_ORIGIN_PATH:
        return "has a path; an origin ends after the host, leave the slash and the rest out";
    case FLEETPROF_ORIGIN_USER:
        return "has a user name; leave out everything up to the @";
    case FLEETPROF_ORIGIN_WILDCARD:
        return "has a *, which is not a pattern here; list the origins";
    case FLEETPROF_ORIGIN_HOST:
        return "has a host that is missing or not in ASCII; write it as browsers send it, such as "
               "https://shop.example";
    case FLEETPROF_ORIGIN_PORT:
        return "has a port that is not a number from 1 to 65535";
    case FLEETPROF_ORIGIN_DEFAULT_PORT:
        return "names the scheme\x27s own port, which browsers leave out; leave it out too";
    }
    return "is not an origin; write scheme://host or scheme://host:port, such as "
           "https://shop.example";
}

const char *fp_value_check_host(struct fp_str text)
{
    if (text.len == 0 || text.len > 253)
        return "a host has 1 to 253 characters";
    if (memchr(text.ptr, '/', text.len) != NULL)
        return "a host has no scheme and no path: write shopcdn.example";
    char before = '.';
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'))
            return "a host has small letters, digits, '-', '_' and '.' only, without port and *";
        if (c == '.' && before == '.')
            return "a host has no empty part";
        before = c;
    }
    return before == '.' ? "a host has no empty part" : NULL;
}

const char *fp_value_check_origin(struct fp_str text)
{
    if (fp_str_equal(text, FP_STR("*")))
        return "admits everybody; list the origins, such as https://shop.example";
    const char *wrong = fp_value_check_text(text);
    if (wrong != NULL)
        return wrong;
    return origin_phrase(fleetprof_origin_check((struct fleetprof_slice){text.ptr, text.len}));
}

static void print_measured(int64_t value, const struct unit *units, size_t unit_count,
                           struct fp_buf *out)
{
    const struct unit *unit = &units[0];
    for (size_t i = 1; i < unit_count; i++) {
        if (value != 0 && value % units[i].factor == 0)
            unit = &units[i];
    }
    FP_ASSERT(value % unit->factor == 0); /* what is printed is exact */
    fp_buf_addf(out, "%" PRId64 "%s", value / unit->factor, unit->name.ptr);
}

void fp_value_print_bytes(int64_t bytes, struct fp_buf *out)
{
    print_measured(bytes, byte_units, BYTE_UNIT_COUNT, out);
}

void fp_value_print_duration(int64_t duration_us, struct fp_buf *out)
{
    print_measured(duration_us, duration_units, DURATION_UNIT_COUNT, out);
}

void fp_value_print_share(int64_t ppm, struct fp_buf *out)
{
    int decimals = 4;
    int64_t part = ppm % 10000;
    while (decimals > 0 && part % 10 == 0) {
        part /= 10;
        decimals--;
    }
    fp_buf_addf(out, "%" PRId64, ppm / 10000);
    if (decimals > 0)
        fp_buf_addf(out, ".%0*" PRId64, decimals, part);
    fp_buf_addf(out, "%%");
}
