/*
 * fleetprof migrate: brings a database to this version's schema.
 */
#include "collector/store/migrate.h"
#include "cli/command.h"
#include "cli/query.h"

static error_t parse_migrate(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

static const struct argp_child children[] = {
    {&fp_database_argp, 0, NULL, 0},
    {0},
};

static const struct argp migrate_argp = {
    .parser = parse_migrate,
    .doc =
        "Creates schema and roles in an empty database, or brings an older one to the tables, "
        "functions and views of this version. Says what it did, or that there was nothing to do. "
        "Safe to run while collectors run, and by two at once.\v"
        "The role of the connection must be a superuser, or own the database and have CREATEROLE, "
        "or be a member of fleetprof_owner. The collector's own role may not do it.",
    .children = children,
};

/* Prints what was done and what went wrong on standard error. */
static void report(void *context, const char *line)
{
    (void)context;
    fp_message_notice("%s", line);
}

enum fp_exit fp_migrate_command(int argc, char **argv)
{
    struct fp_database_options options = {0};
    if (!fp_command_parse(&migrate_argp, argc, argv, &options))
        return FP_EXIT_TROUBLE;
    char *conninfo = fp_database_choose(&options);
    if (conninfo == NULL)
        return FP_EXIT_TROUBLE;
    enum fp_migrate_result result = fp_migrate(conninfo, report, NULL);
    free(conninfo);
    if (result == FP_MIGRATE_OK)
        return FP_EXIT_FINE;
    fp_message_error("the database was not brought up to date");
    return FP_EXIT_TROUBLE;
}
