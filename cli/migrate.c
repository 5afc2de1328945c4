/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof migrate: brings a database to this version's schema.
 */
#include "collector/store/migrate.h"
#include "cli/kit/command.h"
#include "cli/kit/query.h"

struct migrate_options {
    struct fp_database_options database;
    bool citus;
    bool repair;
};

enum { OPTION_CITUS = FP_OPTION_FIRST, OPTION_REPAIR };

static const struct argp_option options[] = {
    {"citus", OPTION_CITUS, NULL, 0,
     "distribute the tables over the nodes of Citus, as later migrations of this database then do "
     "without the option",
     0},
    {"repair", OPTION_REPAIR, NULL, 0,
     "make all functions and views again, and grant again what the roles fleetprof_reader and "
     "fleetprof_writer need: for a database in which somebody changed or revoked something",
     0},
    {0},
};

static error_t parse_migrate(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct migrate_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->database;
        return 0;
    case OPTION_CITUS:
        given->citus = true;
        return 0;
    case OPTION_REPAIR:
        given->repair = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_database_argp, 0, NULL, 0},
    {0},
};

static const struct argp migrate_argp = {
    .options = options,
    .parser = parse_migrate,
    .doc = "Brings a database to this version: creates schema and roles in an empty one, or adds "
           "the tables that an older one lacks; replaces the functions and views that changed. "
           "Prints what it did. Collectors may keep running, and concurrent migrations are safe.\v"
           "The role of the connection must be a superuser, or own the database and have "
           "CREATEROLE, or be a member of fleetprof_owner. The collector's role, fleetprof_writer, "
           "may not migrate.",
    .children = children,
};

/* Prints a step or an error on standard error. */
static void report(void *context, const char *line)
{
    (void)context;
    fp_message_notice("%s", line);
}

enum fp_exit fp_migrate_command(int argc, char **argv)
{
    struct migrate_options given = {0};
    fp_command_parse(&migrate_argp, argc, argv, &given);
    char *conninfo = fp_database_choose(&given.database);
    if (conninfo == NULL)
        return FP_EXIT_TROUBLE;
    enum fp_migrate_result result = fp_migrate(conninfo, given.citus, given.repair, report, NULL);
    free(conninfo);
    if (result == FP_MIGRATE_OK)
        return FP_EXIT_FINE;
    fp_message_error("the database was not brought up to date");
    return FP_EXIT_TROUBLE;
}
