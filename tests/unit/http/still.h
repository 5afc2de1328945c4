/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Still: the public listener's own code without a socket to listen on or a thread, for tests that
 * give it a connection and run it turn by turn.
 */
#ifndef FP_TESTS_HTTP_STILL_H
#define FP_TESTS_HTTP_STILL_H

#include "collector/http/http.c"

#include <sys/un.h>
#include <unistd.h>

static inline struct MHD_Daemon *still_start(struct fp_http *http)
{
    return MHD_start_daemon(MHD_USE_NO_LISTEN_SOCKET | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0,
                            NULL, NULL, fp_request_handle, http, MHD_OPTION_NOTIFY_COMPLETED,
                            fp_request_completed, http, MHD_OPTION_NOTIFY_CONNECTION,
                            count_connection, http, MHD_OPTION_URI_LOG_CALLBACK,
                            fp_strict_read_target, NULL, MHD_OPTION_END);
}

/* Returns the client's end of a new connection on which exactly these bytes were sent; -1 if the
 * listener had no memory for it. */
static inline int still_connect(struct MHD_Daemon *daemon, const void *bytes, size_t len)
{
    const struct sockaddr_un nobody = {.sun_family = AF_UNIX};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    bool sent = send(pair[0], bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
    shutdown(pair[0], SHUT_WR);
    /* It closes its end if it cannot take it. */
    if (sent &&
        MHD_add_connection(daemon, pair[1], (const void *)&nobody, sizeof(nobody)) == MHD_YES)
        return pair[0];
    close(pair[0]);
    return -1;
}

/* Reads what has arrived, up to max, and adds its length to *len. False if the listener has closed
 * the connection. */
static inline bool still_receive(int client, char *replies, size_t max, size_t *len)
{
    ssize_t got = recv(client, replies + *len, max - *len, MSG_DONTWAIT);
    if (got > 0)
        *len += (size_t)got;
    return got != 0;
}

#endif
