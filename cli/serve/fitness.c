/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fitness: two questions to a new connection, and a table of SQLSTATEs.
 */
#include "cli/serve/fitness.h"

#include "collector/base/hash.h"
#include "collector/store/diagnosis.h"
#include "collector/store/schema_files.h"

#include <inttypes.h>

/* Membership counts even if it is not inherited: `set role' would do. */
static const char ask_rights[] =
    "select current_user, "
    "rolsuper or exists (select from pg_catalog.pg_roles as other "
    "where other.rolname in ('fleetprof_owner', 'fleetprof_writer') "
    "and pg_has_role(other.oid, 'member')) "
    "or exists (select from pg_catalog.pg_class as c "
    "join pg_catalog.pg_namespace as n on n.oid = relnamespace "
    "where nspname in ('fleetprof', 'fleetprof_data') and relkind in ('r', 'p', 'v') "
    "and has_table_privilege(c.oid, 'insert, update, delete, truncate')), "
    "exists (select from pg_catalog.pg_class join pg_catalog.pg_namespace as n on n.oid = "
    "relnamespace "
    "where nspname = 'fleetprof' and relname = 'schema_version'), 1 "
    "from pg_catalog.pg_roles where rolname = current_user";
static const char ask_schema[] = "select name, checksum, version from fleetprof.schema_version";
enum { RIGHTS_COLUMNS = 4 };

const char *const fp_fitness_questions[] = {ask_rights, ask_schema};
const size_t fp_fitness_question_count = FP_COUNT(fp_fitness_questions);

static bool is_true(const PGresult *row, int column)
{
    return PQgetvalue(row, 0, column)[0] == 't';
}

static const struct fp_schema_file *find_file(const char *name)
{
    for (size_t i = 0; i < fp_schema_table_count; i++) {
        if (strcmp(fp_schema_tables[i].name, name) == 0)
            return &fp_schema_tables[i];
    }
    for (size_t i = 0; i < fp_schema_definition_count; i++) {
        if (strcmp(fp_schema_definitions[i].name, name) == 0)
            return &fp_schema_definitions[i];
    }
    return NULL;
}

static void take_file(struct fp_fitness *fitness, const PGresult *row)
{
    char checksum[20] = "";
    const struct fp_schema_file *file = find_file(PQgetvalue(row, 0, 0));
    if (file != NULL)
        (void)snprintf(checksum, sizeof(checksum), "%016" PRIx64,
                       fp_hash64(file->text, strlen(file->text)));
    if (strcmp(checksum, PQgetvalue(row, 0, 1)) == 0) {
        fitness->same_files++;
    } else if (fitness->other_file[0] == '\0') {
        (void)snprintf(fitness->other_file, sizeof(fitness->other_file), "%s",
                       PQgetvalue(row, 0, 0));
        (void)snprintf(fitness->other_version, sizeof(fitness->other_version), "%s",
                       PQgetvalue(row, 0, 2));
    }
}

bool fp_fitness_take(void *context, const PGresult *row)
{
    struct fp_fitness *fitness = context;
    if (PQntuples(row) == 0)
        return true;
    if (PQnfields(row) != RIGHTS_COLUMNS) {
        take_file(fitness, row);
        return true;
    }
    (void)snprintf(fitness->role, sizeof(fitness->role), "%s", PQgetvalue(row, 0, 0));
    fitness->can_write = is_true(row, 1);
    fitness->has_schema = is_true(row, 2);
    return true;
}

static bool refuse_writer(const struct fp_fitness *fitness)
{
    fp_trouble_set(fitness->trouble, 503,
                   "This server connects to the database as \"%s\", a role that can write; "
                   "it only works with one that cannot.",
                   fitness->role);
    fp_trouble_hint(fitness->trouble,
                    "Name the role fleetprof_reader: --database \"... "
                    "user=fleetprof_reader\". On a machine of your own, --allow-writer will do.");
    fitness->trouble->is_final = true;
    return false;
}

static bool refuse_empty(const struct fp_fitness *fitness)
{
    fp_trouble_set(fitness->trouble, 503, "The database has none of fleetprof's tables.");
    fp_trouble_hint(fitness->trouble,
                    "Is it the right database? `fleetprof migrate' makes the tables.");
    return false;
}

static bool refuse_version(const struct fp_fitness *fitness)
{
    if (fitness->other_file[0] != '\0')
        fp_trouble_set(
            fitness->trouble, 503,
            "The database has the schema of another version of fleetprof: this is " FP_VERSION
            ", %s there is of %s.",
            fitness->other_file, fitness->other_version);
    else
        fp_trouble_set(
            fitness->trouble, 503,
            "The database has the schema of an older version of fleetprof than " FP_VERSION ".");
    fp_trouble_hint(fitness->trouble,
                    "`fleetprof migrate' of the newer version brings the database to its schema; "
                    "run `fleetprof serve' of the same version.");
    return false;
}

bool fp_fitness_holds(const struct fp_fitness *fitness)
{
    if (fitness->can_write && !fitness->allow_writer)
        return refuse_writer(fitness);
    if (!fitness->has_schema)
        return refuse_empty(fitness);
    bool is_read = fitness->same_files > 0 || fitness->other_file[0] != '\0';
    size_t files = fp_schema_table_count + fp_schema_definition_count;
    if (is_read && (fitness->same_files != files || fitness->other_file[0] != '\0'))
        return refuse_version(fitness);
    return true;
}

/* ---- errors ---- */

struct explanation {
    const char *sqlstate; /* or the start of one */
    unsigned status;
    unsigned retry_s;
    bool is_stale;      /* a new connection may know better */
    const char *detail; /* NULL: the database's own message */
    const char *hint;   /* NULL: the database's own */
};

/* The first that fits holds. */
static const struct explanation explanations[] = {
    {"57014", 504, 0, false,
     "The database worked on this for longer than the report's server waits.",
     "Ask about a shorter time, one route or one release; or start the server with a longer "
     "--statement-timeout."},
    {"57P", 503, FP_TROUBLE_AWAY_S, true, "The database is stopping or starting.",
     "Try again when it is back."},
    {"55P03", 503, FP_TROUBLE_BUSY_S, false, "The database is busy: what this needs is locked.",
     "Try again in a moment."},
    {"40", 503, FP_TROUBLE_BUSY_S, false, "The database gave this query up for another task.",
     "Try again in a moment."},
    {"53", 503, FP_TROUBLE_AWAY_S, true, "The database has run out of connections, memory or disk.",
     "Its log says more."},
    {"22", 400, 0, false, NULL, NULL},
    {"54", 400, 0, false, NULL, NULL},
    {"P0002", 404, 0, false, NULL, NULL},
    {"42501", 503, 0, true, "The role that the report's server uses may not read fleetprof's data.",
     "Use fleetprof_reader, or grant that role to it."},
    {"42", 503, 0, true, "The database lacks something that this version of fleetprof needs.",
     "`fleetprof migrate' brings it to this version's schema."},
    {"3F000", 503, 0, true, "The database has none of fleetprof's tables.",
     "Is it the right database? `fleetprof migrate' makes the tables."},
    {"", 500, 0, true, "The database could not answer this query.", NULL},
};

static const struct explanation *find_explanation(const char *sqlstate)
{
    const struct explanation *found = explanations;
    while (strncmp(found->sqlstate, sqlstate, strlen(found->sqlstate)) != 0)
        found++;
    return found;
}

bool fp_fitness_explain(const PGconn *connection, const PGresult *result,
                        struct fp_trouble *trouble)
{
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    if (message != NULL && fp_failure_is_statement_pooler(message)) {
        fp_trouble_set(trouble, 503, "The database is behind a pooler in statement mode.");
        fp_trouble_hint(trouble, "%s", fp_failure_pooler_hint);
        trouble->retry_s = FP_TROUBLE_AWAY_S;
        return true;
    }
    if (sqlstate == NULL || PQstatus(connection) != CONNECTION_OK) {
        /* libpq's own error: the connection broke, or memory ran out. */
        fp_trouble_set(trouble, 503, "The database went away while it worked on the answer.");
        fp_trouble_hint(trouble, "Try again when it is back.");
        trouble->retry_s = FP_TROUBLE_AWAY_S;
        return true;
    }
    const struct explanation *found = find_explanation(sqlstate);
    if (found->detail != NULL)
        fp_trouble_set(trouble, found->status, "%s", found->detail);
    else
        fp_trouble_set(trouble, found->status, "The database refuses it: %s.", message);
    if (found->hint != NULL || hint != NULL)
        fp_trouble_hint(trouble, "%s", found->hint != NULL ? found->hint : hint);
    trouble->retry_s = found->retry_s;
    return found->is_stale;
}
