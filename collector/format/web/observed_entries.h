/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observed entries: the performance entries of a page's observers other than marks and measures.
 *
 * From an array of entries come: the interactions (event, first-input), the long animation frames
 * (or long tasks), the resources, and the vitals LCP, CLS, FCP and TTFB, unless the envelope has
 * them.
 */
#ifndef FP_FORMAT_WEB_OBSERVED_ENTRIES_H
#define FP_FORMAT_WEB_OBSERVED_ENTRIES_H

#include "collector/base/map.h"
#include "collector/format/decoder.h"

/* The known entries of an array so far. */
struct fp_observed_entries {
    struct fp_map interactions; /* from an interactionId to an index in the profile */
    struct fp_profile_long_frame *tasks;
    uint32_t task_count;
    size_t entry_max;
    int64_t vitals_us[FP_VITAL_COUNT]; /* from the page's start, not from when it was shown */
    bool has_vital[FP_VITAL_COUNT];
    /* Layout shifts: the score of the current window of them. */
    double shift_score;
    double best_score;
    int64_t first_shift_us;
    int64_t last_shift_us;
};

/* Initialises the state for an array of at most entry_max entries. */
void fp_observed_entries_init(struct fp_observed_entries *entries, size_t entry_max);
void fp_observed_entries_release(struct fp_observed_entries *entries);

/* Reads an entry that is neither mark nor measure. *taken: it is of a type that is read, and has
 * the members that this type needs. */
bool fp_observed_entries_read(struct fp_observed_entries *entries, struct fp_decoder *decoder,
                              const struct fp_place *place, yyjson_val *entry,
                              bool *taken) FP_MUST_CHECK;

/* Adds what only the whole array tells. */
bool fp_observed_entries_finish(struct fp_observed_entries *entries, struct fp_decoder *decoder,
                                const struct fp_place *place) FP_MUST_CHECK;

#endif
