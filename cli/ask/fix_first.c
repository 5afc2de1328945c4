/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof fix-first: what would improve a vital most, for people and for the services they use.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/gains.h"
#include "cli/ask/posting.h"
#include "cli/ask/question_columns.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"

#include <stdlib.h>

struct fix_first_options {
    struct fp_analysis analysis;
    struct fp_posting posting;
};

static error_t parse_fix_first(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct fix_first_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->analysis;
        state->child_inputs[1] = &given->analysis.form;
        state->child_inputs[2] = &given->posting;
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
    {&fp_analysis_without_marker_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {&fp_posting_argp, 0, "Telling others:", 2},
    {0},
};

static const struct argp fix_first_argp = {
    .parser = parse_fix_first,
    .doc = "What to fix first: what would improve a vital most, of all vitals in one list, by the "
           "gain as a share of what is good. The rows are the findings for --format and --webhook.",
    .children = children,
};

/* ---- the question ---- */

static const struct fp_grid_column shown[] = {FP_COLUMNS_OF_FIX_FIRST(FP_GRID_COLUMN)};
/* The last columns, which a narrow terminal may leave out. */
enum { EXTRA_COUNT = 5 };
#define TOP "20"

/* The first columns of a row, before those of the table. */
enum {
    KEY,
    OLD_KEY,
    LASTING_KEY,
    NAME,
    JSON,
    FUNCTION_KEY,
    FACT,
    PLACE,
    SOURCE,
    SOURCE_LINE,
    SOURCE_LINK,
    OWNER,
    GAIN,
    BETWEEN,
    P75,
    LESS_POOR,
    TABLE
};

#define MS(value) "to_char(" value ", 'FM99999990.0') || ' ms'"
#define INTERVAL MS("gain_low") " || ' and ' || " MS("gain_high")

/* A gain has no release, so its key has a week: one that was gone for a whole week is new,
 * one that comes and goes is not. */
#define LASTING "'fix_first', $1::text, vital, kind, coalesce(function_key, name)"
#define KEY_OF(weeks_ago)                                                                          \
    "concat_ws(E'\\n', " LASTING ", floor(extract(epoch from now()) / 604800) - " weeks_ago ")"

/* A vital may be a measure of the page, a stranger's text as the name is. Only a path that a
 * function table gives is one of a repository. */
static const char *const told[TABLE] = {
    [KEY] = KEY_OF("0"),
    [OLD_KEY] = KEY_OF("1"),
    [LASTING_KEY] = "concat_ws(E'\\n', " LASTING ")",
    [NAME] = "name || ' in ' || vital",
    [JSON] = "jsonb_build_object('site', $1::text) || to_jsonb(found)",
    [FUNCTION_KEY] = "coalesce(function_key, '')",
    [FACT] = "'takes at most ' || " MS("gain_ms") " || ' of ' || " MS(
        "p75_ms") " || ' at the 75th percentile (95 % between ' || " INTERVAL " || ')' || "
                  "coalesce(', more since ' || fleetprof_data.time_words(begins), '')",
    /* The name of a release is a stranger's as well. */
    [PLACE] = "concat_ws(' since ', concat_ws(' on ', resource || coalesce(':' || line, ''), "
              "nullif(routes, '')), nullif(nearest_release, ''))",
    [SOURCE] = "case when kind = 'function' and resource is distinct from generated_resource "
               "then coalesce(resource, '') else '' end",
    [SOURCE_LINE] = "coalesce(line::text, '')",
    [SOURCE_LINK] = "coalesce(source_link, '')",
    [OWNER] = "coalesce(owner, '')",
    [GAIN] = MS("gain_ms"),
    [BETWEEN] = INTERVAL,
    [P75] = MS("p75_ms"),
    [LESS_POOR] = "coalesce(to_char(100 * less_poor_share, 'FM990.0') || ' %', '')",
};

/* Asks for the first rows, or for all: top is a number, or null. */
static PGresult *ask(const struct fix_first_options *given, const char *top)
{
    struct fp_sql_query query;
    char *columns = fp_analysis_list(shown, FP_COUNT(shown));
    fp_sql_init(&query, "select ");
    query.values[query.value_count++] = given->analysis.filters.values[FP_FILTER_SITE];
    for (size_t i = 0; i < FP_COUNT(told); i++) {
        fp_sql_add(&query, told[i]);
        fp_sql_add(&query, ", ");
    }
    fp_sql_add(&query, columns);
    fp_sql_add(&query, " from fleetprof.fix_first(");
    fp_filters_add(&given->analysis.filters, &query);
    fp_sql_add(&query, ", top => ");
    fp_sql_add(&query, top);
    fp_sql_add(&query, ") as found");
    PGresult *answer = fp_sql_run(given->analysis.connection, &query);
    fp_sql_release(&query);
    free(columns);
    return answer;
}

/* Asks whether enough page loads were profiled to name a gain of a vital, if there were one. Prints
 * an error and returns false on failure. */
static bool ask_judged(const struct fix_first_options *given, bool *is_judged)
{
    static const char *const vitals[] = {"INP", "LCP"};
    *is_judged = false;
    for (size_t i = 0; i < FP_COUNT(vitals) && !*is_judged; i++) {
        struct fp_analysis analysis = given->analysis;
        struct fp_sql_query query;
        analysis.parameter = "vital";
        analysis.argument = vitals[i];
        fp_analysis_query(&analysis, "1", "what_if", &query);
        fp_sql_add(&query, " where gain_low is not null limit 1");
        PGresult *answer = fp_sql_run(analysis.connection, &query);
        fp_sql_release(&query);
        if (answer == NULL)
            return false;
        *is_judged = PQntuples(answer) > 0;
        PQclear(answer);
    }
    return true;
}

/* ---- telling others ---- */

/* Returns the findings of an answer. The caller frees them and their links. */
static struct fp_notification_finding *list_findings(const struct fix_first_options *given,
                                                     const PGresult *answer)
{
    const int count = PQntuples(answer);
    const char *site = given->analysis.filters.values[FP_FILTER_SITE];
    struct fp_notification_finding *findings =
        fp_memory_need(calloc((size_t)count + 1, sizeof(*findings)));
    for (int i = 0; i < count; i++) {
        const char *key = PQgetvalue(answer, i, FUNCTION_KEY);
        findings[i] = (struct fp_notification_finding){
            .key = PQgetvalue(answer, i, KEY),
            .lasting_key = PQgetvalue(answer, i, LASTING_KEY),
            .old_key = PQgetvalue(answer, i, OLD_KEY),
            .json = PQgetvalue(answer, i, JSON),
            .verdict = "gain",
            .fact = PQgetvalue(answer, i, FACT),
            .name = PQgetvalue(answer, i, NAME),
            .place = PQgetvalue(answer, i, PLACE),
            .source = PQgetvalue(answer, i, SOURCE),
            .line = PQgetvalue(answer, i, SOURCE_LINE),
            .source_link = PQgetvalue(answer, i, SOURCE_LINK),
            .owner = PQgetvalue(answer, i, OWNER),
            .link =
                fp_posting_link(&given->posting, site, key[0] != '\0' ? "function" : "", key, ""),
            .cells = {PQgetvalue(answer, i, GAIN), PQgetvalue(answer, i, BETWEEN),
                      PQgetvalue(answer, i, P75), PQgetvalue(answer, i, LESS_POOR)},
        };
    }
    return findings;
}

/* Returns the keys, of a column, of all that has a gain: what others outrank is not gone. The
 * caller frees the list. */
static const char **list_gains(const PGresult *all, int column)
{
    const char **keys = fp_memory_need(calloc((size_t)PQntuples(all) + 1, sizeof(*keys)));
    for (int i = 0; i < PQntuples(all); i++)
        keys[i] = PQgetvalue(all, i, column);
    return keys;
}

static bool tell_of(const struct fix_first_options *given, const PGresult *answer,
                    const PGresult *all, bool is_judged)
{
    const char *site = given->analysis.filters.values[FP_FILTER_SITE];
    struct fp_notification_finding *findings = list_findings(given, answer);
    const char **gains = list_gains(all, KEY);
    const char **old_gains = list_gains(all, OLD_KEY);
    char *scope = fp_filters_text("fix_first", &given->analysis.filters);
    char *link = fp_posting_link(&given->posting, site, "", "", "");
    const bool has_gains = PQntuples(answer) > 0;
    struct fp_notification notification = {
        .alert = "FleetprofFixFirst",
        .site = site,
        .is_judged = is_judged,
        .title = {" to fix first on site ", site,
                  has_gains ? ". " FP_GAINS_ASSUMPTIONS_SHORT : "."},
        .headings = {"gain at most", "95 % between", "p75", "fewer poor"},
        .findings = findings,
        .count = (size_t)PQntuples(answer),
        .scope = scope,
        .undecided = gains,
        .undecided_old = old_gains,
        .undecided_count = (size_t)PQntuples(all),
        .link = link,
    };
    bool fine = fp_posting_print(&given->posting, &notification);
    fine = fp_posting_post(&given->posting, &notification) && fine;
    for (size_t i = 0; i < notification.count; i++)
        free(findings[i].link);
    free(findings);
    free(gains);
    free(old_gains);
    free(scope);
    free(link);
    return fine;
}

/* Prints and posts the rows, if that is asked for. */
static bool tell(const struct fix_first_options *given, const PGresult *answer)
{
    const struct fp_posting *posting = &given->posting;
    bool is_judged = PQntuples(answer) > 0;
    if (posting->format == FP_NOTIFICATION_NONE && posting->webhook == NULL)
        return true;
    if (!is_judged && !ask_judged(given, &is_judged))
        return false;
    PGresult *all = ask(given, "null");
    const bool fine = all != NULL && tell_of(given, answer, all, is_judged);
    PQclear(all);
    return fine;
}

/* ---- answer ---- */

static void print_table(const struct fix_first_options *given, const PGresult *answer)
{
    if (given->posting.format != FP_NOTIFICATION_NONE)
        return;
    struct fp_grid grid;
    fp_grid_init(&grid, shown, FP_COUNT(shown));
    grid.extra_from = FP_COUNT(shown) - EXTRA_COUNT;
    fp_sql_fill(answer, TABLE, &grid);
    fp_grid_print(&grid, given->analysis.form);
    fp_grid_release(&grid);
    if (PQntuples(answer) == 0 || given->analysis.form != FP_FORM_PEOPLE)
        return;
    fp_note_gap();
    fp_note_put(FP_GAINS_ASSUMPTIONS);
}

static bool answer(const struct fix_first_options *given)
{
    PGresult *rows = ask(given, TOP);
    if (rows == NULL)
        return false;
    bool fine = true;
    print_table(given, rows);
    if (PQntuples(rows) == 0)
        fine = fp_analysis_explain(
            &given->analysis, "profiled page loads in which something surely made a vital longer");
    fine = tell(given, rows) && fine;
    PQclear(rows);
    return fine;
}

enum fp_exit fp_fix_first_command(int argc, char **argv)
{
    struct fix_first_options given = {0};
    fp_command_parse(&fix_first_argp, argc, argv, &given);
    bool fine = fp_posting_open(&given.posting) && fp_analysis_open(&given.analysis);
    if (fine) {
        fine = answer(&given);
        fp_analysis_close(&given.analysis);
    }
    fp_posting_close(&given.posting);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
