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

/* True if what was begun goes on behind the line, as after ") {". */
static bool goes_on(const struct code_line *line)
{
    const char last = line->text[line->len - 1];
    return strchr("{([", last) != NULL ||
           (last == '>' && line->len > 1 && line->text[line->len - 2] == '=');
}

unsigned fp_function_end(const char *text, unsigned first)
{
    struct code_line begin = {0};
    struct code_line line;
    unsigned number = 0;
    while (number < first)
        if (read_line(&text, &begin))
            number++;
        else
            return 0;
    while (read_line(&text, &line)) {
        number++;
        const bool is_inside = line.len == 0 || line.indent > begin.indent;
        if (is_inside)
            continue;
        if (line.indent < begin.indent || strchr("{})]", line.text[0]) == NULL)
            return 0;
        if (!goes_on(&line))
            return number;
    }
    return 0;
}
