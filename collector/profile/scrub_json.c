/*
 * Scrub, JSON: walks over the text from string to string. Whether a string is a member's name is
 * told by the colon behind it.
 */
#include "collector/profile/scrub_json.h"

#include "collector/base/quoted.h"

#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A walk; rules NULL: strings stay as they are. What lies between `copied` and `at` goes out
 * unchanged, at once when something else follows it. */
struct walk {
    const struct fp_scrub_rules *rules;
    struct fp_str json;
    struct fp_arena *arena;
    struct fp_buf *out;
    size_t at;
    size_t copied;
    bool has_escapes;
};

static struct fp_str slice(struct fp_str text, size_t from, size_t to)
{
    return (struct fp_str){text.ptr + from, to - from};
}

static void add(struct fp_buf *out, struct fp_str text)
{
    fp_buf_add(out, text.ptr, text.len);
}

/* Behind the value that begins at `at`. */
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

/* known: in lower case and as long; NULL: none. Most names differ in their first letter. */
static bool is_name(struct fp_str name, const char *known)
{
    return known != NULL && (name.ptr[0] | 0x20) == known[0] &&
           strncasecmp(name.ptr, known, name.len) == 0;
}

/* Whether a member's value is nobody's business; some never are, the others when texts are
 * scrubbed. */
static bool is_secret(struct fp_str name, bool are_scrubbed)
{
    static const struct {
        const char *always;
        const char *scrubbed[2];
    } by_len[] = {
        [5] = {NULL, {"token"}},
        [6] = {"cookie", {NULL}},
        [7] = {"cookie2", {NULL}},
        [8] = {NULL, {"postdata"}},
        [9] = {NULL, {"x-api-key"}},
        [10] = {"set-cookie", {NULL}},
        [11] = {"set-cookie2", {NULL}},
        [12] = {NULL, {"x-auth-token", "x-csrf-token"}},
        [13] = {"authorization", {NULL}},
        [15] = {NULL, {"requestformdata"}},
        [19] = {"proxy-authorization", {NULL}},
    };
    if (name.len >= COUNT(by_len))
        return false;
    return is_name(name, by_len[name.len].always) ||
           (are_scrubbed && (is_name(name, by_len[name.len].scrubbed[0]) ||
                             is_name(name, by_len[name.len].scrubbed[1])));
}

static const struct fp_str escaped_zero = {"\\u0000", 6};

/* Where U+0000 stands from `at` on, or the end. A backslash may be escaped itself. */
static size_t find_zero(struct fp_str text, size_t at)
{
    while (at + escaped_zero.len <= text.len) {
        const char *escape = memchr(text.ptr + at, '\\', text.len - at - escaped_zero.len + 1);
        if (escape == NULL)
            break;
        at = (size_t)(escape - text.ptr);
        if (memcmp(escape, escaped_zero.ptr, escaped_zero.len) == 0)
            return at;
        at += 2;
    }
    return text.len;
}

/* What stands between the two places goes out as text, in which U+0000 becomes U+FFFD. */
static void put(struct walk *walk, size_t from, size_t to, struct fp_str text)
{
    add(walk->out, slice(walk->json, walk->copied, from));
    size_t done = 0;
    for (size_t at; (at = find_zero(text, done)) < text.len; done = at + escaped_zero.len) {
        add(walk->out, slice(text, done, at));
        add(walk->out, FP_STR("\\ufffd"));
    }
    add(walk->out, slice(text, done, text.len));
    walk->copied = to;
}

/* Text of a string that holds no URL. */
static void take_plain(struct walk *walk, size_t from, size_t to)
{
    const struct fp_str text = slice(walk->json, from, to);
    if (walk->has_escapes && find_zero(text, 0) < text.len)
        put(walk, from, to, text);
}

static bool take_url(struct walk *walk, size_t from, size_t to)
{
    struct fp_str scrubbed;
    if (!fp_scrub_resource(walk->rules, slice(walk->json, from, to), FP_STR(""), walk->arena,
                           &scrubbed))
        return false;
    put(walk, from, to, scrubbed);
    return true;
}

static bool is_scheme_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
}

/* What ends a URL inside a text. */
static bool is_end(char c)
{
    return (unsigned char)c <= ' ' || c == '<' || c == '>' || c == '\\';
}

static bool begins(struct fp_str text, struct fp_str prefix)
{
    return text.len >= prefix.len && strncasecmp(text.ptr, prefix.ptr, prefix.len) == 0;
}

/* A text that is a URL from its first character on, though without `://`. */
static bool is_url(struct fp_str text)
{
    switch (text.len > 0 ? text.ptr[0] : '\0') {
    case '/':
    case '?':
        return true;
    case 'd':
    case 'D':
        return begins(text, FP_STR("data:"));
    case 'b':
    case 'B':
        return begins(text, FP_STR("blob:"));
    case 'j':
    case 'J':
        return begins(text, FP_STR("javascript:"));
    default:
        return false;
    }
}

/* Where `://` stands from `at` on, or `end`. */
static size_t find_authority(struct fp_str json, size_t at, size_t end)
{
    while (at + 3 <= end) {
        const char *colon = memchr(json.ptr + at, ':', end - at - 2);
        if (colon == NULL)
            break;
        at = (size_t)(colon - json.ptr);
        if (colon[1] == '/' && colon[2] == '/')
            return at;
        at++;
    }
    return end;
}

/* What stands between the quotes of a string that is a value. */
static bool take_text(struct walk *walk, size_t from, size_t to)
{
    const struct fp_str json = walk->json;
    if (is_url(slice(json, from, to)))
        return take_url(walk, from, to);
    for (size_t at; (at = find_authority(json, from, to)) < to; from = at) {
        size_t url = at;
        while (url > from && is_scheme_char(json.ptr[url - 1]))
            url--;
        while (at < to && !is_end(json.ptr[at]))
            at++;
        take_plain(walk, from, url);
        if (!take_url(walk, url, at))
            return false;
    }
    take_plain(walk, from, to);
    return true;
}

/* Where the value of the member begins whose name ends at `end`; 0: it is no member's name. */
static size_t member_value(struct fp_str json, size_t end)
{
    while (end < json.len && (json.ptr[end] == ' ' || json.ptr[end] == '\t'))
        end++;
    return end < json.len && json.ptr[end] == ':' ? end + 1 : 0;
}

/* A string, and the value behind it if it names a secret. */
static bool take_string(struct walk *walk)
{
    const struct fp_str json = walk->json;
    const size_t begin = walk->at;
    const size_t end = fp_quoted_end(json.ptr, begin, json.len);
    const size_t value = member_value(json, end);
    walk->at = value > 0 ? value : end;
    if (value == 0)
        return walk->rules == NULL || end - begin < 2 || take_text(walk, begin + 1, end - 1);
    if (is_secret(slice(json, begin + 1, end - 1), walk->rules != NULL)) {
        walk->at = value_end(json, value);
        put(walk, value, walk->at, FP_STR("\"(removed)\""));
    }
    return true;
}

static bool scrub(struct walk *walk)
{
    const struct fp_str json = walk->json;
    for (size_t at = 0; at < json.len;) {
        if (json.ptr[at] != '"') {
            at++;
            continue;
        }
        walk->at = at;
        if (!take_string(walk))
            return false;
        at = walk->at;
    }
    add(walk->out, slice(json, walk->copied, json.len));
    return true;
}

bool fp_scrub_json(const struct fp_scrub_rules *rules, struct fp_str json, struct fp_arena *arena,
                   struct fp_buf *out)
{
    struct walk walk = {
        .rules = rules,
        .json = json,
        .arena = arena,
        .out = out,
        .has_escapes = json.len > 0 && memchr(json.ptr, '\\', json.len) != NULL,
    };
    return scrub(&walk);
}

void fp_scrub_json_secrets(struct fp_str json, struct fp_buf *out)
{
    struct walk walk = {.json = json, .out = out};
    bool scrubbed = scrub(&walk);
    (void)scrubbed; /* without rules nothing can be short of memory but out */
}
