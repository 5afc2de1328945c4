/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observed: what the browser's observers report besides marks and measures: web vitals,
 * interactions and their results, long animation frames and resources, as the members of an
 * envelope.
 *
 * Each has a place in the profile's arrays; all of them together may be limits->entries.
 */
#ifndef FP_FORMAT_WEB_OBSERVED_H
#define FP_FORMAT_WEB_OBSERVED_H

#include "collector/format/decoder.h"

/* Tolerance for reports: browsers round durations, but not their starts. */
#define FP_OBSERVED_SLACK_US (10 * FP_US_PER_MS)

/* The members of an envelope. */
struct fp_observed_members {
    const struct fp_field *interactions;
    const struct fp_field *results;
    const struct fp_field *frames;
    const struct fp_field *resources;
};

/* Returns how many elements a profile has that count towards limits->entries. */
uint64_t fp_observed_count(const struct fp_profile *profile);

/* Decodes the members that are there into the profile. */
bool fp_observed_decode(struct fp_decoder *decoder,
                        const struct fp_observed_members *members) FP_MUST_CHECK;

/* For decoders of the same facts in other forms: */

/* Reads a required time that is not negative. */
bool fp_observed_read_span(struct fp_decoder *decoder, const struct fp_field *field,
                           int64_t *span_us) FP_MUST_CHECK;

/* Reads such a time; absent: *span_us is unchanged. */
bool fp_observed_read_optional(struct fp_decoder *decoder, const struct fp_field *field,
                               int64_t *span_us) FP_MUST_CHECK;

/* Reads a kind of navigation; absent, or a word that this version does not know: unknown. */
bool fp_observed_read_navigation(struct fp_decoder *decoder, const struct fp_field *field,
                                 enum fp_navigation *navigation) FP_MUST_CHECK;

/* Append to the profile. place: for the error when there are too many. */
bool fp_observed_add_vital(struct fp_decoder *decoder, const struct fp_place *place,
                           const struct fp_profile_vital *vital) FP_MUST_CHECK;
bool fp_observed_add_interaction(struct fp_decoder *decoder, const struct fp_place *place,
                                 const struct fp_profile_interaction *interaction) FP_MUST_CHECK;
bool fp_observed_add_frame(struct fp_decoder *decoder, const struct fp_place *place,
                           const struct fp_profile_long_frame *frame) FP_MUST_CHECK;
bool fp_observed_add_duration(struct fp_decoder *decoder, const struct fp_place *place,
                              int64_t duration_us) FP_MUST_CHECK;
bool fp_observed_add_responses(struct fp_decoder *decoder, const struct fp_place *place,
                               const struct fp_profile_responses *responses) FP_MUST_CHECK;

/* The moments of an interaction, and the fields that give them, for errors. */
struct fp_observed_event {
    const struct fp_field *processing_start;
    const struct fp_field *processing_end;
    int64_t start_us;
    int64_t processing_start_us;
    int64_t processing_end_us;
    int64_t duration_us;
};

/* Sets the durations of an interaction. Fails if its moments are not in their order. */
bool fp_observed_fill_interaction(struct fp_decoder *decoder, const struct fp_observed_event *event,
                                  struct fp_profile_interaction *interaction) FP_MUST_CHECK;

/* How a long animation frame names its members. */
struct fp_observed_frame_names {
    struct fp_str start, duration, blocking, style, layout, scripts;
    struct fp_str script_start, url, function, forced, forced_style, forced_layout;
};

/* Decodes a long animation frame and its scripts. */
bool fp_observed_decode_frame(struct fp_decoder *decoder, const struct fp_place *place,
                              yyjson_val *value,
                              const struct fp_observed_frame_names *names) FP_MUST_CHECK;

#endif
