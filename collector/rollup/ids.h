/*
 * Ids: 64-bit content hashes of everything the database has a dictionary for. docs/ids.md gives the
 * hashed bytes; a test pins them; they never change. Names are hashed whole, before they are cut
 * for storage. Any thread.
 */
#ifndef FP_ROLLUP_IDS_H
#define FP_ROLLUP_IDS_H

#include "collector/rollup/delta.h"

uint64_t fp_site_id(struct fp_str site);
uint64_t fp_segment_id(const struct fp_segment *segment);

/* The dimensions that a cohort may keep, in the order in which they are hashed. */
enum fp_dimension {
    FP_DIMENSION_SITE,
    FP_DIMENSION_ROUTE,
    FP_DIMENSION_RELEASE,
    FP_DIMENSION_ENVIRONMENT,
    FP_DIMENSION_VARIANT,
    FP_DIMENSION_BROWSER,
    FP_DIMENSION_OS,
    FP_DIMENSION_DEVICE,
    FP_DIMENSION_THREAD,
    FP_DIMENSION_COUNT
};

/* Returns the id of the cohort to which a segment belongs at a level. Bit n of `kept` says that the
 * level keeps dimension n; the others are not read. */
uint64_t fp_cohort_id(unsigned level, unsigned kept, const struct fp_str dimensions[]);

uint64_t fp_resource_id(uint64_t site_id, struct fp_str url);

/* resource_id 0 when absent, line and column FP_POSITION_NONE when absent. */
struct fp_frame_key {
    struct fp_str function;
    uint64_t resource_id;
    int32_t line;
    int32_t column;
    enum fp_frame_kind kind;
};
uint64_t fp_frame_id(uint64_t site_id, const struct fp_frame_key *key);

/* parent_id 0 for a root. The site is in the frame's id. */
uint64_t fp_stack_id(uint64_t parent_id, uint64_t frame_id);

/* source and function are part of the id from FP_TIMING_VITAL on; before, they are empty. */
struct fp_timing_key {
    enum fp_timing_kind kind;
    struct fp_str name;
    struct fp_str source;
    struct fp_str function;
};
uint64_t fp_timing_id(uint64_t site_id, const struct fp_timing_key *key);

/* Returns the id of the session kept of an upload. Its top bit is 0, so it needs no minus sign. */
uint64_t fp_session_id(uint64_t site_id, const struct fp_uuid *upload_id);

#endif
