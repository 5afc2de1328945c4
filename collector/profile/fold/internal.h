/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, internal: the state of one fold and its steps, in the order in which fp_fold runs them.
 *
 * Every step returns false if memory is out.
 */
#ifndef FP_PROFILE_FOLD_INTERNAL_H
#define FP_PROFILE_FOLD_INTERNAL_H

#include "collector/base/map.h"
#include "collector/profile/fold/fold.h"
#include "collector/rollup/ids.h"

/* A value with a bin, and the timing (index into the delta's) that it belongs to. */
struct fp_fold_binned {
    uint32_t timing;
    uint16_t bin;
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
    size_t made_max; /* frames and stacks that may be added; FP_MARKER_NONE's is `(overflow)` */
    uint32_t marker_stack_of[FP_MARKER_COUNT];

    uint32_t *call_of; /* by the calls of all reports: index of a frame in the delta */

    bool *outermost; /* by the delta's stack: its frame is not among its ancestors' */

    /* Map a content id to an index in the delta. */
    struct fp_map resources;
    struct fp_map frames;
    struct fp_map stacks;
    struct fp_map timings;

    struct fp_fold_binned *binned;
    struct fp_fold_window *windows;
    uint32_t binned_count;
    uint32_t window_count;
    uint32_t own_window_count; /* of these; the others are of earlier parts */
    uint32_t own_stack_count;  /* of the delta's stacks, without those of earlier parts */

    struct fp_fold_span *spans; /* of the upload, for its responses' waits */
    uint32_t span_count;

    /* Samples of the trace, without time that earlier parts own, and those of earlier parts. */
    const struct fp_fold_sample *own;
    struct fp_fold_sample *joined;
    uint32_t own_count;
    uint32_t joined_count;
    struct fp_map counted;     /* timings for which an earlier part counted the page load */
    size_t timing_max;         /* how many timings the delta has room for */
    uint64_t *counted_scripts; /* ids of those for which this upload counts it, of scripts */
    uint32_t counted_script_count;
    bool is_watched;  /* the upload has a trace */
    bool was_watched; /* an earlier part has one */
};

/* Allocates count elements of size bytes, not cleared. NULL when memory is out. */
void *fp_fold_array(struct fp_fold *fold, size_t count, size_t size) FP_MUST_CHECK;

/* Allocates count indexes, all FP_INDEX_NONE. NULL when memory is out. */
uint32_t *fp_fold_indexes(struct fp_fold *fold, size_t count) FP_MUST_CHECK;

/* Replaces texts of the delta's segment that are over the site's ceilings by `(overflow)`. */
void fp_fold_bound_segment(struct fp_fold *fold);

/* The name that stands for what is over a ceiling. */
extern const struct fp_str fp_fold_overflow_name;

/* Sets the text of the segment's custom dimensions: of those that the site names. Counts the values
 * that are dropped. */
bool fp_fold_custom(struct fp_fold *fold, struct fp_str *text) FP_MUST_CHECK;

/* True if a value, which takes one unit of the site's ceiling, is over it. */
bool fp_fold_is_value_over(const struct fp_fold *fold, const struct fp_profile_custom *custom);

/* Sorts the samples by time, stably, into fold->samples and gives each its span (rules 1, 2); drops
 * those without any. Leaves room after them for those of events. */
bool fp_fold_weigh(struct fp_fold *fold) FP_MUST_CHECK;

/* Finds what each sample belongs to (rules 3 to 6, 11): the delta's resources, frames and stacks,
 * and its unattributed time. */
bool fp_fold_attribute(struct fp_fold *fold) FP_MUST_CHECK;

/* Find the index in the delta of a resource of the profile (FP_INDEX_NONE stays FP_INDEX_NONE), of
 * a script by its unscrubbed URL, a frame and a stack. New ones are added. */
bool fp_fold_resource(struct fp_fold *fold, uint32_t raw, uint32_t *resource) FP_MUST_CHECK;
bool fp_fold_url(struct fp_fold *fold, struct fp_str url, uint32_t *resource) FP_MUST_CHECK;
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
 * `(not listed)` there. Time of events of an earlier part that samples have is a correction. */
bool fp_fold_events(struct fp_fold *fold) FP_MUST_CHECK;

/* Replaces frames and stacks over the site's ceilings by `(overflow)`. Moves samples to the
 * resulting stacks and drops what no sample needs any more. Earlier indexes into the delta's
 * resources, frames and stacks become invalid, except those in samples. */
bool fp_fold_bound_stacks(struct fp_fold *fold) FP_MUST_CHECK;

/* Builds the kept session of an upload that has one. */
bool fp_fold_session(struct fp_fold *fold) FP_MUST_CHECK;

/* Adds up self and total times: stack_samples, splits, and the numbers of the frames. */
bool fp_fold_sum(struct fp_fold *fold) FP_MUST_CHECK;

/* True if the site may have another vital that can be sent again; takes one unit of the ceiling. */
bool fp_fold_may_replace(const struct fp_fold *fold);

/* True if a timing, which takes one unit of the site's ceiling for its kind, is over it. */
bool fp_fold_is_over(const struct fp_fold *fold, enum fp_timing_kind kind, uint64_t timing_id);

/* Replaces the texts of a timing by those of `(overflow)`. An element keeps the name of its vital,
 * and a wait all but its host. */
void fp_fold_overflow(struct fp_timing_key *key);

/* Groups marks and measures by name, with their histograms (rule 8), and lists the windows of
 * measures. Then does the same for vitals and what else was observed. */
bool fp_fold_timings(struct fp_fold *fold) FP_MUST_CHECK;

/* How many timings, values with bins and windows the observed facts may add. */
size_t fp_fold_observed_max(const struct fp_profile *profile);

/* Adds vitals, interactions, long animation frames, resources and coverage to the timings. */
bool fp_fold_observed(struct fp_fold *fold) FP_MUST_CHECK;

/* How many timings what was left out may add. */
size_t fp_fold_left_out_max(const struct fp_profile *profile);

/* Adds what the agent left out to the timings. */
bool fp_fold_left_out(struct fp_fold *fold) FP_MUST_CHECK;

/* Returns how many calls the stacks of reports have. */
size_t fp_fold_calls(const struct fp_profile *profile);

/* Adds the frames of these calls to the delta; one over the site's ceiling becomes `(overflow)`. */
bool fp_fold_name_calls(struct fp_fold *fold) FP_MUST_CHECK;

/* Replaces frames over the site's ceiling by one `(overflow)`, in a delta without stacks, and drops
 * resources that no frame needs then. frame_to: the new index of each frame. */
bool fp_fold_bound_frames(struct fp_fold *fold, uint32_t *frame_to) FP_MUST_CHECK;

/* Adds crashes and broken policies to the timings. */
bool fp_fold_reports(struct fp_fold *fold) FP_MUST_CHECK;

/* Finds the name under which a mark or measure counts: its own, a template's, or `(overflow)`. */
bool fp_fold_shown_name(struct fp_fold *fold, const struct fp_profile_timing *from,
                        struct fp_str *name) FP_MUST_CHECK;

/* Finds the timing of a mark or measure, or adds it. FP_MAP_NONE: no memory. */
uint32_t fp_fold_mark_or_measure(struct fp_fold *fold,
                                 const struct fp_profile_timing *from) FP_MUST_CHECK;

/* Finds a timing of the delta, or adds it: fp_fold_timings made room. FP_MAP_NONE: no memory. */
uint32_t fp_fold_timing(struct fp_fold *fold, const struct fp_timing_key *key) FP_MUST_CHECK;

/* Adds a value to a timing, and its bin unless it is negative. */
void fp_fold_value(struct fp_fold *fold, uint32_t timing, int64_t value_us);

/* Adds a value that has no bin, and counts it `count` times. */
void fp_fold_sum_up(struct fp_fold *fold, uint32_t timing, uint32_t count, int64_t value_us);

/* Lists a window of a timing, unless it is empty. */
void fp_fold_window(struct fp_fold *fold, uint32_t timing, int64_t start_us, int64_t duration_us);

/* Takes from the spans of the samples what earlier parts of the page load own. */
bool fp_fold_claim(struct fp_fold *fold) FP_MUST_CHECK;

/* Lists windows of time in which the page was busy for sure. */
bool fp_fold_hidden(struct fp_fold *fold) FP_MUST_CHECK;

/* The name of the window of all these times. */
#define FP_FOLD_RUNNING FP_STR("(running)")

/* The name of the window of all responses. */
#define FP_FOLD_RESPONSE FP_STR("(response)")

/* Finds the timing of a name that a page can make up, or adds it: under the key's own texts, or as
 * `(overflow)`. *index: in the delta. */
bool fp_fold_bounded(struct fp_fold *fold, struct fp_timing_key key, uint32_t *index) FP_MUST_CHECK;

/* Windows by name and time. */
struct fp_fold_windows {
    struct fp_fold_window *items;
    uint32_t count;
};

/* Sorts the windows and joins those of a name that overlap or abut. */
void fp_fold_join_windows(struct fp_fold_windows *list);

/* Lists what is left of windows without others; both are joined. */
bool fp_fold_subtract_windows(struct fp_fold *fold, const struct fp_fold_windows *from,
                              const struct fp_fold_windows *less,
                              struct fp_fold_windows *rest) FP_MUST_CHECK;

/* Describes the upload for later parts of its page load, if the context asks. */
bool fp_fold_remember(struct fp_fold *fold) FP_MUST_CHECK;

/* Vitals of one upload that may be sent again (others count for good); measures and responses that
 * are looked at without something; how many timings fp_fold_without may add. */
enum { FP_FOLD_VITALS_MAX = 64, FP_FOLD_PROFILED_MAX = 8, FP_FOLD_WITHOUT_MAX = 128 };

/* Finds what vitals that may be sent again would be without what ran in them: those of this upload,
 * and those of earlier parts of which it says more. Describes them for later parts. Then the same
 * of measures and responses. */
bool fp_fold_without(struct fp_fold *fold) FP_MUST_CHECK;

/* Adds to that description for which names the upload counted the page load. */
bool fp_fold_remember_counted(struct fp_fold *fold) FP_MUST_CHECK;

/* How many windows the earlier parts have. */
size_t fp_fold_earlier_windows(const struct fp_fold_context *context);

/* Adds the windows of earlier parts, and their samples inside this upload's windows, with their
 * resources, frames and stacks. */
bool fp_fold_join(struct fp_fold *fold) FP_MUST_CHECK;

/* Returns the first of samples, which are in the order of time, whose span ends after a time. */
uint32_t fp_fold_first_sample(const struct fp_fold_sample *samples, uint32_t count,
                              int64_t time_us);

/* Returns when a sample's span ends. */
static inline int64_t fp_fold_end_us(const struct fp_fold_sample *sample)
{
    return sample->start_us + sample->weight_us;
}

/* Sums, per measure or window's name, what ran inside its windows (rule 7). */
bool fp_fold_measures(struct fp_fold *fold) FP_MUST_CHECK;

/* Lists spans of long frames and handlers, by which the time of responses is divided. */
bool fp_fold_list_spans(struct fp_fold *fold) FP_MUST_CHECK;

/* Adds a response with its requests to these. window: the name of its window. */
bool fp_fold_add_response(struct fp_fold *fold, const struct fp_profile_result *result,
                          struct fp_str window) FP_MUST_CHECK;

/* Divides the time of responses that no stack has into hidden, waiting and other time. These sums
 * and the self times of the windows add up exactly to the windows that have samples. */
bool fp_fold_waits(struct fp_fold *fold) FP_MUST_CHECK;

/* How many timings fp_fold_scripts may add. */
size_t fp_fold_scripts_max(const struct fp_fold *fold);

/* Counts the page load for the script files that it loaded, and for those that ran. */
bool fp_fold_scripts(struct fp_fold *fold) FP_MUST_CHECK;

/* Counts the records of the upload, and those that were refused by reason. */
bool fp_fold_refusals(struct fp_fold *fold) FP_MUST_CHECK;

/* Asserts the invariants of delta.h, where costly assertions are on. */
void fp_fold_check(const struct fp_delta *delta);

#endif
