/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delta: what one upload adds to the numbers.
 *
 * Invariants: times are whole microseconds; per delta, exactly,
 *   sum of stack_samples.self_us + unattributed_us = profiled_us, and
 *   sum of frames.self_us                          = sum of stack_samples.self_us, and
 *   profiled_us + unseen_us                        = the upload's window, if it says one
 * (self times of events may be negative: their clocks are coarse); frames, stacks and timings have
 * unique ids; a stack's parent precedes it; every frame and stack is needed by a sample, except the
 * last frames, without time, and timings without values: these are of earlier parts of the page
 * load, and needed by measured_frames and measured, or elements of vitals, or what vitals would be
 * without, or frames of reports, which their timings name.
 * fold/check.c asserts these. All texts are valid UTF-8 without U+0000, scrubbed, at most 1,024
 * code points, and live in the arena in which the delta was made.
 */
#ifndef FP_ROLLUP_DELTA_H
#define FP_ROLLUP_DELTA_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/base/buf.h"
#include "collector/base/words.h"
#include "collector/rollup/session.h"
#include "collector/rollup/vital.h"

/* The maximum absolute value of a summed time: 2^48 times the 20,000 uploads of a rollup, and a
 * record's more, is below 2^63. Whoever fills a delta ensures it; the reader of its bytes refuses
 * more. */
#define FP_DELTA_TIME_MAX_US (INT64_C(1) << 48)

/* The dimensions an upload belongs to; an absent one is empty. */
struct fp_segment {
    struct fp_str site;
    struct fp_str route;
    struct fp_str release;
    struct fp_str environment;
    struct fp_str variant;
    struct fp_str browser;
    struct fp_str os;
    struct fp_str device;
    struct fp_str thread;          /* "window", "worker" or empty */
    struct fp_str frame;           /* "same-origin", "cross-origin"; empty: a page at the top */
    struct fp_str traffic;         /* "repeated": one of many page loads of one client; or empty */
    struct fp_str machine;         /* "low", "mid", "high"; empty: unknown */
    struct fp_str browser_version; /* major, of a known browser; empty: unknown */
    struct fp_str network;         /* "4g", "3g", "2g", "save-data"; empty: unknown */
    struct fp_str custom;          /* "plan=pro; country=de"; empty: none */
    struct fp_str drawn;           /* "yes", "no": the server's draw; empty: unknown */
    uint32_t rate_ppm;             /* verified sample rate, parts per million; 0 = none */
};

#define FP_INDEX_NONE UINT32_MAX
#define FP_POSITION_NONE (-1) /* an absent line or column */

struct fp_delta_resource {
    uint64_t id;
    struct fp_str url;
};

struct fp_delta_frame {
    uint64_t id;
    struct fp_str function; /* "" is anonymous */
    uint32_t resource;      /* index, FP_INDEX_NONE when absent */
    int32_t line;
    int32_t column;
    enum fp_frame_kind kind;
    uint32_t samples;        /* with the frame anywhere on their stack */
    uint32_t marked_samples; /* of these, with a marker */
    int64_t self_us;
    int64_t total_us; /* once per sample, however often the frame recurs */
};

/* The part of a frame's numbers from samples with one marker (never FP_MARKER_NONE). */
struct fp_delta_split {
    uint32_t frame;
    enum fp_marker marker;
    uint32_t samples;
    int64_t self_us;
    int64_t total_us;
};

struct fp_delta_stack {
    uint64_t id;
    uint32_t parent; /* index below its own, FP_INDEX_NONE for a root */
    uint32_t frame;  /* index */
    uint32_t level;  /* 1 for a root */
};

struct fp_delta_stack_sample {
    uint32_t stack;
    enum fp_marker marker;
    uint32_t samples;
    int64_t self_us;
};

/* One bin of a log-linear histogram; see collector/rollup/bins.h. */
struct fp_delta_bin {
    uint16_t bin;
    uint32_t count;
};

/* For kinds of omissions, without a source, the count is 1, and the sum is the number of omissions.
 */
struct fp_delta_timing {
    uint64_t id;
    struct fp_str name;
    struct fp_str source; /* "" for most kinds, like the next field */
    struct fp_str function;
    enum fp_timing_kind kind;
    enum fp_navigation navigation;
    uint32_t count;    /* all values; those that are not negative have bins, or none of them does */
    uint32_t negative; /* of these, below zero: they have no bin */
    int64_t sum_us;
    int64_t min_us;
    int64_t max_us;
    uint32_t first_bin; /* index into bins, ascending by bin */
    uint32_t bin_count;
};

/* The time inside the windows of a measure's name, each moment once. Exactly,
 *   sum of its frames' self_us + unattributed_us = profiled_us, and over all parts of a page load
 *   sum of profiled_us + unseen time             = sum of window_us. */
struct fp_delta_measured {
    uint32_t timing; /* index of a measure or window */
    uint32_t samples;
    uint32_t unattributed_samples;
    int64_t profiled_us;
    int64_t unattributed_us;
    int64_t window_us;    /* of the name's windows, what no earlier part has; at most 2^48 */
    bool counts_load;     /* the page load counts for this name here */
    uint32_t first_frame; /* index into measured_frames, ascending by (frame, marker) */
    uint32_t frame_count;
};

struct fp_delta_measured_frame {
    uint32_t frame;
    enum fp_marker marker;
    uint32_t samples;
    int64_t self_us;
    int64_t total_us;
};

/* A value of a vital that has an id, and so may be sent again: then the later value replaces it. It
 * is not among the timings, and counts as one of them. */
struct fp_delta_vital {
    uint64_t metric; /* hash of the metric's id */
    enum fp_vital vital;
    enum fp_navigation navigation;
    uint32_t element; /* index of its timing, which has no values; FP_INDEX_NONE: unknown */
    int64_t value_us; /* from 0 to FP_DELTA_TIME_MAX_US; the score of CLS times 1,000,000 */
    struct fp_vital_parts parts;
    uint32_t later;         /* it counts as sent so many parts after the upload's */
    bool is_profiled;       /* the page load is, while the value came about */
    uint32_t first_without; /* index into withouts, by timing */
    uint32_t without_count; /* 0 unless it is profiled */
};

/* A measure or a response of a profiled page load. The timings also have its value. */
struct fp_delta_profiled {
    uint32_t timing;        /* index of one of kind FP_TIMING_VITAL_PROFILED, which has no values */
    uint16_t now;           /* bin of the value */
    uint32_t first_without; /* index into withouts */
    uint32_t without_count;
};

/* A value without something that ran: bins of what it would be at most. */
struct fp_delta_without {
    uint32_t timing; /* index of one of kind FP_TIMING_VITAL_WITHOUT */
    uint16_t gone;   /* bin of the value without it */
    uint16_t half;   /* bin of the value with half of its time */
};

/* The upload's records that were refused for one reason. */
struct fp_delta_refusal {
    enum fp_record_refusal reason; /* not NONE */
    uint32_t records;              /* not 0 */
    struct fp_str place;           /* of the first record: `/data/3`, `byte 7`, `element 7`, "" */
};

struct fp_delta {
    struct fp_uuid id; /* the idempotency key; a random one when the upload had none */
    bool has_load;
    struct fp_uuid load; /* page load */
    uint32_t part;
    int64_t received_us; /* epoch */
    struct fp_segment segment;
    enum fp_upload_format format;
    enum fp_coverage coverage;
    bool truncated;
    uint32_t browser_version; /* major, 0 unknown */
    struct fp_str agent;      /* "name/version" or empty */
    uint32_t body_bytes;      /* as received, before inflating */
    uint32_t skipped_entries;
    uint32_t records_read;    /* of a dump or session; entries of User Timing */
    uint32_t records_refused; /* the sum of refusals */

    uint32_t samples;
    int64_t profiled_us;
    uint32_t unattributed_samples;
    int64_t unattributed_us;
    int64_t unseen_us; /* in which the browser did not look; not profiled */

    struct fp_session *session; /* NULL: nothing is kept */

    struct fp_delta_resource *resources;
    struct fp_delta_frame *frames;
    struct fp_delta_split *splits; /* ascending by (frame, marker) */
    struct fp_delta_stack *stacks;
    struct fp_delta_stack_sample *stack_samples;
    struct fp_delta_timing *timings;
    struct fp_delta_bin *bins;
    struct fp_delta_measured *measured;
    struct fp_delta_measured_frame *measured_frames;
    struct fp_delta_refusal *refusals; /* ascending by reason */
    struct fp_delta_vital *vitals;     /* only with a load; of a metric's id and vital one */
    struct fp_delta_profiled *profiled;
    struct fp_delta_without *withouts; /* vital by vital, then of profiled */
    uint32_t resource_count;
    uint32_t frame_count;
    uint32_t split_count;
    uint32_t stack_count;
    uint32_t stack_sample_count;
    uint32_t timing_count;
    uint32_t bin_count;
    uint32_t measured_count;
    uint32_t measured_frame_count;
    uint32_t refusal_count;
    uint32_t vital_count;
    uint32_t profiled_count;
    uint32_t without_count;
    uint32_t dropped_custom; /* values of custom dimensions; for a metric, not in the bytes */
    uint32_t unmeasured; /* measures past a limit, without frames; for a metric, not in the bytes */
};

/* True if the upload profiled its page load: it has a trace, though perhaps without samples, or
 * events. Only such uploads count in what means are taken of. */
static inline bool fp_delta_is_profiled(const struct fp_delta *delta)
{
    return delta->samples > 0 || delta->profiled_us != 0 || delta->unseen_us > 0 ||
           (delta->format != FP_UPLOAD_USER_TIMING && delta->format != FP_UPLOAD_REPORTS &&
            (delta->coverage == FP_COVERAGE_NONE || delta->coverage == FP_COVERAGE_OVERLOAD));
}

/* Appends the delta's bytes (docs/internals/delta.md) to out. The caller checks out->failed. Any
 * thread. */
void fp_delta_encode(const struct fp_delta *delta, struct fp_buf *out);

enum fp_delta_error {
    FP_DELTA_OK = 0,
    FP_DELTA_VERSION, /* written by a version this one does not know */
    FP_DELTA_DAMAGED, /* ends early, or an index or enum is out of range */
    FP_DELTA_MEMORY,
};

/*
 * Decodes what fp_delta_encode wrote. Texts point into bytes, arrays are in the arena. Trusts
 * nothing: checks every index, enum and length. Any thread.
 */
enum fp_delta_error fp_delta_decode(const void *bytes, size_t len, struct fp_arena *arena,
                                    struct fp_delta *delta) FP_MUST_CHECK;

#endif
