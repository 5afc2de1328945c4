/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader: a few connections to the database, which only read, shared by all requests.
 *
 * A request that finds all connections in use waits, within limits. While it waits or the database
 * works, its client is watched: when that goes away, its query is cancelled.
 */
#ifndef FP_CLI_SERVE_READER_H
#define FP_CLI_SERVE_READER_H

#include "cli/serve/trouble.h"

#include <libpq-fe.h>

struct fp_reader_settings {
    const char *conninfo; /* outlives the readers */
    unsigned connections; /* at most FP_READERS_MAX */
    unsigned waiting;     /* requests that may wait for a connection */
    unsigned statement_timeout_s;
    bool allow_writer; /* do not refuse a role that can write */
    int stop_fd;       /* readable once all must end; the caller's */
};
enum { FP_READERS_MAX = 16 };

struct fp_readers;

/* Connects to nothing yet. Returns NULL when out of memory or descriptors. Main thread. */
struct fp_readers *fp_readers_start(const struct fp_reader_settings *settings) FP_MUST_CHECK;

/* Closes all connections; none may be in use. NULL is fine. Main thread. */
void fp_readers_stop(struct fp_readers *readers);

/* A query, and who gets its rows. */
struct fp_reader_query {
    const char *statement;
    const char *const *values;
    int value_count;
    /* Takes the columns' names and types, and a row if it has one. False: no more rows, please. */
    bool (*take)(void *context, const PGresult *row);
    void *context;
    int client_fd; /* the query is cancelled when its peer goes away; -1: none */
};

enum fp_reader_result {
    FP_READER_FINE,
    FP_READER_TROUBLE, /* *trouble says why; rows may have been taken */
    FP_READER_GONE,    /* nobody waits for an answer any more */
};

/* Asks, in one read-only transaction. Any thread. */
enum fp_reader_result fp_readers_ask(struct fp_readers *readers,
                                     const struct fp_reader_query *query,
                                     struct fp_trouble *trouble) FP_MUST_CHECK;

/* Connects if need be, to find out what is wrong; keeps the connection. Any thread. */
enum fp_reader_result fp_readers_try(struct fp_readers *readers, int client_fd,
                                     struct fp_trouble *trouble) FP_MUST_CHECK;

#endif
