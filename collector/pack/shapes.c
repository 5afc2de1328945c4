/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes: the columns of each kind, in the order of the types KIND_columns of the schema.
 */
#include "collector/pack/pack.h"

#define COLUMN(row, member, name, type) {name, FP_PACK_##type, offsetof(struct row, member), NULL}
#define VALUE(row, member, type) COLUMN(row, member, #member, type)
/* A column that rows of earlier versions lack. */
#define LATER(row, member, type, like) {#member, FP_PACK_##type, offsetof(struct row, member), like}

static const struct fp_pack_column total_columns[] = {
    COLUMN(fp_total_fact, key.part, "marker", KEY_NUMBER),
    VALUE(fp_total_fact, uploads, COUNT),
    VALUE(fp_total_fact, loads, COUNT),
    VALUE(fp_total_fact, samples, SUM),
    VALUE(fp_total_fact, self_us, SUM),
    VALUE(fp_total_fact, profiled_us2, DOUBLE),
    LATER(fp_total_fact, unseen_us, SUM, ""),
};

static const struct fp_pack_column frame_columns[] = {
    COLUMN(fp_frame_fact, key.id, "frame_id", KEY_ID),
    VALUE(fp_frame_fact, uploads, COUNT),
    VALUE(fp_frame_fact, unmarked_uploads, COUNT),
    VALUE(fp_frame_fact, samples, SUM),
    VALUE(fp_frame_fact, self_us, SUM),
    VALUE(fp_frame_fact, total_us, SUM),
    VALUE(fp_frame_fact, self_us2, SQUARES),
    VALUE(fp_frame_fact, total_us2, SQUARES),
    VALUE(fp_frame_fact, self_profiled, SQUARES),
    VALUE(fp_frame_fact, total_profiled, SQUARES),
};

static const struct fp_pack_column frame_marker_columns[] = {
    COLUMN(fp_frame_marker_fact, key.id, "frame_id", KEY_ID),
    COLUMN(fp_frame_marker_fact, key.part, "marker", KEY_NUMBER),
    VALUE(fp_frame_marker_fact, uploads, COUNT),
    VALUE(fp_frame_marker_fact, samples, SUM),
    VALUE(fp_frame_marker_fact, self_us, SUM),
    VALUE(fp_frame_marker_fact, total_us, SUM),
};

static const struct fp_pack_column stack_columns[] = {
    COLUMN(fp_stack_fact, key.id, "stack_id", KEY_ID),
    COLUMN(fp_stack_fact, key.part, "marker", KEY_NUMBER),
    VALUE(fp_stack_fact, uploads, COUNT),
    VALUE(fp_stack_fact, samples, SUM),
    VALUE(fp_stack_fact, self_us, SUM),
};

static const struct fp_pack_column timing_columns[] = {
    COLUMN(fp_timing_fact, key.id, "timing_id", KEY_ID),
    VALUE(fp_timing_fact, uploads, COUNT),
    VALUE(fp_timing_fact, count, COUNT),
    VALUE(fp_timing_fact, negative, COUNT),
    VALUE(fp_timing_fact, sum_us, DOUBLE),
    VALUE(fp_timing_fact, min_us, LEAST),
    VALUE(fp_timing_fact, max_us, GREATEST),
};

static const struct fp_pack_column timing_bin_columns[] = {
    COLUMN(fp_timing_bin_fact, key.id, "timing_id", KEY_ID),
    COLUMN(fp_timing_bin_fact, key.part, "bin", KEY_NUMBER),
    VALUE(fp_timing_bin_fact, count, COUNT),
};

static const struct fp_pack_column measure_columns[] = {
    COLUMN(fp_measure_fact, key.id, "timing_id", KEY_ID),
    VALUE(fp_measure_fact, uploads, COUNT),
    VALUE(fp_measure_fact, samples, SUM),
    VALUE(fp_measure_fact, unattributed_samples, SUM),
    VALUE(fp_measure_fact, profiled_us, SUM),
    VALUE(fp_measure_fact, unattributed_us, SUM),
    LATER(fp_measure_fact, loads, COUNT, "uploads"),
    LATER(fp_measure_fact, window_us, SUM, "profiled_us"),
};

static const struct fp_pack_column measure_frame_columns[] = {
    COLUMN(fp_measure_frame_fact, key.fact.id, "timing_id", KEY_ID),
    COLUMN(fp_measure_frame_fact, key.fact.part, "marker", KEY_NUMBER),
    COLUMN(fp_measure_frame_fact, key.frame_id, "frame_id", KEY_ID),
    VALUE(fp_measure_frame_fact, uploads, COUNT),
    VALUE(fp_measure_frame_fact, first_uploads, COUNT),
    VALUE(fp_measure_frame_fact, samples, SUM),
    VALUE(fp_measure_frame_fact, self_us, SUM),
    VALUE(fp_measure_frame_fact, total_us, SUM),
};

#define SHAPE(kind, table, keys)                                                                   \
    {#kind, kind##_columns, FP_COUNT(kind##_columns), keys, FP_ROLLUP_TABLE_##table, false}
/* The shape of kinds whose counts may be taken back. */
#define SHAPE_THAT_VANISHES(kind, table, keys)                                                     \
    {#kind, kind##_columns, FP_COUNT(kind##_columns), keys, FP_ROLLUP_TABLE_##table, true}

static const struct fp_pack_shape shapes[FP_PACK_KIND_COUNT] = {
    [FP_PACK_TOTAL] = SHAPE(total, TOTAL_FACT, 1),
    [FP_PACK_FRAME] = SHAPE(frame, FRAME_FACT, 1),
    [FP_PACK_FRAME_MARKER] = SHAPE(frame_marker, FRAME_MARKER_FACT, 2),
    [FP_PACK_STACK] = SHAPE(stack, STACK_FACT, 2),
    [FP_PACK_TIMING] = SHAPE_THAT_VANISHES(timing, TIMING_FACT, 1),
    [FP_PACK_TIMING_BIN] = SHAPE_THAT_VANISHES(timing_bin, TIMING_BIN_FACT, 2),
    [FP_PACK_MEASURE] = SHAPE(measure, MEASURE_FACT, 1),
    [FP_PACK_MEASURE_FRAME] = SHAPE(measure_frame, MEASURE_FRAME_FACT, 3),
};

const struct fp_pack_shape *fp_pack_shape(enum fp_pack_kind kind)
{
    return &shapes[kind];
}

size_t fp_pack_type_size(enum fp_pack_type type)
{
    static const size_t sizes[FP_PACK_TYPE_COUNT] = {
        [FP_PACK_KEY_ID] = sizeof(int64_t), [FP_PACK_KEY_NUMBER] = sizeof(int16_t),
        [FP_PACK_COUNT] = sizeof(int32_t),  [FP_PACK_SUM] = sizeof(int64_t),
        [FP_PACK_SQUARES] = sizeof(float),  [FP_PACK_DOUBLE] = sizeof(double),
        [FP_PACK_LEAST] = sizeof(int64_t),  [FP_PACK_GREATEST] = sizeof(int64_t),
    };
    return sizes[type];
}
