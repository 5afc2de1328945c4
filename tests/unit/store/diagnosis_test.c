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

static void of_several_servers_the_last_counts(void **state)
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

static void errors_of_statements_have_their_states(void **state)
{
    (void)state;
    assert_int_equal(state_of("42501"), FP_DATABASE_WRONG_RIGHTS);
    assert_int_equal(state_of("42P01"), FP_DATABASE_NOT_MIGRATED);
    assert_int_equal(state_of("3F000"), FP_DATABASE_NOT_MIGRATED);
    assert_int_equal(state_of("25006"), FP_DATABASE_READ_ONLY);
    assert_int_equal(state_of("57P01"), FP_DATABASE_UNREACHABLE);
    assert_int_equal(state_of("57014"), FP_DATABASE_FAILING);
    assert_int_equal(state_of("40P01"), FP_DATABASE_FAILING);
    assert_int_equal(state_of("XX000"), FP_DATABASE_FAILING);
}

static void each_state_has_a_name_and_a_text(void **state)
{
    (void)state;
    for (enum fp_database_state i = 0; i <= FP_DATABASE_FAILING; i++) {
        assert_non_null(fp_database_state_name(i));
        assert_non_null(fp_database_state_text(i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peer_authentication_gets_the_two_lines),
        cmocka_unit_test(a_missing_role_is_told_from_one_that_is_not_let_in),
        cmocka_unit_test(passwords),
        cmocka_unit_test(a_missing_database_is_to_be_created),
        cmocka_unit_test(nobody_there_needs_no_hint),
        cmocka_unit_test(of_several_servers_the_last_counts),
        cmocka_unit_test(errors_of_statements_have_their_states),
        cmocka_unit_test(each_state_has_a_name_and_a_text),
    };
    return cmocka_run_group_tests_name("diagnosis", tests, NULL, NULL);
}
