/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrate: runs roles.sql and bootstrap.sql, then the table files that the version table lacks,
 * then the functions and views whose checksums differ. Then, with Citus, distributes what is not
 * distributed yet; without it, takes the extension fleetprof_native if the server has that.
 */
#include "collector/store/migrate.h"

#include "collector/base/buf.h"
#include "collector/base/hash.h"
#include "collector/store/connection.h"
#include "collector/store/schema_files.h"

#include <inttypes.h>
#include <stdarg.h>

enum {
    STATEMENT_MAX = 4 * 1024 * 1024,
    STATEMENT_MAX_S = 24 * 3600, /* of no use to a dead server: keepalives find that */
    DONE_MAX = 64 * 1024,
};

struct migration {
    struct fp_pg connection;
    struct fp_buf statement;
    bool distributes; /* over the nodes of Citus */
    bool repairs;
    size_t tables_applied;
    struct fp_buf done; /* what was done, to be reported after the commit: NUL-terminated lines */
    fp_migrate_report_fn *report;
    void *context;
};

static void report_line(const struct migration *run, const char *format, ...) FP_PRINTF(2, 3);

static void report_line(const struct migration *run, const char *format, ...)
{
    char line[768];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    run->report(run->context, line);
}

/* Keeps a line for report_done(). */
static void keep_line(struct migration *run, const char *format, ...) FP_PRINTF(2, 3);

static void keep_line(struct migration *run, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    fp_buf_add(&run->done, line, strlen(line) + 1);
}

/* 42501 insufficient_privilege. A wrong password or pg_hba entry is a refused connection. */
static bool lacks_rights(const struct migration *run)
{
    return strstr(run->connection.message, "(SQLSTATE 42501)") != NULL;
}

/* Reports the server's message about `what`, with a hint where there is one. */
static enum fp_migrate_result failed(const struct migration *run, const char *what)
{
    report_line(run, "%s: %s", what, run->connection.message);
    if (run->connection.failure.is_statement_pooler)
        report_line(run, "hint: %s", fp_failure_pooler_hint);
    if (!lacks_rights(run))
        return FP_MIGRATE_FAILED;
    report_line(
        run, "connect as a superuser, or as a role that has CREATEROLE and owns the database; once "
             "the roles exist, membership in fleetprof_owner is enough");
    return FP_MIGRATE_RIGHTS;
}

static bool run_sql(struct migration *run, const char *statements)
{
    return fp_pg_run(&run->connection, statements) == FP_STORE_OK;
}

/*
 * The schema is written for these settings; a database or a role may have others. Time limits for
 * queries are not for migrations, but lock_timeout stays: it protects those who use the database.
 *
 * Citus refuses to alter types and tables after a statement that ran on shards in parallel. Without
 * Citus the setting has no effect.
 *
 * Settings and lock end with the transaction: behind a pooler the next one may be in another
 * session. Of two migrations one waits for each transaction of the other.
 */
static const char begin_sql[] = "begin isolation level read committed;"
                                "set local client_min_messages = warning;"
                                "set local search_path = pg_catalog, pg_temp;"
                                "set local standard_conforming_strings = on;"
                                "set local quote_all_identifiers = off;"
                                "set local statement_timeout = 0;"
                                "set local idle_in_transaction_session_timeout = 0;"
                                "set local citus.multi_shard_modify_mode = 'sequential'";
static const char lock_sql[] = "select pg_advisory_xact_lock(hashtext('fleetprof.migrate'))";

enum { TRANSACTION_TIMEOUT_SINCE = 170000 }; /* version of PostgreSQL */

/* Begins a transaction, and waits until no other migration is in one. */
static bool begin(struct migration *run)
{
    return run_sql(run, begin_sql) &&
           (PQserverVersion(run->connection.pg) < TRANSACTION_TIMEOUT_SINCE ||
            run_sql(run, "set local transaction_timeout = 0")) &&
           run_sql(run, lock_sql);
}

static void checksum_text(const struct fp_schema_file *file, char text[20])
{
    snprintf(text, 20, "%016" PRIx64, fp_hash64(file->text, strlen(file->text)));
}

/* Runs a query; NULL on failure. The caller clears the result. */
static PGresult *ask(struct migration *run, const char *statement, const char *const *values,
                     int value_count)
{
    const struct fp_pg_query query = {
        .statement = statement, .values = values, .value_count = value_count};
    PGresult *rows;
    return fp_pg_query(&run->connection, &query, &rows) == FP_STORE_OK ? rows : NULL;
}

/* The layout of fleetprof.schema_version. */
enum form { FORM_NONE, FORM_NUMBERED, FORM_TODAY };

static bool read_form(struct migration *run, enum form *form)
{
    PGresult *rows = ask(run,
                         "select count(*), count(*) filter (where attname = 'number') "
                         "from pg_catalog.pg_attribute where attnum > 0 and not attisdropped "
                         "and attrelid = to_regclass('fleetprof.schema_version')",
                         NULL, 0);
    if (rows == NULL)
        return false;
    *form = FORM_TODAY;
    if (strcmp(PQgetvalue(rows, 0, 1), "0") != 0)
        *form = FORM_NUMBERED;
    else if (strcmp(PQgetvalue(rows, 0, 0), "0") == 0)
        *form = FORM_NONE;
    PQclear(rows);
    return true;
}

/* Refuses a database that a later version has migrated. */
static enum fp_migrate_result check_not_newer(struct migration *run)
{
    static const char statement[] =
        "select name, version from fleetprof.schema_version "
        "where string_to_array(substring(version from '^[0-9.]*[0-9]'), '.')::int[] "
        "> string_to_array(substring($1 from '^[0-9.]*[0-9]'), '.')::int[] "
        "order by version desc, name limit 1";
    const char *const values[] = {FP_VERSION};
    PGresult *rows = ask(run, statement, values, 1);
    if (rows == NULL)
        return failed(run, "reading fleetprof.schema_version");
    bool is_newer = PQntuples(rows) > 0;
    if (is_newer)
        report_line(
            run,
            "the database is newer than this program: fleetprof %s applied %s, this is %s; use the "
            "newer fleetprof",
            PQgetvalue(rows, 0, 1), PQgetvalue(rows, 0, 0), FP_VERSION);
    PQclear(rows);
    return is_newer ? FP_MIGRATE_NEWER : FP_MIGRATE_OK;
}

/* Compares a recorded table file with ours. */
static enum fp_migrate_result compare_table(struct migration *run, const PGresult *rows, int row)
{
    const char *name = PQgetvalue(rows, row, 0);
    if ((size_t)row >= fp_schema_table_count) {
        report_line(
            run,
            "the database is newer than this program: it has %s, the last one known here is %s; "
            "use the newer fleetprof",
            name, fp_schema_tables[fp_schema_table_count - 1].name);
        return FP_MIGRATE_NEWER;
    }
    char checksum[20];
    checksum_text(&fp_schema_tables[row], checksum);
    if (strcmp(name, fp_schema_tables[row].name) == 0 &&
        strcmp(PQgetvalue(rows, row, 1), checksum) == 0)
        return FP_MIGRATE_OK;
    report_line(
        run,
        "%s was applied in another form: the database has %s with checksum %s, this program has "
        "checksum %s; a released table file must not change",
        fp_schema_tables[row].name, name, PQgetvalue(rows, row, 1), checksum);
    return FP_MIGRATE_CHANGED;
}

/* Compares the recorded table files with ours. */
static enum fp_migrate_result compare_tables(struct migration *run)
{
    PGresult *rows = ask(run,
                         "select name, checksum from fleetprof.schema_version "
                         "where name like 'tables/%' order by name collate \"C\"",
                         NULL, 0);
    if (rows == NULL)
        return failed(run, "reading fleetprof.schema_version");
    enum fp_migrate_result result = FP_MIGRATE_OK;
    run->tables_applied = (size_t)PQntuples(rows);
    /* Starts from the end: an extra file explains more than a changed one. */
    for (int row = PQntuples(rows); result == FP_MIGRATE_OK && row-- > 0;)
        result = compare_table(run, rows, row);
    PQclear(rows);
    return result;
}

/* Checks whether this program can migrate the database. Changes nothing. */
static enum fp_migrate_result check_database(struct migration *run)
{
    enum form form;
    if (!read_form(run, &form))
        return failed(run, "reading fleetprof.schema_version");
    if (form == FORM_NONE)
        return FP_MIGRATE_OK;
    if (form == FORM_TODAY) {
        enum fp_migrate_result result = check_not_newer(run);
        return result == FP_MIGRATE_OK ? compare_tables(run) : result;
    }
    report_line(
        run, "a version of fleetprof before 0.1.0 made this database; it cannot be upgraded, and "
             "nothing was changed; export what you need (pg_dump, fleetprof export, fleetprof "
             "session export), create a new database and run fleetprof migrate there");
    return FP_MIGRATE_UNRELEASED;
}

static enum fp_migrate_result apply_table(struct migration *run, const struct fp_schema_file *file)
{
    char checksum[20];
    checksum_text(file, checksum);
    fp_buf_clear(&run->statement);
    fp_buf_add(&run->statement, file->text, strlen(file->text));
    fp_buf_addf(&run->statement,
                "\n; insert into fleetprof.schema_version (name, checksum, objects, version) "
                "values ('%s', '%s', '{}', '%s')",
                file->name, checksum, FP_VERSION);
    fp_buf_add(&run->statement, "", 1);
    if (run->statement.failed) {
        report_line(run, "%s: out of memory", file->name);
        return FP_MIGRATE_FAILED;
    }
    if (!run_sql(run, (const char *)run->statement.data))
        return failed(run, file->name);
    keep_line(run, "applied %s", file->name);
    return FP_MIGRATE_OK;
}

static enum fp_migrate_result apply_tables(struct migration *run)
{
    enum fp_migrate_result result = FP_MIGRATE_OK;
    for (size_t i = run->tables_applied; result == FP_MIGRATE_OK && i < fp_schema_table_count; i++)
        result = apply_table(run, &fp_schema_tables[i]);
    return result;
}

/* Returns the end of a statement about rights at the start of a line, NULL if it is not one. */
static const char *end_of_rights(const char *line)
{
    static const char block[] = "do $$\n", block_end[] = "\n$$;\n";
    const bool is_block = strncmp(line, block, sizeof(block) - 1) == 0;
    if (!is_block && strncmp(line, "grant ", 6) != 0 && strncmp(line, "revoke ", 7) != 0)
        return NULL;
    const char *end = is_block ? strstr(line, block_end) : strstr(line, ";\n");
    if (end == NULL)
        return NULL;
    end += is_block ? sizeof(block_end) - 1 : 2;
    return !is_block || memmem(line, (size_t)(end - line), "grant ", 6) != NULL ? end : NULL;
}

/* Grants again what the table files grant. */
static enum fp_migrate_result repair_table_rights(struct migration *run)
{
    fp_buf_clear(&run->statement);
    for (size_t i = 0; i < fp_schema_table_count; i++) {
        for (const char *line = fp_schema_tables[i].text, *end; *line != '\0'; line = end) {
            end = end_of_rights(line);
            if (end != NULL)
                fp_buf_add(&run->statement, line, (size_t)(end - line));
            else
                end = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : line + strlen(line);
        }
    }
    fp_buf_add(&run->statement, "", 1);
    if (run->statement.failed || !run_sql(run, (const char *)run->statement.data))
        return failed(run, "rights on tables");
    return FP_MIGRATE_OK;
}

static bool send_definition(struct migration *run, const struct fp_schema_file *file)
{
    char checksum[20];
    checksum_text(file, checksum);
    const char *const values[] = {file->name, checksum, file->objects, file->text};
    PGresult *rows = ask(run,
                         "insert into pg_temp.definition (name, checksum, objects, body) "
                         "values ($1, $2, $3, $4)",
                         values, 4);
    bool fine = rows != NULL;
    PQclear(rows);
    return fine;
}

static bool send_definitions(struct migration *run)
{
    bool fine = run_sql(run, fp_schema_apply);
    for (size_t i = 0; fine && i < fp_schema_definition_count; i++)
        fine = send_definition(run, &fp_schema_definitions[i]);
    return fine;
}

/* Keeps a line for each thing that apply_definitions() did, or one line for a new database. */
static void keep_definitions(struct migration *run, const PGresult *rows)
{
    size_t created = 0, repaired = 0;
    for (int row = 0; row < PQntuples(rows); row++) {
        created += strcmp(PQgetvalue(rows, row, 0), "created") == 0;
        repaired += strcmp(PQgetvalue(rows, row, 0), "repaired") == 0;
    }
    if (created == fp_schema_definition_count) {
        keep_line(run, "created functions and views: %zu files", created);
        return;
    }
    if (run->repairs)
        keep_line(run, "repaired functions, views and rights: %zu files", repaired);
    for (int row = 0; row < PQntuples(rows); row++)
        if (!run->repairs || strcmp(PQgetvalue(rows, row, 0), "repaired") != 0)
            keep_line(run, "%s %s", PQgetvalue(rows, row, 0), PQgetvalue(rows, row, 1));
}

static enum fp_migrate_result apply_definitions(struct migration *run)
{
    /* Temporary functions stay in the session, which is not ours behind a pooler. */
    static const char forget[] =
        "drop function pg_temp.apply_definitions, pg_temp.apply_definition, pg_temp.drop_objects, "
        "pg_temp.are_whole, pg_temp.find_objects";
    const char *const values[] = {FP_VERSION, run->repairs ? "true" : "false"};
    PGresult *rows = NULL;
    if (send_definitions(run))
        rows = ask(run, "select action, what from pg_temp.apply_definitions($1, $2)", values, 2);
    if (rows == NULL || !run_sql(run, forget)) {
        PQclear(rows);
        return failed(run, "functions and views");
    }
    keep_definitions(run, rows);
    PQclear(rows);
    return FP_MIGRATE_OK;
}

static bool run_transaction(struct migration *run, const char *statements)
{
    return begin(run) && run_sql(run, statements) && run_sql(run, "commit");
}

static bool bootstrap(struct migration *run)
{
    return run_transaction(run, fp_schema_roles) && run_transaction(run, fp_schema_bootstrap);
}

/*
 * Applies tables, functions and views in one transaction. On failure the caller closes the
 * connection, which rolls back.
 */
static enum fp_migrate_result apply(struct migration *run)
{
    if (!begin(run))
        return failed(run, "waiting for other migrations");
    /* Another migration may have been done since the first look. */
    enum fp_migrate_result result = check_database(run);
    if (result != FP_MIGRATE_OK)
        return result;
    if (!run_sql(run, "set local role fleetprof_owner"))
        return failed(run, "acting as fleetprof_owner");
    result = apply_tables(run);
    if (result == FP_MIGRATE_OK && run->repairs)
        result = repair_table_rights(run);
    if (result == FP_MIGRATE_OK)
        result = apply_definitions(run);
    if (result == FP_MIGRATE_OK && !run_sql(run, "commit"))
        result = failed(run, "commit");
    return result;
}

/* Refuses a database whose encoding lacks characters of UTF-8. SQL_ASCII takes all bytes as they
 * come; a cluster has it that was made without a locale. */
static enum fp_migrate_result check_encoding(struct migration *run)
{
    PGresult *rows = ask(run,
                         "select pg_encoding_to_char(encoding), datname from pg_database "
                         "where datname = current_database()",
                         NULL, 0);
    if (rows == NULL)
        return failed(run, "reading the database's encoding");
    const char *encoding = PQgetvalue(rows, 0, 0);
    bool is_fit = strcmp(encoding, "UTF8") == 0 || strcmp(encoding, "SQL_ASCII") == 0;
    if (!is_fit) {
        report_line(run, "the database's encoding is %s; it must be UTF8", encoding);
        report_line(run, "hint: make another one: createdb --encoding=UTF8 --template=template0 %s",
                    PQgetvalue(rows, 0, 1));
    }
    PQclear(rows);
    return is_fit ? FP_MIGRATE_OK : FP_MIGRATE_FAILED;
}

/*
 * Reads what the server is to Citus. Refuses a worker, and a coordinator that cannot distribute yet
 * if the caller wants that. A database that is distributed stays so: sets run->distributes.
 */
static enum fp_migrate_result check_citus(struct migration *run)
{
    static const char no_extension[] =
        "the database has no extension citus; docs/citus.md says how to set it up";
    static const char worker[] = "this is a worker of Citus; connect to the coordinator";
    static const char unregistered[] =
        "the coordinator is not among the nodes of Citus; call citus_set_coordinator_host";
    PGresult *rows = ask(run, "select to_regclass('pg_catalog.pg_dist_node') is not null", NULL, 0);
    if (rows == NULL)
        return failed(run, "looking for Citus");
    bool is_citus = *PQgetvalue(rows, 0, 0) == 't';
    PQclear(rows);
    const char *problem = NULL;
    if (is_citus) {
        rows = ask(run, fp_schema_citus_role, NULL, 0);
        if (rows == NULL)
            return failed(run, "reading the nodes of Citus");
        const char *role = PQgetvalue(rows, 0, 0);
        if (strcmp(role, "worker") == 0)
            problem = worker;
        else if (strcmp(role, "unregistered") == 0 && run->distributes)
            problem = unregistered;
        else if (strcmp(role, "distributed") == 0)
            run->distributes = true;
        PQclear(rows);
    } else if (run->distributes) {
        problem = no_extension;
    }
    if (problem == NULL)
        return FP_MIGRATE_OK;
    report_line(run, "%s", problem);
    return FP_MIGRATE_FAILED;
}

static bool begin_as_owner(struct migration *run)
{
    return begin(run) && run_sql(run, "set local role fleetprof_owner");
}

/* Runs each step that distribute.sql returns. Steps that a user wants to know of have a line. */
static enum fp_migrate_result run_steps(struct migration *run, const PGresult *steps)
{
    for (int row = 0; row < PQntuples(steps); row++) {
        const char *statement = PQgetvalue(steps, row, 1);
        if (!begin_as_owner(run) || !run_sql(run, statement) || !run_sql(run, "commit"))
            return failed(run, statement);
        if (!PQgetisnull(steps, row, 0))
            keep_line(run, "%s", PQgetvalue(steps, row, 0));
    }
    return FP_MIGRATE_OK;
}

/*
 * Distributes what is not distributed yet. Each table is a transaction of its own: a large one
 * takes long, and collectors wait for it. A second run goes on after what an interrupted one did.
 */
static enum fp_migrate_result distribute(struct migration *run)
{
    if (!begin_as_owner(run))
        return failed(run, "acting as fleetprof_owner");
    PGresult *steps = ask(run, fp_schema_citus_distribute, NULL, 0);
    if (steps == NULL || !run_sql(run, "commit")) {
        PQclear(steps);
        return failed(run, "reading what is distributed");
    }
    enum fp_migrate_result result = run_steps(run, steps);
    PQclear(steps);
    if (result == FP_MIGRATE_OK &&
        (!begin_as_owner(run) || !run_sql(run, fp_schema_citus_rights) || !run_sql(run, "commit")))
        result = failed(run, "functions and rights on the nodes");
    return result;
}

/* Reports what was done, now that it is committed. */
static void report_done(const struct migration *run, enum fp_migrate_result result)
{
    for (size_t i = 0; i < run->done.len; i += strlen((const char *)run->done.data + i) + 1)
        run->report(run->context, (const char *)run->done.data + i);
    if (result == FP_MIGRATE_OK)
        report_line(run, "%s: %zu table files, %zu files of functions and views",
                    run->done.len == 0 ? "nothing to do" : "the database is up to date",
                    fp_schema_table_count, fp_schema_definition_count);
}

/* Creates or updates the optional extension as the role of the connection. */
static void make_native(struct migration *run, const char *installed, const char *wanted)
{
    char statement[160];
    snprintf(statement, sizeof(statement),
             *installed == '\0' ? "create extension fleetprof_native version '%s'"
                                : "alter extension fleetprof_native update to '%s'",
             wanted);
    if (begin(run) && run_sql(run, statement) && run_sql(run, "commit")) {
        keep_line(run, "%s the extension fleetprof_native: version %s",
                  *installed == '\0' ? "created" : "updated", wanted);
        return;
    }
    report_line(run, "going on without the extension fleetprof_native: %s",
                run->connection.message);
    (void)run_sql(run, "rollback");
}

/*
 * Takes the extension fleetprof_native if the server has it in the version that the schema uses.
 * Answers are the same without it, so nothing here makes a migration fail. On Citus it is not used.
 */
static void take_native(struct migration *run)
{
    static const char statement[] =
        "select coalesce((select extversion from pg_extension "
        "where extname = 'fleetprof_native'), ''), wanted, exists (select from "
        "pg_available_extension_versions where name = 'fleetprof_native' and version = wanted), "
        "(select rolsuper from pg_roles where rolname = session_user) "
        "from fleetprof_data.native_version() as wanted "
        "where to_regclass('pg_catalog.pg_dist_node') is null";
    PGresult *rows = begin_as_owner(run) ? ask(run, statement, NULL, 0) : NULL;
    (void)run_sql(run, rows != NULL ? "commit" : "rollback");
    if (rows != NULL && PQntuples(rows) == 1) {
        const char *installed = PQgetvalue(rows, 0, 0);
        const char *wanted = PQgetvalue(rows, 0, 1);
        const bool is_available = *PQgetvalue(rows, 0, 2) == 't';
        const bool is_superuser = *PQgetvalue(rows, 0, 3) == 't';
        if (strcmp(installed, wanted) != 0 && is_available && is_superuser)
            make_native(run, installed, wanted);
        else if (strcmp(installed, wanted) != 0 && is_available)
            report_line(run, "going on without the extension fleetprof_native: a superuser may %s",
                        *installed == '\0' ? "create it" : "update it");
        else if (strcmp(installed, wanted) != 0 && *installed != '\0')
            report_line(run,
                        "going on without the extension fleetprof_native: the database has version "
                        "%s, this fleetprof uses %s, which the server does not have",
                        installed, wanted);
    }
    PQclear(rows);
}

static enum fp_migrate_result migrate(struct migration *run)
{
    if (!begin(run))
        return failed(run, "waiting for other migrations");
    enum fp_migrate_result result = check_encoding(run);
    if (result == FP_MIGRATE_OK)
        result = check_database(run);
    if (result == FP_MIGRATE_OK)
        result = check_citus(run);
    if (result == FP_MIGRATE_OK && !run_sql(run, "commit"))
        result = failed(run, "commit");
    if (result != FP_MIGRATE_OK)
        return result;
    if (!bootstrap(run))
        return failed(run, "roles and version table");
    result = apply(run);
    if (result != FP_MIGRATE_OK)
        return result;
    if (run->distributes)
        result = distribute(run);
    if (result == FP_MIGRATE_OK)
        take_native(run);
    report_done(run, result);
    return result;
}

/* Reports why the connection failed, with a hint for two mistakes of a first installation. */
static void report_no_connection(const struct migration *run)
{
    const struct fp_failure *failure = &run->connection.failure;
    report_line(run, "cannot connect: %s", run->connection.message);
    if (strcmp(failure->sqlstate, "3D000") == 0)
        report_line(run, "hint: create it as a superuser of PostgreSQL: createdb %s",
                    failure->database);
    else if (strcmp(failure->sqlstate, "28000") == 0 && failure->is_local &&
             !failure->is_role_missing && !failure->is_unlisted)
        report_line(run,
                    "hint: with peer authentication, run it as the system user %s, or map your own "
                    "user to that role in pg_ident.conf and name the map in pg_hba.conf",
                    failure->role);
}

enum fp_migrate_result fp_migrate(const char *conninfo, bool distributes, bool repairs,
                                  fp_migrate_report_fn *report, void *context)
{
    struct migration run = {
        .distributes = distributes, .repairs = repairs, .report = report, .context = context};
    fp_pg_init(&run.connection, -1);
    run.connection.statement_timeout_s = STATEMENT_MAX_S;
    fp_buf_init(&run.statement, STATEMENT_MAX);
    fp_buf_init(&run.done, DONE_MAX);
    enum fp_migrate_result result;
    if (fp_pg_open(&run.connection, conninfo) != FP_STORE_OK) {
        report_no_connection(&run);
        result = FP_MIGRATE_DOWN;
    } else {
        result = migrate(&run);
    }
    fp_pg_close(&run.connection);
    fp_buf_release(&run.statement);
    fp_buf_release(&run.done);
    return result;
}
