/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function end: walks lines until one is not indented more.
 */
#include "cli/ask/function_end.h"

/* A line without the blanks around it. */
struct code_line {
    const char *text;
    size_t len;
    size_t indent;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Reads a line and moves past it. False at the end of the text. */
static bool read_line(const char **at, struct code_line *line)
{
    if (**at == '\0')
        return false;
    const size_t len = strcspn(*at, "\n");
    line->text = *at;
    line->len = len;
    line->indent = 0;
    while (line->len > 0 && is_blank(line->text[0])) {
        line->text++;
        line->len--;
        line->indent++;
    }
    while (line->len > 0 && is_blank(line->text[line->len - 1]))
        line->len--;
    *at += len + ((*at)[len] == '\n');
    return true;
}

static bool ends_with_arrow(const struct code_line *line)
{
    return line->len > 1 && memcmp(line->text + line->len - 2, "=>", 2) == 0;
}

static bool ends_with_bracket(const struct code_line *line)
{
    return line->len > 0 && strchr("{([", line->text[line->len - 1]) != NULL;
}

/* True if what was begun goes on behind the line, as after ") {". */
static bool goes_on(const struct code_line *line)
{
    return ends_with_bracket(line) || ends_with_arrow(line);
}

/* Returns where an expression without a closing bracket ends, last being its last line that is
 * indented more; 0 if the first line has a bracket to close, or no expression. */
static unsigned expression_end(const struct code_line *begin, unsigned first, unsigned last)
{
    const bool is_complete = last > first || !ends_with_arrow(begin);
    return begin->len > 0 && !ends_with_bracket(begin) && is_complete ? last : 0;
}

unsigned fp_function_end(const char *text, unsigned first)
{
    struct code_line begin = {0};
    struct code_line line;
    unsigned number = 0;
    unsigned last = first;
    while (number < first)
        if (read_line(&text, &begin))
            number++;
        else
            return 0;
    while (read_line(&text, &line)) {
        number++;
        if (line.len == 0)
            continue;
        if (line.indent > begin.indent) {
            last = number;
            continue;
        }
        if (line.indent < begin.indent || strchr("{})]", line.text[0]) == NULL)
            break;
        if (!goes_on(&line))
            return number;
        /* what is open now needs its own closing line */
        begin.text = line.text;
        begin.len = line.len;
    }
    return expression_end(&begin, first, last);
}
