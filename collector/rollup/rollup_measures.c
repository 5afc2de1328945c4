/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollup, measures: adds what ran inside the windows of measures.
 */
#include "collector/base/assert.h"
#include "collector/rollup/addition.h"

static bool add_frame(const struct fp_addition *add, uint64_t timing_id,
                      const struct fp_delta_measured_frame *frame, bool is_first)
{
    const struct fp_measure_frame_key key = {
        .fact = {add->segment_id, add->bucket_us, (int64_t)timing_id, (int64_t)frame->marker},
        .frame_id = (int64_t)add->delta->frames[frame->frame].id,
    };
    bool added;
    struct fp_measure_frame_fact *fact = fp_rows_put(
        &add->rollup->tables[FP_ROLLUP_TABLE_MEASURE_FRAME_FACT], &key.fact.segment_id, &added);
    if (fact == NULL)
        return false;
    fact->uploads++;
    fact->first_uploads += is_first ? 1 : 0;
    fact->samples += frame->samples;
    fact->self_us += frame->self_us;
    fact->total_us += frame->total_us;
    return true;
}

static bool add_measure(const struct fp_addition *add, const struct fp_delta_measured *measured)
{
    const struct fp_delta *delta = add->delta;
    FP_ASSERT(measured->timing < delta->timing_count);
    FP_ASSERT(measured->first_frame <= delta->measured_frame_count &&
              measured->frame_count <= delta->measured_frame_count - measured->first_frame);
    const struct fp_delta_measured_frame *frames = delta->measured_frames + measured->first_frame;
    uint64_t timing_id = delta->timings[measured->timing].id;
    struct fp_measure_fact *fact =
        fp_addition_fact(add, FP_ROLLUP_TABLE_MEASURE_FACT, timing_id, 0);
    if (fact == NULL)
        return false;
    fact->uploads += measured->profiled_us > 0;
    fact->loads += measured->counts_load;
    fact->samples += measured->samples;
    fact->unattributed_samples += measured->unattributed_samples;
    fact->profiled_us += measured->profiled_us;
    fact->unattributed_us += measured->unattributed_us;
    fact->window_us += measured->window_us;
    for (uint32_t i = 0; i < measured->frame_count; i++) {
        bool is_first = i == 0 || frames[i - 1].frame != frames[i].frame;
        if (!add_frame(add, timing_id, &frames[i], is_first))
            return false;
    }
    return true;
}

bool fp_addition_measures(const struct fp_addition *add)
{
    for (uint32_t i = 0; i < add->delta->measured_count; i++)
        if (!add_measure(add, &add->delta->measured[i]))
            return false;
    return true;
}
