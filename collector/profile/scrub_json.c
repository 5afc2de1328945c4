/*
 * Scrub, JSON: walks over the text from string to string. Whether a string is a member's name is
 * told by the colon behind it.
 */
#include "collector/profile/scrub_json.h"

#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A walk; rules NULL: strings stay as they are. */
struct walk {
    const struct fp_scrub_rules *rules;
    struct fp_str json;
    struct fp_arena *arena;
    struct fp_buf *out;
    size_t at;
};

static struct fp_str slice(struct fp_str text, size_t from, size_t to)
{
    return (struct fp_str){text.ptr + from, to - from};
}

static void add(struct fp_buf *out, struct fp_str text)
{
    fp_buf_add(out, text.ptr, text.len);
}

/* Behind the string whose opening quote is at `at`. */
static size_t string_end(struct fp_str json, size_t at)
{
    for (at++; at < json.len && json.ptr[at] != '"'; at++)
        if (json.ptr[at] == '\\')
            at++;
    return at < json.len ? at + 1 : json.len;
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
        at = c == '"' ? string_end(json, at) : at + 1;
        if (c == '{' || c == '[')
            depth++;
        if (closes && --depth == 0)
            return at;
    }
    return at;
}

/* The names of members whose values are nobody's business; first those that never are. */
static bool is_secret(struct fp_str name, bool also_scrubbed)
{
    static const char *const secrets[] = {
        "cookie",          "cookie2",       "set-cookie",
        "set-cookie2",     "authorization", "proxy-authorization",
        "requestformdata", "postdata",      "token",
        "x-api-key",       "x-auth-token",  "x-csrf-token",
    };
    enum { ALWAYS = 6 };
    size_t count = also_scrubbed ? COUNT(secrets) : (size_t)ALWAYS;
    for (size_t i = 0; i < count; i++)
        if (strlen(secrets[i]) == name.len && strncasecmp(secrets[i], name.ptr, name.len) == 0)
            return true;
    return false;
}

/* Text of a string that holds no URL. An escaped U+0000 is a backslash, u and zeros; but not behind
 * a backslash. */
static void add_plain(struct walk *walk, struct fp_str text)
{
    size_t from = 0;
    for (size_t at = 0; at + 1 < text.len; at++) {
        if (text.ptr[at] != '\\')
            continue;
        if (at + 6 <= text.len && memcmp(text.ptr + at, "\\u0000", 6) == 0) {
            add(walk->out, slice(text, from, at));
            add(walk->out, FP_STR("\\ufffd"));
            from = at + 6;
        }
        at++;
    }
    add(walk->out, slice(text, from, text.len));
}

static bool add_url(struct walk *walk, struct fp_str url)
{
    struct fp_str scrubbed;
    if (!fp_scrub_resource(walk->rules, url, FP_STR(""), walk->arena, &scrubbed))
        return false;
    add_plain(walk, scrubbed);
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

static bool begins(struct fp_str text, const char *prefix)
{
    size_t len = strlen(prefix);
    return text.len >= len && strncasecmp(text.ptr, prefix, len) == 0;
}

/* A text that is a URL from its first character on, though without `://`. */
static bool is_url(struct fp_str text)
{
    return begins(text, "/") || begins(text, "?") || begins(text, "data:") ||
           begins(text, "blob:") || begins(text, "javascript:");
}

/* What stands between the quotes of a string that is a value. */
static bool add_text(struct walk *walk, struct fp_str text)
{
    if (is_url(text))
        return add_url(walk, text);
    size_t done = 0;
    for (size_t at = 0; at + 3 <= text.len; at++) {
        if (memcmp(text.ptr + at, "://", 3) != 0)
            continue;
        size_t from = at;
        while (from > done && is_scheme_char(text.ptr[from - 1]))
            from--;
        while (at < text.len && !is_end(text.ptr[at]))
            at++;
        add_plain(walk, slice(text, done, from));
        if (!add_url(walk, slice(text, from, at)))
            return false;
        done = at;
    }
    add_plain(walk, slice(text, done, text.len));
    return true;
}

static bool add_string(struct walk *walk, size_t end)
{
    bool is_whole = end - walk->at >= 2;
    if (walk->rules == NULL || !is_whole) {
        add(walk->out, slice(walk->json, walk->at, end));
        return true;
    }
    add(walk->out, FP_STR("\""));
    if (!add_text(walk, slice(walk->json, walk->at + 1, end - 1)))
        return false;
    add(walk->out, FP_STR("\""));
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
    struct fp_str json = walk->json;
    size_t name_end = string_end(json, walk->at);
    size_t value = member_value(json, name_end);
    size_t end = name_end;
    bool added = true;
    if (value == 0) {
        added = add_string(walk, end);
    } else {
        add(walk->out, slice(json, walk->at, value));
        end = value;
        if (is_secret(slice(json, walk->at + 1, name_end - 1), walk->rules != NULL)) {
            add(walk->out, FP_STR("\"(removed)\""));
            end = value_end(json, value);
        }
    }
    walk->at = end;
    return added;
}

static bool scrub(struct walk *walk)
{
    struct fp_str json = walk->json;
    while (walk->at < json.len) {
        const char *quote = memchr(json.ptr + walk->at, '"', json.len - walk->at);
        size_t next = quote != NULL ? (size_t)(quote - json.ptr) : json.len;
        add(walk->out, slice(json, walk->at, next));
        walk->at = next;
        if (next < json.len && !take_string(walk))
            return false;
    }
    return true;
}

bool fp_scrub_json(const struct fp_scrub_rules *rules, struct fp_str json, struct fp_arena *arena,
                   struct fp_buf *out)
{
    struct walk walk = {.rules = rules, .json = json, .arena = arena, .out = out};
    return scrub(&walk);
}

void fp_scrub_json_secrets(struct fp_str json, struct fp_buf *out)
{
    struct walk walk = {.json = json, .out = out};
    bool scrubbed = scrub(&walk);
    (void)scrubbed; /* without rules nothing can be short of memory but out */
}
