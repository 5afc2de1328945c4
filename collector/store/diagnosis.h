/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnosis: derives the state of the database and a hint from a failure. Pure, except that it
 * looks up the system user's name.
 */
#ifndef FP_STORE_DIAGNOSIS_H
#define FP_STORE_DIAGNOSIS_H

#include "collector/base/buf.h"
#include "collector/store/store.h"

#include <libpq-fe.h>

#define FP_NAME_MAX 64 /* of PostgreSQL, with the NUL */

/* Where the server says that a statement failed. "": it does not say. */
struct fp_failure_place {
    char schema[FP_NAME_MAX];
    char table[FP_NAME_MAX];
    char column[FP_NAME_MAX];
    char constraint[FP_NAME_MAX]; /* or index */
    char type[FP_NAME_MAX];
    char context[1024]; /* the functions; it may quote rows, so nothing prints it */
};

/* The facts about a failure. */
struct fp_failure {
    char sqlstate[6];         /* "": not reported by the server */
    bool is_refusal;          /* of a row, as data */
    bool is_role_missing;     /* the server does not know the role */
    bool is_unlisted;         /* no line of pg_hba.conf matches the connection */
    bool lacks_password;      /* the server asks for one, and none is configured */
    bool is_read_only;        /* target_session_attrs asks for a primary, and the server is none */
    bool is_statement_pooler; /* a pooler in statement mode: it has no transactions */
    bool is_local;            /* through a unix socket */
    char role[64];            /* the role we connected as */
    char database[64];
    struct fp_failure_place place;
    bool is_examined; /* for the culprit */
    struct fp_culprit culprit;
};

/* Begins the record of a failure: as whom the connection was made, and where. connection: open or
 * failed. */
void fp_failure_begin(struct fp_failure *failure, const PGconn *connection);

/*
 * Parses libpq's message about a failed connection attempt, written with PQERRORS_VERBOSE. Stores
 * the SQLSTATE and the other facts in *failure, and the sentence without its newline in `text`. A
 * message that does not come from a server stays as it is.
 */
void fp_failure_read(struct fp_failure *failure, const char *message, char *text, size_t text_size);

/* True if a message is that of a pooler in statement mode, which refuses transactions. */
bool fp_failure_is_statement_pooler(const char *message);

/* The remedy for such a pooler, one sentence. */
extern const char fp_failure_pooler_hint[];

/* Returns the state of a database that fails like this. */
enum fp_database_state fp_failure_state(const struct fp_failure *failure);

/* Appends a hint, one sentence; nothing when the failure passes by itself. */
void fp_failure_hint(const struct fp_failure *failure, enum fp_database_state state,
                     struct fp_buf *hint);

#endif
