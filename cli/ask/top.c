/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof top: the functions that cost the most time.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/columns.h"
#include "cli/ask/empty_answer.h"
#include "cli/ask/question_columns.h"
#include "cli/ask/script_filters.h"
#include "cli/kit/command.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"
#include "cli/kit/terminal.h"

enum {
    OPTION_TOP = FP_OPTION_FIRST,
    OPTION_MEASURE,
    OPTION_AGENT,
    OPTION_HOST,
    OPTION_PARTY,
    OPTION_PACKAGE,
};

struct top_options {
    struct fp_analysis analysis;
    const char *top;
    const char *measure; /* NULL: everything */
    struct fp_script_filters scripts;
    bool with_agent;
};

static const struct argp_option options[] = {
    {"top", OPTION_TOP, "N", 0, "how many functions (default: 20)", 0},
    {"measure", OPTION_MEASURE, "NAME", 0,
     "only what ran inside the performance.measure() of this name, or a window such as '(INP) "
     "poor'",
     0},
    {"host", OPTION_HOST, "PATTERN", 0, "only functions of scripts of this host", 0},
    {"party", OPTION_PARTY, "PATTERN", 0, "only those of this party: first, third or '(extension)'",
     0},
    {"package", OPTION_PACKAGE, "PATTERN", 0,
     "only those of this npm package; '(no package)' is own code", 0},
    {"agent", OPTION_AGENT, NULL, 0, "also list the functions of fleetprof's own agent", 0},
    {0},
};

static error_t parse_top(int key, char *arg, struct argp_state *state)
{
    struct top_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->analysis;
        state->child_inputs[1] = &given->analysis.form;
        return 0;
    case OPTION_TOP:
        if (arg[0] == '0' || arg[0] == '\0' || arg[strspn(arg, "0123456789")] != '\0')
            argp_error(state, "--top takes a number from 1 on, not \"%s\"", arg);
        given->top = arg;
        return 0;
    case OPTION_MEASURE:
        given->measure = arg;
        return 0;
    case OPTION_AGENT:
        given->with_agent = true;
        return 0;
    case OPTION_HOST:
        given->scripts.values[FP_SCRIPT_HOST] = arg;
        return 0;
    case OPTION_PARTY:
        given->scripts.values[FP_SCRIPT_PARTY] = arg;
        return 0;
    case OPTION_PACKAGE:
        given->scripts.values[FP_SCRIPT_PACKAGE] = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp top_argp = {
    .options = options,
    .parser = parse_top,
    .doc = "The functions in which the browsers of real users spent the most time themselves "
           "(self), and with everything that they called (total), per page load.",
    .children = children,
};

/* ---- question ---- */

static const struct fp_shown shown[] = {
    {.name = "function"},
    FP_SHOWN_PLACE,
    {.name = "self_ms_per_load"},
    {.name = "total_ms_per_load"},
    {.name = "load_share"},
    {.name = "busy_share"},
    {.name = "self_ms"},
    {.name = "total_ms"},
    {.name = "self_share"},
    {.name = "total_share"},
    {.name = "samples"},
    {.name = "uploads"},
    {.name = "owner"},
};
enum { FIRST_EXTRA = 6 };
static const struct fp_grid_column all[] = {FP_COLUMNS_OF_HOTSPOTS(FP_GRID_COLUMN)};

/* The first columns of each row: numbers about the whole answer. */
enum {
    LOADS,
    PROFILED_MS,
    ATTRIBUTED_MS,
    AGENT_FUNCTIONS,
    AGENT_MS_PER_LOAD,
    SEEN_SHARE,
    WHOLE_COUNT
};

/*
 * The wholes come from the rows: total_ms / total_ms_per_load is the number of page loads in any of
 * them. They come with one row without a function when there is no function to list.
 */
static const char wholes[] = " with ordinality), wholes as (select "
                             "round(max(total_ms) / nullif(max(total_ms_per_load), 0)) as loads, "
                             "max(total_ms) / nullif(max(total_share), 0) as profiled_ms, "
                             "max(self_ms) / nullif(max(busy_share), 0) as attributed_ms, "
                             "count(*) filter (where is_agent) as agent_functions, "
                             "sum(self_ms_per_load) filter (where is_agent) as agent_ms_per_load, "
                             "max(seen_share) as whole_seen_share from frames) ";

static PGresult *ask(const struct top_options *given, const struct fp_columns *columns)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "with frames as materialized (select * from fleetprof.");
    fp_sql_add(&query, given->measure != NULL ? "measure_hotspots(" : "hotspots(");
    if (given->measure != NULL) {
        fp_sql_add(&query, "measure_name => ");
        fp_sql_value(&query, "text", given->measure);
        fp_sql_add(&query, ", ");
    }
    fp_filters_add(&given->analysis.filters, &query);
    fp_script_filters_add(&given->scripts, &query);
    fp_sql_add(&query, ", top => null)");
    fp_sql_add(&query, wholes);
    fp_sql_add(&query, ", listed as (select * from frames where not is_agent or ");
    fp_sql_value(&query, "boolean", given->with_agent ? "true" : "false");
    fp_sql_add(&query, " order by ordinality limit ");
    fp_sql_value(&query, "bigint", given->top != NULL ? given->top : "20");
    fp_sql_add(&query, ") select wholes.*, ");
    fp_columns_select(columns, &query);
    fp_sql_add(&query, " from wholes left join listed on true order by ordinality");
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* ---- answer ---- */

static bool has_rows(const PGresult *answer)
{
    return PQgetisnull(answer, 0, WHOLE_COUNT) == 0;
}

static void print_rows(const PGresult *answer, const struct fp_columns *columns, enum fp_form form)
{
    struct fp_grid grid;
    fp_grid_init(&grid, columns->columns, columns->count);
    grid.extra_from = FIRST_EXTRA;
    if (has_rows(answer))
        fp_sql_fill(answer, WHOLE_COUNT, &grid);
    fp_grid_print(&grid, form);
    fp_grid_release(&grid);
}

static double whole(const PGresult *answer, int column)
{
    return strtod(PQgetvalue(answer, 0, column), NULL);
}

static void print_seen(const struct top_options *given, const PGresult *answer)
{
    double seen_share = whole(answer, SEEN_SHARE);
    if (seen_share >= 1)
        return;
    fp_note_print("The browser looked in %.1f %% of %s; what ran in the rest is unseen, so all "
                  "times are lower bounds.",
                  100 * seen_share,
                  given->measure != NULL ? "the measure's time" : "the time that was watched");
}

static void print_unattributed(const PGresult *answer)
{
    double profiled_ms = whole(answer, PROFILED_MS);
    double unattributed_ms = profiled_ms - whole(answer, ATTRIBUTED_MS);
    char text[FP_TERMINAL_NUMBER_SIZE];
    bool is_short = profiled_ms < 1000;
    /* Rows without self time, such as those of one package, do not say it. */
    if (PQgetisnull(answer, 0, ATTRIBUTED_MS) != 0)
        return;
    fp_note_print("%.1f %% of %s %s of profiled time belongs to no visible stack (idle, or code "
                  "that the page may not see); BUSY %% is of the rest.",
                  profiled_ms > 0 ? 100 * unattributed_ms / profiled_ms : 0,
                  fp_terminal_number(text, is_short ? profiled_ms : profiled_ms / 1000, 1),
                  is_short ? "ms" : "s");
}

static void print_footer(const struct top_options *given, const PGresult *answer)
{
    double loads = whole(answer, LOADS);
    char text[FP_TERMINAL_NUMBER_SIZE];
    fp_note_gap();
    fp_script_filters_note(&given->scripts);
    if (given->measure != NULL)
        fp_note_print("Only what ran inside the measure \"%s\".", given->measure);
    fp_note_print("%s page load%s in the hours from %s.", fp_terminal_number(text, loads, 0),
                  loads == 1 ? "" : "s", given->analysis.filters.period);
    print_unattributed(answer);
    if (!given->with_agent && whole(answer, AGENT_FUNCTIONS) > 0)
        fp_note_print("fleetprof's own agent took %.1f ms per page load; --agent lists its "
                      "functions.",
                      whole(answer, AGENT_MS_PER_LOAD));
    print_seen(given, answer);
}

/* Each of host, party and package alone has functions that ran. */
static bool explain_known_scripts(const struct top_options *given)
{
    bool is_unknown = false;
    if (given->measure != NULL &&
        !fp_empty_answer_explain_measure(&given->analysis.filters, given->measure,
                                         given->analysis.connection, &is_unknown))
        return false;
    if (!is_unknown)
        fp_message_notice("nothing matches: no function has all of this together");
    return true;
}

static bool explain_no_rows(const struct top_options *given, const PGresult *answer)
{
    const struct fp_analysis *analysis = &given->analysis;
    if (whole(answer, AGENT_FUNCTIONS) > 0) {
        fp_message_notice("only functions of fleetprof's own agent match; --agent lists them");
        return true;
    }
    switch (fp_script_filters_explain(&given->scripts, &analysis->filters, analysis->connection)) {
    case FP_SCRIPTS_UNKNOWN:
        return true;
    case FP_SCRIPTS_KNOWN:
        return explain_known_scripts(given);
    case FP_SCRIPTS_TROUBLE:
        return false;
    case FP_SCRIPTS_NOTHING_RAN:
        break;
    }
    return fp_empty_answer_explain(&analysis->filters, given->measure, analysis->connection);
}

static bool print_top(const struct top_options *given)
{
    struct fp_columns columns;
    fp_columns_init(&columns, shown, FP_COUNT(shown), all, FP_COUNT(all));
    PGresult *answer = ask(given, &columns);
    if (answer == NULL)
        return false;
    print_rows(answer, &columns, given->analysis.form);
    bool fine = true;
    if (!has_rows(answer))
        fine = explain_no_rows(given, answer);
    else if (given->analysis.form == FP_FORM_PEOPLE)
        print_footer(given, answer);
    PQclear(answer);
    return fine;
}

enum fp_exit fp_top_command(int argc, char **argv)
{
    struct top_options given = {0};
    fp_command_parse(&top_argp, argc, argv, &given);
    if (!fp_analysis_open(&given.analysis))
        return FP_EXIT_TROUBLE;
    bool fine = print_top(&given);
    fp_analysis_close(&given.analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
