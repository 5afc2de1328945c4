/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, paths: one pass from slash to slash; each rule looks at one segment. Browsers take a
 * backslash for a slash.
 */
#include "collector/profile/scrub/path.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/profile/scrub/text.h"

#include <strings.h>

enum {
    NUMBER_MIN = 4,      /* digits of a whole segment; shorter ones are pages and ports */
    PART_NUMBER_MIN = 6, /* digits between hyphens: `nike-air-1994` is a name */
    HEX_MIN = 8,
    TOKEN_MIN = 20,
    RUN_MIN = 40, /* letters and digits in a row: no word is that long */
    UUID_LEN = 36,
};

/* ---- classes ---- */

static bool is_hex(char c)
{
    return fp_hex_value(c) >= 0;
}

static size_t count_digits(struct fp_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += fp_is_digit(text.ptr[i]);
    return count;
}

/* Two digits as a number; 100 if they are not digits. */
static int two_digits(const char *text)
{
    return fp_is_digit(text[0]) && fp_is_digit(text[1]) ? (text[0] - '0') * 10 + text[1] - '0'
                                                        : 100;
}

/* Splits a text into at most `most` groups of digits with the same separator between them. Returns
 * how many; 0 if it is anything else. */
static size_t split_groups(struct fp_str text, struct fp_str *groups, size_t most)
{
    char separator = '\0';
    size_t count = 0;
    for (size_t at = 0; at <= text.len && count < most; at++) {
        const size_t begin = at;
        while (at < text.len && fp_is_digit(text.ptr[at]))
            at++;
        groups[count++] = (struct fp_str){text.ptr + begin, at - begin};
        if (at == begin)
            return 0;
        if (at == text.len)
            return count;
        if ((separator != '\0' && separator != text.ptr[at]) ||
            (separator = text.ptr[at], strchr("-_.", separator) == NULL))
            return 0;
    }
    return 0;
}

static bool is_year(struct fp_str group)
{
    return group.len == 4 && (two_digits(group.ptr) == 19 || two_digits(group.ptr) == 20);
}

/* True for a number of one or two digits from 1 to most. */
static bool is_up_to(struct fp_str group, int most)
{
    int number = 0;
    for (size_t i = 0; i < group.len && group.len <= 2; i++)
        number = number * 10 + group.ptr[i] - '0';
    return number >= 1 && number <= most;
}

/* True for the end of a season: 25 after 2024. */
static bool is_next_year(struct fp_str year, struct fp_str group)
{
    return group.len == 2 && two_digits(group.ptr) == (two_digits(year.ptr + 2) + 1) % 100;
}

/* True for 2024, 20240517, 2024-05, 2024-05-17, 17-05-2024, 05-2024, 2023-2024 and 2023-24. */
static bool is_date(struct fp_str text)
{
    enum { MONTH_MAX = 12, DAY_MAX = 31, DAY_LEN = 8 };
    struct fp_str groups[3];
    const size_t count = split_groups(text, groups, FP_COUNT(groups));
    const struct fp_str *last = &groups[count - (count > 0)];
    if (count == 1 && text.len == DAY_LEN)
        return is_year((struct fp_str){text.ptr, 4}) &&
               is_up_to((struct fp_str){text.ptr + 4, 2}, MONTH_MAX) &&
               is_up_to((struct fp_str){text.ptr + 6, 2}, DAY_MAX);
    if (count == 3 && is_year(*last))
        return is_up_to(groups[0], DAY_MAX) && is_up_to(groups[1], DAY_MAX);
    if (count == 2 && is_year(*last) && is_up_to(groups[0], MONTH_MAX))
        return true;
    if (count == 0 || !is_year(groups[0]))
        return false;
    if (count == 2)
        return is_up_to(*last, MONTH_MAX) || is_year(*last) || is_next_year(groups[0], *last);
    return count == 1 || (is_up_to(groups[1], MONTH_MAX) && is_up_to(*last, DAY_MAX));
}

/* ---- rules, each for a text without percent-encoding ---- */

/* True for a version, and not a domain: 18.2.0, v2, 18.0.0-rc.1, 1.2.js; not 163.example. */
static bool is_version(struct fp_str text)
{
    const bool has_v = text.len >= 2 && (text.ptr[0] | 0x20) == 'v';
    if (!fp_is_digit(text.ptr[has_v]))
        return false;
    size_t dot = text.len;
    while (dot > 0 && fp_is_alpha(text.ptr[dot - 1]))
        dot--;
    const bool is_domain = dot > 0 && text.ptr[dot - 1] == '.' && text.len - dot >= 2;
    return !is_domain || fp_scrub_is_file(text);
}

/* True for a text with something before and behind an at sign. */
static bool is_address(struct fp_str text)
{
    const char *at = text.len > 0 ? memchr(text.ptr + 1, '@', text.len - 1) : NULL;
    if (at == NULL)
        return false;
    const struct fp_str domain = fp_str_skip(text, (size_t)(at - text.ptr) + 1);
    return domain.len > 0 && !is_version(domain);
}

static bool is_uuid(const char *text)
{
    for (size_t i = 0; i < UUID_LEN; i++) {
        const bool is_hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_hyphen ? text[i] != '-' : !is_hex(text[i]))
            return false;
    }
    return true;
}

/* True if a UUID stands anywhere in the text. Looks at each hyphen once. */
static bool has_uuid(struct fp_str text)
{
    for (size_t i = 8; i + UUID_LEN - 8 <= text.len; i++)
        if (text.ptr[i] == '-' && is_uuid(text.ptr + i - 8))
            return true;
    return false;
}

/* True for a short word and a number or a year, such as cafe2024. */
static bool is_word_and_number(struct fp_str text)
{
    enum { WORD_MAX = 6, NUMBER_MAX = 4 };
    size_t letters = 0;
    while (letters < text.len && fp_is_alpha(text.ptr[letters]))
        letters++;
    const struct fp_str number = fp_str_skip(text, letters);
    return letters >= 3 && letters <= WORD_MAX && number.len <= NUMBER_MAX &&
           count_digits(number) == number.len;
}

static bool is_hash(struct fp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_hex(text.ptr[i]))
            return false;
    const size_t digits = count_digits(text);
    return text.len >= HEX_MIN && digits > 0 && digits < text.len && !is_word_and_number(text);
}

/* True for 10.0.0.1. */
static bool is_ipv4(struct fp_str text)
{
    size_t dots = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && fp_is_digit(text.ptr[i]))
            continue;
        if (i == begin || i - begin > 3 || (i < text.len && text.ptr[i] != '.'))
            return false;
        dots += i < text.len;
        begin = i + 1;
    }
    return dots == 3;
}

/* True for an address of a machine, such as 2001:db8::1. */
static bool is_machine(struct fp_str text)
{
    enum { LEN_MIN = 6 };
    if (is_ipv4(text))
        return true;
    size_t colons = 0;
    for (size_t i = 0; i < text.len; i++) {
        colons += text.ptr[i] == ':';
        if (!is_hex(text.ptr[i]) && (text.ptr[i] == '\0' || strchr(":[]", text.ptr[i]) == NULL))
            return false;
    }
    return text.len >= LEN_MIN && colons >= 2 && count_digits(text) > 0;
}

/* True for a number, with or without separators: 4711, 123-456-789, 52.5200,13.4050. Not for dates,
 * versions and ranges such as 10-50. */
static bool is_number(struct fp_str text)
{
    size_t dots = 0;
    size_t others = 0;
    size_t run = 0;
    size_t longest = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        dots += c == '.';
        others += c != '.' && !fp_is_digit(c);
        run = fp_is_digit(c) ? run + 1 : 0;
        longest = run > longest ? run : longest;
        if (!fp_is_digit(c) && (c == '\0' || strchr("-_.+ :,()/", c) == NULL))
            return false;
    }
    if ((longest < NUMBER_MIN && count_digits(text) < PART_NUMBER_MIN) || is_date(text))
        return false;
    return !(others == 0 && (dots == 1 || dots == 2)); /* 18.2.0 */
}

/* Counts where a text changes between letters and digits, or from lower to upper case. Words change
 * rarely, random texts at nearly every second character. */
static size_t count_changes(struct fp_str text)
{
    size_t count = 0;
    for (size_t i = 1; i < text.len; i++) {
        const char before = text.ptr[i - 1];
        const char c = text.ptr[i];
        if (!fp_is_alnum(before) || !fp_is_alnum(c))
            continue;
        count += fp_is_digit(before) != fp_is_digit(c) ||
                 (fp_is_alpha(before) && !fp_is_upper(before) && fp_is_upper(c));
    }
    return count;
}

static bool is_token_char(char c)
{
    return fp_is_alnum(c) || (c != '\0' && strchr("-_.~+/=", c) != NULL);
}

static bool has_long_run(struct fp_str text)
{
    size_t run = 0;
    for (size_t i = 0; i < text.len && run < RUN_MIN; i++)
        run = fp_is_alnum(text.ptr[i]) ? run + 1 : 0;
    return run == RUN_MIN;
}

/* True if a JSON web token stands in a text of token's characters. It begins with eyJ, the base64
 * of
 * {". */
static bool has_web_token(struct fp_str text)
{
    const struct fp_str begin = FP_STR("eyJ");
    for (size_t i = 0; i + TOKEN_MIN <= text.len; i++)
        if ((i == 0 || !fp_is_alnum(text.ptr[i - 1])) &&
            fp_str_has_prefix(fp_str_skip(text, i), begin))
            return true;
    return false;
}

/* Judges a text of token's characters. */
static bool is_token(struct fp_str text)
{
    enum { CHARS_PER_CHANGE = 5, WITHOUT_DIGITS = 4 };
    if (text.len < TOKEN_MIN)
        return false;
    if (has_web_token(text) || has_long_run(text))
        return true;
    const size_t per_change = count_digits(text) > 0 ? CHARS_PER_CHANGE : WITHOUT_DIGITS;
    return count_changes(text) * per_change >= text.len;
}

static bool has_token(struct fp_str text)
{
    for (size_t begin = 0, end; begin < text.len; begin = end + 1) {
        end = begin;
        while (end < text.len && is_token_char(text.ptr[end]))
            end++;
        if (is_token((struct fp_str){text.ptr + begin, end - begin}))
            return true;
    }
    return false;
}

/* ---- segments ---- */

struct path_pass {
    const struct fp_scrub_kept *kept;
    char *scratch; /* as long as the path */
    char *out;     /* twice as long, and a little more */
    size_t len;
    size_t cap;
};

static void add(struct path_pass *pass, struct fp_str text)
{
    FP_ASSERT(text.len <= pass->cap - pass->len);
    if (text.len > 0)
        memcpy(pass->out + pass->len, text.ptr, text.len);
    pass->len += text.len;
}

/* A segment may be encoded again on its way. */
enum { TIMES_MAX = 3 };

/* True if the character, or its percent-encoding, stands at `at`. *len: of what stands there. */
static bool is_encoded(struct fp_str text, size_t at, char c, size_t *len)
{
    const struct fp_str rest = fp_str_skip(text, at);
    *len = 1;
    if (rest.ptr[0] != '%')
        return rest.ptr[0] == c;
    size_t digits = 1;
    for (int i = 1; i < TIMES_MAX && fp_str_has_prefix(fp_str_skip(rest, digits), FP_STR("25"));
         i++)
        digits += 2;
    if (digits + 2 > rest.len)
        return false;
    *len = digits + 2;
    return fp_hex_value(rest.ptr[digits]) == c >> 4 &&
           fp_hex_value(rest.ptr[digits + 1]) == (c & 0xF);
}

/* Returns the segment without its parameters: from the first semicolon on, if an equals sign
 * follows. */
static struct fp_str without_parameters(struct fp_str segment)
{
    size_t begin = segment.len;
    size_t len = 1;
    for (size_t i = 0; i < segment.len; i += len)
        if (is_encoded(segment, i, ';', &len)) {
            begin = i;
            break;
        }
    for (size_t i = begin; i < segment.len; i += len)
        if (is_encoded(segment, i, '=', &len))
            return (struct fp_str){segment.ptr, begin};
    return segment;
}

/* Returns the character at `at`, decoded. *len: of what stands there. */
static char plain_char(struct fp_str text, size_t at, size_t *len)
{
    const bool is_escape = text.ptr[at] == '%' && at + 2 < text.len && is_hex(text.ptr[at + 1]) &&
                           is_hex(text.ptr[at + 2]);
    *len = is_escape ? 3 : 1;
    if (!is_escape)
        return text.ptr[at];
    return (char)(fp_hex_value(text.ptr[at + 1]) << 4 | fp_hex_value(text.ptr[at + 2]));
}

/* Decodes a text once; `decoded` may be the text's own memory. */
static struct fp_str decode_once(struct fp_str text, char *decoded)
{
    size_t len = 0;
    for (size_t i = 0, step; i < text.len; i += step, len++)
        decoded[len] = plain_char(text, i, &step);
    return (struct fp_str){decoded, len};
}

/* Decodes a segment. */
static struct fp_str decode(struct fp_str segment, char *scratch)
{
    struct fp_str text = decode_once(segment, scratch);
    size_t len_before = segment.len;
    for (int i = 1; i < TIMES_MAX && text.len < len_before; i++) {
        len_before = text.len;
        text = decode_once(text, scratch);
    }
    FP_ASSERT(text.len <= segment.len);
    return text;
}

/* Returns the length of the text without a file's extension, such as .html. */
static size_t base_len(struct fp_str text)
{
    enum { EXTENSION_MAX = 5 };
    size_t dot = text.len;
    while (dot > 0 && text.len - dot <= EXTENSION_MAX && fp_is_alnum(text.ptr[dot - 1]))
        dot--;
    const struct fp_str extension = fp_str_skip(text, dot);
    const bool is_extension = dot > 1 && text.ptr[dot - 1] == '.' && extension.len > 0 &&
                              count_digits(extension) < extension.len;
    return is_extension ? dot - 1 : text.len;
}

static const char keep[] = "";

/* Returns what replaces a whole segment, given without its extension; `keep` if a setting keeps it
 * from this and all other rules; NULL if no rule is about it. */
static const char *replacement(const struct fp_scrub_kept *kept, struct fp_str text)
{
    if (has_uuid(text) || is_hash(text) || is_machine(text))
        return kept->path_hashes ? keep : ":id";
    if (is_number(text))
        return kept->path_numbers ? keep : ":id";
    if (has_token(text))
        return kept->path_tokens ? keep : ":token";
    return NULL;
}

/* Adds a part, a run of letters and digits, without long numbers. */
static void add_numbers(struct path_pass *pass, struct fp_str part)
{
    for (size_t begin = 0, end; begin < part.len; begin = end) {
        const bool is_number = fp_is_digit(part.ptr[begin]);
        end = begin;
        while (end < part.len && fp_is_digit(part.ptr[end]) == is_number)
            end++;
        const struct fp_str run = {part.ptr + begin, end - begin};
        const bool is_id = is_number && run.len >= PART_NUMBER_MIN && !is_date(run);
        add(pass, is_id && !pass->kept->path_numbers ? FP_STR(":id") : run);
    }
}

/* Replaces the parts of a segment that are ids: `invoice-2023117.pdf` becomes `invoice-:id.pdf`.
 * Writes letters and digits that are percent-encoded as they are, which is the same path. */
static void add_parts(struct path_pass *pass, struct fp_str segment)
{
    for (size_t at = 0; at < segment.len;) {
        size_t len = 0;
        size_t step;
        const size_t begin = at;
        for (; at < segment.len; at += step, len++) {
            const char c = plain_char(segment, at, &step);
            if (!fp_is_alnum(c))
                break;
            pass->scratch[len] = c;
        }
        const struct fp_str part = {pass->scratch, len};
        if (!pass->kept->path_hashes && is_hash(part))
            add(pass, FP_STR(":id"));
        else
            add_numbers(pass, part);
        if (at < segment.len)
            add(pass, (struct fp_str){segment.ptr + at, step});
        at += at < segment.len ? step : 0;
        FP_ASSERT(at > begin);
    }
}

static void add_segment(struct path_pass *pass, struct fp_str segment)
{
    const struct fp_str text = decode(segment, pass->scratch);
    if (is_address(text)) {
        add(pass, pass->kept->path_addresses ? segment : FP_STR(":mail"));
        return;
    }
    /* A base with a dot may be a token's: try both. */
    const struct fp_str base = {text.ptr, base_len(text)};
    const char *word = replacement(pass->kept, base);
    const bool is_whole = word == NULL;
    if (is_whole)
        word = replacement(pass->kept, text);
    if (word == NULL || word == keep) {
        if (word == NULL)
            add_parts(pass, segment);
        else
            add(pass, segment);
        return;
    }
    add(pass, fp_str_of(word));
    if (!is_whole)
        add(pass, fp_str_skip(text, base.len));
}

/* Returns the length of the segment that a text begins with. */
static size_t segment_len(struct fp_str text)
{
    size_t len = 0;
    while (len < text.len && text.ptr[len] != '/' && text.ptr[len] != '\\')
        len++;
    return len;
}

static bool scrub(const struct fp_scrub_rules *rules, struct fp_str path, bool drops_ids,
                  struct fp_arena *arena, struct fp_str *scrubbed)
{
    struct path_pass pass = {.kept = &rules->kept};
    size_t out_size;
    if (__builtin_mul_overflow(path.len, 2, &out_size) || out_size > SIZE_MAX - 8)
        return false;
    pass.scratch = fp_arena_alloc(arena, path.len);
    pass.cap = out_size + 8;
    pass.out = fp_arena_alloc(arena, pass.cap);
    if (pass.scratch == NULL || pass.out == NULL)
        return false;
    for (size_t at = 0; at <= path.len;) {
        const struct fp_str rest = fp_str_skip(path, at);
        struct fp_str segment = {rest.ptr, segment_len(rest)};
        const struct fp_str slash = {rest.ptr + segment.len, segment.len < rest.len};
        at += segment.len + 1;
        if (!rules->kept.path_parameters)
            segment = without_parameters(segment);
        if (drops_ids)
            add_segment(&pass, segment);
        else
            add(&pass, segment);
        add(&pass, slash);
    }
    *scrubbed = (struct fp_str){pass.out, pass.len};
    return true;
}

static bool has_any(struct fp_str text, const char *set)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '\0' && strchr(set, text.ptr[i]) != NULL)
            return true;
    return false;
}

bool fp_scrub_path_parameters(const struct fp_scrub_rules *rules, struct fp_str path,
                              struct fp_arena *arena, struct fp_str *scrubbed)
{
    *scrubbed = path;
    if (rules->kept.path_parameters || !has_any(path, ";%"))
        return true;
    return scrub(rules, path, false, arena, scrubbed);
}

bool fp_scrub_path(const struct fp_scrub_rules *rules, struct fp_str path, struct fp_arena *arena,
                   struct fp_str *scrubbed)
{
    *scrubbed = path;
    /* A token without a digit is long. */
    if (path.len < TOKEN_MIN && !has_any(path, "0123456789@%;"))
        return true;
    return scrub(rules, path, true, arena, scrubbed);
}
