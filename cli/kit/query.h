/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Query: one SQL statement with its parameters, and the connection to ask it on.
 *
 * The user's text goes into parameters, never into the statement. One thread.
 */
#ifndef FP_CLI_KIT_QUERY_H
#define FP_CLI_KIT_QUERY_H

#include "cli/kit/grid.h"
#include "collector/base/buf.h"
#include "collector/config/config.h"

#include <argp.h>
#include <libpq-fe.h>

enum { FP_SQL_LIST_MAX = 10 };

/* -d and -c. */
struct fp_database_options {
    const char *conninfo;    /* NULL when not given */
    const char *config_file; /* NULL when not given */
};

/* Reads -d/--database and -c/--config into a struct fp_database_options. */
extern const struct argp fp_database_argp;

/*
 * Returns the connection string of -d, else of -c, else of $FLEETPROF_DATABASE, else of the usual
 * configuration file; NULL when none names a database. config: the loaded file of -c or the usual
 * one, may be NULL. The string belongs to the options, the environment or the configuration.
 */
const char *fp_database_given(const struct fp_database_options *options,
                              const struct fp_config *config) FP_MUST_CHECK;

/* Loads the configuration where it is needed and returns a copy of what fp_database_given finds.
 * Prints an error and returns NULL when there is none. The caller frees it. */
char *fp_database_choose(const struct fp_database_options *options) FP_MUST_CHECK;

/* Connects, within the limits of store/dial.h and, if it is not INT64_MAX, until a time of the
 * monotonic clock. On failure returns NULL, and why. The caller calls PQfinish. */
PGconn *fp_database_begin(const char *conninfo, int64_t end_us, char *why,
                          size_t size) FP_MUST_CHECK;
enum { FP_DATABASE_WHY_MAX = 2048 };

/* Connects. Prints an error and returns NULL on failure. The caller calls PQfinish. */
PGconn *fp_database_connect(const char *conninfo) FP_MUST_CHECK;

/* Connects to the chosen database, as fp_database_connect. */
PGconn *fp_database_open(const struct fp_database_options *options) FP_MUST_CHECK;

/* Room for each filter and what it leaves out, of two questions in one statement, and what else a
 * command gives. */
#define FP_SQL_MAX_VALUES 80

struct fp_sql_query {
    struct fp_buf text;
    const char *values[FP_SQL_MAX_VALUES];
    int value_count;
};

/* Starts a statement; fp_sql_release frees it. */
void fp_sql_init(struct fp_sql_query *query, const char *text);
void fp_sql_release(struct fp_sql_query *query);

/* Appends SQL text, which never comes from the user. */
void fp_sql_add(struct fp_sql_query *query, const char *text);

/* Appends a parameter's number and cast ("$3::text") and keeps the value, which must outlive the
 * query. At most FP_SQL_MAX_VALUES. */
void fp_sql_value(struct fp_sql_query *query, const char *type, const char *value);

/* Begins a transaction by a statement such as "begin". False: it cannot; libpq has the message. */
bool fp_sql_begin(PGconn *connection, const char *begin) FP_MUST_CHECK;

/* Sends the statement, in a transaction of its own unless one is open, and returns the answer,
 * whatever it is. The caller calls PQclear. */
PGresult *fp_sql_ask(PGconn *connection, struct fp_sql_query *query) FP_MUST_CHECK;

/* As fp_sql_ask, but gives up at a time of the monotonic clock: NULL then, and when the server
 * does not take the statement; do not use the connection any more. */
PGresult *fp_sql_ask_until(PGconn *connection, struct fp_sql_query *query,
                           int64_t end_us) FP_MUST_CHECK;

/* Prints why an answer has failed: the server's message, detail and hint, or libpq's message. */
void fp_sql_complain(const PGconn *connection, const PGresult *result);

/*
 * Sends the statement and waits for all of its rows. Prints the server's error and returns NULL on
 * failure. The caller calls PQclear.
 */
PGresult *fp_sql_run(PGconn *connection, struct fp_sql_query *query) FP_MUST_CHECK;

/* Runs a statement without rows, such as begin. Prints the server's error and returns false on
 * failure. */
bool fp_sql_command(PGconn *connection, const char *statement) FP_MUST_CHECK;

/* Adds all rows of the answer to a grid, without the first columns. */
void fp_sql_fill(const PGresult *answer, int first_column, struct fp_grid *grid);

/* Makes a list of the answer's first column, "a, b, c", of at most FP_SQL_LIST_MAX values; an empty
 * text is shown as '' (none). The caller calls fp_buf_release. */
void fp_sql_list(const PGresult *answer, struct fp_buf *list);

/* Asks whether the value of the first column that a word is nearly was meant, if there is one. */
void fp_sql_hint_at_nearest(const PGresult *answer, const char *word);

/*
 * Sends the statement and hands each row to take_row as it arrives, so that a large answer needs
 * little memory. Prints the server's error and returns false on failure.
 */
bool fp_sql_stream(PGconn *connection, struct fp_sql_query *query,
                   void (*take_row)(void *context, const PGresult *row),
                   void *context) FP_MUST_CHECK;

#endif
