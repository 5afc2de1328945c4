/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, JSON: walks from string to string, and scrubs the few that need it.
 *
 *   {"to":"ann@shop.example","note":"say \"hi\"","link":"/a?id=7"}
 *    ^  ^^^                ^ ^    ^^^    ^^  ^^^ ^    ^^^       ^     marks
 *             ^                                            ^  ^       triggers
 *   |<--------------------- a block: 64 bytes -------------------->|
 *
 * A mark is a quote, a backslash or a colon. Marks say where strings end and which string is a
 * member's name: the one with a colon after it. The walk jumps from mark to mark: it searches a
 * block of 64 bytes at once and keeps the result as the bits of one word.
 *
 * A trigger is a character at which fp_scrub_text may find something to remove: one of @ % ? =, or
 * the beginning of a token. A string with neither a trigger nor a mark inside stays as it is, as
 * most do, unless it is a URL or the value of a secret.
 *
 * Unchanged text is not copied until something after it changes.
 */
#include "collector/profile/scrub/json.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/bytes.h"
#include "collector/base/quoted.h"
#include "collector/profile/scrub/secret.h"
#include "collector/profile/scrub/text.h"

enum {
    NAME_LEN_MAX = 32,
    BLOCK_LEN = 64,
};

_Static_assert((int)NAME_LEN_MAX >= (int)FP_SCRUB_SECRET_LEN_MAX, "no secret's name is truncated");

struct walk {
    const struct fp_scrub_rules *rules; /* NULL: only secrets are removed */
    struct fp_str json;
    struct fp_arena *arena;
    struct fp_buf *out;
    size_t at;            /* the current position */
    size_t copied;        /* out has everything before it */
    size_t block;         /* offset of the block in `marks` */
    uint64_t marks;       /* one bit per byte of the block */
    size_t trigger;       /* offset of the next trigger, or of one that the walk has passed */
    bool has_nulls;       /* the current string has escaped U+0000 */
    struct fp_str member; /* the last member's name, without escapes */
    char unescaped[NAME_LEN_MAX];
    size_t secret_end; /* end of the last object whose member `name` names a secret: a header */
};

/* The text between two quotes. */
struct string {
    size_t begin;
    size_t end;
    bool is_plain; /* has no marks, as most have none */
};

static struct fp_str slice(struct fp_str text, size_t from, size_t to)
{
    return (struct fp_str){text.ptr + from, to - from};
}

static void add(struct fp_buf *out, struct fp_str text)
{
    fp_buf_add(out, text.ptr, text.len);
}

/* Returns the marks of a block as bits, the first byte's the lowest. */
static uint64_t find_marks(const char bytes[BLOCK_LEN])
{
    uint64_t marks = 0;
    for (size_t at = 0; at < BLOCK_LEN; at += sizeof(fp_bytes16)) {
        const fp_bytes16 part = fp_bytes16_load(bytes + at);
        const fp_bytes16 found = (fp_bytes16)((part == '"') | (part == '\\') | (part == ':'));
        marks |= fp_bytes16_bits(found) << at;
    }
    return marks;
}

/* Searches the block that begins at `begin`. Not inlined: next_mark, which runs at each mark, stays
 * short. */
static __attribute__((noinline)) void read_block(struct walk *walk, size_t begin)
{
    const struct fp_str left = slice(walk->json, begin, walk->json.len);
    walk->block = begin;
    if (left.len >= BLOCK_LEN) {
        walk->marks = find_marks(left.ptr);
        return;
    }
    char last[BLOCK_LEN] = {0};
    memcpy(last, left.ptr, left.len);
    walk->marks = find_marks(last);
}

/* Returns the first mark at or after `at`, or the end. `at` never decreases. */
static inline size_t next_mark(struct walk *walk, size_t at)
{
    while (at < walk->json.len) {
        if (at - walk->block >= BLOCK_LEN)
            read_block(walk, at);
        const uint64_t left = walk->marks >> (at - walk->block);
        if (left != 0)
            return at + (size_t)__builtin_ctzll(left);
        at = walk->block + BLOCK_LEN;
    }
    return walk->json.len;
}

/* Returns the end of the value that begins at `at`. */
static size_t value_end(struct fp_str json, size_t at)
{
    size_t depth = 0;
    while (at < json.len) {
        char c = json.ptr[at];
        bool closes = c == '}' || c == ']';
        if (depth == 0 && (closes || c == ',' || c == '\n'))
            return at;
        at = c == '"' ? fp_quoted_end(json.ptr, at, json.len) : at + 1;
        if (c == '{' || c == '[')
            depth++;
        if (closes && --depth == 0)
            return at;
    }
    return at;
}

/* Writes `text` in place of the range from `from` to `to`. */
static void replace(struct walk *walk, size_t from, size_t to, struct fp_str text)
{
    FP_ASSERT(walk->copied <= from && from <= to && to <= walk->json.len);
    add(walk->out, slice(walk->json, walk->copied, from));
    add(walk->out, text);
    walk->copied = to;
}

/* True if fp_scrub_text may find something in the range. */
static bool has_trigger(struct walk *walk, size_t from, size_t to)
{
    if (walk->trigger < from)
        walk->trigger = fp_scrub_find_trigger(walk->json, from);
    return walk->trigger < to || walk->has_nulls;
}

/* Scrubs a range of a string that contains no URL. */
static void scrub_plain(struct walk *walk, size_t from, size_t to)
{
    const struct fp_str before = slice(walk->json, walk->copied, from);
    if (fp_scrub_text(walk->rules, slice(walk->json, from, to), before, walk->out))
        walk->copied = to;
}

/* Scrubs a URL, then scrubs the rest of it as text. Most URLs do not change. */
static bool scrub_url(struct walk *walk, size_t from, size_t to)
{
    const struct fp_str before = slice(walk->json, walk->copied, from);
    const struct fp_str url = slice(walk->json, from, to);
    struct fp_str scrubbed;
    if (!fp_scrub_resource(walk->rules, url, walk->rules->page_url, walk->arena, &scrubbed))
        return false;
    bool needs_scrub = walk->has_nulls || (has_trigger(walk, from, to) &&
                                           fp_scrub_find_trigger(scrubbed, 0) < scrubbed.len);
    if (needs_scrub && fp_scrub_text(walk->rules, scrubbed, before, walk->out))
        walk->copied = to;
    else if (scrubbed.ptr != url.ptr || scrubbed.len != url.len)
        replace(walk, from, to, scrubbed);
    return true;
}

static bool is_scheme_char(char c)
{
    return fp_is_alnum(c) || c == '+' || c == '-' || c == '.';
}

/* True for characters that end a URL inside a text. Control characters are escaped in JSON. */
static bool ends_url(char c)
{
    static const bool ends[256] = {[' '] = true, ['<'] = true, ['>'] = true, ['\\'] = true};
    return ends[(unsigned char)c];
}

/* True for a text that is a URL from its first character on, but has no `://`. */
static bool is_url(struct fp_str text)
{
    switch (text.len > 0 ? text.ptr[0] : '\0') {
    case '/':
    case '?':
        return true;
    case 'd':
    case 'D':
        return fp_str_has_prefix_nocase(text, FP_STR("data:"));
    case 'b':
    case 'B':
        return fp_str_has_prefix_nocase(text, FP_STR("blob:"));
    case 'j':
    case 'J':
        return fp_str_has_prefix_nocase(text, FP_STR("javascript:"));
    default:
        return false;
    }
}

/* Returns where the scheme before the colon begins, `from` at the earliest. */
static size_t scheme_begin(struct fp_str json, size_t from, size_t colon)
{
    size_t begin = colon;
    while (begin > from && is_scheme_char(json.ptr[begin - 1]))
        begin--;
    bool follows_escape = begin > from && begin < colon && json.ptr[begin - 1] == '\\';
    return begin + follows_escape;
}

static bool has_authority(struct fp_str json, size_t colon, size_t end)
{
    return colon + 3 <= end && json.ptr[colon + 1] == '/' && json.ptr[colon + 2] == '/';
}

/* True if a media type, or none, and a comma follow `data:`. `at`: after its colon. */
static bool is_data(struct fp_str json, size_t at, size_t end)
{
    size_t begin = at;
    bool is_type = at < end && (json.ptr[at] == ',' || json.ptr[at] == ';');
    while (at < end && (is_scheme_char(json.ptr[at]) || strchr("/;=_*", json.ptr[at]) != NULL))
        is_type = json.ptr[at++] == '/' || is_type;
    return is_type && at < end && json.ptr[at] == ',' && json.ptr[begin] != '/';
}

/* True if the colon ends the scheme of a URL that contains a script or a document. */
static bool is_opaque(struct fp_str json, size_t from, size_t colon, size_t end)
{
    int last = colon > from ? json.ptr[colon - 1] | 0x20 : 0;
    if (last != 't' && last != 'a')
        return false;
    const struct fp_str scheme = slice(json, scheme_begin(json, from, colon), colon);
    if (fp_str_equal_nocase(scheme, FP_STR("data")))
        return is_data(json, colon + 1, end);
    return fp_str_equal_nocase(scheme, FP_STR("javascript")) && colon + 1 < end &&
           !fp_scrub_is_edge(json.ptr[colon + 1]);
}

/* Returns the colon of the next URL, or `end`. *has_label: true if a colon before it may end a
 * header's name. */
static size_t find_url(struct fp_str json, size_t at, size_t end, bool *has_label)
{
    const size_t from = at;
    while (at < end) {
        const char *colon = memchr(json.ptr + at, ':', end - at);
        if (colon == NULL)
            break;
        at = (size_t)(colon - json.ptr);
        if (has_authority(json, at, end) || is_opaque(json, from, at, end))
            return at;
        *has_label = *has_label || (at > from && at + 1 < end &&
                                    fp_scrub_is_label(json.ptr[at - 1], json.ptr[at + 1]));
        at++;
    }
    return end;
}

/* Returns the end of a URL. A script or a document may contain anything, so it extends to `end`. */
static size_t url_end(struct fp_str json, size_t colon, size_t end)
{
    size_t at = has_authority(json, colon, end) ? colon : end;
    for (; end - at >= sizeof(fp_bytes16); at += sizeof(fp_bytes16)) {
        const fp_bytes16 part = fp_bytes16_load(json.ptr + at);
        const uint64_t found = fp_bytes16_bits(
            (fp_bytes16)((part == ' ') | (part == '<') | (part == '>') | (part == '\\')));
        if (found != 0)
            return at + (size_t)__builtin_ctzll(found);
    }
    while (at < end && !ends_url(json.ptr[at]))
        at++;
    return at;
}

/* True if the URL at `url` stands in a query or a fragment that fp_scrub_text removes. */
static bool is_in_query(const struct walk *walk, size_t from, size_t url)
{
    const struct fp_str json = walk->json;
    bool has_value = false; /* an equals sign behind the question mark */
    bool has_query = false;
    bool has_fragment = false;
    size_t begin = url;
    for (; begin > from && !ends_url(json.ptr[begin - 1]); begin--) {
        const char c = json.ptr[begin - 1];
        if (c == '?' && has_value && !walk->rules->keep_query)
            return true;
        has_value = has_value || c == '=';
        has_query = has_query || c == '?';
        has_fragment = has_fragment || c == '#';
    }
    const bool is_path = begin < url && json.ptr[begin] == '/';
    return is_path && (has_fragment || (has_query && !walk->rules->keep_query));
}

/* Scrubs the text between the quotes of a string: its URLs, and the text around them. */
static bool scrub_content(struct walk *walk, size_t from, size_t to)
{
    const struct fp_str json = walk->json;
    if (is_url(slice(json, from, to)))
        return scrub_url(walk, from, to);
    bool has_label = false;
    for (size_t colon, at = from; (colon = find_url(json, at, to, &has_label)) < to;) {
        size_t url = scheme_begin(json, from, colon);
        at = url_end(json, colon, to);
        if (has_authority(json, colon, to) && is_in_query(walk, from, url))
            continue;
        if (has_label || has_trigger(walk, from, url))
            scrub_plain(walk, from, url);
        from = at;
        if (!scrub_url(walk, url, from))
            return false;
    }
    if (has_label || has_trigger(walk, from, to))
        scrub_plain(walk, from, to);
    return true;
}

static size_t skip_space(struct fp_str json, size_t at)
{
    while (at < json.len && fp_is_space(json.ptr[at]))
        at++;
    return at;
}

/* Returns where the value of the member whose name ends at `end` begins. 0: the string is not a
 * member's name. */
static size_t member_value(struct fp_str json, size_t end)
{
    if (end < json.len && json.ptr[end] != ':')
        end = skip_space(json, end);
    return end < json.len && json.ptr[end] == ':' ? end + 1 : 0;
}

/* Decodes the escape at `at`: a backslash, u and four digits. '?' if it is not ASCII. */
static char escaped_point(struct fp_str text, size_t at)
{
    unsigned point = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        int digit = i < text.len ? fp_hex_value(text.ptr[i]) : -1;
        if (digit < 0)
            return '?';
        point = point << 4 | (unsigned)digit;
    }
    return (char)(point < 0x80 ? point : '?');
}

/* Decodes a name, of which any letter may be escaped. Truncates a long one. */
static struct fp_str unescape(struct fp_str name, char plain[NAME_LEN_MAX])
{
    if (name.len == 0 || memchr(name.ptr, '\\', name.len) == NULL)
        return name;
    size_t len = 0;
    for (size_t at = 0; at < name.len && len < NAME_LEN_MAX; len++) {
        bool is_escape = name.ptr[at] == '\\' && at + 1 < name.len;
        bool is_point = is_escape && name.ptr[at + 1] == 'u';
        plain[len] = name.ptr[at + is_escape];
        if (is_point)
            plain[len] = escaped_point(name, at);
        at += is_point ? 6 : is_escape ? 2 : 1;
    }
    return (struct fp_str){plain, len};
}

/* True for a list of numbers: the times of a mark, which may have any name. */
static bool is_times(struct fp_str json, size_t value)
{
    value = skip_space(json, value);
    if (value >= json.len || json.ptr[value] != '[')
        return false;
    value = skip_space(json, value + 1);
    return value < json.len && (json.ptr[value] == '-' || fp_is_digit(json.ptr[value]));
}

static bool is_secret(const struct walk *walk, struct fp_str name)
{
    return fp_scrub_is_secret(name, walk->rules != NULL);
}

/* Returns where the member after the text at `value` begins; 0 if none, or if the value is not a
 * text. */
static size_t next_text_member(struct fp_str json, size_t value)
{
    value = skip_space(json, value);
    if (value == json.len || json.ptr[value] != '"')
        return 0;
    size_t at = skip_space(json, fp_quoted_end(json.ptr, value, json.len));
    if (at == json.len || json.ptr[at] != ',')
        return 0;
    at = skip_space(json, at + 1);
    return at < json.len && json.ptr[at] == '"' ? at : 0;
}

/* True if the value belongs to a header whose secret name follows it, at most a few texts later. */
static bool is_named_later(const struct walk *walk, size_t value)
{
    enum { MEMBERS_MAX = 4 };
    const struct fp_str json = walk->json;
    for (int i = 0; i < MEMBERS_MAX && (value = next_text_member(json, value)) > 0; i++) {
        char plain[NAME_LEN_MAX];
        const size_t member = value + 1;
        const size_t member_end = fp_quoted_end(json.ptr, value, json.len);
        value = member_value(json, member_end);
        const size_t text = skip_space(json, value);
        if (value == 0 || text == json.len || json.ptr[text] != '"')
            return false;
        const size_t text_end = fp_quoted_end(json.ptr, text, json.len);
        const struct fp_str name = unescape(slice(json, member, member_end - 1), plain);
        if (fp_str_equal(name, FP_STR("name")) && text_end > text + 1)
            return is_secret(walk, unescape(slice(json, text + 1, text_end - 1), plain));
    }
    return false;
}

/* True if the current member's value, which begins at `value`, must not be kept. */
static bool must_remove(const struct walk *walk, size_t value)
{
    if (fp_str_equal(walk->member, FP_STR("value")) &&
        (value < walk->secret_end || is_named_later(walk, value)))
        return true;
    return is_secret(walk, walk->member) && !is_times(walk->json, value);
}

/* Scrubs a member's name, and removes its value if that must not be kept. */
static bool scrub_member(struct walk *walk, const struct string *name, size_t value)
{
    const struct fp_str json = walk->json;
    walk->member = slice(json, name->begin, name->end);
    if (!name->is_plain)
        walk->member = unescape(walk->member, walk->unescaped);
    walk->at = value;
    bool needs_scrub = !name->is_plain || has_trigger(walk, name->begin, name->end);
    if (walk->rules != NULL && needs_scrub && !scrub_content(walk, name->begin, name->end))
        return false;
    if (must_remove(walk, value)) {
        value = skip_space(json, value);
        walk->at = value_end(json, value);
        size_t last = walk->at;
        while (last > value && fp_is_space(json.ptr[last - 1]))
            last--;
        replace(walk, value, last, FP_STR("\"(removed)\""));
    }
    return true;
}

/* Notes where the object around `at` ends if its member `name` names a secret. */
static void note_secret_object(struct walk *walk, struct fp_str name)
{
    const struct fp_str json = walk->json;
    if (walk->at < walk->secret_end || !is_secret(walk, name))
        return;
    for (size_t end = value_end(json, walk->at); end != walk->secret_end;) {
        walk->secret_end = end;
        if (end < json.len && json.ptr[end] == ',')
            end = value_end(json, end + 1);
    }
}

/* Reads the string whose opening quote is at `at`, and moves past it. */
static struct string read_string(struct walk *walk)
{
    const struct fp_str json = walk->json;
    const struct fp_str null = FP_STR("\\u0000");
    struct string string = {.begin = walk->at + 1, .is_plain = true};
    size_t at = next_mark(walk, string.begin);
    walk->has_nulls = false;
    while (at < json.len && json.ptr[at] != '"') {
        bool is_escape = json.ptr[at] == '\\';
        string.is_plain = false;
        walk->has_nulls = walk->has_nulls || (is_escape && json.len - at > null.len &&
                                              memcmp(json.ptr + at, null.ptr, null.len) == 0);
        at = next_mark(walk, at + 1 + is_escape);
    }
    string.end = at;
    walk->at = at + (at < json.len);
    return string;
}

/* Scrubs the string at `at`, with its value if it is a member's name. */
static bool scrub_string(struct walk *walk)
{
    const struct fp_str json = walk->json;
    const struct string string = read_string(walk);
    const size_t value = member_value(json, walk->at);
    if (value > 0)
        return scrub_member(walk, &string, value);
    char name[NAME_LEN_MAX];
    if (fp_str_equal(walk->member, FP_STR("name")))
        note_secret_object(walk, unescape(slice(json, string.begin, string.end), name));
    if (walk->rules == NULL || (string.is_plain && !is_url(slice(json, string.begin, string.end)) &&
                                !has_trigger(walk, string.begin, string.end)))
        return true;
    return scrub_content(walk, string.begin, string.end);
}

static bool scrub_strings(struct walk *walk)
{
    const struct fp_str json = walk->json;
    walk->block = json.len; /* no block is searched yet */
    for (size_t at = 0; (at = next_mark(walk, at)) < json.len;) {
        if (json.ptr[at] != '"') {
            at++;
            continue;
        }
        walk->at = at;
        if (!scrub_string(walk))
            return false;
        FP_ASSERT(walk->at > at && walk->at <= json.len);
        at = walk->at;
    }
    return true;
}

static void add_rest(struct walk *walk)
{
    FP_ASSERT(walk->copied <= walk->json.len);
    add(walk->out, slice(walk->json, walk->copied, walk->json.len));
}

bool fp_scrub_json(const struct fp_scrub_rules *rules, struct fp_str json, struct fp_arena *arena,
                   struct fp_buf *out)
{
    struct walk walk = {
        .rules = rules,
        .json = json,
        .arena = arena,
        .out = out,
    };
    if (!scrub_strings(&walk))
        return false;
    if (walk.copied > 0)
        add_rest(&walk);
    return true;
}

void fp_scrub_json_secrets(struct fp_str json, struct fp_buf *out)
{
    struct walk walk = {.json = json, .out = out};
    bool scrubbed = scrub_strings(&walk);
    FP_ASSERT(scrubbed); /* without rules nothing is put in an arena */
    add_rest(&walk);
}
