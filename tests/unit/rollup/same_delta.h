/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares deltas, table by table.
 */
#ifndef FP_TESTS_ROLLUP_SAME_DELTA_H
#define FP_TESTS_ROLLUP_SAME_DELTA_H

#include "tests/unit/unit.h"

#include "collector/rollup/delta.h"
#include "collector/rollup/ids.h"

static inline void assert_same_text(struct fp_str a, struct fp_str b)
{
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.ptr, b.ptr, a.len);
}

static inline void assert_same_frames(const struct fp_delta *a, const struct fp_delta *b)
{
    assert_int_equal(a->frame_count, b->frame_count);
    for (uint32_t i = 0; i < a->frame_count; i++) {
        struct fp_delta_frame frame = b->frames[i];
        assert_same_text(a->frames[i].function, frame.function);
        frame.function = a->frames[i].function;
        assert_memory_equal(&a->frames[i].resource, &frame.resource,
                            sizeof(frame) - offsetof(struct fp_delta_frame, resource));
        assert_int_equal(a->frames[i].id, frame.id);
    }
}

static inline void assert_same_timings(const struct fp_delta *a, const struct fp_delta *b)
{
    assert_int_equal(a->timing_count, b->timing_count);
    for (uint32_t i = 0; i < a->timing_count; i++) {
        assert_int_equal(a->timings[i].id, b->timings[i].id);
        assert_same_text(a->timings[i].name, b->timings[i].name);
        assert_same_text(a->timings[i].source, b->timings[i].source);
        assert_same_text(a->timings[i].function, b->timings[i].function);
        assert_int_equal(a->timings[i].kind, b->timings[i].kind);
        assert_int_equal(a->timings[i].count, b->timings[i].count);
        assert_int_equal(a->timings[i].negative, b->timings[i].negative);
        assert_int_equal(a->timings[i].sum_us, b->timings[i].sum_us);
        assert_int_equal(a->timings[i].min_us, b->timings[i].min_us);
        assert_int_equal(a->timings[i].max_us, b->timings[i].max_us);
        assert_int_equal(a->timings[i].first_bin, b->timings[i].first_bin);
        assert_int_equal(a->timings[i].bin_count, b->timings[i].bin_count);
    }
    assert_int_equal(a->bin_count, b->bin_count);
    for (uint32_t i = 0; i < a->bin_count; i++) {
        assert_int_equal(a->bins[i].bin, b->bins[i].bin);
        assert_int_equal(a->bins[i].count, b->bins[i].count);
    }
}

static inline void assert_same_windows(const struct fp_delta_measured *a,
                                       const struct fp_delta_measured *b)
{
    assert_int_equal(a->timing, b->timing);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->unattributed_samples, b->unattributed_samples);
    assert_int_equal(a->profiled_us, b->profiled_us);
    assert_int_equal(a->unattributed_us, b->unattributed_us);
    assert_int_equal(a->window_us, b->window_us);
    assert_int_equal(a->counts_load, b->counts_load);
    assert_int_equal(a->first_frame, b->first_frame);
    assert_int_equal(a->frame_count, b->frame_count);
}

static inline void assert_same_measured(const struct fp_delta *a, const struct fp_delta *b)
{
    assert_int_equal(a->measured_count, b->measured_count);
    for (uint32_t i = 0; i < a->measured_count; i++)
        assert_same_windows(&a->measured[i], &b->measured[i]);
    assert_int_equal(a->measured_frame_count, b->measured_frame_count);
    for (uint32_t i = 0; i < a->measured_frame_count; i++) {
        assert_int_equal(a->measured_frames[i].frame, b->measured_frames[i].frame);
        assert_int_equal(a->measured_frames[i].marker, b->measured_frames[i].marker);
        assert_int_equal(a->measured_frames[i].samples, b->measured_frames[i].samples);
        assert_int_equal(a->measured_frames[i].self_us, b->measured_frames[i].self_us);
        assert_int_equal(a->measured_frames[i].total_us, b->measured_frames[i].total_us);
    }
}

static inline void assert_same_upload(const struct fp_delta *a, const struct fp_delta *b)
{
    assert_true(fp_uuid_equal(&a->id, &b->id));
    assert_int_equal(a->has_load, b->has_load);
    assert_true(fp_uuid_equal(&a->load, &b->load));
    assert_int_equal(a->part, b->part);
    assert_int_equal(a->received_us, b->received_us);
    assert_int_equal(fp_segment_id(&a->segment), fp_segment_id(&b->segment));
    assert_same_text(a->segment.thread, b->segment.thread);
    assert_same_text(a->segment.frame, b->segment.frame);
    assert_int_equal(a->format, b->format);
    assert_int_equal(a->coverage, b->coverage);
    assert_int_equal(a->truncated, b->truncated);
    assert_int_equal(a->browser_version, b->browser_version);
    assert_same_text(a->agent, b->agent);
    assert_int_equal(a->body_bytes, b->body_bytes);
    assert_int_equal(a->skipped_entries, b->skipped_entries);
    assert_int_equal(a->records_read, b->records_read);
    assert_int_equal(a->records_refused, b->records_refused);
    assert_int_equal(a->refusal_count, b->refusal_count);
    for (uint32_t i = 0; i < a->refusal_count; i++) {
        assert_int_equal(a->refusals[i].reason, b->refusals[i].reason);
        assert_int_equal(a->refusals[i].records, b->refusals[i].records);
        assert_same_text(a->refusals[i].place, b->refusals[i].place);
    }
    assert_int_equal(a->vital_count, b->vital_count);
    for (uint32_t i = 0; i < a->vital_count; i++) {
        assert_int_equal(a->vitals[i].metric, b->vitals[i].metric);
        assert_int_equal(a->vitals[i].vital, b->vitals[i].vital);
        assert_int_equal(a->vitals[i].value_us, b->vitals[i].value_us);
        assert_int_equal(a->vitals[i].element, b->vitals[i].element);
        assert_memory_equal(&a->vitals[i].parts, &b->vitals[i].parts, sizeof(a->vitals[i].parts));
    }
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->profiled_us, b->profiled_us);
    assert_int_equal(a->unattributed_samples, b->unattributed_samples);
    assert_int_equal(a->unattributed_us, b->unattributed_us);
    assert_int_equal(a->unseen_us, b->unseen_us);
}

static inline void assert_same_stacks(const struct fp_delta *a, const struct fp_delta *b)
{
    assert_int_equal(a->stack_count, b->stack_count);
    for (uint32_t i = 0; i < a->stack_count; i++) {
        assert_int_equal(a->stacks[i].id, b->stacks[i].id);
        assert_int_equal(a->stacks[i].parent, b->stacks[i].parent);
        assert_int_equal(a->stacks[i].frame, b->stacks[i].frame);
        assert_int_equal(a->stacks[i].level, b->stacks[i].level);
    }
    assert_int_equal(a->stack_sample_count, b->stack_sample_count);
    for (uint32_t i = 0; i < a->stack_sample_count; i++) {
        assert_int_equal(a->stack_samples[i].stack, b->stack_samples[i].stack);
        assert_int_equal(a->stack_samples[i].marker, b->stack_samples[i].marker);
        assert_int_equal(a->stack_samples[i].samples, b->stack_samples[i].samples);
        assert_int_equal(a->stack_samples[i].self_us, b->stack_samples[i].self_us);
    }
}

static inline void assert_same_splits(const struct fp_delta *a, const struct fp_delta *b)
{
    assert_int_equal(a->split_count, b->split_count);
    for (uint32_t i = 0; i < a->split_count; i++) {
        assert_int_equal(a->splits[i].frame, b->splits[i].frame);
        assert_int_equal(a->splits[i].marker, b->splits[i].marker);
        assert_int_equal(a->splits[i].samples, b->splits[i].samples);
        assert_int_equal(a->splits[i].self_us, b->splits[i].self_us);
        assert_int_equal(a->splits[i].total_us, b->splits[i].total_us);
    }
}

static inline void assert_same_events(const struct fp_session *a, const struct fp_session *b)
{
    assert_int_equal(a->event_count, b->event_count);
    for (uint32_t i = 0; i < a->event_count; i++) {
        struct fp_session_event event = b->events[i];
        assert_same_text(a->events[i].detail, event.detail);
        event.detail = a->events[i].detail;
        event.total_us = a->events[i].total_us; /* computed by the decoder */
        event.total_overhead_us = a->events[i].total_overhead_us;
        assert_memory_equal(&a->events[i], &event, sizeof(event));
    }
}

static inline void assert_same_session(const struct fp_session *a, const struct fp_session *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a == NULL)
        return;
    assert_int_equal(a->source_id, b->source_id);
    assert_int_equal(a->window_id, b->window_id);
    assert_same_text(a->version, b->version);
    assert_same_text(a->page_url, b->page_url);
    assert_int_equal(a->started_us, b->started_us);
    assert_int_equal(a->is_raw, b->is_raw);
    assert_int_equal(a->is_detached, b->is_detached);
    assert_int_equal(a->content_len, b->content_len);
    assert_same_text(a->content, b->content);
    assert_int_equal(a->type_count, b->type_count);
    assert_int_equal(a->resource_count, b->resource_count);
    for (uint32_t i = 0; i < a->resource_count; i++)
        assert_same_text(a->resources[i], b->resources[i]);
    for (uint32_t i = 0; i < a->type_count; i++) {
        assert_int_equal(a->types[i].number, b->types[i].number);
        assert_same_text(a->types[i].name, b->types[i].name);
    }
    assert_int_equal(a->timeline_count, b->timeline_count);
    for (uint32_t i = 0; i < a->timeline_count; i++)
        assert_memory_equal(&a->timelines[i], &b->timelines[i], sizeof(a->timelines[i]));
    assert_same_events(a, b);
}

#endif
