/* SPDX-License-Identifier: Apache-2.0 */
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
    FP_SAMPLE_MAX = 64 * 1024,
    /* Fewer records save no time: a transaction has a cost of its own. Only windows that ran out of
     * time, or were refused, are followed by smaller ones. */
    FP_WINDOW_RECORDS_MIN = 256,
};

/* The costs of flushes: sums over the latest ones, older ones weigh less (pace.c). */
struct fp_writer_costs {
    double weight;
    double records;
    double us;
    double records_squared;
    double records_us;
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
    uint64_t database_position;
    bool position_known;     /* `database_position` is up to date */
    bool is_own_spool;       /* not an old copy, or it has drawn a new id */
    bool has_new_id;         /* it has, and the database knows nothing of that */
    bool has_committed;      /* uploads were counted since the first refused window */
    bool sessions_told;      /* the database knows the sessions below */
    unsigned same_flushes;   /* slow ones in a row that were full and had one size */
    uint64_t doubted_end;    /* the new position of a commit whose result is unknown; 0: none */
    uint64_t position;       /* all records up to this one are finished */
    uint64_t counted;        /* all records up to this one were in the database */
    uint64_t recount_until;  /* records up to this one are counted again; 0: none */
    uint64_t aside_sequence; /* unreadable records up to this one are quarantined */
    uint64_t skip_sequence;  /* the database refused this record, and it is quarantined; 0: none */
    size_t window_records;   /* maximum for the next window */
    struct fp_writer_costs costs;
    size_t slow_records; /* of the last window, if it was slow; 0: it was not */
    size_t too_large;    /* a window of this size ran out of time; 0: none lately */

    /* The state that refusal.c decides by. */
    uint64_t refused_end;       /* the end of the first refused window; not beyond position: none */
    unsigned too_large_flushes; /* until too_large is forgotten */
    unsigned refused_in_a_row;  /* records set aside since uploads were counted */
    uint64_t witness_sequence;  /* the last record that a rehearsal would have counted */
    struct fp_buf sample;       /* a record of the window; empty: they are large */
    struct fp_buf committed;    /* the same of the last window that was committed */

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
    unsigned cuts;                /* see fp_store_was_cut */
    int64_t failing_us;           /* monotonic: the first failed try */
    int64_t logged_us;            /* monotonic: the last log line about them */
};

/*
 * Flushes one window: reads the committed records after the position, merges and writes them, moves
 * the position and trims the spool. A record that the database refuses as data is quarantined once
 * it is alone in its window and others are taken (refusal.c). Any result except FP_STORE_OK:
 * nothing was counted; after FP_STORE_DOWN, possibly all of it.
 */
enum fp_store_result fp_writer_flush(struct fp_writer *writer) FP_MUST_CHECK;

/* Quarantines a record that will never be counted: moves it to a file of its own. False: it
 * stays. */
bool fp_writer_set_aside(struct fp_writer *writer, const struct fp_spool_record *record,
                         const char *reason, const char *detail) FP_MUST_CHECK;

/* Quarantines the record at the head of the spool; the next window skips it. */
enum fp_store_result fp_writer_set_head_aside(struct fp_writer *writer,
                                              const char *detail) FP_MUST_CHECK;

/*
 * Decides on the record at the head of the spool, which the database refused alone. FP_STORE_OK: it
 * is quarantined, since the database takes others. FP_STORE_TROUBLE: it is not known to take any.
 */
enum fp_store_result fp_writer_settle_refused(struct fp_writer *writer) FP_MUST_CHECK;

/* Note a window up to `end` that was refused, and one that was committed. */
void fp_writer_note_refused(struct fp_writer *writer, uint64_t end);
void fp_writer_note_committed(struct fp_writer *writer, size_t counted);

/* Keeps a copy of a record of the window, if it is small. */
void fp_writer_keep_sample(struct fp_writer *writer, const struct fp_spool_record *record);

/* Chooses the size of the next window: after a flush of so many records, or after one that failed
 * for its size. */
void fp_writer_adapt_window(struct fp_writer *writer, size_t records, int64_t took_us);
void fp_writer_shrink_window(struct fp_writer *writer, size_t records);

/* Shrinks the window after so many records ran out of the statement's time, and keeps the next
 * ones below that size. */
void fp_writer_note_timeout(struct fp_writer *writer, size_t records);

/* Sends the list of running long sessions to the database, unless it is up to date. window: what is
 * about to be written; NULL: nothing. */
enum fp_store_result fp_writer_tell_sessions(struct fp_writer *writer,
                                             const struct fp_rollup *window) FP_MUST_CHECK;

/* Trims all finished records off the spool. */
void fp_writer_trim(struct fp_writer *writer);

#endif
