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

struct fp_pg {
    PGconn *pg; /* owned; NULL while not connected */
    uint64_t number; /* of the connection: each has another */
    int interrupt_fd;
    char *row; /* owned by libpq; the last row of fp_pg_get */
    char message[512];
    struct fp_failure failure; /* the last failure */
};

/* Initialises a connection without opening it. interrupt_fd is the same as in fp_store_settings. */
void fp_pg_init(struct fp_pg *connection, int interrupt_fd);

/* Connects. conninfo may override all our defaults except the client encoding. */
enum fp_store_result fp_pg_open(struct fp_pg *connection, const char *conninfo) FP_MUST_CHECK;

void fp_pg_close(struct fp_pg *connection);

/* Runs statements without parameters and discards their results. */
enum fp_store_result fp_pg_run(struct fp_pg *connection, const char *statements) FP_MUST_CHECK;

/* One statement with parameters in text form. */
struct fp_pg_query {
    const char *statement;
    const char *const *values;
    int value_count;
    bool binary; /* of the result */
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
