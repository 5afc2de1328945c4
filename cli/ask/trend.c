/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof trend: a function, a timing or a group by hour or day.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/columns.h"
#include "cli/ask/empty_answer.h"
#include "cli/ask/question_columns.h"
#include "cli/kit/command.h"
#include "cli/kit/message.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"
#include "collector/rollup/vital.h"

enum { OPTION_KEY = FP_OPTION_FIRST, OPTION_MEASURE, OPTION_BY, OPTION_STEP, OPTION_SINCE_WHEN };

struct trend_options {
    struct fp_analysis analysis;
    const char *by;   /* what the name is of, as fleetprof.trend calls it */
    const char *name; /* or key */
    const char *key;  /* NULL: not given, as the next ones */
    const char *measure;
    const char *step;
    bool since_when;
    char zone[64]; /* whose days and clock the table shows */
};

static const struct argp_option options[] = {
    {"key", OPTION_KEY, "KEY", 0,
     "the function with this function_key, as --json prints it, in place of FUNCTION", 0},
    {"measure", OPTION_MEASURE, "NAME", 0,
     "the median of the performance.measure() of this name, instead of a function", 0},
    {"by", OPTION_BY, "BY", 0,
     "what FUNCTION is the name of instead: package, owner, party, entity, host, resource, "
     "source, " FP_FILTER_DIMENSIONS " or marker, as `fleetprof cost BY' lists them; mark, measure "
     "or vital",
     0},
    {"step", OPTION_STEP, "STEP", 0,
     "hour (default), in UTC; or day: days of the site, whose time zone the heading names; a UTC "
     "day, before retention.hours, has UTC after it",
     0},
    {"since-when", OPTION_SINCE_WHEN, NULL, 0,
     "also say, below the table, since when the level is another one; not with --json or --csv", 0},
    {0},
};

/* Checks that one thing is named, and sets what it is. */
static void settle(struct trend_options *given, const struct argp_state *state)
{
    if ((given->name != NULL) + (given->key != NULL) + (given->measure != NULL) != 1)
        argp_error(state, "name a function; by --measure, a measure; by --key, a function_key; or, "
                          "after --by, what it says");
    if (given->key != NULL && given->by != NULL)
        argp_error(state, "--key KEY is the key of a function: leave --by out");
    if (given->key != NULL)
        given->name = given->key;
    if (given->measure != NULL && given->by != NULL)
        argp_error(state, "--measure NAME is --by measure NAME: leave one out");
    if (given->measure != NULL) {
        given->by = "measure";
        given->name = given->measure;
    } else if (given->by == NULL) {
        given->by = "function";
    }
}

static error_t parse_trend(int key, char *arg, struct argp_state *state)
{
    struct trend_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->analysis;
        state->child_inputs[1] = &given->analysis.form;
        return 0;
    case OPTION_KEY:
        given->key = arg;
        return 0;
    case OPTION_MEASURE:
        given->measure = arg;
        return 0;
    case OPTION_BY:
        given->by = arg;
        return 0;
    case OPTION_STEP:
        if (strcmp(arg, "hour") != 0 && strcmp(arg, "day") != 0)
            argp_error(state, "--step takes hour or day, not \"%s\"", arg);
        given->step = arg;
        return 0;
    case OPTION_SINCE_WHEN:
        given->since_when = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one name at a time");
        given->name = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        settle(given, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_of_vitals_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp trend_argp = {
    .options = options,
    .parser = parse_trend,
    .args_doc = "[FUNCTION]",
    .doc = "A function's self time per page load by hour or day, with the range in which it lies "
           "with 95 %. With --by, FUNCTION is the name of a package, a host, a route or another "
           "group, a mark, a measure or a vital.",
    .children = children,
};

/* The first heading names the time zone. */
static const struct fp_shown shown[] = {
    {.cell = FP_CELL_WORD},
    {.name = "value_ms"},
    {.name = "low_ms"},
    {.name = "high_ms"},
    {.heading = "", .cell = FP_CELL_WORD},
    {.name = "uploads"},
    {.heading = "RELEASES", .cell = FP_CELL_TEXT},
};
static const struct fp_grid_column all[] = {FP_COLUMNS_OF_TREND(FP_GRID_COLUMN)};

/* UTC days, where hours are gone, begin at another time than days of the zone.
 * The fifth column is a bar of eighths, as long as the value's part of the greatest one; the
 * seventh names the releases that began then. */
static const char select_rows[] =
    "select case when is_utc_day then to_char(bucket at time zone 'UTC', 'YYYY-MM-DD HH24:MI UTC') "
    "else to_char(bucket at time zone zone, 'YYYY-MM-DD HH24:MI') end, value_ms, low_ms, high_ms, "
    "repeat('\u2588', (coalesce(160 * value_ms / nullif(max(value_ms) over (), 0), 0))::integer / "
    "8) || "
    "(array['', '\u258f', '\u258e', '\u258d', '\u258c', '\u258b', '\u258a', '\u2589'])"
    "[(coalesce(160 * value_ms / nullif(max(value_ms) over (), 0), 0))::integer % 8 + 1], uploads, "
    "(select string_agg(release, ', ' order by rollout_began, release) from begun "
    "where release <> '' and rollout_began >= bucket "
    "and rollout_began < coalesce(following, 'infinity')), "
    "to_char(bucket at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), value_ms, low_ms, "
    "high_ms, uploads, definition_change "
    "from (select ";

/* Asks for the time zone of the site's days. Hours are those of UTC. */
static bool read_zone(struct trend_options *given)
{
    snprintf(given->zone, sizeof(given->zone), "UTC");
    if (given->step == NULL || strcmp(given->step, "day") != 0)
        return true;
    struct fp_sql_query query;
    fp_sql_init(&query, "select fleetprof.timezone_of(");
    fp_filters_add_value(FP_FILTER_SITE, given->analysis.filters.values[FP_FILTER_SITE], &query);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    snprintf(given->zone, sizeof(given->zone), "%s", PQgetvalue(answer, 0, 0));
    PQclear(answer);
    return true;
}

/* Begins the question with the releases that began; programs get none. */
static void add_releases(const struct trend_options *given, struct fp_sql_query *query)
{
    struct fp_filters both_sides = fp_filters_of_loads(&given->analysis.filters);
    both_sides.values[FP_FILTER_RELEASE] = both_sides.excluded[FP_FILTER_RELEASE] = NULL;
    if (given->analysis.form != FP_FORM_PEOPLE) {
        fp_sql_init(query, "with begun (release, rollout_began) as "
                           "(select null::text, null::timestamptz) ");
        return;
    }
    fp_sql_init(query, "with begun as materialized (select release, rollout_began from "
                       "fleetprof.releases(");
    fp_filters_add(&both_sides, query);
    fp_sql_add(query, ")) ");
}

static PGresult *ask(const struct trend_options *given)
{
    struct fp_sql_query query;
    add_releases(given, &query);
    fp_sql_add(&query, select_rows);
    fp_sql_value(&query, "text", given->zone);
    fp_sql_add(&query, " as zone, trend.*, lead(bucket) over (order by bucket) as following, "
                       "(bucket at time zone 'UTC')::time = '00:00' and (bucket at time zone ");
    fp_sql_value(&query, "text", given->zone);
    fp_sql_add(&query, ")::time <> '00:00' and ");
    fp_sql_value(&query, "text", given->zone);
    fp_sql_add(&query, " <> 'UTC' as is_utc_day from fleetprof.trend(");
    fp_sql_value(&query, "text", given->by);
    fp_sql_add(&query, ", ");
    fp_sql_value(&query, "text", given->name);
    fp_sql_add(&query, ", ");
    fp_sql_value(&query, "text", given->step != NULL ? given->step : "hour");
    fp_sql_add(&query, ", ");
    fp_filters_add(&given->analysis.filters, &query);
    fp_sql_add(&query, ") as trend) as row order by bucket");
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    return answer;
}

static bool is_one_of(const char *by, const char *const names[])
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(by, names[i]) == 0)
            return true;
    return false;
}

static bool is_timing(const char *by)
{
    return is_one_of(by, (const char *const[]){"mark", "measure", "vital", NULL});
}

/* Returns the explanation of MS below the table. */
static const char *footer(const char *by)
{
    static const char *const scripts[] = {"package",  "party",  "entity", "host",
                                          "resource", "source", "marker", NULL};
    if (strcmp(by, "function") == 0)
        return "MS is self time per page load; it lies in the range with 95 %, if uploads are "
               "independent";
    if (strcmp(by, "vital") == 0)
        return "MS is the 75th percentile; it lies in the range with 95 %";
    if (is_timing(by))
        return "MS is the median; it lies in the range with 95 %";
    return is_one_of(by, scripts) ? "MS is self time per page load; it lies in the range with 95 % "
                                    "or more, if uploads are independent"
                                  : "MS is attributed time per page load with this value; it lies "
                                    "in the range with 95 % or more, if uploads are independent";
}

/* Names the steps from which on browsers measure a vital otherwise. */
static void print_definition_changes(const PGresult *answer)
{
    int text = PQnfields(answer) - 1;
    for (int row = 0; row < PQntuples(answer); row++) {
        if (PQgetisnull(answer, row, text))
            continue;
        fp_note_print("From %s on, most values have another definition. %s.",
                      PQgetvalue(answer, row, 0), PQgetvalue(answer, row, text));
    }
}

/* True if no row has time or uploads. */
static bool is_nothing(const PGresult *answer)
{
    enum { MS = 1, UPLOADS = 5 };
    for (int row = 0; row < PQntuples(answer); row++)
        if (strtod(PQgetvalue(answer, row, MS), NULL) > 0 ||
            strtod(PQgetvalue(answer, row, UPLOADS), NULL) > 0)
            return false;
    return true;
}

/* Names the function whose name is nearly the one that was given. */
static bool hint_at_function(const struct trend_options *given)
{
    PGresult *answer = fp_analysis_list_functions(&given->analysis);
    if (answer != NULL)
        fp_sql_hint_at_nearest(answer, given->name);
    PQclear(answer);
    return answer != NULL;
}

/* Says why the answer has nothing. Rows of zeros are hours with uploads, but without the name. */
static bool explain(const struct trend_options *given, const PGresult *answer)
{
    bool is_function = strcmp(given->by, "function") == 0;
    bool is_measure = strcmp(given->by, "measure") == 0;
    if (is_measure || (is_function && PQntuples(answer) == 0))
        return fp_empty_answer_explain(&given->analysis.filters, is_measure ? given->name : NULL,
                                       given->analysis.connection);
    if (is_timing(given->by)) {
        fp_message_notice("no %s is called \"%s\" in this period", given->by, given->name);
        fp_message_hint(strcmp(given->by, "vital") == 0 ? "Vitals are " FP_VITAL_NAMES
                                                          ": `fleetprof vitals'."
                                                        : "`fleetprof timings' lists marks.");
        return true;
    }
    if (is_function) {
        fp_message_notice("no such function is on any stack in this period: %s", given->name);
        if (!hint_at_function(given))
            return false;
        fp_message_hint("`fleetprof top' lists functions; case counts.");
        return true;
    }
    fp_message_notice("by %s, nothing that took time is called \"%s\" in this period", given->by,
                      given->name);
    fp_message_hint("`fleetprof cost %s' lists the names.", given->by);
    return true;
}

static void print_table(const struct trend_options *given, const PGresult *answer)
{
    char heading[80];
    snprintf(heading, sizeof(heading), "FROM (%s)", given->zone);
    struct fp_columns columns;
    fp_columns_init(&columns, shown, FP_COUNT(shown), all, FP_COUNT(all));
    columns.columns[0].heading = heading;
    struct fp_grid grid;
    fp_grid_init(&grid, columns.columns, columns.count);
    fp_sql_fill(answer, 0, &grid);
    fp_grid_print(&grid, given->analysis.form);
    fp_grid_release(&grid);
}

/* Prints a sentence about the change point. */
static bool print_change(const struct trend_options *given)
{
    struct fp_sql_query query;
    fp_sql_init(
        &query,
        "select case when change is null then 'New' when change > 0 then 'Higher' else 'Lower' end "
        "|| coalesce(' by ' || round(100 * abs(change)) || ' %', '') || ' since ' || "
        "to_char(begins at time zone 'UTC', shape) "
        "|| ' UTC (between ' || to_char(begins_from at time zone 'UTC', shape) || ' and ' "
        "|| to_char(begins_until at time zone 'UTC', shape) || ')' || coalesce(', release ' "
        "|| coalesce(nullif(nearest_release, ''), '(none)') || ' began ' || to_char(release_began "
        "at time zone 'UTC', shape), '') "
        "|| '.' "
        "from (values ('YYYY-MM-DD HH24:MI')) as format (shape) cross join "
        "fleetprof.change_point(");
    fp_sql_value(&query, "text", given->by);
    fp_sql_add(&query, ", ");
    fp_sql_value(&query, "text", given->name);
    fp_sql_add(&query, ", ");
    fp_filters_add(&given->analysis.filters, &query);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    if (PQntuples(answer) == 0)
        fp_note_put("No lasting change is seen; that takes 72 hours, 12 of them after it.");
    else
        fp_note_put(PQgetvalue(answer, 0, 0));
    PQclear(answer);
    return true;
}

static bool print_trend(struct trend_options *given)
{
    PGresult *answer = read_zone(given) ? ask(given) : NULL;
    if (answer == NULL)
        return false;
    print_table(given, answer);
    bool fine = true;
    if (is_nothing(answer)) {
        fine = explain(given, answer);
    } else if (given->analysis.form == FP_FORM_PEOPLE) {
        fp_note_gap();
        fp_note_print("%s.", footer(given->by));
        print_definition_changes(answer);
        fine = !given->since_when || print_change(given);
    }
    PQclear(answer);
    return fine;
}

enum fp_exit fp_trend_command(int argc, char **argv)
{
    struct trend_options given = {0};
    fp_command_parse(&trend_argp, argc, argv, &given);
    if (!fp_analysis_open(&given.analysis))
        return FP_EXIT_TROUBLE;
    bool fine = print_trend(&given);
    fp_analysis_close(&given.analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
