/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code owners: a line is a pattern and its owners. A pattern that is a path becomes the places that
 * it names, which the database looks up; another one becomes a regular expression.
 *
 * Patterns are those of .gitignore with these differences: there is no ! and no [ ], a # cannot be
 * escaped at the start, and * as the last part of a path does not match what is in directories.
 */
#include "cli/feed/code_owners.h"

#include "cli/kit/input_file.h"
#include "cli/kit/memory.h"
#include "collector/base/ascii.h"
#include "collector/format/utf8.h"

#include <inttypes.h>
#include <yyjson.h>

enum { PATTERN_MAX = 1024, OWNERS_MAX = 100, COMPLAINTS_MAX = 10 };

/* The longest expression: a character becomes at most six, "(?:.+/)?" and the like come to a part.
 */
enum { EXPRESSION_MAX = 16 * PATTERN_MAX };

struct owners_reader {
    const char *file;
    int64_t line;
    int64_t wrong; /* lines */
    int64_t patterns;
    yyjson_mut_doc *document;
    yyjson_mut_val *rows;
};

static void complain(struct owners_reader *reader, const char *wrong)
{
    if (reader->wrong++ < COMPLAINTS_MAX)
        fp_message_error("%s:%" PRId64 ": %s", reader->file, reader->line, wrong);
}

static struct fp_str skip_spaces(struct fp_str text)
{
    while (text.len > 0 && fp_is_blank(text.ptr[0]))
        text = fp_str_skip(text, 1);
    return text;
}

/* ---- patterns ---- */

/* Refuses starts of lines that have a meaning in other tools, and none for GitHub. */
static const char *check_start(struct fp_str line)
{
    if (fp_str_has_prefix(line, FP_STR("[")) || fp_str_has_prefix(line, FP_STR("^[")))
        return "sections of GitLab are not read; a [ or ] in a path needs a backslash before it";
    if (line.ptr[0] == '!')
        return "a pattern cannot be negated with !: give its paths a later line without owners";
    if (fp_str_has_prefix(line, FP_STR("\\#")))
        return "a pattern cannot begin with \\#";
    return NULL;
}

static const char *check_pattern(struct fp_str pattern)
{
    if (pattern.len > PATTERN_MAX)
        return "a pattern has at most 1,024 bytes";
    for (size_t i = 0; i < pattern.len; i++) {
        struct fp_str rest = fp_str_skip(pattern, i);
        if (rest.ptr[0] == '\\') {
            if (rest.len == 1)
                return "a backslash needs a character after it";
            i++;
        } else if (rest.ptr[0] == '[' || rest.ptr[0] == ']')
            return "a [ or ] needs a backslash before it: there are no character ranges";
        else if (rest.ptr[0] == '#')
            return "a # in a pattern needs a backslash before it, and a comment a space";
        else if (fp_str_has_prefix(rest, FP_STR("***")))
            return "a pattern has at most two * in a row";
        else if (fp_str_has_prefix(rest, FP_STR("//")))
            return "a pattern with // matches nothing";
    }
    return NULL;
}

/* Returns the length of the pattern at the start of a line: spaces in it are escaped. */
static size_t pattern_length(struct fp_str line)
{
    size_t length = 0;
    while (length < line.len && !fp_is_blank(line.ptr[length]))
        length += line.ptr[length] == '\\' && length + 1 < line.len ? 2 : 1;
    return length;
}

/* A pattern's parts: where it begins, and how it ends. */
struct parts {
    struct fp_str rest; /* without a slash at either end */
    bool is_rooted;
    bool is_directory; /* ends in a slash */
};

static struct parts split(struct fp_str pattern)
{
    struct parts parts = {.rest = pattern};
    if (pattern.len > 0 && pattern.ptr[0] == '/') {
        parts.is_rooted = true;
        parts.rest = fp_str_skip(parts.rest, 1);
    }
    if (parts.rest.len > 0 && parts.rest.ptr[parts.rest.len - 1] == '/') {
        parts.is_directory = true;
        parts.rest.len--;
    }
    parts.is_rooted |= memchr(parts.rest.ptr, '/', parts.rest.len) != NULL;
    return parts;
}

/* True if it has a * or a ? that is not escaped. */
static bool has_wildcard(struct fp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\\')
            i++;
        else if (text.ptr[i] == '*' || text.ptr[i] == '?')
            return true;
    return false;
}

/* Adds the characters of a part of a path, for a regular expression of PostgreSQL. */
static void add_part(struct fp_str part, struct fp_buf *out)
{
    for (size_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];
        if (c == '*') {
            /* Two of them within a part are as one. */
            if (i == 0 || part.ptr[i - 1] != '*')
                fp_buf_addf(out, "[^/]*");
        } else if (c == '?') {
            fp_buf_addf(out, "[^/]");
        } else {
            if (c == '\\')
                c = part.ptr[++i];
            bool is_special = c > 0 && strchr("\\^$.|?*+()[]{}", c) != NULL;
            fp_buf_addf(out, is_special ? "\\%c" : "%c", c);
        }
    }
}

/* How far an expression is. */
struct expression {
    struct fp_buf *out;
    bool is_first;
    bool needs_slash;  /* before the next part */
    bool is_any_depth; /* ** was the part before */
};

/* Adds **: any directories, or at the end all that is in one. */
static void add_any_depth(struct expression *made, bool is_only, bool is_last)
{
    if (made->is_first && (is_only || is_last)) {
        fp_buf_addf(made->out, ".+");
        made->needs_slash = true;
    } else if (is_last) {
        fp_buf_addf(made->out, made->needs_slash ? "/.*" : ".*");
    } else if (made->is_first) {
        fp_buf_addf(made->out, "(?:.+/)?");
        made->needs_slash = false;
    } else if (!made->is_any_depth) {
        fp_buf_addf(made->out, "(?:/.+)?");
        made->needs_slash = true;
    }
}

static void add_name(struct expression *made, struct fp_str name, bool is_last)
{
    if (made->needs_slash)
        fp_buf_addf(made->out, "/");
    made->needs_slash = true;
    if (fp_str_equal(name, FP_STR("*"))) {
        fp_buf_addf(made->out, "[^/]+");
        return;
    }
    add_part(name, made->out);
    if (is_last)
        fp_buf_addf(made->out, "(?:/.*)?");
}

/* Returns a path up to its first slash. */
static struct fp_str first_part(struct fp_str path)
{
    const char *end = memchr(path.ptr, '/', path.len);
    return (struct fp_str){path.ptr, end != NULL ? (size_t)(end - path.ptr) : path.len};
}

static void write_expression(struct parts parts, struct fp_buf *out)
{
    struct expression made = {.out = out, .is_first = true};
    struct fp_str rest = parts.rest;
    fp_buf_addf(out, "^");
    if (!parts.is_rooted && !fp_str_equal(rest, FP_STR("**")))
        fp_buf_addf(out, "(?:.+/)?");
    while (rest.len > 0) {
        struct fp_str part = first_part(rest);
        bool is_end = part.len == rest.len;
        bool is_last = is_end && !parts.is_directory;
        bool is_any_depth = fp_str_equal(part, FP_STR("**"));
        if (is_any_depth)
            add_any_depth(&made, is_end, is_last);
        else
            add_name(&made, part, is_last);
        made.is_first = false;
        made.is_any_depth = is_any_depth;
        rest = fp_str_skip(rest, part.len + (is_end ? 0 : 1));
    }
    fp_buf_addf(out, parts.is_directory ? "/.*$" : "$");
}

/* Adds a part of a path for LIKE, in which % is any text and _ one character. */
static void add_outline_part(struct fp_str part, struct fp_buf *out)
{
    for (size_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];
        if (c == '*' || c == '?') {
            fp_buf_addf(out, c == '*' ? "%%" : "_");
            continue;
        }
        if (c == '\\')
            c = part.ptr[++i];
        fp_buf_addf(out, c == '%' || c == '_' || c == '\\' ? "\\%c" : "%c", c);
    }
}

/* Writes a pattern for LIKE that has all that the expression matches, because LIKE is quick. */
static void write_outline(struct parts parts, struct fp_buf *out)
{
    struct fp_str rest = parts.rest;
    bool needs_slash = false;
    if (!parts.is_rooted)
        fp_buf_addf(out, "%%");
    while (rest.len > 0) {
        struct fp_str part = first_part(rest);
        bool is_any_depth = fp_str_equal(part, FP_STR("**"));
        if (needs_slash && !is_any_depth)
            fp_buf_addf(out, "/");
        add_outline_part(part, out);
        needs_slash = !is_any_depth;
        rest = fp_str_skip(rest, part.len + (part.len < rest.len ? 1 : 0));
    }
    fp_buf_addf(out, needs_slash && parts.is_directory ? "/%%" : "%%");
}

/* Returns the places that a path names: itself unless it is a directory, and what is in it. */
static yyjson_mut_val *make_places(struct parts parts, yyjson_mut_doc *document)
{
    yyjson_mut_val *places = yyjson_mut_arr(document);
    char place[PATTERN_MAX + 2];
    size_t length = 0;
    for (size_t i = 0; i < parts.rest.len; i++) {
        if (parts.rest.ptr[i] == '\\')
            i++;
        place[length++] = parts.rest.ptr[i];
    }
    if (length == 0)
        return places;
    if (!parts.is_directory)
        (void)yyjson_mut_arr_add_strncpy(document, places, place, length);
    place[length++] = '/';
    (void)yyjson_mut_arr_add_strncpy(document, places, place, length);
    return places;
}

/* Adds what the database matches with: places; or null, an expression and its outline. */
static void add_match(struct fp_str pattern, yyjson_mut_doc *document, yyjson_mut_val *row)
{
    static void (*const writers[])(struct parts, struct fp_buf *) = {write_expression,
                                                                     write_outline};
    struct parts parts = split(pattern);
    if (parts.is_rooted && !has_wildcard(parts.rest)) {
        (void)yyjson_mut_arr_append(row, fp_memory_need(make_places(parts, document)));
        return;
    }
    (void)yyjson_mut_arr_add_null(document, row);
    for (size_t i = 0; i < FP_COUNT(writers); i++) {
        struct fp_buf text;
        fp_buf_init(&text, EXPRESSION_MAX);
        writers[i](parts, &text);
        (void)yyjson_mut_arr_add_strcpy(document, row, fp_memory_text(&text));
        fp_buf_release(&text);
    }
}

/* ---- owners ---- */

/* True for @user, @organisation/team, or an address. */
static bool is_owner(struct fp_str text)
{
    const char *at = memchr(text.ptr, '@', text.len);
    if (at == NULL || text.ptr[text.len - 1] == '@' || text.ptr[text.len - 1] == '/')
        return false;
    if (at != text.ptr)
        return memchr(text.ptr, '/', text.len) == NULL;
    for (size_t i = 1; i < text.len; i++) {
        char c = text.ptr[i];
        if (!fp_is_alnum(c) && strchr("._-/", c) == NULL)
            return false;
        if (c == '/' && (i == 1 || text.ptr[i - 1] == '/'))
            return false;
    }
    return true;
}

/* Reads the owners up to a comment. NULL, after a complaint, if one is invalid. */
static yyjson_mut_val *read_owners(struct owners_reader *reader, struct fp_str rest)
{
    yyjson_mut_val *owners = fp_memory_need(yyjson_mut_arr(reader->document));
    for (rest = skip_spaces(rest); rest.len > 0 && rest.ptr[0] != '#'; rest = skip_spaces(rest)) {
        struct fp_str owner = {rest.ptr, 0};
        while (owner.len < rest.len && !fp_is_blank(rest.ptr[owner.len]))
            owner.len++;
        if (!is_owner(owner)) {
            complain(reader, "an owner is @user, @organisation/team or an email address; a space "
                             "in a path needs a backslash before it");
            return NULL;
        }
        if (yyjson_mut_arr_size(owners) == OWNERS_MAX) {
            complain(reader, "a pattern has at most 100 owners");
            return NULL;
        }
        (void)yyjson_mut_arr_add_strncpy(reader->document, owners, owner.ptr, owner.len);
        rest = fp_str_skip(rest, owner.len);
    }
    return owners;
}

/* ---- lines ---- */

static const char *check_line(struct fp_str line)
{
    for (size_t i = 0; i < line.len; i++)
        if ((unsigned char)line.ptr[i] < ' ' && line.ptr[i] != '\t')
            return "a control character";
    return fp_utf8_is_valid(line) ? NULL : "is not UTF-8";
}

static void take_line(struct owners_reader *reader, struct fp_str line)
{
    line = skip_spaces(line);
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    if (line.len == 0 || line.ptr[0] == '#')
        return;
    struct fp_str pattern = {line.ptr, pattern_length(line)};
    const char *wrong = check_line(line);
    if (wrong == NULL)
        wrong = check_start(line);
    if (wrong == NULL)
        wrong = check_pattern(pattern);
    if (wrong == NULL && reader->patterns == FP_CODE_OWNERS_MAX)
        wrong = "at most 20,000 patterns are kept";
    if (wrong != NULL) {
        complain(reader, wrong);
        return;
    }
    yyjson_mut_val *owners = read_owners(reader, fp_str_skip(line, pattern.len));
    if (owners == NULL)
        return;
    yyjson_mut_val *row = fp_memory_need(yyjson_mut_arr(reader->document));
    (void)yyjson_mut_arr_add_int(reader->document, row, reader->line);
    (void)yyjson_mut_arr_add_strncpy(reader->document, row, pattern.ptr, pattern.len);
    (void)yyjson_mut_arr_append(row, owners);
    add_match(pattern, reader->document, row);
    (void)yyjson_mut_arr_append(reader->rows, row);
    reader->patterns++;
}

static void take_lines(struct owners_reader *reader, struct fp_str rest)
{
    while (rest.len > 0 && reader->patterns <= FP_CODE_OWNERS_MAX) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct fp_str line = {rest.ptr, end != NULL ? (size_t)(end - rest.ptr) : rest.len};
        reader->line++;
        take_line(reader, line);
        rest = fp_str_skip(rest, line.len + (end != NULL ? 1 : 0));
    }
    if (reader->wrong > COMPLAINTS_MAX)
        fp_message_error("%s: %" PRId64 " more lines are invalid", reader->file,
                         reader->wrong - COMPLAINTS_MAX);
}

enum fp_exit fp_code_owners_read(const char *file, struct fp_code_owners *owners)
{
    struct fp_input_file input;
    if (!fp_input_file_read(file, &input))
        return FP_EXIT_TROUBLE;
    struct owners_reader reader = {.file = input.name,
                                   .document = fp_memory_need(yyjson_mut_doc_new(NULL))};
    reader.rows = yyjson_mut_arr(reader.document);
    yyjson_mut_doc_set_root(reader.document, reader.rows);
    if (input.bytes.len > FP_CODE_OWNERS_BYTES_MAX) {
        fp_message_error("%s: is larger than 3 MiB", input.name);
        reader.wrong = 1;
    } else {
        struct fp_str text = {(const char *)input.bytes.data, input.bytes.len};
        if (fp_str_has_prefix(text, FP_STR("\xEF\xBB\xBF")))
            text = fp_str_skip(text, 3);
        take_lines(&reader, text);
    }
    fp_input_file_release(&input);
    if (reader.wrong == 0)
        *owners = (struct fp_code_owners){
            fp_memory_need(yyjson_mut_write(reader.document, 0, NULL)), reader.patterns};
    yyjson_mut_doc_free(reader.document);
    return reader.wrong == 0 ? FP_EXIT_FINE : FP_EXIT_NO;
}

void fp_code_owners_release(struct fp_code_owners *owners)
{
    free(owners->patterns_json);
    *owners = (struct fp_code_owners){0};
}
