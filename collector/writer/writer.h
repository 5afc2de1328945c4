/*
 * Writer: the one way out. A thread that takes what is committed in the spool, merges it and writes
 * it to the database, for as long as the collector runs.
 *
 * Self-clocking: the next flush starts when the last has ended and min_window has passed since that
 * one began; what came meanwhile is its window. So windows grow with the load and the cost of an
 * upload falls. A database that is down is tried again with back-off; the spool absorbs.
 */
#ifndef FP_WRITER_WRITER_H
#define FP_WRITER_WRITER_H

#include "collector/base/base.h"
#include "collector/base/metrics.h"
#include "collector/spool/spool.h"
#include "collector/store/store.h"

/* What may change while the writer runs. */
struct fp_writer_pace {
    int64_t min_window_us;         /* from the start of one flush to the start of the next */
    int64_t max_window_us;         /* a flush that takes longer makes the next window smaller */
    struct fp_retention retention; /* how long what is kept in the database */
};

#define FP_WRITER_SESSIONS_MAX 1024

/* How the database does; the writer keeps it up to date, any thread may read it. */
struct fp_database_status {
    _Atomic enum fp_database_state state;
    _Atomic int64_t failing_since_us; /* epoch; 0: flushes work */
};

/* Writes the ids of the long sessions that run and returns how many they are. Any thread. */
typedef size_t fp_writer_list_sessions_fn(void *sessions,
                                          struct fp_uuid ids[FP_WRITER_SESSIONS_MAX]);

struct fp_writer_settings {
    const char *database; /* libpq connection string; copied */
    struct fp_writer_pace pace;
    int64_t stop_timeout_us; /* how long fp_writer_stop may try to flush what is left */
    fp_writer_list_sessions_fn *list_sessions; /* NULL: there are none */
    void *sessions;                            /* what it is called with; outlives the writer */
    struct fp_database_status *status;         /* outlives the writer; NULL: nobody asks */
};

struct fp_writer;

/*
 * Starts the thread; the database need not be there. To be called before the first append to the
 * spool (the spool's end as it is now tells whether the spool is an old copy) and from one thread;
 * spool and metrics must outlive the writer, which is from now on the spool's only reader. NULL
 * when memory, descriptors or threads run out. The caller stops it.
 */
struct fp_writer *fp_writer_start(const struct fp_writer_settings *settings, struct fp_spool *spool,
                                  struct fp_metrics *metrics) FP_MUST_CHECK;

/* Gives it another pace, from now on; a window that waits is held to it too. Any thread. */
void fp_writer_reload(struct fp_writer *writer, const struct fp_writer_pace *pace);

/*
 * Tries to flush what the spool holds, for at most stop_timeout_us, ends the thread and frees. What
 * was not flushed stays in the spool. Call it after the last append is committed and before
 * fp_spool_close. NULL is fine.
 */
void fp_writer_stop(struct fp_writer *writer);

#endif
