/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search: what ran in waits of a page load, and what the waits would be without it.
 *
 * Looks at functions, npm packages, third-party hosts and markers. Of those that took time in the
 * waits it picks at most ten; without the others a value stays as it is.
 */
#ifndef FP_PROFILE_FOLD_SEARCH_H
#define FP_PROFILE_FOLD_SEARCH_H

#include "collector/profile/fold/internal.h"

enum {
    FP_SEARCH_PICKS_MAX = 10,      /* of all kinds together; of vitals that many */
    FP_SEARCH_VALUE_PICKS_MAX = 4, /* of measures and responses, which are more */
    FP_SEARCH_BINS_MIN = 3,        /* less gain, 5 to 9 % of the value, is not worth its storage */
    FP_SEARCH_WAITS_MAX = 64,      /* of a page load: its longest interactions */
};

enum fp_thing_kind {
    FP_THING_FUNCTION,
    FP_THING_HOST,
    FP_THING_PACKAGE,
    FP_THING_MARKER,
    FP_THING_KINDS
};

/* Something that ran, with the times of the wait that is looked at. */
struct fp_thing {
    enum fp_thing_kind kind;
    uint64_t frame_id;
    struct fp_str name; /* of a host, a package or a marker */
    int64_t total_us;
    int64_t self_us;
    int64_t most_total_us; /* in any wait */
    int64_t most_self_us;
    uint32_t met; /* the last sample that had it */
    bool is_listed;
    bool is_picked;
};

/* Where samples are: in this upload, or in an earlier part. */
struct fp_watched {
    const struct fp_fold_sample *samples;
    const struct fp_delta_stack *stacks;
    const struct fp_delta_frame *frames;
    const struct fp_delta_resource *resources;
    uint32_t sample_count;
    uint32_t *thing_of_frame; /* FP_INDEX_NONE: not looked at yet, or nothing to look for */
    uint32_t *host_of_resource;
    uint32_t *package_of_resource;
    bool *is_no_package; /* by resource: its URL names none */
};

/* A thing that was picked, with its time in each wait. */
struct fp_pick {
    uint32_t thing;
    int64_t us[FP_SEARCH_WAITS_MAX];
};

struct fp_search {
    struct fp_fold *fold;
    struct fp_watched *sources; /* the upload's own, then those of earlier parts */
    size_t source_count;
    struct fp_thing *things;
    uint32_t thing_count;
    uint32_t thing_of_marker[FP_MARKER_COUNT];
    struct fp_map frames; /* from its id to a thing, as the next ones */
    struct fp_map hosts;
    struct fp_map packages;
    struct fp_str own_host;
    uint32_t *listed; /* things with time in the wait */
    uint32_t listed_count;
    uint32_t met; /* samples looked at */
    uint32_t steps;
    /* The caller sets the waits: those that decide a value, the longest first. */
    struct fp_fold_wait waits[FP_SEARCH_WAITS_MAX];
    uint32_t wait_count;
    uint32_t rank; /* of these, the one that the value is of */
    struct fp_pick picks[FP_SEARCH_PICKS_MAX];
    uint32_t pick_count;
    uint32_t picked[FP_THING_KINDS]; /* of each kind */
};

/* Prepares a search in the upload and its earlier parts. Release it also if this fails: no
 * memory. */
bool fp_search_init(struct fp_search *searching, struct fp_fold *fold) FP_MUST_CHECK;
void fp_search_release(struct fp_search *searching);

/* True if a sample of a source is in the wait. */
bool fp_search_is_in(const struct fp_watched *source, const struct fp_fold_wait *wait);

/* True if somebody looked at the page during the wait. */
bool fp_search_is_watched(const struct fp_search *searching, const struct fp_fold_wait *wait);

/* Picks what took most in the waits, at most `most`. *done is false if that takes too many steps;
 * then nothing more is found for this upload. False: no memory. */
bool fp_search_pick(struct fp_search *searching, uint32_t most, bool *done) FP_MUST_CHECK;

/* Adds to the delta what a value would be without each pick, unless it would be nearly the same.
 * name: of the value. False: no memory. */
bool fp_search_add(struct fp_search *searching, struct fp_str name, int64_t value_us,
                   uint32_t *count) FP_MUST_CHECK;

/* Adds to the delta what measures and responses would be without what ran in them. */
bool fp_fold_profiled(struct fp_search *searching) FP_MUST_CHECK;

#endif
