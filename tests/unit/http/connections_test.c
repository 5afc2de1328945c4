/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: slow ones are closed in time, an idle one is evicted for a new one, and none is
 * closed while its reply is sent.
 */
#include "tests/unit/unit.h"

#include "collector/http/connections.c"

#include <poll.h>
#include <unistd.h>

enum { PEERS = 4, LONG_S = 600, WAIT_MS = 10000 };

static struct fp_metrics *registry;
static struct fp_metric_set *metrics;
static struct fp_connections *connections;
static struct {
    int ours;
    int theirs;
    struct fp_http_connection *connection;
} peers[PEERS];

static void start(int64_t request_timeout_us)
{
    static const struct fp_metric rows[] = {FP_HTTP_METRICS(FP_METRIC_ROW)};
    static const struct fp_metric_table table = {rows, FP_HTTP_METRIC_COUNT, NULL};
    registry = fp_metrics_create();
    assert_non_null(registry);
    metrics = fp_metrics_join(registry, &table);
    assert_non_null(metrics);
    connections = fp_connections_start(2, request_timeout_us, metrics);
    assert_non_null(connections);
    for (int i = 0; i < PEERS; i++)
        peers[i].connection = NULL;
}

static void join(int i)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    peers[i].ours = pair[0];
    peers[i].theirs = pair[1];
    peers[i].connection = fp_connections_add(connections, pair[0]);
    assert_non_null(peers[i].connection);
}

static void leave(int i)
{
    fp_connections_remove(connections, peers[i].connection);
    peers[i].connection = NULL;
    close(peers[i].ours);
    close(peers[i].theirs);
}

static void stop(void)
{
    for (int i = 0; i < PEERS; i++) {
        if (peers[i].connection != NULL)
            leave(i);
    }
    fp_connections_stop(connections);
    fp_metrics_free(registry);
}

/* True if the peer's connection is closed within the time. */
static bool is_ended(int i, int wait_ms)
{
    struct pollfd end = {.fd = peers[i].theirs, .events = POLLRDHUP};
    return poll(&end, 1, wait_ms) == 1;
}

/* Pretends that the connection entered its state that long ago. */
static void age(int i, int64_t by_us)
{
    pthread_mutex_lock(&connections->lock);
    peers[i].connection->since_us -= by_us;
    pthread_mutex_unlock(&connections->lock);
}

static void headers_and_bodies_have_a_deadline(void **state)
{
    (void)state;
    start(50 * FP_US_PER_MS);
    join(0);
    join(1);
    fp_connections_move(connections, peers[1].connection, FP_CONNECTION_RECEIVING);
    assert_true(is_ended(0, WAIT_MS));
    assert_true(is_ended(1, WAIT_MS));
    assert_int_equal(fp_metrics_get(metrics, FP_METRIC_CONNECTIONS_ENDED_SLOW), 2);
    stop();
}

static void time_that_is_ours_is_not_counted(void **state)
{
    (void)state;
    start(50 * FP_US_PER_MS);
    join(0);
    join(1);
    fp_connections_move(connections, peers[0].connection, FP_CONNECTION_ANSWERED);
    assert_true(is_ended(1, WAIT_MS));
    assert_false(is_ended(0, 100));
    fp_connections_move(connections, peers[0].connection, FP_CONNECTION_WAITING);
    assert_true(is_ended(0, WAIT_MS));
    stop();
}

static void the_longest_idle_makes_room(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    join(1);
    fp_connections_move(connections, peers[0].connection, FP_CONNECTION_WAITING);
    age(1, 2 * FP_US_PER_S);
    join(2);
    assert_true(is_ended(1, 0));
    assert_false(is_ended(0, 0));
    assert_false(is_ended(2, 0));
    /* A connection that was shut down frees its place before it is closed. */
    age(0, 2 * FP_US_PER_S);
    join(3);
    assert_true(is_ended(0, 0));
    assert_false(is_ended(2, 0));
    assert_int_equal(fp_metrics_get(metrics, FP_METRIC_CONNECTIONS_ENDED_CROWDED), 2);
    stop();
}

static void a_connection_that_sent_its_request_is_not_idle(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    join(1);
    age(0, 2 * FP_US_PER_S);
    assert_int_equal(send(peers[0].theirs, "POST", 4, 0), 4);
    join(2);
    assert_false(is_ended(0, 0));
    assert_true(is_ended(1, 0));
    stop();
}

static void send_whole(int i)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_int_equal(send(peers[i].theirs, request, strlen(request), 0), strlen(request));
}

static void evicts_an_unfinished_request_before_a_whole_one(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    join(1);
    age(0, 2 * FP_US_PER_S);
    send_whole(0);
    assert_int_equal(send(peers[1].theirs, "GET", 3, 0), 3);
    join(2);
    assert_false(is_ended(0, 0));
    assert_true(is_ended(1, 0));
    stop();
}

static void evicts_the_older_of_two_unfinished_requests(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    join(1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(send(peers[i].theirs, "GET", 3, 0), 3);
    join(2);
    assert_true(is_ended(0, 0));
    assert_false(is_ended(1, 0));
    stop();
}

static void a_connection_that_sent_much_is_not_slow(void **state)
{
    static const char headers[8192];
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    join(1);
    assert_int_equal(send(peers[0].theirs, headers, sizeof(headers), 0), sizeof(headers));
    assert_int_equal(send(peers[1].theirs, "GET", 3, 0), 3);
    join(2);
    assert_false(is_ended(0, 0));
    assert_true(is_ended(1, 0));
    stop();
}

static void does_not_evict_a_whole_request(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    for (int i = 0; i < PEERS; i++) {
        join(i);
        send_whole(i);
        age(i, 2 * FP_US_PER_S);
    }
    for (int i = 0; i < PEERS; i++)
        assert_false(is_ended(i, 0));
    stop();
}

static void a_slow_body_makes_room_for_one_who_has_just_come(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    fp_connections_move(connections, peers[0].connection, FP_CONNECTION_RECEIVING);
    join(1);
    age(1, -LONG_S * FP_US_PER_S); /* however slowly the test runs */
    join(2);
    assert_true(is_ended(0, 0));
    assert_false(is_ended(1, 0));
    stop();
}

static void a_body_that_has_just_begun_makes_no_room_for_a_flood_of_idle_ones(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    join(1);
    age(0, FP_US_PER_S / 4);
    fp_connections_move(connections, peers[1].connection, FP_CONNECTION_RECEIVING);
    join(2);
    assert_true(is_ended(0, 0));
    assert_false(is_ended(1, 0));
    stop();
}

static void an_idle_connection_makes_room_before_a_body_that_came_earlier(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    fp_connections_move(connections, peers[0].connection, FP_CONNECTION_RECEIVING);
    age(0, 60 * FP_US_PER_S);
    join(1);
    age(1, IDLE_US);
    join(2);
    assert_true(is_ended(1, 0));
    assert_false(is_ended(0, 0));
    stop();
}

static void a_client_that_has_gone_makes_room_before_all_others(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    join(1);
    fp_connections_move(connections, peers[0].connection, FP_CONNECTION_RECEIVING);
    age(0, 2 * FP_US_PER_S); /* it has been receiving longest */
    assert_int_equal(shutdown(peers[1].theirs, SHUT_WR), 0);
    join(2);
    assert_false(is_ended(0, 0));
    assert_false(is_ended(2, 0));
    assert_true(is_ended(1, 0));
    assert_int_equal(fp_metrics_get(metrics, FP_METRIC_CONNECTIONS_ENDED_CROWDED), 0);
    stop();
}

static void does_not_evict_an_answered_connection(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    for (int i = 0; i < PEERS; i++) {
        join(i);
        fp_connections_move(connections, peers[i].connection, FP_CONNECTION_ANSWERED);
        age(i, LONG_S * FP_US_PER_S);
    }
    for (int i = 0; i < PEERS; i++)
        assert_false(is_ended(i, 0));
    stop();
}

static void ends_surplus_connections_once_they_are_idle(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    for (int i = 0; i < PEERS; i++) {
        join(i);
        fp_connections_move(connections, peers[i].connection, FP_CONNECTION_ANSWERED);
    }
    for (int i = 0; i < PEERS; i++) {
        fp_connections_move(connections, peers[i].connection, FP_CONNECTION_WAITING);
        assert_int_equal(is_ended(i, 0), i < PEERS - 2);
    }
    stop();
}

static void a_connection_that_ends_keeps_its_state(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    join(1);
    join(2);
    assert_true(is_ended(0, 0));
    fp_connections_move(connections, peers[0].connection, FP_CONNECTION_WAITING);
    assert_int_equal(peers[0].connection->state, FP_CONNECTION_ENDING);
    stop();
}

static void the_unheard_are_those_without_a_request(void **state)
{
    (void)state;
    start(LONG_S * FP_US_PER_S);
    join(0);
    join(1);
    assert_int_equal(fp_connections_unheard(connections), 2);
    fp_connections_move(connections, peers[0].connection, FP_CONNECTION_RECEIVING);
    fp_connections_move(connections, peers[0].connection, FP_CONNECTION_WAITING);
    assert_int_equal(fp_connections_unheard(connections), 1);
    leave(0);
    leave(1);
    assert_int_equal(fp_connections_unheard(connections), 0);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_and_bodies_have_a_deadline),
        cmocka_unit_test(time_that_is_ours_is_not_counted),
        cmocka_unit_test(the_longest_idle_makes_room),
        cmocka_unit_test(a_connection_that_sent_its_request_is_not_idle),
        cmocka_unit_test(evicts_an_unfinished_request_before_a_whole_one),
        cmocka_unit_test(evicts_the_older_of_two_unfinished_requests),
        cmocka_unit_test(a_connection_that_sent_much_is_not_slow),
        cmocka_unit_test(does_not_evict_a_whole_request),
        cmocka_unit_test(a_slow_body_makes_room_for_one_who_has_just_come),
        cmocka_unit_test(a_body_that_has_just_begun_makes_no_room_for_a_flood_of_idle_ones),
        cmocka_unit_test(an_idle_connection_makes_room_before_a_body_that_came_earlier),
        cmocka_unit_test(a_client_that_has_gone_makes_room_before_all_others),
        cmocka_unit_test(does_not_evict_an_answered_connection),
        cmocka_unit_test(ends_surplus_connections_once_they_are_idle),
        cmocka_unit_test(a_connection_that_ends_keeps_its_state),
        cmocka_unit_test(the_unheard_are_those_without_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
