/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile, check: a profile that breaks one promise of decoders ends the process.
 */
#include "tests/unit/unit.h"

#include "collector/profile/check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* One of everything, twice where order counts. */
struct whole {
    struct fp_profile profile;
    struct fp_str resources[1];
    struct fp_profile_frame frames[1];
    struct fp_profile_stack stacks[2];
    struct fp_profile_sample samples[1];
    struct fp_profile_vital vitals[1];
    struct fp_profile_long_frame long_frames[2];
    struct fp_profile_script scripts[2];
    struct fp_profile_responses responses[1];
    int64_t durations_us[1];
    struct fp_profile_timeline timelines[2];
    struct fp_profile_event events[2];
    struct fp_profile_event earlier[1];
};

static void fill(struct whole *whole)
{
    *whole = (struct whole){
        .frames = {{.resource = 0}},
        .stacks = {{.frame = 0, .parent = FP_INDEX_NONE}, {.frame = 0, .parent = 0}},
        .samples = {{.stack = 1, .marker = FP_MARKER_OTHER}},
        .vitals = {{.vital = 0, .value_us = 1}},
        .long_frames = {{.first_script = 0, .script_count = 1},
                        {.first_script = 1, .script_count = 1}},
        .responses = {{.opaque = 2, .first_duration = 0, .duration_count = 1}},
        .timelines = {{.first_event = 0, .event_count = 1}, {.first_event = 1, .event_count = 1}},
        .events = {{.parent = FP_INDEX_NONE, .resource = 0},
                   {.parent = FP_INDEX_NONE, .resource = FP_INDEX_NONE}},
        .earlier = {{.parent = FP_INDEX_NONE}},
    };
    whole->profile = (struct fp_profile){
        .resources = whole->resources,
        .frames = whole->frames,
        .stacks = whole->stacks,
        .samples = whole->samples,
        .vitals = whole->vitals,
        .long_frames = whole->long_frames,
        .scripts = whole->scripts,
        .responses = whole->responses,
        .response_durations_us = whole->durations_us,
        .timelines = whole->timelines,
        .events = whole->events,
        .earlier_events = whole->earlier,
        .resource_count = 1,
        .frame_count = 1,
        .stack_count = 2,
        .sample_count = 1,
        .vital_count = 1,
        .long_frame_count = 2,
        .script_count = 2,
        .responses_count = 1,
        .response_duration_count = 1,
        .opaque_responses = 2,
        .timeline_count = 2,
        .event_count = 2,
        .earlier_event_count = 1,
    };
}

/* Each breaks one number of a whole profile. */
enum broken {
    NOTHING,
    FRAME_RESOURCE,
    STACK_FRAME,
    STACK_PARENT,
    STACK_OWN_PARENT,
    SAMPLE_STACK,
    SAMPLE_MARKER,
    VITAL_NAME,
    VITAL_VALUE,
    FIRST_SCRIPT,
    SCRIPT_COUNT,
    FIRST_DURATION,
    OPAQUE,
    FIRST_EVENT,
    EVENT_COUNT,
    EVENT_PARENT,
    EARLIER_PARENT,
    EVENT_RESOURCE,
    RECORDS_KEPT,
    NOTES,
    BROKEN_COUNT
};

static void break_one(struct whole *whole, enum broken broken)
{
    uint32_t *const numbers[BROKEN_COUNT] = {
        [FRAME_RESOURCE] = &whole->frames[0].resource,
        [STACK_FRAME] = &whole->stacks[0].frame,
        [STACK_PARENT] = &whole->stacks[1].parent,
        [SAMPLE_STACK] = &whole->samples[0].stack,
        [FIRST_SCRIPT] = &whole->long_frames[1].first_script,
        [SCRIPT_COUNT] = &whole->profile.script_count,
        [FIRST_DURATION] = &whole->responses[0].first_duration,
        [OPAQUE] = &whole->responses[0].opaque,
        [FIRST_EVENT] = &whole->timelines[1].first_event,
        [EVENT_COUNT] = &whole->timelines[1].event_count,
        [EVENT_PARENT] = &whole->events[1].parent,
        [EARLIER_PARENT] = &whole->earlier[0].parent,
        [EVENT_RESOURCE] = &whole->events[0].resource,
        [RECORDS_KEPT] = &whole->profile.session.records_kept,
        [NOTES] = &whole->profile.session.note_count,
    };
    if (numbers[broken] != NULL)
        *numbers[broken] = 100;
    else if (broken == STACK_OWN_PARENT)
        whole->stacks[1].parent = 1;
    else if (broken == SAMPLE_MARKER)
        whole->samples[0].marker = FP_MARKER_COUNT;
    else if (broken == VITAL_NAME)
        whole->vitals[0].vital = FP_VITAL_COUNT;
    else if (broken == VITAL_VALUE)
        whole->vitals[0].value_us = -1;
}

/* Checks in a process of its own. True if it aborts. */
static bool aborts(enum broken broken)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct whole whole;
        (void)signal(SIGABRT, SIG_DFL);
        (void)close(STDERR_FILENO);
        fill(&whole);
        break_one(&whole, broken);
        fp_profile_check(&whole.profile);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void asserts_each_promise_of_a_decoder(void **state)
{
    (void)state;
    assert_false(aborts(NOTHING));
    for (enum broken broken = NOTHING + 1; broken < BROKEN_COUNT; broken++)
        if (!aborts(broken))
            fail_msg("break %d was not noticed", (int)broken);
}

int main(void)
{
#ifdef NDEBUG
    puts("1..0 # SKIP a release has no assertions");
    return 0;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asserts_each_promise_of_a_decoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
