/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two profiles member by member: texts by their bytes, arrays by their elements.
 */
#ifndef FP_TESTS_PROFILE_DIFFERENCE_H
#define FP_TESTS_PROFILE_DIFFERENCE_H

#include "collector/profile/profile.h"

#define FP_DIFFERS(member) (a->member != b->member)
#define FP_TEXT_DIFFERS(member) (!fp_str_equal(a->member, b->member))

static inline bool fp_custom_differs(const struct fp_profile_said *a,
                                     const struct fp_profile_said *b)
{
    bool differs = FP_DIFFERS(custom_count);
    for (uint32_t i = 0; !differs && i < a->custom_count; i++)
        differs = FP_TEXT_DIFFERS(custom[i].name) || FP_TEXT_DIFFERS(custom[i].value);
    return differs;
}

/* Returns the name of a member of the envelope that differs, NULL if none does. */
static inline const char *fp_envelope_difference(const struct fp_profile *a,
                                                 const struct fp_profile *b)
{
    const struct {
        const char *member;
        bool differs;
    } members[] = {
        {"id", FP_DIFFERS(has_id) || (a->has_id && !fp_uuid_equal(&a->id, &b->id))},
        {"load", FP_DIFFERS(has_load) || (a->has_load && !fp_uuid_equal(&a->load, &b->load))},
        {"has_page_route", FP_DIFFERS(has_page_route)},
        {"truncated", FP_DIFFERS(truncated) || FP_DIFFERS(left_out_count)},
        {"part", FP_DIFFERS(part)},
        {"format", FP_DIFFERS(format)},
        {"coverage", FP_DIFFERS(coverage)},
        {"environment", FP_TEXT_DIFFERS(said.environment)},
        {"variant", FP_TEXT_DIFFERS(said.variant)},
        {"thread", FP_TEXT_DIFFERS(said.thread)},
        {"frame", FP_TEXT_DIFFERS(said.frame)},
        {"machine", FP_TEXT_DIFFERS(said.machine)},
        {"drawn", FP_TEXT_DIFFERS(said.drawn)},
        {"network", FP_TEXT_DIFFERS(said.network)},
        {"custom", fp_custom_differs(&a->said, &b->said)},
        {"agent_name", FP_TEXT_DIFFERS(agent_name)},
        {"agent_version", FP_TEXT_DIFFERS(agent_version)},
        {"release", FP_TEXT_DIFFERS(release)},
        {"token", FP_TEXT_DIFFERS(token)},
        {"page_url", FP_TEXT_DIFFERS(page_url)},
        {"page_route", FP_TEXT_DIFFERS(page_route)},
        {"interval_us", FP_DIFFERS(interval_us)},
        {"skipped_entries", FP_DIFFERS(skipped_entries) || FP_DIFFERS(first_skipped)},
        {"unordered_entries", FP_DIFFERS(unordered_entries) || FP_DIFFERS(first_unordered)},
        {"has_trace", FP_DIFFERS(has_trace)},
        {"content", FP_DIFFERS(has_session) || FP_TEXT_DIFFERS(session.content)},
        {"weights_us", (a->weights_us == NULL) != (b->weights_us == NULL)},
        {"event_count", FP_DIFFERS(event_count) || FP_DIFFERS(timeline_count)},
        {"next", (a->next == NULL) != (b->next == NULL)},
    };
    for (size_t i = 0; i < FP_COUNT(members); i++)
        if (members[i].differs)
            return members[i].member;
    return NULL;
}

static inline bool fp_frames_differ(const struct fp_profile_frame *a,
                                    const struct fp_profile_frame *b)
{
    return FP_TEXT_DIFFERS(function) || FP_DIFFERS(resource) || FP_DIFFERS(line) ||
           FP_DIFFERS(column);
}

static inline bool fp_stacks_differ(const struct fp_profile_stack *a,
                                    const struct fp_profile_stack *b)
{
    return FP_DIFFERS(frame) || FP_DIFFERS(parent);
}

static inline bool fp_samples_differ(const struct fp_profile_sample *a,
                                     const struct fp_profile_sample *b)
{
    return FP_DIFFERS(time_us) || FP_DIFFERS(stack) || FP_DIFFERS(marker);
}

static inline bool fp_timings_differ(const struct fp_profile_timing *a,
                                     const struct fp_profile_timing *b)
{
    return FP_TEXT_DIFFERS(name) || FP_TEXT_DIFFERS(detail) || FP_DIFFERS(kind) ||
           FP_DIFFERS(has_start) || FP_DIFFERS(value_us) || FP_DIFFERS(start_us);
}

/* Returns the name of an array that differs, NULL if none does. */
static inline const char *fp_array_difference(const struct fp_profile *a,
                                              const struct fp_profile *b)
{
    bool differs = FP_DIFFERS(resource_count);
    for (uint32_t i = 0; !differs && i < a->resource_count; i++)
        differs = FP_TEXT_DIFFERS(resources[i]);
    if (differs)
        return "resources";
    differs = FP_DIFFERS(frame_count);
    for (uint32_t i = 0; !differs && i < a->frame_count; i++)
        differs = fp_frames_differ(&a->frames[i], &b->frames[i]);
    if (differs)
        return "frames";
    differs = FP_DIFFERS(stack_count);
    for (uint32_t i = 0; !differs && i < a->stack_count; i++)
        differs = fp_stacks_differ(&a->stacks[i], &b->stacks[i]);
    if (differs)
        return "stacks";
    differs = FP_DIFFERS(sample_count);
    for (uint32_t i = 0; !differs && i < a->sample_count; i++)
        differs = fp_samples_differ(&a->samples[i], &b->samples[i]);
    if (differs)
        return "samples";
    differs = FP_DIFFERS(timing_count);
    for (uint32_t i = 0; !differs && i < a->timing_count; i++)
        differs = fp_timings_differ(&a->timings[i], &b->timings[i]);
    return differs ? "timings" : NULL;
}

/* Returns the name of a member that differs in two profiles of the web formats, NULL if none does.
 */
static inline const char *fp_profile_difference(const struct fp_profile *a,
                                                const struct fp_profile *b)
{
    const char *member = fp_envelope_difference(a, b);
    return member != NULL ? member : fp_array_difference(a, b);
}

#endif
