/*
 * Connection: libpq without blocking calls, so that a stop or a silent server never holds the
 * writer. Belongs to one thread.
 *
 * Whatever fails leaves its reason in `message` and says what kind of failure it is; after
 * FP_STORE_DOWN, FP_STORE_TROUBLE and FP_STORE_STOPPED the connection is closed already, after
 * FP_STORE_REFUSED it stands, in a failed transaction if one was open.
 */
#ifndef FP_STORE_CONNECTION_H
#define FP_STORE_CONNECTION_H

#include "collector/store/diagnosis.h"
#include "collector/store/store.h"

#include <libpq-fe.h>

struct fp_connection {
    PGconn *pg; /* owned; NULL while not connected */
    int interrupt_fd;
    char message[512];
    struct fp_failure failure; /* the last one */
};

/* Makes it ready to be opened. interrupt_fd as in fp_store_settings. */
void fp_connection_init(struct fp_connection *connection, int interrupt_fd);

/* Connects; conninfo may override all our defaults but the client encoding. */
enum fp_store_result fp_connection_open(struct fp_connection *connection,
                                        const char *conninfo) FP_MUST_CHECK;

void fp_connection_close(struct fp_connection *connection);

/* Runs statements without parameters and forgets their results. */
enum fp_store_result fp_connection_run(struct fp_connection *connection,
                                       const char *statements) FP_MUST_CHECK;

/* One statement with parameters in text form. */
struct fp_query {
    const char *statement;
    const char *const *values;
    int value_count;
    bool binary; /* form of the result */
};

/* Runs it; on FP_STORE_OK the caller clears *result. */
enum fp_store_result fp_connection_query(struct fp_connection *connection,
                                         const struct fp_query *query,
                                         PGresult **result) FP_MUST_CHECK;

/* Begins `copy … from stdin`; then any number of puts; then the end. */
enum fp_store_result fp_connection_copy(struct fp_connection *connection,
                                        const char *statement) FP_MUST_CHECK;
enum fp_store_result fp_connection_put(struct fp_connection *connection, const void *bytes,
                                       size_t len) FP_MUST_CHECK;
enum fp_store_result fp_connection_copy_end(struct fp_connection *connection) FP_MUST_CHECK;

/* Rolls back what is open; closes the connection when that fails. */
void fp_connection_rollback(struct fp_connection *connection);

#endif
