/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof sourcemap: function tables, which give functions of bundled scripts their original
 * names.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/columns.h"
#include "cli/ask/question_columns.h"
#include "cli/feed/browser_url.h"
#include "cli/feed/function_table.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/options.h"
#include "cli/kit/sub_command.h"
#include "collector/profile/scrub/scrub.h"
#include "collector/rollup/ids.h"

#include <inttypes.h>

enum {
    OPTION_SITE = 's',
    OPTION_RELEASE = 'r',
    OPTION_PREFIX = FP_OPTION_FIRST,
    OPTION_DRY_RUN,
    OPTION_URL,
    OPTION_ALL
};
enum { URL_MAX = 64 * 1024 };

struct sourcemap_options {
    struct fp_database_options database;
    struct fp_filters filters; /* for the site */
    struct fp_files files;
    const char *release;
    const char *prefix; /* of URLs; or a pattern of them */
    bool dry_run;
    bool all;
    enum fp_form form;
};

#define SITE_OPTION                                                                                \
    {"site", OPTION_SITE, "NAME", 0, "the site (not needed when the database has only one)", 0}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    struct sourcemap_options *given = state->input;
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
    case OPTION_RELEASE:
        given->release = arg;
        return 0;
    case OPTION_PREFIX:
        if (strstr(arg, "://") == NULL || arg[strlen(arg) - 1] != '/')
            argp_error(state,
                       "--url-prefix takes a URL that ends in /, such as "
                       "https://shop.example/assets/, not \"%s\"",
                       arg);
        given->prefix = arg;
        return 0;
    case OPTION_URL:
        given->prefix = arg;
        return 0;
    case OPTION_DRY_RUN:
        given->dry_run = true;
        return 0;
    case OPTION_ALL:
        given->all = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_database_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

/* Connects and chooses the site. NULL on failure. */
static PGconn *open_site(struct sourcemap_options *given)
{
    PGconn *connection = fp_database_open(&given->database);
    if (connection != NULL && !fp_filters_choose_site(&given->filters, connection)) {
        PQfinish(connection);
        return NULL;
    }
    return connection;
}

/* ---- add ---- */

static const struct argp_option add_options[] = {
    SITE_OPTION,
    {"release", OPTION_RELEASE, "NAME", 0,
     "the release that the scripts belong to, for `list' and `remove'", 0},
    {"url-prefix", OPTION_PREFIX, "URL", 0,
     "what stands before the scripts' names in their URLs, up to a slash: "
     "https://shop.example/assets/",
     0},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "check everything and count, but keep nothing", 0},
    {0},
};

static const struct argp_child add_children[] = {
    {&fp_database_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {&fp_files_argp, 0, NULL, 0},
    {0},
};

static const struct argp add_argp = {
    .options = add_options,
    .parser = parse_common,
    .doc = "Adds function tables, which `fleetprof-function-table' makes from bundled scripts and "
           "their source maps. From then on functions of these scripts are shown with their "
           "original name, file and line; also those that are stored already. All files are added, "
           "or none.",
    .children = add_children,
};

static const struct fp_grid_column add_columns[] = {
    {"url", "SCRIPT", FP_CELL_PATH},       {"functions", "FUNCTIONS", FP_CELL_INTEGER},
    {"stored", "STORED", FP_CELL_INTEGER}, {"named", "NAMED", FP_CELL_INTEGER},
    {"is_new", "NEW", FP_CELL_BOOLEAN},
};

struct adding {
    const struct sourcemap_options *given;
    PGconn *connection;
    struct fp_grid grid;
    bool is_trouble; /* nothing is wrong with the tables: the server could not add them */
};

/* Returns the id of a script as the collector computes it; false when its URL is not one that the
 * collector would store. */
static bool find_id(const char *site, const char *url, int64_t *id)
{
    static const struct fp_scrub_rules rules = {0};
    struct fp_arena arena;
    struct fp_str scrubbed;
    fp_arena_init(&arena, URL_MAX);
    char *copy = fp_memory_copy(url);
    bool fits = fp_scrub_resource(&rules, fp_str_of(copy), FP_STR(""), &arena, &scrubbed);
    bool is_same = fits && fp_str_equal(scrubbed, fp_str_of(url));
    if (!fits)
        fp_message_error("%s: the URL is too long", url);
    else if (!is_same)
        fp_message_error("%s: the collector stores this URL as %.*s", url, FP_STR_ARG(scrubbed));
    if (is_same)
        *id = (int64_t)fp_resource_id(fp_site_id(fp_str_of(site)), scrubbed);
    free(copy);
    fp_arena_release(&arena);
    return is_same;
}

/* True for what add_function_table refuses: a table of another build, or another table for a URL
 * many functions. */
static bool is_refusal(const PGresult *answer)
{
    const char *state = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    return state != NULL && (strncmp(state, "22", 2) == 0 || strcmp(state, "54000") == 0 ||
                             strcmp(state, "55000") == 0);
}

/* Asks the server to add a table. NULL, with a message, on failure. */
static PGresult *ask_to_add(struct adding *adding, struct fp_sql_query *query)
{
    PGresult *answer = fp_sql_ask(adding->connection, query);
    if (PQresultStatus(answer) == PGRES_TUPLES_OK)
        return answer;
    fp_sql_complain(adding->connection, answer);
    adding->is_trouble = !is_refusal(answer);
    PQclear(answer);
    return NULL;
}

/* Adds a table for a URL, and a row to the grid. */
static bool add_for(struct adding *adding, const char *url, const struct fp_function_table *table)
{
    const struct sourcemap_options *given = adding->given;
    const char *site = given->filters.values[FP_FILTER_SITE];
    int64_t id = 0;
    char id_text[24];
    PGresult *answer = NULL;
    fp_message_progress("adding %" PRId64 " functions of %s", table->functions, url);
    if (find_id(site, url, &id)) {
        struct fp_sql_query query;
        (void)snprintf(id_text, sizeof(id_text), "%" PRId64, id);
        fp_sql_init(&query, "select stored, named, is_new::text "
                            "from fleetprof_data.add_function_table(");
        fp_sql_value(&query, "bigint", id_text);
        fp_sql_add(&query, ", ");
        fp_sql_value(&query, "text", site);
        fp_sql_add(&query, ", ");
        fp_sql_value(&query, "text", url);
        fp_sql_add(&query, ", ");
        fp_sql_value(&query, "text", given->release != NULL ? given->release : "");
        fp_sql_add(&query, ", ");
        fp_sql_value(&query, "jsonb", (const char *)table->functions_json.data);
        fp_sql_add(&query, ")");
        answer = ask_to_add(adding, &query);
        fp_sql_release(&query);
    }
    if (answer != NULL) {
        fp_grid_add(&adding->grid, url);
        fp_grid_add_integer(&adding->grid, table->functions);
        fp_sql_fill(answer, 0, &adding->grid);
    }
    PQclear(answer);
    return answer != NULL;
}

static bool add_table(void *context, const struct fp_function_table *table)
{
    struct adding *adding = context;
    char *name = fp_memory_print("%s%s", adding->given->prefix, table->script);
    char *url = fp_browser_url(name, "");
    char *encoded = fp_browser_url(name, "[]");
    /* Pages spell "[id].js" as it is, or with %5B and %5D, as Next.js does. */
    bool fine = add_for(adding, url, table) &&
                (strcmp(url, encoded) == 0 || add_for(adding, encoded, table));
    free(name);
    free(url);
    free(encoded);
    return fine;
}

/* Says so if no upload of the site has come: its name may be mistyped. Returns false on failure. */
static bool warn_of_unknown_site(const struct adding *adding)
{
    const char *site = adding->given->filters.values[FP_FILTER_SITE];
    struct fp_sql_query query;
    fp_sql_init(&query, "select exists(select from fleetprof_data.segment where site = ");
    fp_sql_value(&query, "text", site);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(adding->connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    if (PQgetvalue(answer, 0, 0)[0] == 'f')
        fp_message_notice("no upload of site \"%s\" has come yet", site);
    PQclear(answer);
    return true;
}

static bool add_files(struct adding *adding)
{
    const struct fp_function_table_taker taker = {add_table, adding};
    for (int i = 0; i < adding->given->files.count; i++)
        if (!fp_function_table_read(adding->given->files.names[i], &taker))
            return false;
    return true;
}

static enum fp_exit add_command(int argc, char **argv)
{
    struct sourcemap_options given = {0};
    fp_command_parse(&add_argp, argc, argv, &given);
    if (given.prefix == NULL) {
        fp_message_error("no URL was given");
        fp_message_hint("Give --url-prefix URL: what stands before the scripts' names in their "
                        "URLs.");
        return FP_EXIT_TROUBLE;
    }
    struct adding adding = {.given = &given, .connection = open_site(&given)};
    if (adding.connection == NULL)
        return FP_EXIT_TROUBLE;
    fp_grid_init(&adding.grid, add_columns, FP_COUNT(add_columns));
    enum fp_exit code = FP_EXIT_TROUBLE;
    if (fp_sql_command(adding.connection, "begin")) {
        bool fine = add_files(&adding);
        fp_message_progress_end();
        code = fine ? FP_EXIT_FINE : adding.is_trouble ? FP_EXIT_TROUBLE : FP_EXIT_NO;
        if (!fp_sql_command(adding.connection, fine && !given.dry_run ? "commit" : "rollback"))
            code = FP_EXIT_TROUBLE;
    }
    if (code == FP_EXIT_FINE)
        fp_grid_print(&adding.grid, given.form);
    if (code == FP_EXIT_FINE && given.dry_run)
        fp_message_notice("nothing was kept");
    if (code == FP_EXIT_FINE && !warn_of_unknown_site(&adding))
        code = FP_EXIT_TROUBLE;
    fp_grid_release(&adding.grid);
    PQfinish(adding.connection);
    return code;
}

/* ---- list ---- */

static const struct argp list_argp = {
    .parser = parse_common,
    .doc = "Scripts that have a function table, by site and release, the latest first.",
    .children = children,
};

static const struct fp_grid_column list_columns[] = {FP_COLUMNS_OF_FUNCTION_TABLES(FP_GRID_COLUMN)};

static enum fp_exit list_command(int argc, char **argv)
{
    struct sourcemap_options given = {0};
    fp_command_parse(&list_argp, argc, argv, &given);
    PGconn *connection = fp_database_open(&given.database);
    if (connection == NULL)
        return FP_EXIT_TROUBLE;
    struct fp_sql_query query;
    struct fp_columns columns;
    fp_columns_init(&columns, NULL, 0, list_columns, FP_COUNT(list_columns));
    fp_sql_init(&query, "select ");
    fp_columns_select(&columns, &query);
    fp_sql_add(&query, " from fleetprof.function_tables order by added desc, site, release, url");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    if (answer != NULL) {
        struct fp_grid grid;
        fp_grid_init(&grid, list_columns, FP_COUNT(list_columns));
        fp_sql_fill(answer, 0, &grid);
        fp_grid_print(&grid, given.form);
        fp_grid_release(&grid);
        if (PQntuples(answer) == 0)
            fp_message_notice("no script has a function table");
    }
    PQclear(answer);
    PQfinish(connection);
    return answer != NULL ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

/* ---- remove ---- */

static const struct argp_option remove_options[] = {
    SITE_OPTION,
    {"release", OPTION_RELEASE, "PATTERN", 0, "tables that were added for these releases", 0},
    {"url", OPTION_URL, "PATTERN", 0, "tables of scripts with these URLs", 0},
    {"all", OPTION_ALL, NULL, 0, "all tables of the site", 0},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "only count them", 0},
    {0},
};

static const struct argp remove_argp = {
    .options = remove_options,
    .parser = parse_common,
    .doc = "Removes function tables: functions of their scripts are shown as browsers see them "
           "again. In PATTERN, % matches any text.",
    .children = children,
};

static const struct fp_grid_column remove_columns[] = {{"removed", "REMOVED", FP_CELL_INTEGER}};

static PGresult *remove_tables(const struct sourcemap_options *given, PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select fleetprof_data.remove_function_tables(");
    fp_sql_value(&query, "text", given->filters.values[FP_FILTER_SITE]);
    fp_sql_add(&query, ", ");
    fp_sql_value(&query, "text", given->release);
    fp_sql_add(&query, ", ");
    fp_sql_value(&query, "text", given->prefix);
    fp_sql_add(&query, ")");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    return answer;
}

static enum fp_exit remove_command(int argc, char **argv)
{
    struct sourcemap_options given = {0};
    fp_command_parse(&remove_argp, argc, argv, &given);
    if (given.all == (given.release != NULL || given.prefix != NULL)) {
        fp_message_error("say which tables: --release, --url, or --all");
        return FP_EXIT_TROUBLE;
    }
    PGconn *connection = open_site(&given);
    if (connection == NULL)
        return FP_EXIT_TROUBLE;
    PGresult *answer =
        fp_sql_command(connection, "begin") ? remove_tables(&given, connection) : NULL;
    bool fine = answer != NULL && fp_sql_command(connection, given.dry_run ? "rollback" : "commit");
    if (fine) {
        struct fp_grid grid;
        fp_grid_init(&grid, remove_columns, FP_COUNT(remove_columns));
        fp_sql_fill(answer, 0, &grid);
        fp_grid_print(&grid, given.form);
        fp_grid_release(&grid);
        if (given.dry_run)
            fp_message_notice("nothing was removed");
    }
    PQclear(answer);
    PQfinish(connection);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

static const struct fp_sub_command members[] = {
    {{"add", NULL}, "name functions of bundled scripts by function tables", add_command},
    {{"list", NULL}, "scripts that have a function table", list_command},
    {{"remove", NULL}, "forget function tables", remove_command},
};

enum fp_exit fp_sourcemap_command(int argc, char **argv)
{
    const struct fp_command_family family = {
        .name = "sourcemap",
        .summary = "Original names of functions in bundled scripts.",
        .members = members,
        .count = sizeof(members) / sizeof(members[0]),
    };
    return fp_command_family_run(&family, argc, argv);
}
