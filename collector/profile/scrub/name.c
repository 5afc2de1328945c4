/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, names: encodes a name as a JSON string, scrubs that, and decodes it.
 */
#include "collector/profile/scrub/name.h"

#include "collector/base/ascii.h"
#include "collector/profile/scrub/json.h"
#include "collector/profile/scrub/text.h"

/* True if no rule can match, as for most names. */
static bool is_plain(struct fp_str name)
{
    return name.len == 0 || (name.ptr[0] != '/' && memchr(name.ptr, ':', name.len) == NULL &&
                             fp_scrub_find_trigger(name, 0) == name.len);
}

static void add_string(struct fp_buf *out, struct fp_str name)
{
    fp_buf_add(out, "\"", 1);
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];
        if (c == '"' || c == '\\')
            fp_buf_add(out, "\\", 1);
        if (c == '\n' || c == '\r')
            fp_buf_add(out, c == '\n' ? "\\n" : "\\r", 2);
        else if ((unsigned char)c < ' ')
            fp_buf_addf(out, "\\u%04x", (unsigned)c);
        else
            fp_buf_add(out, &c, 1);
    }
    fp_buf_add(out, "\"", 1);
}

/* Decodes the escape at `at`, one of those that add_string writes. *len: its length. */
static char unescaped(struct fp_str string, size_t at, size_t *len)
{
    unsigned point = 0;
    *len = 2;
    switch (string.ptr[at + 1]) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 'u':
        *len = 6;
        for (size_t i = at + 2; i < at + *len && i < string.len; i++)
            point = point << 4 | (unsigned)fp_hex_value(string.ptr[i]);
        return (char)(point & 0x1f);
    default:
        return string.ptr[at + 1];
    }
}

/* Decodes a JSON string. */
static bool parse_string(struct fp_str string, struct fp_arena *arena, struct fp_str *name)
{
    char *bytes = fp_arena_alloc(arena, string.len);
    size_t len = 0;
    if (bytes == NULL)
        return false;
    for (size_t at = 1, step; at + 1 < string.len; at += step) {
        step = 1;
        bytes[len] = string.ptr[at];
        if (bytes[len] == '\\')
            bytes[len] = unescaped(string, at, &step);
        len++;
    }
    *name = (struct fp_str){bytes, len};
    return true;
}

bool fp_scrub_name(const struct fp_scrub_rules *rules, struct fp_str name, struct fp_arena *arena,
                   struct fp_str *scrubbed)
{
    *scrubbed = name;
    if (is_plain(name))
        return true;
    struct fp_buf string;
    struct fp_buf out;
    fp_buf_init(&string, arena->max_bytes);
    fp_buf_init(&out, arena->max_bytes);
    add_string(&string, name);
    const struct fp_str json = {(const char *)string.data, string.len};
    bool fits = !string.failed && fp_scrub_json(rules, json, arena, &out) && !out.failed &&
                (out.len == 0 ||
                 parse_string((struct fp_str){(const char *)out.data, out.len}, arena, scrubbed));
    fp_buf_release(&string);
    fp_buf_release(&out);
    return fits;
}
