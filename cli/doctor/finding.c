/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding: collects findings and prints them.
 */
#include "cli/doctor/finding.h"

#include "cli/kit/grid.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "cli/kit/terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum fp_severity severity;
} kinds[FP_FINDING_COUNT] = {
#define FP_FINDING_KIND(name, id, severity) {id, FP_SEVERITY_##severity},
    FP_FINDINGS(FP_FINDING_KIND)
#undef FP_FINDING_KIND
};

#ifndef FP_TROUBLESHOOTING
#define FP_TROUBLESHOOTING "docs/troubleshooting.md"
#endif

const char *fp_finding_name(enum fp_finding_id id)
{
    return kinds[id].name;
}

bool fp_finding_of(const char *name, enum fp_finding_id *id)
{
    for (*id = 0; *id < FP_FINDING_COUNT; ++*id)
        if (strcmp(kinds[*id].name, name) == 0)
            return true;
    return false;
}

static bool is_same(const char *one, const char *other)
{
    return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static bool is_known(const struct fp_findings *findings, const struct fp_finding *finding)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].id == finding->id &&
            is_same(findings->items[i].where, finding->where) &&
            is_same(findings->items[i].seen, finding->seen))
            return true;
    return false;
}

void fp_finding_add(struct fp_findings *findings, enum fp_finding_id id, const char *where,
                    const char *seen, ...)
{
    if (findings->is_ignored[id])
        return;
    struct fp_finding finding = {.id = id, .where = where != NULL ? fp_memory_copy(where) : NULL};
    va_list args;
    va_start(args, seen);
    if (vasprintf(&finding.seen, seen, args) < 0)
        fp_memory_end();
    va_end(args);
    if (is_known(findings, &finding) || findings->found[id]++ >= FP_FINDINGS_EACH_MAX) {
        free(finding.where);
        free(finding.seen);
        return;
    }
    findings->items = fp_memory_grow(findings->items, findings->count, &findings->capacity,
                                     sizeof(*findings->items));
    findings->items[findings->count++] = finding;
}

void fp_findings_release(struct fp_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].where);
        free(findings->items[i].seen);
    }
    free(findings->items);
    *findings = (struct fp_findings){0};
}

bool fp_findings_are_wrong(const struct fp_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (kinds[findings->items[i].id].severity == FP_SEVERITY_WRONG)
            return true;
    return false;
}

/* ---- printing ---- */

static const char *word_of(enum fp_finding_id id)
{
    return kinds[id].severity == FP_SEVERITY_WRONG ? "wrong" : "note";
}

/* Prints a text that may come from a page or a server. */
static void print_line(const char *label, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    enum { TEXT_COLUMN = 11 };
    (void)printf("  %-9s", label);
    char *plain = fp_message_make_plain(fp_memory_copy(text));
    fp_terminal_write_words(stdout, plain, TEXT_COLUMN);
    (void)putchar('\n');
    free(plain);
}

/* Prints lines to write into a configuration, each indented. */
static void print_lines(const char *label, const char *text)
{
    while (text != NULL && text[0] != '\0') {
        size_t len = strcspn(text, "\n");
        (void)printf("  %-9s%.*s\n", label, (int)len, text);
        text += text[len] == '\n' ? len + 1 : len;
        label = "";
    }
}

static void print_words(enum fp_finding_id id)
{
    const struct fp_finding_text *text = fp_finding_text(id);
    print_line("why:", text->why);
    print_line("do:", text->fix);
    print_lines("nginx:", text->nginx);
    print_lines("httpd:", text->httpd);
    print_lines("Express:", text->express);
    (void)printf("  %-9s" FP_TROUBLESHOOTING "#%s\n", "more:", kinds[id].name);
}

static void print_heading(enum fp_finding_id id, bool follows)
{
    const bool is_wrong = kinds[id].severity == FP_SEVERITY_WRONG;
    (void)printf("%s%s%s%s: ", follows ? "\n" : "",
                 fp_terminal_style(stdout, is_wrong ? FP_STYLE_BAD : FP_STYLE_WARN), word_of(id),
                 fp_terminal_style(stdout, FP_STYLE_PLAIN));
    char *text = fp_memory_print("%s: %s", kinds[id].name, fp_finding_text(id)->what);
    fp_terminal_write_words(stdout, text, strlen(word_of(id)) + 2);
    (void)putchar('\n');
    free(text);
}

static void print_for_people(const struct fp_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct fp_finding *finding = &findings->items[i];
        const enum fp_finding_id id = finding->id;
        const bool is_last = i + 1 == findings->count || findings->items[i + 1].id != id;
        if (i == 0 || findings->items[i - 1].id != id)
            print_heading(id, i > 0);
        print_line("at:", finding->where);
        print_line("seen:", finding->seen);
        if (!is_last)
            continue;
        if (findings->found[id] > FP_FINDINGS_EACH_MAX)
            (void)printf("  %-9s%u more\n", "", findings->found[id] - FP_FINDINGS_EACH_MAX);
        print_words(id);
    }
}

static const struct fp_grid_column columns[] = {
    {"id", NULL, FP_CELL_TEXT},    {"severity", NULL, FP_CELL_TEXT},
    {"what", NULL, FP_CELL_TEXT},  {"where", NULL, FP_CELL_TEXT},
    {"seen", NULL, FP_CELL_TEXT},  {"why", NULL, FP_CELL_TEXT},
    {"fix", NULL, FP_CELL_TEXT},   {"nginx", NULL, FP_CELL_TEXT},
    {"httpd", NULL, FP_CELL_TEXT}, {"express", NULL, FP_CELL_TEXT},
    {"page", NULL, FP_CELL_TEXT},
};

static void add_row(struct fp_grid *grid, const struct fp_finding *finding)
{
    const struct fp_finding_text *text = fp_finding_text(finding->id);
    char *page = fp_memory_print(FP_TROUBLESHOOTING "#%s", kinds[finding->id].name);
    const char *const cells[] = {
        kinds[finding->id].name,
        word_of(finding->id),
        text->what,
        finding->where,
        finding->seen,
        text->why,
        text->fix,
        text->nginx,
        text->httpd,
        text->express,
        page,
    };
    for (size_t i = 0; i < FP_COUNT(cells); i++)
        fp_grid_add(grid, cells[i]);
    free(page);
}

static int by_kind(const void *one, const void *other)
{
    const struct fp_finding *a = one, *b = other;
    if (kinds[a->id].severity != kinds[b->id].severity)
        return kinds[a->id].severity == FP_SEVERITY_WRONG ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

void fp_findings_print(const struct fp_findings *findings, bool json)
{
    if (findings->count > 1)
        qsort(findings->items, findings->count, sizeof(*findings->items), by_kind);
    if (!json) {
        print_for_people(findings);
        return;
    }
    struct fp_grid grid;
    fp_grid_init(&grid, columns, FP_COUNT(columns));
    for (size_t i = 0; i < findings->count; i++)
        add_row(&grid, &findings->items[i]);
    fp_grid_print(&grid, FP_FORM_JSON);
    fp_grid_release(&grid);
}

static void print_kind(enum fp_finding_id id)
{
    const int begin = printf("%-24s%-7s", kinds[id].name, word_of(id));
    fp_terminal_write_words(stdout, fp_finding_text(id)->what, (size_t)begin);
    (void)putchar('\n');
}

void fp_findings_list(bool json)
{
    struct fp_grid grid;
    fp_grid_init(&grid, columns, FP_COUNT(columns));
    for (enum fp_finding_id id = 0; id < FP_FINDING_COUNT; id++) {
        if (json)
            add_row(&grid, &(struct fp_finding){.id = id});
        else
            print_kind(id);
    }
    if (json)
        fp_grid_print(&grid, FP_FORM_JSON);
    fp_grid_release(&grid);
}
