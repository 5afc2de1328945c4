/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids: 64-bit content hashes of everything the database has a dictionary for. docs/internals/ids.md
 * gives the hashed bytes; a test pins them; they never change. Names are hashed whole, before they
 * are cut for storage. Any thread.
 */
#ifndef FP_ROLLUP_IDS_H
#define FP_ROLLUP_IDS_H

#include "collector/rollup/delta.h"

uint64_t fp_site_id(struct fp_str site);
uint64_t fp_segment_id(const struct fp_segment *segment);

/* Returns the id of the cohort to which a segment belongs at a level. Bit n of `kept` says that the
 * level keeps fp_dimensions[n]. */
uint64_t fp_cohort_id(unsigned level, unsigned kept, const struct fp_segment *segment);

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

/* source and function are part of the id from FP_TIMING_VITAL on; before, they are empty. The kind
 * of navigation is where it is known: of vitals, of the windows of their values, and of
 * interactions. */
struct fp_timing_key {
    enum fp_timing_kind kind;
    struct fp_str name;
    struct fp_str source;
    struct fp_str function;
    enum fp_navigation navigation;
};
uint64_t fp_timing_id(uint64_t site_id, const struct fp_timing_key *key);

/* Returns the id of the session kept of an upload. Its top bit is 0, so it needs no minus sign. */
uint64_t fp_session_id(uint64_t site_id, const struct fp_uuid *upload_id);

/* Returns the id of a vital that may be sent again. It begins as its page load's does: ids of one
 * load are neighbours in an index. */
struct fp_uuid fp_vital_id(uint64_t site_id, const struct fp_uuid *load,
                           const struct fp_delta_vital *vital);

/* Returns the id under which a page load counts in a timing of omissions. It begins like the id of
 * the page load. */
struct fp_uuid fp_left_out_id(uint64_t timing_id, const struct fp_uuid *load);

#endif
