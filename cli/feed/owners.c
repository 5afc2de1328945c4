/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof owners: CODEOWNERS files, which say whose the sources of a site are.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/columns.h"
#include "cli/ask/question_columns.h"
#include "cli/feed/code_owners.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/options.h"
#include "cli/kit/sub_command.h"

enum { OPTION_SITE = 's', OPTION_DRY_RUN = FP_OPTION_FIRST };

struct owners_options {
    struct fp_database_options database;
    struct fp_filters filters; /* for the site */
    struct fp_files files;
    bool dry_run;
    enum fp_form form;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct owners_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->database;
        state->child_inputs[1] = &given->form;
        if (state->root_argp->children[2].argp != NULL)
            state->child_inputs[2] = &given->files;
        return 0;
    case OPTION_SITE:
        given->filters.values[FP_FILTER_SITE] = arg;
        return 0;
    case OPTION_DRY_RUN:
        given->dry_run = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"site", OPTION_SITE, "NAME", 0, "the site (not needed when the database has only one)", 0},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "check and count, but change nothing", 0},
    {0},
};

static const struct argp_child children[] = {
    {&fp_database_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

/* Connects and chooses the site. NULL on failure. */
static PGconn *open_site(struct owners_options *given)
{
    PGconn *connection = fp_database_open(&given->database);
    if (connection != NULL && !fp_filters_choose_site(&given->filters, connection)) {
        PQfinish(connection);
        return NULL;
    }
    return connection;
}

/* Replaces the patterns of the site. NULL on failure. */
static PGresult *replace(const struct owners_options *given, PGconn *connection,
                         const char *patterns_json)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select * from fleetprof_data.replace_owners(");
    fp_sql_value(&query, "text", given->filters.values[FP_FILTER_SITE]);
    fp_sql_add(&query, ", ");
    fp_sql_value(&query, "jsonb", patterns_json);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_command(connection, "begin") ? fp_sql_run(connection, &query) : NULL;
    fp_sql_release(&query);
    if (answer != NULL && !fp_sql_command(connection, given->dry_run ? "rollback" : "commit")) {
        PQclear(answer);
        return NULL;
    }
    return answer;
}

static void print(const struct owners_options *given, PGresult *answer,
                  const struct fp_grid_column *columns, size_t count)
{
    struct fp_grid grid;
    fp_grid_init(&grid, columns, count);
    fp_sql_fill(answer, 0, &grid);
    fp_grid_print(&grid, given->form);
    fp_grid_release(&grid);
}

/* ---- set ---- */

static const struct argp_child set_children[] = {
    {&fp_database_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {&fp_files_argp, 0, NULL, 0},
    {0},
};

static const struct argp set_argp = {
    .options = options,
    .parser = parse,
    .doc = "Replaces what is known of a site's owners by a CODEOWNERS file, as GitHub reads it. "
           "The last pattern that matches the source of a function says whose it is. Nothing is "
           "changed if a line is invalid.",
    .children = set_children,
};

enum { SET_SOURCES = 2, SET_OWNED = 3 };

static const struct fp_grid_column set_columns[] = {
    {"patterns", "PATTERNS", FP_CELL_INTEGER},
    {"removed", "REMOVED", FP_CELL_INTEGER},
    {"sources", "SOURCES", FP_CELL_INTEGER},
    {"owned", "OWNED", FP_CELL_INTEGER},
};

/* Says so if no source has an owner. */
static void warn_of_paths(const PGresult *answer)
{
    if (strcmp(PQgetvalue(answer, 0, SET_SOURCES), "0") == 0) {
        fp_message_notice("no function table knows a source of the site yet");
        fp_message_hint("`fleetprof sourcemap add' brings function tables.");
    } else if (strcmp(PQgetvalue(answer, 0, SET_OWNED), "0") == 0) {
        fp_message_notice("no pattern gives a source of the site an owner");
        fp_message_hint("Patterns are of paths from the root of the repository: make function "
                        "tables with --root, the repository's directory.");
    }
}

static enum fp_exit set_command(int argc, char **argv)
{
    struct owners_options given = {0};
    fp_command_parse(&set_argp, argc, argv, &given);
    if (given.files.count != 1) {
        fp_message_error("give one file");
        return FP_EXIT_TROUBLE;
    }
    struct fp_code_owners owners;
    enum fp_exit code = fp_code_owners_read(given.files.names[0], &owners);
    if (code != FP_EXIT_FINE)
        return code;
    PGconn *connection = open_site(&given);
    PGresult *answer =
        connection != NULL ? replace(&given, connection, owners.patterns_json) : NULL;
    if (answer != NULL) {
        print(&given, answer, set_columns, FP_COUNT(set_columns));
        if (given.dry_run)
            fp_message_notice("nothing was changed");
        warn_of_paths(answer);
    }
    PQclear(answer);
    PQfinish(connection);
    fp_code_owners_release(&owners);
    return answer != NULL ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

/* ---- list ---- */

static const struct argp list_argp = {
    .parser = parse,
    .doc = "Patterns of owners, by site, in the order of their file.",
    .children = children,
};

static const struct fp_grid_column list_columns[] = {FP_COLUMNS_OF_CODE_OWNERS(FP_GRID_COLUMN)};

static enum fp_exit list_command(int argc, char **argv)
{
    struct owners_options given = {0};
    fp_command_parse(&list_argp, argc, argv, &given);
    PGconn *connection = fp_database_open(&given.database);
    if (connection == NULL)
        return FP_EXIT_TROUBLE;
    struct fp_sql_query query;
    struct fp_columns columns;
    fp_columns_init(&columns, NULL, 0, list_columns, FP_COUNT(list_columns));
    fp_sql_init(&query, "select ");
    fp_columns_select(&columns, &query);
    fp_sql_add(&query, " from fleetprof.code_owners order by site, line");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    if (answer != NULL) {
        print(&given, answer, list_columns, FP_COUNT(list_columns));
        if (PQntuples(answer) == 0)
            fp_message_notice("no site has owners");
    }
    PQclear(answer);
    PQfinish(connection);
    return answer != NULL ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

/* ---- remove ---- */

static const struct argp remove_argp = {
    .options = options,
    .parser = parse,
    .doc = "Removes all patterns of a site: nobody owns its sources then.",
    .children = children,
};

static const struct fp_grid_column remove_columns[] = {{"removed", "REMOVED", FP_CELL_INTEGER}};

static enum fp_exit remove_command(int argc, char **argv)
{
    struct owners_options given = {0};
    fp_command_parse(&remove_argp, argc, argv, &given);
    PGconn *connection = open_site(&given);
    PGresult *answer = connection != NULL ? replace(&given, connection, "[]") : NULL;
    if (answer != NULL) {
        struct fp_grid grid;
        fp_grid_init(&grid, remove_columns, FP_COUNT(remove_columns));
        fp_grid_add(&grid, PQgetvalue(answer, 0, 1));
        fp_grid_print(&grid, given.form);
        fp_grid_release(&grid);
        if (given.dry_run)
            fp_message_notice("nothing was changed");
    }
    PQclear(answer);
    PQfinish(connection);
    return answer != NULL ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

static const struct fp_sub_command members[] = {
    {{"set", NULL}, "replace a site's owners by a CODEOWNERS file", set_command},
    {{"list", NULL}, "patterns and their owners", list_command},
    {{"remove", NULL}, "forget a site's owners", remove_command},
};

enum fp_exit fp_owners_command(int argc, char **argv)
{
    const struct fp_command_family family = {
        .name = "owners",
        .summary = "Who owns the sources of a site.",
        .members = members,
        .count = FP_COUNT(members),
    };
    return fp_command_family_run(&family, argc, argv);
}
