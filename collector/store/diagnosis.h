/*
 * Diagnosis: derives the state of the database and a hint from a failure. Pure, except that it
 * looks up the system user's name.
 */
#ifndef FP_STORE_DIAGNOSIS_H
#define FP_STORE_DIAGNOSIS_H

#include "collector/base/buf.h"
#include "collector/store/store.h"

/* The facts about a failure. */
struct fp_failure {
    char sqlstate[6];     /* "": not reported by the server */
    bool is_role_missing; /* the server does not know the role */
    bool is_unlisted;     /* no line of pg_hba.conf matches the connection */
    bool lacks_password;  /* the server asks for one, and none is configured */
    bool is_local;        /* through a unix socket */
    char role[64];        /* the role we connected as */
    char database[64];
};

/*
 * Parses libpq's message about a failed connection attempt, written with PQERRORS_VERBOSE. Stores
 * the SQLSTATE and the other facts in *failure, and the sentence without its newline in `text`. A
 * message that does not come from a server stays as it is.
 */
void fp_failure_read(struct fp_failure *failure, const char *message, char *text, size_t text_size);

/* Returns the state of a database that fails like this. */
enum fp_database_state fp_failure_state(const struct fp_failure *failure);

/* Appends a hint, one sentence; nothing when the failure passes by itself. */
void fp_failure_hint(const struct fp_failure *failure, enum fp_database_state state,
                     struct fp_buf *hint);

#endif
