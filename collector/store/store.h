/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store: one connection to the database, which writes each rollup as rows exactly once.
 *
 * A flush writes the dictionaries in a short transaction of their own. A second transaction moves
 * the spool's position, claims the upload ids and appends the facts (docs/internals/schema.md). A
 * store belongs to one thread.
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
    FP_STORE_CUT,     /* the server ended the session, which was idle: nothing was done */
    FP_STORE_DOWN,    /* not connected, or the server cannot now; a commit may have happened */
    FP_STORE_REFUSED, /* the database refuses a row as data (SQLSTATE class 22 or 23) */
    FP_STORE_TROUBLE, /* any other failure, such as a missing table; see fp_store_message */
    FP_STORE_BUSY,    /* another collector seals or keeps house; see fp_store_begin_turn */
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
    FP_DATABASE_REFUSING, /* it refuses good uploads: its tables were changed */
    FP_DATABASE_FAILING,  /* anything else */
};

/* Return a state's name (a metric's label) and its explanation for /readyz. */
const char *fp_database_state_name(enum fp_database_state state);
const char *fp_database_state_text(enum fp_database_state state);

struct fp_store_settings {
    const char *database; /* libpq connection string; must outlive the store */
    struct fp_retention retention;
    int interrupt_fd; /* once readable, every call ends with FP_STORE_STOPPED; -1: none */
    int64_t end_us;   /* when to give up, a time of the monotonic clock; 0: never */
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

/* Connects if needed. Returns OK, DOWN, TROUBLE or STOPPED. */
enum fp_store_result fp_store_connect(struct fp_store *store) FP_MUST_CHECK;

/* Closes the connection if the server or a pooler closed it while it was idle. */
void fp_store_drop_cut(struct fp_store *store);

/* True if connected. */
bool fp_store_connected(const struct fp_store *store);

/* Returns the last failure: one sentence from the server or libpq, without any row's content. */
const char *fp_store_message(const struct fp_store *store);

/* Return the state after a failure, and append a hint: one sentence, "" when it passes by
 * itself. */
enum fp_database_state fp_store_failure(const struct fp_store *store);
void fp_store_hint(const struct fp_store *store, struct fp_buf *hint);

/* The object of the schema that made the database refuse uploads. SQL's names; "": unknown. */
struct fp_culprit {
    char object[160]; /* such as: constraint house */
    char place[160];  /* the table or domain that it belongs to */
    char remedy[480]; /* a statement that ends the refusals; "": none is known */
    bool is_certain;  /* no record is at fault; else it is only suspected */
};

/*
 * Finds what of the schema made the last call end with FP_STORE_REFUSED or FP_STORE_TROUBLE, and
 * was not made by fleetprof. From then on hint, failure and culprit heed it. Call it outside a
 * transaction. Without a connection it opens one for itself. Returns the look's own result; the
 * last failure stays the same.
 */
enum fp_store_result fp_store_find_culprit(struct fp_store *store) FP_MUST_CHECK;

/* Returns what was found for the last failure. */
const struct fp_culprit *fp_store_culprit(const struct fp_store *store);

/* About the last failure: a value was refused (SQLSTATE class 22); a statement took too long; the
 * server had too little memory. */
bool fp_store_blames_value(const struct fp_store *store);
bool fp_store_timed_out(const struct fp_store *store);
bool fp_store_lacked_memory(const struct fp_store *store);

/* Compares the database's schema with this program's, as fp_store_connect does. The result is the
 * state while nothing fails. */
enum fp_store_result fp_store_check_schema(struct fp_store *store) FP_MUST_CHECK;

/* Returns the state while nothing fails: reachable, or with an older or newer schema. */
enum fp_database_state fp_store_state(const struct fp_store *store);

/* Reads the position of a spool as the database knows it. Inserts an unknown spool with position
 * 0. */
enum fp_store_result fp_store_read_position(struct fp_store *store, const struct fp_uuid *spool_id,
                                            uint64_t *position) FP_MUST_CHECK;

/* Reads the database's clock, chooses the clock to believe (clock.c), and derives the limits for a
 * rollup's buckets from it. */
enum fp_store_result fp_store_read_clock(struct fp_store *store,
                                         struct fp_rollup_clock *clock) FP_MUST_CHECK;

/* Reads the database's own clock, right or wrong: microseconds since 1970. */
enum fp_store_result fp_store_read_database_clock(struct fp_store *store,
                                                  int64_t *now_us) FP_MUST_CHECK;

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

/*
 * Does what the two halves of a flush do, the dictionaries included, and rolls back. FP_STORE_OK:
 * the database would have committed it. Changes the rollup as they do.
 */
enum fp_store_result fp_store_rehearse(struct fp_store *store, const struct fp_store_window *window,
                                       struct fp_rollup *rollup, size_t *known) FP_MUST_CHECK;

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

/* Returns the secret that all collectors of the database share. `secret` proposes one, which the
 * database takes if it has none, and gets the database's. */
#define FP_STORE_SECRET_LEN 16
enum fp_store_result fp_store_share_secret(struct fp_store *store,
                                           uint8_t secret[FP_STORE_SECRET_LEN]) FP_MUST_CHECK;

/* The bytes that a site has kept whole in an hour, by the database. */
struct fp_store_kept {
    struct fp_str site;
    uint64_t own; /* by this spool's collector */
    uint64_t others;
};

/*
 * Notes what this spool's collector has kept in an hour (its start, epoch), a JSON object of bytes
 * by site, and calls learn for each site of which any collector has kept something. The name's
 * memory is the call's.
 */
struct fp_store_kept_exchange {
    struct fp_uuid spool_id;
    int64_t hour_us;
    const char *kept;
    void (*learn)(void *context, const struct fp_store_kept *site);
    void *context;
};
enum fp_store_result
fp_store_share_kept(struct fp_store *store,
                    const struct fp_store_kept_exchange *exchange) FP_MUST_CHECK;

/*
 * Begins a transaction with the settings that the store relies on. They end with it: a pooler may
 * run the next transaction in another session, and give this one to somebody else. fp_store_end
 * commits; after any failure roll back (fp_store_abandon). FP_STORE_CUT: the server has ended the
 * session since it was last used, as idle_session_timeout does.
 */
enum fp_store_result fp_store_begin(struct fp_store *store) FP_MUST_CHECK;

/* Whether to try again at once: the session was cut, and not many times in a row. *cuts counts
 * them. */
bool fp_store_was_cut(enum fp_store_result result, unsigned *cuts);

enum fp_store_result fp_store_end(struct fp_store *store) FP_MUST_CHECK;

/*
 * Begins a transaction as fp_store_begin does, in which no other collector seals or keeps house.
 * *is_kept: none has since this store's last turn either. While another has its turn: waits for it,
 * up to the lock time-out, or returns FP_STORE_BUSY, without a transaction.
 */
enum fp_store_result fp_store_begin_turn(struct fp_store *store, bool waits,
                                         bool *is_kept) FP_MUST_CHECK;

/* The store's connection, for what this header has no function for (connection.h). */
struct fp_pg *fp_store_connection(struct fp_store *store);

/* Closes the connection; fp_store_connect opens it again. */
void fp_store_disconnect(struct fp_store *store);

/* Makes the partitions for the UTC day that contains a moment, unless they are known to exist. */
enum fp_store_result fp_store_make_day(struct fp_store *store, int64_t moment_us) FP_MUST_CHECK;

/* Why housekeeping destroys nothing: fleetprof_data.judge_clock. */
enum fp_retention_refusal {
    FP_RETENTION_WORKS = 0,
    FP_RETENTION_CLOCKS_DIFFER, /* those of database and collector */
    FP_RETENTION_CLOCK_AHEAD,   /* both, of what was trusted last */
    FP_RETENTION_CLOCK_BEHIND,
};
#define FP_RETENTION_REFUSAL_NAMES {"", "clocks_differ", "clock_ahead", "clock_behind"}

/* The work that housekeeping did. */
struct fp_store_chores {
    size_t partitions_made;
    size_t partitions_dropped;
    size_t rows_pruned;
    enum fp_retention_refusal refusal;
    bool has_more;       /* it dropped as many partitions as one run may, and some are left */
    int64_t database_us; /* what the witnesses said, as epoch */
    int64_t collector_us;
    int64_t trusted_us; /* 0: never */
};

/*
 * Makes the partitions of today and the next two days. Writes the names of sites' scripts and
 * domains if they changed. If the clocks are trusted, drops partitions past retention, at most a
 * certain number, and logs each; when none is left, prunes upload
 * and load ids and, once per day, unreferenced dictionary rows. Each transaction waits for its
 * turn. *chores counts, also after a failure, what was done.
 */
enum fp_store_result fp_store_housekeep(struct fp_store *store,
                                        struct fp_store_chores *chores) FP_MUST_CHECK;

#endif
