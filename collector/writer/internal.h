/*
 * Writer internals: its state, the flush of one window (flush.c) and the reports on long sessions
 * (sessions.c). The loop (writer.c) calls both repeatedly. All of it belongs to the writer's
 * thread, except what is marked otherwise.
 */
#ifndef FP_WRITER_INTERNAL_H
#define FP_WRITER_INTERNAL_H

#include "collector/rollup/rollup.h"
#include "collector/writer/metrics.h"
#include "collector/writer/writer.h"

#include <pthread.h>

enum {
    /* Limits of a window. The larger the window, the fewer rows per upload. These limits keep the
     * collector within its 96 MiB; only a single upload that is larger by itself may exceed
     * them. */
    FP_WINDOW_BYTES = 36 * 1024 * 1024,
    FP_UPLOAD_MAX_BYTES = 256 * 1024 * 1024,
    FP_READ_BYTES = 1024 * 1024,
};

struct fp_writer {
    struct fp_writer_settings settings;
    char *database; /* owned, as is everything below except spool and metrics */
    struct fp_spool *spool;
    struct fp_metric_set *metrics;
    struct fp_store *store;
    struct fp_rollup rollup;
    struct fp_arena arena; /* memory of the record that is being added */
    pthread_t thread;

    _Atomic bool stopping;
    int stop_fd;      /* readable once stopping: ends pauses */
    int interrupt_fd; /* readable once the last flush has run out of time */
    int done_fd;      /* readable once the thread has ended */
    int reload_fd;    /* readable once a new pace is set: ends pauses */

    pthread_mutex_t lock; /* protects only `wanted` */
    struct fp_writer_pace wanted;

    uint64_t first_tail; /* the spool's end when the writer started */
    bool is_own_spool;   /* not an old copy, or it has drawn a new id */
    bool position_known; /* `database_position` is up to date */
    uint64_t database_position;
    uint64_t doubted_end;    /* the new position of a commit whose result is unknown; 0: none */
    uint64_t position;       /* all records up to this one are finished */
    uint64_t aside_sequence; /* unreadable records up to this one are quarantined */
    uint64_t skip_sequence;  /* the database refused this record, and it is quarantined; 0: none */
    size_t window_records;   /* maximum for the next window */

    bool sessions_told;                          /* the database knows the sessions below */
    struct fp_uuid told[FP_WRITER_SESSIONS_MAX]; /* running long sessions */
    size_t told_count;
    int64_t told_us; /* monotonic */

    int64_t flush_began_us; /* monotonic */
    uint64_t flush_tail;    /* the spool's end when the last flush began */
    int64_t backoff_us;
    uint64_t oldest_after; /* the position for which oldest_us holds */
    int64_t oldest_us;     /* when the oldest waiting upload was received; 0: unknown */

    enum fp_database_state state; /* as published */
    uint64_t tries;               /* failed tries since the last success */
    int64_t failing_us;           /* monotonic: the first failed try */
    int64_t logged_us;            /* monotonic: the last log line about them */
};

/*
 * Flushes one window: reads the committed records after the position, merges and writes them, moves
 * the position and trims the spool. A record that the database refuses as data is quarantined once
 * it is alone in its window. Any result except FP_STORE_OK: nothing was counted; after
 * FP_STORE_DOWN, possibly all of it.
 */
enum fp_store_result fp_writer_flush(struct fp_writer *writer) FP_MUST_CHECK;

/* Sends the list of running long sessions to the database, unless it is up to date. window: what is
 * about to be written; NULL: nothing. */
enum fp_store_result fp_writer_tell_sessions(struct fp_writer *writer,
                                             const struct fp_rollup *window) FP_MUST_CHECK;

/* Trims all finished records off the spool. */
void fp_writer_trim(struct fp_writer *writer);

#endif
