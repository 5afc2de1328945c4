/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer: the only path from the spool to the database. Its thread takes the committed records of
 * the spool, merges them and writes them to the database, for as long as the collector runs.
 *
 * Self-clocking: the next flush starts when the last one has ended and min_window has passed since
 * the last one began; while many records arrive, it waits up to half of max_window for more.
 * Everything that arrived meanwhile is its window. So windows grow with the load, and the cost per
 * upload falls. The writer retries a database that is down with back-off;
 * the spool absorbs the uploads.
 */
#ifndef FP_WRITER_WRITER_H
#define FP_WRITER_WRITER_H

#include "collector/base/base.h"
#include "collector/base/metrics.h"
#include "collector/spool/spool.h"
#include "collector/store/store.h"
#include "collector/writer/status.h"

/* The settings that may change while the writer runs. */
struct fp_writer_pace {
    int64_t min_window_us;         /* from the start of one flush to the start of the next */
    int64_t max_window_us;         /* a flush that takes longer makes the next window smaller, and a
                                      window of a busy collector waits up to half as long */
    struct fp_retention retention; /* how long the database keeps each kind of row */
};

#define FP_WRITER_SESSIONS_MAX 1024

/* Writes the ids of the running long sessions and returns their number. Any thread. */
typedef size_t fp_writer_list_sessions_fn(void *sessions,
                                          struct fp_uuid ids[FP_WRITER_SESSIONS_MAX]);

/* Exchanges with the database what its collectors share. Called often, on the writer's thread, with
 * a connected store and the spool's id; says what came of it, as the store's functions do. */
typedef enum fp_store_result fp_writer_share_fn(void *shared, struct fp_store *store,
                                                const struct fp_uuid *spool_id);

/* Called after each flush: notes how many entries of facts it appended, and the oldest hour that
 * got some (its start, epoch). On the writer's thread; does not wait. */
typedef void fp_writer_note_flush_fn(void *sealer, size_t entries, int64_t oldest_us);

struct fp_writer_settings {
    const char *database; /* libpq connection string; copied */
    struct fp_writer_pace pace;
    int64_t stop_timeout_us;                   /* time limit of fp_writer_stop's last flush */
    fp_writer_list_sessions_fn *list_sessions; /* NULL: there are none */
    void *sessions;                            /* its argument; outlives the writer */
    fp_writer_share_fn *share;                 /* NULL: nothing is shared */
    void *shared;                              /* its argument; outlives the writer */
    fp_writer_note_flush_fn *note_flush;       /* NULL: none */
    void *sealer;                              /* its argument; outlives the writer */
    struct fp_database_status *status;         /* outlives the writer; may be NULL */
};

struct fp_writer;

/*
 * Starts the thread; the database may be unreachable. Call it before the first append to the spool
 * (its end at that moment shows whether the spool is an old copy) and from one thread. The spool
 * and metrics must outlive the writer, which is from now on the spool's only reader. Returns NULL
 * when memory, descriptors or threads run out. The caller stops it.
 */
struct fp_writer *fp_writer_start(const struct fp_writer_settings *settings, struct fp_spool *spool,
                                  struct fp_metrics *metrics) FP_MUST_CHECK;

/* Sets a new pace, which also applies to a window that is waiting. Any thread. */
void fp_writer_reload(struct fp_writer *writer, const struct fp_writer_pace *pace);

/*
 * Tries to flush the rest of the spool, for at most stop_timeout_us, then ends the thread and frees
 * the writer. Unflushed records stay in the spool. Call it after the last append is committed and
 * before fp_spool_close. NULL is fine.
 */
void fp_writer_stop(struct fp_writer *writer);

#endif
