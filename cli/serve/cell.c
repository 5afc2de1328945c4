/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cell: one way of writing per type.
 */
#include "cli/serve/cell.h"

#include "collector/base/ascii.h"

#include <stdlib.h>
#include <zstd.h>

enum cell_form {
    FORM_TEXT,
    FORM_BOOLEAN,
    FORM_NUMBER,
    FORM_BIGINT,
    FORM_JSON,
    FORM_TIME,
    FORM_PERIOD,
    FORM_PACKED
};

/* The numbers are those of catalog/pg_type.dat; they never change. */
static const struct cell_type {
    const char *name;
    Oid oid;
    enum cell_form form;
} types[] = {
    {"text", 25, FORM_TEXT},
    {"boolean", 16, FORM_BOOLEAN},
    {"bigint", 20, FORM_BIGINT},
    {"smallint", 21, FORM_NUMBER},
    {"integer", 23, FORM_NUMBER},
    {"real", 700, FORM_NUMBER},
    {"double precision", 701, FORM_NUMBER},
    {"numeric", 1700, FORM_NUMBER},
    {"json", 114, FORM_JSON},
    {"jsonb", 3802, FORM_JSON},
    {"timestamp with time zone", 1184, FORM_TIME},
    {"tstzrange", 3910, FORM_PERIOD},
    {"date", 1082, FORM_TEXT},
    {"uuid", 2950, FORM_TEXT},
    {"bytea", 17, FORM_PACKED},
};

static const struct cell_type *find_type(Oid oid)
{
    for (size_t i = 0; i < FP_COUNT(types); i++) {
        if (types[i].oid == oid)
            return &types[i];
    }
    return &types[0];
}

const char *fp_cell_type(Oid type)
{
    return find_type(type)->name;
}

/* True unless it is NaN or an infinity, which JSON does not have. */
static bool is_finite(const char *text)
{
    return fp_is_digit(text[0]) || (text[0] == '-' && fp_is_digit(text[1]));
}

/* Returns 2^53 and more as a string: it would lose digits as a double. */
static yyjson_mut_val *bigint_value(yyjson_mut_doc *doc, struct fp_str text)
{
    const long long most = (1LL << 53) - 1;
    long long value = strtoll(text.ptr, NULL, 10);
    return value >= -most && value <= most ? yyjson_mut_sint(doc, value)
                                           : yyjson_mut_strn(doc, text.ptr, text.len);
}

/* Rewrites 2026-01-31 12:00:00.5+00 as ISO 8601. The session's time zone is UTC. */
static yyjson_mut_val *time_value(yyjson_mut_doc *doc, struct fp_str text)
{
    const struct fp_str zone = FP_STR("+00");
    char iso[64];
    if (text.len < zone.len || text.len >= sizeof(iso) || !fp_is_digit(text.ptr[0]) ||
        memcmp(text.ptr + text.len - zone.len, zone.ptr, zone.len) != 0)
        return yyjson_mut_strncpy(doc, text.ptr, text.len); /* infinity */
    memcpy(iso, text.ptr, text.len - zone.len);
    iso[text.len - zone.len] = 'Z';
    char *gap = memchr(iso, ' ', text.len - zone.len);
    if (gap != NULL)
        *gap = 'T';
    return yyjson_mut_strncpy(doc, iso, text.len - zone.len + 1);
}

/* Rewrites ["2026-01-31 12:00:00+00","2026-01-31 13:00:00+00") as an array; a missing bound is
 * null, and so is an empty range. */
static yyjson_mut_val *period_value(yyjson_mut_doc *doc, struct fp_str text)
{
    const char *comma = memchr(text.ptr, ',', text.len);
    if (comma == NULL)
        return yyjson_mut_null(doc);
    yyjson_mut_val *bounds = yyjson_mut_arr(doc);
    const char *starts[] = {text.ptr + 1, comma + 1};
    const char *ends[] = {comma, text.ptr + text.len - 1};
    for (size_t i = 0; i < FP_COUNT(starts); i++) {
        struct fp_str bound = {starts[i], (size_t)(ends[i] - starts[i])};
        if (bound.len >= 2 && bound.ptr[0] == '"')
            bound = (struct fp_str){bound.ptr + 1, bound.len - 2};
        (void)yyjson_mut_arr_append(bounds,
                                    bound.len > 0 ? time_value(doc, bound) : yyjson_mut_null(doc));
    }
    return bounds;
}

enum { UNPACKED_MAX = 64 * 1024 * 1024 }; /* as limits.max_inflated */

/* Unpacks into text, which has room for len bytes and a 0; NULL if it is damaged, or not UTF-8. */
static yyjson_mut_val *unpacked_text(yyjson_mut_doc *doc, struct fp_str packed, char *text,
                                     size_t len)
{
    if (ZSTD_decompress(text, len, packed.ptr, packed.len) != len)
        return yyjson_mut_null(doc);
    yyjson_write_err error = {0};
    yyjson_mut_val *value = yyjson_mut_strncpy(doc, text, len);
    /* The library checks UTF-8 as it writes. */
    free(yyjson_mut_val_write_opts(value, YYJSON_WRITE_NOFLAG, NULL, NULL, &error));
    return error.code == YYJSON_WRITE_ERROR_INVALID_STRING ? yyjson_mut_null(doc) : value;
}

/* Writes a kept upload, which SQL has as zstd, as the text that it is; null if it is not text. */
static yyjson_mut_val *packed_value(yyjson_mut_doc *doc, const char *hex)
{
    size_t packed_len = 0;
    unsigned char *packed = PQunescapeBytea((const unsigned char *)hex, &packed_len);
    if (packed == NULL)
        return NULL;
    yyjson_mut_val *value = NULL;
    unsigned long long len = ZSTD_getFrameContentSize(packed, packed_len);
    char *text = len <= UNPACKED_MAX ? malloc((size_t)len + 1) : NULL;
    if (text != NULL)
        value = unpacked_text(doc, (struct fp_str){(const char *)packed, packed_len}, text,
                              (size_t)len);
    else if (len > UNPACKED_MAX)
        value = yyjson_mut_null(doc);
    free(text);
    PQfreemem(packed);
    return value;
}

yyjson_mut_val *fp_cell_value(yyjson_mut_doc *doc, const PGresult *row, int column)
{
    struct fp_str text = {PQgetvalue(row, 0, column), (size_t)PQgetlength(row, 0, column)};
    if (PQgetisnull(row, 0, column) == 1)
        return yyjson_mut_null(doc);
    switch (find_type(PQftype(row, column))->form) {
    case FORM_BOOLEAN:
        return yyjson_mut_bool(doc, text.ptr[0] == 't');
    case FORM_NUMBER:
        return is_finite(text.ptr) ? yyjson_mut_rawn(doc, text.ptr, text.len)
                                   : yyjson_mut_null(doc);
    case FORM_BIGINT:
        return bigint_value(doc, text);
    case FORM_JSON:
        return yyjson_mut_rawn(doc, text.ptr, text.len);
    case FORM_TIME:
        return time_value(doc, text);
    case FORM_PERIOD:
        return period_value(doc, text);
    case FORM_PACKED:
        return packed_value(doc, text.ptr);
    case FORM_TEXT:
    default:
        return yyjson_mut_strn(doc, text.ptr, text.len);
    }
}
