/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, selectors: one pass over a selector. It copies what is structure and replaces what may be
 * content.
 */
#include "collector/profile/scrub/selector.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/buf.h"
#include "collector/profile/scrub/url.h"
#include "collector/profile/text.h"

struct selector {
    struct fp_str text;
    size_t at;
    struct fp_buf *out;
    bool any_tag;     /* any word may stand for a tag */
    bool is_at_start; /* of a step: a word would be a tag */
    size_t step;      /* where the current step begins in out */
};

/* Words. */

static bool is_word_char(char c)
{
    return fp_is_alnum(c) || c == '-' || c == '_' || (unsigned char)c >= 0x80;
}

static void add_char(struct selector *selector, char c)
{
    fp_buf_add(selector->out, &c, 1);
}

/* Appends a wildcard, unless one was appended just now. */
static void add_wildcard(struct selector *selector)
{
    const struct fp_buf *out = selector->out;
    if (out->len == 0 || out->data[out->len - 1] != '*')
        add_char(selector, '*');
}

/* Counts that show whether a text is random. */
struct looks {
    size_t hex_digits;
    size_t turns; /* from a digit to a letter */
    size_t case_changes;
};

static struct looks look_at(struct fp_str text)
{
    struct looks looks = {0};
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        const char before = (char)(i > 0 ? text.ptr[i - 1] : '\0');
        looks.hex_digits += fp_hex_value(c) >= 0;
        looks.turns += fp_is_digit(before) && fp_is_alpha(c);
        looks.case_changes +=
            (fp_is_lower(before) && fp_is_upper(c)) || (fp_is_upper(before) && fp_is_lower(c));
    }
    return looks;
}

/* True for a part of a name that a program made up, such as the `1dbjc4n` of `css-1dbjc4n`. */
static bool is_random(struct fp_str piece)
{
    enum { LEN_MAX = 24, HEX_MIN = 8, RANDOM_MIN = 5 };
    const struct looks looks = look_at(piece);
    if (piece.len > LEN_MAX || (piece.len >= HEX_MIN && looks.hex_digits == piece.len))
        return true;
    return piece.len >= RANDOM_MIN && (looks.turns > 0 || looks.case_changes * 2 > piece.len);
}

/* True for hexadecimal digits with hyphens, such as a UUID. */
static bool is_uuid_like(struct fp_str word)
{
    enum { LEN_MIN = 16 };
    size_t hyphens = 0;
    for (size_t i = 0; i < word.len; i++)
        hyphens += word.ptr[i] == '-';
    return word.len >= LEN_MIN && look_at(word).hex_digits + hyphens == word.len;
}

/* Appends a part of a name, with a wildcard for each run of digits. */
static void add_piece(struct selector *selector, struct fp_str piece)
{
    if (is_random(piece)) {
        add_wildcard(selector);
        return;
    }
    for (size_t i = 0; i < piece.len; i++) {
        if (fp_is_digit(piece.ptr[i]))
            add_wildcard(selector);
        else
            add_char(selector, piece.ptr[i]);
    }
}

static void add_word(struct selector *selector, struct fp_str word)
{
    if (is_uuid_like(word)) {
        add_wildcard(selector);
        return;
    }
    size_t begin = 0;
    for (size_t i = 0; i <= word.len; i++) {
        if (i < word.len && word.ptr[i] != '-' && word.ptr[i] != '_')
            continue;
        add_piece(selector, (struct fp_str){word.ptr + begin, i - begin});
        if (i < word.len)
            add_char(selector, word.ptr[i]);
        begin = i + 1;
    }
}

/* Tags. */

/* With a blank before and after each. Other words in their place are likely to be text. */
static const char tags[] =
    " a abbr address area article aside audio b bdi bdo blockquote body br button canvas"
    " caption circle cite clippath code col colgroup data datalist dd defs del details"
    " dfn dialog div dl dt ellipse em embed fieldset figcaption figure footer"
    " foreignobject form frame g h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe"
    " image img input ins kbd label legend li line link main map mark marquee math menu"
    " meta meter nav noscript object ol optgroup option output p param path picture"
    " polygon polyline pre progress q rect rp rt ruby s samp script search section select"
    " slot small source span strong style sub summary sup svg symbol table tbody td"
    " template text textarea tfoot th thead time title tr track tspan u ul use var video"
    " wbr ";

static bool is_tag(struct fp_str word)
{
    enum { LEN_MAX = 16 };
    char blanked[LEN_MAX + 2] = " ";
    if (word.len > LEN_MAX)
        return false;
    for (size_t i = 0; i < word.len; i++)
        blanked[i + 1] = fp_to_lower(word.ptr[i]);
    blanked[word.len + 1] = ' ';
    return memmem(tags, sizeof(tags) - 1, blanked, word.len + 2) != NULL;
}

/* Appends a word at the start of a step. A custom element's name has a hyphen inside. */
static void add_tag(struct selector *selector, struct fp_str word)
{
    FP_ASSERT(word.len > 0);
    const char *hyphen = memchr(word.ptr, '-', word.len);
    bool is_custom = fp_is_alpha(word.ptr[0]) && hyphen != NULL;
    if (is_tag(word))
        fp_buf_add(selector->out, word.ptr, word.len);
    else if (selector->any_tag || is_custom)
        add_word(selector, word);
    else
        add_wildcard(selector);
}

/* Steps. */

static char next_char(const struct selector *selector)
{
    return (char)(selector->at < selector->text.len ? selector->text.ptr[selector->at] : '\0');
}

static struct fp_str take_word(struct selector *selector)
{
    size_t begin = selector->at;
    while (selector->at < selector->text.len && is_word_char(selector->text.ptr[selector->at]))
        selector->at++;
    return (struct fp_str){selector->text.ptr + begin, selector->at - begin};
}

/* Skips to after the closing character, which does not count inside quotes. */
static void skip_past(struct selector *selector, char closing)
{
    char quote = '\0';
    while (selector->at < selector->text.len) {
        char c = selector->text.ptr[selector->at++];
        if (c == '\\' && selector->at < selector->text.len)
            selector->at++;
        else if (quote != '\0')
            quote = (char)(c == quote ? '\0' : quote);
        else if (c == closing)
            return;
        else if (c == '"' || c == '\'')
            quote = c;
    }
}

static void take_attribute(struct selector *selector)
{
    selector->at++;
    add_char(selector, '[');
    add_word(selector, take_word(selector));
    skip_past(selector, ']');
    add_char(selector, ']');
}

static void take_parentheses(struct selector *selector)
{
    selector->at++;
    skip_past(selector, ')');
    fp_buf_add(selector->out, "(*)", 3);
}

/* Takes `.class`, `#id`, `:pseudo-class` or `::pseudo-element`. */
static void take_part(struct selector *selector, char mark)
{
    selector->at++;
    add_char(selector, mark);
    if (mark == ':' && next_char(selector) == ':') {
        selector->at++;
        add_char(selector, mark);
    }
    add_word(selector, take_word(selector));
    if (mark == ':' && next_char(selector) == '(')
        take_parentheses(selector);
}

static bool is_combinator(char c)
{
    return fp_is_space(c) || c == '>' || c == '+' || c == '~' || c == ',';
}

/* Appends what stands between two steps as one character. */
static void take_combinator(struct selector *selector)
{
    char found = ' ';
    for (; is_combinator(next_char(selector)); selector->at++)
        if (!fp_is_space(next_char(selector)) && next_char(selector) != ',')
            found = next_char(selector);
    selector->is_at_start = true;
    if (selector->out->len > 0 && selector->at < selector->text.len)
        add_char(selector, found);
    selector->step = selector->out->len;
}

/* Replaces the current step by a wildcard, to the next one: it may hold an address or a secret. */
static void drop_step(struct selector *selector)
{
    FP_ASSERT(selector->step <= selector->out->len);
    selector->out->len = selector->step;
    while (selector->at < selector->text.len && !is_combinator(next_char(selector)))
        selector->at++;
    add_wildcard(selector);
}

/* Skips an escape and returns its character. */
static uint32_t take_escape(struct selector *selector)
{
    enum { DIGITS_MAX = 6 };
    uint32_t point = 0;
    size_t digits = 0;
    for (; digits < DIGITS_MAX && fp_hex_value(next_char(selector)) >= 0; digits++) {
        point = point << 4 | (uint32_t)fp_hex_value(next_char(selector));
        selector->at++;
    }
    if (digits > 0) {
        selector->at += next_char(selector) == ' ';
        return point;
    }
    point = (unsigned char)next_char(selector);
    selector->at += selector->at < selector->text.len;
    return point;
}

/* True for a character of addresses and `name=value`; unless it is escaped, as in the class
 * `w-1\/2`, also for one of URLs. */
static bool is_of_secret(uint32_t c, bool is_escaped)
{
    if (is_escaped)
        return c == '@' || c == '=';
    return c == '@' || c == '=' || c == '%' || c == '?' || c == '&' || c == '/';
}

/* Takes anything else, which is not part of a name. */
static void take_other(struct selector *selector)
{
    uint32_t c = (unsigned char)selector->text.ptr[selector->at++];
    bool is_escaped = c == '\\';
    if (c == '"' || c == '\'')
        skip_past(selector, (char)c);
    else if (c == '(')
        skip_past(selector, ')');
    else if (is_escaped)
        c = take_escape(selector);
    if (is_of_secret(c, is_escaped))
        drop_step(selector);
    else
        add_wildcard(selector);
}

static void take(struct selector *selector)
{
    const char c = next_char(selector);
    if (is_combinator(c)) {
        take_combinator(selector);
        return;
    }
    if (is_word_char(c)) {
        struct fp_str word = take_word(selector);
        if (selector->is_at_start)
            add_tag(selector, word);
        else
            add_word(selector, word);
    } else if (c == '.' || c == '#' || c == ':') {
        take_part(selector, c);
    } else if (c == '[') {
        take_attribute(selector);
    } else {
        take_other(selector);
        return; /* a word after a wildcard is not more of a tag */
    }
    selector->is_at_start = false;
}

/* Whole selectors. */

static bool is_of_group(char c)
{
    return c == '*' || (fp_hex_value(c) >= 0 && !fp_is_digit(c));
}

/* Returns the length of a group of a UUID with its hyphen, such as `-e*b` of `-e29b`; 0: none. */
static size_t group_len(struct fp_str text, size_t at)
{
    enum { GROUP_MAX = 4 };
    size_t len = 0;
    if (at >= text.len || text.ptr[at] != '-')
        return 0;
    while (at + 1 + len < text.len && is_of_group(text.ptr[at + 1 + len]))
        len++;
    return len > 0 && len <= GROUP_MAX ? len + 1 : 0;
}

/* Returns the length of what wildcards leave of a UUID at this place, such as `*-e*b-*d*-a*-*`,
 * whose letters are others on each page load; 0 if there is no UUID. */
static size_t uuid_len(struct fp_str text, size_t at)
{
    const size_t begin = at;
    if (text.ptr[at++] != '*')
        return 0;
    for (int group = 0; group < 3; group++) {
        const size_t len = group_len(text, at);
        if (len == 0)
            return 0;
        at += len;
    }
    const bool ends = at + 1 < text.len && text.ptr[at] == '-' && text.ptr[at + 1] == '*';
    return ends ? at + 2 - begin : 0;
}

/* Replaces what is left of each UUID by one wildcard, of which another one may consist. */
static void fold_uuids(struct fp_buf *out)
{
    size_t before;
    do {
        before = out->len;
        out->len = 0;
        for (size_t at = 0; at < before;) {
            const size_t len = uuid_len((struct fp_str){(const char *)out->data, before}, at);
            out->data[out->len++] = out->data[at];
            at += len > 0 ? len : 1;
        }
        FP_ASSERT(out->len <= before);
    } while (out->len < before);
}

/* Returns the last steps that fit; of a single long step, its beginning. */
static struct fp_str last_steps(struct fp_str text)
{
    struct fp_str kept = text;
    for (size_t i = 0; i < text.len; i++) {
        if (fp_text_cut(kept, FP_SELECTOR_MAX).len == kept.len)
            return kept;
        if (is_combinator(text.ptr[i]))
            kept = fp_str_skip(text, i + 1);
    }
    return fp_text_cut(kept, FP_SELECTOR_MAX);
}

bool fp_scrub_selector(struct fp_str text, bool any_tag, struct fp_arena *arena,
                       struct fp_str *scrubbed)
{
    struct fp_buf out;
    struct selector selector = {.text = text, .out = &out, .any_tag = any_tag, .is_at_start = true};
    fp_buf_init(&out, arena->max_bytes);
    while (selector.at < text.len && !out.failed) {
        const size_t begin = selector.at;
        take(&selector);
        FP_ASSERT(begin < selector.at && selector.at <= text.len);
    }
    fold_uuids(&out);
    const struct fp_str kept = last_steps((struct fp_str){(const char *)out.data, out.len});
    bool fits = !out.failed && fp_arena_copy(arena, kept, scrubbed);
    fp_buf_release(&out);
    return fits;
}

static const char *const hostless_schemes[] = {"data", "blob", "file", "javascript"};

bool fp_invoker_is_url(struct fp_str invoker)
{
    const struct fp_url url = fp_url_parse(invoker);
    bool is_url = url.host.len > 0;
    for (size_t i = 0; i < FP_COUNT(hostless_schemes); i++)
        is_url = is_url || fp_url_has_scheme(&url, hostless_schemes[i]);
    return is_url;
}

/* Hosts. */

static bool is_host_char(char c)
{
    return fp_is_alnum(c) || c == '-' || c == '.' || c == ':' || c == '[' || c == ']' || c == '_' ||
           c == '*' || (unsigned char)c >= 0x80;
}

/* True for the URL of a browser's extension, whose host is the extension's id. */
static bool is_extension(const struct fp_url *url)
{
    const struct fp_str end = FP_STR("extension");
    return url->host.len > 0 && url->scheme.len > end.len &&
           strncasecmp(url->scheme.ptr + url->scheme.len - end.len, end.ptr, end.len) == 0;
}

/* Returns the host in a host or a URL, of an extension the scheme. */
static struct fp_str host_of(struct fp_str text)
{
    const struct fp_url url = fp_url_parse(text);
    if (is_extension(&url))
        return (struct fp_str){text.ptr, url.scheme.len + 1};
    struct fp_str host = url.host.len > 0 ? url.host : text;
    size_t len = 0;
    while (len < host.len && host.ptr[len] != '/' && host.ptr[len] != '?' && host.ptr[len] != '#')
        len++;
    host.len = len;
    const char *at = len > 0 ? memrchr(host.ptr, '@', len) : NULL;
    return at != NULL ? fp_str_skip(host, (size_t)(at + 1 - host.ptr)) : host;
}

bool fp_scrub_host(struct fp_str host, struct fp_arena *arena, struct fp_str *scrubbed)
{
    host = fp_text_cut(host_of(host), FP_SELECTOR_MAX);
    char *bytes = fp_arena_alloc(arena, host.len);
    if (bytes == NULL)
        return false;
    for (size_t i = 0; i < host.len; i++)
        bytes[i] = (char)(is_host_char(host.ptr[i]) ? fp_to_lower(host.ptr[i]) : '*');
    *scrubbed = (struct fp_str){bytes, host.len};
    return true;
}
