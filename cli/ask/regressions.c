/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof regressions: what a release, or the last hours, made slower, for pipelines.
 */
#include "cli/ask/comparison.h"
#include "cli/ask/empty_answer.h"
#include "cli/ask/posting.h"
#include "cli/ask/suspects.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"

enum {
    OPTION_FAIL_ON = FP_OPTION_FIRST,
    OPTION_LAST,
    OPTION_LEAST_CHANGE,
    OPTION_REPOSITORY,
};

struct regressions_options {
    struct fp_comparison comparison;
    const char *release; /* NULL: the latest, or none, if last_hours are given */
    char last_hours[12]; /* of all releases, "" for those of one */
    bool fail_on_slower;
    bool fail_on_new;
    bool fail_on_early;
    char least_change[32]; /* a share, "" for SQL's default */
    struct fp_posting posting;
    const char *repository; /* NULL: none */
};

static const struct argp_option options[] = {
    {"last", OPTION_LAST, "DURATION", 0,
     "judge this time up to now (24h, 1d, 1w; whole hours, at most 366d) of all releases, instead "
     "of a release, against the "
     "same hours seven days earlier, or those right before",
     0},
    {"fail-on", OPTION_FAIL_ON, "VERDICTS", 0,
     "exit with 1 if there is such a verdict: slower, new, or early (too early or too unlike to "
     "compare, or no release before it); several with commas",
     0},
    {"least-change", OPTION_LEAST_CHANGE, "PERCENT", 0,
     "leave out what became slower by less of its own, however certain (default: 3)", 0},
    {"repository", OPTION_REPOSITORY, "DIRECTORY", 0,
     "name the commits of this git repository that touched a function's lines between the "
     "releases, with --format and webhooks",
     0},
    {0},
};

/* Reads a list of verdicts. */
static void read_fail_on(struct regressions_options *given, const char *list,
                         struct argp_state *state)
{
    const struct {
        const char *verdict;
        bool *wanted;
    } known[] = {{"slower", &given->fail_on_slower},
                 {"new", &given->fail_on_new},
                 {"early", &given->fail_on_early}};
    for (const char *word = list;;) {
        size_t len = strcspn(word, ",");
        bool found = false;
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            if (strlen(known[i].verdict) == len && strncmp(word, known[i].verdict, len) == 0)
                *known[i].wanted = found = true;
        }
        if (!found)
            argp_error(state, "--fail-on takes slower, new and early, not \"%.*s\"", (int)len,
                       word);
        if (word[len] == '\0')
            return;
        word += len + 1;
    }
}

static void read_least_change(struct regressions_options *given, const char *arg,
                              struct argp_state *state)
{
    char *end;
    double percent = strtod(arg, &end);
    if (end == arg || (*end != '\0' && strcmp(end, "%") != 0) || !(percent >= 0 && percent < 1e6))
        argp_error(state, "--least-change takes a percentage such as 5, not \"%s\"", arg);
    (void)snprintf(given->least_change, sizeof(given->least_change), "%.9g", percent / 100);
}

/* Reads whole hours, days or weeks. */
static void read_last(struct regressions_options *given, const char *arg, struct argp_state *state)
{
    enum { MAX_HOURS = 366 * 24, MAX_DIGITS = 5 };
    const size_t digits = strspn(arg, "0123456789");
    const char *unit = arg + digits;
    const long hours = strcmp(unit, "h") == 0   ? 1
                       : strcmp(unit, "d") == 0 ? 24
                       : strcmp(unit, "w") == 0 ? 7 * 24
                                                : 0;
    const long last = digits <= MAX_DIGITS ? strtol(arg, NULL, 10) * hours : MAX_HOURS + 1L;
    if (digits == 0 || hours == 0)
        argp_error(state,
                   "--last takes whole hours, days or weeks, such as 24h, 1d or 1w, not "
                   "\"%s\"",
                   arg);
    if (last < 1 || last > MAX_HOURS)
        argp_error(state, "--last takes 1h to 366d, not \"%s\"", arg);
    (void)snprintf(given->last_hours, sizeof(given->last_hours), "%ld", last);
}

/* True if the last hours are judged, not a release. */
static bool has_window(const struct regressions_options *given)
{
    return given->last_hours[0] != '\0';
}

/* Checks what options say together. */
static void check_options(const struct regressions_options *given, struct argp_state *state)
{
    const char *const *values = given->comparison.filters.values;
    if (given->posting.format != FP_NOTIFICATION_NONE && given->comparison.form != FP_FORM_PEOPLE)
        argp_error(state, "--format, --json and --csv exclude each other");
    if (has_window(given) && given->release != NULL)
        argp_error(state, "--last judges all releases: leave out \"%s\"", given->release);
    if (has_window(given) && given->repository != NULL)
        argp_error(state, "--repository is for releases: leave out --last");
    if (has_window(given) && (values[FP_FILTER_SINCE] != NULL || values[FP_FILTER_UNTIL] != NULL))
        argp_error(state, "--last is a period: leave out --since and --until");
}

static error_t parse_regressions(int key, char *arg, struct argp_state *state)
{
    struct regressions_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->comparison;
        state->child_inputs[1] = &given->comparison.form;
        state->child_inputs[2] = &given->posting;
        return 0;
    case OPTION_FAIL_ON:
        read_fail_on(given, arg, state);
        return 0;
    case OPTION_LAST:
        read_last(given, arg, state);
        return 0;
    case OPTION_LEAST_CHANGE:
        read_least_change(given, arg, state);
        return 0;
    case OPTION_REPOSITORY:
        given->repository = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one RELEASE is enough: it is compared with the one before it");
        given->release = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        check_options(given, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_comparison_of_releases_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {&fp_posting_argp, 0, "Telling others:", 2},
    {0},
};

static const struct argp regressions_argp = {
    .options = options,
    .parser = parse_regressions,
    .args_doc = "[RELEASE]",
    .doc = "The functions that a release (default: the latest) made slower, or brought, against "
           "the release before it, as far as that is more than noise. With --last: those of all "
           "releases of the last hours.",
    .children = children,
};

/* ---- questions ---- */

/* The first columns of a row, before those of the table. */
enum {
    KEY,
    OLD_KEY,
    FINDING,
    VERDICT,
    BEFORE_HOURS,
    FUNCTION,
    FUNCTION_KEY,
    FACT,
    PLACE,
    SOURCE,
    SOURCE_LINE,
    SOURCE_END,
    SOURCE_LINK,
    OWNER,
    CHANGE,
    BETWEEN,
    BEFORE_MS,
    AFTER_MS,
    TABLE
};

/* The window's releases are null, so its key has a week. */
#define KEY_OF(weeks_ago)                                                                          \
    "concat_ws(E'\\n', $1::text, before_release, after_release, function_key, verdict, "           \
    "case when after_release is null then floor(extract(epoch from now()) / 604800) - " weeks_ago  \
    " end)"

#define MS(value) "coalesce(to_char(" value ", 'FM999990.0') || ' ms', '')"
#define OWN_CHANGE "coalesce(" FP_COMPARISON_CHANGE("own_change") ", '')"
#define OWN_BETWEEN                                                                                \
    "coalesce(" FP_COMPARISON_CHANGE("own_low") " || ' and ' || " FP_COMPARISON_CHANGE(            \
        "own_high") ", '')"

/* The columns from FUNCTION on, for messages. Only a path that a function table gives is
 * one of a repository. */
static const char told[] =
    "function, function_key, 'is ' || verdict || coalesce(': ' || "
    "nullif(" OWN_CHANGE ", '') || ' (95 % between ' || " OWN_BETWEEN
    " || ')', '') || case when before_self_ms is null then ': ' else ', ' "
    "|| " MS("before_self_ms") " || ' to ' end || " MS(
        "after_self_ms") " || ' per page load', "
                         "coalesce(resource, '') || coalesce(':' || line, "
                         "''), "
                         "case when resource is distinct from "
                         "generated_resource then coalesce(resource, '') "
                         "else '' "
                         "end, coalesce(line::text, ''), "
                         "coalesce(fleetprof_data.source_end($1::text, generated_resource, "
                         "generated_line, generated_column), line + 50)::text, "
                         "coalesce(fleetprof.source_link($1::text, "
                         "generated_resource, "
                         "generated_line, generated_column, after_release), "
                         "''), coalesce(owner, ''), " OWN_CHANGE ", " OWN_BETWEEN
                         ", " MS("before_self_ms") ", " MS("after_self_ms") ", ";

static PGresult *ask(const struct regressions_options *given)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select " KEY_OF("0") ", " KEY_OF(
                            "1") ", "
                                 "jsonb_build_object('site', $1::text) || to_jsonb(finding), "
                                 "verdict, " FP_COMPARISON_HOURS("before_hours") ", ");
    fp_sql_add(&query, told);
    query.values[query.value_count++] = given->comparison.filters.values[FP_FILTER_SITE];
    fp_comparison_select(&query);
    fp_sql_add(&query, " from fleetprof.regressions(");
    fp_comparison_add(&given->comparison, &query);
    if (given->release != NULL) {
        fp_sql_add(&query, ", release => ");
        fp_sql_value(&query, "text", given->release);
    }
    if (has_window(given)) {
        fp_sql_add(&query, ", last_hours => ");
        fp_sql_value(&query, "integer", given->last_hours);
    }
    if (given->least_change[0] != '\0') {
        fp_sql_add(&query, ", least_change => ");
        fp_sql_value(&query, "double precision", given->least_change);
    }
    fp_sql_add(&query, ") as finding where not is_agent");
    PGresult *answer = fp_sql_run(given->comparison.connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* Asks which releases are compared: one row, the earlier and the later one, null where there is
 * none. */
static PGresult *ask_releases(const struct regressions_options *given)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select previous, latest from fleetprof_data.latest_releases(");
    fp_filters_add(&given->comparison.filters, &query);
    fp_sql_add(&query, ", release => ");
    fp_sql_value(&query, "text", given->release);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(given->comparison.connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* Asks for one row: are the site and the release known. */
static PGresult *ask_known(const struct regressions_options *given)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select count(*) > 0, coalesce(bool_or(release = ");
    fp_sql_value(&query, "text", given->release);
    fp_sql_add(&query, "), false) from fleetprof.segment where fleetprof_data.matches(site, ");
    fp_sql_value(&query, "text", given->comparison.filters.values[FP_FILTER_SITE]);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(given->comparison.connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* ---- telling others ---- */

/* The releases that are compared, or NULL. */
struct sides {
    const char *before;
    const char *after;
};

/* Returns the findings of an answer (NULL: none). The caller frees them with free_findings. */
static struct fp_notification_finding *list_findings(const struct regressions_options *given,
                                                     const PGresult *answer, int count)
{
    const char *site = given->comparison.filters.values[FP_FILTER_SITE];
    struct fp_notification_finding *findings =
        fp_memory_need(calloc((size_t)count + 1, sizeof(*findings)));
    for (int i = 0; i < count; i++)
        findings[i] = (struct fp_notification_finding){
            .key = PQgetvalue(answer, i, KEY),
            .old_key = PQgetvalue(answer, i, OLD_KEY),
            .json = PQgetvalue(answer, i, FINDING),
            .verdict = PQgetvalue(answer, i, VERDICT),
            .fact = PQgetvalue(answer, i, FACT),
            .name = PQgetvalue(answer, i, FUNCTION),
            .place = PQgetvalue(answer, i, PLACE),
            .source = PQgetvalue(answer, i, SOURCE),
            .line = PQgetvalue(answer, i, SOURCE_LINE),
            .source_link = PQgetvalue(answer, i, SOURCE_LINK),
            .owner = PQgetvalue(answer, i, OWNER),
            .link = fp_posting_link(&given->posting, site, "function",
                                    PQgetvalue(answer, i, FUNCTION_KEY), ""),
            .cells = {PQgetvalue(answer, i, CHANGE), PQgetvalue(answer, i, BETWEEN),
                      PQgetvalue(answer, i, BEFORE_MS), PQgetvalue(answer, i, AFTER_MS)},
        };
    return findings;
}

static void free_findings(struct fp_notification_finding *findings, int count)
{
    for (int i = 0; i < count; i++) {
        free(findings[i].link);
        free(findings[i].suspects);
    }
    free(findings);
}

/* Returns the address of the comparison in the report, NULL without a report. */
static char *link_of(const struct regressions_options *given, const struct sides *sides)
{
    const char *site = given->comparison.filters.values[FP_FILTER_SITE];
    struct fp_buf parameters;
    fp_buf_init(&parameters, (size_t)64 * 1024);
    if (sides->before != NULL && sides->after != NULL) {
        fp_buf_addf(&parameters, "before=");
        fp_posting_encode(&parameters, sides->before);
        fp_buf_addf(&parameters, "&after=");
        fp_posting_encode(&parameters, sides->after);
    }
    char *link = fp_posting_link(&given->posting, site, "compare", "", fp_memory_text(&parameters));
    fp_buf_release(&parameters);
    return link;
}

/* Finds who touched the functions' lines, if a repository is given. */
static bool suspect(const struct regressions_options *given, const PGresult *answer,
                    const struct sides *sides, struct fp_notification_finding *findings, int count)
{
    struct fp_suspects *suspects = NULL;
    if (given->repository == NULL || count == 0)
        return true;
    if (!fp_suspects_open(given->repository, sides->before, sides->after, &suspects))
        return false;
    for (int i = 0; i < count; i++) {
        const struct fp_suspects_lines lines = {
            .source = findings[i].source,
            .first = findings[i].line,
            .last = PQgetvalue(answer, i, SOURCE_END),
        };
        findings[i].suspects = fp_suspects_find(suspects, &lines);
    }
    fp_suspects_close(suspects);
    return true;
}

/* Returns a text that tells the command's question apart from others. The caller frees it. */
static char *scope_of(const struct regressions_options *given)
{
    struct fp_buf scope;
    fp_buf_init(&scope, (size_t)1024 * 1024);
    char *filters = fp_filters_text("regressions", &given->comparison.filters);
    fp_buf_addf(&scope, "%s\nrelease=%s\nlast=%s\nleast=%s", filters,
                given->release != NULL ? given->release : "", given->last_hours,
                given->least_change);
    free(filters);
    char *copy = fp_memory_copy(fp_memory_text(&scope));
    fp_buf_release(&scope);
    return copy;
}

/* Prints the findings in the wanted format, and posts them. answer: NULL for none. */
static bool tell(const struct regressions_options *given, const PGresult *answer,
                 const struct sides *sides, bool is_judged)
{
    const int count = answer != NULL ? PQntuples(answer) : 0;
    struct fp_notification_finding *findings = list_findings(given, answer, count);
    char *link = link_of(given, sides);
    struct fp_notification notification = {
        .alert = "FleetprofRegression",
        .site = given->comparison.filters.values[FP_FILTER_SITE],
        .is_judged = is_judged,
        .title = {" of site ", given->comparison.filters.values[FP_FILTER_SITE],
                  has_window(given) ? " in the last " : " in release "},
        .headings = {"own change", "95 % between", "before", "after"},
        .findings = findings,
        .count = (size_t)count,
        .link = link,
    };
    const char **rest = &notification.title[3];
    if (has_window(given)) {
        rest[0] = given->last_hours;
        rest[1] = " hours.";
    } else if (sides->before == NULL || sides->after == NULL) {
        notification.title[2] = ".";
    } else {
        rest[0] = sides->after;
        rest[1] = ", compared with ";
        rest[2] = sides->before;
        rest[3] = ".";
    }
    char *scope = scope_of(given);
    notification.scope = scope;
    bool fine = suspect(given, answer, sides, findings, count);
    fine = fp_posting_print(&given->posting, &notification) && fine;
    fine = fp_posting_post(&given->posting, &notification) && fine;
    free_findings(findings, count);
    free(scope);
    free(link);
    return fine;
}

/* ---- answer ---- */

static enum fp_exit verdict_of(const struct regressions_options *given, const PGresult *answer)
{
    for (int i = 0; i < PQntuples(answer); i++) {
        bool is_slower = strcmp(PQgetvalue(answer, i, VERDICT), "slower") == 0;
        if (is_slower ? given->fail_on_slower : given->fail_on_new)
            return FP_EXIT_NO;
    }
    return FP_EXIT_FINE;
}

/* True if the command line names a site or a release that is not known. */
static bool is_mistyped(const struct regressions_options *given, const PGresult *known)
{
    const struct fp_filters *filters = &given->comparison.filters;
    bool is_site_known = PQgetvalue(known, 0, 0)[0] == 't';
    bool is_release_known = PQgetvalue(known, 0, 1)[0] == 't';
    return (filters->values[FP_FILTER_SITE] != filters->chosen_site && !is_site_known) ||
           (given->release != NULL && !is_release_known);
}

/* Says so if uploads match, but none has a release. */
static bool explain_nameless(const struct regressions_options *given)
{
    struct regressions_options nameless = *given;
    nameless.release = "";
    PGresult *releases = ask_releases(&nameless);
    bool has_nameless = releases != NULL && PQgetisnull(releases, 0, 1) == 0;
    PQclear(releases);
    if (has_nameless) {
        fp_message_notice("no upload that matches names its release");
        fp_message_hint("The attribute data-release of the agent's tag names it.");
    }
    return has_nameless;
}

/* Explains why there is no release to compare. Returns what the command ends with. */
static enum fp_exit explain_no_release(const struct regressions_options *given)
{
    PGresult *known = ask_known(given);
    if (known == NULL)
        return FP_EXIT_TROUBLE;
    bool mistyped = is_mistyped(given, known);
    PQclear(known);
    struct fp_filters filters = given->comparison.filters;
    filters.values[FP_FILTER_RELEASE] = given->release;
    if (mistyped && given->release != NULL && strchr(given->release, '%') != NULL) {
        fp_message_notice("nothing was counted for the release \"%s\"", given->release);
        fp_message_hint("RELEASE is the name of one release; %% stands for itself.");
        return FP_EXIT_TROUBLE;
    }
    bool is_explained =
        !mistyped && given->release == NULL && !has_window(given) && explain_nameless(given);
    if (!is_explained &&
        (!fp_empty_answer_explain(&filters, NULL, given->comparison.connection) || mistyped))
        return FP_EXIT_TROUBLE;
    return given->fail_on_early ? FP_EXIT_NO : FP_EXIT_FINE;
}

/* Explains why nothing was compared. Returns what the command ends with. */
static enum fp_exit explain_lone_release(const struct regressions_options *given,
                                         const PGresult *releases)
{
    if (PQgetisnull(releases, 0, 1) == 1)
        return explain_no_release(given);
    fp_message_notice("there is no release before \"%s\" to compare it with",
                      PQgetvalue(releases, 0, 1));
    return given->fail_on_early ? FP_EXIT_NO : FP_EXIT_FINE;
}

/* The columns of ask_obstacle. */
enum { OBSTACLE, BEFORE_UPLOADS, AFTER_UPLOADS, UNDECIDED, WAIT, HOURS };

/* Appends the sides of compare_summary. */
static void add_sides(const struct regressions_options *given, const struct sides *sides,
                      struct fp_sql_query *query)
{
    fp_comparison_add(&given->comparison, query);
    if (has_window(given)) {
        fp_sql_add(query, ", since => now() - interval '1 hour' * ");
        fp_sql_value(query, "integer", given->last_hours);
        return;
    }
    fp_sql_add(query, ", before => fleetprof_data.literal_filter(");
    fp_sql_value(query, "text", sides->before);
    fp_sql_add(query, "), after => fleetprof_data.literal_filter(");
    fp_sql_value(query, "text", sides->after);
    fp_sql_add(query, ")");
}

/* Asks whether it is too early, or the sides are too unlike, to find anything. */
static PGresult *ask_obstacle(const struct regressions_options *given, const struct sides *sides)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select case obstacle when 'not enough data' then 'not enough data (' || "
                        "least(before_uploads, after_uploads) || ' of ' || least_uploads || "
                        "' uploads)' else 'the ' || ");
    fp_sql_value(&query, "text", has_window(given) ? "periods" : "releases");
    fp_sql_add(&query, " || ' are \"' || obstacle || '\"' end, "
                       "before_uploads, after_uploads, undecided, " FP_COMPARISON_WAIT
                       ", " FP_COMPARISON_HOURS("before_hours") " from fleetprof.compare_summary(");
    add_sides(given, sides, &query);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(given->comparison.connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* before_hours: of a window, "" if there are none. */
static void print_count(const struct regressions_options *given, int count,
                        const struct sides *sides, const char *before_hours)
{
    if (given->comparison.form != FP_FORM_PEOPLE || given->posting.format != FP_NOTIFICATION_NONE)
        return;
    const char *plural = count == 1 ? "" : "s";
    if (count > 0)
        fp_note_gap();
    if (has_window(given))
        fp_note_print("%d finding%s in the last %s hours, compared with those from %s (UTC).",
                      count, plural, given->last_hours, before_hours);
    else
        fp_note_print("%d finding%s in release \"%s\", compared with \"%s\".", count, plural,
                      sides->after, sides->before);
}

/* Says why nothing could be judged. */
static void explain_obstacle(const struct regressions_options *given, const PGresult *answer,
                             const struct sides *sides)
{
    const char *before = PQgetvalue(answer, 0, BEFORE_UPLOADS);
    const char *after = PQgetvalue(answer, 0, AFTER_UPLOADS);
    fp_message_notice("nothing could be judged: %s", PQgetvalue(answer, 0, OBSTACLE));
    if (has_window(given))
        fp_message_hint("Compared were %s uploads of the last %s hours and %s of those before.",
                        after, given->last_hours, before);
    else
        fp_message_hint("Compared were %s uploads of release \"%s\" and %s of \"%s\".", before,
                        sides->before, after, sides->after);
}

/* Says whether nothing was found, or nothing could be judged. Returns what the command ends with.
 */
static enum fp_exit explain_judgement(const struct regressions_options *given,
                                      const PGresult *answer, const struct sides *sides)
{
    const bool is_obstacle = PQgetisnull(answer, 0, OBSTACLE) == 0;
    const bool is_undecided = strcmp(PQgetvalue(answer, 0, UNDECIDED), "0") != 0;
    if (is_obstacle)
        explain_obstacle(given, answer, sides);
    else
        print_count(given, 0, sides, PQgetvalue(answer, 0, HOURS));
    if (is_undecided && !is_obstacle)
        fp_message_notice("too little is known of %s functions", PQgetvalue(answer, 0, UNDECIDED));
    if (PQgetvalue(answer, 0, WAIT)[0] != '\0' && (is_obstacle || is_undecided))
        fp_message_hint("%s", PQgetvalue(answer, 0, WAIT));
    return (is_obstacle || is_undecided) && given->fail_on_early ? FP_EXIT_NO : FP_EXIT_FINE;
}

/* True if no upload at all is in one of the periods. */
static bool is_window_empty(const PGresult *answer)
{
    return strcmp(PQgetvalue(answer, 0, BEFORE_UPLOADS), "0") == 0 &&
           strcmp(PQgetvalue(answer, 0, AFTER_UPLOADS), "0") == 0;
}

/* *is_judged: functions were compared, and nothing was found. */
static enum fp_exit explain_no_finding(const struct regressions_options *given,
                                       const struct sides *sides, bool *is_judged)
{
    PGresult *answer = ask_obstacle(given, sides);
    if (answer == NULL)
        return FP_EXIT_TROUBLE;
    const enum fp_exit code = has_window(given) && is_window_empty(answer)
                                  ? explain_no_release(given)
                                  : explain_judgement(given, answer, sides);
    *is_judged = PQgetisnull(answer, 0, OBSTACLE) == 1;
    PQclear(answer);
    return code;
}

static void print_table(const struct regressions_options *given, const PGresult *answer)
{
    if (given->posting.format == FP_NOTIFICATION_NONE)
        fp_comparison_print(&given->comparison, answer, TABLE);
}

static enum fp_exit print_regressions(const struct regressions_options *given,
                                      const struct sides *sides)
{
    PGresult *answer = ask(given);
    if (answer == NULL)
        return FP_EXIT_TROUBLE;
    const int count = PQntuples(answer);
    bool is_judged = true;
    print_table(given, answer);
    enum fp_exit code = verdict_of(given, answer);
    if (count > 0)
        print_count(given, count, sides, PQgetvalue(answer, 0, BEFORE_HOURS));
    else
        code = explain_no_finding(given, sides, &is_judged);
    if (code != FP_EXIT_TROUBLE && !tell(given, answer, sides, is_judged))
        code = FP_EXIT_TROUBLE;
    PQclear(answer);
    return code;
}

/* Chooses the release and the one before it, and compares them. */
static enum fp_exit find_of_release(const struct regressions_options *given)
{
    PGresult *releases = ask_releases(given);
    if (releases == NULL)
        return FP_EXIT_TROUBLE;
    struct sides sides = {PQgetvalue(releases, 0, 0), PQgetvalue(releases, 0, 1)};
    enum fp_exit code;
    if (PQgetisnull(releases, 0, 0) == 1) {
        sides.before = NULL;
        print_table(given, NULL); /* no row */
        code = explain_lone_release(given, releases);
        if (code != FP_EXIT_TROUBLE && !tell(given, NULL, &sides, false))
            code = FP_EXIT_TROUBLE;
    } else {
        code = print_regressions(given, &sides);
    }
    PQclear(releases);
    return code;
}

static enum fp_exit find_regressions(struct regressions_options *given)
{
    const struct sides none = {NULL, NULL};
    if (!fp_comparison_open(&given->comparison))
        return FP_EXIT_TROUBLE;
    const enum fp_exit code =
        has_window(given) ? print_regressions(given, &none) : find_of_release(given);
    fp_comparison_close(&given->comparison);
    return code;
}

enum fp_exit fp_regressions_command(int argc, char **argv)
{
    struct regressions_options given = {0};
    fp_command_parse(&regressions_argp, argc, argv, &given);
    const enum fp_exit code =
        fp_posting_open(&given.posting) ? find_regressions(&given) : FP_EXIT_TROUBLE;
    fp_posting_close(&given.posting);
    return code;
}
