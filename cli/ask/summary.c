/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof summary: a site at a glance, in the sentences of fleetprof.overview; of several sites
 * a table, the worst first.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/columns.h"
#include "cli/ask/empty_answer.h"
#include "cli/ask/period.h"
#include "cli/ask/question_columns.h"
#include "cli/kit/command.h"
#include "cli/kit/options.h"
#include "cli/kit/terminal.h"

#include <stdlib.h>
#include <string.h>

static const struct fp_grid_column columns[] = {FP_COLUMNS_OF_OVERVIEW(FP_GRID_COLUMN)};
static const struct fp_grid_column columns_of_sites[] = {
    FP_COLUMNS_OF_OVERVIEW_OF_SITES(FP_GRID_COLUMN)};

/* ---- options ---- */

static error_t parse_summary(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct fp_analysis *analysis = state->input;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = analysis;
    state->child_inputs[1] = &analysis->form;
    return 0;
}

static const struct argp_child children[] = {
    {&fp_analysis_without_marker_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp summary_argp = {
    .parser = parse_summary,
    .doc = "A site at a glance: what the latest release made slower and what visitors felt of it, "
           "web vitals, what to fix first, third parties, and what needs those who run it. Of "
           "several sites a table, the worst first.",
    .children = children,
};

/* ---- one site ---- */

/* Headings of parts; a part without one continues the part before it. */
static const struct {
    const char *part;
    const char *heading;
} headings[] = {
    {"release", NULL},
    {"function", NULL},
    {"visitors", "What visitors felt"},
    {"vital", "Web vitals"},
    {"scripts", NULL},
    {"fix_first", "What to fix first (p75 without it, at best; gains do not add up)"},
    {"third_party", "Third parties"},
    {"need", "Needs you"},
};

/* Signs of verdicts. */
static const struct {
    const char *verdict;
    const char *sign;
} signs[] = {
    {"slower", "▲ "}, {"faster", "✓ "}, {"no change seen", "✓ "}, {"fine", "✓ "}, {"wrong", "! "},
};

enum { PART_INDENT = 2, SIGN_COLUMNS = 2 };

static const char *sign_of(const char *part, const char *verdict)
{
    if (strcmp(part, "release") != 0 && strcmp(part, "need") != 0)
        return "";
    for (size_t i = 0; i < FP_COUNT(signs); i++)
        if (strcmp(signs[i].verdict, verdict) == 0)
            return signs[i].sign;
    return "";
}

static const char *heading_of(const char *part)
{
    for (size_t i = 0; i < FP_COUNT(headings); i++)
        if (strcmp(headings[i].part, part) == 0)
            return headings[i].heading;
    return NULL;
}

static void print_heading(const char *heading, bool follows)
{
    if (follows)
        (void)putchar('\n');
    fp_terminal_write_words(stdout, heading, 0);
    (void)putchar('\n');
}

/* Prints the rows of an answer: part, verdict, sentence. */
static void print_sentences(const PGresult *answer)
{
    const char *before = "";
    for (int i = 0; i < PQntuples(answer); i++) {
        const char *part = PQgetvalue(answer, i, 0);
        const char *heading = strcmp(part, before) != 0 ? heading_of(part) : NULL;
        if (heading != NULL)
            print_heading(heading, i > 0);
        const char *sign = sign_of(part, PQgetvalue(answer, i, 1));
        const size_t indent = strcmp(part, "release") == 0 ? 0 : PART_INDENT;
        (void)printf("%*s%s", (int)indent, "", sign);
        fp_terminal_write_words(stdout, PQgetvalue(answer, i, 2),
                                indent + (sign[0] != '\0' ? SIGN_COLUMNS : 0));
        (void)printf("\n");
        before = part;
    }
}

/* True if page loads match: these parts are about them. */
static bool has_page_loads(const PGresult *answer)
{
    static const char *const about[] = {"vital", "scripts"};
    for (int i = 0; i < PQntuples(answer); i++)
        for (size_t part = 0; part < FP_COUNT(about); part++)
            if (strcmp(PQgetvalue(answer, i, 0), about[part]) == 0)
                return true;
    return false;
}

static bool print_for_people(const struct fp_analysis *analysis)
{
    struct fp_sql_query query;
    fp_analysis_query(analysis, "part, verdict, sentence", "overview", &query);
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    print_sentences(answer);
    const bool fine = has_page_loads(answer) ||
                      fp_empty_answer_explain(&analysis->filters, NULL, analysis->connection);
    PQclear(answer);
    return fine;
}

/* Asks of known sites only: what the overview says of the needs of others would be made up. */
static bool print_site(const struct fp_analysis *analysis)
{
    bool is_unknown;
    if (!fp_empty_answer_explain_site(&analysis->filters, analysis->connection, &is_unknown))
        return false;
    if (is_unknown) {
        struct fp_grid nothing;
        fp_grid_init(&nothing, columns, FP_COUNT(columns));
        fp_grid_print(&nothing, analysis->form);
        fp_grid_release(&nothing);
        return true;
    }
    if (analysis->form == FP_FORM_PEOPLE)
        return print_for_people(analysis);
    const struct fp_analysis_question question = {
        .function = "overview", .columns = columns, .column_count = FP_COUNT(columns)};
    size_t rows;
    return fp_analysis_print(analysis, &question, &rows);
}

/* ---- several sites ---- */

static const struct fp_shown shown_of_sites[] = {
    {.name = "site", .cell = FP_CELL_TEXT},
    {.name = "verdict", .cell = FP_CELL_WORD},
    {.name = "lcp_ms", .sql = "fleetprof_data.vital_words('LCP', lcp_ms)", .cell = FP_CELL_WORD},
    {.name = "inp_ms", .sql = "fleetprof_data.vital_words('INP', inp_ms)", .cell = FP_CELL_WORD},
    {.name = "cls", .sql = "fleetprof_data.vital_words('CLS', 1000 * cls)", .cell = FP_CELL_WORD},
    {.name = "busy_ms"},
    {.name = "wrong"},
    {.name = "loads"},
    {.name = "last_hour",
     .sql = "to_char(last_hour at time zone 'UTC', 'YYYY-MM-DD HH24:MI')",
     .cell = FP_CELL_WORD},
};
enum { FIRST_EXTRA = 5 };

static PGresult *ask_sites(const struct fp_analysis *analysis, const struct fp_columns *list)
{
    static const enum fp_filter taken[] = {FP_FILTER_SINCE, FP_FILTER_UNTIL};
    struct fp_sql_query query;
    fp_sql_init(&query, "select ");
    fp_columns_select(list, &query);
    fp_sql_add(&query, " from fleetprof.overview_of_sites(");
    fp_sql_value(&query, "text", analysis->filters.values[FP_FILTER_SITE]);
    for (size_t i = 0; i < FP_COUNT(taken); i++) {
        if (analysis->filters.values[taken[i]] == NULL)
            continue;
        fp_sql_add(&query, ", ");
        fp_sql_add(&query, fp_filter_name(taken[i]));
        fp_sql_add(&query, " => ");
        fp_filters_add_value(taken[i], analysis->filters.values[taken[i]], &query);
    }
    fp_sql_add(&query, ") order by worst desc, loads desc, site");
    PGresult *answer = fp_sql_run(analysis->connection, &query);
    fp_sql_release(&query);
    return answer;
}

static bool print_sites(const struct fp_analysis *analysis)
{
    struct fp_columns list;
    fp_columns_init(&list, shown_of_sites, FP_COUNT(shown_of_sites), columns_of_sites,
                    FP_COUNT(columns_of_sites));
    PGresult *answer = ask_sites(analysis, &list);
    if (answer == NULL)
        return false;
    struct fp_grid grid;
    fp_grid_init(&grid, list.columns, list.count);
    grid.extra_from = FIRST_EXTRA;
    fp_sql_fill(answer, 0, &grid);
    PQclear(answer);
    fp_grid_print(&grid, analysis->form);
    const bool fine = fp_grid_rows(&grid) > 0 ||
                      fp_empty_answer_explain(&analysis->filters, NULL, analysis->connection);
    fp_grid_release(&grid);
    return fine;
}

/* True if a filter is given that a table of sites does not take. */
static bool has_other_filters(const struct fp_filters *filters)
{
    for (enum fp_filter filter = 0; filter < FP_FILTER_COUNT; filter++)
        if (filters->excluded[filter] != NULL ||
            (filters->values[filter] != NULL && filter != FP_FILTER_SITE &&
             filter != FP_FILTER_SINCE && filter != FP_FILTER_UNTIL))
            return true;
    return false;
}

/* ---- choice ---- */

/* Counts the sites of the database; -1: the server cannot tell, and an error is printed. */
static int64_t count_sites(PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select count(distinct site) from fleetprof.segment");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    const int64_t count = answer != NULL ? strtoll(PQgetvalue(answer, 0, 0), NULL, 10) : -1;
    PQclear(answer);
    return count;
}

/* Chooses the site, or all of them; *is_several says whether they may be several. Prints an error
 * and returns false on failure. */
static bool choose(struct fp_filters *filters, PGconn *connection, bool *is_several)
{
    if (filters->values[FP_FILTER_SITE] == NULL) {
        const int64_t sites = count_sites(connection);
        if (sites < 0)
            return false;
        if (sites > 1)
            filters->values[FP_FILTER_SITE] = "%";
        else if (!fp_filters_choose_site(filters, connection))
            return false;
    }
    const char *site = filters->values[FP_FILTER_SITE];
    const char *percent = strchr(site, '%');
    *is_several = percent != NULL && (percent == site || percent[-1] != '\\');
    if (*is_several && has_other_filters(filters)) {
        fp_message_error("a summary of several sites takes --since and --until only");
        fp_message_hint("Name one site with --site, or leave out other filters.");
        return false;
    }
    return fp_period_check(filters, connection);
}

enum fp_exit fp_summary_command(int argc, char **argv)
{
    struct fp_analysis given = {0};
    fp_command_parse(&summary_argp, argc, argv, &given);
    given.connection = fp_database_open(&given.database);
    if (given.connection == NULL)
        return FP_EXIT_TROUBLE;
    bool is_several = false;
    const bool fine = choose(&given.filters, given.connection, &is_several) &&
                      (is_several ? print_sites(&given) : print_site(&given));
    fp_analysis_close(&given);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
