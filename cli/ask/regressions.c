/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof regressions: what a release made slower, for pipelines.
 */
#include "cli/ask/comparison.h"
#include "cli/ask/empty_answer.h"
#include "cli/ask/webhook.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "cli/kit/options.h"

enum {
    OPTION_FAIL_ON = FP_OPTION_FIRST,
    OPTION_LEAST_CHANGE,
    OPTION_WEBHOOK,
    OPTION_WEBHOOK_FILE,
    OPTION_STATE,
};

#define MAX_BODY_LEN ((size_t)16 * 1024 * 1024)

struct regressions_options {
    struct fp_comparison comparison;
    const char *release; /* NULL: the latest */
    bool fail_on_slower;
    bool fail_on_new;
    bool fail_on_early;
    char least_change[32];    /* a share, "" for SQL's default */
    const char *webhook;      /* NULL: none */
    const char *webhook_file; /* its first line is the webhook; NULL: none */
    const char *state;        /* NULL: the usual file */
};

static const struct argp_option options[] = {
    {"fail-on", OPTION_FAIL_ON, "VERDICTS", 0,
     "exit with 1 if there is such a verdict: slower, new, or early (too little is known "
     "yet); several with commas",
     0},
    {"least-change", OPTION_LEAST_CHANGE, "PERCENT", 0,
     "leave out what became slower by less of its own, however certain (default: 3)", 0},
    {"webhook", OPTION_WEBHOOK, "URL", 0, "post findings as JSON to this address, each one once",
     0},
    {"webhook-file", OPTION_WEBHOOK_FILE, "FILE", 0,
     "as --webhook with the URL in the first line of FILE, which `ps' does not show", 0},
    {"state", OPTION_STATE, "FILE", 0,
     "where the webhook remembers what it has posted (default: fleetprof/posted in $XDG_STATE_HOME "
     "or ~/.local/state)",
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

static error_t parse_regressions(int key, char *arg, struct argp_state *state)
{
    struct regressions_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->comparison;
        state->child_inputs[1] = &given->comparison.form;
        return 0;
    case OPTION_FAIL_ON:
        read_fail_on(given, arg, state);
        return 0;
    case OPTION_LEAST_CHANGE:
        read_least_change(given, arg, state);
        return 0;
    case OPTION_WEBHOOK:
        given->webhook = arg;
        return 0;
    case OPTION_WEBHOOK_FILE:
        given->webhook_file = arg;
        return 0;
    case OPTION_STATE:
        given->state = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one RELEASE is enough: it is compared with the one before it");
        given->release = arg;
        return 0;
    case ARGP_KEY_END:
        if (given->webhook != NULL && given->webhook_file != NULL)
            argp_error(state, "--webhook and --webhook-file exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_comparison_of_releases_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp regressions_argp = {
    .options = options,
    .parser = parse_regressions,
    .args_doc = "[RELEASE]",
    .doc = "The functions that a release (default: the latest) made slower, or brought, against "
           "the release before it, as far as that is more than noise.",
    .children = children,
};

/* ---- questions ---- */

/* The first columns of a row, before those of the table. */
enum { KEY, FINDING, BEFORE_RELEASE, AFTER_RELEASE, VERDICT, TABLE };

static PGresult *ask(const struct regressions_options *given)
{
    struct fp_sql_query query;
    fp_sql_init(&query,
                "select concat_ws(E'\\n', $1::text, before_release, after_release, function_key, "
                "verdict), jsonb_build_object('site', $1::text) || to_jsonb(finding), "
                "before_release, after_release, verdict, ");
    query.values[query.value_count++] = given->comparison.filters.values[FP_FILTER_SITE];
    fp_comparison_select(&query);
    fp_sql_add(&query, " from fleetprof.regressions(");
    fp_comparison_add(&given->comparison, &query);
    if (given->release != NULL) {
        fp_sql_add(&query, ", release => ");
        fp_sql_value(&query, "text", given->release);
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

/* ---- webhook ---- */

/* Appends the findings that were not posted before to the body, and notes them. Returns how many.
 */
static size_t add_findings(struct fp_webhook *webhook, const PGresult *answer, struct fp_buf *body)
{
    size_t count = 0;
    for (int i = 0; i < PQntuples(answer); i++) {
        const char *key = PQgetvalue(answer, i, KEY);
        if (fp_webhook_knows(webhook, key))
            continue;
        fp_buf_addf(body, "%s%s", count++ > 0 ? ", " : "", PQgetvalue(answer, i, FINDING));
        fp_webhook_note(webhook, key);
    }
    return count;
}

static bool post_findings(const struct regressions_options *given, const PGresult *answer)
{
    struct fp_webhook *webhook = fp_webhook_open(given->webhook, given->state);
    if (webhook == NULL)
        return false;
    struct fp_buf body;
    fp_buf_init(&body, MAX_BODY_LEN);
    fp_buf_addf(&body, "{\"findings\": [");
    size_t count = add_findings(webhook, answer, &body);
    fp_buf_addf(&body, "]}\n");
    bool fine = count == 0 || fp_webhook_post(webhook, fp_memory_text(&body));
    fp_buf_release(&body);
    fp_webhook_close(webhook);
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
    bool is_explained = !mistyped && given->release == NULL && explain_nameless(given);
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
enum { OBSTACLE, BEFORE_UPLOADS, AFTER_UPLOADS, UNDECIDED, WAIT };

/* Asks whether it is too early, or the sides are too unlike, to find anything. */
static PGresult *ask_obstacle(const struct regressions_options *given, const char *before,
                              const char *after)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select case obstacle when 'not enough data' then 'not enough data (' || "
                        "least(before_uploads, after_uploads) || ' of ' || least_uploads || "
                        "' uploads)' else 'the releases are \"' || obstacle || '\"' end, "
                        "before_uploads, after_uploads, undecided, " FP_COMPARISON_WAIT
                        " from fleetprof.compare_summary(");
    fp_comparison_add(&given->comparison, &query);
    fp_sql_add(&query, ", before => fleetprof_data.literal_filter(");
    fp_sql_value(&query, "text", before);
    fp_sql_add(&query, "), after => fleetprof_data.literal_filter(");
    fp_sql_value(&query, "text", after);
    fp_sql_add(&query, "))");
    PGresult *answer = fp_sql_run(given->comparison.connection, &query);
    fp_sql_release(&query);
    return answer;
}

static void print_count(const struct regressions_options *given, int count, const char *before,
                        const char *after)
{
    if (given->comparison.form != FP_FORM_PEOPLE)
        return;
    (void)printf("%s%d finding%s in release \"", count > 0 ? "\n" : "", count,
                 count == 1 ? "" : "s");
    fp_message_put(after);
    (void)printf("\", compared with \"");
    fp_message_put(before);
    (void)printf("\".\n");
}

/* Says whether nothing was found, or nothing could be judged. Returns what the command ends with.
 */
static enum fp_exit explain_no_finding(const struct regressions_options *given, const char *before,
                                       const char *after)
{
    PGresult *answer = ask_obstacle(given, before, after);
    if (answer == NULL)
        return FP_EXIT_TROUBLE;
    bool is_obstacle = PQgetisnull(answer, 0, OBSTACLE) == 0;
    if (is_obstacle) {
        fp_message_notice("nothing could be judged: %s", PQgetvalue(answer, 0, OBSTACLE));
        fp_message_hint("Compared were %s uploads of release \"%s\" and %s of \"%s\".",
                        PQgetvalue(answer, 0, BEFORE_UPLOADS), before,
                        PQgetvalue(answer, 0, AFTER_UPLOADS), after);
    } else {
        print_count(given, 0, before, after);
    }
    bool is_undecided = strcmp(PQgetvalue(answer, 0, UNDECIDED), "0") != 0;
    if (is_undecided && !is_obstacle)
        fp_message_notice("too little is known of %s functions", PQgetvalue(answer, 0, UNDECIDED));
    if (PQgetvalue(answer, 0, WAIT)[0] != '\0' && (is_obstacle || is_undecided))
        fp_message_hint("%s", PQgetvalue(answer, 0, WAIT));
    PQclear(answer);
    return (is_obstacle || is_undecided) && given->fail_on_early ? FP_EXIT_NO : FP_EXIT_FINE;
}

static enum fp_exit print_regressions(const struct regressions_options *given,
                                      const PGresult *releases)
{
    const char *before = PQgetvalue(releases, 0, 0);
    const char *after = PQgetvalue(releases, 0, 1);
    PGresult *answer = ask(given);
    if (answer == NULL)
        return FP_EXIT_TROUBLE;
    fp_comparison_print(&given->comparison, answer, TABLE);
    enum fp_exit code = verdict_of(given, answer);
    if (PQntuples(answer) > 0)
        print_count(given, PQntuples(answer), before, after);
    else
        code = explain_no_finding(given, before, after);
    if (given->webhook != NULL && !post_findings(given, answer))
        code = FP_EXIT_TROUBLE;
    PQclear(answer);
    return code;
}

static enum fp_exit find_regressions(struct regressions_options *given)
{
    if (!fp_comparison_open(&given->comparison))
        return FP_EXIT_TROUBLE;
    enum fp_exit code = FP_EXIT_TROUBLE;
    PGresult *releases = ask_releases(given);
    if (releases != NULL && PQgetisnull(releases, 0, 0) == 1) {
        fp_comparison_print(&given->comparison, NULL, TABLE); /* no row */
        code = explain_lone_release(given, releases);
    } else if (releases != NULL) {
        code = print_regressions(given, releases);
    }
    PQclear(releases);
    fp_comparison_close(&given->comparison);
    return code;
}

enum fp_exit fp_regressions_command(int argc, char **argv)
{
    struct regressions_options given = {0};
    fp_command_parse(&regressions_argp, argc, argv, &given);
    char *url = NULL;
    if (given.webhook_file != NULL) {
        given.webhook = url = fp_webhook_read_url(given.webhook_file);
        if (url == NULL)
            return FP_EXIT_TROUBLE;
    }
    const enum fp_exit code = find_regressions(&given);
    free(url);
    return code;
}
