/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollup: adds deltas, table by table.
 */
#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/rollup/addition.h"
#include "collector/rollup/dimension.h"
#include "collector/rollup/ids.h"
#include "collector/rollup/without.h"

#include <endian.h>

#define ID_WORDS 1
#define HOUR_WORDS (sizeof(struct fp_hour_key) / sizeof(int64_t))
#define FACT_WORDS (sizeof(struct fp_fact_key) / sizeof(int64_t))
#define MEASURE_FRAME_WORDS (sizeof(struct fp_measure_frame_key) / sizeof(int64_t))
#define VITAL_WORDS (sizeof(struct fp_vital_key) / sizeof(int64_t))
#define CLAIM_WORDS (sizeof(struct fp_claim_key) / sizeof(int64_t))

static const struct {
    size_t row_len;
    size_t key_words;
} shapes[FP_ROLLUP_TABLE_COUNT] = {
    [FP_ROLLUP_TABLE_SEGMENT] = {sizeof(struct fp_segment_row), ID_WORDS},
    [FP_ROLLUP_TABLE_RESOURCE] = {sizeof(struct fp_resource_row), ID_WORDS},
    [FP_ROLLUP_TABLE_FRAME] = {sizeof(struct fp_frame_row), ID_WORDS},
    [FP_ROLLUP_TABLE_STACK] = {sizeof(struct fp_stack_row), ID_WORDS},
    [FP_ROLLUP_TABLE_TIMING] = {sizeof(struct fp_timing_row), ID_WORDS},
    [FP_ROLLUP_TABLE_HOUR] = {sizeof(struct fp_hour_row), HOUR_WORDS},
    [FP_ROLLUP_TABLE_TOTAL_FACT] = {sizeof(struct fp_total_fact), FACT_WORDS},
    [FP_ROLLUP_TABLE_FRAME_FACT] = {sizeof(struct fp_frame_fact), FACT_WORDS},
    [FP_ROLLUP_TABLE_FRAME_MARKER_FACT] = {sizeof(struct fp_frame_marker_fact), FACT_WORDS},
    [FP_ROLLUP_TABLE_STACK_FACT] = {sizeof(struct fp_stack_fact), FACT_WORDS},
    [FP_ROLLUP_TABLE_TIMING_FACT] = {sizeof(struct fp_timing_fact), FACT_WORDS},
    [FP_ROLLUP_TABLE_TIMING_BIN_FACT] = {sizeof(struct fp_timing_bin_fact), FACT_WORDS},
    [FP_ROLLUP_TABLE_MEASURE_FACT] = {sizeof(struct fp_measure_fact), FACT_WORDS},
    [FP_ROLLUP_TABLE_MEASURE_FRAME_FACT] = {sizeof(struct fp_measure_frame_fact),
                                            MEASURE_FRAME_WORDS},
    [FP_ROLLUP_TABLE_SESSION] = {sizeof(struct fp_session_row), FACT_WORDS},
    [FP_ROLLUP_TABLE_TIMELINE] = {sizeof(struct fp_timeline_row), FACT_WORDS},
    [FP_ROLLUP_TABLE_EVENT] = {sizeof(struct fp_event_row), FACT_WORDS},
    [FP_ROLLUP_TABLE_REFUSAL] = {sizeof(struct fp_refusal_row), FACT_WORDS},
    [FP_ROLLUP_TABLE_VITAL] = {sizeof(struct fp_vital_row), VITAL_WORDS},
    [FP_ROLLUP_TABLE_UPLOAD] = {sizeof(struct fp_upload_row), CLAIM_WORDS},
    [FP_ROLLUP_TABLE_LOAD] = {sizeof(struct fp_load_row), CLAIM_WORDS},
};

void fp_rollup_init(struct fp_rollup *rollup, size_t full_bytes, size_t max_bytes)
{
    *rollup =
        (struct fp_rollup){.full_bytes = full_bytes, .max_bytes = max_bytes, .budget = max_bytes};
    for (size_t i = 0; i < FP_ROLLUP_TABLE_COUNT; i++)
        fp_rows_init(&rollup->tables[i], shapes[i].row_len, shapes[i].key_words, &rollup->budget);
    fp_arena_init(&rollup->texts, max_bytes);
}

void fp_rollup_release(struct fp_rollup *rollup)
{
    for (size_t i = 0; i < FP_ROLLUP_TABLE_COUNT; i++)
        fp_rows_release(&rollup->tables[i]);
    fp_arena_release(&rollup->texts);
}

/* Empties the first `count` tables and the texts. Frees their memory if it is more than a full
 * window needs: that of a huge upload, or of windows that filled different tables. */
static void clear_tables(struct fp_rollup *rollup, size_t count)
{
    bool is_swollen =
        rollup->max_bytes - rollup->budget > rollup->full_bytes + rollup->full_bytes / 4;
    for (size_t i = 0; i < count; i++) {
        if (is_swollen)
            fp_rows_release(&rollup->tables[i]);
        else
            fp_rows_clear(&rollup->tables[i]);
    }
}

void fp_rollup_clear(struct fp_rollup *rollup, const struct fp_rollup_clock *clock)
{
    clear_tables(rollup, FP_ROLLUP_TABLE_COUNT);
    fp_arena_clear(&rollup->texts);
    rollup->clock = *clock;
}

void fp_rollup_recount(struct fp_rollup *rollup)
{
    /* The texts stay: the upload rows refer to some. */
    clear_tables(rollup, FP_ROLLUP_TABLE_UPLOAD);
    fp_rows_clear(&rollup->tables[FP_ROLLUP_TABLE_LOAD]);
    struct fp_rows *uploads = &rollup->tables[FP_ROLLUP_TABLE_UPLOAD];
    for (size_t i = 0; i < uploads->count; i++)
        ((struct fp_upload_row *)fp_rows_at(uploads, i))->counted = false;
}

bool fp_rollup_is_over(const struct fp_rollup *rollup)
{
    bool is_over = rollup->texts.full;
    for (size_t i = 0; i < FP_ROLLUP_TABLE_COUNT; i++)
        is_over = is_over || rollup->tables[i].is_over;
    return is_over;
}

bool fp_rollup_is_full(const struct fp_rollup *rollup)
{
    size_t used = rollup->texts.used_bytes;
    for (size_t i = 0; i < FP_ROLLUP_TABLE_COUNT; i++)
        used += fp_rows_used_bytes(&rollup->tables[i]);
    return used >= rollup->full_bytes ||
           rollup->tables[FP_ROLLUP_TABLE_UPLOAD].count >= FP_ROLLUP_MAX_UPLOADS;
}

static bool add_segment(const struct fp_addition *add)
{
    if (fp_addition_knows_segment(add))
        return true;
    bool added;
    struct fp_segment_row *row =
        fp_rows_put(&add->rollup->tables[FP_ROLLUP_TABLE_SEGMENT], &add->segment_id, &added);
    if (row == NULL)
        return false;
    if (added || add->counted_us < row->first_us)
        row->first_us = add->counted_us;
    if (!added)
        return true;
    const struct fp_segment *names = &add->delta->segment;
    row->names.rate_ppm = names->rate_ppm;
    for (size_t i = 0; i < FP_DIMENSION_COUNT; i++) {
        const struct fp_str name = fp_dimension_of(names, i);
        if (!fp_addition_text(add, name.len > 0 ? name : fp_str_of(fp_dimensions[i].absent),
                              fp_dimension_text(&row->names, i)))
            return false;
    }
    return true;
}

static bool add_hour(const struct fp_addition *add)
{
    const struct fp_hour_key key = {add->site_id, add->bucket_us};
    bool added;
    struct fp_hour_row *row =
        fp_rows_put(&add->rollup->tables[FP_ROLLUP_TABLE_HOUR], &key.site_id, &added);
    return row != NULL && (!added || fp_addition_text(add, add->delta->segment.site, &row->site));
}

/* Adds samples to the total of a marker. NULL: no room. */
static struct fp_total_fact *add_total(const struct fp_addition *add, int64_t marker,
                                       int64_t samples, int64_t self_us)
{
    struct fp_total_fact *total = fp_addition_fact(add, FP_ROLLUP_TABLE_TOTAL_FACT, 0, marker);
    if (total == NULL)
        return NULL;
    total->samples += samples;
    total->self_us += self_us;
    total->site_id = add->site_id;
    return total;
}

static bool add_upload_total(const struct fp_addition *add)
{
    const struct fp_delta *delta = add->delta;
    struct fp_total_fact *total =
        add_total(add, FP_TOTAL_UNATTRIBUTED, delta->unattributed_samples, delta->unattributed_us);
    if (total == NULL)
        return false;
    total->unseen_us += delta->unseen_us;
    if (!fp_delta_is_profiled(delta))
        return true;
    double profiled_us = (double)delta->profiled_us;
    total->uploads++;
    total->loads += delta->has_load ? 0 : 1;
    total->profiled_us2 += profiled_us * profiled_us;
    return true;
}

static bool add_resources(const struct fp_addition *add)
{
    const struct fp_delta *delta = add->delta;
    for (uint32_t i = 0; i < delta->resource_count; i++) {
        void *added;
        if (!fp_addition_name(add, FP_ROLLUP_TABLE_RESOURCE, delta->resources[i].id, &added))
            return false;
        struct fp_resource_row *row = added;
        if (row != NULL && (!fp_addition_text(add, delta->segment.site, &row->site) ||
                            !fp_addition_text(add, delta->resources[i].url, &row->url)))
            return false;
    }
    return true;
}

static bool add_frame_name(const struct fp_addition *add, const struct fp_delta_frame *frame)
{
    void *added;
    if (!fp_addition_name(add, FP_ROLLUP_TABLE_FRAME, frame->id, &added))
        return false;
    struct fp_frame_row *row = added;
    if (row == NULL)
        return true;
    row->line = frame->line;
    row->column = frame->column;
    row->kind = frame->kind;
    FP_ASSERT(frame->resource == FP_INDEX_NONE || frame->resource < add->delta->resource_count);
    if (frame->resource != FP_INDEX_NONE)
        row->resource_id = (int64_t)add->delta->resources[frame->resource].id;
    return fp_addition_text(add, frame->function, &row->function);
}

/* True if an upload with these numbers counts as one. Otherwise it only corrects an earlier part.
 */
static bool is_counted(uint32_t samples, int64_t us)
{
    return samples > 0 || us > 0;
}

/* True if some time or sample of the frame has no marker. split: the first of its splits, if it has
 * any; set to the first of a later frame. */
static bool has_unmarked(const struct fp_delta *delta, const struct fp_delta_frame *frame,
                         uint32_t *split)
{
    const uint32_t index = (uint32_t)(frame - delta->frames);
    int64_t marked_us = 0;
    for (; *split < delta->split_count && delta->splits[*split].frame <= index; ++*split)
        if (delta->splits[*split].frame == index)
            marked_us += delta->splits[*split].total_us;
    return frame->samples > frame->marked_samples || frame->total_us > marked_us;
}

static bool add_frame(const struct fp_addition *add, const struct fp_delta_frame *frame,
                      struct fp_frame_fact *fact, bool is_new)
{
    /* A frame with a fact in this window also has its name there. */
    if (fact == NULL || (is_new && !add_frame_name(add, frame)))
        return false;
    double profiled_us = (double)add->delta->profiled_us;
    double self_us = (double)frame->self_us;
    double total_us = (double)frame->total_us;
    fact->uploads += is_counted(frame->samples, frame->total_us);
    fact->samples += frame->samples;
    fact->self_us += frame->self_us;
    fact->total_us += frame->total_us;
    fact->self_us2 += self_us * self_us;
    fact->total_us2 += total_us * total_us;
    fact->self_profiled += self_us * profiled_us;
    fact->total_profiled += total_us * profiled_us;
    return true;
}

static bool has_no_numbers(const struct fp_delta_frame *frame)
{
    return frame->samples == 0 && frame->total_us == 0;
}

static bool add_frames(const struct fp_addition *add)
{
    struct fp_addition_batch batch;
    uint32_t split = 0;
    uint32_t end = add->delta->frame_count;
    /* Frames of earlier parts are the last. They have names here, and numbers in measures only. */
    for (; end > 0 && has_no_numbers(&add->delta->frames[end - 1]); end--)
        if (!add_frame_name(add, &add->delta->frames[end - 1]))
            return false;
    for (uint32_t first = 0; first < end; first += batch.count) {
        const struct fp_delta_frame *frames = add->delta->frames + first;
        fp_addition_begin_batch(&batch, end - first);
        for (uint32_t i = 0; i < batch.count; i++)
            batch.keys[i] = fp_addition_key(add, frames[i].id, 0);
        fp_addition_prefetch(add, FP_ROLLUP_TABLE_FRAME_FACT, &batch);
        for (uint32_t i = 0; i < batch.count; i++) {
            bool is_new;
            struct fp_frame_fact *fact = fp_addition_put_batched(&batch, i, &is_new);
            if (!add_frame(add, &frames[i], fact, is_new))
                return false;
            fact->unmarked_uploads += has_unmarked(add->delta, &frames[i], &split);
        }
    }
    return true;
}

static bool add_splits(const struct fp_addition *add)
{
    const struct fp_delta *delta = add->delta;
    for (uint32_t i = 0; i < delta->split_count; i++) {
        const struct fp_delta_split *split = &delta->splits[i];
        struct fp_frame_marker_fact *fact =
            fp_addition_fact(add, FP_ROLLUP_TABLE_FRAME_MARKER_FACT, delta->frames[split->frame].id,
                             (int64_t)split->marker);
        if (fact == NULL)
            return false;
        fact->uploads++;
        fact->samples += split->samples;
        fact->self_us += split->self_us;
        fact->total_us += split->total_us;
    }
    return true;
}

/* Adds the names of a stack and its ancestors, up to the first that has one: those above it have
 * theirs. */
static bool add_stack_names(const struct fp_addition *add, uint32_t index)
{
    const struct fp_delta *delta = add->delta;
    while (index != FP_INDEX_NONE) {
        const struct fp_delta_stack *stack = &delta->stacks[index];
        void *added;
        if (!fp_addition_name(add, FP_ROLLUP_TABLE_STACK, stack->id, &added))
            return false;
        struct fp_stack_row *row = added;
        if (row == NULL)
            return true;
        row->frame_id = (int64_t)delta->frames[stack->frame].id;
        row->level = (int32_t)stack->level;
        if (stack->parent != FP_INDEX_NONE)
            row->parent_id = (int64_t)delta->stacks[stack->parent].id;
        index = stack->parent;
    }
    return true;
}

static bool add_stack_sample(const struct fp_addition *add,
                             const struct fp_delta_stack_sample *sample, struct fp_stack_fact *fact,
                             bool is_new)
{
    if (fact == NULL || (is_new && !add_stack_names(add, sample->stack)))
        return false;
    fact->uploads += is_counted(sample->samples, sample->self_us);
    fact->samples += sample->samples;
    fact->self_us += sample->self_us;
    return true;
}

static bool add_stack_samples(const struct fp_addition *add)
{
    const struct fp_delta *delta = add->delta;
    struct fp_addition_batch batch;
    uint32_t end = delta->stack_sample_count;
    for (uint32_t first = 0; first < end; first += batch.count) {
        const struct fp_delta_stack_sample *samples = delta->stack_samples + first;
        fp_addition_begin_batch(&batch, end - first);
        for (uint32_t i = 0; i < batch.count; i++)
            batch.keys[i] = fp_addition_key(add, delta->stacks[samples[i].stack].id,
                                            (int64_t)samples[i].marker);
        fp_addition_prefetch(add, FP_ROLLUP_TABLE_STACK_FACT, &batch);
        for (uint32_t i = 0; i < batch.count; i++) {
            bool is_new;
            struct fp_stack_fact *fact = fp_addition_put_batched(&batch, i, &is_new);
            if (!add_stack_sample(add, &samples[i], fact, is_new))
                return false;
        }
    }
    return true;
}

static bool add_markers(const struct fp_addition *add)
{
    const struct fp_delta *delta = add->delta;
    struct fp_total_fact sums[FP_MARKER_COUNT] = {0};
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        const struct fp_delta_stack_sample *sample = &delta->stack_samples[i];
        sums[sample->marker].samples += sample->samples;
        sums[sample->marker].self_us += sample->self_us;
    }
    for (int64_t marker = 0; marker < FP_MARKER_COUNT; marker++) {
        const struct fp_total_fact *sum = &sums[marker];
        bool has_numbers = sum->samples > 0 || sum->self_us != 0;
        if (has_numbers && add_total(add, marker, sum->samples, sum->self_us) == NULL)
            return false;
    }
    return true;
}

static bool add_bins(const struct fp_addition *add, const struct fp_delta_timing *timing)
{
    for (uint32_t i = 0; i < timing->bin_count; i++) {
        const struct fp_delta_bin *bin = &add->delta->bins[timing->first_bin + i];
        struct fp_timing_bin_fact *fact =
            fp_addition_fact(add, FP_ROLLUP_TABLE_TIMING_BIN_FACT, timing->id, bin->bin);
        if (fact == NULL)
            return false;
        fact->count += bin->count;
    }
    return true;
}

/* Notes where a page load is first seen, as a whole or, with the id of a timing, in that timing. It
 * counts there unless the database knows the id. */
static bool claim(const struct fp_addition *add, const struct fp_uuid *id, int64_t timing_id)
{
    struct fp_claim_key key = fp_claim_key(id, add->site_id);
    bool added;
    struct fp_load_row *row =
        fp_rows_put(&add->rollup->tables[FP_ROLLUP_TABLE_LOAD], &key.high, &added);
    if (row == NULL || !added)
        return row != NULL;
    row->id = *id;
    row->segment_id = add->segment_id;
    row->bucket_us = add->bucket_us;
    row->received_us = add->delta->received_us;
    row->timing_id = timing_id;
    return true;
}

/* Adds to the number of values of a timing. Of what was left out, that is page loads: each counts
 * once, however many of its uploads say so. */
static bool add_count(const struct fp_addition *add, const struct fp_delta_timing *timing,
                      struct fp_timing_fact *fact)
{
    const bool is_of_loads = timing->kind == FP_TIMING_LEFT_OUT && timing->source.len == 0;
    if (is_of_loads && add->delta->has_load) {
        const struct fp_uuid id = fp_left_out_id(timing->id, &add->delta->load);
        return claim(add, &id, (int64_t)timing->id);
    }
    fact->count += timing->count;
    return true;
}

static bool add_timings(const struct fp_addition *add)
{
    const struct fp_delta *delta = add->delta;
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        bool added;
        if (!fp_addition_timing_name(add, timing))
            return false;
        if (timing->count == 0) /* an earlier part of the page load has its values */
            continue;
        struct fp_timing_fact *fact =
            fp_addition_put(add, FP_ROLLUP_TABLE_TIMING_FACT, timing->id, 0, &added);
        if (fact == NULL || !add_count(add, timing, fact) || !add_bins(add, timing))
            return false;
        if (added || timing->min_us < fact->min_us)
            fact->min_us = timing->min_us;
        if (added || timing->max_us > fact->max_us)
            fact->max_us = timing->max_us;
        fact->uploads++;
        fact->negative += timing->negative;
        fact->sum_us += (double)timing->sum_us;
    }
    return true;
}

static bool add_refusals(const struct fp_addition *add)
{
    const struct fp_delta *delta = add->delta;
    for (uint32_t i = 0; i < delta->refusal_count; i++) {
        const struct fp_delta_refusal *refusal = &delta->refusals[i];
        struct fp_refusal_row *row = fp_addition_fact(
            add, FP_ROLLUP_TABLE_REFUSAL, (uint64_t)delta->format, (int64_t)refusal->reason);
        if (row == NULL)
            return false;
        bool is_latest = row->uploads == 0 || delta->received_us >= row->latest_us;
        row->format = delta->format;
        row->reason = refusal->reason;
        row->records += refusal->records;
        row->uploads++;
        if (!is_latest)
            continue;
        row->latest_us = delta->received_us;
        if (!fp_addition_text(add, refusal->place, &row->place))
            return false;
    }
    return true;
}

static bool add_load(const struct fp_addition *add)
{
    const struct fp_delta *delta = add->delta;
    return !delta->has_load || !fp_delta_is_profiled(delta) || claim(add, &delta->load, 0);
}

/* Counts a page load in the timing of what was left out of it. */
static bool count_left_out(struct fp_rollup *rollup, const struct fp_load_row *load)
{
    struct fp_fact_key key = {load->segment_id, load->bucket_us, load->timing_id, 0};
    struct fp_timing_fact *fact =
        fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_TIMING_FACT], &key.segment_id);
    if (fact == NULL)
        return false;
    fact->count++;
    return true;
}

bool fp_rollup_count_load(struct fp_rollup *rollup, const struct fp_claim_key *key)
{
    const struct fp_load_row *load =
        fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_LOAD], &key->high);
    if (load == NULL)
        return false;
    if (load->timing_id != 0)
        return count_left_out(rollup, load);
    struct fp_fact_key fact_key = {load->segment_id, load->bucket_us, 0, FP_TOTAL_UNATTRIBUTED};
    struct fp_total_fact *fact =
        fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_TOTAL_FACT], &fact_key.segment_id);
    if (fact == NULL)
        return false;
    fact->loads++;
    return true;
}

static bool fill_upload(const struct fp_addition *add, struct fp_upload_row *row)
{
    const struct fp_delta *delta = add->delta;
    uint64_t timings = 0;
    for (uint32_t i = 0; i < delta->timing_count; i++)
        timings += delta->timings[i].kind <= FP_TIMING_MEASURE ? delta->timings[i].count : 0;
    struct fp_claim_key key = row->key;
    *row = (struct fp_upload_row){
        .key = key,
        .id = delta->id,
        .load = delta->load,
        .has_load = delta->has_load,
        .segment_id = add->segment_id,
        .bucket_us = add->bucket_us,
        .received_us = delta->received_us,
        .profiled_us = delta->profiled_us,
        .unattributed_us = delta->unattributed_us,
        .unseen_us = delta->unseen_us,
        .part = fp_addition_int32(delta->part),
        .browser_version = fp_addition_int32(delta->browser_version),
        .body_bytes = fp_addition_int32(delta->body_bytes),
        .samples = fp_addition_int32(delta->samples),
        .unattributed_samples = fp_addition_int32(delta->unattributed_samples),
        .timings = fp_addition_int32(timings),
        .skipped_entries = fp_addition_int32(delta->skipped_entries),
        .records_read = fp_addition_int32(delta->records_read),
        .records_refused = fp_addition_int32(delta->records_refused),
        .format = delta->format,
        .coverage = delta->coverage,
        .truncated = delta->truncated,
    };
    return fp_addition_text(add, delta->agent, &row->agent);
}

static bool add_facts(const struct fp_addition *add)
{
    return add_segment(add) && add_hour(add) && add_upload_total(add) && add_resources(add) &&
           add_frames(add) && add_splits(add) && add_stack_samples(add) && add_markers(add) &&
           add_timings(add) && fp_addition_vitals(add) && fp_without_add_profiled(add) &&
           fp_addition_measures(add) && fp_addition_session(add) && add_refusals(add) &&
           add_load(add);
}

/* Returns the self time of all markers, and of none, in this upload's segment and bucket. */
static int64_t rolled_up_us(const struct fp_addition *add)
{
    const struct fp_rows *totals = &add->rollup->tables[FP_ROLLUP_TABLE_TOTAL_FACT];
    int64_t sum_us = 0;
    for (int64_t marker = FP_TOTAL_UNATTRIBUTED; marker < FP_MARKER_COUNT; marker++) {
        const struct fp_fact_key key = fp_addition_key(add, 0, marker);
        const struct fp_total_fact *total = fp_rows_find(totals, &key.segment_id);
        sum_us += total != NULL ? total->self_us : 0;
    }
    return sum_us;
}

/* Returns the self time of all stacks of a delta, and of none. */
static int64_t delta_us(const struct fp_delta *delta)
{
    int64_t sum_us = delta->unattributed_us;
    for (uint32_t i = 0; i < delta->stack_sample_count; i++)
        sum_us += delta->stack_samples[i].self_us;
    return sum_us;
}

static int64_t hour_of(int64_t moment_us)
{
    int64_t into_us = moment_us % FP_US_PER_HOUR;
    return moment_us - into_us - (into_us < 0 ? FP_US_PER_HOUR : 0);
}

/* True if the collector's clock is wrong now and has dated this upload. */
static bool is_wrongly_dated(const struct fp_rollup_clock *clock, int64_t received_us)
{
    return clock->collector_us != 0 && received_us > clock->collector_us - FP_CLOCK_AGREEMENT_US &&
           received_us < clock->collector_us + FP_CLOCK_AGREEMENT_US;
}

/* True if the collector's clock must have been wrong. An acknowledged upload is not lost for that:
 * it counts in the hour of now. */
static bool is_beyond_belief(const struct fp_rollup_clock *clock, int64_t received_us)
{
    return received_us - clock->now_us > FP_US_PER_HOUR ||
           hour_of(received_us) < clock->oldest_us || is_wrongly_dated(clock, received_us);
}

static int64_t counted_at(const struct fp_rollup_clock *clock, int64_t received_us)
{
    return is_beyond_belief(clock, received_us) ? clock->now_us : received_us;
}

enum fp_rollup_result fp_rollup_add(struct fp_rollup *rollup, const struct fp_delta *delta)
{
    struct fp_addition add = {
        .rollup = rollup,
        .delta = delta,
        .site_id = (int64_t)fp_site_id(delta->segment.site),
        .segment_id = (int64_t)fp_segment_id(&delta->segment),
        .counted_us = counted_at(&rollup->clock, delta->received_us),
    };
    add.bucket_us = hour_of(add.counted_us);
    struct fp_claim_key key = fp_claim_key(&delta->id, add.site_id);
    bool added;
    struct fp_upload_row *upload =
        fp_rows_put(&rollup->tables[FP_ROLLUP_TABLE_UPLOAD], &key.high, &added);
    if (upload == NULL || (added && !fill_upload(&add, upload)))
        return FP_ROLLUP_NO_ROOM;
    if (upload->counted || upload->known)
        return FP_ROLLUP_DUPLICATE;
    const int64_t before_us = FP_ASSERT_IS_THOROUGH ? rolled_up_us(&add) : 0;
    if (!add_facts(&add))
        return FP_ROLLUP_NO_ROOM;
    FP_ASSERT_COSTLY(rolled_up_us(&add) == before_us + delta_us(delta));
    upload->counted = true;
    return is_beyond_belief(&rollup->clock, delta->received_us) ? FP_ROLLUP_MISDATED
                                                                : FP_ROLLUP_COUNTED;
}
