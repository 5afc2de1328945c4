/*
 * Store: one connection to the database, through which rollups become rows, each exactly once.
 *
 * A flush is: dictionaries in a short transaction of their own, then one transaction that moves the
 * spool's position, claims the upload ids and adds the facts (docs/schema.md). A store belongs to
 * one thread.
 */
#ifndef FP_STORE_STORE_H
#define FP_STORE_STORE_H

#include "collector/base/base.h"
#include "collector/base/buf.h"
#include "collector/rollup/rollup.h"

/* How long the database keeps what, in microseconds. */
struct fp_retention {
    int64_t facts_us;      /* all numbers, and the dictionaries they need */
    int64_t upload_log_us; /* one row per upload */
    int64_t sessions_us;   /* kept sessions */
    int64_t upload_ids_us; /* how long a retried upload or load id is recognised */
};

enum fp_store_result {
    FP_STORE_OK = 0,
    FP_STORE_MOVED,   /* the spool's position is not where the flush starts: read it again */
    FP_STORE_DOWN,    /* no connection, it broke, or the server cannot now: whether a commit
                         happened is not known */
    FP_STORE_REFUSED, /* the database refuses some row as data (SQLSTATE class 22 or 23) */
    FP_STORE_TROUBLE, /* anything else, such as a missing table; see fp_store_message */
    FP_STORE_STOPPED, /* interrupted */
    FP_STORE_MEMORY,
};

/* What the latest try showed of the database. Each but the first three stays until somebody acts.
 */
enum fp_database_state {
    FP_DATABASE_CONNECTING, /* not tried yet */
    FP_DATABASE_REACHABLE,
    FP_DATABASE_UNREACHABLE,
    FP_DATABASE_AUTHENTICATION, /* the role is not let in */
    FP_DATABASE_NOT_MIGRATED,   /* role, database or schema is missing */
    FP_DATABASE_WRONG_RIGHTS,   /* the role may not do what is needed */
    FP_DATABASE_SCHEMA_OLDER,   /* than this collector; it may work all the same */
    FP_DATABASE_SCHEMA_NEWER,   /* the same */
    FP_DATABASE_READ_ONLY,
    FP_DATABASE_FAILING, /* anything else */
};

/* A state's name (a metric's label) and what it means, for /readyz. */
const char *fp_database_state_name(enum fp_database_state state);
const char *fp_database_state_text(enum fp_database_state state);

struct fp_store_settings {
    const char *database; /* libpq connection string; must outlive the store */
    struct fp_retention retention;
    int interrupt_fd; /* once readable, whatever is going on ends with FP_STORE_STOPPED; -1: none */
};

struct fp_store;

/* Makes a store without a connection; NULL when out of memory. The caller closes it. */
struct fp_store *fp_store_create(const struct fp_store_settings *settings) FP_MUST_CHECK;

/* From now on rows are kept for so long. */
void fp_store_set_retention(struct fp_store *store, const struct fp_retention *retention);

/* Drops the connection, if any, and frees. What was not committed did not happen. */
void fp_store_close(struct fp_store *store);

/* Connects, if not connected, and prepares the session. OK, DOWN, TROUBLE or STOPPED. */
enum fp_store_result fp_store_connect(struct fp_store *store) FP_MUST_CHECK;

/* Whether there is a connection. */
bool fp_store_connected(const struct fp_store *store);

/* What the last failure was: one sentence of the server's or libpq's, without any row's content. */
const char *fp_store_message(const struct fp_store *store);

/* The state after a failure, and what would help (a sentence, "" when it passes by itself). */
enum fp_database_state fp_store_failure(const struct fp_store *store);
void fp_store_hint(const struct fp_store *store, struct fp_buf *hint);

/* Holds the database's schema against this program's, as fp_store_connect does: the result is the
 * state while all goes well. */
enum fp_store_result fp_store_check_schema(struct fp_store *store) FP_MUST_CHECK;

/* The state while all goes well: reachable, or with an older or newer schema. */
enum fp_database_state fp_store_state(const struct fp_store *store);

/* The position of a spool as the database knows it; a spool it does not know gets 0. */
enum fp_store_result fp_store_read_position(struct fp_store *store, const struct fp_uuid *spool_id,
                                            uint64_t *position) FP_MUST_CHECK;

/* The database's clock and, by it, the limits for a rollup's buckets. */
enum fp_store_result fp_store_read_clock(struct fp_store *store,
                                         struct fp_rollup_clock *clock) FP_MUST_CHECK;

/* Ids of the dictionary rows that were written today, and need not be again: a rollup's `known`.
 * Lives as long as the store. */
const struct fp_map *fp_store_touched(const struct fp_store *store);

/*
 * The first half of a flush: writes the rollup's dictionaries and makes the partitions it needs,
 * then begins the transaction, moves the spool's position from `start` to `end` and claims the
 * upload ids. Uploads that were counted before are marked in the rollup as known; when there are
 * some (*known > 0) the caller counts the rollup again without them. Anything but OK: rolled back.
 */
struct fp_store_window {
    struct fp_uuid spool_id;
    uint64_t start; /* position before and after */
    uint64_t end;
};
enum fp_store_result fp_store_claim(struct fp_store *store, const struct fp_store_window *window,
                                    struct fp_rollup *rollup, size_t *known) FP_MUST_CHECK;

/*
 * The second half: claims the load ids, adds the facts and commits. *rows gets the number of fact
 * rows. DOWN: the commit may have happened; the position tells. Anything but OK: rolled back.
 */
enum fp_store_result fp_store_commit(struct fp_store *store, struct fp_rollup *rollup,
                                     size_t *rows) FP_MUST_CHECK;

/* Gives up after a good claim: rolls back. */
void fp_store_abandon(struct fp_store *store);

struct fp_store_session_ids {
    const struct fp_uuid *ids;
    size_t count;
};

/*
 * Says which long sessions run whose parts come through a spool, and that no others do: one that
 * did until now, and each that is `stopped`, counts as running until the spool's position in the
 * database has come to `tail`. `position`: all up to there is done with. What is said holds for
 * `told_for_us`, and so does what was said before of those whose end has not come yet.
 */
struct fp_store_sessions {
    struct fp_uuid spool_id;
    uint64_t position;
    uint64_t tail;
    struct fp_store_session_ids running;
    struct fp_store_session_ids stopped; /* none of `running`; may be known, or named twice */
    int64_t told_for_us;
};
enum fp_store_result fp_store_tell_sessions(struct fp_store *store,
                                            const struct fp_store_sessions *sessions) FP_MUST_CHECK;

/*
 * Makes the partitions of today and the next two days, drops those past retention, prunes upload
 * and load ids and, once a day, dictionary rows that nothing refers to. Does nothing when another
 * collector is at it.
 */
enum fp_store_result fp_store_housekeep(struct fp_store *store) FP_MUST_CHECK;

#endif
