/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Committer: the one thread that writes records.
 *
 * It takes all queued records, writes them with one call, syncs once, and only then notifies the
 * waiters. After a failed write or sync nobody can say what reached the disk, so the segment is
 * retired: it is never synced again and ends at its last committed record. The next segment's
 * header says where that was, so that recovery does not replay what was refused. That header is on
 * disk, if the disk works at all, before the waiters are notified.
 */
#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/base/uuid.h"
#include "collector/spool/internal.h"
#include "collector/spool/segment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* How often a blocked spool tries again by itself. */
#define RETRY_US (500 * FP_US_PER_MS)

static bool is_out_of_room(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* Refuses appends from now on. Logs the first time, not each try: returns whether this is that. */
static bool block(struct fp_spool *spool, enum fp_spool_error error, const char *reason)
{
    pthread_mutex_lock(&spool->lock);
    bool news = spool->blocked.error != error;
    spool->blocked.error = error;
    spool->blocked.reason = reason;
    spool->blocked.retry_at_us = fp_clock_monotonic_us() + RETRY_US;
    spool->room_back = false;
    pthread_mutex_unlock(&spool->lock);
    if (news)
        fp_log(FP_LOG_ERROR, "spool refuses uploads", "reason=%s", reason);
    return news;
}

/* As block(), after a failed system call. */
static void block_by_errno(struct fp_spool *spool, int error)
{
    if (is_out_of_room(error)) {
        block(spool, FP_SPOOL_FULL, "the spool's disk is full");
        return;
    }
    fp_metrics_add(spool->metrics, FP_METRIC_SPOOL_ERRORS, 1);
    if (block(spool, FP_SPOOL_IO, "the spool cannot be written"))
        fp_log(FP_LOG_ERROR, "spool segment was not made", "error=%s", strerror(error));
}

/* Under the lock. */
static void note_file_bytes(struct fp_spool *spool)
{
    fp_metrics_set(spool->metrics, FP_METRIC_SPOOL_BYTES, (int64_t)spool->table.file_bytes);
}

/* Deletes the segment that was trimmed first, if that was before trimmed_until_us. False if there
 * is none. It leaves the table first: fp_spool_rewind counts it as gone from then on. */
static bool dispose_of_one(struct fp_spool *spool, int64_t trimmed_until_us)
{
    pthread_mutex_lock(&spool->lock);
    const struct fp_spool_table_segment *segment = fp_spool_table_first_trimmed(&spool->table);
    bool due = segment != NULL && segment->trimmed_at_us <= trimmed_until_us;
    uint64_t number = due ? segment->number : 0;
    if (due)
        fp_spool_table_remove(&spool->table, number);
    note_file_bytes(spool);
    pthread_mutex_unlock(&spool->lock);
    if (!due)
        return false;

    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    fp_spool_segment_name(number, name);
    if (spool->ops->remove(spool->ops->context, spool->dir, name) != 0 && errno != ENOENT) {
        fp_metrics_add(spool->metrics, FP_METRIC_SPOOL_ERRORS, 1);
        fp_log(FP_LOG_ERROR, "spool segment was not deleted; the next start will",
               "file=%s error=%s", name, strerror(errno));
    }
    return true;
}

static bool is_over_ceiling(struct fp_spool *spool)
{
    pthread_mutex_lock(&spool->lock);
    bool over = spool->table.count == FP_SPOOL_TABLE_MAX ||
                spool->table.file_bytes + spool->segment_bytes > spool->max_bytes;
    pthread_mutex_unlock(&spool->lock);
    return over;
}

static bool make_header(struct fp_spool *spool, struct fp_spool_segment_header *header)
{
    pthread_mutex_lock(&spool->lock);
    *header = (struct fp_spool_segment_header){
        .spool_id = spool->id,
        .number = spool->active.next_number,
        .first_sequence = spool->next_sequence,
        .tail = spool->tail,
        .previous_number = spool->active.number,
        .previous_end = spool->active.end,
    };
    pthread_mutex_unlock(&spool->lock);
    return fp_uuid_random(&header->segment_id);
}

/* Creates the file; deletes trimmed segments early if the disk has no room. -1 with errno. */
static int create_file(struct fp_spool *spool, const struct fp_spool_segment_header *header)
{
    for (;;) {
        int file = fp_spool_segment_create(spool->ops, spool->dir, header, spool->segment_bytes);
        if (file >= 0 || !is_out_of_room(errno))
            return file;
        int error = errno;
        if (!dispose_of_one(spool, INT64_MAX)) {
            errno = error;
            return -1;
        }
    }
}

/* Makes the new file the active segment. False if memory is out. */
static bool enter_segment(struct fp_spool *spool, const struct fp_spool_segment_header *header,
                          int file)
{
    const struct fp_spool_table_segment segment = {
        .number = header->number,
        .id = header->segment_id,
        .first_sequence = header->first_sequence,
        .tail_before = header->tail,
        .end = FP_SPOOL_SEGMENT_HEADER_LEN,
        .file_bytes = spool->segment_bytes,
        .ends_previous = spool->active.has_refused,
    };
    FP_ASSERT(segment.number > spool->active.number);
    pthread_mutex_lock(&spool->lock);
    FP_ASSERT(segment.first_sequence > fp_spool_table_last_sequence(&spool->table));
    bool added = fp_spool_table_add(&spool->table, &segment);
    if (added) {
        fp_spool_table_trim(&spool->table, spool->position, fp_clock_monotonic_us());
        note_file_bytes(spool);
        if (spool->blocked.error != FP_SPOOL_OK)
            fp_log(FP_LOG_INFO, "spool takes uploads again", "");
        spool->blocked = (struct fp_spool_blocked){.error = FP_SPOOL_OK};
    }
    pthread_mutex_unlock(&spool->lock);
    if (!added)
        return false;
    spool->active.file = file;
    spool->active.number = segment.number;
    spool->active.id = segment.id;
    spool->active.end = segment.end;
    spool->active.has_refused = false;
    return true;
}

bool fp_spool_committer_open_segment(struct fp_spool *spool)
{
    while (is_over_ceiling(spool)) {
        if (!dispose_of_one(spool, INT64_MAX)) {
            block(spool, FP_SPOOL_FULL, "the spool has reached its max_bytes");
            return false;
        }
    }
    struct fp_spool_segment_header header;
    if (!make_header(spool, &header)) {
        block_by_errno(spool, errno);
        return false;
    }
    int file = create_file(spool, &header);
    int error = errno;
    spool->active.next_number++; /* a failed creation may have left its name */
    if (file < 0) {
        block_by_errno(spool, error);
        return false;
    }
    if (!enter_segment(spool, &header, file)) {
        char name[FP_SPOOL_SEGMENT_NAME_SIZE];
        fp_spool_segment_name(header.number, name);
        spool->ops->close(spool->ops->context, file);
        spool->ops->remove(spool->ops->context, spool->dir, name);
        block(spool, FP_SPOOL_MEMORY, "out of memory");
        return false;
    }
    return true;
}

/* Ends the active segment and frees its unused room. */
static void close_segment(struct fp_spool *spool)
{
    struct fp_spool_active *active = &spool->active;
    if (active->file < 0)
        return;
    bool cut = spool->ops->truncate(spool->ops->context, active->file, active->end) == 0;
    spool->ops->close(spool->ops->context, active->file);
    active->file = -1;
    if (!cut)
        return;
    pthread_mutex_lock(&spool->lock);
    struct fp_spool_table_segment *segment = fp_spool_table_newest(&spool->table);
    FP_ASSERT(segment->number == active->number && segment->end == active->end);
    fp_spool_table_resize(&spool->table, segment, active->end);
    note_file_bytes(spool);
    pthread_mutex_unlock(&spool->lock);
}

static bool fits(const struct fp_spool *spool, uint64_t used, const struct fp_spool_append *append)
{
    return spool->active.file >= 0 && append->frame_len <= spool->segment_bytes - used;
}

/* Moves the first append, which fits the active segment, and the following ones that fit as well,
 * from the queue to a group. */
static struct fp_spool_queue take_group(struct fp_spool *spool, struct fp_spool_queue *queue)
{
    FP_ASSERT(queue->first != NULL && fits(spool, spool->active.end, queue->first));
    struct fp_spool_append *last = queue->first;
    uint64_t used = spool->active.end + last->frame_len;
    while (last->next != NULL && fits(spool, used, last->next)) {
        last = last->next;
        used += last->frame_len;
    }
    struct fp_spool_queue group = {queue->first, last};
    queue->first = last->next;
    last->next = NULL;
    return group;
}

/* Numbers the group's records and writes them after the committed ones. *end: where they end. */
static bool write_group(struct fp_spool *spool, const struct fp_spool_queue *group, uint64_t *end)
{
    struct fp_spool_active *active = &spool->active;
    uint64_t sequence = spool->next_sequence;
    struct fp_spool_append *append = group->first;
    FP_ASSERT(append != NULL && active->file >= 0 && sequence > spool->tail);
    *end = active->end;
    bool written = true;
    while (written && append != NULL) {
        uint64_t offset = *end;
        size_t count = 0;
        for (; append != NULL && count < FP_COMMIT_PARTS; append = append->next) {
            fp_spool_frame_finish(append->frame, append->payload_len, sequence++, &active->id);
            active->parts[count++] = (struct iovec){append->frame, append->frame_len};
            *end += append->frame_len;
        }
        written = fp_file_write(spool->ops, active->file, active->parts, count, offset);
    }
    /* Numbers are used up even if the write failed: they may be on the disk. */
    pthread_mutex_lock(&spool->lock);
    spool->next_sequence = sequence;
    pthread_mutex_unlock(&spool->lock);
    return written;
}

/* Makes the group's records visible to the reader. */
static void publish(struct fp_spool *spool, uint64_t end)
{
    spool->active.end = end;
    pthread_mutex_lock(&spool->lock);
    struct fp_spool_table_segment *segment = fp_spool_table_newest(&spool->table);
    FP_ASSERT(segment->number == spool->active.number);
    FP_ASSERT(end > segment->end && end <= segment->file_bytes);
    segment->end = end;
    segment->last_sequence = spool->next_sequence - 1;
    FP_ASSERT(segment->last_sequence > spool->tail);
    spool->tail = segment->last_sequence;
    /* Before the waiters are notified: a client with its 204 finds the record counted. */
    fp_spool_note_backlog(spool);
    pthread_cond_signal(&spool->tail_moved);
    pthread_mutex_unlock(&spool->lock);
}

static enum fp_spool_error commit_group(struct fp_spool *spool, const struct fp_spool_queue *group)
{
    int64_t start_us = fp_clock_monotonic_us();
    uint64_t end;
    if (write_group(spool, group, &end) &&
        spool->ops->sync_data(spool->ops->context, spool->active.file) == 0) {
        fp_metrics_add(spool->metrics, FP_METRIC_SPOOL_COMMITS, 1);
        fp_metrics_observe_us(spool->metrics, FP_METRIC_SPOOL_COMMIT_SECONDS,
                              fp_clock_monotonic_us() - start_us);
        publish(spool, end);
        return FP_SPOOL_OK;
    }
    int error = errno;
    fp_metrics_add(spool->metrics, FP_METRIC_SPOOL_ERRORS, 1);
    fp_log(FP_LOG_ERROR, "spool segment retired after a failed write",
           "segment=%" PRIu64 " error=%s", spool->active.number, strerror(error));
    spool->active.has_refused = true;
    close_segment(spool);
    /* The group has failed, whether there is a new segment or not. */
    fp_spool_committer_open_segment(spool);
    return is_out_of_room(error) ? FP_SPOOL_FULL : FP_SPOOL_IO;
}

/* Notifies the waiters of a group and frees it. */
static void finish_group(struct fp_spool *spool, const struct fp_spool_queue *group,
                         enum fp_spool_error result)
{
    size_t frame_bytes = 0;
    for (const struct fp_spool_append *append = group->first; append != NULL; append = append->next)
        frame_bytes += append->frame_len;
    pthread_mutex_lock(&spool->lock);
    FP_ASSERT(frame_bytes > 0 && spool->queued_bytes >= frame_bytes);
    spool->queued_bytes -= frame_bytes;
    pthread_mutex_unlock(&spool->lock);

    struct fp_spool_append *append = group->first;
    while (append != NULL) {
        struct fp_spool_append *next = append->next;
        append->done(append->context, result);
        free(append);
        append = next;
    }
}

static void commit_all(struct fp_spool *spool, struct fp_spool_queue *queue)
{
    while (queue->first != NULL) {
        if (!fits(spool, spool->active.end, queue->first)) {
            close_segment(spool);
            if (!fp_spool_committer_open_segment(spool)) {
                finish_group(spool, queue, spool->blocked.error);
                return;
            }
        }
        struct fp_spool_queue group = take_group(spool, queue);
        enum fp_spool_error result = commit_group(spool, &group);
        finish_group(spool, &group, result);
    }
}

/* Returns when there is work even if nothing is appended. Under the lock. */
static int64_t next_due_us(struct fp_spool *spool)
{
    int64_t due_us = INT64_MAX;
    if (spool->blocked.error != FP_SPOOL_OK)
        due_us = spool->room_back ? 0 : spool->blocked.retry_at_us;
    const struct fp_spool_table_segment *first = fp_spool_table_first_trimmed(&spool->table);
    if (first != NULL && first->trimmed_at_us + spool->keep_us < due_us)
        due_us = first->trimmed_at_us + spool->keep_us;
    return due_us;
}

/* Waits for appends, the next thing due, or the end. Takes the queue. False at the end. */
static bool wait_for_work(struct fp_spool *spool, struct fp_spool_queue *queue)
{
    pthread_mutex_lock(&spool->lock);
    while (spool->queue.first == NULL && !spool->closing) {
        int64_t due_us = next_due_us(spool);
        if (due_us <= fp_clock_monotonic_us())
            break;
        if (due_us == INT64_MAX) {
            pthread_cond_wait(&spool->work, &spool->lock);
        } else {
            const struct timespec until = {due_us / FP_US_PER_S, due_us % FP_US_PER_S * 1000};
            pthread_cond_timedwait(&spool->work, &spool->lock, &until);
        }
    }
    *queue = spool->queue;
    spool->queue = (struct fp_spool_queue){NULL, NULL};
    bool more = queue->first != NULL || !spool->closing;
    pthread_mutex_unlock(&spool->lock);
    return more;
}

static bool is_retry_due(struct fp_spool *spool)
{
    pthread_mutex_lock(&spool->lock);
    bool due = spool->blocked.error != FP_SPOOL_OK &&
               (spool->room_back || spool->blocked.retry_at_us <= fp_clock_monotonic_us());
    pthread_mutex_unlock(&spool->lock);
    return due;
}

void *fp_spool_committer_run(void *context)
{
    struct fp_spool *spool = context;
    struct fp_spool_queue queue;
    (void)pthread_setname_np(pthread_self(), "spool");
    while (wait_for_work(spool, &queue)) {
        commit_all(spool, &queue);
        while (dispose_of_one(spool, fp_clock_monotonic_us() - spool->keep_us)) {
        }
        if (is_retry_due(spool))
            fp_spool_committer_open_segment(spool);
    }
    close_segment(spool);
    return NULL;
}
