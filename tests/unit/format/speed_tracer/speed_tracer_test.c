/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer: containers, splitting, times, pages and marks of docs/formats.md.
 */
#include "dump_test.h"

/* Containers. */

static void a_stream_of_records_becomes_one_timeline_of_all_events(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_file(&decoded, "stream.ndjson");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    const struct fp_profile *profile = &decoded.profile;
    assert_true(profile->has_session);
    assert_int_equal(profile->timeline_count, 1);
    assert_int_equal(profile->timelines[0].id, 1);
    assert_int_equal(profile->timelines[0].mode, FP_REDUCE_ALL_EVENTS);
    assert_int_equal(profile->timelines[0].event_count, 24);
    assert_int_equal(profile->event_count, 24);
    assert_int_equal(profile->session.records_read, 24);
    assert_int_equal(profile->session.records_kept, 24);
    assert_int_equal(profile->session.note_count, 0);
    assert_text(profile->page_url, "https://shop.example/cart?step=1");
    assert_false(profile->truncated);
    release(&decoded);
}

static void events_come_parents_first_and_are_numbered_in_that_order(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_file(&decoded, "stream.ndjson");
    for (uint32_t i = 0; i < decoded.profile.event_count; i++) {
        const struct fp_profile_event *event = event_at(&decoded, i);
        assert_int_equal(event->id, i + 1);
        assert_int_equal(event->hits, 1);
        assert_true(event->parent == FP_INDEX_NONE || event->parent < i);
    }
    assert_type(&decoded, 7, "PARSE_HTML", 4);
    assert_type(&decoded, 8, "EVAL_SCRIPT", 10);
    assert_type(&decoded, 9, "TIMER_INSTALLED", 5);
    assert_type(&decoded, 12, "SCHEDULE_RESOURCE_REQUEST", 20);
    assert_int_equal(event_at(&decoded, 8)->parent, 7);
    assert_int_equal(event_at(&decoded, 9)->parent, 8);
    assert_int_equal(event_at(&decoded, 12)->parent, 7);
    assert_int_equal(event_at(&decoded, 7)->child_count, 2);
    release(&decoded);
}

static void a_saved_page_ends_with_its_element_and_keeps_its_entities_in_details(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_file(&decoded, "saved-page.html");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_text(decoded.profile.session.version, "0.17");
    assert_int_equal(decoded.profile.event_count, 13);
    assert_int_equal(note_count(&decoded, "something between"), 0);
    assert_int_equal(note_count(&decoded, "HTML entities"), 1);
    assert_text(decoded.profile.page_url, "https://shop.example/cart?step=1&tab=2");
    assert_detail(&decoded, 0, "{'url':'https://shop.example/cart?step=1&amp;tab=2','sequence':0}");
    release(&decoded);
}

static void
a_page_of_another_tool_is_read_whatever_the_case_and_order_of_its_attributes(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_file(&decoded, "gwt-page.html");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.event_count, 5);
    release(&decoded);
}

static void a_posted_body_gives_its_start_and_its_records(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_file(&decoded, "post.json");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.event_count, 24);
    assert_true(decoded.profile.session.started_us == INT64_C(1277201472123000));
    assert_text(decoded.profile.session.version, "");
    assert_text(decoded.profile.release, "");
    release(&decoded);
}

static void raw_messages_of_an_inspector_are_refused_with_the_reason(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_file(&decoded, "raw-page.html");
    assert_int_equal(decoded.verdict, FP_VERDICT_UNSUPPORTED);
    assert_non_null(strstr(decoded.error.detail, "isRaw"));
    release(&decoded);
    decode_dump(&decoded, "{'method':'Timeline.eventRecorded','record':{'type':'Layout'}}\n{}");
    assert_int_equal(decoded.verdict, FP_VERDICT_UNSUPPORTED);
    release(&decoded);
}

static void a_single_record_is_a_dump(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "\xEF\xBB\xBF {'type':3,'time':1.5,'duration':2}");
    assert_type(&decoded, 0, "PAINT", 3);
    assert_int_equal(event_at(&decoded, 0)->start_us, 1500);
    release(&decoded);
}

static void an_envelope_with_a_type_of_its_own_stays_an_envelope(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_dump(&decoded, "{'type':3,'coverage':'quota'}");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.format, FP_UPLOAD_SELF_PROFILE);
    release(&decoded);
    decode_dump(&decoded, "{'header':{},'data':[],'marks':{'a':[1]}}");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.format, FP_UPLOAD_USER_TIMING);
    release(&decoded);
}

static void a_member_of_another_format_makes_no_dump_of_it(void **state)
{
    (void)state;
    static const char *const members[] = {"trace",  "marks",  "measures", "entries",  "coverage",
                                          "frames", "stacks", "samples",  "resources"};
    for (size_t i = 0; i < FP_COUNT(members); i++) {
        char text[128];
        struct decoded decoded;
        snprintf(text, sizeof(text), "{'type':3,'time':1,'%s':[]}", members[i]);
        decode_dump(&decoded, text);
        if (decoded.verdict == FP_VERDICT_OK && decoded.profile.format == FP_UPLOAD_SPEED_TRACER)
            fail_msg("%s", text);
        release(&decoded);
    }
}

/* Splitting. */

static void records_are_split_by_braces_not_by_lines(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "words {'type':0,'data':{'type':'}{'}}{'type':1}\r\n\t{\n'type':\n2}}}}} "
                        "</DIV> x {'type':3,'data':{'note':'it is \\\"{\\\" and \\\\'}}");
    assert_int_equal(decoded.profile.event_count, 4);
    assert_int_equal(note_count(&decoded, "something between"), 2);
    assert_false(decoded.profile.truncated);
    release(&decoded);
}

static void single_quotes_begin_strings_for_the_splitting_as_they_did_in_the_tool(void **state)
{
    (void)state;
    const char body[] = "{\"type\":1}{'}{':2}{\"type\":2,\"data\":{\"note\":\"it's {\"}}";
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    decode_limited(&decoded, fp_str_of(body), "", &dump_limits);
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.event_count, 2);
    assert_int_equal(note_count(&decoded, "a record that is not JSON"), 1);
    release(&decoded);
}

static void a_truncated_tail_is_noted_and_nothing_before_it_is_lost(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':1}\n{'type':2}\n{'type':3,'time':");
    assert_int_equal(decoded.profile.event_count, 2);
    assert_int_equal(decoded.profile.session.records_read, 3);
    assert_true(decoded.profile.truncated);
    assert_int_equal(note_count(&decoded, "a truncated record"), 1);
    release(&decoded);
}

static void a_record_without_its_end_does_not_swallow_the_lines_below(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded,
              "{'type':0}\n{'type':1,'data':{'note':'open\n{'type':2}\n{'type':3\n{'type':4}\n");
    assert_int_equal(decoded.profile.event_count, 3);
    assert_type(&decoded, 1, "RECALC_STYLE", 2);
    assert_type(&decoded, 2, "PARSE_HTML", 4);
    assert_int_equal(decoded.profile.session.records_read, 5);
    assert_false(decoded.profile.truncated);
    release(&decoded);
}

static void records_over_several_lines_and_several_on_one_survive_a_bad_one(void **state)
{
    (void)state;
    static const char *const bad[] = {"{'type':0,'x':'a'b'}", "{'type':0,'x':'open }", "{'type':0"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char dump[256];
        snprintf(dump, sizeof(dump),
                 "%s\n{\n  'type':1,\n  'children':[\n    {'type':2}\n  ]\n}\n"
                 "{'type':3}{'type':4} {'type':5}\n%s\n{'type':6}{'type':7}",
                 bad[i], bad[i]);
        struct decoded decoded;
        take_dump(&decoded, dump);
        assert_int_equal(decoded.profile.event_count, 7);
        for (uint32_t type = 1; type <= 7; type++)
            assert_int_equal(event_at(&decoded, type - 1)->type_number, type);
        assert_int_equal(decoded.profile.session.records_read, 9);
        assert_false(decoded.profile.truncated);
        release(&decoded);
    }
}

/* Times. */

static void own_time_is_duration_less_that_of_the_children(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded,
              "{'type':7,'time':-1,'duration':3.0005,'children':[{'type':1,'duration':1.0004},"
              "{'type':11,'children':[{'type':2,'duration':5}]},{'type':2,'duration':0}]}");
    assert_int_equal(event_at(&decoded, 0)->start_us, -1000);
    assert_int_equal(event_at(&decoded, 0)->duration_us, 3001);
    assert_int_equal(event_at(&decoded, 0)->self_us, 2001);
    assert_int_equal(event_at(&decoded, 1)->self_us, 1000);
    assert_int_equal(event_at(&decoded, 2)->self_us, 0);
    assert_int_equal(event_at(&decoded, 2)->duration_us, FP_DURATION_NONE);
    assert_int_equal(event_at(&decoded, 3)->self_us, 5000);
    assert_int_equal(note_count(&decoded, "a time below zero"), 1);
    release(&decoded);
}

static void own_time_below_zero_is_kept(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':7,'duration':1,'children':[{'type':1,'duration':3}]}");
    assert_int_equal(event_at(&decoded, 0)->self_us, -2000);
    assert_int_equal(note_count(&decoded, "children that take longer"), 1);
    release(&decoded);
}

static void takes_missing_members_as_the_tool_did(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':2147483645,'data':{'identifier':3}}\n{'time':4}\n{'type':-1}");
    assert_int_equal(event_at(&decoded, 0)->start_us, 0);
    assert_type(&decoded, 1, "INVALID", -1);
    assert_type(&decoded, 2, "INVALID", -1);
    assert_int_equal(note_count(&decoded, "a record without a time"), 2);
    assert_int_equal(note_count(&decoded, "a record without a type"), 1);
    assert_int_equal(note_count(&decoded, "a record that begins before"), 1);
    release(&decoded);
}

static void fields_that_belong_together_are_kept_and_told_of_when_one_is_alone(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':1,'time':0,'callerScriptName':'a.js','usedHeapSize':7}");
    assert_int_equal(note_count(&decoded, "a caller's script"), 1);
    assert_int_equal(note_count(&decoded, "a used or total heap"), 1);
    assert_detail(&decoded, 0, "{'callerScriptName':'a.js','usedHeapSize':7}");
    release(&decoded);
}

static void the_price_of_profiling_is_an_events_overhead(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':7,'time':0,'duration':3,'overhead':0.125}");
    assert_int_equal(event_at(&decoded, 0)->overhead_us, 125);
    release(&decoded);
}

/* Content that is kept whole. */

static void the_content_is_the_same_copied_or_rewritten(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':1,'data':{'a':[1,'b c']}} {'type' : 1,\n'data':{'a':[ 1,'b c']}}"
                        "{'type':1,'data':{'\\u0061':[1,'b\\u0020c']}}");
    const char expected[] = "{'type':1,'data':{'a':[1,'b c']}}\n"
                            "{'type':1,'data':{'a':[1,'b c']}}\n"
                            "{'type':1,'data':{'a':[1,'b c']}}";
    const struct fp_str content = json_of(&decoded.arena, expected);
    assert_true(decoded.profile.session.content.len >= content.len);
    assert_memory_equal(decoded.profile.session.content.ptr, content.ptr, content.len);
    release(&decoded);
    take_dump(&decoded, "{'header':{'timeStamp':5},'data':[{'type':1},{'type':2}]}");
    const struct fp_str post =
        json_of(&decoded.arena, "{'header':{'timeStamp':5},'data':[\n{'type':1},\n{'type':2}");
    assert_memory_equal(decoded.profile.session.content.ptr, post.ptr, post.len);
    release(&decoded);
    take_dump(&decoded, "{'type':1,'data':{'a':'\\b\\f\\n\\r\\t\\\\ \\\"'}}"
                        "{'type':1, 'data':{'a':'\\b\\f\\n\\r\\t\\\\ \\\"'}}"
                        "{'type':1,'data':{'a':'\\/\\u000a'}}");
    const struct fp_str escapes =
        json_of(&decoded.arena, "{'type':1,'data':{'a':'\\b\\f\\n\\r\\t\\\\ \\\"'}}\n"
                                "{'type':1,'data':{'a':'\\b\\f\\n\\r\\t\\\\ \\\"'}}\n"
                                "{'type':1,'data':{'a':'/\\n'}}\n");
    assert_text(decoded.profile.session.content, escapes.ptr);
    release(&decoded);
}

/* Pages and marks. */

static void marks_count_from_their_pages_begin(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t value_us;
    } marks[] = {
        {"cart drawn", 60000},
        {"domContentLoaded", 100000},
        {"load", 150000},
        {"domContentLoaded", 40000},
    };
    struct decoded decoded;
    decode_file(&decoded, "stream.ndjson");
    assert_int_equal(decoded.profile.timing_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_text(decoded.profile.timings[i].name, marks[i].name);
        assert_int_equal(decoded.profile.timings[i].value_us, marks[i].value_us);
        assert_int_equal(decoded.profile.timings[i].kind, FP_TIMING_MARK);
    }
    release(&decoded);
}

static void a_record_of_the_last_page_that_ends_late_is_marked_from_that_page(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded,
              "{'type':2147483646,'time':100,'data':{'url':'http://a/'}}"
              "{'type':2147483646,'time':500,'data':{'url':'http://b/'}}"
              "{'type':10,'time':450,'duration':80,'children':[{'type':11,'time':460,"
              "'data':{'message':'late'}}]}{'type':11,'time':5,'data':{'message':'before'}}");
    assert_int_equal(decoded.profile.timings[0].value_us, 360000);
    assert_int_equal(decoded.profile.timings[1].value_us, 5000);
    assert_text(decoded.profile.page_url, "http://a/");
    release(&decoded);
}

static void a_mark_belongs_to_the_page_that_was_shown_then_wherever_it_stands(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':11,'time':65,'data':{'message':'ahead'}}"
                        "{'type':2147483646,'time':50,'data':{'url':'http://b/'}}"
                        "{'type':2147483646,'time':5,'data':{'url':'http://a/'}}"
                        "{'type':2147483646,'time':60,'data':{'url':'http://c/'}}"
                        "{'type':11,'time':30,'data':{'message':'two pages ago'}}"
                        "{'type':11,'time':50,'data':{'message':'at once'}}"
                        "{'type':11,'time':-3,'data':{'message':'before'}}");
    const int64_t values_us[] = {5000, 25000, 0, -3000};
    assert_int_equal(decoded.profile.timing_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(decoded.profile.timings[i].value_us, values_us[i]);
    release(&decoded);
}

static void without_a_tab_change_the_main_resource_is_the_page(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':12,'data':{'url':'http://a/x.js','isMainResource':false}}"
                        "{'type':12,'data':{'url':'http://a/','isMainResource':true}}");
    assert_text(decoded.profile.page_url, "http://a/");
    release(&decoded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_of_another_format_makes_no_dump_of_it),
        cmocka_unit_test(a_stream_of_records_becomes_one_timeline_of_all_events),
        cmocka_unit_test(events_come_parents_first_and_are_numbered_in_that_order),
        cmocka_unit_test(a_saved_page_ends_with_its_element_and_keeps_its_entities_in_details),
        cmocka_unit_test(
            a_page_of_another_tool_is_read_whatever_the_case_and_order_of_its_attributes),
        cmocka_unit_test(a_posted_body_gives_its_start_and_its_records),
        cmocka_unit_test(raw_messages_of_an_inspector_are_refused_with_the_reason),
        cmocka_unit_test(a_single_record_is_a_dump),
        cmocka_unit_test(an_envelope_with_a_type_of_its_own_stays_an_envelope),
        cmocka_unit_test(records_are_split_by_braces_not_by_lines),
        cmocka_unit_test(single_quotes_begin_strings_for_the_splitting_as_they_did_in_the_tool),
        cmocka_unit_test(a_truncated_tail_is_noted_and_nothing_before_it_is_lost),
        cmocka_unit_test(a_record_without_its_end_does_not_swallow_the_lines_below),
        cmocka_unit_test(records_over_several_lines_and_several_on_one_survive_a_bad_one),
        cmocka_unit_test(own_time_is_duration_less_that_of_the_children),
        cmocka_unit_test(own_time_below_zero_is_kept),
        cmocka_unit_test(takes_missing_members_as_the_tool_did),
        cmocka_unit_test(fields_that_belong_together_are_kept_and_told_of_when_one_is_alone),
        cmocka_unit_test(the_price_of_profiling_is_an_events_overhead),
        cmocka_unit_test(the_content_is_the_same_copied_or_rewritten),
        cmocka_unit_test(marks_count_from_their_pages_begin),
        cmocka_unit_test(a_record_of_the_last_page_that_ends_late_is_marked_from_that_page),
        cmocka_unit_test(a_mark_belongs_to_the_page_that_was_shown_then_wherever_it_stands),
        cmocka_unit_test(without_a_tab_change_the_main_resource_is_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
