/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof rates: which share of each route's page loads to sample, as a table, or as a file for a
 * web server's configuration.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/columns.h"
#include "cli/ask/question_columns.h"
#include "cli/ask/rate_map.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"
#include "cli/kit/output_file.h"
#include "collector/base/clock.h"

#include <stdlib.h>

enum { OPTION_WRITE = FP_OPTION_FIRST, OPTION_SERVER, OPTION_NUMBERS };

/* Parameters of fleetprof.rates, which checks them. */
static const struct number {
    const char *name;
    const char *type;
} numbers[] = {
    {"target", "double precision"},
    {"least_rate", "double precision"},
    {"most_rate", "double precision"},
    {"most_profiles", "double precision"},
    {"top", "integer"},
};

struct rates_options {
    struct fp_analysis analysis;
    const char *file; /* NULL: a table is printed */
    enum fp_rate_server server;
    const char *numbers[FP_COUNT(numbers)]; /* NULL: not given */
};

static const struct argp_option options[] = {
    {"write", OPTION_WRITE, "FILE", 0,
     "write the rates for the web server; a file of this hour stays as it is, so that rates change "
     "once an hour at most",
     0},
    {"server", OPTION_SERVER, "SERVER", 0, "for which one: nginx (default) or httpd", 0},
    {"target", OPTION_NUMBERS, "SHARE", 0,
     "half of the interval that functions should have (default: 0.1, which is 10 %)", 0},
    {"least-rate", OPTION_NUMBERS + 1, "RATE", 0,
     "the lowest rate, unless --most-profiles allows less (default: 0.0005)", 0},
    {"most-rate", OPTION_NUMBERS + 2, "RATE", 0, "the highest rate (default: 0.05)", 0},
    {"most-profiles", OPTION_NUMBERS + 3, "N", 0,
     "profiles a day, all routes together (default: 10000)", 0},
    {"top", OPTION_NUMBERS + 4, "N", 0, "how many routes get a rate of their own (default: 100)",
     0},
    {0},
};

static const char *option_name(int key)
{
    for (size_t i = 0; options[i].name != NULL; i++)
        if (options[i].key == key)
            return options[i].name;
    return "";
}

static void take_number(struct rates_options *given, int key, const char *arg,
                        struct argp_state *state)
{
    const size_t place = (size_t)(key - OPTION_NUMBERS);
    const bool is_whole = strcmp(numbers[place].type, "integer") == 0;
    char *end;
    (void)strtod(arg, &end);
    if (*end != '\0' || arg[0] == '\0' ||
        arg[strspn(arg, is_whole ? "0123456789" : "0123456789.")] != '\0')
        argp_error(state, "--%s takes a number, not \"%s\"", option_name(key), arg);
    given->numbers[place] = arg;
}

static void take_server(struct rates_options *given, const char *arg, struct argp_state *state)
{
    if (strcmp(arg, "nginx") != 0 && strcmp(arg, "httpd") != 0)
        argp_error(state, "--server is nginx or httpd, not \"%s\"", arg);
    given->server = arg[0] == 'n' ? FP_RATE_NGINX : FP_RATE_HTTPD;
}

static error_t parse_rates(int key, char *arg, struct argp_state *state)
{
    struct rates_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->analysis;
        state->child_inputs[1] = &given->analysis.form;
        return 0;
    case OPTION_WRITE:
        given->file = arg;
        return 0;
    case OPTION_SERVER:
        take_server(given, arg, state);
        return 0;
    default:
        if (key < OPTION_NUMBERS || key >= OPTION_NUMBERS + (int)FP_COUNT(numbers))
            return ARGP_ERR_UNKNOWN;
        take_number(given, key, arg, state);
        return 0;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_without_marker_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp rates_argp = {
    .options = options,
    .parser = parse_rates,
    .doc = "Which share of the page loads of each route to sample, so that the 20 functions of it "
           "that cost the most have narrow intervals each day.",
    .children = children,
};

/* ---- question ---- */

/* As the servers' configurations write a rate. */
#define PERCENT(column)                                                                            \
    "trim(trailing '.' from trim(trailing '0' from to_char(100 * " column ", 'FM990.0000'))) || "  \
    "'%'"

static const struct fp_shown shown[] = {
    {.name = "page_route", .cell = FP_CELL_PATH, .sql = "coalesce(page_route, '(all others)')"},
    {.heading = "LOADS A DAY", .cell = FP_CELL_INTEGER, .sql = "round(loads_per_day)"},
    {.heading = "PROFILES", .cell = FP_CELL_INTEGER, .sql = "round(profiles_per_day)"},
    {.heading = "RATE", .cell = FP_CELL_WORD, .sql = PERCENT("rate")},
    {.heading = "PROPOSED", .cell = FP_CELL_WORD, .sql = PERCENT("proposed_rate")},
    {.name = "proposed_profiles_per_day",
     .cell = FP_CELL_INTEGER,
     .sql = "round(proposed_profiles_per_day)"},
    {.name = "expected_interval"},
    {.name = "bound"},
};
static const struct fp_grid_column all[] = {FP_COLUMNS_OF_RATES(FP_GRID_COLUMN)};

static void add_source(const struct rates_options *given, struct fp_sql_query *query)
{
    fp_sql_add(query, " from fleetprof.rates(");
    for (size_t i = 0; i < FP_COUNT(numbers); i++) {
        if (given->numbers[i] == NULL)
            continue;
        fp_sql_add(query, numbers[i].name);
        fp_sql_add(query, " => ");
        fp_sql_value(query, numbers[i].type, given->numbers[i]);
        fp_sql_add(query, ", ");
    }
    fp_filters_add(&given->analysis.filters, query);
    fp_sql_add(query, ")");
}

static bool explain(const struct rates_options *given)
{
    return fp_analysis_explain(
        &given->analysis,
        "verified sample rate, which page tokens prove, in an hour that has ended");
}

/* ---- table ---- */

static bool print_table(const struct rates_options *given)
{
    struct fp_columns columns;
    fp_columns_init(&columns, shown, FP_COUNT(shown), all, FP_COUNT(all));
    struct fp_sql_query query;
    fp_sql_init(&query, "select ");
    fp_columns_select(&columns, &query);
    add_source(given, &query);
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    struct fp_grid grid;
    fp_grid_init(&grid, columns.columns, columns.count);
    fp_sql_fill(answer, 0, &grid);
    PQclear(answer);
    const bool any = fp_grid_rows(&grid) > 0;
    fp_grid_print(&grid, given->analysis.form);
    fp_grid_release(&grid);
    if (any && given->analysis.form == FP_FORM_PEOPLE) {
        fp_note_gap();
        fp_note_print("PROFILES and LOADS are per day. BOUND is what decides PROPOSED; INTERVAL is "
                      "half of the widest interval of 95 %% among a route's 20 costliest "
                      "functions, for a day.");
    }
    return any || explain(given);
}

/* ---- file ---- */

/* True if the file begins with this line. */
static bool begins_with(const char *name, const char *head)
{
    char line[FP_RATE_HEAD_MAX];
    FILE *file = fopen(name, "re");
    if (file == NULL)
        return false;
    const bool same = fgets(line, sizeof(line), file) != NULL && strcmp(line, head) == 0;
    (void)fclose(file);
    return same;
}

static bool write_rows(const struct rates_options *given, const char *head, const PGresult *answer)
{
    const size_t count = (size_t)PQntuples(answer);
    struct fp_output_file file;
    if (!fp_output_file_open(&file, given->file))
        return false;
    struct fp_route_rate *rates = fp_memory_need(calloc(count, sizeof(rates[0])));
    for (size_t i = 0; i < count; i++) {
        const int row = (int)i;
        rates[i] = (struct fp_route_rate){
            .route = PQgetisnull(answer, row, 0) ? NULL : PQgetvalue(answer, row, 0),
            .place = i,
            .ppm = strtoll(PQgetvalue(answer, row, 1), NULL, 10),
        };
    }
    (void)fputs(head, file.stream);
    fp_rate_map_write(given->server, given->analysis.filters.values[FP_FILTER_SITE], rates, count,
                      file.stream);
    free(rates);
    return fp_output_file_close(&file, true);
}

static bool write_file(const struct rates_options *given)
{
    char head[FP_RATE_HEAD_MAX];
    fp_rate_map_head(given->server, given->analysis.filters.values[FP_FILTER_SITE],
                     fp_clock_real_us(), head);
    if (begins_with(given->file, head)) {
        fp_message_notice("%s has the rates of this hour and stays as it is", given->file);
        fp_message_hint("Remove it to have others at once.");
        return true;
    }
    struct fp_sql_query query;
    fp_sql_init(&query, "select page_route, round(proposed_rate * 1000000)::bigint");
    add_source(given, &query);
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    bool fine = PQntuples(answer) > 0;
    if (fine) {
        fine = write_rows(given, head, answer);
    } else if (explain(given)) {
        fp_message_error("%s is not written: there is nothing to draw rates from", given->file);
    }
    PQclear(answer);
    return fine;
}

enum fp_exit fp_rates_command(int argc, char **argv)
{
    struct rates_options given = {0};
    fp_command_parse(&rates_argp, argc, argv, &given);
    if (!fp_analysis_open(&given.analysis))
        return FP_EXIT_TROUBLE;
    const bool fine = given.file != NULL ? write_file(&given) : print_table(&given);
    fp_analysis_close(&given.analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
