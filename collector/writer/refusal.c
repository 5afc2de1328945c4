/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refusal: is this record bad, or does the database refuse everything?
 *
 * A record that the database refuses alone is quarantined only if the database takes another one: a
 * witness. Without it, somebody has changed the schema. Then the spool keeps all records, and the
 * writer tries again until the database takes one.
 *
 * A witness is, in this order: a commit since the refusal began; a record further on in the spool,
 * which is rehearsed (written and rolled back); if nothing else waits, the last record that was
 * committed. The first and the last are of the past, so they vouch for few records in a row.
 */
#include "collector/writer/internal.h"

#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/base/uuid.h"
#include "collector/rollup/record.h"

#include <inttypes.h>

enum {
    REHEARSED_NEXT = 8,    /* records after the refused one */
    REHEARSED_NEWEST = 8,  /* of the end of the spool: a burst of bad records ends somewhere */
    REHEARSED_BETWEEN = 8, /* at random places, others at each try: there may be a second burst */
    PAST_VOUCHES_FOR = 3,  /* records without a commit between them */
    DETAIL_MAX = 512,
};

/* A search for a witness. */
struct search {
    bool is_taken;  /* the database would have counted a record */
    size_t refused; /* records that it refuses */
};

bool fp_writer_set_aside(struct fp_writer *writer, const struct fp_spool_record *record,
                         const char *reason, const char *detail)
{
    if (fp_spool_quarantine(writer->spool, record, detail) != FP_SPOOL_OK)
        return false;
    size_t uploads = fp_record_count(record->bytes, record->len);
    fp_metrics_add(writer->metrics, FP_METRIC_UPLOADS_QUARANTINED, uploads > 0 ? uploads : 1);
    fp_log(FP_LOG_ERROR, "upload set aside", "reason=%s sequence=%" PRIu64 " uploads=%zu detail=%s",
           reason, record->sequence, uploads, detail);
    return true;
}

/* Makes uploads of an earlier record look new. */
static bool renew(struct fp_record *uploads)
{
    for (size_t i = 0; i < uploads->count; i++) {
        uploads->deltas[i].received_us = fp_clock_real_us();
        if (!fp_uuid_random(&uploads->deltas[i].id))
            return false;
    }
    return true;
}

/* Writes the only record of the rollup, and rolls back. */
static enum fp_store_result rehearse_rollup(struct fp_writer *writer, uint64_t sequence,
                                            struct search *search)
{
    uint64_t start = writer->database_position;
    const struct fp_store_window moves = {fp_spool_id(writer->spool), start,
                                          sequence > start ? sequence : start};
    size_t known = 0;
    enum fp_store_result result = fp_store_rehearse(writer->store, &moves, &writer->rollup, &known);
    search->is_taken = result == FP_STORE_OK && known == 0;
    if (result != FP_STORE_REFUSED)
        return result;
    search->refused++;
    return FP_STORE_OK;
}

/* Rehearses a record. One that cannot be read, or was counted before, is not a witness. */
static enum fp_store_result rehearse(struct fp_writer *writer, const struct fp_spool_record *record,
                                     bool is_old, struct search *search)
{
    struct fp_record uploads;
    const struct fp_map *known_rows = writer->rollup.known;
    const struct fp_rollup_clock clock = writer->rollup.clock;
    fp_arena_clear(&writer->arena);
    if (fp_record_decode(record->bytes, record->len, &writer->arena, &uploads) != FP_DELTA_OK ||
        (is_old && !renew(&uploads)))
        return FP_STORE_OK;
    fp_rollup_clear(&writer->rollup, &clock);
    /* Dictionary rows that are written already would prove nothing. */
    writer->rollup.known = NULL;
    bool has_room = true;
    for (size_t i = 0; has_room && i < uploads.count; i++)
        has_room = fp_rollup_add(&writer->rollup, &uploads.deltas[i]) != FP_ROLLUP_NO_ROOM;
    enum fp_store_result result =
        has_room ? rehearse_rollup(writer, record->sequence, search) : FP_STORE_OK;
    writer->rollup.known = known_rows;
    return result;
}

/* Rehearses up to `count` records after a sequence number, until one is taken. */
static enum fp_store_result rehearse_after(struct fp_writer *writer, uint64_t after, size_t count,
                                           struct search *search)
{
    struct fp_spool_batch batch;
    enum fp_store_result result = FP_STORE_OK;
    if (fp_spool_read(writer->spool, after, FP_READ_BYTES, count, &batch) != FP_SPOOL_OK)
        return FP_STORE_MEMORY;
    for (size_t i = 0; result == FP_STORE_OK && !search->is_taken && i < batch.count; i++) {
        result = rehearse(writer, &batch.records[i], false, search);
        if (search->is_taken)
            writer->witness_sequence = batch.records[i].sequence;
    }
    return result;
}

static enum fp_store_result rehearse_last_committed(struct fp_writer *writer, struct search *search)
{
    const struct fp_spool_record record = {.sequence = writer->database_position,
                                           .bytes = writer->committed.data,
                                           .len = writer->committed.len};
    if (record.len == 0 || writer->refused_in_a_row >= PAST_VOUCHES_FOR)
        return FP_STORE_OK;
    return rehearse(writer, &record, true, search);
}

/* Rehearses records at random places after one sequence number and up to another. */
static enum fp_store_result rehearse_between(struct fp_writer *writer, uint64_t after, uint64_t end,
                                             struct search *search)
{
    enum fp_store_result result = FP_STORE_OK;
    for (size_t i = 0; result == FP_STORE_OK && !search->is_taken && i < REHEARSED_BETWEEN; i++) {
        struct fp_uuid drawn;
        uint64_t number = 0;
        if (!fp_uuid_random(&drawn))
            return FP_STORE_MEMORY;
        memcpy(&number, drawn.bytes + 10, 6); /* those before have bits that are fixed */
        result = rehearse_after(writer, after + number % (end - after), 1, search);
    }
    return result;
}

/* Looks beyond the records that follow the refused one. */
static enum fp_store_result find_far_witness(struct fp_writer *writer, uint64_t after,
                                             struct search *search)
{
    uint64_t tail = fp_spool_tail(writer->spool);
    uint64_t newest_after = tail > after + REHEARSED_NEWEST ? tail - REHEARSED_NEWEST : after;
    enum fp_store_result result = FP_STORE_OK;
    if (tail > after)
        result = rehearse_after(writer, newest_after, REHEARSED_NEWEST, search);
    if (result == FP_STORE_OK && !search->is_taken && newest_after > after)
        result = rehearse_between(writer, after, newest_after, search);
    return result;
}

/* Looks for a record that the database takes, beside the refused one. */
static enum fp_store_result find_witness(struct fp_writer *writer, uint64_t refused,
                                         struct search *search)
{
    enum fp_store_result result = FP_STORE_OK;
    if (writer->witness_sequence > refused)
        result = rehearse_after(writer, writer->witness_sequence - 1, 1, search);
    if (result == FP_STORE_OK && !search->is_taken)
        result = rehearse_after(writer, refused, REHEARSED_NEXT, search);
    if (result == FP_STORE_OK && !search->is_taken)
        result = find_far_witness(writer, refused + REHEARSED_NEXT, search);
    if (result == FP_STORE_OK && !search->is_taken && search->refused == 0)
        result = rehearse_last_committed(writer, search);
    return result;
}

/* *is_bad: the record at the head of the spool is to blame, and not the schema. */
static enum fp_store_result blame(struct fp_writer *writer, uint64_t sequence, bool *is_bad)
{
    struct search search = {0};
    *is_bad = writer->has_committed && writer->refused_in_a_row < PAST_VOUCHES_FOR;
    if (*is_bad)
        return FP_STORE_OK;
    enum fp_store_result result = find_witness(writer, sequence, &search);
    *is_bad = search.is_taken;
    return result;
}

/* Reads the record at the head of the spool. */
static bool read_head(struct fp_writer *writer, struct fp_spool_batch *batch)
{
    return fp_spool_read(writer->spool, writer->position, FP_READ_BYTES, 1, batch) == FP_SPOOL_OK &&
           batch->count > 0;
}

enum fp_store_result fp_writer_settle_refused(struct fp_writer *writer)
{
    struct fp_spool_batch batch;
    char detail[DETAIL_MAX];
    bool is_bad;
    snprintf(detail, sizeof(detail), "%s", fp_store_message(writer->store));
    if (!read_head(writer, &batch))
        return FP_STORE_MEMORY;
    enum fp_store_result result = blame(writer, batch.records[0].sequence, &is_bad);
    if (result != FP_STORE_OK)
        return result;
    return is_bad ? fp_writer_set_head_aside(writer, detail) : FP_STORE_TROUBLE;
}

enum fp_store_result fp_writer_set_head_aside(struct fp_writer *writer, const char *detail)
{
    struct fp_spool_batch batch;
    if (!read_head(writer, &batch) ||
        !fp_writer_set_aside(writer, &batch.records[0], "refused", detail))
        return FP_STORE_MEMORY;
    writer->skip_sequence = batch.records[0].sequence;
    writer->has_committed = false;
    writer->refused_in_a_row++;
    return FP_STORE_OK;
}

void fp_writer_note_refused(struct fp_writer *writer, uint64_t end)
{
    fp_metrics_add(writer->metrics, FP_METRIC_FLUSH_REFUSALS, 1);
    if (writer->refused_end <= writer->position) {
        writer->refused_end = end;
        writer->has_committed = false;
    }
}

void fp_writer_note_committed(struct fp_writer *writer, size_t counted)
{
    if (counted == 0)
        return;
    struct fp_buf last = writer->committed;
    writer->has_committed = true;
    writer->refused_in_a_row = 0;
    writer->committed = writer->sample;
    writer->sample = last;
}

void fp_writer_keep_sample(struct fp_writer *writer, const struct fp_spool_record *record)
{
    fp_buf_clear(&writer->sample);
    if (record->len <= FP_SAMPLE_MAX)
        fp_buf_add(&writer->sample, record->bytes, record->len);
}
