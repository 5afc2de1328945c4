/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof session: uploads that are kept whole.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/columns.h"
#include "cli/ask/question_columns.h"
#include "cli/ask/session_content.h"
#include "cli/ask/session_typical.h"
#include "cli/kit/command.h"
#include "cli/kit/options.h"
#include "cli/kit/sub_command.h"
#include "cli/kit/terminal.h"

#include <stdlib.h>

/* ---- list ---- */

struct session_list_options {
    struct fp_database_options database;
    enum fp_form form;
};

static error_t parse_list(int key, char *arg, struct argp_state *state)
{
    struct session_list_options *list = state->input;
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &list->database;
    state->child_inputs[1] = &list->form;
    return 0;
}

static const struct argp_child list_children[] = {
    {&fp_database_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp_child children[] = {
    {&fp_database_argp, 0, NULL, 0},
    {0},
};

static const struct argp list_argp = {
    .parser = parse_list,
    .doc = "The uploads that are kept whole, the latest first: dumps of Speed Tracer, sessions of "
           "Opera Scope, and the share of traces that sample_keep sets.",
    .children = list_children,
};

static const struct fp_grid_column all[] = {FP_COLUMNS_OF_SESSIONS(FP_GRID_COLUMN)};
static const struct fp_shown shown[] = {
    {.name = "session_id"}, {.name = "received"}, {.name = "site"},
    {.name = "route"},      {.name = "release"},  {.name = "format"},
    {.name = "timelines"},  {.name = "events"},   {.name = "content_bytes"},
};

static bool print_list(PGconn *connection, enum fp_form form)
{
    struct fp_sql_query query;
    struct fp_columns columns;
    fp_columns_init(&columns, shown, FP_COUNT(shown), all, FP_COUNT(all));
    fp_sql_init(&query, "select ");
    fp_columns_select(&columns, &query);
    fp_sql_add(&query, " from fleetprof.sessions order by received desc, session_id");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    struct fp_grid grid;
    fp_grid_init(&grid, columns.columns, columns.count);
    fp_sql_fill(answer, 0, &grid);
    fp_grid_print(&grid, form);
    if (PQntuples(answer) == 0)
        fp_message_notice("no upload is kept whole yet; uploads are counted in batches, within "
                          "seconds");
    fp_grid_release(&grid);
    PQclear(answer);
    return true;
}

static enum fp_exit list_command(int argc, char **argv)
{
    struct session_list_options list = {0};
    fp_command_parse(&list_argp, argc, argv, &list);
    PGconn *connection = fp_database_open(&list.database);
    bool fine = connection != NULL && print_list(connection, list.form);
    PQfinish(connection);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

/* ---- export ---- */

struct session_export_options {
    struct fp_database_options database;
    const char *session_id;
};

static error_t parse_export(int key, char *arg, struct argp_state *state)
{
    struct session_export_options *export = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &export->database;
        return 0;
    case ARGP_KEY_ARG:
        if (export->session_id != NULL)
            argp_error(state, "one session at a time");
        if (arg[0] == '\0' || strlen(arg) > 19 || arg[strspn(arg, "0123456789")] != '\0')
            argp_error(state, "a session's id is a number, not \"%s\"", arg);
        export->session_id = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no session was named; `fleetprof session list' lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp export_argp = {
    .parser = parse_export,
    .args_doc = "ID",
    .doc = "Writes a kept upload to standard output, in the format it came in: scrubbed, or as it "
           "was sent where the configuration has privacy.keep_raw.",
    .children = children,
};

static bool print_content(PGconn *connection, const char *session_id)
{
    size_t len;
    char *content = fp_session_content_read(connection, session_id, &len);
    if (content == NULL)
        return false;
    fp_terminal_write_json(stdout, (struct fp_str){content, len});
    free(content);
    return true;
}

static enum fp_exit export_command(int argc, char **argv)
{
    struct session_export_options export = {0};
    fp_command_parse(&export_argp, argc, argv, &export);
    PGconn *connection = fp_database_open(&export.database);
    bool fine = connection != NULL && print_content(connection, export.session_id);
    PQfinish(connection);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

static const struct fp_sub_command members[] = {
    {{"list", NULL}, "uploads that are kept whole", list_command},
    {{"export", NULL}, "one of them, in the format it came in", export_command},
    {{"typical", NULL}, "the page load that is most like others", fp_session_typical_command},
};

enum fp_exit fp_session_command(int argc, char **argv)
{
    const struct fp_command_family family = {
        .name = "session",
        .summary = "Uploads that are kept whole.",
        .members = members,
        .count = sizeof(members) / sizeof(members[0]),
    };
    return fp_command_family_run(&family, argc, argv);
}
