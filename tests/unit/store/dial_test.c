/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dial: which places a connection string means, and how long each of them is waited for.
 */
#include "tests/unit/unit.h"

#include "tests/unit/directory.h"

#include <libpq-fe.h>
#include <netdb.h>

/* The name `two` has the addresses 127.0.0.9 and 127.0.0.1; `none` has none. */
static int resolve_for_test(const char *host, const char *service, const struct addrinfo *wanted,
                            struct addrinfo **found);
/* Notes the options. */
static PGconn *connect_for_test(const char *const *names, const char *const *values, int expands);
#define getaddrinfo resolve_for_test
#define PQconnectStartParams connect_for_test
#include "collector/store/dial.c"
#undef PQconnectStartParams
#undef getaddrinfo

#include <arpa/inet.h>
#include <unistd.h>

/* The options of the last attempt, as lines name=value. */
static char options_sent[4096];

static PGconn *connect_for_test(const char *const *names, const char *const *values, int expands)
{
    size_t len = 0;
    options_sent[0] = '\0';
    for (size_t i = 0; names[i] != NULL; i++)
        len += (size_t)snprintf(options_sent + len, sizeof(options_sent) - len, "%s=%s\n", names[i],
                                values[i]);
    assert_true(len < sizeof(options_sent));
    return PQconnectStartParams(names, values, expands);
}

static int resolve_for_test(const char *host, const char *service, const struct addrinfo *wanted,
                            struct addrinfo **found)
{
    if (strcmp(host, "none") == 0)
        return EAI_NONAME;
    if (strcmp(host, "two") != 0)
        return getaddrinfo(host, service, wanted, found);
    int error = getaddrinfo("127.0.0.9", service, wanted, found);
    return error != 0 ? error : getaddrinfo("127.0.0.1", service, wanted, &(*found)->ai_next);
}

static struct fp_dial *begin(const char *conninfo, int64_t end_us)
{
    const char *const names[] = {"dbname", "client_encoding", NULL};
    const char *const values[] = {conninfo, "UTF8", NULL};
    struct fp_dial *dial = fp_dial_begin(&(struct fp_dial_settings){names, values, end_us});
    assert_non_null(dial);
    return dial;
}

/* Writes the places as host|address|port, separated by blanks. */
static const char *places_of(const char *conninfo)
{
    static char text[MESSAGE_MAX];
    struct fp_dial *dial = begin(conninfo, INT64_MAX);
    text[0] = '\0';
    for (size_t i = 0; i < dial->place_count; i++) {
        size_t len = strlen(text);
        const struct dial_place *place = &dial->places[i];
        snprintf(text + len, sizeof(text) - len, "%s%s|%s|%s", i > 0 ? " " : "", place->host,
                 place->address, place->port);
    }
    if (dial->ends)
        snprintf(text, sizeof(text), "%s", dial->message);
    fp_dial_end(dial);
    return text;
}

static void reads_the_lists_as_libpq_does(void **state)
{
    (void)state;
    assert_string_equal(places_of("host=a,b"), "a||5432 b||5432");
    assert_string_equal(places_of("host=a,b port=1"), "a||1 b||1");
    assert_string_equal(places_of("host=a,b port=1,2"), "a||1 b||2");
    assert_string_equal(places_of("host=a,b port=,2"), "a||5432 b||2");
    assert_string_equal(places_of("host=/run/x,@y,z"), "/run/x||5432 @y||5432 z||5432");
    assert_string_equal(places_of("host=a,,c"), "a||5432 ||5432 c||5432");
    assert_string_equal(places_of("host=a,b hostaddr=10.0.0.1,10.0.0.2 port=7"),
                        "a|10.0.0.1|7 b|10.0.0.2|7");
    assert_string_equal(places_of("hostaddr=10.0.0.1,::1"), "|10.0.0.1|5432 |::1|5432");
    assert_string_equal(places_of("postgresql://u@a:1,b:2/db?connect_timeout=5"), "a||1 b||2");
    assert_string_equal(places_of("postgresql://%2Frun%2Fx,[::1]/db"), "/run/x||5432 ::1||5432");
    assert_string_equal(places_of(""), "||5432");
    assert_string_equal(places_of("just_a_name"), "||5432");
}

static void libpq_words_what_is_wrong_with_a_string(void **state)
{
    (void)state;
    assert_string_equal(places_of("host=a,b port=1,2,3"),
                        "could not match 3 port numbers to 2 hosts");
    assert_string_equal(places_of("host=a,b hostaddr=10.0.0.1"),
                        "could not match 2 host names to 1 hostaddr values");
    assert_string_equal(places_of("host=a frobnicate=1"),
                        "invalid connection option \"frobnicate\"");
    assert_string_equal(places_of("service=missing"),
                        "definition of service \"missing\" not found");
    assert_string_equal(places_of("host=a connect_timeout=soon"),
                        "invalid integer value \"soon\" for connection option "
                        "\"connect_timeout\"");
}

static void takes_at_most_64_hosts(void **state)
{
    (void)state;
    char conninfo[200] = "host=a";
    for (size_t i = 0; i < PLACES_MAX; i++)
        memcpy(conninfo + strlen("host=a") + 2 * i, ",b", sizeof(",b"));
    assert_string_equal(places_of(conninfo), "the connection string names more than 64 hosts");
    conninfo[strlen(conninfo) - 2] = '\0';
    assert_null(strstr(places_of(conninfo), "more than"));
}

static char service_file[64];

/* Makes libpq read a service file with this text. */
static void add_services(const char *text)
{
    static char directory[sizeof(service_file) - sizeof("/services")];
    make_test_directory(directory, sizeof(directory), "dial-test");
    snprintf(service_file, sizeof(service_file), "%s/services", directory);
    FILE *file = fopen(service_file, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    setenv("PGSERVICEFILE", service_file, 1);
}

static void remove_services(void)
{
    unsetenv("PGSERVICEFILE");
    unlink(service_file);
    *strrchr(service_file, '/') = '\0';
    rmdir(service_file);
}

static void reads_services_and_the_environment(void **state)
{
    (void)state;
    add_services("[fleet]\nhost=s,t\nport=11,12\nchannel_binding=disable\n"
                 "connect_timeout=9\npassword=secret\ntarget_session_attrs=read-write\n");
    assert_string_equal(places_of("service=fleet"), "s||11 t||12");
    assert_string_equal(places_of("service=fleet port=3"), "s||3 t||3");
    struct fp_dial *dial = begin("service=fleet", INT64_MAX);
    assert_string_equal(dial->channel_binding, "disable");
    assert_string_equal(dial->session, "read-write");
    assert_string_equal(dial->password, "secret");
    assert_int_equal(dial->timeout_us, 9 * FP_US_PER_S);
    fp_dial_end(dial);
    remove_services();
    setenv("PGHOST", "e,f", 1);
    setenv("PGPORT", "21,22", 1);
    setenv("PGTARGETSESSIONATTRS", "primary", 1);
    setenv("PGCONNECT_TIMEOUT", "8", 1);
    assert_string_equal(places_of("dbname=x"), "e||21 f||22");
    assert_string_equal(places_of("host=a port=1"), "a||1");
    dial = begin("dbname=x", INT64_MAX);
    assert_string_equal(dial->session, "primary");
    assert_int_equal(dial->timeout_us, 8 * FP_US_PER_S);
    fp_dial_end(dial);
    static const char *const names[] = {"PGHOST", "PGPORT", "PGTARGETSESSIONATTRS",
                                        "PGCONNECT_TIMEOUT", "PGSERVICEFILE"};
    for (size_t i = 0; i < FP_COUNT(names); i++)
        unsetenv(names[i]);
}

static void no_limit_means_three_seconds(void **state)
{
    (void)state;
    static const struct {
        const char *conninfo;
        int seconds;
    } cases[] = {
        {"host=a", 3},
        {"host=a connect_timeout=0", 3},
        {"host=a connect_timeout=-1", 3},
        {"host=a connect_timeout=1", 1},
        {"host=a connect_timeout='25 '", 25},
        {"host=a connect_timeout=2147483647", 600},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct fp_dial *dial = begin(cases[i].conninfo, INT64_MAX);
        assert_false(dial->ends);
        assert_int_equal(dial->timeout_us, cases[i].seconds * FP_US_PER_S);
        fp_dial_end(dial);
    }
}

/* Listens on an address and says nothing; *port gets the port if it is 0. Returns the socket. */
static int listen_silently(const char *address, int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(inet_pton(AF_INET, address, &at.sin_addr), 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

/* Connects as far as it goes. Returns how long that took, in ms. */
static int64_t run_dial(struct fp_dial *dial)
{
    int64_t began_us = fp_clock_monotonic_us();
    assert_null(fp_dial_finish(dial));
    return (fp_clock_monotonic_us() - began_us) / FP_US_PER_MS;
}

static void a_silent_address_of_a_name_costs_one_deadline(void **state)
{
    (void)state;
    char conninfo[100], expected[400];
    int port = 0;
    int silent = listen_silently("127.0.0.9", &port);
    snprintf(conninfo, sizeof(conninfo), "host=two port=%d connect_timeout=1 sslmode=disable",
             port);
    struct fp_dial *dial = begin(conninfo, INT64_MAX);
    int64_t took_ms = run_dial(dial);
    snprintf(expected, sizeof(expected),
             "connection to server at \"two\" (127.0.0.9), port %d failed: no answer in 1 s\n"
             "connection to server at \"two\" (127.0.0.1), port %d failed: Connection refused\n"
             "\tIs the server running on that host and accepting TCP/IP connections?",
             port, port);
    assert_string_equal(fp_dial_message(dial), expected);
    assert_false(fp_dial_was_silent(dial));
    assert_in_range(took_ms, 900, 1900);
    fp_dial_end(dial);
    close(silent);
}

static void a_limit_for_all_is_shared_by_what_is_left(void **state)
{
    (void)state;
    char conninfo[100];
    int port = 0;
    int one = listen_silently("127.0.0.9", &port);
    int other = listen_silently("127.0.0.8", &port);
    snprintf(conninfo, sizeof(conninfo), "host=127.0.0.9,127.0.0.8 port=%d", port);
    struct fp_dial *dial = begin(conninfo, fp_clock_monotonic_us() + FP_US_PER_S);
    int64_t took_ms = run_dial(dial);
    assert_in_range(took_ms, 900, 1900);
    assert_non_null(strstr(dial->message, "\"127.0.0.9\", port"));
    assert_non_null(strstr(dial->message, "\"127.0.0.8\", port"));
    assert_true(fp_dial_was_silent(dial));
    fp_dial_end(dial);
    close(one);
    close(other);
}

static void a_name_without_addresses_does_not_end_the_search(void **state)
{
    (void)state;
    struct fp_dial *dial = begin("host=none,/nonexistent", INT64_MAX);
    (void)run_dial(dial);
    assert_non_null(strstr(dial->message, "could not translate host name \"none\" to address: "));
    assert_non_null(strstr(dial->message, "/nonexistent/.s.PGSQL.5432"));
    fp_dial_end(dial);
}

static void prefer_standby_asks_each_place_for_a_standby_first(void **state)
{
    (void)state;
    struct fp_dial *dial =
        begin("host=/nonexistent,/absent target_session_attrs=prefer-standby", INT64_MAX);
    const char *const expected[] = {"standby /nonexistent", "standby /absent", "any /nonexistent",
                                    "any /absent"};
    for (size_t i = 0; i < FP_COUNT(expected); i++) {
        char text[100];
        assert_true(start_next(dial));
        snprintf(text, sizeof(text), "%s %s", dial->session != NULL ? dial->session : "any",
                 dial->where.host);
        assert_string_equal(text, expected[i]);
        note_failure(dial);
    }
    assert_false(start_next(dial));
    /* Both rounds met the same, which is said once. */
    assert_null(strstr(strstr(dial->message, "/absent") + 1, "/absent"));
    fp_dial_end(dial);
}

static void shuffles_keep_every_place_once(void **state)
{
    (void)state;
    bool was_moved = false;
    for (int turn = 0; turn < 50; turn++) {
        struct fp_dial *dial = begin("host=a,b,c,d,e", INT64_MAX);
        unsigned seen = 0;
        shuffle_places(dial);
        for (size_t i = 0; i < dial->place_count; i++)
            seen |= 1u << (dial->places[i].host[0] - 'a');
        assert_int_equal(seen, 31);
        was_moved = was_moved || dial->places[0].host[0] != 'a';
        fp_dial_end(dial);
    }
    assert_true(was_moved);
}

static void only_refusals_of_role_and_database_end_the_search(void **state)
{
    (void)state;
    static const char *const final[] = {"28000", "28P01", "3D000"};
    static const char *const passing[] = {"57P03", "57P01", "53300", "08006", "42501", ""};
    struct fp_failure failure = {.sqlstate = ""};
    for (size_t i = 0; i < FP_COUNT(final); i++) {
        memcpy(failure.sqlstate, final[i], strlen(final[i]) + 1);
        assert_true(is_final(&failure));
    }
    for (size_t i = 0; i < FP_COUNT(passing); i++) {
        memcpy(failure.sqlstate, passing[i], strlen(passing[i]) + 1);
        assert_false(is_final(&failure));
    }
}

/* Returns how often the last attempt has an option, with this value if it is not NULL. */
static size_t count_sent(const char *name, const char *value)
{
    char begin[200];
    size_t count = 0;
    snprintf(begin, sizeof(begin), "%s=%s%s", name, value != NULL ? value : "",
             value != NULL ? "\n" : "");
    for (const char *at = options_sent; *at != '\0'; at = strchr(at, '\n') + 1)
        count += strncmp(at, begin, strlen(begin)) == 0 ? 1 : 0;
    return count;
}

/* Options of which an attempt has its own value, or that our own values hide from libpq. */
static void an_attempt_has_each_option_once(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *sent; /* NULL: the option is not sent */
        bool is_replaced;
    } cases[] = {
        {"host", "/nonexistent", true},
        {"hostaddr", "127.0.0.1", true},
        {"port", "1", true},
        {"target_session_attrs", "standby", true},
        {"channel_binding", "disable", true},
        {"password", "secret", true},
        {"load_balance_hosts", NULL, true},
        {"service", NULL, true},
        {"servicefile", NULL, true},
        {"sslmode", "disable", false},
        {"passfile", "/absent", false},
        {"application_name", "test", false},
    };
    add_services("[fleet]\nhost=/nonexistent,b\nport=1,2\ntarget_session_attrs=prefer-standby\n");
    struct fp_dial *dial = begin("service=fleet hostaddr=127.0.0.1,127.0.0.2 sslmode=disable "
                                 "channel_binding=disable password=secret passfile=/absent "
                                 "application_name=test",
                                 INT64_MAX);
    assert_false(dial->ends);
    assert_true(start_next(dial));
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        /* Not every libpq has all of these. */
        assert_int_equal(is_replaced(cases[i].name), cases[i].is_replaced);
        const size_t wanted = cases[i].sent != NULL ? 1 : 0;
        if (count_sent(cases[i].name, NULL) != wanted ||
            (wanted == 1 && count_sent(cases[i].name, cases[i].sent) != 1))
            fail_msg("%s is not sent %zu times: %s", cases[i].name, wanted, options_sent);
    }
    fp_dial_end(dial);
    remove_services();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_lists_as_libpq_does),
        cmocka_unit_test(libpq_words_what_is_wrong_with_a_string),
        cmocka_unit_test(takes_at_most_64_hosts),
        cmocka_unit_test(reads_services_and_the_environment),
        cmocka_unit_test(an_attempt_has_each_option_once),
        cmocka_unit_test(no_limit_means_three_seconds),
        cmocka_unit_test(a_silent_address_of_a_name_costs_one_deadline),
        cmocka_unit_test(a_limit_for_all_is_shared_by_what_is_left),
        cmocka_unit_test(a_name_without_addresses_does_not_end_the_search),
        cmocka_unit_test(prefer_standby_asks_each_place_for_a_standby_first),
        cmocka_unit_test(shuffles_keep_every_place_once),
        cmocka_unit_test(only_refusals_of_role_and_database_end_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
