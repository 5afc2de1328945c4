/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnosis: by SQLSTATE (PostgreSQL, appendix A). Where one SQLSTATE has several causes, by the
 * server function that reported it: its name is the same in every language.
 */
#include "collector/store/diagnosis.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

static const char *const state_names[] = {
    [FP_DATABASE_CONNECTING] = "connecting",     [FP_DATABASE_REACHABLE] = "reachable",
    [FP_DATABASE_UNREACHABLE] = "unreachable",   [FP_DATABASE_AUTHENTICATION] = "authentication",
    [FP_DATABASE_NOT_MIGRATED] = "not_migrated", [FP_DATABASE_WRONG_RIGHTS] = "wrong_rights",
    [FP_DATABASE_SCHEMA_OLDER] = "schema_older", [FP_DATABASE_SCHEMA_NEWER] = "schema_newer",
    [FP_DATABASE_READ_ONLY] = "read_only",       [FP_DATABASE_REFUSING] = "refusing",
    [FP_DATABASE_FAILING] = "failing",
};

static const char *const state_texts[] = {
    [FP_DATABASE_CONNECTING] = "not tried yet",
    [FP_DATABASE_REACHABLE] = "uploads can be written",
    [FP_DATABASE_UNREACHABLE] = "there is no connection to it",
    [FP_DATABASE_AUTHENTICATION] = "it does not let the collector's role in",
    [FP_DATABASE_NOT_MIGRATED] = "its role, database or schema is missing: run fleetprof migrate",
    [FP_DATABASE_WRONG_RIGHTS] =
        "the collector's role lacks rights: connect as fleetprof_writer or a member of it",
    [FP_DATABASE_SCHEMA_OLDER] = "its schema is older than this collector: run fleetprof migrate",
    [FP_DATABASE_SCHEMA_NEWER] = "its schema is newer than this collector: upgrade the collector",
    [FP_DATABASE_READ_ONLY] = "it is read-only: connect to the primary",
    [FP_DATABASE_REFUSING] = ("it refuses good uploads: a column, constraint or trigger that "
                              "somebody added to its tables must go; the log names it"),
    [FP_DATABASE_FAILING] = "it refuses what the collector does; the log has its message",
};

const char *fp_database_state_name(enum fp_database_state state)
{
    return state_names[state];
}

const char *fp_database_state_text(enum fp_database_state state)
{
    return state_texts[state];
}

/* ---- parsing a message ---- */

static bool is_sqlstate(const char *text)
{
    for (size_t i = 0; i < 5; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'A' && text[i] <= 'Z')))
            return false;
    return text[5] == ':' && text[6] == ' ';
}

/* Finds the SQLSTATE in `…SEVERITY:  SQLSTATE: sentence`, of the last server that was tried; NULL
 * when no server replied. */
static const char *find_sqlstate(const char *message)
{
    const char *found = NULL;
    for (const char *at = message; (at = strstr(at, ":  ")) != NULL; at += 3)
        if (is_sqlstate(at + 3))
            found = at + 3;
    return found;
}

void fp_failure_begin(struct fp_failure *failure, const PGconn *connection)
{
    const char *host = PQhost(connection);
    const char *role = PQuser(connection);
    const char *database = PQdb(connection);
    *failure = (struct fp_failure){.is_local = host != NULL && (host[0] == '/' || host[0] == '@')};
    snprintf(failure->role, sizeof(failure->role), "%s", role != NULL ? role : "");
    snprintf(failure->database, sizeof(failure->database), "%s", database != NULL ? database : "");
}

void fp_failure_read(struct fp_failure *failure, const char *message, char *text, size_t text_size)
{
    const char *sqlstate = find_sqlstate(message);
    if (sqlstate == NULL) {
        int len = (int)strcspn(message, "\n");
        /* libpq's own text, which is never translated here. */
        failure->lacks_password = strstr(message, "no password supplied") != NULL;
        failure->is_read_only = strstr(message, "session is read-only") != NULL ||
                                strstr(message, "server is in hot standby mode") != NULL;
        snprintf(text, text_size, "%.*s", failure->lacks_password ? len : (int)strlen(message),
                 message);
        return;
    }
    const char *sentence = sqlstate + 7;
    memcpy(failure->sqlstate, sqlstate, 5);
    failure->sqlstate[5] = '\0';
    /* PgBouncer has one SQLSTATE for all that it says. */
    if (strcmp(failure->sqlstate, "08P01") == 0 &&
        strstr(sentence, "authentication failed") != NULL)
        memcpy(failure->sqlstate, "28P01", 5);
    failure->is_role_missing = strstr(sentence, "InitializeSessionUserId") != NULL;
    failure->is_unlisted = strstr(sentence, "ClientAuthentication,") != NULL;
    snprintf(text, text_size, "%.*s%.*s (SQLSTATE %s)", (int)(sqlstate - message), message,
             (int)strcspn(sentence, "\n"), sentence, failure->sqlstate);
}

/* PgBouncer has one SQLSTATE for all that it says itself, and one language. */
bool fp_failure_is_statement_pooler(const char *message)
{
    return strstr(message, "statement pooling mode") != NULL;
}

const char fp_failure_pooler_hint[] =
    "the pooler is in statement mode, which has no transactions: set pool_mode = transaction for "
    "this database, or connect to PostgreSQL itself";

/* ---- the state it shows ---- */

static bool is_of(const struct fp_failure *failure, const char *class)
{
    return strncmp(failure->sqlstate, class, strlen(class)) == 0;
}

static const struct {
    const char *class;
    enum fp_database_state state;
} states[] = {
    {"08", FP_DATABASE_UNREACHABLE},     {"57P", FP_DATABASE_UNREACHABLE},
    {"53300", FP_DATABASE_UNREACHABLE},  {"28", FP_DATABASE_AUTHENTICATION},
    {"3D000", FP_DATABASE_NOT_MIGRATED}, {"3F000", FP_DATABASE_NOT_MIGRATED},
    {"42P01", FP_DATABASE_NOT_MIGRATED}, {"42703", FP_DATABASE_NOT_MIGRATED},
    {"42883", FP_DATABASE_NOT_MIGRATED}, {"42501", FP_DATABASE_WRONG_RIGHTS},
    {"25006", FP_DATABASE_READ_ONLY},
};

enum fp_database_state fp_failure_state(const struct fp_failure *failure)
{
    if (failure->is_role_missing)
        return FP_DATABASE_NOT_MIGRATED;
    if (failure->is_refusal || failure->culprit.is_certain)
        return FP_DATABASE_REFUSING;
    if (failure->is_statement_pooler)
        return FP_DATABASE_FAILING;
    if (failure->lacks_password)
        return FP_DATABASE_AUTHENTICATION;
    if (failure->is_read_only)
        return FP_DATABASE_READ_ONLY;
    if (failure->sqlstate[0] == '\0')
        return FP_DATABASE_UNREACHABLE;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (is_of(failure, states[i].class))
            return states[i].state;
    return FP_DATABASE_FAILING;
}

/* ---- the hint ---- */

static void name_system_user(char name[64])
{
    char memory[1024];
    struct passwd entry;
    struct passwd *found = NULL;
    uid_t user = geteuid();
    if (getpwuid_r(user, &entry, memory, sizeof(memory), &found) == 0 && found != NULL)
        snprintf(name, 64, "%s", entry.pw_name);
    else
        snprintf(name, 64, "#%u", user);
}

static void hint_authentication(const struct fp_failure *failure, struct fp_buf *hint)
{
    char user[64];
    if (is_of(failure, "28P01") || failure->lacks_password) {
        fp_buf_addf(hint,
                    "give the role %s a password, and name it in the database setting or in "
                    "a file .pgpass of the collector's user",
                    failure->role);
    } else if (failure->is_local) {
        name_system_user(user);
        fp_buf_addf(hint,
                    "as the first line of pg_hba.conf: local %s %s peer map=fleetprof; "
                    "in pg_ident.conf: fleetprof %s %s; then reload PostgreSQL",
                    failure->database, failure->role, user, failure->role);
    } else {
        fp_buf_addf(hint,
                    "pg_hba.conf needs a line that lets the role %s into the database %s from this "
                    "host; then reload PostgreSQL",
                    failure->role, failure->database);
    }
}

static void hint_migration(const struct fp_failure *failure, struct fp_buf *hint)
{
    if (failure->is_role_missing)
        fp_buf_addf(hint,
                    "the role %s is missing: run fleetprof migrate, which makes it, or name "
                    "fleetprof_writer in the database setting",
                    failure->role);
    else if (is_of(failure, "3D000"))
        fp_buf_addf(hint, "run createdb %s, then fleetprof migrate", failure->database);
    else
        fp_buf_addf(hint, "run fleetprof migrate on the database %s", failure->database);
}

static void hint_refusal(const struct fp_failure *failure, struct fp_buf *hint)
{
    const struct fp_culprit *culprit = &failure->culprit;
    if (culprit->object[0] == '\0') {
        fp_buf_addf(hint, "%s", fp_database_state_text(FP_DATABASE_REFUSING));
        return;
    }
    fp_buf_addf(hint, "%s %s of %s", culprit->is_certain ? "uploads are refused by" : "suspect",
                culprit->object, culprit->place);
    if (culprit->remedy[0] != '\0')
        fp_buf_addf(hint, ", which fleetprof did not make: repair it, or run as its owner: %s",
                    culprit->remedy);
}

void fp_failure_hint(const struct fp_failure *failure, enum fp_database_state state,
                     struct fp_buf *hint)
{
    if (failure->is_statement_pooler) {
        fp_buf_addf(hint, "%s", fp_failure_pooler_hint);
        return;
    }
    switch (state) {
    case FP_DATABASE_AUTHENTICATION:
        hint_authentication(failure, hint);
        return;
    case FP_DATABASE_NOT_MIGRATED:
        hint_migration(failure, hint);
        return;
    case FP_DATABASE_WRONG_RIGHTS:
        fp_buf_addf(hint,
                    "the role %s may not do that: connect as fleetprof_writer, or grant "
                    "fleetprof_writer to it",
                    failure->role);
        return;
    case FP_DATABASE_SCHEMA_OLDER:
    case FP_DATABASE_SCHEMA_NEWER:
        fp_buf_addf(hint, "%s", fp_database_state_text(state));
        return;
    case FP_DATABASE_REFUSING:
        hint_refusal(failure, hint);
        return;
    case FP_DATABASE_READ_ONLY:
        fp_buf_addf(hint, "%s",
                    failure->is_read_only
                        ? "none of the servers in the database setting accepts writes: promote "
                          "one, or name the one that does"
                        : "name all servers in the database setting, as in host=A,B "
                          "target_session_attrs=read-write: the one that accepts writes is used");
        return;
    case FP_DATABASE_CONNECTING:
    case FP_DATABASE_REACHABLE:
    case FP_DATABASE_UNREACHABLE:
    case FP_DATABASE_FAILING:
    default:
        return;
    }
}
