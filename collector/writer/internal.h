/*
 * Writer, inside: its state, the flush of one window (writer_flush.c) and the word on long sessions
 * (writer_sessions.c), which the loop (writer.c) calls again and again. All of it belongs to the
 * writer's thread, but for what is marked otherwise.
 */
#ifndef FP_WRITER_INTERNAL_H
#define FP_WRITER_INTERNAL_H

#include "collector/rollup/rollup.h"
#include "collector/writer/metrics.h"
#include "collector/writer/writer.h"

#include <pthread.h>

enum {
    /* A window: the larger, the fewer rows an upload costs. These keep the collector within its
     * 96 MiB; only a single upload that is larger by itself may take more. */
    FP_WINDOW_BYTES = 40 * 1024 * 1024,
    FP_UPLOAD_MAX_BYTES = 256 * 1024 * 1024,
    FP_READ_BYTES = 1024 * 1024,
};

struct fp_writer {
    struct fp_writer_settings settings;
    char *database; /* owned, as is all below but spool and metrics */
    struct fp_spool *spool;
    struct fp_metric_set *metrics;
    struct fp_store *store;
    struct fp_rollup rollup;
    struct fp_arena arena; /* of the record that is being added */
    pthread_t thread;

    _Atomic bool stopping;
    int stop_fd;      /* readable once stopping: ends pauses */
    int interrupt_fd; /* readable once the last flush has had its time */
    int done_fd;      /* readable once the thread is at its end */
    int reload_fd;    /* readable once another pace is wanted: ends pauses */

    pthread_mutex_t lock; /* of wanted alone */
    struct fp_writer_pace wanted;

    uint64_t first_tail; /* the spool's end when the writer started */
    bool is_own_spool;   /* not an old copy, or a new id was drawn */
    bool position_known; /* `database_position` is up to date */
    uint64_t database_position;
    uint64_t doubted_end;    /* where a commit moves it whose answer is not known; 0: none */
    uint64_t position;       /* all up to this record is done with */
    uint64_t aside_sequence; /* unreadable records up to this one are set aside */
    uint64_t skip_sequence;  /* this record was refused by the database and set aside; 0: none */
    size_t window_records;   /* at most so many in the next window */

    bool sessions_told;                          /* the database knows what follows */
    struct fp_uuid told[FP_WRITER_SESSIONS_MAX]; /* long sessions that run */
    size_t told_count;
    int64_t told_us; /* monotonic */

    int64_t flush_began_us;  /* monotonic */
    int64_t housekeeping_us; /* monotonic: when it is next due */
    int64_t backoff_us;
    uint64_t oldest_after; /* the position for which oldest_us holds */
    int64_t oldest_us;     /* when the oldest waiting upload was received; 0: not known */

    enum fp_database_state state; /* as it is shown */
    uint64_t tries;               /* that failed since the last one that went well */
    int64_t failing_us;           /* monotonic: the first of them */
    int64_t logged_us;            /* monotonic: the last line about them */
};

/*
 * Flushes one window: reads what is committed after the position, merges it, writes it, moves the
 * position and trims the spool. A record that the database refuses as data is set aside once it is
 * alone in its window. Anything but FP_STORE_OK: nothing was counted, or, after FP_STORE_DOWN,
 * perhaps all of it.
 */
enum fp_store_result fp_writer_flush(struct fp_writer *writer) FP_MUST_CHECK;

/* Tells the database which long sessions run, unless it knows. window: what is about to be written;
 * NULL: nothing. */
enum fp_store_result fp_writer_tell_sessions(struct fp_writer *writer,
                                             const struct fp_rollup *window) FP_MUST_CHECK;

/* Lets the spool go of all that is done with. */
void fp_writer_trim(struct fp_writer *writer);

#endif
