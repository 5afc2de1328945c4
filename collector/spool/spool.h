/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spool: a durable queue of records in preallocated files, with group commit.
 *
 * Sequence numbers of records grow and never repeat in one spool; a refused or damaged record
 * leaves a gap. A *position* is the sequence number of the last record that is done; 0 means none.
 * The reader trims by position.
 *
 * Threads: fp_spool_append from any thread; one committer thread, owned by the spool; reading,
 * waiting and trimming from one reader thread. docs/internals/spool.md describes the bytes on disk.
 */
#ifndef FP_SPOOL_SPOOL_H
#define FP_SPOOL_SPOOL_H

#include "collector/base/base.h"
#include "collector/base/buf.h"
#include "collector/base/metrics.h"

enum fp_spool_error {
    FP_SPOOL_OK = 0,
    FP_SPOOL_FULL,     /* max_bytes is reached, or the disk is full or too slow: try later */
    FP_SPOOL_IO,       /* a write or sync failed: the record is not durable, try later */
    FP_SPOOL_STOPPING, /* the spool is closing */
    FP_SPOOL_TOO_LONG, /* the record is longer than a segment can ever hold */
    FP_SPOOL_LOCKED,   /* another process has this spool open */
    FP_SPOOL_NO_PATH,  /* the directory can't be made, opened or written */
    FP_SPOOL_MEMORY,
};

/* Returns the error as words for a log line. */
const char *fp_spool_error_text(enum fp_spool_error error);

struct fp_spool_settings {
    const char *path;       /* directory; made when absent (its parent must exist) */
    uint64_t max_bytes;     /* limit of all segment files together */
    uint64_t segment_bytes; /* size of one file, preallocated; at most half of max_bytes is used */
    int64_t keep_us;        /* how long a trimmed segment is kept, unless its room is needed */
};

struct fp_spool;

/*
 * Opens and recovers a spool: locks the directory, reads or draws its id, scans every segment, cuts
 * a torn tail, quarantines damaged ranges (`damaged-*` files), keeps the records after them and
 * files of unknown versions. Starts the committer. On failure *spool is NULL and `detail` (may be
 * NULL) gets a sentence.
 */
enum fp_spool_error fp_spool_open(const struct fp_spool_settings *settings,
                                  struct fp_metrics *metrics, struct fp_spool **spool,
                                  struct fp_buf *detail) FP_MUST_CHECK;

/* Returns the random id drawn when the directory was made, or renewed since. */
struct fp_uuid fp_spool_id(struct fp_spool *spool);

/*
 * Draws a new id, durably, for a spool that turned out to be an old copy. The reader's thread.
 * Sequence numbers continue; records already appended or read keep theirs.
 */
enum fp_spool_error fp_spool_renew_id(struct fp_spool *spool) FP_MUST_CHECK;

/* Called from the committer's thread, once per append, when the record is durable or has failed.
 * Must not block. */
typedef void fp_spool_done_fn(void *context, enum fp_spool_error result);

/*
 * Queues a copy of the record and returns at once. FP_SPOOL_OK: `done` will be called exactly once,
 * possibly before this returns. Anything else: nothing was queued, `done` will not be called.
 */
enum fp_spool_error fp_spool_append(struct fp_spool *spool, const void *record, size_t len,
                                    fp_spool_done_fn *done, void *context) FP_MUST_CHECK;

/* One record as read back. The bytes are valid until the next fp_spool_read or fp_spool_close. */
struct fp_spool_record {
    uint64_t sequence;
    const uint8_t *bytes;
    size_t len;
};

/* The result of one read: committed records after a position, oldest first. */
struct fp_spool_batch {
    struct fp_spool_record *records; /* owned by the spool */
    size_t count;
};

/*
 * Reads committed records with sequence > after, as many as fit in max_bytes and max_count, but at
 * least one if there is one. Quarantines and skips damaged bytes. FP_SPOOL_IO, FP_SPOOL_MEMORY:
 * nothing was read, the next call tries again.
 */
enum fp_spool_error fp_spool_read(struct fp_spool *spool, uint64_t after, size_t max_bytes,
                                  size_t max_count, struct fp_spool_batch *batch) FP_MUST_CHECK;

/*
 * Waits until a record after `after` is committed, the timeout expires, or fp_spool_wake is called.
 * True if there is such a record.
 */
bool fp_spool_wait(struct fp_spool *spool, uint64_t after, int64_t timeout_us);

/* Ends a wait early. Any thread. */
void fp_spool_wake(struct fp_spool *spool);

/*
 * Records up to `position` are in the database: releases segments that are wholly at or before it,
 * after keep_us, and writes the position to disk, at most once per second and when the spool is
 * closed. The position is a hint for the next start; the database is the authority. A position
 * before the last one changes nothing. FP_SPOOL_IO: the position was not written, which is logged;
 * the rest is done.
 */
enum fp_spool_error fp_spool_trim(struct fp_spool *spool, uint64_t position);

/*
 * Goes back to an earlier position, because the database has lost what came after it: records after
 * it are no longer done, and the segments that still have some are kept until they are trimmed
 * again. Returns how many records after the position are gone from the spool, at most: refused and
 * damaged ones are among them. The reader's thread.
 */
uint64_t fp_spool_rewind(struct fp_spool *spool, uint64_t position);

/* Returns the position of the last trim, by an earlier process if this one has not trimmed; 0 if
 * none. Any thread. */
uint64_t fp_spool_position(struct fp_spool *spool);

/* Returns the sequence number of the last committed record, 0 if none. Any thread. */
uint64_t fp_spool_tail(struct fp_spool *spool);

/* Returns the limit of all segment files together. Any thread. */
uint64_t fp_spool_max_bytes(const struct fp_spool *spool);

/* Sets the metric of the free space on the spool's file system. Any thread. */
void fp_spool_measure_disk(struct fp_spool *spool);

/* Returns NULL if an append would be accepted now, else why not, in words for /readyz. Any
 * thread. */
const char *fp_spool_trouble(struct fp_spool *spool);

/* How many group commits have ended, well or not. Any thread. */
int64_t fp_spool_commits(struct fp_spool *spool);

/* Returns the error that an append of a record of this length would have now, without appending.
 * Any thread. */
enum fp_spool_error fp_spool_check_record(struct fp_spool *spool, size_t len) FP_MUST_CHECK;

/* As fp_spool_trouble, and the error that an append would have. */
const char *fp_spool_check(struct fp_spool *spool, enum fp_spool_error *error);

/* Refuses appends from now on with FP_SPOOL_STOPPING. Queued ones are still committed. */
void fp_spool_stop_appends(struct fp_spool *spool);

/* Commits queued appends, ends the committer, unlocks and frees. NULL is fine. */
void fp_spool_close(struct fp_spool *spool);

/*
 * Writes a refused record's bytes to a file of its own in the spool's directory, for inspection,
 * and the reason (a sentence) to one next to it. FP_SPOOL_FULL: quarantined files have reached an
 * eighth of max_bytes. The reader's thread.
 */
enum fp_spool_error fp_spool_quarantine(struct fp_spool *spool,
                                        const struct fp_spool_record *record,
                                        const char *reason) FP_MUST_CHECK;

#endif
