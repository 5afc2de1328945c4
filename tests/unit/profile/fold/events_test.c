/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding events: what an event becomes in the common model, and that no microsecond is lost or
 * invented.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/fold/fold.h"
#include "collector/rollup/ids.h"

#include <stdlib.h>

enum { MAX_EVENTS = 64, TYPES = 5 };

struct room {
    struct fp_arena arena;
    struct fp_profile profile;
    struct fp_profile_event events[MAX_EVENTS];
    struct fp_profile_timeline timelines[2];
    struct fp_str resources[1];
    struct fp_delta delta;
};

static int set_up(void **state)
{
    struct room *room = calloc(1, sizeof(*room));
    fp_arena_init(&room->arena, 1 << 22);
    room->resources[0] = FP_STR("https://shop.example/a.js?user=7");
    room->profile = (struct fp_profile){
        .has_id = true,
        .format = FP_UPLOAD_SPEED_TRACER,
        .resources = room->resources,
        .resource_count = 1,
        .has_session = true,
        .timelines = room->timelines,
        .timeline_count = 1,
        .events = room->events,
    };
    room->timelines[0] = (struct fp_profile_timeline){.id = 1, .mode = FP_REDUCE_ALL_EVENTS};
    *state = room;
    return 0;
}

static int tear_down(void **state)
{
    struct room *room = *state;
    fp_arena_release(&room->arena);
    free(room);
    return 0;
}

static struct fp_profile_event *add(struct room *room, const char *type, uint32_t parent,
                                    int64_t self_us)
{
    struct fp_profile_timeline *timeline = &room->timelines[room->profile.timeline_count - 1];
    struct fp_profile_event *event = &room->events[room->profile.event_count++];
    *event = (struct fp_profile_event){.type = fp_str_of(type),
                                       .parent = parent,
                                       .self_us = self_us,
                                       .resource = FP_INDEX_NONE,
                                       .line = FP_POSITION_NONE,
                                       .hits = 1};
    timeline->event_count++;
    return event;
}

static const struct fp_delta *fold(struct room *room)
{
    const struct fp_fold_context context = {.site = FP_STR("shop")};
    assert_true(fp_fold(&room->profile, &context, &room->arena, &room->delta));
    return &room->delta;
}

static const struct fp_delta_frame *frame_named(const struct fp_delta *delta, const char *name)
{
    for (uint32_t i = 0; i < delta->frame_count; i++)
        if (fp_str_equal(delta->frames[i].function, fp_str_of(name)))
            return &delta->frames[i];
    fail_msg("no frame is named %s", name);
    return NULL;
}

static void assert_frame(const struct fp_delta *delta, const char *name, int64_t self_us,
                         int64_t total_us, uint32_t samples)
{
    const struct fp_delta_frame *frame = frame_named(delta, name);
    assert_int_equal(frame->kind, FP_FRAME_EVENT);
    assert_int_equal(frame->self_us, self_us);
    assert_int_equal(frame->total_us, total_us);
    assert_int_equal(frame->samples, samples);
}

static void an_events_path_is_its_stack_and_its_own_time_that_stacks_self_time(void **state)
{
    struct room *room = *state;
    add(room, "DOM_EVENT", FP_INDEX_NONE, 5000);
    add(room, "LAYOUT", 0, 3000);
    add(room, "PAINT", 0, 2000);
    add(room, "LAYOUT", FP_INDEX_NONE, 700);
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->profiled_us, 10700);
    assert_int_equal(delta->unattributed_us, 0);
    assert_int_equal(delta->samples, 4);
    assert_int_equal(delta->stack_count, 4);
    assert_frame(delta, "DOM_EVENT", 5000, 10000, 3);
    assert_frame(delta, "LAYOUT", 3700, 3700, 2);
    assert_frame(delta, "PAINT", 2000, 2000, 1);
}

static void an_event_in_one_of_its_own_kind_is_in_the_total_once(void **state)
{
    struct room *room = *state;
    add(room, "JAVASCRIPT_CALLBACK", FP_INDEX_NONE, 1000);
    add(room, "JAVASCRIPT_CALLBACK", 0, 2000);
    add(room, "JAVASCRIPT_CALLBACK", 1, 4000);
    assert_frame(fold(room), "JAVASCRIPT_CALLBACK", 7000, 7000, 3);
}

static void time_that_no_event_has_is_inside_the_event_that_says_so(void **state)
{
    struct room *room = *state;
    add(room, "REFLOW", FP_INDEX_NONE, 1000);
    add(room, "STYLE_RECALCULATION", 0, 2000)->unlisted_us = 50000;
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->profiled_us, 53000);
    assert_int_equal(delta->samples, 3);
    assert_frame(delta, "REFLOW", 1000, 53000, 3);
    assert_frame(delta, "STYLE_RECALCULATION", 2000, 52000, 2);
    assert_frame(delta, "(not listed)", 50000, 50000, 1);
}

static void own_time_that_samples_have_is_not_the_events(void **state)
{
    struct room *room = *state;
    add(room, "DOM_EVENT", FP_INDEX_NONE, 1000);
    add(room, "JAVASCRIPT_CALLBACK", 0, 5000)->sampled_us = 4000;
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->profiled_us, 2000);
    assert_frame(delta, "JAVASCRIPT_CALLBACK", 1000, 1000, 1);
}

static void time_that_an_earlier_part_counted_is_taken_back_without_a_sample(void **state)
{
    struct room *room = *state;
    struct fp_profile_event earlier[] = {
        {.type = FP_STR("DOM_EVENT"), .parent = FP_INDEX_NONE},
        {.type = FP_STR("EVAL_SCRIPT"), .parent = 0},
        {.type = FP_STR("LAYOUT"), .parent = 0, .sampled_us = 3000},
    };
    for (size_t i = 0; i < FP_COUNT(earlier); i++) {
        earlier[i].resource = FP_INDEX_NONE;
        earlier[i].line = FP_POSITION_NONE;
    }
    add(room, "PAINT", FP_INDEX_NONE, 1000);
    room->profile.earlier_events = earlier;
    room->profile.earlier_event_count = FP_COUNT(earlier);
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->profiled_us, -2000);
    assert_int_equal(delta->samples, 1);
    assert_int_equal(delta->frame_count, 3);
    assert_frame(delta, "PAINT", 1000, 1000, 1);
    assert_frame(delta, "DOM_EVENT", 0, -3000, 0);
    assert_frame(delta, "LAYOUT", -3000, -3000, 0);
    assert_int_equal(delta->session->event_count, 1);
}

static void refusals_of_one_reason_are_added_up_at_their_first_place(void **state)
{
    struct room *room = *state;
    struct fp_profile_note notes[] = {
        {.text = "a line",
         .reason = FP_RECORD_REFUSAL_BAD_PROFILE_LINE,
         .count = 2,
         .first_offset = 9},
        {.text = "a command",
         .reason = FP_RECORD_REFUSAL_BAD_PROFILE_LINE,
         .count = 3,
         .first_offset = 7},
        {.text = "odd", .count = 8, .first_offset = 1},
    };
    add(room, "PAINT", FP_INDEX_NONE, 1000);
    room->profile.session.notes = notes;
    room->profile.session.note_count = FP_COUNT(notes);
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->records_refused, 5);
    assert_int_equal(delta->refusal_count, 1);
    assert_int_equal(delta->refusals[0].records, 5);
    assert_text(delta->refusals[0].place, "byte 7");
}

static void a_negative_own_time_is_kept_so_that_sums_are_right(void **state)
{
    struct room *room = *state;
    add(room, "PARSE_HTML", FP_INDEX_NONE, -2000);
    add(room, "EVAL_SCRIPT", 0, 9000);
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->profiled_us, 7000);
    assert_frame(delta, "PARSE_HTML", -2000, 7000, 2);
}

static void a_point_in_time_counts_and_weighs_nothing(void **state)
{
    struct room *room = *state;
    add(room, "TIMER_INSTALLED", FP_INDEX_NONE, 0)->duration_us = FP_DURATION_NONE;
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->profiled_us, 0);
    assert_frame(delta, "TIMER_INSTALLED", 0, 0, 1);
}

static void an_events_url_is_part_of_its_frame_and_scrubbed(void **state)
{
    struct room *room = *state;
    struct fp_profile_event *event = add(room, "EVAL_SCRIPT", FP_INDEX_NONE, 10);
    event->resource = 0;
    event->line = 12;
    add(room, "EVAL_SCRIPT", FP_INDEX_NONE, 20);
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->frame_count, 2);
    assert_int_equal(delta->frames[0].line, 12);
    assert_true(fp_str_equal(delta->resources[delta->frames[0].resource].url,
                             FP_STR("https://shop.example/a.js")));
}

static void reduced_events_and_the_whole_process_are_in_no_sum(void **state)
{
    struct room *room = *state;
    add(room, "PROCESS", FP_INDEX_NONE, 90000)->is_process = true;
    add(room, "LAYOUT", 0, 40);
    room->timelines[1] = (struct fp_profile_timeline){
        .id = 1, .mode = FP_REDUCE_UNIQUE_TYPES, .first_event = room->profile.event_count};
    room->profile.timeline_count = 2;
    add(room, "LAYOUT", FP_INDEX_NONE, 70000);
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->profiled_us, 40);
    assert_int_equal(delta->frame_count, 1);
    assert_frame(delta, "LAYOUT", 40, 40, 1);
}

static void samples_with_weights_of_their_own_and_events_add_up_side_by_side(void **state)
{
    struct room *room = *state;
    struct fp_profile_frame frames[] = {{FP_STR("main"), 0, 3, FP_POSITION_NONE}};
    struct fp_profile_stack stacks[] = {{0, FP_INDEX_NONE}};
    struct fp_profile_sample samples[] = {{9, 0, FP_MARKER_GC}, {2, FP_INDEX_NONE, 0}};
    int64_t weights[] = {1000, 500};
    room->profile.frames = frames;
    room->profile.frame_count = 1;
    room->profile.stacks = stacks;
    room->profile.stack_count = 1;
    room->profile.samples = samples;
    room->profile.weights_us = weights;
    room->profile.sample_count = 2;
    add(room, "GC_EVENT", FP_INDEX_NONE, 30);
    const struct fp_delta *delta = fold(room);
    assert_int_equal(delta->profiled_us, 1530);
    assert_int_equal(delta->unattributed_us, 500);
    assert_int_equal(delta->samples, 3);
    assert_int_equal(frame_named(delta, "main")->self_us, 1000);
    assert_frame(delta, "GC_EVENT", 30, 30, 1);
}

static void a_session_is_kept_scrubbed_event_by_event_and_whole(void **state)
{
    struct room *room = *state;
    room->profile.page_url = FP_STR("https://shop.example/cart?user=7");
    room->profile.session = (struct fp_profile_session){
        .id = 7,
        .window_id = 8,
        .version = FP_STR("0.26"),
        .started_us = 9,
        .content = FP_STR("{\"url\":\"https://shop.example/?user=7\"}\n")};
    struct fp_profile_event *event = add(room, "NETWORK_RESOURCE_START", FP_INDEX_NONE, 0);
    event->detail = FP_STR("{\"url\":\"/x?y\",\"headers\":{\"Cookie\":\"a\"}}");
    event->resource = 0;
    event->id = 3;
    event->duration_us = FP_DURATION_NONE;
    add(room, "LAYOUT", 0, 40)->type_number = 1;
    add(room, "LAYOUT", 0, 50)->type_number = 1;
    const struct fp_session *session = fold(room)->session;
    assert_int_equal(session->source_id, 7);
    assert_int_equal(session->window_id, 8);
    assert_int_equal(session->started_us, 9);
    assert_true(fp_str_equal(session->version, FP_STR("0.26")));
    assert_true(fp_str_equal(session->page_url, FP_STR("https://shop.example/cart")));
    assert_true(fp_str_equal(session->content, FP_STR("{\"url\":\"https://shop.example/\"}\n")));
    assert_int_equal(session->event_count, 3);
    assert_int_equal(session->type_count, 2);
    assert_int_equal(session->events[0].id, 3);
    assert_int_equal(session->events[2].parent, 0);
    assert_int_equal(session->events[2].type, session->events[1].type);
    assert_true(fp_str_equal(session->events[0].detail,
                             FP_STR("{\"url\":\"/x\",\"headers\":{\"Cookie\":\"(removed)\"}}")));
    assert_true(fp_str_equal(session->resources[session->events[0].resource],
                             FP_STR("https://shop.example/a.js")));
}

/* Compares random trees with sums computed event by event, without stacks. */
static void sums_of_random_trees_are_those_of_a_plain_walk(void **state)
{
    static const char *const types[TYPES] = {"A", "B", "C", "D", "E"};
    struct room *room = *state;
    for (unsigned seed = 1; seed <= 500; seed++) {
        srand(seed);
        room->profile.event_count = 0;
        room->timelines[0].event_count = 0;
        int64_t profiled_us = 0;
        int64_t self_us[TYPES] = {0};
        int64_t total_us[TYPES] = {0};
        unsigned type_of[MAX_EVENTS];
        for (uint32_t i = 0; i < MAX_EVENTS; i++) {
            uint32_t parent = i == 0 || rand() % 4 == 0 ? FP_INDEX_NONE : (uint32_t)rand() % i;
            int64_t time_us = rand() % 1000 - 20;
            type_of[i] = (unsigned)rand() % TYPES;
            add(room, types[type_of[i]], parent, time_us);
            profiled_us += time_us;
            self_us[type_of[i]] += time_us;
            bool met[TYPES] = {false};
            for (uint32_t k = i; k != FP_INDEX_NONE; k = room->events[k].parent) {
                total_us[type_of[k]] += met[type_of[k]] ? 0 : time_us;
                met[type_of[k]] = true;
            }
        }
        const struct fp_delta *delta = fold(room);
        assert_int_equal(delta->profiled_us, profiled_us);
        for (uint32_t i = 0; i < delta->frame_count; i++) {
            unsigned type = (unsigned)(delta->frames[i].function.ptr[0] - 'A');
            assert_int_equal(delta->frames[i].self_us, self_us[type]);
            assert_int_equal(delta->frames[i].total_us, total_us[type]);
        }
        fp_arena_clear(&room->arena);
    }
}

#define EVENTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EVENTS_TEST(an_events_path_is_its_stack_and_its_own_time_that_stacks_self_time),
        EVENTS_TEST(an_event_in_one_of_its_own_kind_is_in_the_total_once),
        EVENTS_TEST(time_that_no_event_has_is_inside_the_event_that_says_so),
        EVENTS_TEST(own_time_that_samples_have_is_not_the_events),
        EVENTS_TEST(time_that_an_earlier_part_counted_is_taken_back_without_a_sample),
        EVENTS_TEST(refusals_of_one_reason_are_added_up_at_their_first_place),
        EVENTS_TEST(a_negative_own_time_is_kept_so_that_sums_are_right),
        EVENTS_TEST(a_point_in_time_counts_and_weighs_nothing),
        EVENTS_TEST(an_events_url_is_part_of_its_frame_and_scrubbed),
        EVENTS_TEST(reduced_events_and_the_whole_process_are_in_no_sum),
        EVENTS_TEST(samples_with_weights_of_their_own_and_events_add_up_side_by_side),
        EVENTS_TEST(a_session_is_kept_scrubbed_event_by_event_and_whole),
        EVENTS_TEST(sums_of_random_trees_are_those_of_a_plain_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
