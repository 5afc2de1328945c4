/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part: what is remembered of an upload that is one part of a page load, so that the windows of its
 * other parts reach its samples, and its windows theirs.
 */
#ifndef FP_PROFILE_FOLD_PART_H
#define FP_PROFILE_FOLD_PART_H

#include "collector/rollup/delta.h"

/* A sample in the order of time. It owns the span [start, start + weight); the spans of a trace do
 * not overlap. */
struct fp_fold_sample {
    int64_t time_us; /* when it was taken */
    int64_t start_us;
    int64_t weight_us;
    uint32_t stack; /* index into the profile's stacks, later into the delta's; FP_INDEX_NONE */
    uint32_t order; /* of arrival */
    enum fp_marker marker;
    bool is_evidence; /* counts as a sample: it weighs half an interval or more */
};

/* A span of time that belongs to a timing, with what ran in it. */
struct fp_fold_window {
    uint32_t timing; /* index into the delta's, or the part's, timings */
    int64_t start_us;
    int64_t end_us; /* above start_us */
};

/* Spans that divide the time of responses. */
enum fp_fold_span_kind {
    FP_FOLD_SPAN_RESPONSE,
    FP_FOLD_SPAN_REQUEST, /* in flight during a response of its window */
    FP_FOLD_SPAN_EARLIER, /* one that began before the response */
    FP_FOLD_SPAN_RUNNING, /* a long frame, or the handlers of an interaction */
    FP_FOLD_SPAN_LAYOUT,  /* style and layout at the end of a long frame */
};

struct fp_fold_span {
    enum fp_fold_span_kind kind;
    int64_t start_us;
    int64_t end_us;       /* above start_us */
    struct fp_str window; /* of a response or a request: the name of the response's window */
    struct fp_str host;   /* of a request */
};

/* A wait of the visitor. A vital may be its length. */
struct fp_fold_wait {
    int64_t start_us;
    int64_t end_us;
    int64_t value_us; /* of an interaction, the longest of its events */
};

/* A vital that may be sent again. */
struct fp_fold_vital {
    struct fp_delta_vital value;    /* without its indexes */
    struct fp_delta_timing element; /* id 0: unknown; id and texts only */
    struct fp_fold_wait wait;       /* of an INP, empty if the sender does not say */
    uint32_t part;                  /* that sent it */
};

/* Spans of the samples of one page load's parts do not overlap: of two parts that watched the same
 * time, the one that came first owns it. */
struct fp_part {
    const struct fp_delta_resource *resources;
    const struct fp_delta_frame *frames;
    const struct fp_delta_stack *stacks;
    const struct fp_fold_sample *samples;  /* by time */
    const struct fp_delta_timing *timings; /* that have windows; ids and texts only */
    const struct fp_fold_window *windows;
    const struct fp_fold_span *spans;
    const uint64_t *counted;          /* ids of timings for which this part counted the page load */
    const struct fp_fold_wait *waits; /* interactions */
    const struct fp_fold_vital *vitals; /* of which later parts may say more */
    uint32_t resource_count;
    uint32_t frame_count;
    uint32_t stack_count;
    uint32_t sample_count;
    uint32_t timing_count;
    uint32_t window_count;
    uint32_t span_count;
    uint32_t counted_count;
    uint32_t wait_count;
    uint32_t vital_count;
    bool is_watched; /* it has a trace */
};

/* Returns how many bytes a copy of the part takes. */
size_t fp_part_bytes(const struct fp_part *part);

/* Copies the part into one block, which the caller frees. NULL when memory is out. */
struct fp_part *fp_part_copy(const struct fp_part *part) FP_MUST_CHECK;

#endif
