/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dial: connects to the first server of a connection string that answers and is of the kind asked
 * for. All programs connect through it.
 *
 * libpq's PQconnectPoll has no time limit: a host that accepts and says nothing, or that drops what
 * it is sent, would hold it without end, with another host beside it. So each address of each host
 * gets an attempt of its own, with its own limit: connect_timeout of the connection string, of
 * its service or of PGCONNECT_TIMEOUT; FP_DIAL_TIMEOUT_S when that is not given, 0 or negative,
 * which libpq takes for no limit.
 *
 * Everything else is as libpq has it: lists of hosts, addresses and ports, target_session_attrs,
 * load_balance_hosts, services and environment. A server that refuses the role, the password or the
 * database ends the search.
 */
#ifndef FP_STORE_DIAL_H
#define FP_STORE_DIAL_H

#include "collector/store/diagnosis.h"

#include <libpq-fe.h>

enum { FP_DIAL_TIMEOUT_S = 3 };

struct fp_dial_settings {
    /* As for PQconnectdbParams; the value of dbname is expanded. At most FP_DIAL_OPTIONS_MAX, then
     * NULL. They need not outlive fp_dial_begin. */
    const char *const *names;
    const char *const *values;
    int64_t end_us; /* monotonic: divided among what is left to try; INT64_MAX: no limit in all */
};
enum { FP_DIAL_OPTIONS_MAX = 16 };

struct fp_dial;

/* Reads the connection string and connects to nothing yet. NULL: out of memory. The caller calls
 * fp_dial_end. */
struct fp_dial *fp_dial_begin(const struct fp_dial_settings *settings) FP_MUST_CHECK;

enum fp_dial_result {
    FP_DIAL_OPEN,   /* fp_dial_take returns the connection */
    FP_DIAL_WAITS,  /* for the socket */
    FP_DIAL_FAILED, /* fp_dial_message says why */
};

/* The event to wait for before the next step. */
struct fp_dial_wait {
    int fd;
    short events;     /* for poll(2) */
    int64_t until_us; /* monotonic */
};

/* Goes on without waiting, except for the resolver of names. */
enum fp_dial_result fp_dial_step(struct fp_dial *dial, struct fp_dial_wait *wait) FP_MUST_CHECK;

/* Steps and waits until the end. Returns the open connection, which is the caller's; NULL: it
 * failed. */
PGconn *fp_dial_finish(struct fp_dial *dial) FP_MUST_CHECK;

/* Returns the open connection, which is the caller's from now on. */
PGconn *fp_dial_take(struct fp_dial *dial) FP_MUST_CHECK;

/* Returns the errors of the attempts: one line per attempt, as libpq words it, without a newline
 * at the end. */
const char *fp_dial_message(const struct fp_dial *dial);

/* The failure that says most: what a server replied, else the last one. */
const struct fp_failure *fp_dial_failure(const struct fp_dial *dial);

/* Returns whether no attempt failed for another reason than its time limit. */
bool fp_dial_was_silent(const struct fp_dial *dial);

/* Closes what was not taken, and frees. NULL is fine. */
void fp_dial_end(struct fp_dial *dial);

/* Does all of the above. On failure returns NULL, and the message, cut to the size; it is "out of
 * memory" then as well. */
PGconn *fp_dial_connect(const struct fp_dial_settings *settings, char *message,
                        size_t size) FP_MUST_CHECK;

#endif
