/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader: returns committed records in order, segment by segment, with bounded memory.
 *
 * It reads only what the table says is committed. Invalid bytes among that were damaged after their
 * commit: they are quarantined and reading resumes after them.
 */
#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/spool/internal.h"
#include "collector/spool/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* A batch's memory above this is freed before the next one. */
enum { KEPT_BYTES = 1024 * 1024, KEPT_RECORDS = 4096 };

static void close_segment(struct fp_spool *spool)
{
    struct fp_spool_reader *reader = &spool->reader;
    if (reader->file >= 0)
        spool->ops->close(spool->ops->context, reader->file);
    reader->file = -1;
}

/* Opens a segment at an offset. FP_SPOOL_OK without a file: the segment was deleted after a
 * trim. */
static enum fp_spool_error open_segment(struct fp_spool *spool,
                                        const struct fp_spool_table_segment *segment,
                                        uint64_t offset, uint64_t sequence)
{
    struct fp_spool_reader *reader = &spool->reader;
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    close_segment(spool);
    fp_spool_segment_name(segment->number, name);
    reader->number = segment->number;
    reader->file = spool->ops->open(spool->ops->context, spool->dir, name, O_RDONLY);
    if (reader->file < 0 && errno != ENOENT) {
        fp_log(FP_LOG_ERROR, "spool segment cannot be read", "file=%s error=%s", name,
               strerror(errno));
        fp_metrics_add(spool->metrics, FP_METRIC_SPOOL_ERRORS, 1);
        return FP_SPOOL_IO;
    }
    fp_spool_scan_begin(&reader->scan, reader->file, &segment->id, offset, sequence);
    reader->scan.end = segment->end;
    return FP_SPOOL_OK;
}

static enum fp_spool_error open_start(struct fp_spool *spool,
                                      const struct fp_spool_table_segment *segment)
{
    return open_segment(spool, segment, FP_SPOOL_SEGMENT_HEADER_LEN, segment->first_sequence - 1);
}

/* Copies a segment's entry from the table. False if there is none. Under the lock. */
static bool copy_entry(const struct fp_spool_table_segment *entry,
                       struct fp_spool_table_segment *copy)
{
    if (entry == NULL)
        return false;
    *copy = *entry;
    return true;
}

/* Updates the end of the open segment to what is committed now. Under the lock. */
static void refresh_end(struct fp_spool *spool)
{
    struct fp_spool_reader *reader = &spool->reader;
    const struct fp_spool_table_segment *entry = fp_spool_table_from(&spool->table, reader->number);
    if (entry != NULL && entry->number == reader->number)
        reader->scan.end = entry->end;
}

/* Seeks to the first record after `after`: continues the last batch, returns to its start, or
 * searches the table. *found false: there are none. */
static enum fp_spool_error seek(struct fp_spool *spool, uint64_t after, bool *found)
{
    struct fp_spool_reader *reader = &spool->reader;
    *found = true;
    if (reader->file >= 0 && reader->scan.sequence == after)
        return FP_SPOOL_OK;
    const struct fp_spool_read_point *last = &reader->last;
    bool again = last->number != 0 && last->sequence == after;
    struct fp_spool_table_segment segment;
    pthread_mutex_lock(&spool->lock);
    *found = copy_entry(again ? fp_spool_table_from(&spool->table, last->number)
                              : fp_spool_table_after(&spool->table, after),
                        &segment);
    pthread_mutex_unlock(&spool->lock);
    if (!*found)
        return FP_SPOOL_OK;
    if (again && segment.number == last->number)
        return open_segment(spool, &segment, last->offset, last->sequence);
    return open_start(spool, &segment);
}

static void set_aside(struct fp_spool *spool, const struct fp_spool_scan_item *item)
{
    const struct fp_spool_aside_range range = {spool->reader.file, spool->reader.number,
                                               item->offset, item->len};
    fp_spool_aside_damaged(&spool->aside, &range);
}

/*
 * Advances at the end of a segment: looks for more in it or in the next. *more false: everything
 * committed was read, up to *last_sequence.
 */
static enum fp_spool_error advance(struct fp_spool *spool, bool *more, uint64_t *last_sequence)
{
    struct fp_spool_reader *reader = &spool->reader;
    struct fp_spool_table_segment next;
    pthread_mutex_lock(&spool->lock);
    /* Both under one lock: once there is a next segment, this one's end is final. */
    refresh_end(spool);
    *more = reader->file >= 0 && reader->scan.offset < reader->scan.end;
    *last_sequence = fp_spool_table_last_sequence(&spool->table);
    bool has_next = copy_entry(fp_spool_table_from(&spool->table, reader->number + 1), &next);
    pthread_mutex_unlock(&spool->lock);
    if (*more || !has_next)
        return FP_SPOOL_OK;
    *more = true;
    return open_start(spool, &next);
}

/* The request of one read. */
struct read_request {
    uint64_t after;
    size_t max_bytes;
    size_t max_count;
    struct fp_spool_batch *batch;
};

static bool fits(const struct fp_spool_reader *reader, const struct read_request *request,
                 size_t len)
{
    if (request->batch->count == 0)
        return true;
    return request->batch->count < request->max_count && reader->bytes.len <= request->max_bytes &&
           len <= request->max_bytes - reader->bytes.len;
}

static bool grow_records(struct fp_spool_reader *reader)
{
    size_t cap = reader->record_cap > 0 ? reader->record_cap * 2 : 64;
    size_t len;
    if (__builtin_mul_overflow(cap, sizeof(*reader->records), &len))
        return false;
    struct fp_spool_record *records = realloc(reader->records, len);
    if (records == NULL)
        return false;
    reader->records = records;
    reader->record_cap = cap;
    return true;
}

/* Copies a record to the batch. */
static bool take(struct fp_spool_reader *reader, const struct read_request *request,
                 const struct fp_spool_scan_item *item)
{
    struct fp_spool_batch *batch = request->batch;
    if (batch->count == reader->record_cap && !grow_records(reader))
        return false;
    reader->bytes.max = request->max_bytes > item->bytes_len ? request->max_bytes : item->bytes_len;
    fp_buf_add(&reader->bytes, item->bytes, item->bytes_len);
    if (reader->bytes.failed)
        return false;
    reader->records[batch->count++] =
        (struct fp_spool_record){.sequence = item->sequence, .len = item->bytes_len};
    return true;
}

/* Adds a record to the batch. *full: it does not fit, and comes first next time. */
static enum fp_spool_error add_record(struct fp_spool_reader *reader,
                                      const struct read_request *request,
                                      const struct fp_spool_scan_item *item, bool *full)
{
    *full = !fits(reader, request, item->bytes_len);
    if (*full)
        return FP_SPOOL_OK;
    if (request->batch->count == 0)
        reader->last = (struct fp_spool_read_point){reader->number, item->offset, request->after};
    return take(reader, request, item) ? FP_SPOOL_OK : FP_SPOOL_MEMORY;
}

/* Handles the end of a segment: quarantines invalid bytes and advances. *more false: nothing is
 * left to read. */
static enum fp_spool_error end_segment(struct fp_spool *spool, const struct read_request *request,
                                       const struct fp_spool_scan_item *rest, bool *more)
{
    struct fp_spool_reader *reader = &spool->reader;
    if (reader->file >= 0 && rest->len > 0) {
        set_aside(spool, rest);
        reader->scan.offset = reader->scan.end;
    }
    uint64_t last_sequence;
    enum fp_spool_error error = advance(spool, more, &last_sequence);
    if (error == FP_SPOOL_OK && !*more && request->batch->count == 0) {
        reader->empty_after = request->after;
        reader->empty_until = last_sequence;
    }
    return error;
}

/* Fills the batch. */
static enum fp_spool_error fill(struct fp_spool *spool, const struct read_request *request)
{
    struct fp_spool_reader *reader = &spool->reader;
    enum fp_spool_error error = FP_SPOOL_OK;
    bool more = true;
    bool full = false;
    while (error == FP_SPOOL_OK && more && !full) {
        struct fp_spool_scan_item item = {.len = 0};
        uint64_t sequence_before = reader->scan.sequence;
        enum fp_spool_scan_found met = FP_SPOOL_SCAN_END;
        if (reader->file >= 0)
            met = fp_spool_scan_next(&reader->scan, &item);
        switch (met) {
        case FP_SPOOL_SCAN_RECORD:
            if (item.sequence > request->after)
                error = add_record(reader, request, &item, &full);
            if (full) {
                reader->scan.offset = item.offset;
                reader->scan.sequence = sequence_before;
            }
            break;
        case FP_SPOOL_SCAN_DAMAGED:
            set_aside(spool, &item);
            break;
        case FP_SPOOL_SCAN_END:
            error = end_segment(spool, request, &item, &more);
            break;
        case FP_SPOOL_SCAN_MEMORY:
            error = FP_SPOOL_MEMORY;
            break;
        }
    }
    return error;
}

/* Empties the last batch and frees unusually large memory. */
static void reset(struct fp_spool_reader *reader)
{
    fp_buf_clear(&reader->bytes);
    if (reader->bytes.cap > KEPT_BYTES)
        fp_buf_release(&reader->bytes);
    if (reader->record_cap > KEPT_RECORDS) {
        free(reader->records);
        reader->records = NULL;
        reader->record_cap = 0;
    }
}

enum fp_spool_error fp_spool_read(struct fp_spool *spool, uint64_t after, size_t max_bytes,
                                  size_t max_count, struct fp_spool_batch *batch)
{
    struct fp_spool_reader *reader = &spool->reader;
    const struct read_request request = {after, max_bytes, max_count, batch};
    *batch = (struct fp_spool_batch){NULL, 0};
    reset(reader);
    bool found;
    enum fp_spool_error error = seek(spool, after, &found);
    if (error == FP_SPOOL_OK && found)
        error = fill(spool, &request);
    if (error != FP_SPOOL_OK && batch->count == 0)
        return error;
    /* Returns what was read before the error; the next read meets the error again. */
    const uint8_t *bytes = reader->bytes.data;
    if (bytes == NULL) /* none of them has a payload */
        bytes = (const uint8_t *)"";
    batch->records = reader->records;
    for (size_t i = 0; i < batch->count; i++) {
        batch->records[i].bytes = bytes;
        bytes += batch->records[i].len;
    }
    return FP_SPOOL_OK;
}

bool fp_spool_reader_has_more(struct fp_spool *spool, uint64_t after)
{
    const struct fp_spool_reader *reader = &spool->reader;
    uint64_t last = fp_spool_table_last_sequence(&spool->table);
    bool known_empty = after >= reader->empty_after && last <= reader->empty_until;
    return last > after && !known_empty;
}

void fp_spool_reader_release(struct fp_spool *spool)
{
    close_segment(spool);
    fp_spool_scan_release(&spool->reader.scan);
    fp_buf_release(&spool->reader.bytes);
    free(spool->reader.records);
    spool->reader.records = NULL;
}
