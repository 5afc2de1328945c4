/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollup, vitals: values that may be sent again. Of each metric of a page load the last counts:
 * that of the upload with the greatest part, of equal parts that of the upload which is counted
 * last.
 *
 * Invariant: a value is taken back only where this window, or by the database's word an earlier
 * one, has counted it. So no count of any reader falls below zero.
 */
#include "collector/base/assert.h"
#include "collector/rollup/addition.h"
#include "collector/rollup/bins.h"
#include "collector/rollup/ids.h"
#include "collector/rollup/without.h"

enum direction { TAKE_BACK = -1, COUNT = 1 };

static struct fp_timing_key timing_key(enum fp_timing_kind kind, enum fp_vital vital,
                                       const struct fp_vital_count *count)
{
    return (struct fp_timing_key){.kind = kind,
                                  .name = fp_str_of(fp_vital_name(vital)),
                                  .navigation = (enum fp_navigation)count->navigation};
}

/* Returns what counts a vital: flagged ones have no values. */
static enum fp_timing_kind kind_of(int32_t rating)
{
    return rating == FP_VITAL_FLAGGED ? FP_TIMING_VITAL_FLAGGED : FP_TIMING_VITAL;
}

/* True if the values of this rating are counted; *kind says as what. */
static bool find_rating(int32_t rating, enum fp_timing_kind *kind)
{
    FP_ASSERT(rating != FP_VITAL_FLAGGED);
    *kind = rating == FP_VITAL_GOOD ? FP_TIMING_VITAL_GOOD : FP_TIMING_VITAL_POOR;
    return rating != FP_VITAL_NEEDS_IMPROVEMENT;
}

/* Adds to the fact of a timing. What is taken back stays in min_us and max_us: it was there. */
static bool add_to_timing(struct fp_rollup *rollup, const struct fp_fact_key *key,
                          const struct fp_vital_count *count, enum direction direction,
                          int64_t value_us)
{
    bool added;
    struct fp_timing_fact *fact =
        fp_rows_put(&rollup->tables[FP_ROLLUP_TABLE_TIMING_FACT], &key->segment_id, &added);
    if (fact == NULL)
        return false;
    if (added || value_us < fact->min_us)
        fact->min_us = value_us;
    if (added || value_us > fact->max_us)
        fact->max_us = value_us;
    fact->uploads += (int64_t)direction * count->uploads;
    fact->count += direction;
    fact->sum_us += (double)(direction * value_us);
    return true;
}

static bool add_to_bin(struct fp_rollup *rollup, struct fp_fact_key key, enum direction direction,
                       int64_t value_us)
{
    bool added;
    key.part = fp_bin_of(value_us);
    struct fp_timing_bin_fact *bin =
        fp_rows_put(&rollup->tables[FP_ROLLUP_TABLE_TIMING_BIN_FACT], &key.segment_id, &added);
    if (bin == NULL)
        return false;
    bin->count += direction;
    return true;
}

static struct fp_timing_key part_key(enum fp_vital vital, size_t number,
                                     const struct fp_vital_count *count)
{
    struct fp_timing_key key = timing_key(FP_TIMING_VITAL_PART, vital, count);
    key.source = fp_str_of(fp_vital_part_of(vital, number)->name);
    return key;
}

/* Returns how many parts of the value are counted. */
static size_t part_count(const struct fp_vital_row *row, const struct fp_vital_count *count)
{
    return count->parts.known > 0 ? fp_vital_part_count(row->vital) : 0;
}

static bool add_parts(struct fp_rollup *rollup, const struct fp_vital_row *row,
                      const struct fp_vital_count *count, enum direction direction)
{
    for (size_t i = 0; i < part_count(row, count); i++) {
        const struct fp_timing_key part = part_key(row->vital, i, count);
        const struct fp_fact_key key = {count->segment_id, count->bucket_us,
                                        (int64_t)fp_timing_id((uint64_t)row->site_id, &part), 0};
        if (!add_to_timing(rollup, &key, count, direction,
                           fp_vital_part_us(row->vital, i, &count->parts, count->value_us)))
            return false;
    }
    return true;
}

static bool add_element(struct fp_rollup *rollup, const struct fp_vital_count *count,
                        enum direction direction)
{
    const struct fp_fact_key key = {count->segment_id, count->bucket_us, count->element_id, 0};
    return count->element_id == 0 ||
           (add_to_timing(rollup, &key, count, direction, count->value_us) &&
            add_to_bin(rollup, key, direction, count->value_us));
}

/* Adds a value to the facts of its vital, or takes it back. */
static bool add_value(struct fp_rollup *rollup, const struct fp_vital_row *row,
                      const struct fp_vital_count *count, enum direction direction)
{
    const uint64_t site_id = (uint64_t)row->site_id;
    struct fp_timing_key timing = timing_key(kind_of(count->rating), row->vital, count);
    struct fp_fact_key key = {count->segment_id, count->bucket_us,
                              (int64_t)fp_timing_id(site_id, &timing), 0};
    if (count->rating == FP_VITAL_FLAGGED)
        return add_to_timing(rollup, &key, count, direction, 0);
    if (!add_to_timing(rollup, &key, count, direction, count->value_us) ||
        !add_to_bin(rollup, key, direction, count->value_us) ||
        !add_element(rollup, count, direction) || !add_parts(rollup, row, count, direction) ||
        !fp_without_add(rollup, row, count, direction))
        return false;
    if (!find_rating(count->rating, &timing.kind))
        return true;
    key.id = (int64_t)fp_timing_id(site_id, &timing);
    return add_to_timing(rollup, &key, count, direction, 0);
}

static bool add_timing(const struct fp_addition *add, const struct fp_timing_key *key)
{
    const struct fp_delta_timing timing = {.id = fp_timing_id((uint64_t)add->site_id, key),
                                           .name = key->name,
                                           .source = key->source,
                                           .kind = key->kind,
                                           .navigation = key->navigation};
    return fp_addition_timing_name(add, &timing);
}

static bool add_timings_of(const struct fp_addition *add, const struct fp_vital_row *row)
{
    struct fp_timing_key key = timing_key(kind_of(row->count.rating), row->vital, &row->count);
    if (!add_timing(add, &key))
        return false;
    if (row->count.rating == FP_VITAL_FLAGGED)
        return true;
    for (size_t i = 0; i < part_count(row, &row->count); i++) {
        const struct fp_timing_key part = part_key(row->vital, i, &row->count);
        if (!add_timing(add, &part))
            return false;
    }
    key.kind = FP_TIMING_VITAL_PROFILED;
    if (row->count.without.len > 0 && !add_timing(add, &key))
        return false;
    return !find_rating(row->count.rating, &key.kind) || add_timing(add, &key);
}

static enum fp_timing_kind kind_of_vital(const struct fp_delta_vital *vital)
{
    return kind_of((int32_t)fp_vital_rate(vital->vital, vital->value_us));
}

/* True if the upload has values of the vital that cannot be sent again, or one before this, which
 * count as the same kind. */
static bool is_counted_already(const struct fp_delta *delta, const struct fp_delta_vital *vital)
{
    const enum fp_timing_kind kind = kind_of_vital(vital);
    for (const struct fp_delta_vital *other = delta->vitals; other < vital; other++)
        if (other->vital == vital->vital && other->navigation == vital->navigation &&
            kind_of_vital(other) == kind)
            return true;
    for (uint32_t i = 0; i < delta->timing_count; i++)
        if (delta->timings[i].kind == kind && delta->timings[i].navigation == vital->navigation &&
            delta->timings[i].count > 0 &&
            fp_str_equal(delta->timings[i].name, fp_str_of(fp_vital_name(vital->vital))))
            return true;
    return false;
}

static struct fp_vital_key key_of(const struct fp_uuid *id)
{
    const struct fp_claim_key words = fp_claim_key(id, 0);
    return (struct fp_vital_key){words.high, words.low};
}

/* Replaces what a value would be without something, where it counts. An upload
 * that did not see the page load profiled replaces nothing. */
static bool replace_without(const struct fp_addition *add, struct fp_vital_row *row,
                            struct fp_str without)
{
    if (without.len == 0 || fp_str_equal(without, row->count.without))
        return true;
    if (!fp_without_add(add->rollup, row, &row->count, TAKE_BACK))
        return false;
    row->count.without = without;
    return add_timings_of(add, row) && fp_without_add(add->rollup, row, &row->count, COUNT);
}

static bool add_vital(const struct fp_addition *add, const struct fp_delta_vital *vital)
{
    struct fp_uuid id = fp_vital_id((uint64_t)add->site_id, &add->delta->load, vital);
    struct fp_vital_row sent = {
        .key = key_of(&id),
        .id = id,
        .site_id = add->site_id,
        .count = {.segment_id = add->segment_id,
                  .bucket_us = add->bucket_us,
                  .value_us = vital->value_us,
                  .element_id = vital->element != FP_INDEX_NONE
                                    ? (int64_t)add->delta->timings[vital->element].id
                                    : 0,
                  .parts = vital->parts,
                  .rating = (int32_t)fp_vital_rate(vital->vital, vital->value_us),
                  .navigation = (int32_t)vital->navigation,
                  .uploads = is_counted_already(add->delta, vital) ? 0 : 1},
        .part = fp_addition_int32(add->delta->part + vital->later),
        .vital = vital->vital,
    };
    bool added;
    if (!fp_without_bytes(add->delta, vital, &add->rollup->texts, &sent.count.without))
        return false;
    struct fp_vital_row *row =
        fp_rows_put(&add->rollup->tables[FP_ROLLUP_TABLE_VITAL], &sent.key.high, &added);
    if (row == NULL)
        return false;
    if (!added && sent.part < row->part)
        return true;
    if (!added && sent.count.value_us == row->count.value_us) {
        row->part = sent.part;
        return replace_without(add, row, sent.count.without);
    }
    if (!added && !add_value(add->rollup, row, &row->count, TAKE_BACK))
        return false;
    *row = sent;
    return add_timings_of(add, row) && add_value(add->rollup, row, &row->count, COUNT);
}

bool fp_addition_vitals(const struct fp_addition *add)
{
    for (uint32_t i = 0; i < add->delta->vital_count; i++)
        if (!add_vital(add, &add->delta->vitals[i]))
            return false;
    return true;
}

struct fp_vital_row *fp_rollup_find_vital(const struct fp_rollup *rollup, const struct fp_uuid *id)
{
    const struct fp_vital_key key = key_of(id);
    return fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_VITAL], &key.high);
}

/* Makes the rows that each segment and hour with facts has. The names of the segment and of the
 * timings are in the database: the value was counted there. */
static bool open_place(struct fp_rollup *rollup, const struct fp_vital_row *row,
                       const struct fp_vital_count *place)
{
    const struct fp_hour_key own_key = {row->site_id, row->count.bucket_us};
    const struct fp_hour_key hour_key = {row->site_id, place->bucket_us};
    const struct fp_fact_key total_key = {place->segment_id, place->bucket_us, 0,
                                          FP_TOTAL_UNATTRIBUTED};
    bool added;
    struct fp_rows *hours = &rollup->tables[FP_ROLLUP_TABLE_HOUR];
    const struct fp_hour_row *own = fp_rows_find(hours, &own_key.site_id);
    struct fp_hour_row *hour = fp_rows_put(hours, &hour_key.site_id, &added);
    struct fp_total_fact *total =
        fp_rows_put(&rollup->tables[FP_ROLLUP_TABLE_TOTAL_FACT], &total_key.segment_id, &added);
    FP_ASSERT(own != NULL);
    if (hour == NULL || total == NULL)
        return false;
    hour->site = own->site;
    total->site_id = row->site_id;
    return true;
}

bool fp_rollup_keep_vital(struct fp_rollup *rollup, struct fp_vital_row *row,
                          const struct fp_vital_count *replaced)
{
    row->is_last = true;
    /* Data past the retention is dropped as a whole, now or already. */
    if (replaced == NULL || replaced->bucket_us < rollup->clock.oldest_us)
        return true;
    return open_place(rollup, row, replaced) && add_value(rollup, row, replaced, TAKE_BACK);
}

bool fp_rollup_keep_without(struct fp_rollup *rollup, const struct fp_vital_row *row,
                            const struct fp_vital_count *replaced)
{
    struct fp_vital_count place = *replaced;
    if (replaced->bucket_us < rollup->clock.oldest_us)
        return true;
    if (!open_place(rollup, row, replaced) || !fp_without_add(rollup, row, replaced, TAKE_BACK))
        return false;
    place.without = row->count.without;
    return fp_without_add(rollup, row, &place, COUNT);
}

bool fp_rollup_drop_vital(struct fp_rollup *rollup, const struct fp_vital_row *row)
{
    return add_value(rollup, row, &row->count, TAKE_BACK);
}
