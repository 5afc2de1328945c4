/*
 * What the files of the spool share: the spool itself and who may touch which part of it.
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

/* An append on its way: its frame stands behind it, the payload in place. */
struct fp_spool_append {
    struct fp_spool_append *next;
    fp_spool_done_fn *done;
    void *context;
    size_t payload_len;
    size_t frame_len;
    uint8_t frame[];
};

/* Appends in the order in which they came. */
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
    bool has_refused;     /* behind them the disk may hold what was refused */
    uint64_t next_number; /* of the next file */
    struct iovec parts[FP_COMMIT_PARTS];
};

/* A place in the spool to which the reader may come back. */
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
    struct fp_spool_read_point last; /* where the last batch began, to give it again */
    uint64_t empty_after;            /* a read after this record found none ... */
    uint64_t empty_until;            /* ... up to this one, so a wait for them would be in vain */
    struct fp_buf bytes;             /* of the last batch */
    struct fp_spool_record *records;
    size_t record_cap;
    bool state_due;           /* the state file lags behind */
    int64_t state_written_us; /* when it was tried last, on the monotonic clock */
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

/* As fp_spool_open, on other file operations than the system's. For tests. */
enum fp_spool_error fp_spool_open_on(const struct fp_file_ops *ops,
                                     const struct fp_spool_settings *settings,
                                     struct fp_metrics *metrics, struct fp_spool **spool,
                                     struct fp_buf *detail) FP_MUST_CHECK;

/*
 * Reads what an earlier process left: fills in id, table, tail, next sequence and position. Damage
 * never makes it fail. Before any thread is started.
 */
enum fp_spool_error fp_spool_recover(struct fp_spool *spool) FP_MUST_CHECK;

/*
 * Makes a segment to append to. False: there is none, and `blocked` says why, which is all that
 * most callers need. Called with no segment open, by the committer or before it runs.
 */
bool fp_spool_committer_open_segment(struct fp_spool *spool);

/* The body of the committer's thread, for a spool: commits what is queued until `closing` is set.
 */
void *fp_spool_committer_run(void *context);

/* Writes the state file now. Open, the reader's thread, or close. */
enum fp_spool_error fp_spool_write_state(struct fp_spool *spool) FP_MUST_CHECK;

/* Whether a record after `after` is there to be read. Under the lock, the reader's thread. */
bool fp_spool_reader_has_more(struct fp_spool *spool, uint64_t after) FP_MUST_CHECK;

/* Closes the reader's file and frees its memory. */
void fp_spool_reader_release(struct fp_spool *spool);

/* Shows how many committed records are not trimmed. Under the lock, after either end has moved. */
void fp_spool_note_backlog(struct fp_spool *spool);

#endif
