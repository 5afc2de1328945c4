/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of RFC 9651 as small functions, each named after the production it reads.
 *
 * A function advances the reader over the text it accepts. When it returns false, the reader is at
 * the first byte that does not fit, and the whole field is invalid.
 */
#include "sf_dict.h"

#include <string.h>

#define INTEGER_DIGITS_MAX 15
#define DECIMAL_WHOLE_MAX 12
#define DECIMAL_FRACTION_MAX 3

typedef bool char_class(unsigned char c);

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(unsigned char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_alpha(unsigned char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_space(unsigned char c)
{
    return c == ' ';
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

static bool is_printable(unsigned char c)
{
    return c >= 0x20 && c <= 0x7e;
}

static bool is_one_of(unsigned char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static bool is_key_char(unsigned char c)
{
    return is_lower(c) || is_digit(c) || is_one_of(c, "_-.*");
}

static bool is_token_char(unsigned char c)
{
    return is_alpha(c) || is_digit(c) || is_one_of(c, "!#$%&'*+-.^_`|~:/");
}

static bool is_base64_char(unsigned char c)
{
    return is_alpha(c) || is_digit(c) || c == '+' || c == '/';
}

/* Returns the byte at the reader, or NUL at the end: no production here accepts a NUL. */
static unsigned char peek(const struct fleetprof_sf_reader *r)
{
    return r->at < r->end ? (unsigned char)*r->at : '\0';
}

static bool take(struct fleetprof_sf_reader *r, char wanted)
{
    if (r->at == r->end || *r->at != wanted) {
        return false;
    }
    r->at++;
    return true;
}

static size_t take_while(struct fleetprof_sf_reader *r, char_class *accepts)
{
    const char *start = r->at;

    while (r->at < r->end && accepts((unsigned char)*r->at)) {
        r->at++;
    }
    return (size_t)(r->at - start);
}

static struct fleetprof_slice since(const struct fleetprof_sf_reader *r, const char *start)
{
    return (struct fleetprof_slice){start, (size_t)(r->at - start)};
}

/* §4.2.4 */
static bool read_number(struct fleetprof_sf_reader *r, enum fleetprof_sf_type *type)
{
    size_t digits;

    *type = FLEETPROF_SF_INTEGER;
    (void)take(r, '-');
    digits = take_while(r, is_digit);
    if (digits == 0 || digits > INTEGER_DIGITS_MAX) {
        return false;
    }
    if (!take(r, '.')) {
        return true;
    }
    *type = FLEETPROF_SF_DECIMAL;
    if (digits > DECIMAL_WHOLE_MAX) {
        return false;
    }
    digits = take_while(r, is_digit);
    return digits > 0 && digits <= DECIMAL_FRACTION_MAX;
}

/* §4.2.5 */
static bool read_string(struct fleetprof_sf_reader *r)
{
    (void)take(r, '"');
    while (is_printable(peek(r))) {
        if (take(r, '"')) {
            return true;
        }
        if (take(r, '\\') && peek(r) != '"' && peek(r) != '\\') {
            return false;
        }
        r->at++;
    }
    return false;
}

/* §4.2.6; the caller has seen that the first character may start a token. */
static bool read_token(struct fleetprof_sf_reader *r)
{
    (void)take_while(r, is_token_char);
    return true;
}

/* §4.2.7: padding may be absent, as the RFC asks parsers to allow, but not incomplete. */
static bool read_bytes(struct fleetprof_sf_reader *r)
{
    size_t data;
    size_t padding = 0;

    (void)take(r, ':');
    data = take_while(r, is_base64_char);
    while (take(r, '=')) {
        padding++;
    }
    if (data % 4 == 1 || padding > 2 || (padding > 0 && (data + padding) % 4 != 0)) {
        return false;
    }
    return take(r, ':');
}

/* §4.2.8 */
static bool read_boolean(struct fleetprof_sf_reader *r)
{
    (void)take(r, '?');
    return take(r, '0') || take(r, '1');
}

/* §4.2.9 */
static bool read_date(struct fleetprof_sf_reader *r)
{
    enum fleetprof_sf_type type;

    (void)take(r, '@');
    return read_number(r, &type) && type == FLEETPROF_SF_INTEGER;
}

/* State of a UTF-8 sequence: the number of bytes that must follow, and the range of the next. */
struct utf8 {
    unsigned follow;
    unsigned char low;
    unsigned char high;
};

static bool utf8_lead(struct utf8 *state, unsigned char byte)
{
    *state = (struct utf8){0, 0x80, 0xbf};
    if (byte < 0x80) {
        return true;
    }
    if (byte < 0xc2 || byte > 0xf4) {
        return false;
    }
    state->follow = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    if (byte == 0xe0) {
        state->low = 0xa0; /* overlong */
    } else if (byte == 0xed) {
        state->high = 0x9f; /* surrogates */
    } else if (byte == 0xf0) {
        state->low = 0x90; /* overlong */
    } else if (byte == 0xf4) {
        state->high = 0x8f; /* past U+10FFFF */
    }
    return true;
}

static bool utf8_accept(struct utf8 *state, unsigned char byte)
{
    if (state->follow == 0) {
        return utf8_lead(state, byte);
    }
    if (byte < state->low || byte > state->high) {
        return false;
    }
    *state = (struct utf8){state->follow - 1, 0x80, 0xbf};
    return true;
}

static int lower_hex(unsigned char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads two lower-case hex digits after a '%'. */
static bool read_escape(struct fleetprof_sf_reader *r, unsigned char *byte)
{
    int high;
    int low;

    high = lower_hex(peek(r));
    if (high < 0) {
        return false;
    }
    r->at++;
    low = lower_hex(peek(r));
    if (low < 0) {
        return false;
    }
    r->at++;
    *byte = (unsigned char)(high * 16 + low);
    return true;
}

/* §4.2.10: printable ASCII and lower-case escapes that together are UTF-8. */
static bool read_display_string(struct fleetprof_sf_reader *r)
{
    struct utf8 utf8 = {0, 0, 0};
    unsigned char byte;

    (void)take(r, '%');
    if (!take(r, '"')) {
        return false;
    }
    while (is_printable(peek(r))) {
        if (take(r, '"')) {
            return utf8.follow == 0;
        }
        byte = peek(r);
        r->at++;
        if (byte == '%' && !read_escape(r, &byte)) {
            return false;
        }
        if (!utf8_accept(&utf8, byte)) {
            return false;
        }
    }
    return false;
}

/* §4.2.3.1 */
static bool read_bare_item(struct fleetprof_sf_reader *r, enum fleetprof_sf_type *type)
{
    unsigned char first = peek(r);

    if (first == '-' || is_digit(first)) {
        return read_number(r, type);
    }
    if (first == '*' || is_alpha(first)) {
        *type = FLEETPROF_SF_TOKEN;
        return read_token(r);
    }
    switch (first) {
    case '"':
        *type = FLEETPROF_SF_STRING;
        return read_string(r);
    case ':':
        *type = FLEETPROF_SF_BYTES;
        return read_bytes(r);
    case '?':
        *type = FLEETPROF_SF_BOOLEAN;
        return read_boolean(r);
    case '@':
        *type = FLEETPROF_SF_DATE;
        return read_date(r);
    case '%':
        *type = FLEETPROF_SF_DISPLAY_STRING;
        return read_display_string(r);
    default:
        return false;
    }
}

/* §4.2.3.3 */
static bool read_key(struct fleetprof_sf_reader *r)
{
    if (!is_lower(peek(r)) && peek(r) != '*') {
        return false;
    }
    (void)take_while(r, is_key_char);
    return true;
}

/* §4.2.3.2 */
static bool read_parameters(struct fleetprof_sf_reader *r)
{
    enum fleetprof_sf_type type;

    while (take(r, ';')) {
        (void)take_while(r, is_space);
        if (!read_key(r)) {
            return false;
        }
        if (take(r, '=') && !read_bare_item(r, &type)) {
            return false;
        }
    }
    return true;
}

/* §4.2.1.2, up to and including the closing parenthesis. */
static bool read_inner_list(struct fleetprof_sf_reader *r)
{
    enum fleetprof_sf_type type;

    (void)take(r, '(');
    for (;;) {
        (void)take_while(r, is_space);
        if (take(r, ')')) {
            return true;
        }
        if (!read_bare_item(r, &type) || !read_parameters(r)) {
            return false;
        }
        if (peek(r) != ' ' && peek(r) != ')') {
            return false;
        }
    }
}

static bool read_value(struct fleetprof_sf_reader *r, enum fleetprof_sf_type *type)
{
    if (peek(r) == '(') {
        *type = FLEETPROF_SF_INNER_LIST;
        return read_inner_list(r);
    }
    return read_bare_item(r, type);
}

static bool read_member(struct fleetprof_sf_reader *r, struct fleetprof_sf_member *member)
{
    const char *start = r->at;

    if (!read_key(r)) {
        return false;
    }
    member->key = since(r, start);
    member->type = FLEETPROF_SF_BOOLEAN;
    member->value = (struct fleetprof_slice){r->at, 0};
    if (take(r, '=')) {
        const char *value = r->at;

        if (!read_value(r, &member->type)) {
            return false;
        }
        member->value = since(r, value);
    }
    if (!read_parameters(r)) {
        return false;
    }
    member->text = since(r, start);
    return true;
}

/* Skips the separator before a member: nothing before the first, else a comma. */
static enum fleetprof_sf_step read_separator(struct fleetprof_sf_reader *r)
{
    if (!r->started) {
        r->started = true;
        (void)take_while(r, is_space);
        return r->at == r->end ? FLEETPROF_SF_END : FLEETPROF_SF_MEMBER;
    }
    (void)take_while(r, is_blank);
    if (r->at == r->end) {
        return FLEETPROF_SF_END;
    }
    if (!take(r, ',')) {
        return FLEETPROF_SF_ERROR;
    }
    (void)take_while(r, is_blank);
    return FLEETPROF_SF_MEMBER;
}

struct fleetprof_sf_reader fleetprof_sf_read(struct fleetprof_slice text)
{
    /* An absent value may be NULL, to which no offset may be added. */
    const char *start = text.data == NULL ? "" : text.data;

    return (struct fleetprof_sf_reader){start, start + text.len, false};
}

enum fleetprof_sf_step fleetprof_sf_next(struct fleetprof_sf_reader *reader,
                                         struct fleetprof_sf_member *member)
{
    enum fleetprof_sf_step step = read_separator(reader);

    if (step == FLEETPROF_SF_MEMBER && !read_member(reader, member)) {
        return FLEETPROF_SF_ERROR;
    }
    return step;
}

bool fleetprof_sf_find(struct fleetprof_slice text, struct fleetprof_slice key,
                       struct fleetprof_sf_member *member)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(text);
    struct fleetprof_sf_member next;
    enum fleetprof_sf_step step;
    bool found = false;

    while ((step = fleetprof_sf_next(&reader, &next)) == FLEETPROF_SF_MEMBER) {
        if (fleetprof_slice_equal(next.key, key)) {
            *member = next;
            found = true;
        }
    }
    return found && step == FLEETPROF_SF_END;
}
