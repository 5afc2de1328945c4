/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnosis: each failure of a set-up has the state and the hint that help.
 */
#include "tests/unit/unit.h"

#include "collector/store/diagnosis.c"

#define SOCKET "connection to server on socket \"/run/postgresql/.s.PGSQL.5432\" failed: "
#define HOST "connection to server at \"db\" (10.0.0.5), port 5432 failed: "

static struct fp_failure failure;
static char text[512];
static char hint[1024];

/* Diagnoses a message of libpq about a connection; the state. */
static enum fp_database_state diagnose(const char *message, bool is_local)
{
    failure =
        (struct fp_failure){.is_local = is_local, .role = "fleetprof_writer", .database = "fp"};
    fp_failure_read(&failure, message, text, sizeof(text));
    enum fp_database_state state = fp_failure_state(&failure);
    struct fp_buf buf;
    fp_buf_init(&buf, sizeof(hint));
    fp_failure_hint(&failure, state, &buf);
    snprintf(hint, sizeof(hint), "%.*s", (int)buf.len, buf.len > 0 ? (const char *)buf.data : "");
    fp_buf_release(&buf);
    return state;
}

static void assert_hint(const char *words)
{
    if (strstr(hint, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, hint);
}

static void peer_authentication_gets_the_two_lines(void **state)
{
    (void)state;
    const char *message =
        SOCKET "FATAL:  28000: Peer authentication failed for user \"fleetprof_writer\"\n"
               "LOCATION:  auth_failed, auth.c:335\n";
    char user[64];
    char line[256];
    name_system_user(user);
    assert_int_equal(diagnose(message, true), FP_DATABASE_AUTHENTICATION);
    assert_string_equal(text, SOCKET "FATAL:  Peer authentication failed for user "
                                     "\"fleetprof_writer\" (SQLSTATE 28000)");
    assert_hint("pg_hba.conf: local fp fleetprof_writer peer map=fleetprof;");
    snprintf(line, sizeof(line), "pg_ident.conf: fleetprof %s fleetprof_writer;", user);
    assert_hint(line);
    assert_int_equal(diagnose(HOST "FATAL:  28000: no pg_hba.conf entry for host …\n"
                                   "LOCATION:  ClientAuthentication, auth.c:550\n",
                              false),
                     FP_DATABASE_AUTHENTICATION);
    assert_hint(
        "pg_hba.conf needs a line that lets the role fleetprof_writer into the database fp");
}

static void a_password_that_a_pooler_refuses_is_one(void **state)
{
    (void)state;
    static const char *const messages[] = {
        SOCKET "FATAL:  08P01: password authentication failed\n",
        HOST "FATAL:  08P01: SASL authentication failed\n",
    };
    for (size_t i = 0; i < FP_COUNT(messages); i++) {
        assert_int_equal(diagnose(messages[i], true), FP_DATABASE_AUTHENTICATION);
        assert_hint("give the role fleetprof_writer a password");
    }
    assert_int_equal(diagnose(HOST "FATAL:  08P01: query_wait_timeout\n", false),
                     FP_DATABASE_UNREACHABLE);
}

static void a_pooler_in_statement_mode_has_its_remedy(void **state)
{
    (void)state;
    failure = (struct fp_failure){.sqlstate = "08P01", .is_statement_pooler = true};
    struct fp_buf buf;
    fp_buf_init(&buf, sizeof(hint));
    assert_int_equal(fp_failure_state(&failure), FP_DATABASE_FAILING);
    fp_failure_hint(&failure, FP_DATABASE_FAILING, &buf);
    snprintf(hint, sizeof(hint), "%.*s", (int)buf.len, (const char *)buf.data);
    fp_buf_release(&buf);
    assert_hint("pool_mode = transaction");
    assert_true(
        fp_failure_is_statement_pooler("transaction blocks not allowed in statement pooling mode"));
}

static void a_missing_role_is_told_from_one_that_is_not_let_in(void **state)
{
    (void)state;
    assert_int_equal(diagnose(SOCKET "FATAL:  28000: Rolle »fleetprof_writer« existiert nicht\n"
                                     "STANDORT:  InitializeSessionUserId, miscinit.c:733\n",
                              true),
                     FP_DATABASE_NOT_MIGRATED);
    assert_hint("the role fleetprof_writer is missing: run fleetprof migrate");
}

static void passwords(void **state)
{
    (void)state;
    assert_int_equal(diagnose(HOST "FATAL:  28P01: password authentication failed\n"
                                   "LOCATION:  auth_failed, auth.c:335\n",
                              false),
                     FP_DATABASE_AUTHENTICATION);
    assert_hint("give the role fleetprof_writer a password");
    assert_int_equal(diagnose(HOST "fe_sendauth: no password supplied\n", false),
                     FP_DATABASE_AUTHENTICATION);
    assert_hint("give the role fleetprof_writer a password");
}

static void a_missing_database_is_to_be_created(void **state)
{
    (void)state;
    assert_int_equal(diagnose(SOCKET "FATAL:  3D000: database \"fp\" does not exist\n"
                                     "LOCATION:  InitPostgres, postinit.c:950\n",
                              true),
                     FP_DATABASE_NOT_MIGRATED);
    assert_hint("createdb fp");
}

static void nobody_there_needs_no_hint(void **state)
{
    (void)state;
    const char *message = SOCKET "No such file or directory\n\tIs the server running locally and "
                                 "accepting connections on that socket?\n";
    assert_int_equal(diagnose(message, true), FP_DATABASE_UNREACHABLE);
    assert_string_equal(text, message);
    assert_string_equal(hint, "");
    assert_int_equal(diagnose(SOCKET "FATAL:  57P03: the database system is starting up\n", true),
                     FP_DATABASE_UNREACHABLE);
}

static void the_last_of_several_servers_counts(void **state)
{
    (void)state;
    assert_int_equal(diagnose(HOST "FATAL:  28P01: no\nLOCATION:  a, b.c:1\n" HOST
                                   "FATAL:  3D000: database\nLOCATION:  c, d.c:2\n",
                              false),
                     FP_DATABASE_NOT_MIGRATED);
}

static enum fp_database_state state_of(const char *sqlstate)
{
    failure = (struct fp_failure){.role = "r", .database = "d"};
    snprintf(failure.sqlstate, sizeof(failure.sqlstate), "%s", sqlstate);
    return fp_failure_state(&failure);
}

static void each_row_has_an_error_with_its_state(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        const char *sqlstate;
        enum fp_database_state state;
    } cases[] = {
        {"08", "08006", FP_DATABASE_UNREACHABLE},     {"57P", "57P01", FP_DATABASE_UNREACHABLE},
        {"53300", "53300", FP_DATABASE_UNREACHABLE},  {"28", "28000", FP_DATABASE_AUTHENTICATION},
        {"3D000", "3D000", FP_DATABASE_NOT_MIGRATED}, {"3F000", "3F000", FP_DATABASE_NOT_MIGRATED},
        {"42P01", "42P01", FP_DATABASE_NOT_MIGRATED}, {"42703", "42703", FP_DATABASE_NOT_MIGRATED},
        {"42883", "42883", FP_DATABASE_NOT_MIGRATED}, {"42501", "42501", FP_DATABASE_WRONG_RIGHTS},
        {"25006", "25006", FP_DATABASE_READ_ONLY},
    };
    assert_walks(states, .class, cases, .row);
    for (size_t i = 0; i < FP_COUNT(cases); i++)
        assert_int_equal(state_of(cases[i].sqlstate), cases[i].state);
    assert_int_equal(state_of("57014"), FP_DATABASE_FAILING);
    assert_int_equal(state_of("40P01"), FP_DATABASE_FAILING);
    assert_int_equal(state_of("XX000"), FP_DATABASE_FAILING);
}

static void a_read_only_server_is_named_with_what_to_write(void **state)
{
    (void)state;
    assert_int_equal(diagnose(HOST "session is read-only", false), FP_DATABASE_READ_ONLY);
    assert_hint("none of the servers in the database setting accepts writes");
    assert_int_equal(diagnose(HOST "server is in hot standby mode", false), FP_DATABASE_READ_ONLY);
    assert_int_equal(diagnose(HOST "server is not in hot standby mode", false),
                     FP_DATABASE_UNREACHABLE);
    failure = (struct fp_failure){.sqlstate = "25006"};
    assert_int_equal(fp_failure_state(&failure), FP_DATABASE_READ_ONLY);
    struct fp_buf buf;
    fp_buf_init(&buf, sizeof(hint));
    fp_failure_hint(&failure, FP_DATABASE_READ_ONLY, &buf);
    snprintf(hint, sizeof(hint), "%.*s", (int)buf.len, (const char *)buf.data);
    fp_buf_release(&buf);
    assert_hint("host=A,B target_session_attrs=read-write");
}

static void each_state_has_a_name_and_a_text(void **state)
{
    (void)state;
    static const char *const names[] = {
        "connecting",   "reachable",    "unreachable",  "authentication",
        "not_migrated", "wrong_rights", "schema_older", "schema_newer",
        "read_only",    "refusing",     "failing",
    };
    static const char *const words[] = {
        "not tried",
        "can be written",
        "no connection",
        "role in",
        "fleetprof migrate",
        "lacks rights",
        "older than",
        "newer than",
        "read-only",
        "somebody added",
        "the log has its message",
    };
    assert_walks(state_names, , names, );
    assert_int_equal(FP_COUNT(state_texts), FP_COUNT(words));
    for (enum fp_database_state i = 0; i <= FP_DATABASE_FAILING; i++) {
        assert_string_equal(fp_database_state_name(i), names[i]);
        assert_non_null(strstr(fp_database_state_text(i), words[i]));
    }
}

static void a_row_that_is_refused_shows_a_changed_schema(void **state)
{
    (void)state;
    failure = (struct fp_failure){.sqlstate = "23502", .is_refusal = true};
    assert_int_equal(fp_failure_state(&failure), FP_DATABASE_REFUSING);
    /* For a connection, the same class is not about rows. */
    failure = (struct fp_failure){.sqlstate = "22023"};
    assert_int_equal(fp_failure_state(&failure), FP_DATABASE_FAILING);
}

/* Writes the hint of a refusal by a culprit. */
static void hint_culprit(const struct fp_culprit *culprit)
{
    struct fp_buf buf;
    failure = (struct fp_failure){.sqlstate = "23514", .is_refusal = true, .culprit = *culprit};
    assert_int_equal(fp_failure_state(&failure), FP_DATABASE_REFUSING);
    fp_buf_init(&buf, sizeof(hint));
    fp_failure_hint(&failure, FP_DATABASE_REFUSING, &buf);
    snprintf(hint, sizeof(hint), "%.*s", (int)buf.len, (const char *)buf.data);
    fp_buf_release(&buf);
}

static void a_changed_schema_is_named_with_its_remedy(void **state)
{
    (void)state;
    struct fp_culprit culprit = {"constraint house", "fleetprof_data.upload",
                                 "alter table fleetprof_data.upload drop constraint house", true};
    hint_culprit(&culprit);
    assert_string_equal(hint, "uploads are refused by constraint house of fleetprof_data.upload, "
                              "which fleetprof did not make: repair it, or run as its owner: "
                              "alter table fleetprof_data.upload drop constraint house");
    culprit.is_certain = false;
    hint_culprit(&culprit);
    assert_hint("suspect constraint house of fleetprof_data.upload");
    culprit.remedy[0] = '\0';
    hint_culprit(&culprit);
    assert_string_equal(hint, "suspect constraint house of fleetprof_data.upload");
    culprit.object[0] = '\0';
    hint_culprit(&culprit);
    assert_hint("somebody added");
    /* Whatever the SQLSTATE says: a trigger may raise any. */
    failure = (struct fp_failure){.sqlstate = "42501", .culprit.is_certain = true};
    assert_int_equal(fp_failure_state(&failure), FP_DATABASE_REFUSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peer_authentication_gets_the_two_lines),
        cmocka_unit_test(a_password_that_a_pooler_refuses_is_one),
        cmocka_unit_test(a_pooler_in_statement_mode_has_its_remedy),
        cmocka_unit_test(a_missing_role_is_told_from_one_that_is_not_let_in),
        cmocka_unit_test(passwords),
        cmocka_unit_test(a_missing_database_is_to_be_created),
        cmocka_unit_test(nobody_there_needs_no_hint),
        cmocka_unit_test(the_last_of_several_servers_counts),
        cmocka_unit_test(each_row_has_an_error_with_its_state),
        cmocka_unit_test(a_read_only_server_is_named_with_what_to_write),
        cmocka_unit_test(each_state_has_a_name_and_a_text),
        cmocka_unit_test(a_row_that_is_refused_shows_a_changed_schema),
        cmocka_unit_test(a_changed_schema_is_named_with_its_remedy),
    };
    return cmocka_run_group_tests_name("diagnosis", tests, NULL, NULL);
}
