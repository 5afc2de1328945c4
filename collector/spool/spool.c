/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spool: opens, appends, waits, trims and closes, as spool.h promises.
 *
 * committer.c writes the bytes, reader.c reads them back and recover.c does so at the start.
 */
#include "collector/spool/spool.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/base/uuid.h"
#include "collector/spool/internal.h"
#include "collector/spool/segment.h"
#include "collector/spool/state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <time.h>

/* Limit of the frames that wait for the disk. A single longer record may wait alone. */
#define QUEUE_MAX_BYTES ((size_t)32 * 1024 * 1024)

/* A segment smaller than this would be mostly header. */
#define SEGMENT_MIN_BYTES ((uint64_t)2 * FP_SPOOL_SEGMENT_HEADER_LEN)

/* Practically unlimited, and far below overflow. */
#define KEEP_MAX_US (INT64_MAX / 4)

/* Quarantined files may take this part of max_bytes, on top of it. */
#define ASIDE_PART 8

/* The state file is a hint: written often enough for a quick start, rarely enough to cost
 * nothing. */
#define STATE_INTERVAL_US FP_US_PER_S

static void lock(struct fp_spool *spool)
{
    pthread_mutex_lock(&spool->lock);
}

static void unlock(struct fp_spool *spool)
{
    pthread_mutex_unlock(&spool->lock);
}

/* Opening */

static bool init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool made = pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

static bool init_locking(struct fp_spool *spool)
{
    if (pthread_mutex_init(&spool->lock, NULL) != 0)
        return false;
    if (init_condition(&spool->work)) {
        if (init_condition(&spool->tail_moved))
            return true;
        pthread_cond_destroy(&spool->work);
    }
    pthread_mutex_destroy(&spool->lock);
    return false;
}

static const struct fp_metric metrics_table[] = {FP_SPOOL_METRICS(FP_METRIC_ROW)};
static enum fp_spool_error write_state(struct fp_spool *spool) FP_MUST_CHECK;

const struct fp_metric_table fp_spool_metrics = {metrics_table, FP_SPOOL_METRIC_COUNT, NULL};

/* Allocates a spool without files; NULL when out of memory. */
static struct fp_spool *make_spool(const struct fp_file_ops *ops,
                                   const struct fp_spool_settings *settings,
                                   struct fp_metrics *registry)
{
    struct fp_metric_set *metrics = fp_metrics_join(registry, &fp_spool_metrics);
    struct fp_spool *spool = metrics != NULL ? calloc(1, sizeof(*spool)) : NULL;
    if (spool == NULL)
        return NULL;
    if (!init_locking(spool)) {
        free(spool);
        return NULL;
    }
    spool->ops = ops;
    spool->metrics = metrics;
    spool->dir = -1;
    spool->max_bytes = settings->max_bytes;
    spool->segment_bytes = settings->segment_bytes;
    /* Two must fit: a new one is made before the last one may go. */
    if (spool->segment_bytes > spool->max_bytes / 2)
        spool->segment_bytes = spool->max_bytes / 2;
    if (spool->segment_bytes < SEGMENT_MIN_BYTES)
        spool->segment_bytes = SEGMENT_MIN_BYTES;
    spool->keep_us = settings->keep_us < KEEP_MAX_US ? settings->keep_us : KEEP_MAX_US;
    spool->active.file = -1;
    spool->reader.file = -1;
    spool->reader.scan.ops = ops;
    spool->aside = (struct fp_spool_aside){
        .ops = ops, .metrics = metrics, .max_bytes = settings->max_bytes / ASIDE_PART};
    fp_metrics_set(metrics, FP_METRIC_SPOOL_MAX_BYTES, (int64_t)settings->max_bytes);
    return spool;
}

/* Frees a spool, opened or not. The committer must have ended. */
static void free_spool(struct fp_spool *spool)
{
    fp_spool_reader_release(spool);
    if (spool->active.file >= 0)
        spool->ops->close(spool->ops->context, spool->active.file);
    if (spool->dir >= 0)
        spool->ops->close(spool->ops->context, spool->dir);
    fp_spool_table_release(&spool->table);
    pthread_cond_destroy(&spool->tail_moved);
    pthread_cond_destroy(&spool->work);
    pthread_mutex_destroy(&spool->lock);
    free(spool);
}

/* Syncs the parent directory, so that the directory's own name is durable. */
static bool sync_parent(const struct fp_file_ops *ops, const char *path)
{
    char parent[PATH_MAX];
    int len = snprintf(parent, sizeof(parent), "%s/..", path);
    if (len < 0 || (size_t)len >= sizeof(parent)) {
        errno = ENAMETOOLONG;
        return false;
    }
    int dir = ops->open_dir(ops->context, parent);
    if (dir < 0)
        return false;
    bool synced = ops->sync_dir(ops->context, dir) == 0;
    ops->close(ops->context, dir);
    return synced;
}

static enum fp_spool_error open_directory(struct fp_spool *spool, const char *path)
{
    const struct fp_file_ops *ops = spool->ops;
    if (ops->make_dir(ops->context, path) == 0) {
        if (!sync_parent(ops, path))
            return FP_SPOOL_NO_PATH;
    } else if (errno != EEXIST) {
        return FP_SPOOL_NO_PATH;
    }
    spool->dir = ops->open_dir(ops->context, path);
    if (spool->dir < 0)
        return FP_SPOOL_NO_PATH;
    spool->aside.dir = spool->dir;
    if (ops->lock_dir(ops->context, spool->dir) != 0)
        return errno == EWOULDBLOCK ? FP_SPOOL_LOCKED : FP_SPOOL_NO_PATH;
    return FP_SPOOL_OK;
}

static enum fp_spool_error start(struct fp_spool *spool, const char *path)
{
    enum fp_spool_error error = open_directory(spool, path);
    if (error == FP_SPOOL_OK)
        error = fp_spool_recover(spool);
    if (error != FP_SPOOL_OK)
        return error;
    if (spool->reader.state_due && write_state(spool) != FP_SPOOL_OK)
        fp_log(FP_LOG_WARN, "spool state was not written; it will be tried again", "");
    /* The spool starts even without a segment: its records can be read. */
    fp_spool_committer_open_segment(spool);
    if (pthread_create(&spool->committer, NULL, fp_spool_committer_run, spool) != 0)
        return FP_SPOOL_MEMORY;
    return FP_SPOOL_OK;
}

enum fp_spool_error fp_spool_open_on(const struct fp_file_ops *ops,
                                     const struct fp_spool_settings *settings,
                                     struct fp_metrics *metrics, struct fp_spool **spool,
                                     struct fp_buf *detail)
{
    *spool = NULL;
    struct fp_spool *made = make_spool(ops, settings, metrics);
    if (made == NULL)
        return FP_SPOOL_MEMORY;
    errno = 0;
    enum fp_spool_error error = start(made, settings->path);
    if (error == FP_SPOOL_OK) {
        *spool = made;
        return FP_SPOOL_OK;
    }
    if (detail != NULL && error == FP_SPOOL_NO_PATH)
        fp_buf_addf(detail, "%s: %s: %s", settings->path, fp_spool_error_text(error),
                    strerror(errno));
    else if (detail != NULL)
        fp_buf_addf(detail, "%s: %s", settings->path, fp_spool_error_text(error));
    free_spool(made);
    return error;
}

enum fp_spool_error fp_spool_open(const struct fp_spool_settings *settings,
                                  struct fp_metrics *metrics, struct fp_spool **spool,
                                  struct fp_buf *detail)
{
    return fp_spool_open_on(fp_file_ops_real(), settings, metrics, spool, detail);
}

/* Appending */

static struct fp_spool_append *make_append(const void *record, size_t len, uint64_t frame_len)
{
    struct fp_spool_append *append = malloc(sizeof(*append) + (size_t)frame_len);
    if (append == NULL)
        return NULL;
    append->next = NULL;
    append->payload_len = len;
    append->frame_len = (size_t)frame_len;
    if (len > 0)
        memcpy(append->frame + FP_SPOOL_FRAME_HEADER_LEN, record, len);
    return append;
}

/* Returns why an append of this size would be refused now; NULL if it would not. Under the lock. */
static const char *find_trouble(const struct fp_spool *spool, size_t frame_len,
                                enum fp_spool_error *error)
{
    *error = FP_SPOOL_OK;
    if (spool->stopping) {
        *error = FP_SPOOL_STOPPING;
        return fp_spool_error_text(*error);
    }
    if (spool->blocked.error != FP_SPOOL_OK) {
        *error = spool->blocked.error;
        return spool->blocked.reason;
    }
    bool queue_is_full =
        spool->queued_bytes >= QUEUE_MAX_BYTES || frame_len > QUEUE_MAX_BYTES - spool->queued_bytes;
    if (queue_is_full && spool->queued_bytes > 0) {
        *error = FP_SPOOL_FULL;
        return "the spool's disk is slower than the uploads";
    }
    return NULL;
}

/* Queues an append, or says why not. */
static enum fp_spool_error enqueue(struct fp_spool *spool, struct fp_spool_append *append)
{
    enum fp_spool_error error;
    lock(spool);
    if (find_trouble(spool, append->frame_len, &error) == NULL) {
        bool was_empty = spool->queue.first == NULL;
        if (was_empty)
            spool->queue.first = append;
        else
            spool->queue.last->next = append;
        spool->queue.last = append;
        spool->queued_bytes += append->frame_len;
        if (was_empty)
            pthread_cond_signal(&spool->work);
    }
    unlock(spool);
    return error;
}

/* Returns the length of a record's frame, 0 if no segment can hold it. */
static uint64_t frame_len_of(const struct fp_spool *spool, size_t len)
{
    uint64_t frame_len = fp_spool_frame_len(len);
    return frame_len <= spool->segment_bytes - FP_SPOOL_SEGMENT_HEADER_LEN ? frame_len : 0;
}

enum fp_spool_error fp_spool_append(struct fp_spool *spool, const void *record, size_t len,
                                    fp_spool_done_fn *done, void *context)
{
    uint64_t frame_len = frame_len_of(spool, len);
    if (frame_len == 0)
        return FP_SPOOL_TOO_LONG;
    struct fp_spool_append *append = make_append(record, len, frame_len);
    if (append == NULL)
        return FP_SPOOL_MEMORY;
    append->done = done;
    append->context = context;
    enum fp_spool_error error = enqueue(spool, append);
    if (error != FP_SPOOL_OK)
        free(append);
    return error;
}

enum fp_spool_error fp_spool_check_record(struct fp_spool *spool, size_t len)
{
    enum fp_spool_error error;
    uint64_t frame_len = frame_len_of(spool, len);
    if (frame_len == 0)
        return FP_SPOOL_TOO_LONG;
    lock(spool);
    (void)find_trouble(spool, (size_t)frame_len, &error);
    unlock(spool);
    return error;
}

int64_t fp_spool_commits(struct fp_spool *spool)
{
    return fp_metrics_get(spool->metrics, FP_METRIC_SPOOL_COMMITS) +
           fp_metrics_get(spool->metrics, FP_METRIC_SPOOL_ERRORS);
}

void fp_spool_measure_disk(struct fp_spool *spool)
{
    struct statvfs disk;
    if (fstatvfs(spool->dir, &disk) == 0)
        fp_metrics_set(spool->metrics, FP_METRIC_SPOOL_DISK_FREE,
                       (int64_t)(disk.f_bavail * disk.f_frsize));
}

const char *fp_spool_check(struct fp_spool *spool, enum fp_spool_error *error)
{
    lock(spool);
    const char *trouble = find_trouble(spool, 0, error);
    unlock(spool);
    return trouble;
}

const char *fp_spool_trouble(struct fp_spool *spool)
{
    enum fp_spool_error error;
    return fp_spool_check(spool, &error);
}

void fp_spool_stop_appends(struct fp_spool *spool)
{
    lock(spool);
    spool->stopping = true;
    unlock(spool);
}

/* The reader's side */

uint64_t fp_spool_tail(struct fp_spool *spool)
{
    lock(spool);
    uint64_t tail = spool->tail;
    unlock(spool);
    return tail;
}

uint64_t fp_spool_position(struct fp_spool *spool)
{
    lock(spool);
    uint64_t position = spool->position;
    unlock(spool);
    return position;
}

uint64_t fp_spool_max_bytes(const struct fp_spool *spool)
{
    return spool->max_bytes;
}

struct fp_uuid fp_spool_id(struct fp_spool *spool)
{
    lock(spool);
    struct fp_uuid id = spool->id;
    unlock(spool);
    return id;
}

bool fp_spool_wait(struct fp_spool *spool, uint64_t after, int64_t timeout_us)
{
    int64_t until_us = fp_clock_monotonic_us();
    if (__builtin_add_overflow(until_us, timeout_us, &until_us))
        until_us = INT64_MAX;
    const struct timespec until = {until_us / FP_US_PER_S, until_us % FP_US_PER_S * 1000};
    lock(spool);
    bool timed_out = false;
    while (!fp_spool_reader_has_more(spool, after) && !spool->reader_awoken && !timed_out)
        timed_out = pthread_cond_timedwait(&spool->tail_moved, &spool->lock, &until) != 0;
    spool->reader_awoken = false;
    bool more = fp_spool_reader_has_more(spool, after);
    unlock(spool);
    return more;
}

void fp_spool_wake(struct fp_spool *spool)
{
    lock(spool);
    spool->reader_awoken = true;
    pthread_cond_signal(&spool->tail_moved);
    unlock(spool);
}

/* Writes the state file now. Called by open, the reader's thread, or close. */
static enum fp_spool_error write_state(struct fp_spool *spool)
{
    lock(spool);
    const struct fp_spool_state state = {
        .spool_id = spool->id,
        .position = spool->position,
        .tail = spool->tail,
        .next_sequence = spool->next_sequence,
    };
    unlock(spool);
    FP_ASSERT(state.position <= state.tail && state.tail < state.next_sequence);
    spool->reader.state_written_us = fp_clock_monotonic_us();
    spool->reader.state_due = true;
    if (!fp_spool_state_write(spool->ops, spool->dir, &state)) {
        fp_metrics_add(spool->metrics, FP_METRIC_SPOOL_ERRORS, 1);
        if (!spool->reader.state_failed)
            fp_log(FP_LOG_ERROR, "spool state was not written", "error=%s", strerror(errno));
        spool->reader.state_failed = true;
        return FP_SPOOL_IO;
    }
    spool->reader.state_failed = false;
    spool->reader.state_due = false;
    return FP_SPOOL_OK;
}

enum fp_spool_error fp_spool_trim(struct fp_spool *spool, uint64_t position)
{
    int64_t now_us = fp_clock_monotonic_us();
    lock(spool);
    if (position > spool->tail)
        position = spool->tail;
    if (position > spool->position) {
        spool->position = position;
        spool->reader.state_due = true;
    }
    FP_ASSERT(spool->position <= spool->tail);
    fp_spool_table_trim(&spool->table, spool->position, now_us);
    fp_spool_note_backlog(spool);
    spool->room_back = true;
    pthread_cond_signal(&spool->work);
    unlock(spool);
    if (!spool->reader.state_due || now_us - spool->reader.state_written_us < STATE_INTERVAL_US)
        return FP_SPOOL_OK;
    return write_state(spool);
}

uint64_t fp_spool_rewind(struct fp_spool *spool, uint64_t position)
{
    uint64_t gone = 0;
    lock(spool);
    if (position < spool->position) {
        const struct fp_spool_table_segment *first = fp_spool_table_after(&spool->table, position);
        uint64_t last_gone = first != NULL ? first->tail_before : spool->position;
        if (last_gone > position)
            gone = last_gone - position;
        spool->position = position;
        spool->reader.state_due = true;
        fp_spool_table_untrim(&spool->table, position);
        fp_spool_note_backlog(spool);
    }
    unlock(spool);
    return gone;
}

enum fp_spool_error fp_spool_renew_id(struct fp_spool *spool)
{
    struct fp_uuid renewed;
    if (!fp_uuid_random(&renewed))
        return FP_SPOOL_IO;
    struct fp_uuid former = fp_spool_id(spool);
    lock(spool);
    spool->id = renewed;
    unlock(spool);
    enum fp_spool_error error = write_state(spool);
    if (error != FP_SPOOL_OK) {
        lock(spool);
        spool->id = former;
        unlock(spool);
    }
    return error;
}

enum fp_spool_error fp_spool_quarantine(struct fp_spool *spool,
                                        const struct fp_spool_record *record, const char *reason)
{
    const struct fp_str bytes = {(const char *)record->bytes, record->len};
    if (fp_spool_aside_refused(&spool->aside, record->sequence, bytes, fp_str_of(reason)))
        return FP_SPOOL_OK;
    int error = errno;
    fp_log(FP_LOG_ERROR, "refused record was not set aside", "error=%s", strerror(error));
    return error == ENOSPC ? FP_SPOOL_FULL : FP_SPOOL_IO;
}

void fp_spool_close(struct fp_spool *spool)
{
    if (spool == NULL)
        return;
    lock(spool);
    spool->stopping = true;
    spool->closing = true;
    pthread_cond_signal(&spool->work);
    unlock(spool);
    pthread_join(spool->committer, NULL);
    if (spool->reader.state_due && write_state(spool) != FP_SPOOL_OK)
        fp_log(FP_LOG_WARN, "spool position was not written; records may be read twice", "");
    free_spool(spool);
}
