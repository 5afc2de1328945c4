/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the spool: its state, and which thread may touch which part.
 */
#ifndef FP_SPOOL_INTERNAL_H
#define FP_SPOOL_INTERNAL_H

#include "collector/spool/aside.h"
#include "collector/spool/file_ops.h"
#include "collector/spool/metrics.h"
#include "collector/spool/scan.h"
#include "collector/spool/spool.h"
#include "collector/spool/table.h"

#include <pthread.h>

/* A queued append, with its frame: the payload is in place, the header is filled in at the
 * commit. */
struct fp_spool_append {
    struct fp_spool_append *next;
    fp_spool_done_fn *done;
    void *context;
    size_t payload_len;
    size_t frame_len;
    uint8_t frame[];
};

/* Appends in the order of arrival. */
struct fp_spool_queue {
    struct fp_spool_append *first;
    struct fp_spool_append *last;
};

/* Why appends are refused for now. */
struct fp_spool_blocked {
    enum fp_spool_error error; /* FP_SPOOL_OK: they are not */
    const char *reason;        /* in words */
    int64_t retry_at_us;       /* when the committer tries again, on the monotonic clock */
};

/* Records written by one system call. */
#define FP_COMMIT_PARTS 1024

/* The committer's own: the segment that it appends to. */
struct fp_spool_active {
    int file;             /* -1: none */
    uint64_t number;      /* of the segment, also after it was closed; 0: there was none yet */
    struct fp_uuid id;    /* of the segment */
    uint64_t end;         /* where its committed records end */
    bool has_refused;     /* after them the file may contain refused records */
    uint64_t next_number; /* of the next file */
    struct iovec parts[FP_COMMIT_PARTS];
};

/* A place in the spool to which the reader can return. */
struct fp_spool_read_point {
    uint64_t number; /* of the segment, 0: none */
    uint64_t offset;
    uint64_t sequence; /* of the record before it */
};

/* The reader's own. */
struct fp_spool_reader {
    int file;                        /* open segment, -1: none */
    uint64_t number;                 /* of it */
    struct fp_spool_scan scan;       /* over it */
    struct fp_spool_read_point last; /* where the last batch began, to read it again */
    uint64_t empty_after;            /* a read after this record found none ... */
    uint64_t empty_until;            /* ... up to this one, so a wait for them would be useless */
    struct fp_buf bytes;             /* of the last batch */
    struct fp_spool_record *records;
    size_t record_cap;
    bool state_due;           /* the state file is not up to date */
    bool state_failed;        /* at the last attempt, which is logged once */
    int64_t state_written_us; /* time of the last attempt, on the monotonic clock */
};

struct fp_spool {
    /* Set when the spool is opened. */
    const struct fp_file_ops *ops;
    struct fp_metric_set *metrics;
    int dir;
    uint64_t max_bytes;
    uint64_t segment_bytes;
    int64_t keep_us;
    pthread_t committer;

    /* Under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t work;       /* for the committer: something to do */
    pthread_cond_t tail_moved; /* for the reader: a commit, or a wake */
    struct fp_spool_queue queue;
    size_t queued_bytes; /* frames in the queue and in the commit under way */
    struct fp_uuid id;
    struct fp_spool_table table;
    uint64_t tail;
    uint64_t next_sequence;
    uint64_t position;
    struct fp_spool_blocked blocked;
    bool room_back;     /* a trim may have made room: try again now */
    bool stopping;      /* no more appends */
    bool closing;       /* end the committer when the queue is empty */
    bool reader_awoken; /* fp_spool_wake was called */

    struct fp_spool_active active; /* the committer's; recovery's before it starts */
    struct fp_spool_reader reader; /* the reader's; recovery's before it */
    struct fp_spool_aside aside;   /* the same */
};

/* Does the same as fp_spool_open, but with the given file operations. For tests. */
enum fp_spool_error fp_spool_open_on(const struct fp_file_ops *ops,
                                     const struct fp_spool_settings *settings,
                                     struct fp_metrics *metrics, struct fp_spool **spool,
                                     struct fp_buf *detail) FP_MUST_CHECK;

/*
 * Reads what an earlier process left: sets id, table, tail, next sequence and position. Damage
 * never makes it fail. Called before any thread is started.
 */
enum fp_spool_error fp_spool_recover(struct fp_spool *spool) FP_MUST_CHECK;

/*
 * Makes a segment to append to. False: there is none, and `blocked` says why, which is all that
 * most callers need. Called with no segment open, by the committer or before it runs.
 */
bool fp_spool_committer_open_segment(struct fp_spool *spool);

/* Runs the committer: commits queued appends until `closing` is set. context: the spool. */
void *fp_spool_committer_run(void *context);

/* True if there is a record after `after` to read. Under the lock, the reader's thread. */
bool fp_spool_reader_has_more(struct fp_spool *spool, uint64_t after) FP_MUST_CHECK;

/* Closes the reader's file and frees its memory. */
void fp_spool_reader_release(struct fp_spool *spool);

/* Sets the metric of committed records that are not trimmed. Under the lock, after either end has
 * moved. */
void fp_spool_note_backlog(struct fp_spool *spool);

#endif
