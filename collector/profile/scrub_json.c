/*
 * Scrub, JSON: walks over the text from string to string. Whether a string is a member's name is
 * told by the colon behind it.
 */
#include "collector/profile/scrub_json.h"

#include "collector/base/bytes.h"
#include "collector/base/quoted.h"
#include "collector/profile/scrub_secret.h"
#include "collector/profile/scrub_text.h"

#include <strings.h>

enum {
    NAME_LEN_MAX = 32, /* at least FP_SCRUB_SECRET_LEN_MAX */
    BLOCK_LEN = 64,
};

/* A walk; rules NULL: strings stay as they are. What lies between `copied` and `at` goes out
 * unchanged, at once when something else follows it. */
struct walk {
    const struct fp_scrub_rules *rules;
    struct fp_str json;
    struct fp_arena *arena;
    struct fp_buf *out;
    size_t at;
    size_t copied;
    size_t block;         /* where the bytes begin that are known by their ... */
    uint64_t marks;       /* ... quotes, backslashes and colons */
    size_t telling;       /* where fp_scrub_text may find something next, colons aside */
    bool has_nulls;       /* escaped ones, in the string at hand */
    struct fp_str member; /* the last name of a member, without escapes */
    char unescaped[NAME_LEN_MAX];
    size_t secret_end; /* of the last object whose `name` is a secret's: one of a list of headers */
};

/* What stands between two quotes. */
struct string {
    size_t begin;
    size_t end;
    bool is_plain; /* without colons and escapes: as most are */
};

static struct fp_str slice(struct fp_str text, size_t from, size_t to)
{
    return (struct fp_str){text.ptr + from, to - from};
}

static void add(struct fp_buf *out, struct fp_str text)
{
    fp_buf_add(out, text.ptr, text.len);
}

/* Quotes, backslashes and colons, which tell where strings end and what they are. */
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

/* Apart, so that next_mark, which is called at each mark, is short. */
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

/* The first mark from `at` on, which is never less than it was before; or the end. */
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

/* What stands between the two places goes out as text. */
static void put(struct walk *walk, size_t from, size_t to, struct fp_str text)
{
    add(walk->out, slice(walk->json, walk->copied, from));
    add(walk->out, text);
    walk->copied = to;
}

/* Whether there may be something between the two places. */
static bool tells(struct walk *walk, size_t from, size_t to)
{
    if (walk->telling < from)
        walk->telling = fp_scrub_find_telling(walk->json, from);
    return walk->telling < to || walk->has_nulls;
}

/* Text of a string that holds no URL. */
static void take_plain(struct walk *walk, size_t from, size_t to)
{
    const struct fp_str before = slice(walk->json, walk->copied, from);
    if (fp_scrub_text(walk->rules, slice(walk->json, from, to), before, walk->out))
        walk->copied = to;
}

/* What is left of a URL is a text like others; of most all is. */
static bool take_url(struct walk *walk, size_t from, size_t to)
{
    const struct fp_str before = slice(walk->json, walk->copied, from);
    const struct fp_str url = slice(walk->json, from, to);
    struct fp_str scrubbed;
    if (!fp_scrub_resource(walk->rules, url, FP_STR(""), walk->arena, &scrubbed))
        return false;
    bool may_tell = walk->has_nulls ||
                    (tells(walk, from, to) && fp_scrub_find_telling(scrubbed, 0) < scrubbed.len);
    if (may_tell && fp_scrub_text(walk->rules, scrubbed, before, walk->out))
        walk->copied = to;
    else if (scrubbed.ptr != url.ptr || scrubbed.len != url.len)
        put(walk, from, to, scrubbed);
    return true;
}

static bool is_scheme_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
}

/* What ends a URL inside a text; control characters are escaped in JSON. */
static bool is_end(char c)
{
    static const bool ends[256] = {[' '] = true, ['<'] = true, ['>'] = true, ['\\'] = true};
    return ends[(unsigned char)c];
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

/* Where the scheme begins that ends at the colon, not before `from`. */
static size_t scheme_begin(struct fp_str json, size_t from, size_t colon)
{
    size_t begin = colon;
    while (begin > from && is_scheme_char(json.ptr[begin - 1]))
        begin--;
    bool is_behind_escape = begin > from && begin < colon && json.ptr[begin - 1] == '\\';
    return begin + is_behind_escape;
}

static bool has_authority(struct fp_str json, size_t colon, size_t end)
{
    return colon + 3 <= end && json.ptr[colon + 1] == '/' && json.ptr[colon + 2] == '/';
}

/* Whether what stands behind `data:` is a media type, or none, and a comma. */
static bool is_data(struct fp_str json, size_t at, size_t end)
{
    size_t begin = at;
    bool is_type = at < end && (json.ptr[at] == ',' || json.ptr[at] == ';');
    while (at < end && (is_scheme_char(json.ptr[at]) || strchr("/;=_*", json.ptr[at]) != NULL))
        is_type = json.ptr[at++] == '/' || is_type;
    return is_type && at < end && json.ptr[at] == ',' && json.ptr[begin] != '/';
}

/* Whether the colon is that of a URL which holds a script or a document. */
static bool is_opaque(struct fp_str json, size_t from, size_t colon, size_t end)
{
    int last = colon > from ? json.ptr[colon - 1] | 0x20 : 0;
    if (last != 't' && last != 'a')
        return false;
    const struct fp_str scheme = slice(json, scheme_begin(json, from, colon), colon);
    if (scheme.len == strlen("data") && begins(scheme, FP_STR("data")))
        return is_data(json, colon + 1, end);
    return scheme.len == strlen("javascript") && begins(scheme, FP_STR("javascript")) &&
           colon + 1 < end && !fp_scrub_is_edge(json.ptr[colon + 1]);
}

/* The colon of the next URL, or `end`. *has_label: one like that of a header was met. */
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

/* A script or a document may hold anything: it has all of the text that is left. */
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
    while (at < end && !is_end(json.ptr[at]))
        at++;
    return at;
}

/* What stands between the quotes of a string. */
static bool take_text(struct walk *walk, size_t from, size_t to)
{
    const struct fp_str json = walk->json;
    if (is_url(slice(json, from, to)))
        return take_url(walk, from, to);
    bool has_label = false;
    for (size_t colon; (colon = find_url(json, from, to, &has_label)) < to;) {
        size_t url = scheme_begin(json, from, colon);
        if (has_label || tells(walk, from, url))
            take_plain(walk, from, url);
        from = url_end(json, colon, to);
        if (!take_url(walk, url, from))
            return false;
    }
    if (has_label || tells(walk, from, to))
        take_plain(walk, from, to);
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t skip_space(struct fp_str json, size_t at)
{
    while (at < json.len && is_space(json.ptr[at]))
        at++;
    return at;
}

/* Where the value of the member begins whose name ends at `end`; 0: it is no member's name. */
static size_t member_value(struct fp_str json, size_t end)
{
    if (end < json.len && json.ptr[end] != ':')
        end = skip_space(json, end);
    return end < json.len && json.ptr[end] == ':' ? end + 1 : 0;
}

/* The ASCII character of the escape at `at`, a backslash, u and four digits; '?' for any other. */
static char escaped_point(struct fp_str text, size_t at)
{
    unsigned point = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        int c = i < text.len ? text.ptr[i] : '?';
        if ((c < '0' || c > '9') && ((c | 0x20) < 'a' || (c | 0x20) > 'f'))
            return '?';
        point = point << 4 | (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return (char)(point < 0x80 ? point : '?');
}

/* A name, of which any letter may be written as an escape; of a long one the beginning. */
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

/* A list of numbers holds the times of a mark, whatever its name is. */
static bool is_times(struct fp_str json, size_t value)
{
    value = skip_space(json, value);
    if (value >= json.len || json.ptr[value] != '[')
        return false;
    value = skip_space(json, value + 1);
    return value < json.len &&
           (json.ptr[value] == '-' || (json.ptr[value] >= '0' && json.ptr[value] <= '9'));
}

static bool is_secret(const struct walk *walk, struct fp_str name)
{
    return fp_scrub_is_secret(name, walk->rules != NULL);
}

/* Where the member behind the value that begins at `value`, a text, begins; 0: there is none. */
static size_t member_behind(struct fp_str json, size_t value)
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

/* Whether a header's name stands behind its value, with a few texts between them at most. */
static bool is_named_behind(const struct walk *walk, size_t value)
{
    enum { MEMBERS_MAX = 4 };
    const struct fp_str json = walk->json;
    for (int i = 0; i < MEMBERS_MAX && (value = member_behind(json, value)) > 0; i++) {
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

/* Whether the value that begins at `value` may not be kept. */
static bool goes(const struct walk *walk, size_t value)
{
    if (fp_str_equal(walk->member, FP_STR("value")) &&
        (value < walk->secret_end || is_named_behind(walk, value)))
        return true;
    return is_secret(walk, walk->member) && !is_times(walk->json, value);
}

/* A member's name, and its value if that may not be kept. */
static bool take_member(struct walk *walk, const struct string *name, size_t value)
{
    const struct fp_str json = walk->json;
    walk->member = slice(json, name->begin, name->end);
    if (!name->is_plain)
        walk->member = unescape(walk->member, walk->unescaped);
    walk->at = value;
    bool may_tell = !name->is_plain || tells(walk, name->begin, name->end);
    if (walk->rules != NULL && may_tell && !take_text(walk, name->begin, name->end))
        return false;
    if (goes(walk, value)) {
        value = skip_space(json, value);
        walk->at = value_end(json, value);
        size_t last = walk->at;
        while (last > value && is_space(json.ptr[last - 1]))
            last--;
        put(walk, value, last, FP_STR("\"(removed)\""));
    }
    return true;
}

/* The member `name` of the object around `at`. */
static void take_name(struct walk *walk, struct fp_str name)
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

/* Goes behind the string whose opening quote stands at `at`. */
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

/* The string at `at`. */
static bool take_string(struct walk *walk)
{
    const struct fp_str json = walk->json;
    const struct string string = read_string(walk);
    const size_t value = member_value(json, walk->at);
    if (value > 0)
        return take_member(walk, &string, value);
    char name[NAME_LEN_MAX];
    if (fp_str_equal(walk->member, FP_STR("name")))
        take_name(walk, unescape(slice(json, string.begin, string.end), name));
    if (walk->rules == NULL || (string.is_plain && !is_url(slice(json, string.begin, string.end)) &&
                                !tells(walk, string.begin, string.end)))
        return true;
    return take_text(walk, string.begin, string.end);
}

static bool scrub(struct walk *walk)
{
    const struct fp_str json = walk->json;
    walk->block = json.len; /* none is read */
    for (size_t at = 0; (at = next_mark(walk, at)) < json.len;) {
        if (json.ptr[at] != '"') {
            at++;
            continue;
        }
        walk->at = at;
        if (!take_string(walk))
            return false;
        at = walk->at;
    }
    return true;
}

static void add_rest(struct walk *walk)
{
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
    if (!scrub(&walk))
        return false;
    if (walk.copied > 0)
        add_rest(&walk);
    return true;
}

void fp_scrub_json_secrets(struct fp_str json, struct fp_buf *out)
{
    struct walk walk = {.json = json, .out = out};
    bool scrubbed = scrub(&walk);
    (void)scrubbed; /* without rules nothing can be short of memory but out */
    add_rest(&walk);
}
