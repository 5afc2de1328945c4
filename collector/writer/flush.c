/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer: one window, from the spool's records to the database's rows.
 */
#include "collector/writer/internal.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/rollup/record.h"

#include <inttypes.h>

enum { READ_RECORDS = 1024 };

/* The contents of a window. */
struct window {
    uint64_t end; /* sequence number of the last record */
    size_t records;
    size_t counted;
    size_t duplicates;
    size_t misdated;  /* of the counted uploads */
    size_t recounted; /* of the counted uploads: the database had lost them */
    bool is_large;    /* the last record needs more memory than a record may */
};

/* ---- building a window ---- */

/* Quarantines an unreadable record: no version of ours could have written it, or a later version
 * did. */
static bool set_unreadable_aside(struct fp_writer *writer, const struct fp_spool_record *record,
                                 enum fp_delta_error error)
{
    if (record->sequence <= writer->aside_sequence)
        return true;
    bool is_later = error == FP_DELTA_VERSION;
    if (!fp_writer_set_aside(writer, record, is_later ? "unknown-version" : "damaged",
                             is_later ? "a later version wrote it"
                                      : "no version writes such bytes"))
        return false;
    writer->aside_sequence = record->sequence;
    return true;
}

/* Adds an upload to the rollup; false when there is no room. */
static bool add_upload(struct fp_writer *writer, const struct fp_delta *delta,
                       struct window *window)
{
    switch (fp_rollup_add(&writer->rollup, delta)) {
    case FP_ROLLUP_COUNTED:
        window->counted++;
        return true;
    case FP_ROLLUP_DUPLICATE:
        window->duplicates++;
        return true;
    case FP_ROLLUP_MISDATED:
        window->counted++;
        window->misdated++;
        return true;
    case FP_ROLLUP_NO_ROOM:
    default:
        return false;
    }
}

/* Adds a record's uploads to the rollup: all of them, or none if one is unreadable. */
static enum fp_store_result add_record(struct fp_writer *writer,
                                       const struct fp_spool_record *record, struct window *window)
{
    struct fp_record uploads;
    if (record->sequence == writer->skip_sequence)
        return FP_STORE_OK;
    fp_arena_clear(&writer->arena);
    enum fp_delta_error error =
        fp_record_decode(record->bytes, record->len, &writer->arena, &uploads);
    if (error == FP_DELTA_MEMORY)
        return writer->arena.full ? FP_STORE_REFUSED : FP_STORE_MEMORY;
    if (error != FP_DELTA_OK)
        return set_unreadable_aside(writer, record, error) ? FP_STORE_OK : FP_STORE_MEMORY;
    size_t counted_before = window->counted;
    for (size_t i = 0; i < uploads.count; i++) {
        if (!add_upload(writer, &uploads.deltas[i], window))
            return fp_rollup_is_over(&writer->rollup) ? FP_STORE_REFUSED : FP_STORE_MEMORY;
    }
    if (record->sequence <= writer->recount_until)
        window->recounted += window->counted - counted_before;
    return FP_STORE_OK;
}

/*
 * Adds the records after the position up to `until`, at most max_records, to the rollup.
 * FP_STORE_REFUSED: one of them needs more memory than a record may; it is the last of the window.
 * FP_STORE_MEMORY: the machine has none now.
 */
static enum fp_store_result add_records(struct fp_writer *writer, uint64_t until,
                                        size_t max_records, struct window *window)
{
    enum fp_store_result result = FP_STORE_OK;
    FP_ASSERT(max_records > 0);
    *window = (struct window){.end = writer->position};
    while (window->end < until && window->records < max_records) {
        size_t left = max_records - window->records;
        struct fp_spool_batch batch;
        if (fp_spool_read(writer->spool, window->end, FP_READ_BYTES,
                          left < READ_RECORDS ? left : READ_RECORDS, &batch) != FP_SPOOL_OK)
            return FP_STORE_MEMORY;
        if (batch.count == 0)
            break;
        for (size_t i = 0; i < batch.count && batch.records[i].sequence <= until; i++) {
            FP_ASSERT(batch.records[i].sequence > window->end);
            result = add_record(writer, &batch.records[i], window);
            if (window->records++ == 0)
                fp_writer_keep_sample(writer, &batch.records[i]);
            window->end = batch.records[i].sequence;
            window->is_large = result == FP_STORE_REFUSED;
            if (result != FP_STORE_OK)
                return result;
            if (until == UINT64_MAX && fp_rollup_is_full(&writer->rollup))
                return FP_STORE_OK;
        }
        if (batch.records[batch.count - 1].sequence > until)
            break;
    }
    return result;
}

/* ---- flushing it ---- */

/* Says whether what the database refused can be a record's fault. FP_STORE_TROUBLE: somebody
 * changed the schema. A value has its record found first. */
static enum fp_store_result examine(struct fp_writer *writer, const struct window *window)
{
    if (window->is_large || (window->records > 1 && fp_store_blames_value(writer->store)))
        return FP_STORE_OK;
    enum fp_store_result result = fp_store_find_culprit(writer->store);
    if (result != FP_STORE_OK)
        return result;
    return fp_store_culprit(writer->store)->is_certain ? FP_STORE_TROUBLE : FP_STORE_OK;
}

/* Halves a refused window for the next try; decides on a single record. */
static enum fp_store_result halve(struct fp_writer *writer, const struct window *window)
{
    FP_ASSERT(window->records > 0);
    fp_writer_note_refused(writer, window->end);
    enum fp_store_result result = examine(writer, window);
    if (result != FP_STORE_OK)
        return result;
    fp_writer_shrink_window(writer, window->records);
    if (window->records > 1)
        return FP_STORE_OK;
    if (window->is_large)
        return fp_writer_set_head_aside(writer, "it needs more memory than a record may");
    return fp_writer_settle_refused(writer);
}

/* Makes the next window smaller if this one failed for its size. */
static void heed_failure(struct fp_writer *writer, const struct window *window)
{
    if (fp_store_lacked_memory(writer->store))
        fp_writer_shrink_window(writer, window->records);
    else if (fp_store_timed_out(writer->store))
        fp_writer_note_timeout(writer, window->records);
}

static enum fp_store_result write_window(struct fp_writer *writer, struct window *window,
                                         size_t *entries)
{
    uint64_t end = window->end;
    uint64_t start = writer->database_position;
    FP_ASSERT(window->records > 0 && end > writer->position);
    const struct fp_store_window moves = {fp_spool_id(writer->spool), start,
                                          end > start ? end : start};
    size_t known;
    enum fp_store_result result = fp_writer_tell_sessions(writer, &writer->rollup);
    if (result == FP_STORE_OK)
        result = fp_store_claim(writer->store, &moves, &writer->rollup, &known);
    if (result != FP_STORE_OK)
        return result;
    if (known > 0) {
        fp_rollup_recount(&writer->rollup);
        result = add_records(writer, end, SIZE_MAX, window);
        if (result != FP_STORE_OK) {
            fp_store_abandon(writer->store);
            return result;
        }
    }
    writer->doubted_end = moves.end;
    result = fp_store_commit(writer->store, &writer->rollup, entries);
    if (result == FP_STORE_OK)
        writer->counted = writer->database_position = moves.end;
    if (result == FP_STORE_OK || result == FP_STORE_REFUSED)
        writer->doubted_end = 0;
    return result;
}

static void count_flush(struct fp_writer *writer, const struct window *window, size_t entries,
                        int64_t took_us)
{
    struct fp_metric_set *metrics = writer->metrics;
    FP_ASSERT(window->misdated <= window->counted && window->recounted <= window->counted);
    fp_metrics_add(metrics, FP_METRIC_FLUSHES, 1);
    fp_metrics_add(metrics, FP_METRIC_FLUSH_ROWS, entries);
    fp_metrics_add(metrics, FP_METRIC_UPLOADS_FLUSHED, window->counted);
    fp_metrics_add(metrics, FP_METRIC_UPLOADS_DUPLICATE, window->duplicates);
    fp_metrics_add(metrics, FP_METRIC_UPLOADS_MISDATED, window->misdated);
    fp_metrics_add(metrics, FP_METRIC_UPLOADS_RECOUNTED, window->recounted);
    fp_metrics_observe_us(metrics, FP_METRIC_FLUSH_SECONDS, took_us);
    fp_metrics_set(metrics, FP_METRIC_LAST_FLUSH, fp_clock_real_us());
}

/* Tells the sealer what was flushed. */
static void tell_sealer(const struct fp_writer *writer, size_t entries)
{
    const struct fp_rows *hours = &writer->rollup.tables[FP_ROLLUP_TABLE_HOUR];
    int64_t oldest_us = INT64_MAX;
    for (size_t i = 0; i < hours->count; i++) {
        const struct fp_hour_row *hour = fp_rows_at(hours, i);
        if (hour->key.bucket_us < oldest_us)
            oldest_us = hour->key.bucket_us;
    }
    if (writer->settings.note_flush != NULL && hours->count > 0)
        writer->settings.note_flush(writer->settings.sealer, entries, oldest_us);
}

void fp_writer_trim(struct fp_writer *writer)
{
    /* The database has the position. The spool logs when it cannot note it, and tries again. */
    (void)fp_spool_trim(writer->spool, writer->position);
}

enum fp_store_result fp_writer_flush(struct fp_writer *writer)
{
    struct fp_rollup_clock clock;
    struct window window;
    size_t entries = 0;
    writer->flush_began_us = fp_clock_monotonic_us();
    enum fp_store_result result = fp_store_read_clock(writer->store, &clock);
    if (result != FP_STORE_OK)
        return result;
    fp_rollup_clear(&writer->rollup, &clock);
    uint64_t tail = fp_spool_tail(writer->spool);
    writer->flush_tail = tail;
    result = add_records(writer, UINT64_MAX, writer->window_records, &window);
    if (result == FP_STORE_OK && window.records == 0)
        writer->position = tail; /* the records are gone: trimmed before the start, or damaged */
    else if (result == FP_STORE_OK)
        result = write_window(writer, &window, &entries);
    if (result == FP_STORE_REFUSED)
        return halve(writer, &window);
    if (result == FP_STORE_DOWN)
        heed_failure(writer, &window);
    if (result != FP_STORE_OK || window.records == 0)
        return result;
    int64_t took_us = fp_clock_monotonic_us() - writer->flush_began_us;
    FP_ASSERT(window.end > writer->position);
    writer->position = window.end;
    count_flush(writer, &window, entries, took_us);
    tell_sealer(writer, entries);
    fp_writer_note_committed(writer, window.counted);
    fp_writer_adapt_window(writer, window.records, took_us);
    fp_writer_trim(writer);
    return FP_STORE_OK;
}
