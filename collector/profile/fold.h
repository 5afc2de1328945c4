/*
 * Fold: a profile becomes a delta, by the rules of docs/numbers.md (sorting, weights, unattributed
 * time, noise, recursion).
 */
#ifndef FP_PROFILE_FOLD_H
#define FP_PROFILE_FOLD_H

#include "collector/base/arena.h"
#include "collector/profile/ceilings.h"
#include "collector/profile/profile.h"
#include "collector/profile/scrub.h"
#include "collector/rollup/delta.h"

/* What is known of an upload beside its body. */
struct fp_fold_context {
    struct fp_str site;          /* name */
    struct fp_scrub_rules rules; /* the site's */
    struct fp_str referer;    /* header, "" when absent; used when the envelope has no page.url */
    struct fp_str user_agent; /* header */
    uint32_t rate_ppm;        /* verified sample rate, 0 = none */
    int64_t received_us;
    uint32_t body_bytes;
    uint32_t measures; /* names of measures that may be joined with samples, most samples first */
    struct fp_ceilings *ceilings; /* NULL: no name becomes `(overflow)` */
    const struct fp_ceiling_limits *ceiling_limits;
};

/*
 * How much an upload's measures may add to what it has without them, beside the number of their
 * names: rows of (measure, frame, marker), and steps of work. Names that do not fit are counted in
 * delta->unmeasured.
 */
enum {
    FP_FOLD_MEASURED_FRAMES_MAX = 200000,
    FP_FOLD_MEASURED_STEPS_MAX = 20000000,
};

/*
 * Folds. The delta's arrays and texts lie in the arena (or in the profile's memory, the rules and
 * statics) and live as long as they do. False when the arena is full. Runs in time linear in the
 * profile's size (and n log n in samples), without recursion. Any thread.
 */
bool fp_fold(const struct fp_profile *profile, const struct fp_fold_context *context,
             struct fp_arena *arena, struct fp_delta *delta) FP_MUST_CHECK;

#endif
