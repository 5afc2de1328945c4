/*
 * Profile: the common model that every decoder fills, before scrubbing and folding.
 *
 * Texts are valid UTF-8 (decoders replace what is not), unscrubbed, and live in the upload's arena
 * or body. A decoder has checked every index, every number's range and that parent chains end;
 * nothing here is checked again. Times are whole microseconds since the page's time origin.
 */
#ifndef FP_PROFILE_PROFILE_H
#define FP_PROFILE_PROFILE_H

#include "collector/base/base.h"
#include "collector/rollup/delta.h"

struct fp_profile_frame {
    struct fp_str function;
    uint32_t resource; /* index, FP_INDEX_NONE */
    int32_t line;      /* FP_POSITION_NONE */
    int32_t column;
};

struct fp_profile_stack {
    uint32_t frame;  /* index */
    uint32_t parent; /* index, anywhere in the array; FP_INDEX_NONE */
};

struct fp_profile_sample {
    int64_t time_us;
    uint32_t stack; /* index, FP_INDEX_NONE */
    enum fp_marker marker;
};

/* A mark (value = start time) or a measure (value = duration). */
struct fp_profile_timing {
    struct fp_str name;
    enum fp_timing_kind kind;
    int64_t value_us;
};

struct fp_profile {
    /* From the envelope. */
    bool has_id;
    struct fp_uuid id;
    bool has_load;
    struct fp_uuid load;
    uint32_t part;
    enum fp_upload_format format;
    enum fp_coverage coverage;
    bool truncated;
    struct fp_str thread; /* "window", "worker", "" */
    struct fp_str agent_name;
    struct fp_str agent_version;
    struct fp_str release;
    struct fp_str environment;
    struct fp_str variant;
    struct fp_str token;    /* as sent; "" when the envelope has none */
    struct fp_str page_url; /* "" when the envelope has none */
    struct fp_str page_route;
    bool has_page_route;
    int64_t interval_us; /* effective sample interval, 0 when not said */
    uint32_t skipped_entries;

    bool has_trace;
    struct fp_str *resources;
    struct fp_profile_frame *frames;
    struct fp_profile_stack *stacks;
    struct fp_profile_sample *samples; /* in the order of arrival */
    struct fp_profile_timing *timings;
    uint32_t resource_count;
    uint32_t frame_count;
    uint32_t stack_count;
    uint32_t sample_count;
    uint32_t timing_count;
};

#endif
