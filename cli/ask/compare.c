/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof compare: two releases, values of a dimension or periods, function by function or in
 * other rows.
 */
#include "cli/ask/compared.h"
#include "cli/kit/command.h"
#include "cli/kit/message.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"

enum {
    OPTION_TOP = FP_OPTION_FIRST,
    OPTION_TIMINGS,
    OPTION_VITALS,
    OPTION_BY,
    OPTION_PARTS,
    OPTION_AGENT,
};

struct compare_options {
    struct fp_comparison comparison;
    const char *top;
    const char *before; /* NULL: not given, as the next one */
    const char *after;
    PGresult *latest; /* has both, if no side is given; NULL: one is */
    bool with_agent;
    const char *by; /* NULL: not OPTION_BY */
    int what;       /* 0: functions; OPTION_TIMINGS, OPTION_VITALS, OPTION_BY, OPTION_PARTS */
};

static const struct argp_option options[] = {
    {"top", OPTION_TOP, "N", 0, "how many rows (default: 20)", 0},
    {"agent", OPTION_AGENT, NULL, 0, "also list the functions of fleetprof's own agent", 0},
    {"timings", OPTION_TIMINGS, NULL, 0,
     "marks and measures, instead of functions: their medians and 75th percentiles", 0},
    {"vitals", OPTION_VITALS, NULL, 0,
     "web vitals, instead of functions: their medians and 75th percentiles", 0},
    {"by", OPTION_BY, "WHAT", 0,
     "package, owner, party, entity, host, resource, source or a dimension such as route, instead "
     "of functions",
     0},
    {"parts", OPTION_PARTS, NULL, 0,
     "how much of the difference is code, and how much another mix of page loads", 0},
    {0},
};

static bool has_navigation(const struct fp_filters *filters)
{
    return filters->values[FP_FILTER_NAVIGATION] != NULL ||
           filters->excluded[FP_FILTER_NAVIGATION] != NULL;
}

static error_t parse_compare(int key, char *arg, struct argp_state *state)
{
    struct compare_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->comparison;
        state->child_inputs[1] = &given->comparison.form;
        state->child_inputs[2] = &given->comparison.filters;
        return 0;
    case OPTION_TOP:
        if (arg[0] == '0' || arg[0] == '\0' || arg[strspn(arg, "0123456789")] != '\0')
            argp_error(state, "--top takes a number from 1 on, not \"%s\"", arg);
        given->top = arg;
        return 0;
    case OPTION_BY:
    case OPTION_TIMINGS:
    case OPTION_VITALS:
    case OPTION_PARTS:
        if (given->what != 0 && given->what != key)
            argp_error(state, "--timings, --vitals, --by and --parts exclude each other");
        given->what = key;
        given->by = arg; /* NULL of others than --by */
        return 0;
    case OPTION_AGENT:
        given->with_agent = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "BEFORE and AFTER are two releases, not more");
        *(state->arg_num == 0 ? &given->before : &given->after) = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        if (given->before != NULL && given->after == NULL)
            argp_error(state, "BEFORE and AFTER are two releases; AFTER is missing");
        if (given->what != OPTION_VITALS && has_navigation(&given->comparison.filters))
            argp_error(state, "--navigation is for --vitals");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_comparison_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {&fp_filters_of_vitals_argp, 0, "Which vitals, with --vitals:", 2},
    {0},
};

static const struct argp compare_argp = {
    .options = options,
    .parser = parse_compare,
    .args_doc = "[BEFORE AFTER]",
    .doc = "Which functions, timings, vitals or packages one release, or any other side, made "
           "slower or "
           "faster than another, as far as that is more than noise. What was found comes first; "
           "then the functions that "
           "cost most, or the timings with the most values. Without a side: the release that "
           "began last, and the one before it.",
    .children = children,
};

/* ---- the sides ---- */

/* True if nothing says what the sides are. */
static bool lacks_sides(const struct compare_options *given)
{
    const struct fp_comparison *comparison = &given->comparison;
    return given->before == NULL && comparison->before_since == NULL &&
           comparison->before_until == NULL &&
           comparison->filters.values[FP_FILTER_SINCE] == NULL &&
           !fp_own_filters_are_given(&comparison->own);
}

/* Says which releases nobody named. */
static void print_latest_releases(const PGresult *latest)
{
    const char *previous = PQgetvalue(latest, 0, 2);
    fp_note_print("Release %s against %s, the one before it:", PQgetvalue(latest, 0, 3),
                  previous[0] != '\0' ? previous : "(none)");
    fp_note_gap();
}

/* Takes the release that began last, and the one before it. */
static bool take_latest_releases(struct compare_options *given)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select fleetprof_data.literal_filter(previous), "
                        "fleetprof_data.literal_filter(latest), previous, latest "
                        "from fleetprof_data.latest_releases(");
    const struct fp_filters loads = fp_filters_of_loads(&given->comparison.filters);
    fp_filters_add(&loads, &query);
    fp_sql_add(&query, ")");
    given->latest = fp_sql_run(given->comparison.connection, &query);
    fp_sql_release(&query);
    if (given->latest == NULL)
        return false;
    if (PQgetisnull(given->latest, 0, 0)) {
        fp_message_error("site \"%s\" has no two releases to compare",
                         given->comparison.filters.values[FP_FILTER_SITE]);
        fp_message_hint(
            "Name two releases, two values of a dimension, such as --before-variant and "
            "--after-variant, or two periods by --before-since, --before-until, "
            "--since and --until.");
        return false;
    }
    given->before = PQgetvalue(given->latest, 0, 0);
    given->after = PQgetvalue(given->latest, 0, 1);
    if (given->comparison.form == FP_FORM_PEOPLE)
        print_latest_releases(given->latest);
    return true;
}

/* ---- the table ---- */

/* The first columns of each row, before those of the table. */
enum { AGENT_FUNCTIONS, AGENT_BEFORE_MS, AGENT_AFTER_MS, TABLE };

/* Each row has the agent's sums. If no function is listed, one row without a function has them. */
static const char agent[] =
    ", top => null) with ordinality), agent as (select count(*) as functions, "
    "sum(before_self_ms) as before_ms, sum(after_self_ms) as after_ms "
    "from rows where is_agent), listed as (select * from rows "
    "where not is_agent or ";

static PGresult *ask(const struct compare_options *given)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "with rows as materialized (select * from fleetprof.compare_releases(");
    fp_comparison_add(&given->comparison, &query);
    if (given->before != NULL) {
        fp_sql_add(&query, ", before => ");
        fp_sql_value(&query, "text", given->before);
        fp_sql_add(&query, ", after => ");
        fp_sql_value(&query, "text", given->after);
    }
    fp_sql_add(&query, agent);
    fp_sql_value(&query, "boolean", given->with_agent ? "true" : "false");
    fp_sql_add(&query, " order by ordinality limit ");
    fp_sql_value(&query, "integer", given->top != NULL ? given->top : "20");
    fp_sql_add(&query, ") select functions, before_ms, after_ms, ");
    fp_comparison_select(&query);
    fp_sql_add(&query, " from agent left join listed on true order by ordinality");
    PGresult *answer = fp_sql_run(given->comparison.connection, &query);
    fp_sql_release(&query);
    return answer;
}

static bool has_rows(const PGresult *answer)
{
    return PQgetisnull(answer, 0, TABLE) == 0;
}

static double number(const PGresult *answer, int column)
{
    return strtod(PQgetvalue(answer, 0, column), NULL);
}

static void print_agent(const struct compare_options *given, const PGresult *answer)
{
    if (given->with_agent || number(answer, AGENT_FUNCTIONS) == 0)
        return;
    fp_note_print("fleetprof's own agent took %.1f ms per page load before, and %.1f after; "
                  "--agent lists its functions.",
                  number(answer, AGENT_BEFORE_MS), number(answer, AGENT_AFTER_MS));
}

/* Explains an empty answer: one of the two sides has no uploads. */
static bool explain_nothing(const struct compare_options *given)
{
    return fp_comparison_explain(&given->comparison, given->before, given->after,
                                 given->what == 0 ? "functions" : "such values");
}

static enum fp_compared compared(int option)
{
    switch (option) {
    case OPTION_VITALS:
        return FP_COMPARED_VITALS;
    case OPTION_BY:
        return FP_COMPARED_COSTS;
    case OPTION_PARTS:
        return FP_COMPARED_PARTS;
    default:
        return FP_COMPARED_TIMINGS;
    }
}

static bool print_compared(const struct compare_options *given)
{
    const struct fp_compared_question question = {
        .what = compared(given->what),
        .by = given->by,
        .releases = {given->before, given->after},
        .top = given->top != NULL ? given->top : "20",
    };
    int rows = 0;
    if (!fp_compared_print(&given->comparison, &question, &rows))
        return false;
    return rows > 0 || explain_nothing(given);
}

/* Explains why there is no function to list. */
static bool explain_no_rows(const struct compare_options *given, const PGresult *answer)
{
    if (number(answer, AGENT_FUNCTIONS) == 0)
        return explain_nothing(given);
    fp_message_notice("only functions of fleetprof's own agent match; --agent lists them");
    return true;
}

static bool print_functions(const struct compare_options *given)
{
    PGresult *answer = ask(given);
    if (answer == NULL)
        return false;
    bool is_listed = has_rows(answer);
    fp_comparison_print(&given->comparison, is_listed ? answer : NULL, TABLE);
    bool fine = true;
    if (!is_listed) {
        fine = explain_no_rows(given, answer);
    } else if (given->comparison.form == FP_FORM_PEOPLE) {
        fine = fp_comparison_summarise(&given->comparison, given->before, given->after);
        print_agent(given, answer);
    }
    PQclear(answer);
    return fine;
}

enum fp_exit fp_compare_command(int argc, char **argv)
{
    struct compare_options given = {0};
    fp_command_parse(&compare_argp, argc, argv, &given);
    if (!fp_comparison_open(&given.comparison))
        return FP_EXIT_TROUBLE;
    bool fine = !lacks_sides(&given) || take_latest_releases(&given);
    if (fine)
        fine = given.what == 0 ? print_functions(&given) : print_compared(&given);
    PQclear(given.latest);
    fp_comparison_close(&given.comparison);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
