/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trial: asks questions as the reader.
 */
#include "cli/doctor/trial.h"

#include "cli/doctor/remedies.h"
#include "cli/kit/memory.h"
#include "cli/kit/query.h"
#include "collector/base/clock.h"
#include "collector/store/diagnosis.h"

#include <stdlib.h>

#define SITE "coalesce((select site from fleetprof.segment limit 1), '%')"
#define LAST_HOUR SITE ", since => now() - interval '1 hour'"

/* One question for each way that the numbers lie: frames, stacks, timings, kept sessions. */
static const struct {
    const char *name;
    const char *text;
} questions[] = {
    {"fleetprof.hotspots", "select count(*) from fleetprof.hotspots(" LAST_HOUR ", top => 1)"},
    {"fleetprof.flamegraph", "select count(*) from fleetprof.flamegraph(" LAST_HOUR ")"},
    {"fleetprof.timings", "select count(*) from fleetprof.timings(" LAST_HOUR ")"},
    {"fleetprof.vitals", "select count(*) from fleetprof.vitals(" LAST_HOUR ")"},
    {"fleetprof.sessions", "select count(*) from (select from fleetprof.sessions limit 1) as one"},
};

/* Objects that migrate has recorded and that do not exist. */
static const char missing_objects[] =
    "select string_agg(object, ', ' order by object) from ("
    "select unnest(objects) as object from fleetprof.schema_version "
    "except select format('function %s.%s', nspname, proname) from pg_catalog.pg_proc "
    "join pg_catalog.pg_namespace as n on n.oid = pronamespace "
    "except select format('view %s.%s', nspname, relname) from pg_catalog.pg_class "
    "join pg_catalog.pg_namespace as n on n.oid = relnamespace where relkind = 'v') as missing";

/* Is the session's role the reader; may it become the reader; may it ask itself? */
static const char who[] =
    "select current_user = 'fleetprof_reader', "
    "coalesce((select pg_has_role(oid, 'member') from pg_catalog.pg_roles "
    "where rolname = 'fleetprof_reader'), false), "
    "exists (select from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n "
    "on n.oid = pronamespace where nspname = 'fleetprof' and proname = 'hotspots' "
    "and has_function_privilege(p.oid, 'execute'))";

/* A role's settings hold for its logins only, so `set role` needs them told. */
static const char take_settings[] =
    "select count(set_config(s.name, substr(pair, strpos(pair, '=') + 1), true)) from ("
    "select pair from pg_catalog.pg_db_role_setting as of_role, unnest(setconfig) as pair "
    "where setrole = 'fleetprof_reader'::regrole and setdatabase in (0, (select oid from "
    "pg_catalog.pg_database where datname = current_database())) order by setdatabase) as given "
    "join pg_catalog.pg_settings as s on lower(split_part(pair, '=', 1)) = lower(s.name) "
    "where context = 'user'";

/* Lowers the time limit to what is left. Does the role have a lower one? */
static const char limit_time[] =
    "select is_lower, set_config('statement_timeout', case when is_lower then setting "
    "else $1::text end, true) from (select setting, setting::bigint between 1 and $1::bigint "
    "as is_lower from pg_catalog.pg_settings where name = 'statement_timeout') as own";

/* Time zones that sites have or are to have, and the server's machine has not. */
static const char unknown_zones[] =
    "with given as materialized (select key as site, value ->> 'timezone' as zone "
    "from jsonb_each($1::jsonb) where value ->> 'timezone' <> 'UTC' "
    "union select site, timezone from fleetprof_data.site_timezone), "
    /* The list takes long to read. */
    "known as materialized (select name from pg_timezone_names where exists (select from given)) "
    "select site, zone from given where zone not in (select name from known) order by site, zone";

/* As the report shows it: what is judged of 75th percentiles and means; is the cost sure to be
 * above 1 %? */
static const char costs[] =
    "select string_agg(format('%s, %s: %s, 95 %% between %s and %s: %s', name, "
    "coalesce('p' || percentile, 'mean'), to_char(100 * change, 'FMSG999990.0 %'), "
    "to_char(100 * change_low, 'FMSG999990.0 %'), to_char(100 * change_high, 'FMSG999990.0 %'), "
    "verdict), '; '), bool_or(verdict = 'slower' and change_low > 0.01) "
    "from fleetprof.profiling_cost($1, since => now() - interval '7 days') "
    "where percentile is distinct from 50 and change_low is not null "
    "and verdict in ('slower', 'faster', 'no change seen')";

struct trial {
    PGconn *connection;
    const char *where;
    const struct fp_config *config; /* NULL: unknown */
    int64_t end_us;
    struct fp_findings *findings;
    const char *role;      /* who asks */
    bool is_member;        /* `role` may become the reader */
    bool is_over;          /* the connection is unusable, or time is up */
    bool is_limit_by_role; /* the time limit is the role's, not ours */
    bool may_run_out;      /* no answer in time is not news */
};

static PGresult *ask(struct trial *trial, const char *text, const char *value)
{
    struct fp_sql_query query;
    fp_sql_init(&query, text);
    if (value != NULL)
        query.values[query.value_count++] = value;
    PGresult *answer = fp_sql_ask_until(trial->connection, &query, trial->end_us);
    fp_sql_release(&query);
    trial->is_over =
        trial->is_over || answer == NULL || PQstatus(trial->connection) != CONNECTION_OK;
    return answer;
}

/* At least 1: 0 stands for no limit. */
static long long left_ms(const struct trial *trial)
{
    const int64_t left_us = trial->end_us - fp_clock_monotonic_us();
    return left_us > 0 ? left_us / FP_US_PER_MS + 1 : 1;
}

static bool is_fine(const PGresult *answer)
{
    const ExecStatusType status = PQresultStatus(answer);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

static bool is_true(const PGresult *answer, int column)
{
    return PQgetvalue(answer, 0, column)[0] == 't';
}

static const char *remedy_of(const struct trial *trial, const char *sqlstate)
{
    if (strcmp(sqlstate, "57014") == 0)
        return trial->is_limit_by_role ? "the role's statement_timeout ends it: alter role "
                                         "fleetprof_reader reset statement_timeout"
                                       : "it takes too long: look at the database's load";
    return fp_doctor_remedy_of_sqlstate(sqlstate);
}

static void report(struct trial *trial, const char *name, const PGresult *answer)
{
    const char *message = PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY);
    const char *sqlstate = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    const char *role = trial->is_member ? "fleetprof_reader" : trial->role;
    if (trial->may_run_out && (sqlstate == NULL || strcmp(sqlstate, "57014") == 0)) {
        trial->is_over = true;
        return;
    }
    if (message != NULL && fp_failure_is_statement_pooler(message))
        fp_finding_add(trial->findings, FP_FINDING_DATABASE_POOLER, trial->where, "%.300s",
                       message);
    else if (message == NULL || sqlstate == NULL)
        fp_finding_add(trial->findings, FP_FINDING_QUESTION_FAILED, trial->where,
                       "%s as %s: no answer in time", name, role);
    else
        fp_finding_add(trial->findings, FP_FINDING_QUESTION_FAILED, trial->where,
                       "%s as %s: %.300s (SQLSTATE %s); %s", name, role, message, sqlstate,
                       remedy_of(trial, sqlstate));
}

/* Runs a statement, or reports why it fails. */
static bool run(struct trial *trial, const char *text)
{
    PGresult *answer = ask(trial, text, NULL);
    const bool fine = is_fine(answer);
    if (!fine)
        report(trial, text, answer);
    PQclear(answer);
    return fine;
}

/* ---- who asks ---- */

static void report_unasked(struct trial *trial)
{
    fp_finding_add(trial->findings, FP_FINDING_QUESTION_UNASKED, trial->where,
                   "the role %s may not ask, and cannot become fleetprof_reader", trial->role);
}

/* Finds out as whom to ask. False: nobody who may. */
static bool choose_role(struct trial *trial)
{
    PGresult *answer = ask(trial, who, NULL);
    const bool fine = PQresultStatus(answer) == PGRES_TUPLES_OK && PQntuples(answer) == 1;
    const bool is_reader = fine && is_true(answer, 0);
    trial->is_member = fine && !is_reader && is_true(answer, 1);
    const bool may_ask = is_reader || trial->is_member || (fine && is_true(answer, 2));
    if (!fine)
        report(trial, "pg_roles", answer);
    else if (!may_ask)
        report_unasked(trial);
    PQclear(answer);
    return may_ask;
}

/* Becomes the reader for this transaction, with the settings of its logins. */
static bool become_reader(struct trial *trial)
{
    PGresult *answer = ask(trial, "set local role fleetprof_reader", NULL);
    const bool fine = is_fine(answer);
    PQclear(answer);
    if (!fine && !trial->is_over)
        report_unasked(trial);
    return fine && run(trial, take_settings);
}

/* Returns the answer of what sets the limit: the role's own may end even that. */
static PGresult *limit(struct trial *trial)
{
    char left[32];
    (void)snprintf(left, sizeof(left), "%lld", left_ms(trial));
    PGresult *answer = ask(trial, limit_time, left);
    trial->is_limit_by_role =
        PQresultStatus(answer) != PGRES_TUPLES_OK || (PQntuples(answer) == 1 && is_true(answer, 0));
    return answer;
}

/* Starts a transaction as the reader. The session's own limit is not the reader's. */
static bool begin(struct trial *trial)
{
    trial->is_limit_by_role = true;
    return run(trial, "begin read only") && run(trial, "set local statement_timeout to default") &&
           (!trial->is_member || become_reader(trial));
}

/* ---- questions ---- */

/* Asks a question as the reader, or reports why it fails. NULL: no answer. The caller calls
 * PQclear. */
static PGresult *try_question(struct trial *trial, const char *name, const char *text,
                              const char *value)
{
    PGresult *answer = NULL;
    if (begin(trial)) {
        answer = limit(trial);
        if (PQresultStatus(answer) == PGRES_TUPLES_OK) {
            PQclear(answer);
            answer = ask(trial, text, value);
        }
        if (PQresultStatus(answer) != PGRES_TUPLES_OK) {
            report(trial, name, answer);
            PQclear(answer);
            answer = NULL;
        }
    }
    if (!trial->is_over)
        (void)run(trial, "rollback");
    return answer;
}

static void find_unknown_zones(struct trial *trial)
{
    struct fp_buf sites;
    fp_buf_init(&sites, FP_CONFIG_SITES_MAX);
    if (trial->config != NULL)
        fp_config_print_sites(trial->config, &sites);
    else
        fp_buf_addf(&sites, "{}");
    PGresult *answer =
        try_question(trial, "fleetprof_data.site_timezone", unknown_zones, fp_memory_text(&sites));
    for (int row = 0; row < PQntuples(answer); row++)
        fp_finding_add(trial->findings, FP_FINDING_TIMEZONE_UNKNOWN, trial->where,
                       "site %s: \"%s\" is not in pg_timezone_names", PQgetvalue(answer, row, 0),
                       PQgetvalue(answer, row, 1));
    PQclear(answer);
    fp_buf_release(&sites);
}

static void find_missing(struct trial *trial)
{
    PGresult *answer = ask(trial, missing_objects, NULL);
    const bool fine = PQresultStatus(answer) == PGRES_TUPLES_OK && PQntuples(answer) == 1;
    if (!fine)
        report(trial, "fleetprof.schema_version", answer);
    else if (!PQgetisnull(answer, 0, 0))
        fp_finding_add(trial->findings, FP_FINDING_SCHEMA_INCOMPLETE, trial->where, "%.300s",
                       PQgetvalue(answer, 0, 0));
    PQclear(answer);
}

/* Looks at what is there and who asks, within our own time limit. False: nobody may ask. */
static bool look(struct trial *trial)
{
    char limit_of_ours[64];
    (void)snprintf(limit_of_ours, sizeof(limit_of_ours), "set local statement_timeout = %lld",
                   left_ms(trial));
    bool may_ask = false;
    if (run(trial, "begin read only") && run(trial, limit_of_ours)) {
        trial->is_limit_by_role = false;
        find_missing(trial);
        may_ask = !trial->is_over && choose_role(trial);
    }
    return !trial->is_over && run(trial, "rollback") && may_ask;
}

void fp_trial_ask(PGconn *connection, const char *where, const struct fp_config *config,
                  int64_t end_us, struct fp_findings *findings)
{
    struct trial trial = {
        .connection = connection,
        .where = where,
        .config = config,
        .end_us = end_us,
        .findings = findings,
        .role = PQuser(connection),
        .is_limit_by_role = true,
    };
    const bool may_ask = look(&trial);
    for (size_t i = 0; may_ask && !trial.is_over && i < FP_COUNT(questions); i++)
        PQclear(try_question(&trial, questions[i].name, questions[i].text, NULL));
    if (may_ask && !trial.is_over)
        find_unknown_zones(&trial);
}

static void find_cost(struct trial *trial, const char *site)
{
    PGresult *answer = try_question(trial, "fleetprof.profiling_cost", costs, site);
    if (PQntuples(answer) == 1 && !PQgetisnull(answer, 0, 0)) {
        char *where = fp_memory_print("site %s, seven days", site);
        fp_finding_add(trial->findings,
                       is_true(answer, 1) ? FP_FINDING_PROFILING_COSTLY : FP_FINDING_PROFILING_COST,
                       where, "%s", PQgetvalue(answer, 0, 0));
        free(where);
    }
    PQclear(answer);
}

void fp_trial_ask_cost(PGconn *connection, const struct fp_config *config, int64_t end_us,
                       struct fp_findings *findings)
{
    struct trial trial = {
        .connection = connection,
        .where = "database",
        .config = config,
        .end_us = end_us,
        .findings = findings,
        .role = PQuser(connection),
        .may_run_out = true,
    };
    const struct fp_rules *rules = config->rules;
    const bool may_ask = look(&trial);
    for (size_t i = 0; may_ask && !trial.is_over && i < rules->site_count; i++)
        find_cost(&trial, rules->sites[i].name.ptr);
}
