/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold: a profile becomes a delta, by the rules of docs/numbers.md (sorting, weights, unattributed
 * time, noise, recursion).
 */
#ifndef FP_PROFILE_FOLD_FOLD_H
#define FP_PROFILE_FOLD_FOLD_H

#include "collector/base/arena.h"
#include "collector/profile/fold/ceilings.h"
#include "collector/profile/fold/part.h"
#include "collector/profile/profile.h"
#include "collector/profile/scrub/scrub.h"
#include "collector/rollup/delta.h"

/* Facts about an upload that are not in its body. */
struct fp_fold_context {
    struct fp_str site;          /* name */
    struct fp_scrub_rules rules; /* the site's */
    struct fp_str referer;    /* header, "" when absent; used when the envelope has no page.url */
    struct fp_str user_agent; /* header */
    const struct fp_str *custom; /* names of the site's custom dimensions */
    size_t custom_count;
    struct fp_str traffic; /* "repeated": one of many page loads of one client; or "" */
    uint32_t rate_ppm;     /* verified sample rate, 0 = none */
    int64_t received_us;
    uint32_t body_bytes;
    uint32_t measures; /* names of measures that may be joined with samples, most samples first */
    struct fp_ceilings *ceilings; /* NULL: no name becomes `(overflow)` */
    const struct fp_ceiling_limits *ceiling_limits;
    const struct fp_part *const *earlier; /* of the same page load; not this upload */
    size_t earlier_count;
    struct fp_part *part; /* set to what later parts need; lives as long as the delta. NULL: none */
};

/*
 * Limits what an upload's measures add to it besides their names: rows of (measure, frame, marker),
 * and steps of work. Names over the limit are counted in delta->unmeasured.
 */
enum {
    FP_FOLD_MEASURED_FRAMES_MAX = 200000,
    FP_FOLD_MEASURED_STEPS_MAX = 20000000,
};

/*
 * Folds. The delta's arrays and texts are in the arena, the profile's memory, the rules or static
 * memory, and live as long as those. False if the arena is full. Takes time linear in the profile's
 * size (n log n in samples) and does not recurse. Any thread.
 */
bool fp_fold(const struct fp_profile *profile, const struct fp_fold_context *context,
             struct fp_arena *arena, struct fp_delta *delta) FP_MUST_CHECK;

#endif
