/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile, check: asserts what every decoder promises of a profile, and folding relies on.
 */
#include "collector/profile/check.h"

#include "collector/base/assert.h"

static bool is_index(uint32_t index, uint32_t count)
{
    return index < count || index == FP_INDEX_NONE;
}

static bool frames_have_resources(const struct fp_profile *profile)
{
    for (uint32_t i = 0; i < profile->frame_count; i++)
        if (!is_index(profile->frames[i].resource, profile->resource_count))
            return false;
    return true;
}

static bool stacks_have_frames(const struct fp_profile *profile)
{
    for (uint32_t i = 0; i < profile->stack_count; i++)
        if (profile->stacks[i].frame >= profile->frame_count ||
            !is_index(profile->stacks[i].parent, profile->stack_count) ||
            profile->stacks[i].parent == i)
            return false;
    return true;
}

static bool samples_have_stacks(const struct fp_profile *profile)
{
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (!is_index(profile->samples[i].stack, profile->stack_count) ||
            (unsigned)profile->samples[i].marker >= FP_MARKER_COUNT)
            return false;
    return true;
}

/* The scripts of all long frames, one after another, are all scripts. */
static bool long_frames_have_scripts(const struct fp_profile *profile)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < profile->long_frame_count; i++) {
        const struct fp_profile_long_frame *frame = &profile->long_frames[i];
        if (frame->script_count > 0 && frame->first_script != count)
            return false;
        count += frame->script_count;
    }
    return count == profile->script_count;
}

static bool responses_have_durations(const struct fp_profile *profile)
{
    uint64_t count = 0;
    uint64_t opaque = 0;
    for (uint32_t i = 0; i < profile->responses_count; i++) {
        const struct fp_profile_responses *responses = &profile->responses[i];
        if ((uint64_t)responses->first_duration + responses->duration_count >
            profile->response_duration_count)
            return false;
        count += responses->duration_count;
        opaque += responses->opaque;
    }
    return count == profile->response_duration_count && opaque == profile->opaque_responses;
}

static bool vitals_are_known(const struct fp_profile *profile)
{
    for (uint32_t i = 0; i < profile->vital_count; i++)
        if ((unsigned)profile->vitals[i].vital >= FP_VITAL_COUNT || profile->vitals[i].value_us < 0)
            return false;
    return true;
}

/* Timelines follow each other and have all events. */
static bool timelines_have_all_events(const struct fp_profile *profile)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < profile->timeline_count; i++) {
        if (profile->timelines[i].event_count > 0 && profile->timelines[i].first_event != count)
            return false;
        count += profile->timelines[i].event_count;
    }
    return count == profile->event_count;
}

static bool parents_precede(const struct fp_profile_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_index(events[i].parent, i))
            return false;
    return true;
}

static bool events_have_resources(const struct fp_profile *profile)
{
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (!is_index(profile->events[i].resource, profile->resource_count))
            return false;
    return true;
}

static bool reports_have_calls(const struct fp_profile *profile)
{
    for (uint32_t i = 0; i < profile->report_count; i++)
        if ((unsigned)profile->reports[i].crash >= FP_CRASH_COUNT ||
            (profile->reports[i].call_count > 0 && profile->reports[i].policy.ptr != NULL))
            return false;
    return true;
}

void fp_profile_check(const struct fp_profile *profile)
{
    FP_ASSERT(profile->session.records_kept <= profile->session.records_read);
    FP_ASSERT(profile->session.note_count <= FP_PROFILE_NOTES_MAX);
    FP_ASSERT(profile->weights_us == NULL || profile->sample_count > 0);
    FP_ASSERT_COSTLY(frames_have_resources(profile));
    FP_ASSERT_COSTLY(stacks_have_frames(profile));
    FP_ASSERT_COSTLY(samples_have_stacks(profile));
    FP_ASSERT_COSTLY(long_frames_have_scripts(profile));
    FP_ASSERT_COSTLY(responses_have_durations(profile));
    FP_ASSERT_COSTLY(vitals_are_known(profile));
    FP_ASSERT_COSTLY(reports_have_calls(profile));
    FP_ASSERT_COSTLY(timelines_have_all_events(profile));
    FP_ASSERT_COSTLY(parents_precede(profile->events, profile->event_count));
    FP_ASSERT_COSTLY(parents_precede(profile->earlier_events, profile->earlier_event_count));
    FP_ASSERT_COSTLY(events_have_resources(profile));
}
