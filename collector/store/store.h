/*
 * Store: one connection to the database, which writes each rollup as rows exactly once.
 *
 * A flush writes the dictionaries in a short transaction of their own. A second transaction moves
 * the spool's position, claims the upload ids and appends the facts (docs/schema.md). A store
 * belongs to one thread.
 */
#ifndef FP_STORE_STORE_H
#define FP_STORE_STORE_H

#include "collector/base/base.h"
#include "collector/base/buf.h"
#include "collector/rollup/rollup.h"

/* How long the database keeps each kind of row, in microseconds. */
struct fp_retention {
    int64_t facts_us;      /* all numbers, and the dictionary rows they need */
    int64_t hours_us;      /* numbers by the hour; at most facts_us counts */
    int64_t upload_log_us; /* one row per upload */
    int64_t sessions_us;   /* kept sessions */
    int64_t upload_ids_us; /* how long a retried upload or load id is recognised as a repeat */
};

enum fp_store_result {
    FP_STORE_OK = 0,
    FP_STORE_MOVED,   /* the spool's position differs from the flush's start: read it again */
    FP_STORE_DOWN,    /* not connected, or the server cannot now; a commit may have happened */
    FP_STORE_REFUSED, /* the database refuses a row as data (SQLSTATE class 22 or 23) */
    FP_STORE_TROUBLE, /* any other failure, such as a missing table; see fp_store_message */
    FP_STORE_STOPPED, /* interrupted */
    FP_STORE_MEMORY,
};

/* The state of the database at the latest try. States after the first three last until somebody
 * acts. */
enum fp_database_state {
    FP_DATABASE_CONNECTING, /* not tried yet */
    FP_DATABASE_REACHABLE,
    FP_DATABASE_UNREACHABLE,
    FP_DATABASE_AUTHENTICATION, /* the server refuses the role */
    FP_DATABASE_NOT_MIGRATED,   /* role, database or schema is missing */
    FP_DATABASE_WRONG_RIGHTS,   /* the role lacks a privilege */
    FP_DATABASE_SCHEMA_OLDER,   /* than this collector; it may still work */
    FP_DATABASE_SCHEMA_NEWER,   /* the same */
    FP_DATABASE_READ_ONLY,
    FP_DATABASE_FAILING, /* anything else */
};

/* Return a state's name (a metric's label) and its explanation for /readyz. */
const char *fp_database_state_name(enum fp_database_state state);
const char *fp_database_state_text(enum fp_database_state state);

struct fp_store_settings {
    const char *database; /* libpq connection string; must outlive the store */
    struct fp_retention retention;
    bool flushes;     /* the session is made ready for flushes */
    int interrupt_fd; /* once readable, every call ends with FP_STORE_STOPPED; -1: none */
};

struct fp_store;

/* Makes a store without a connection. Returns NULL when out of memory. The caller closes it. */
struct fp_store *fp_store_create(const struct fp_store_settings *settings) FP_MUST_CHECK;

/* Changes how long rows are kept, from now on. */
void fp_store_set_retention(struct fp_store *store, const struct fp_retention *retention);

/* Changes what housekeeping writes of sites (fp_config_print_sites); NULL: nothing.
 * The text must outlive the store, or the next call. */
void fp_store_set_sites(struct fp_store *store, const char *sites);

/* Closes the connection, if any, and frees the store. Uncommitted work is lost. */
void fp_store_close(struct fp_store *store);

/* Connects if needed and prepares the session. Returns OK, DOWN, TROUBLE or STOPPED. */
enum fp_store_result fp_store_connect(struct fp_store *store) FP_MUST_CHECK;

/* True if connected. */
bool fp_store_connected(const struct fp_store *store);

/* Returns the last failure: one sentence from the server or libpq, without any row's content. */
const char *fp_store_message(const struct fp_store *store);

/* Return the state after a failure, and append a hint: one sentence, "" when it passes by
 * itself. */
enum fp_database_state fp_store_failure(const struct fp_store *store);
void fp_store_hint(const struct fp_store *store, struct fp_buf *hint);

/* Compares the database's schema with this program's, as fp_store_connect does. The result is the
 * state while nothing fails. */
enum fp_store_result fp_store_check_schema(struct fp_store *store) FP_MUST_CHECK;

/* Returns the state while nothing fails: reachable, or with an older or newer schema. */
enum fp_database_state fp_store_state(const struct fp_store *store);

/* Reads the position of a spool as the database knows it. Inserts an unknown spool with position
 * 0. */
enum fp_store_result fp_store_read_position(struct fp_store *store, const struct fp_uuid *spool_id,
                                            uint64_t *position) FP_MUST_CHECK;

/* Reads the database's clock and derives the limits for a rollup's buckets from it. */
enum fp_store_result fp_store_read_clock(struct fp_store *store,
                                         struct fp_rollup_clock *clock) FP_MUST_CHECK;

/* Returns the ids of the dictionary rows that were already written today and need no second write:
 * a rollup's `known`. Lives as long as the store. */
const struct fp_map *fp_store_touched(const struct fp_store *store);

/*
 * First half of a flush. Writes the rollup's dictionaries and makes the partitions it needs. Then
 * begins the transaction, moves the spool's position from `start` to `end` and claims the upload
 * ids. Marks uploads that were counted before as known in the rollup. If *known > 0, the caller
 * counts the rollup again without them. Any result except OK: rolled back.
 */
struct fp_store_window {
    struct fp_uuid spool_id;
    uint64_t start; /* position before and after; equal if the database's is at or beyond the end */
    uint64_t end;
};
enum fp_store_result fp_store_claim(struct fp_store *store, const struct fp_store_window *window,
                                    struct fp_rollup *rollup, size_t *known) FP_MUST_CHECK;

/*
 * Second half of a flush. Claims the load ids, appends the facts and commits. *entries gets the
 * number of entries of facts. After DOWN the commit may have happened; the position shows it. Any
 * result except OK: rolled back.
 */
enum fp_store_result fp_store_commit(struct fp_store *store, struct fp_rollup *rollup,
                                     size_t *entries) FP_MUST_CHECK;

/* Rolls back after a successful claim. */
void fp_store_abandon(struct fp_store *store);

struct fp_store_session_ids {
    const struct fp_uuid *ids;
    size_t count;
};

/*
 * Replaces the set of running long sessions of this spool. A session that left the set, or is in
 * `stopped`, counts as running until the spool's position in the database reaches `tail`. All
 * records up to `position` are finished. The set is valid for `told_for_us`; that also extends
 * earlier entries of sessions whose end is not reached yet.
 */
struct fp_store_sessions {
    struct fp_uuid spool_id;
    uint64_t position;
    uint64_t tail;
    struct fp_store_session_ids running;
    struct fp_store_session_ids stopped; /* none of `running`; may be known or repeated */
    int64_t told_for_us;
};
enum fp_store_result fp_store_tell_sessions(struct fp_store *store,
                                            const struct fp_store_sessions *sessions) FP_MUST_CHECK;

/* The store's connection, for what this header has no function for (connection.h). */
struct fp_pg *fp_store_connection(struct fp_store *store);

/* Closes the connection; fp_store_connect opens it again. */
void fp_store_disconnect(struct fp_store *store);

/* Makes the partitions for the UTC day that contains a moment, unless they are known to exist. */
enum fp_store_result fp_store_make_day(struct fp_store *store, int64_t moment_us) FP_MUST_CHECK;

/* What housekeeping did. */
struct fp_store_chores {
    size_t partitions_made;
    size_t partitions_dropped;
    size_t rows_pruned;
};

/*
 * Makes the partitions of today and the next two days and drops those past retention. Writes the
 * names of sites' scripts and domains if they changed. Prunes upload
 * and load ids and, once per day, unreferenced dictionary rows. The caller sees to it that nobody
 * seals or keeps house meanwhile (sealing.h). *chores counts, also after a failure, what was done.
 */
enum fp_store_result fp_store_housekeep(struct fp_store *store,
                                        struct fp_store_chores *chores) FP_MUST_CHECK;

#endif
