/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, scan: braces in a stream of records, and one element in a page.
 */
#include "collector/format/speed_tracer/scan.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/bytes.h"
#include "collector/base/quoted.h"

/* Records. */

enum { BLOCK_LEN = 64 };

/* 64 bytes of a record as bit masks, first byte in the lowest bit. */
struct block {
    uint64_t quotes;
    uint64_t apostrophes;
    uint64_t backslashes;
    uint64_t brackets; /* and braces */
    uint64_t spaces;   /* and control characters */
    uint64_t longs; /* u and /: if a backslash precedes them, the escape may have a shorter form */
};

/* The state of a record's scan at the begin of a block. */
struct block_state {
    bool is_escaped;    /* the block's first byte */
    uint64_t in_string; /* all bits or none */
    uint32_t braces;    /* open ones */
    uint32_t brackets;
};

static void read_block(const char bytes[BLOCK_LEN], struct block *block)
{
    *block = (struct block){0};
    for (size_t at = 0; at < BLOCK_LEN; at += sizeof(fp_bytes16)) {
        const fp_bytes16 part = fp_bytes16_load(bytes + at);
        const fp_bytes16 brace = part | 0x20; /* or bracket */
        block->quotes |= fp_bytes16_bits((fp_bytes16)(part == '"')) << at;
        block->apostrophes |= fp_bytes16_bits((fp_bytes16)(part == '\'')) << at;
        block->backslashes |= fp_bytes16_bits((fp_bytes16)(part == '\\')) << at;
        block->brackets |= fp_bytes16_bits((fp_bytes16)((brace == '{') | (brace == '}'))) << at;
        block->spaces |= fp_bytes16_bits((fp_bytes16)(part <= ' ')) << at;
        block->longs |= fp_bytes16_bits((fp_bytes16)((part == 'u') | (part == '/'))) << at;
    }
}

static void read_last_block(const char *bytes, size_t len, struct block *block)
{
    char last[BLOCK_LEN] = {0};
    memcpy(last, bytes, len);
    read_block(last, block);
}

/* Returns the escaped bytes: those after a backslash that is not itself escaped. */
static uint64_t find_escaped(uint64_t backslashes, bool *is_escaped)
{
    uint64_t escaped = *is_escaped;
    *is_escaped = false;
    for (uint64_t left = backslashes & ~escaped; left != 0;) {
        const uint64_t escape = left & -left;
        *is_escaped = escape >> (BLOCK_LEN - 1) != 0;
        escaped |= escape << 1;
        left &= ~(escape | escape << 1);
    }
    return escaped;
}

/* Returns the bytes of strings, each from its opening quote up to its closing one. */
static uint64_t find_strings(uint64_t quotes, uint64_t *in_string)
{
    uint64_t strings = quotes;
    for (unsigned distance = 1; distance < BLOCK_LEN; distance *= 2)
        strings ^= strings << distance; /* then: odd number of quotes up to here */
    strings ^= *in_string;
    *in_string = strings >> (BLOCK_LEN - 1) != 0 ? UINT64_MAX : 0;
    return strings;
}

/* Counts braces, and brackets for the depth, until the record is closed. Returns how many bytes of
 * the block belong to the record. */
static size_t count_brackets(const char *bytes, uint64_t brackets, struct block_state *state,
                             uint32_t *depth)
{
    for (; brackets != 0; brackets &= brackets - 1) {
        const size_t at = (size_t)__builtin_ctzll(brackets);
        const char c = bytes[at];
        if (c == '}' && --state->braces == 0)
            return at + 1;
        state->braces += c == '{';
        state->brackets += c == '[';
        state->brackets -= c == ']' && state->brackets > 0;
        if (state->braces + state->brackets > *depth)
            *depth = state->braces + state->brackets;
    }
    return BLOCK_LEN;
}

/* Does the same as skip_object, byte by byte, for a text that is not JSON: it has a backslash
 * outside of strings, or an apostrophe there, which also begins a string. */
static bool skip_odd_object(const char *bytes, size_t *at, size_t end)
{
    uint32_t braces = 0;
    for (size_t i = *at; i < end;) {
        const char c = bytes[i];
        i = c == '"' || c == '\'' ? fp_quoted_end(bytes, i, end) : i + 1;
        braces += c == '{';
        if (c == '}' && --braces == 0) {
            *at = i;
            return true;
        }
    }
    *at = end;
    return false;
}

/* Moves *at past the object that begins there, or to the end. True if the object is closed. */
static bool skip_object(const char *bytes, size_t *at, size_t end, struct fp_st_record *record)
{
    struct block_state state = {0};
    for (size_t begin = *at; begin < end; begin += BLOCK_LEN) {
        struct block block;
        if (end - begin >= BLOCK_LEN)
            read_block(bytes + begin, &block);
        else
            read_last_block(bytes + begin, end - begin, &block);
        const uint64_t escaped = find_escaped(block.backslashes, &state.is_escaped);
        const uint64_t strings = find_strings(block.quotes & ~escaped, &state.in_string);
        const size_t len =
            count_brackets(bytes + begin, block.brackets & ~strings, &state, &record->depth);
        const uint64_t own = UINT64_MAX >> (BLOCK_LEN - len);
        if (((block.apostrophes | block.backslashes) & ~strings & own) != 0)
            return skip_odd_object(bytes, at, end);
        if ((((block.spaces & ~strings) | (block.longs & escaped)) & own) != 0)
            record->is_plain = false;
        if (state.braces == 0) {
            *at = begin + len;
            return true;
        }
    }
    *at = end;
    return false;
}

/* Returns the next line after `at` that begins with a brace, the body's end if there is none.
 * Caches it for all positions before it: there may be many records per line. */
static size_t next_brace_line(struct fp_st_scan *scan, size_t at)
{
    const struct fp_str body = scan->body;
    if (at >= scan->line_above && at < scan->brace_line)
        return scan->brace_line;
    scan->line_above = at;
    while (at < body.len) {
        const char *newline = memchr(body.ptr + at, '\n', body.len - at);
        at = newline != NULL ? (size_t)(newline - body.ptr) + 1 : body.len;
        if (at < body.len && body.ptr[at] == '{')
            break;
    }
    scan->brace_line = at;
    return at;
}

static bool is_element_end(struct fp_str body, size_t at)
{
    return fp_str_has_prefix_nocase(fp_str_skip(body, at), FP_STR("</div"));
}

/* Moves to the next brace that may begin a record. False if there is none. */
static bool skip_junk(struct fp_st_scan *scan, struct fp_st_record *record)
{
    const struct fp_str body = scan->body;
    for (; scan->at < body.len; scan->at++) {
        const char c = body.ptr[scan->at];
        if (scan->in_list && scan->at >= scan->list_end) {
            scan->at = body.len;
            return false;
        }
        if (c == '{')
            return true;
        if (fp_is_space(c))
            continue;
        if (scan->in_page && c == '<' && is_element_end(body, scan->at)) {
            scan->at = body.len;
            return false;
        }
        if (scan->in_list && c == ',')
            continue;
        if (!record->has_junk)
            record->junk_offset = scan->at;
        record->has_junk = true;
    }
    return false;
}

enum fp_st_scan_result fp_st_scan_next(struct fp_st_scan *scan, struct fp_st_record *record)
{
    *record = (struct fp_st_record){.offset = scan->body.len, .is_plain = true};
    if (!skip_junk(scan, record))
        return FP_ST_SCAN_END;
    record->offset = scan->at;
    size_t end = scan->at < scan->lines_end ? next_brace_line(scan, scan->at) : scan->body.len;
    bool closed = skip_object(scan->body.ptr, &scan->at, end, record);
    FP_ASSERT(record->offset < scan->at && scan->at <= scan->body.len);
    record->text = (struct fp_str){scan->body.ptr + record->offset, scan->at - record->offset};
    return closed ? FP_ST_SCAN_FOUND : FP_ST_SCAN_TRUNCATED;
}

bool fp_st_scan_resync(struct fp_st_scan *scan, const struct fp_st_record *record)
{
    const size_t line = next_brace_line(scan, record->offset);
    if (line >= scan->at)
        return false;
    scan->lines_end = scan->at;
    scan->at = line;
    return true;
}

/* Posted bodies. */

static size_t skip_space(struct fp_str text, size_t at)
{
    while (at < text.len && fp_is_space(text.ptr[at]))
        at++;
    return at;
}

/* Returns the position after the value that begins at `at`: a comma, a closing bracket or the
 * end. */
static size_t skip_value(struct fp_str text, size_t at)
{
    size_t depth = 0;
    while (at < text.len) {
        const char c = text.ptr[at];
        const bool closes = c == '}' || c == ']';
        if (depth == 0 && (c == ',' || closes))
            break;
        depth += c == '{' || c == '[';
        depth -= closes;
        at = c == '"' ? fp_quoted_end(text.ptr, at, text.len) : at + 1;
    }
    return at;
}

bool fp_st_broken_post_find(const struct fp_st_record *text, struct fp_st_broken_post *post)
{
    const struct fp_str header = FP_STR("\"header\"");
    const struct fp_str data = FP_STR("\"data\"");
    const struct fp_str body = text->text;
    *post = (struct fp_st_broken_post){0};
    for (size_t at = skip_space(body, 1); at < body.len && body.ptr[at] == '"';) {
        const size_t name_end = fp_quoted_end(body.ptr, at, body.len);
        const struct fp_str name = {body.ptr + at, name_end - at};
        const size_t colon = skip_space(body, name_end);
        const size_t value = skip_space(body, colon + 1);
        if (colon >= body.len || value >= body.len || body.ptr[colon] != ':')
            return false;
        post->records = text->offset + value + 1;
        if (fp_str_equal(name, data))
            return body.ptr[value] == '[';
        if (post->header.len == 0 && !fp_str_equal(name, header))
            return false;
        at = skip_value(body, value);
        if (fp_str_equal(name, header))
            post->header = (struct fp_str){body.ptr + value, at - value};
        at = at < body.len ? skip_space(body, at + 1) : at;
    }
    return false;
}

/* True if the text from `at` on has only further members of an object, and its end if it is not
 * truncated. */
static bool are_last_members(struct fp_str text, size_t at)
{
    for (at = skip_space(text, at); at < text.len && text.ptr[at] == ',';) {
        at = skip_space(text, at + 1);
        if (at >= text.len || text.ptr[at] != '"')
            return false;
        at = skip_space(text, fp_quoted_end(text.ptr, at, text.len));
        if (at >= text.len || text.ptr[at] != ':')
            return false;
        at = skip_value(text, at + 1);
    }
    return at >= text.len || (text.ptr[at] == '}' && skip_space(text, at + 1) == text.len);
}

size_t fp_st_broken_post_end(struct fp_str body, size_t records)
{
    enum { TRIES = 8 }; /* each may scan the whole body */
    size_t end = body.len;
    for (int tries = 0; tries < TRIES && end > records; tries++) {
        const char *bracket = memrchr(body.ptr + records, ']', end - records);
        if (bracket == NULL)
            break;
        end = (size_t)(bracket - body.ptr);
        if (are_last_members(body, end + 1))
            return end;
    }
    return body.len;
}

/* Pages. */

struct attribute {
    struct fp_str name;
    struct fp_str value;
};

/* Reads up to a delimiter, white space or the end. */
static struct fp_str read_token(struct fp_str html, size_t *at, const char *delimiters)
{
    const size_t begin = *at;
    while (*at < html.len && !fp_is_space(html.ptr[*at]) &&
           strchr(delimiters, html.ptr[*at]) == NULL)
        (*at)++;
    return (struct fp_str){html.ptr + begin, *at - begin};
}

static struct fp_str read_value(struct fp_str html, size_t *at)
{
    if (*at >= html.len || (html.ptr[*at] != '"' && html.ptr[*at] != '\''))
        return read_token(html, at, ">");
    const char quote = html.ptr[*at];
    const size_t begin = ++*at;
    const char *end = memchr(html.ptr + begin, quote, html.len - begin);
    const size_t len = end != NULL ? (size_t)(end - html.ptr) - begin : html.len - begin;
    *at = begin + len + (end != NULL);
    return (struct fp_str){html.ptr + begin, len};
}

/* Reads the next attribute of a tag. False if there is none; *at is then after the tag. */
static bool read_attribute(struct fp_str html, size_t *at, struct attribute *attribute)
{
    while (*at < html.len && (fp_is_space(html.ptr[*at]) || strchr("/", html.ptr[*at]) != NULL))
        (*at)++; /* also U+0000, which strchr finds in every text */
    if (*at >= html.len || html.ptr[*at] == '>') {
        *at += *at < html.len;
        return false;
    }
    *attribute = (struct attribute){.name = read_token(html, at, "=>/")};
    if (*at < html.len && html.ptr[*at] == '=') {
        ++*at;
        attribute->value = read_value(html, at);
    }
    return true;
}

/* Returns the charset in `text/html; charset=x`, "" if there is none. */
static struct fp_str charset_in(struct fp_str content)
{
    const struct fp_str name = FP_STR("charset=");
    for (size_t at = 0; at < content.len; at++) {
        struct fp_str rest = fp_str_skip(content, at);
        if (!fp_str_has_prefix_nocase(rest, name))
            continue;
        size_t begin = name.len;
        return read_token(rest, &begin, ";\"'");
    }
    return FP_STR("");
}

/* Reads the tag whose name begins at *at, and moves after it. True if it has the id traceData. The
 * page keeps the charset of a tag before it. */
static bool read_tag(struct fp_str html, size_t *at, struct fp_st_page *page)
{
    *page = (struct fp_st_page){.charset = page->charset};
    bool found = false;
    struct attribute attribute;
    const struct fp_str name = read_token(html, at, ">/");
    bool is_meta = fp_str_equal_nocase(name, FP_STR("meta"));
    while (read_attribute(html, at, &attribute)) {
        if (is_meta && page->charset.len == 0) {
            if (fp_str_equal_nocase(attribute.name, FP_STR("charset")))
                page->charset = fp_str_trim(attribute.value);
            else if (fp_str_equal_nocase(attribute.name, FP_STR("content")))
                page->charset = charset_in(attribute.value);
        }
        if (fp_str_equal_nocase(attribute.name, FP_STR("id")))
            found = fp_str_equal(attribute.value, FP_STR("traceData"));
        else if (fp_str_equal_nocase(attribute.name, FP_STR("version")))
            page->version = attribute.value;
        else if (fp_str_equal_nocase(attribute.name, FP_STR("isRaw")))
            page->is_raw = fp_str_equal(attribute.value, FP_STR("true"));
    }
    page->begin = *at;
    return found;
}

bool fp_st_page_find(struct fp_str html, struct fp_st_page *page)
{
    *page = (struct fp_st_page){0};
    for (size_t at = 0; at < html.len;) {
        const char *open = memchr(html.ptr + at, '<', html.len - at);
        if (open == NULL)
            return false;
        at = (size_t)(open - html.ptr) + 1;
        if (at < html.len && fp_is_alpha(html.ptr[at]) && read_tag(html, &at, page))
            return true;
    }
    return false;
}
