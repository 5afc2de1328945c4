/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, text: one pass from trigger to trigger (json.c says what these are).
 *
 * Rules look at the text on both sides of a trigger, but not back past the last thing that was
 * removed.
 */
#include "collector/profile/scrub/text.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/bytes.h"
#include "collector/profile/scrub/secret.h"

#include <strings.h>

struct pass {
    const struct fp_scrub_rules *rules;
    struct fp_str text;
    struct fp_str before; /* written before anything else */
    struct fp_buf *out;
    size_t done; /* everything before it is written or removed */
    size_t at;
    size_t no_query_before; /* no query begins before it */
    size_t looked;          /* where find_path has been */
    size_t path;            /* where a path begins before it; NO_PATH: none */
};

static const size_t no_path = SIZE_MAX;

/* Characters. */

static bool is_name_char(char c)
{
    return fp_is_alnum(c) || c == '_' || c == '-';
}

static bool is_token_char(char c)
{
    return is_name_char(c) || c == '.' || c == '+' || c == '/' || c == '=' || c == '~';
}

/* True for what precedes the @ of an address; in a URL %40 or %2540 replaces the @. */
static bool is_local_char(char c)
{
    return is_name_char(c) || c == '.' || c == '+' || c == '%' || (unsigned char)c >= 0x80;
}

static bool is_domain_char(char c)
{
    return fp_is_alnum(c) || c == '-' || c == '.' || (unsigned char)c >= 0x80;
}

static bool begins(const struct pass *pass, size_t at, const char *word)
{
    size_t len = strlen(word);
    return at + len <= pass->text.len && strncasecmp(pass->text.ptr + at, word, len) == 0;
}

/* Returns the end of the run of characters of a class that begins at `at`. */
static size_t skip(const struct pass *pass, size_t at, bool (*is_one)(char))
{
    while (at < pass->text.len && is_one(pass->text.ptr[at]))
        at++;
    return at;
}

/* Returns the beginning of the run of characters of a class that ends at `at`, at most as long as
 * an address or a name may be. The characters of an escape are not part of it. */
static size_t skip_back(const struct pass *pass, size_t at, bool (*is_one)(char))
{
    enum { LEN_MAX = 256 };
    size_t from = at;
    while (from > pass->done && at - from < LEN_MAX && is_one(pass->text.ptr[from - 1]))
        from--;
    size_t slashes = 0;
    while (from - slashes > pass->done && pass->text.ptr[from - slashes - 1] == '\\')
        slashes++;
    if (slashes % 2 == 1 && from < at) {
        size_t escape_len = pass->text.ptr[from] == 'u' ? 5 : 1;
        from = at - from > escape_len ? from + escape_len : at;
    }
    return from;
}

/* Writing. */

static void add(struct pass *pass, size_t to)
{
    FP_ASSERT(pass->done <= to && to <= pass->text.len);
    fp_buf_add(pass->out, pass->text.ptr + pass->done, to - pass->done);
    pass->done = to;
}

/* Writes the text before `from`, and the word in place of the range from `from` to `to`. */
static void replace(struct pass *pass, size_t from, size_t to, const char *word)
{
    FP_ASSERT(from <= to && to <= pass->text.len);
    FP_ASSERT(to > pass->at); /* the pass goes on */
    if (pass->done == 0)
        fp_buf_add(pass->out, pass->before.ptr, pass->before.len);
    add(pass, from);
    fp_buf_add(pass->out, word, strlen(word));
    pass->done = pass->at = to;
}

/* The removed texts. */

static const char *const file_endings[] = {"png", "jpg",  "jpeg", "gif", "svg",  "webp", "ico",
                                           "js",  "mjs",  "ts",   "css", "json", "map",  "html",
                                           "htm", "woff", "ttf",  "mp3", "mp4",  "wasm"};

bool fp_scrub_is_file(struct fp_str domain)
{
    size_t dot = domain.len;
    while (dot > 0 && domain.ptr[dot - 1] != '.')
        dot--;
    if (domain.len == 0 || !fp_is_digit(domain.ptr[0]))
        return false;
    for (size_t i = 0; i < FP_COUNT(file_endings); i++)
        if (fp_str_equal_nocase(fp_str_of(file_endings[i]), fp_str_skip(domain, dot)))
            return true;
    return false;
}

static bool is_domain(struct fp_str domain)
{
    size_t last = domain.len;
    while (last > 0 && domain.ptr[last - 1] != '.')
        last--;
    if (last < 2 || domain.len - last < 2)
        return false;
    return !fp_is_digit(domain.ptr[last]) && !fp_scrub_is_file(domain);
}

/* Returns where the user begins in `//user:password@host`, if the password begins at `from`. */
static size_t user_begin(const struct pass *pass, size_t from)
{
    if (from == pass->done || pass->text.ptr[from - 1] != ':')
        return from;
    size_t user = skip_back(pass, from - 1, is_local_char);
    bool is_user = user >= pass->done + 2 && memcmp(pass->text.ptr + user - 2, "//", 2) == 0;
    return is_user ? user : from;
}

/* Returns where what precedes the @ begins. An apostrophe is part of it inside of a name, such as
 * o'brien. */
static size_t local_begin(const struct pass *pass)
{
    const size_t from = skip_back(pass, pass->at, is_local_char);
    const bool follows_apostrophe = from < pass->at && from > pass->done + 1 &&
                                    pass->text.ptr[from - 1] == '\'' &&
                                    fp_is_alnum(pass->text.ptr[from - 2]);
    return follows_apostrophe ? skip_back(pass, from - 1, is_local_char) : from;
}

/* at_len: length of the @ at `at`, or of its escape. */
static bool remove_address(struct pass *pass, size_t at_len)
{
    size_t from = local_begin(pass);
    size_t begin = pass->at + at_len;
    size_t end = skip(pass, begin, is_domain_char);
    while (end > begin && (pass->text.ptr[end - 1] == '.' || pass->text.ptr[end - 1] == '-'))
        end--;
    if (from == pass->at)
        return false;
    size_t user = user_begin(pass, from);
    if (user == from && !is_domain((struct fp_str){pass->text.ptr + begin, end - begin}))
        return false;
    replace(pass, user, end, FP_SCRUB_REMOVED);
    return true;
}

static const char page_quote[] = "&quot;";

static size_t skip_edges_back(const struct pass *pass, size_t at)
{
    const size_t quote_len = strlen(page_quote);
    for (;;) {
        if (at > pass->done && fp_scrub_is_edge(pass->text.ptr[at - 1]))
            at--;
        else if (at >= pass->done + quote_len && pass->text.ptr[at - 1] == ';' &&
                 begins(pass, at - quote_len, page_quote))
            at -= quote_len;
        else
            return at;
    }
}

/* True if a secret's name, quoted or not, precedes `at`. */
static bool follows_secret(const struct pass *pass, size_t at)
{
    at = skip_edges_back(pass, at);
    size_t from = skip_back(pass, at, is_name_char);
    const struct fp_str name = {pass->text.ptr + from, at - from};
    /* Not in the list of secrets: as a member's name it is a number of Opera's. */
    return fp_scrub_is_secret(name, true) || fp_str_equal_nocase(name, FP_STR("sessionid"));
}

static bool is_space_char(char c)
{
    return c == ' ';
}

static bool is_value_char(char c)
{
    return (unsigned char)c > ' ' && c != '&' && c != ';' && c != ',' && c != '\\' && c != '<' &&
           c != '>';
}

/* Returns the end of the quoted text that begins at `at`; the end of the text if no quote closes
 * it. A quote that is escaped twice does not close it. */
static size_t quoted_end(const struct pass *pass, size_t at, const char *quote)
{
    for (at += strlen(quote); at < pass->text.len; at++) {
        if (begins(pass, at, quote))
            return at + strlen(quote);
        if (pass->text.ptr[at] == '\\')
            at += begins(pass, at, "\\\\\\\"") ? 3 : 1;
    }
    return pass->text.len;
}

static size_t find_value_end(const struct pass *pass, size_t at)
{
    static const char *const quotes[] = {"\\\"", "'", page_quote};
    for (size_t i = 0; i < FP_COUNT(quotes); i++)
        if (begins(pass, at, quotes[i]))
            return quoted_end(pass, at, quotes[i]);
    return skip(pass, at, is_value_char);
}

static bool remove_value(struct pass *pass)
{
    if (!follows_secret(pass, pass->at))
        return false;
    size_t begin = skip(pass, pass->at + 1, is_space_char);
    size_t end = find_value_end(pass, begin);
    if (end == begin)
        return false;
    replace(pass, pass->at + 1, end, FP_SCRUB_REMOVED);
    return true;
}

/* Returns the end of the line that `at` is in. */
static size_t line_end(const struct pass *pass, size_t at)
{
    while (at < pass->text.len && !begins(pass, at, "\\n") && !begins(pass, at, "\\r"))
        at += pass->text.ptr[at] == '\\' && at + 1 < pass->text.len ? 2 : 1;
    return at;
}

/* True if the line begins with the name of a header that is never kept, and the colon at `at`. */
static bool is_header(const struct pass *pass)
{
    size_t from = skip_back(pass, pass->at, is_name_char);
    const char *before = pass->text.ptr + from;
    bool begins_line =
        from == 0 || (from >= 2 && before[-2] == '\\' && (before[-1] == 'n' || before[-1] == 'r'));
    return begins_line && fp_scrub_is_secret((struct fp_str){before, pass->at - from}, false);
}

/* Removes the value of a header or a label. Any other colon directly before a word is part of a
 * selector, such as `#password:focus`. */
static bool remove_line(struct pass *pass)
{
    size_t begin = pass->at + 1;
    if (begin == pass->text.len)
        return false;
    if (fp_scrub_is_edge(pass->text.ptr[begin]) ? !follows_secret(pass, pass->at)
                                                : !is_header(pass))
        return false;
    size_t end = line_end(pass, begin);
    replace(pass, pass->at + 1, end, FP_SCRUB_REMOVED);
    return true;
}

/* True for what may stand directly before a path in a text, besides spaces and quotes. */
static bool is_path_prefix(char c)
{
    return c == '=' || c == ':' || c == ',' || c == '(' || c == '[' || c == '{' || c == '|';
}

static bool is_path_break(char c)
{
    return (unsigned char)c <= ' ' || c == '<' || c == '>' || c == '"' || c == '\\' || c == '`' ||
           c == '\'';
}

/* True if a path, a slash and more, leads up to the trigger: `GET /cart?x`, not `yes/no?`. Goes
 * over the text once. */
static bool follows_path(struct pass *pass)
{
    if (pass->looked == 0)
        pass->path = no_path;
    for (; pass->looked < pass->at; pass->looked++) {
        const char c = pass->text.ptr[pass->looked];
        const char before = (char)(pass->looked > 0 ? pass->text.ptr[pass->looked - 1] : ' ');
        if (is_path_break(c))
            pass->path = no_path;
        else if (c == '/' && pass->path == no_path &&
                 (is_path_break(before) || is_path_prefix(before)))
            pass->path = pass->looked;
    }
    return pass->path != no_path && pass->path + 1 < pass->at;
}

static bool is_query_char(char c)
{
    return (unsigned char)c > ' ' && c != '<' && c != '>' && c != '\\';
}

/* Removes a query. It follows a path or contains a `=`, unlike the text after a question mark in a
 * sentence. */
static bool remove_query(struct pass *pass)
{
    if (pass->rules->keep_query || pass->at < pass->no_query_before)
        return false;
    size_t end = skip(pass, pass->at + 1, is_query_char);
    if (end == pass->at + 1 ||
        (!follows_path(pass) && memchr(pass->text.ptr + pass->at, '=', end - pass->at) == NULL)) {
        pass->no_query_before = end;
        return false;
    }
    replace(pass, pass->at, end, "");
    return true;
}

static bool remove_fragment(struct pass *pass)
{
    const size_t end = skip(pass, pass->at + 1, is_query_char);
    if (end == pass->at + 1 || !follows_path(pass))
        return false;
    replace(pass, pass->at, end, "");
    return true;
}

static bool is_parameter_char(char c)
{
    return is_query_char(c) && c != '/' && c != '?' && c != '#';
}

/* Removes `;name=value` from a path; `at` is at the equals sign. */
static bool remove_parameter(struct pass *pass)
{
    const size_t name = skip_back(pass, pass->at, is_name_char);
    if (pass->rules->kept.path_parameters || name <= pass->done ||
        pass->text.ptr[name - 1] != ';' || !follows_path(pass))
        return false;
    replace(pass, name - 1, skip(pass, pass->at + 1, is_parameter_char), "");
    return true;
}

static bool remove_token(struct pass *pass, size_t begin, size_t from, size_t len_min)
{
    size_t end = skip(pass, from, is_token_char);
    if (begin > pass->done && is_token_char(pass->text.ptr[begin - 1]))
        return false;
    if (end - from < len_min)
        return false;
    replace(pass, from, end, FP_SCRUB_REMOVED);
    return true;
}

static bool remove_bearer(struct pass *pass)
{
    static const char word[] = "Bearer";
    if (!begins(pass, pass->at, word))
        return false;
    size_t gap = pass->at + strlen(word);
    size_t token = skip(pass, gap, is_space_char);
    return token > gap && remove_token(pass, pass->at, token, 1);
}

/* Removes a JSON web token. It begins with eyJ, the base64 of {"; `at` is at the J. */
static bool remove_web_token(struct pass *pass)
{
    enum { LEN_MIN = 20 };
    if (pass->at < pass->done + 2 || memcmp(pass->text.ptr + pass->at - 2, "eyJ", 3) != 0)
        return false;
    return remove_token(pass, pass->at - 2, pass->at - 2, LEN_MIN);
}

/* Replaces an escaped U+0000. Skips any other escape. */
static bool replace_null(struct pass *pass)
{
    const struct fp_str null = FP_STR("\\u0000");
    if (pass->text.len - pass->at < null.len ||
        memcmp(pass->text.ptr + pass->at, null.ptr, null.len) != 0) {
        pass->at++;
        return false;
    }
    replace(pass, pass->at, pass->at + null.len, "\\ufffd");
    return true;
}

static bool is_trigger(struct fp_str text, size_t at)
{
    switch (text.ptr[at]) {
    case '@':
    case '%':
    case '?':
    case '=':
        return true;
    case '#':
        return at > 0 && (unsigned char)text.ptr[at - 1] > ' ';
    case 'B':
    case 'b':
        return at + 2 < text.len && (text.ptr[at + 1] | 0x20) == 'e' &&
               (text.ptr[at + 2] | 0x20) == 'a';
    case 'J':
        return at > 0 && text.ptr[at - 1] == 'y';
    default:
        return false;
    }
}

/* Applies the rule of the character at `at`. True if it removed something and moved past it. */
static bool remove_at(struct pass *pass)
{
    switch (pass->text.ptr[pass->at]) {
    case '\\':
        return replace_null(pass);
    case '@':
        return remove_address(pass, 1);
    case '%':
        return (begins(pass, pass->at, "%40") && remove_address(pass, 3)) ||
               (begins(pass, pass->at, "%2540") && remove_address(pass, 5));
    case '=':
        return remove_parameter(pass) || remove_value(pass);
    case '#':
        return remove_fragment(pass);
    case ':':
        return remove_line(pass);
    case '?':
        return remove_query(pass);
    case 'B':
    case 'b':
        return is_trigger(pass->text, pass->at) && remove_bearer(pass);
    case 'J':
        return remove_web_token(pass);
    default:
        return false;
    }
}

/* Compares sixteen bytes with the triggers. Reads one byte more: `be` is a pair. */
static fp_bytes16 find_triggers(const char *text)
{
    const fp_bytes16 bytes = fp_bytes16_load(text);
    const fp_bytes16 next = fp_bytes16_load(text + 1);
    const fp_bytes16 be = (fp_bytes16)(((bytes | 0x20) == 'b') & ((next | 0x20) == 'e'));
    return (fp_bytes16)((bytes == '@') | (bytes == '%') | (bytes == '?') | (bytes == '=') |
                        (bytes == '#') | (bytes == 'J')) |
           be;
}

/* The characters that have a rule. */
static const bool is_special[256] = {
    ['\\'] = true, ['@'] = true, ['%'] = true, ['='] = true, [':'] = true,
    ['?'] = true,  ['B'] = true, ['b'] = true, ['J'] = true, ['#'] = true,
};

size_t fp_scrub_find_trigger(struct fp_str text, size_t at)
{
    while (at + sizeof(fp_bytes16) < text.len) {
        const uint64_t found = fp_bytes16_bits(find_triggers(text.ptr + at));
        at += found != 0 ? (size_t)__builtin_ctzll(found) : sizeof(fp_bytes16);
        if (found == 0)
            continue;
        if (is_trigger(text, at))
            return at;
        at++;
    }
    while (at < text.len && !(is_special[(unsigned char)text.ptr[at]] && is_trigger(text, at)))
        at++;
    return at;
}

/* Returns the first character at or after `at` that has a rule, or the end. */
static size_t find_special(struct fp_str text, size_t at)
{
    for (; at + sizeof(fp_bytes16) < text.len; at += sizeof(fp_bytes16)) {
        const fp_bytes16 bytes = fp_bytes16_load(text.ptr + at);
        const fp_bytes16 other = (fp_bytes16)((bytes == '\\') | (bytes == ':'));
        const uint64_t found = fp_bytes16_bits(find_triggers(text.ptr + at) | other);
        if (found != 0)
            return at + (size_t)__builtin_ctzll(found);
    }
    while (at < text.len && !is_special[(unsigned char)text.ptr[at]])
        at++;
    return at;
}

bool fp_scrub_text(const struct fp_scrub_rules *rules, struct fp_str text, struct fp_str before,
                   struct fp_buf *out)
{
    struct pass pass = {.rules = rules, .text = text, .before = before, .out = out};
    while ((pass.at = find_special(text, pass.at)) < text.len)
        if (!remove_at(&pass))
            pass.at++;
    if (pass.done == 0)
        return false;
    add(&pass, text.len);
    return true;
}
