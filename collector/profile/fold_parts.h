/*
 * Fold, internal: the state of one fold and its steps, in the order in which fp_fold runs them.
 *
 * Every step returns false if memory is out.
 */
#ifndef FP_PROFILE_FOLD_PARTS_H
#define FP_PROFILE_FOLD_PARTS_H

#include "collector/base/map.h"
#include "collector/profile/fold.h"
#include "collector/rollup/ids.h"

/* A sample in the order of time. */
struct fp_fold_sample {
    int64_t time_us;
    int64_t weight_us;
    uint32_t stack; /* index into the profile's stacks, later into the delta's; FP_INDEX_NONE */
    uint32_t order; /* of arrival */
    enum fp_marker marker;
};

struct fp_fold {
    const struct fp_profile *profile;
    const struct fp_fold_context *context;
    struct fp_arena *arena;
    struct fp_delta *delta;
    uint64_t site_id;
    struct fp_str page_url; /* the envelope's, else the Referer; "" when neither is there */

    struct fp_fold_sample *samples; /* of the trace in the order of time, then events' own times */
    uint32_t sample_count;

    /* Maps an index in the profile to one in the delta; FP_INDEX_NONE: not seen yet. */
    uint32_t *resource_of;
    uint32_t *frame_of;
    uint32_t *stack_of;
    uint32_t *chain; /* room for a chain of parents */
    uint32_t marker_stack_of[FP_MARKER_COUNT];
    uint32_t *timing_of; /* never FP_INDEX_NONE */

    bool *outermost; /* by the delta's stack: its frame is not among its ancestors' */

    /* Map a content id to an index in the delta. */
    struct fp_map resources;
    struct fp_map frames;
    struct fp_map stacks;
};

/* Allocates count elements of size bytes, not cleared. NULL when memory is out. */
void *fp_fold_array(struct fp_fold *fold, size_t count, size_t size) FP_MUST_CHECK;

/* Allocates count indexes, all FP_INDEX_NONE. NULL when memory is out. */
uint32_t *fp_fold_indexes(struct fp_fold *fold, size_t count) FP_MUST_CHECK;

/* Replaces texts of the delta's segment that are over the site's ceilings by `(overflow)`. */
void fp_fold_bound_segment(struct fp_fold *fold);

/* Sorts the samples by time, stably, into fold->samples and weighs each (rules 1, 2). Leaves room
 * after them for those of events. */
bool fp_fold_weigh(struct fp_fold *fold) FP_MUST_CHECK;

/* Finds what each sample belongs to (rules 3 to 6, 11): the delta's resources, frames and stacks,
 * and its unattributed time. */
bool fp_fold_attribute(struct fp_fold *fold) FP_MUST_CHECK;

/* Find the index in the delta of a resource of the profile (FP_INDEX_NONE stays FP_INDEX_NONE), a
 * frame and a stack. New ones are added. */
bool fp_fold_resource(struct fp_fold *fold, uint32_t raw, uint32_t *resource) FP_MUST_CHECK;
bool fp_fold_frame(struct fp_fold *fold, const struct fp_frame_key *key, uint32_t resource,
                   uint32_t *frame) FP_MUST_CHECK;
bool fp_fold_stack(struct fp_fold *fold, uint32_t parent, uint32_t frame,
                   uint32_t *stack) FP_MUST_CHECK;

/* Finds the name of an event's type. A name that the page made up is scrubbed. */
bool fp_fold_event_type(struct fp_fold *fold, const struct fp_profile_event *event,
                        struct fp_str *type) FP_MUST_CHECK;

/* Returns at most how many samples fp_fold_events appends. */
size_t fp_fold_event_samples(const struct fp_profile *profile);

/* Appends one sample per unreduced event to those of the trace. It weighs the event's own time; its
 * stack is the events around it. Time inside an event that no event has is a sample of the frame
 * `(not listed)` there. */
bool fp_fold_events(struct fp_fold *fold) FP_MUST_CHECK;

/* Replaces frames and stacks over the site's ceilings by `(overflow)`. Moves samples to the
 * resulting stacks and drops what no sample needs any more. Earlier indexes into the delta's
 * resources, frames and stacks become invalid, except those in samples. */
bool fp_fold_bound_stacks(struct fp_fold *fold) FP_MUST_CHECK;

/* Builds the kept session of an upload that has one. */
bool fp_fold_session(struct fp_fold *fold) FP_MUST_CHECK;

/* Adds up self and total times: stack_samples, splits, and the numbers of the frames. */
bool fp_fold_sum(struct fp_fold *fold) FP_MUST_CHECK;

/* Replaces the name and id of a timing over the site's ceiling by those of `(overflow)`. */
void fp_fold_bound_timing(const struct fp_fold *fold, enum fp_timing_kind kind, struct fp_str *name,
                          uint64_t *id);

/* Groups marks and measures by name, with their histograms (rule 8). */
bool fp_fold_timings(struct fp_fold *fold) FP_MUST_CHECK;

/* Sums, per measure, what ran inside its windows (rule 7). */
bool fp_fold_measures(struct fp_fold *fold) FP_MUST_CHECK;

/* Counts the records of the upload, and those that were refused by reason. */
bool fp_fold_refusals(struct fp_fold *fold) FP_MUST_CHECK;

/* Asserts the invariants of delta.h, where costly assertions are on. */
void fp_fold_check(const struct fp_delta *delta);

#endif
