/*
 * Diagnosis: what a failure says about the database, and what would help. Pure but for the name of
 * the system's user.
 */
#ifndef FP_STORE_DIAGNOSIS_H
#define FP_STORE_DIAGNOSIS_H

#include "collector/base/buf.h"
#include "collector/store/store.h"

/* What is known of a failure. */
struct fp_failure {
    char sqlstate[6];     /* "": not the server said it */
    bool is_role_missing; /* the server knows no such role */
    bool is_unlisted;     /* no line of pg_hba.conf is about such a connection */
    bool lacks_password;  /* the server wants one, and there is none */
    bool is_local;        /* by a unix socket */
    char role[64];        /* as which we connected */
    char database[64];
};

/*
 * Takes libpq's message about a connection that was not made, with PQERRORS_VERBOSE, apart: the
 * SQLSTATE and what else the failure shows go into *failure, the sentence into `text`, without
 * newline. A message of no server is left as it is.
 */
void fp_failure_read(struct fp_failure *failure, const char *message, char *text, size_t text_size);

/* The state of a database that fails like this. */
enum fp_database_state fp_failure_state(const struct fp_failure *failure);

/* Appends what would help, a sentence; nothing when it passes by itself. */
void fp_failure_hint(const struct fp_failure *failure, enum fp_database_state state,
                     struct fp_buf *hint);

#endif
