/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Valid Opera Scope sessions: both forms of the messages, every field and type of event, every
 * mode, any order.
 */
#include "opera_scope_test.h"

#include "collector/base/uuid.h"

/* Fixtures. */

static const struct fp_profile_event *event_of(const struct decoded *decoded, uint32_t timeline,
                                               uint32_t index)
{
    const struct fp_profile *profile = &decoded->profile;
    assert_true(timeline < profile->timeline_count);
    assert_true(index < profile->timelines[timeline].event_count);
    return &profile->events[profile->timelines[timeline].first_event + index];
}

static void reads_session_page_and_envelope(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_fixture(&decoded, "page-load.json");
    const struct fp_profile *profile = &decoded.profile;
    assert_int_equal(profile->format, FP_UPLOAD_OPERA_SCOPE);
    assert_true(profile->has_session && profile->has_id && profile->has_page_route);
    assert_text(profile->release, "1.4");
    assert_text(profile->said.environment, "test");
    assert_text(profile->page_url, "https://shop.example/?from=mail");
    assert_text(profile->page_route, "/");
    assert_int_equal(profile->session.id, 1);
    assert_int_equal(profile->session.window_id, 2);
    assert_text(profile->session.version, "1.0");
    assert_true(profile->session.started_us == INT64_C(1355000000000000));
    assert_int_equal(profile->session.records_read, 31);
    assert_int_equal(profile->session.records_kept, 31);
    assert_int_equal(profile->session.note_count, 0);
    assert_int_equal(profile->event_count, 31);
    release(&decoded);
}

static void keeps_a_timeline_for_each_list_with_its_frame_and_mode(void **state)
{
    (void)state;
    static const struct {
        uint32_t id, frame_id, mode, first_event, event_count;
    } expected[] = {{1, 3, FP_REDUCE_ALL_EVENTS, 0, 15},
                    {2, 4, FP_REDUCE_ALL_EVENTS, 15, 2},
                    {1, 3, FP_REDUCE_UNIQUE_TYPES, 17, 10},
                    {1, 3, FP_REDUCE_UNIQUE_EVENTS, 27, 2},
                    {1, 3, FP_REDUCE_ALL, 29, 2}};
    struct decoded decoded;
    decode_fixture(&decoded, "page-load.json");
    assert_int_equal(decoded.profile.timeline_count, sizeof(expected) / sizeof(expected[0]));
    for (uint32_t i = 0; i < decoded.profile.timeline_count; i++) {
        const struct fp_profile_timeline *timeline = &decoded.profile.timelines[i];
        assert_int_equal(timeline->id, expected[i].id);
        assert_int_equal(timeline->frame_id, expected[i].frame_id);
        assert_int_equal(timeline->mode, expected[i].mode);
        assert_int_equal(timeline->first_event, expected[i].first_event);
        assert_int_equal(timeline->event_count, expected[i].event_count);
    }
    release(&decoded);
}

static void reads_each_type_of_event_with_its_detail(void **state)
{
    (void)state;
    static const struct {
        uint32_t index;
        const char *type;
        const char *resource; /* NULL: none */
        const char *detail;
    } expected[] = {
        {0, "DOCUMENT_PARSING", "https://shop.example/",
         "{\"aggregatedTime\":16.77,\"aggregatedOverhead\":0.41}"},
        {1, "CSS_PARSING", "https://shop.example/a.css",
         "{\"aggregatedTime\":3.25,\"aggregatedOverhead\":0.05}"},
        {2, "SCRIPT_COMPILATION", "https://shop.example/a.js",
         "{\"scriptType\":1,\"aggregatedTime\":1.5,\"aggregatedOverhead\":0}"},
        {3, "SCRIPT_THREAD_EVALUATION", NULL,
         "{\"scriptThreadType\":4,\"aggregatedTime\":5.52,\"aggregatedOverhead\":0.26}"},
        {4, "REFLOW", NULL, "{\"aggregatedTime\":1.27,\"aggregatedOverhead\":0.06}"},
        {5, "STYLE_RECALCULATION", NULL, "{\"aggregatedTime\":0.62,\"aggregatedOverhead\":0.05}"},
        {6, "CSS_SELECTOR_MATCHING", NULL,
         "{\"selector\":\"#foo p\",\"aggregatedTime\":0.05,\"aggregatedOverhead\":0.01}"},
        {9, "LAYOUT", NULL, "{\"aggregatedTime\":0.25,\"aggregatedOverhead\":0}"},
        {10, "SCRIPT_THREAD_EVALUATION", NULL,
         "{\"scriptThreadType\":3,\"eventName\":\"click\",\"aggregatedTime\":2,"
         "\"aggregatedOverhead\":0}"},
        {11, "PAINT", NULL,
         "{\"area\":{\"x\":0,\"y\":0,\"w\":800,\"h\":600},\"aggregatedTime\":5.5,"
         "\"aggregatedOverhead\":0}"},
        {12, "GENERIC", NULL, ""},
    };
    struct decoded decoded;
    decode_fixture(&decoded, "page-load.json");
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct fp_profile_event *event = event_of(&decoded, 0, expected[i].index);
        assert_text(event->type, expected[i].type);
        assert_text(event->detail, expected[i].detail);
        assert_int_equal(event->resource == FP_INDEX_NONE, expected[i].resource == NULL);
        if (expected[i].resource != NULL)
            assert_text(decoded.profile.resources[event->resource], expected[i].resource);
        assert_int_equal(event->line, FP_POSITION_NONE);
        assert_false(event->is_process);
    }
    release(&decoded);
}

static void reads_an_events_numbers(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_fixture(&decoded, "page-load.json");
    const struct fp_profile_event *event = event_of(&decoded, 0, 5);
    assert_int_equal(event->id, 6);
    assert_int_equal(event->parent, 4);
    assert_int_equal(event->type_number, 8);
    assert_int_equal(event->start_us, 12700);
    assert_int_equal(event->duration_us, 800);
    assert_int_equal(event->self_us, 500);
    assert_int_equal(event->overhead_us, 20);
    assert_int_equal(event->hits, 1);
    assert_int_equal(event->child_count, 3);
    assert_int_equal(event_of(&decoded, 0, 14)->hits, 2);
    assert_int_equal(event_of(&decoded, 0, 13)->duration_us, 0);
    release(&decoded);
}

static void keeps_reduced_events_without_ids_and_times_and_the_process(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_fixture(&decoded, "page-load.json");
    const struct fp_profile_event *selector = event_of(&decoded, 3, 0);
    assert_int_equal(selector->id, 0);
    assert_int_equal(selector->parent, FP_INDEX_NONE);
    assert_int_equal(selector->duration_us, FP_DURATION_NONE);
    assert_int_equal(selector->hits, 12);
    assert_text(selector->detail, "{\"selector\":\"#foo p\"}");
    assert_false(event_of(&decoded, 4, 0)->is_process);
    assert_true(event_of(&decoded, 4, 1)->is_process);
    assert_text(event_of(&decoded, 4, 1)->type, "PROCESS");
    assert_int_equal(event_of(&decoded, 4, 1)->self_us, 31200);
    release(&decoded);
}

static void reads_messages_by_field_name_in_either_spelling(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_fixture(&decoded, "by-name.json");
    const struct fp_profile *profile = &decoded.profile;
    assert_int_equal(profile->session.id, 7);
    assert_int_equal(profile->session.window_id, 9);
    assert_text(profile->session.version, "1.1");
    assert_true(profile->session.started_us == 0);
    assert_int_equal(profile->timeline_count, 2);
    assert_int_equal(profile->timelines[0].frame_id, 12);
    assert_int_equal(profile->timelines[1].frame_id, 0);
    assert_int_equal(profile->timelines[1].event_count, 0);
    assert_int_equal(profile->event_count, 5);
    assert_int_equal(profile->session.note_count, 0);
    assert_text(event_of(&decoded, 0, 0)->detail,
                "{\"scriptThreadType\":3,\"eventName\":\"keydown\",\"aggregatedTime\":9,"
                "\"aggregatedOverhead\":0.5}");
    assert_text(event_of(&decoded, 0, 1)->detail, "{\"scriptType\":4}");
    assert_int_equal(event_of(&decoded, 0, 1)->resource, FP_INDEX_NONE);
    assert_text(event_of(&decoded, 0, 2)->detail, "{\"scriptThreadType\":2}");
    assert_text(event_of(&decoded, 0, 4)->detail,
                "{\"area\":{\"x\":-5,\"y\":10,\"w\":640,\"h\":480,\"ox\":0,\"oy\":120}}");
    release(&decoded);
}

/* The manual's screenshots: the legend's sums for a session of 4,819 ms. */
static void gives_the_sums_of_the_manuals_legend(void **state)
{
    (void)state;
    static const struct {
        int32_t type;
        int64_t sum_us;
    } legend[] = {{3, 29000}, {4, 61000},  {5, 23000},   {6, 161000},
                  {7, 64000}, {8, 133000}, {10, 169000}, {11, 147000}};
    struct decoded decoded;
    decode_fixture(&decoded, "manual.json");
    assert_int_equal(decoded.profile.session.note_count, 0);
    for (size_t i = 0; i < sizeof(legend) / sizeof(legend[0]); i++) {
        int64_t sum_us = 0;
        for (uint32_t k = 0; k < decoded.profile.timelines[0].event_count; k++)
            if (event_of(&decoded, 0, k)->type_number == legend[i].type)
                sum_us += event_of(&decoded, 0, k)->self_us;
        assert_true(sum_us == legend[i].sum_us);
    }
    release(&decoded);
}

/* Order. */

static void puts_parents_before_their_children_and_changes_nothing_else(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, EVENTS("[8,1,0,1,null,3,2],[10,1,0,1,null,4,2],[6,1,0,1,null,5],"
                                       "[7,1,0,1,null,2,1],[6,1,0,1,null,1]"));
    static const struct {
        uint32_t id, parent;
    } expected[] = {{1, FP_INDEX_NONE}, {2, 0}, {3, 1}, {4, 1}, {5, FP_INDEX_NONE}};
    assert_int_equal(decoded.profile.event_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(decoded.profile.events[i].id, expected[i].id);
        assert_int_equal(decoded.profile.events[i].parent, expected[i].parent);
    }
    assert_int_equal(decoded.profile.session.note_count, 0);
    release(&decoded);
}

static void puts_an_event_whose_parent_is_not_listed_at_the_top(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded,
                      EVENTS("[8,1,0,1,null,3,99],[9,1,0,1,null,4,3],[9,1,0,1,null,0,0]"));
    assert_int_equal(decoded.profile.events[0].parent, FP_INDEX_NONE);
    assert_int_equal(decoded.profile.events[1].parent, 0);
    assert_int_equal(decoded.profile.events[2].id, 0);
    assert_int_equal(decoded.profile.events[2].parent, FP_INDEX_NONE);
    assert_int_equal(decoded.profile.session.note_count, 0);
    release(&decoded);
}

static void counts_parents_from_the_begin_of_their_own_timeline(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded,
                      "{'opera-scope':{'version':'1.0','session':[1],'timelines':["
                      "{'request':[1,1],'reply':[null,[[6,1,0,1,null,1]]]},"
                      "{'request':[1,2],'reply':[null,[[7,1,0,1,null,2,1],[6,1,0,1,null,1]]]}]}}");
    assert_int_equal(decoded.profile.event_count, 3);
    assert_int_equal(decoded.profile.events[2].parent, 1);
    release(&decoded);
}

/* Odd input that is accepted. */

static void takes_lists_cut_short_and_with_more_than_it_knows(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded,
                      ENVELOPE_OF("[1,null,[[1,null,'new']],'new',[2]]",
                                  "[1,1,null,null,null,[],null,'new']",
                                  "[[],[[7,1.0006,0,1],[7,2.0,1e0,1,[null,null],null,null,null,"
                                  "null,null,null,null,null,null,null,null,'new']],'new']"));
    assert_int_equal(decoded.profile.event_count, 2);
    assert_int_equal(decoded.profile.timelines[0].mode, FP_REDUCE_ALL_EVENTS);
    assert_int_equal(decoded.profile.events[0].self_us, 1001);
    assert_int_equal(decoded.profile.events[1].self_us, 2000);
    assert_int_equal(decoded.profile.events[1].overhead_us, 1000);
    release(&decoded);
}

static void accepts_replies_without_events(void **state)
{
    (void)state;
    static const char *const replies[] = {"[]",         "[null]", "[null,null]",
                                          "[[0,1],[]]", "{}",     "{'eventList':null}"};
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        char text[200];
        snprintf(text, sizeof(text), ENVELOPE_OF("[1]", "[1,1]", "%s"), replies[i]);
        struct decoded decoded;
        decode_good_scope(&decoded, text);
        assert_int_equal(decoded.profile.timeline_count, 1);
        assert_int_equal(decoded.profile.event_count, 0);
        release(&decoded);
    }
    struct decoded decoded;
    decode_good_scope(&decoded, "{'opera-scope':{'version':'1.10','session':[1],'timelines':[]}}");
    assert_int_equal(decoded.profile.timeline_count, 0);
    release(&decoded);
}

static void takes_intervals_with_a_bound_missing(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, EVENTS("[7,1,0,1,[]],[7,1,0,1,[2]],[7,1,0,1,[null,3]],"
                                       "[7,1,0,1,[-4,-4]],[7,1,0,1,{'end':5}]"));
    static const int64_t starts_us[] = {0, 2000, 3000, -4000, 5000};
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(decoded.profile.events[i].start_us == starts_us[i]);
        assert_int_equal(decoded.profile.events[i].duration_us, i == 3 ? 0 : FP_DURATION_NONE);
    }
    release(&decoded);
}

static void numbers_types_that_it_does_not_know(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded,
                      EVENTS("[12,1,0,1],[0,1,0,1],[2147483647,1,0,1],"
                             "[6,1,0,1,null,null,null,null,null,null,null,[77,'x']],"
                             "[5,1,0,1,null,null,null,null,null,null,null,null,null,null,[99]]"));
    assert_text(decoded.profile.events[0].type, "TYPE_12");
    assert_text(decoded.profile.events[1].type, "TYPE_0");
    assert_text(decoded.profile.events[2].type, "TYPE_2147483647");
    assert_text(decoded.profile.events[3].detail, "{\"scriptThreadType\":77,\"eventName\":\"x\"}");
    assert_text(decoded.profile.events[4].detail, "{\"scriptType\":99}");
    assert_int_equal(decoded.profile.session.note_count, 0);
    release(&decoded);
}

static void keeps_each_url_once(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(
        &decoded, EVENTS("{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['a']},"
                         "{'type':4,'time':1,'overhead':0,'hits':1,'cssParsing':{'url':'a'}},"
                         "{'type':5,'time':1,'overhead':0,'hits':1,'scriptCompilation':[1,'']}"));
    assert_int_equal(decoded.profile.resource_count, 2);
    assert_int_equal(decoded.profile.events[0].resource, 0);
    assert_int_equal(decoded.profile.events[1].resource, 0);
    assert_int_equal(decoded.profile.events[2].resource, 1);
    release(&decoded);
}

static void replaces_what_a_database_cannot_hold(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, EVENTS("{'type':9,'time':1,'overhead':0,'hits':1,"
                                       "'cssSelectorMatching':['a\\u0000\\ud800\\n\\'']}"));
    assert_text(decoded.profile.events[0].detail,
                "{\"selector\":\"a\xEF\xBF\xBD\xEF\xBF\xBD\\n\\\"\"}");
    release(&decoded);
}

static void takes_the_ordinary_envelopes_members_and_its_page_first(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded,
                      "{'version':1,'id':'123e4567-e89b-42d3-a456-426614174000','part':3,"
                      "'load':'00000000-0000-4000-8000-000000000001','variant':'b','token':'t',"
                      "'page':{'url':'https://a.example/x'},'agent':{'name':'n','version':'2'},"
                      "'opera-scope':{'version':'1.0','url':'https://b.example/','session':[1],"
                      "'timelines':[]}}");
    const struct fp_profile *profile = &decoded.profile;
    assert_true(profile->has_id && profile->has_load);
    assert_int_equal(profile->part, 3);
    assert_text(profile->said.variant, "b");
    assert_text(profile->token, "t");
    assert_text(profile->agent_name, "n");
    assert_text(profile->page_url, "https://a.example/x");
    release(&decoded);
}

static void takes_the_session_from_the_requests_alone(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, "{'opera-scope':{'version':'1.0','timelines':["
                                "{'request':[4,1],'reply':[null,[[7,1,0,1]]]}]}}");
    assert_int_equal(decoded.profile.session.id, 4);
    assert_note(&decoded.profile, "does not list", 1);
    release(&decoded);
}

static void takes_what_is_exactly_at_a_limit(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good_scope(&decoded, EVENTS("[7,60000,60000,4294967295,null,6,5],[7,1,0,1,null,5,4],"
                                       "[7,1,0,1,null,4,3],[7,1,0,1,null,3,2],[7,1,0,1,null,2,1],"
                                       "[7,1,0,1,null,1]"));
    assert_int_equal(decoded.profile.event_count, scope_limits.stack_depth);
    assert_int_equal(decoded.profile.events[5].hits, UINT32_MAX);
    release(&decoded);
    decode_good_scope(&decoded,
                      EVENTS("{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['a']},"
                             "{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['b']},"
                             "{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['c']},"
                             "{'type':3,'time':1,'overhead':0,'hits':1,'documentParsing':['d']}"));
    assert_int_equal(decoded.profile.resource_count, scope_limits.resources);
    release(&decoded);
}

/* With every maximum of the arena the result is the session or "no memory", and no memory leaks
 * (the sanitizers check). */
static void runs_out_of_memory_at_every_point_without_harm(void **state)
{
    (void)state;
    static const char *const fixtures[] = {"page-load.json", "recording.jsonl"};
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        struct decoded texts;
        fp_arena_init(&texts.arena, TEST_ARENA_MAX);
        struct fp_str body = read_fixture(&texts.arena, fixtures[i]);
        bool decoded_once = false;
        for (size_t max_bytes = 0; max_bytes < 256 * 1024; max_bytes += 509) {
            struct decoded decoded;
            fp_arena_init(&decoded.arena, max_bytes);
            decode_scope_bytes(&decoded, body);
            assert_true(decoded.arena.used_bytes <= max_bytes);
            decoded_once = decoded.verdict == FP_VERDICT_OK;
            if (!decoded_once)
                assert_int_equal(decoded.verdict, FP_VERDICT_MEMORY);
            release(&decoded);
        }
        assert_true(decoded_once);
        release(&texts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_session_page_and_envelope),
        cmocka_unit_test(keeps_a_timeline_for_each_list_with_its_frame_and_mode),
        cmocka_unit_test(reads_each_type_of_event_with_its_detail),
        cmocka_unit_test(reads_an_events_numbers),
        cmocka_unit_test(keeps_reduced_events_without_ids_and_times_and_the_process),
        cmocka_unit_test(reads_messages_by_field_name_in_either_spelling),
        cmocka_unit_test(gives_the_sums_of_the_manuals_legend),
        cmocka_unit_test(puts_parents_before_their_children_and_changes_nothing_else),
        cmocka_unit_test(puts_an_event_whose_parent_is_not_listed_at_the_top),
        cmocka_unit_test(counts_parents_from_the_begin_of_their_own_timeline),
        cmocka_unit_test(takes_lists_cut_short_and_with_more_than_it_knows),
        cmocka_unit_test(accepts_replies_without_events),
        cmocka_unit_test(takes_intervals_with_a_bound_missing),
        cmocka_unit_test(numbers_types_that_it_does_not_know),
        cmocka_unit_test(keeps_each_url_once),
        cmocka_unit_test(replaces_what_a_database_cannot_hold),
        cmocka_unit_test(takes_the_ordinary_envelopes_members_and_its_page_first),
        cmocka_unit_test(takes_the_session_from_the_requests_alone),
        cmocka_unit_test(takes_what_is_exactly_at_a_limit),
        cmocka_unit_test(runs_out_of_memory_at_every_point_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
