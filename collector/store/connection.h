/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection: libpq without blocking calls, so that a stop or a silent server never blocks the
 * writer. Belongs to one thread.
 *
 * Every failure leaves its reason in `message` and returns its kind. After FP_STORE_DOWN,
 * FP_STORE_TROUBLE and FP_STORE_STOPPED the connection is closed already. After FP_STORE_REFUSED it
 * stays open, in a failed transaction if one was open.
 */
#ifndef FP_STORE_CONNECTION_H
#define FP_STORE_CONNECTION_H

#include "collector/store/diagnosis.h"
#include "collector/store/store.h"

#include <libpq-fe.h>

enum { FP_PG_STATEMENT_TIMEOUT_S = 60 };

struct fp_pg {
    PGconn *pg;      /* owned; NULL while not connected */
    uint64_t number; /* of the connection: each has another */
    int interrupt_fd;
    int statement_timeout_s; /* of the session; a server that is silent for longer is given up */
    int64_t end_us;          /* of all waits, a time of the monotonic clock; 0: none */
    char *row;               /* owned by libpq; the last row of fp_pg_get */
    char message[1024];
    struct fp_failure failure; /* the last failure */
};

/* Initialises a connection without opening it. interrupt_fd is the same as in fp_store_settings. */
void fp_pg_init(struct fp_pg *connection, int interrupt_fd);

/* Connects, within the limits of dial.h. conninfo may override all our defaults except the client
 * encoding. */
enum fp_store_result fp_pg_open(struct fp_pg *connection, const char *conninfo) FP_MUST_CHECK;

void fp_pg_close(struct fp_pg *connection);

/* Closes the connection if the server or a pooler has ended it between two transactions, and notes
 * why. Returns whether it did. */
bool fp_pg_drop_cut(struct fp_pg *connection);

/* Runs statements without parameters and discards their results. */
enum fp_store_result fp_pg_run(struct fp_pg *connection, const char *statements) FP_MUST_CHECK;

/* The same, but on FP_STORE_OK the caller gets the result of the last one and clears it. */
enum fp_store_result fp_pg_ask(struct fp_pg *connection, const char *statements,
                               PGresult **last) FP_MUST_CHECK;

/* One statement with parameters. */
struct fp_pg_query {
    const char *statement;
    const char *const *values;
    int value_count;
    const int *lengths; /* of values in binary form; NULL: all values are texts */
    const int *formats; /* of each value: 1 binary, 0 text; NULL with lengths */
    bool binary;        /* of the result */
};

/* Runs a statement; on FP_STORE_OK the caller clears *result. */
enum fp_store_result fp_pg_query(struct fp_pg *connection, const struct fp_pg_query *query,
                                 PGresult **result) FP_MUST_CHECK;

/* Begins `copy … from stdin`; any number of puts and one end follow. */
enum fp_store_result fp_pg_copy(struct fp_pg *connection, const char *statement) FP_MUST_CHECK;
enum fp_store_result fp_pg_put(struct fp_pg *connection, const void *bytes,
                               size_t len) FP_MUST_CHECK;
enum fp_store_result fp_pg_copy_end(struct fp_pg *connection) FP_MUST_CHECK;

/*
 * Begins `copy … to stdout`. Then call fp_pg_get until it sets *row to NULL; the caller who stops
 * before that closes the connection. A row is valid until the next call. In binary form the first
 * row follows the header, and the last one is the trailer.
 */
enum fp_store_result fp_pg_copy_out(struct fp_pg *connection, const char *statement) FP_MUST_CHECK;
enum fp_store_result fp_pg_get(struct fp_pg *connection, const uint8_t **row,
                               size_t *len) FP_MUST_CHECK;

/* Closes the connection because what the database holds contradicts itself, and notes how. Returns
 * FP_STORE_TROUBLE. */
enum fp_store_result fp_pg_reject(struct fp_pg *connection, const char *format, ...)
    FP_PRINTF(2, 3);

/* Rolls back the open transaction; closes the connection when that fails. */
void fp_pg_rollback(struct fp_pg *connection);

#endif
