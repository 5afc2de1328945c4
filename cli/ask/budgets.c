/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof budgets: what visitors wait against what they may wait, for people and pipelines.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/posting.h"
#include "cli/ask/question_columns.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"

#include <stdlib.h>

enum { OPTION_FAIL = FP_OPTION_FIRST };

struct budgets_options {
    struct fp_analysis analysis;
    struct fp_posting posting;
    bool fail;
};

static const struct argp_option options[] = {
    {"fail", OPTION_FAIL, NULL, 0, "exit with 1 if a budget is exceeded for sure", 0},
    {0},
};

static error_t parse_budgets(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct budgets_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->analysis;
        state->child_inputs[1] = &given->analysis.form;
        state->child_inputs[2] = &given->posting;
        return 0;
    case OPTION_FAIL:
        given->fail = true;
        return 0;
    case ARGP_KEY_SUCCESS:
        if (given->posting.format != FP_NOTIFICATION_NONE && given->analysis.form != FP_FORM_PEOPLE)
            argp_error(state, "--format, --json and --csv exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_of_vitals_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {&fp_posting_argp, 0, "Telling others:", 2},
    {0},
};

static const struct argp budgets_argp = {
    .options = options,
    .parser = parse_budgets,
    .doc = "Performance budgets, as sites[].performance_budgets of the configuration has them, "
           "against what visitors wait. Those that are exceeded for sure are findings for "
           "--format and --webhook.",
    .children = children,
};

/* ---- the question ---- */

static const struct fp_grid_column shown[] = {FP_COLUMNS_OF_BUDGETS(FP_GRID_COLUMN)};
/* Where the columns begin that a narrow terminal may leave out. */
enum { BURN_COLUMN = 8 };

/* The first columns of a row, before those of the table. */
enum { KEY, OF_SITE, NAME, JSON, VERDICT, FACT, LIMIT, VALUE, BETWEEN, BURN, TABLE };

#define IN_UNIT(value)                                                                             \
    "case unit when 'ms' then to_char(" value ", 'FM99999990.0') || ' ms' else to_char(" value     \
    " / 1000, 'FM990.000') end"
#define INTERVAL                                                                                   \
    "case when value_high is null then 'at least ' || " IN_UNIT("value_low") " else " IN_UNIT(     \
        "value_low") " || ' and ' || " IN_UNIT("value_high") " end"
#define RATE "coalesce(to_char(burn_24h, 'FM99990.00'), '')"

static const char told[] =
    "concat_ws(E'\\n', 'budget', of_site, name), of_site, "
    "case when of_site <> $1::text then of_site || ': ' else '' end || name, "
    "to_jsonb(budgets), verdict, "
    "'is ' || verdict || ': ' || " IN_UNIT(
        "value") " || ' (95 %: ' || " INTERVAL
                 " || ')' || coalesce(', since ' || to_char(over_since at time zone 'UTC', "
                 "'YYYY-MM-DD'), ''), " IN_UNIT("limit_value") ", " IN_UNIT("value") ", " INTERVAL
                                                                                     ", " RATE ", ";

/* Times are written in UTC, as in ISO 8601. */
#define IN_UTC(column) "to_char(" column " at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"

static PGresult *ask(const struct budgets_options *given)
{
    struct fp_sql_query query;
    struct fp_buf columns;
    fp_buf_init(&columns, (size_t)64 * 1024);
    fp_buf_addf(&columns, "%s", told);
    for (size_t i = 0; i < FP_COUNT(shown); i++)
        fp_buf_addf(&columns, shown[i].cell == FP_CELL_TIME ? "%s" IN_UTC("%s") : "%s%s",
                    i > 0 ? ", " : "", shown[i].name);
    fp_sql_init(&query, "select ");
    query.values[query.value_count++] = given->analysis.filters.values[FP_FILTER_SITE];
    fp_sql_add(&query, fp_memory_text(&columns));
    fp_sql_add(&query, " from fleetprof.budgets(");
    fp_filters_add(&given->analysis.filters, &query);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    fp_buf_release(&columns);
    return answer;
}

/* ---- telling others ---- */

static bool has_verdict(const PGresult *answer, int row, const char *verdict)
{
    return strcmp(PQgetvalue(answer, row, VERDICT), verdict) == 0;
}

/* Lists the exceeded budgets as findings, and the keys of those that could not be judged. The
 * caller frees both lists and the findings' links. */
static void list_findings(const struct budgets_options *given, const PGresult *answer,
                          struct fp_notification *notification,
                          struct fp_notification_finding *findings, const char **undecided)
{
    size_t undecided_count = 0;
    for (int i = 0; i < PQntuples(answer); i++) {
        const bool is_too_few = has_verdict(answer, i, "too few");
        notification->is_judged = notification->is_judged || !is_too_few;
        if (is_too_few || has_verdict(answer, i, "unsure"))
            undecided[undecided_count++] = PQgetvalue(answer, i, KEY);
        if (!has_verdict(answer, i, "over"))
            continue;
        findings[notification->count++] = (struct fp_notification_finding){
            .key = PQgetvalue(answer, i, KEY),
            .json = PQgetvalue(answer, i, JSON),
            .verdict = PQgetvalue(answer, i, VERDICT),
            .fact = PQgetvalue(answer, i, FACT),
            .name = PQgetvalue(answer, i, NAME),
            .site = PQgetvalue(answer, i, OF_SITE),
            .place = "",
            .source = "",
            .line = "",
            .source_link = "",
            .link = fp_posting_link(&given->posting, PQgetvalue(answer, i, OF_SITE), "", "", ""),
            .cells = {PQgetvalue(answer, i, LIMIT), PQgetvalue(answer, i, VALUE),
                      PQgetvalue(answer, i, BETWEEN), PQgetvalue(answer, i, BURN)},
        };
    }
    notification->findings = findings;
    notification->undecided = undecided;
    notification->undecided_count = undecided_count;
}

/* Prints and posts the exceeded budgets. */
static bool tell(const struct budgets_options *given, const PGresult *answer)
{
    const size_t rows = (size_t)PQntuples(answer);
    struct fp_notification_finding *findings = fp_memory_need(calloc(rows + 1, sizeof(*findings)));
    const char **undecided = fp_memory_need(calloc(rows + 1, sizeof(*undecided)));
    struct fp_notification notification = {
        .alert = "FleetprofBudgetOver",
        .site = given->analysis.filters.values[FP_FILTER_SITE],
        .title = {" of the budgets of site ", given->analysis.filters.values[FP_FILTER_SITE], "."},
        .headings = {"limit", "now", "95 % between", "burn rate of 24 h"},
        .forgets = true,
        .is_void = rows == 0, /* the configuration has no budget any more */
    };
    list_findings(given, answer, &notification, findings, undecided);
    char *scope = fp_filters_text("budgets", &given->analysis.filters);
    notification.scope = scope;
    bool fine = fp_posting_print(&given->posting, &notification);
    fine = fp_posting_post(&given->posting, &notification) && fine;
    for (size_t i = 0; i < notification.count; i++)
        free(findings[i].link);
    free(scope);
    free(undecided);
    free(findings);
    return fine;
}

/* ---- answer ---- */

static void print_table(const struct budgets_options *given, const PGresult *answer)
{
    if (given->posting.format != FP_NOTIFICATION_NONE)
        return;
    struct fp_grid grid;
    fp_grid_init(&grid, shown, FP_COUNT(shown));
    grid.extra_from = BURN_COLUMN;
    fp_sql_fill(answer, TABLE, &grid);
    fp_grid_print(&grid, given->analysis.form);
    fp_grid_release(&grid);
    if (PQntuples(answer) == 0 || given->analysis.form != FP_FORM_PEOPLE)
        return;
    fp_note_gap();
    fp_note_print(
        "Values are in UNIT. A burn rate of 1 uses up exactly the budget: of a percentile "
        "the share of values above the limit, against what the percentile allows; of a "
        "mean, it against the limit.");
}

static enum fp_exit judge(const struct budgets_options *given)
{
    PGresult *answer = ask(given);
    if (answer == NULL)
        return FP_EXIT_TROUBLE;
    bool fine = true;
    bool is_over = false;
    print_table(given, answer);
    for (int i = 0; i < PQntuples(answer); i++)
        is_over = is_over || has_verdict(answer, i, "over");
    if (PQntuples(answer) == 0)
        fine = fp_analysis_explain(&given->analysis,
                                   "performance budgets; sites[].performance_budgets lists them");
    fine = tell(given, answer) && fine;
    PQclear(answer);
    if (!fine)
        return FP_EXIT_TROUBLE;
    return is_over && given->fail ? FP_EXIT_NO : FP_EXIT_FINE;
}

static enum fp_exit open_and_judge(struct budgets_options *given)
{
    if (!fp_analysis_open(&given->analysis))
        return FP_EXIT_TROUBLE;
    const enum fp_exit code = judge(given);
    fp_analysis_close(&given->analysis);
    return code;
}

enum fp_exit fp_budgets_command(int argc, char **argv)
{
    struct budgets_options given = {0};
    fp_command_parse(&budgets_argp, argc, argv, &given);
    const enum fp_exit code =
        fp_posting_open(&given.posting) ? open_and_judge(&given) : FP_EXIT_TROUBLE;
    fp_posting_close(&given.posting);
    return code;
}
