/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load: posts the bodies over keep-alive connections to 127.0.0.1 and times the replies.
 *
 *   load PORT BODIES CONNECTIONS SECONDS RATE COUNT
 *
 * RATE 0: each connection sends its next request when it has its reply (full load), until the time
 * is up or COUNT (0: any number) are sent. Else requests become due at random moments, RATE a
 * second on average, whether replies came or not, and a reply's time counts from that moment: a
 * stall is not hidden by sending less while it lasts. Every request is answered before it ends; any
 * status but 204 ends it with an error. Prints a line of JSON.
 */
#include "collector/base/clock.h"
#include "tests/bench/ingest/bodies.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 1024, HEAD_MAX = 2048, REPLY_MAX = 4096, REPLIES_MAX = 4 * 1024 * 1024 };

struct connection {
    int fd;
    bool busy;
    char head[HEAD_MAX];
    struct fp_str unsent[2]; /* of the head, of the body */
    int64_t due_us;          /* when the request was to be sent, monotonic */
    char reply[REPLY_MAX];
    size_t reply_len;
};

struct load {
    struct bodies bodies;
    struct connection *connections;
    struct pollfd *polls;
    size_t connection_count;
    size_t request_max;
    double rate;
    int64_t began_us;
    int64_t end_us;
    int64_t next_due_us;
    uint64_t random;
    size_t sent;
    size_t answered;
    uint32_t *times_us; /* of replies */
};

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "load: %s: %s\n", what, why);
    exit(1);
}

/* From 0 (not) to 1 (never): xorshift64*. */
static double draw(struct load *load)
{
    load->random ^= load->random >> 12;
    load->random ^= load->random << 25;
    load->random ^= load->random >> 27;
    return (double)((load->random * UINT64_C(0x2545F4914F6CDD1D)) >> 11) / 9007199254740992.0;
}

static int open_connection(unsigned port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((in_port_t)port),
                                        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1;
    if (fd < 0 || connect(fd, (const void *)&address, sizeof(address)) != 0)
        die("connect", strerror(errno));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return fd;
}

/* ---- one connection ---- */

static bool is_unsent(const struct connection *connection)
{
    return connection->unsent[1].len > 0;
}

static void send_more(struct connection *connection)
{
    while (is_unsent(connection)) {
        bool is_head = connection->unsent[0].len > 0;
        struct fp_str *unsent = &connection->unsent[is_head ? 0 : 1];
        ssize_t sent = send(connection->fd, unsent->ptr, unsent->len,
                            MSG_DONTWAIT | MSG_NOSIGNAL | (is_head ? MSG_MORE : 0));
        if (sent < 0 && errno == EAGAIN)
            return;
        if (sent < 0)
            die("send", strerror(errno));
        unsent->ptr += sent;
        unsent->len -= (size_t)sent;
    }
}

/* Bodies come in turn, heads at random: a body rarely gets the same head again. */
static void compose(struct load *load, struct connection *connection)
{
    const struct bodies *bodies = &load->bodies;
    struct fp_str head = bodies->heads[(size_t)(draw(load) * (double)bodies->head_count)];
    struct fp_str body = bodies->items[load->sent++ % bodies->count];
    int len = snprintf(connection->head, HEAD_MAX, "%.*sContent-Length: %zu\r\n\r\n",
                       FP_STR_ARG(head), body.len);
    if (len >= HEAD_MAX)
        die("send", "a head is too long");
    connection->unsent[0] = (struct fp_str){connection->head, (size_t)len};
    connection->unsent[1] = body;
}

static void send_next(struct load *load, struct connection *connection, int64_t due_us)
{
    connection->busy = true;
    connection->due_us = due_us;
    connection->reply_len = 0;
    compose(load, connection);
    send_more(connection);
}

/* Reads; true once the reply is complete. A 204 ends with its headers. */
static bool receive_reply(struct connection *connection)
{
    ssize_t got = recv(connection->fd, connection->reply + connection->reply_len,
                       REPLY_MAX - 1 - connection->reply_len, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return false;
    if (got <= 0)
        die("recv", got < 0 ? strerror(errno) : "the server closed the connection");
    connection->reply_len += (size_t)got;
    connection->reply[connection->reply_len] = '\0';
    if (strstr(connection->reply, "\r\n\r\n") == NULL)
        return false;
    if (strncmp(connection->reply, "HTTP/1.1 204", 12) != 0 || is_unsent(connection))
        die("the server refused", connection->reply);
    return true;
}

/* ---- all of them ---- */

static bool may_send(const struct load *load, int64_t now_us)
{
    return now_us < load->end_us && (load->request_max == 0 || load->sent < load->request_max) &&
           load->sent < REPLIES_MAX;
}

static void note_reply(struct load *load, struct connection *connection, int64_t now_us)
{
    connection->busy = false;
    load->times_us[load->answered++] = (uint32_t)(now_us - connection->due_us);
    if (load->rate <= 0 && may_send(load, now_us))
        send_next(load, connection, now_us);
}

/* Sends due requests on idle connections; others wait while their time runs. */
static void send_due(struct load *load, int64_t now_us)
{
    for (size_t i = 0; i < load->connection_count && load->next_due_us <= now_us; i++) {
        if (load->connections[i].busy)
            continue;
        send_next(load, &load->connections[i], load->next_due_us);
        load->next_due_us += (int64_t)(-log(1 - draw(load)) * 1e6 / load->rate);
        if (!may_send(load, load->next_due_us))
            load->next_due_us = INT64_MAX;
    }
}

static void wait_for_replies(struct load *load)
{
    for (size_t i = 0; i < load->connection_count; i++)
        load->polls[i].events =
            (short)(is_unsent(&load->connections[i]) ? POLLIN | POLLOUT : POLLIN);
    struct timespec wait = {1, 0};
    if (load->rate > 0 && load->next_due_us < INT64_MAX) {
        int64_t left_us = load->next_due_us - fp_clock_monotonic_us();
        left_us = left_us < 0 ? 0 : left_us;
        wait = (struct timespec){left_us / FP_US_PER_S, left_us % FP_US_PER_S * 1000};
    }
    if (ppoll(load->polls, load->connection_count, &wait, NULL) < 0 && errno != EINTR)
        die("poll", strerror(errno));
    for (size_t i = 0; i < load->connection_count; i++) {
        struct connection *connection = &load->connections[i];
        if (load->polls[i].revents & POLLOUT)
            send_more(connection);
        if (load->polls[i].revents & (POLLIN | POLLERR | POLLHUP) && receive_reply(connection))
            note_reply(load, connection, fp_clock_monotonic_us());
    }
}

static void run(struct load *load, double seconds)
{
    load->began_us = fp_clock_monotonic_us();
    load->next_due_us = load->began_us;
    load->end_us = load->began_us + (int64_t)(seconds * 1e6);
    for (size_t i = 0; load->rate <= 0 && i < load->connection_count; i++)
        if (may_send(load, load->began_us))
            send_next(load, &load->connections[i], load->began_us);
    while (load->answered < load->sent || (load->rate > 0 && load->next_due_us < INT64_MAX)) {
        if (load->rate > 0)
            send_due(load, fp_clock_monotonic_us());
        wait_for_replies(load);
    }
}

static int by_value(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void print_times(struct load *load)
{
    int64_t took_us = fp_clock_monotonic_us() - load->began_us;
    qsort(load->times_us, load->answered, sizeof(*load->times_us), by_value);
    const uint32_t *times = load->times_us;
    size_t count = load->answered;
    printf("{\"requests\":%zu,\"duration_us\":%lld,\"p50_us\":%u,\"p99_us\":%u,\"max_us\":%u}\n",
           count, (long long)took_us, times[count / 2], times[count * 99 / 100], times[count - 1]);
}

int main(int argc, char **argv)
{
    struct load load = {.random = 88172645463325252};
    if (argc != 7)
        die("usage", "load PORT BODIES CONNECTIONS SECONDS RATE COUNT");
    if (!bodies_open(argv[2], &load.bodies))
        return 1;
    load.connection_count = strtoul(argv[3], NULL, 10);
    load.rate = strtod(argv[5], NULL);
    load.request_max = strtoul(argv[6], NULL, 10);
    if (load.connection_count == 0 || load.connection_count > CONNECTIONS_MAX)
        die(argv[3], "connections, from 1 to 1024");
    load.connections = calloc(load.connection_count, sizeof(*load.connections));
    load.polls = calloc(load.connection_count, sizeof(*load.polls));
    load.times_us = calloc(REPLIES_MAX, sizeof(*load.times_us));
    if (load.connections == NULL || load.polls == NULL || load.times_us == NULL)
        die("start", "out of memory");
    for (size_t i = 0; i < load.connection_count; i++) {
        load.connections[i].fd = open_connection((unsigned)strtoul(argv[1], NULL, 10));
        load.polls[i].fd = load.connections[i].fd;
    }
    run(&load, strtod(argv[4], NULL));
    if (load.answered == 0)
        die("run", "no time for a single request");
    print_times(&load);
    return 0;
}
