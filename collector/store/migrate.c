/*
 * Migrate: bootstrap.sql, then each migration that the version table lacks.
 */
#include "collector/store/migrate.h"

#include "collector/base/buf.h"
#include "collector/base/hash.h"
#include "collector/store/connection.h"
#include "collector/store/schema_files.h"

#include <inttypes.h>
#include <stdarg.h>

enum { STATEMENT_MAX = 4 * 1024 * 1024 };

struct migration {
    struct fp_connection connection;
    struct fp_buf statement;
    fp_migrate_report_fn *report;
    void *context;
};

static void say(const struct migration *run, const char *format, ...) FP_PRINTF(2, 3);

static void say(const struct migration *run, const char *format, ...)
{
    char line[768];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    run->report(run->context, line);
}

/* 42501 insufficient_privilege; a password or pg_hba entry that is missing is a refused connection.
 */
static bool lacks_rights(const struct migration *run)
{
    return strstr(run->connection.message, "(SQLSTATE 42501)") != NULL;
}

/* Says what the server said about `what`, with a hint where there is one. */
static enum fp_migrate_result failed(const struct migration *run, const char *what)
{
    say(run, "%s: %s", what, run->connection.message);
    if (!lacks_rights(run))
        return FP_MIGRATE_FAILED;
    say(run, "connect as a superuser, or as a role that has CREATEROLE and owns the database; once "
             "the roles exist, membership in fleetprof_owner is enough");
    return FP_MIGRATE_RIGHTS;
}

static bool run_sql(struct migration *run, const char *statements)
{
    return fp_connection_run(&run->connection, statements) == FP_STORE_OK;
}

static void checksum_text(const struct fp_schema_file *file, char text[20])
{
    snprintf(text, 20, "%016" PRIx64, fp_hash64(file->text, strlen(file->text)));
}

/* The rows of the version table, by number; NULL on failure. The caller clears them. */
static PGresult *read_versions(struct migration *run)
{
    const struct fp_query query = {
        .statement = "select number, name, checksum from fleetprof.schema_version order by number",
    };
    PGresult *rows;
    return fp_connection_query(&run->connection, &query, &rows) == FP_STORE_OK ? rows : NULL;
}

/* Holds what the database has against what we have. *applied gets the number of migrations. */
static enum fp_migrate_result compare_versions(struct migration *run, size_t *applied)
{
    PGresult *rows = read_versions(run);
    if (rows == NULL)
        return failed(run, "reading fleetprof.schema_version");
    enum fp_migrate_result result = FP_MIGRATE_OK;
    *applied = (size_t)PQntuples(rows);
    if (*applied > fp_schema_file_count) {
        say(run,
            "the database is newer than this program: it has migration %s, the last one known here "
            "is %s; use the newer fleetprof",
            PQgetvalue(rows, (int)*applied - 1, 1), fp_schema_files[fp_schema_file_count - 1].name);
        result = FP_MIGRATE_NEWER;
    }
    for (size_t i = 0; result == FP_MIGRATE_OK && i < *applied; i++) {
        char checksum[20];
        checksum_text(&fp_schema_files[i], checksum);
        if (strcmp(PQgetvalue(rows, (int)i, 2), checksum) == 0)
            continue;
        say(run,
            "migration %s was applied in another form: the database has checksum %s, this program "
            "%s; a landed migration must not change",
            fp_schema_files[i].name, PQgetvalue(rows, (int)i, 2), checksum);
        result = FP_MIGRATE_CHANGED;
    }
    PQclear(rows);
    return result;
}

static enum fp_migrate_result apply(struct migration *run, const struct fp_schema_file *file)
{
    char checksum[20];
    checksum_text(file, checksum);
    fp_buf_clear(&run->statement);
    fp_buf_addf(&run->statement, "begin; set local role fleetprof_owner;\n");
    fp_buf_add(&run->statement, file->text, strlen(file->text));
    fp_buf_addf(&run->statement,
                "\n; insert into fleetprof.schema_version (number, name, checksum) "
                "values (%d, '%s', '%s'); commit",
                file->number, file->name, checksum);
    fp_buf_add(&run->statement, "", 1);
    if (run->statement.failed) {
        say(run, "%s: out of memory", file->name);
        return FP_MIGRATE_FAILED;
    }
    if (!run_sql(run, (const char *)run->statement.data))
        return failed(run, file->name);
    say(run, "applied %s", file->name);
    return FP_MIGRATE_OK;
}

static bool bootstrap(struct migration *run)
{
    return run_sql(run, "begin") && run_sql(run, fp_schema_bootstrap) && run_sql(run, "commit");
}

static enum fp_migrate_result migrate(struct migration *run)
{
    /* Held until the connection ends: a second migration waits, then finds nothing to do. */
    if (!run_sql(run, "set client_min_messages = warning; set search_path = pg_catalog, pg_temp;"
                      "select pg_advisory_lock(hashtext('fleetprof.migrate'))"))
        return failed(run, "waiting for other migrations");
    if (!bootstrap(run))
        return failed(run, "bootstrap.sql");
    size_t applied = 0;
    enum fp_migrate_result result = compare_versions(run, &applied);
    for (size_t i = applied; result == FP_MIGRATE_OK && i < fp_schema_file_count; i++)
        result = apply(run, &fp_schema_files[i]);
    if (result == FP_MIGRATE_OK)
        say(run, "the database has all %zu migrations", fp_schema_file_count);
    return result;
}

enum fp_migrate_result fp_migrate(const char *conninfo, fp_migrate_report_fn *report, void *context)
{
    struct migration run = {.report = report, .context = context};
    fp_connection_init(&run.connection, -1);
    fp_buf_init(&run.statement, STATEMENT_MAX);
    enum fp_migrate_result result;
    if (fp_connection_open(&run.connection, conninfo) != FP_STORE_OK) {
        say(&run, "cannot connect: %s", run.connection.message);
        result = FP_MIGRATE_DOWN;
    } else {
        result = migrate(&run);
    }
    fp_connection_close(&run.connection);
    fp_buf_release(&run.statement);
    return result;
}
