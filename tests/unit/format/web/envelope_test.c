/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Valid uploads: every shape of the contract, and odd ones.
 */
#include "tests/unit/format/test.h"

#include "collector/base/uuid.h"

#define FRAME "{'name':'work','resourceId':0,'line':3,'column':9}"
#define TRACE                                                                                      \
    "{'frames':[" FRAME "],'resources':['https://shop.example/a.js'],"                             \
    "'samples':[{'timestamp':1.5},{'stackId':0,'timestamp':11.25}],'stacks':[{'frameId':0}]}"

static void decode_good_hinted(struct decoded *decoded, const char *text, const char *hint)
{
    decode(decoded, text, hint);
    if (decoded->verdict != FP_VERDICT_OK)
        fail_msg("%s at %s: %s", text, decoded->error.pointer, decoded->error.detail);
}

static void decode_good(struct decoded *decoded, const char *text)
{
    decode_good_hinted(decoded, text, "");
}

static void assert_trace(const struct fp_profile *profile)
{
    assert_true(profile->has_trace);
    assert_int_equal(profile->format, FP_UPLOAD_SELF_PROFILE);
    assert_int_equal(profile->resource_count, 1);
    assert_text(profile->resources[0], "https://shop.example/a.js");
    assert_int_equal(profile->frame_count, 1);
    assert_text(profile->frames[0].function, "work");
    assert_int_equal(profile->frames[0].resource, 0);
    assert_int_equal(profile->frames[0].line, 3);
    assert_int_equal(profile->frames[0].column, 9);
    assert_int_equal(profile->stack_count, 1);
    assert_int_equal(profile->stacks[0].parent, FP_INDEX_NONE);
    assert_int_equal(profile->sample_count, 2);
    assert_int_equal(profile->samples[0].time_us, 1500);
    assert_int_equal(profile->samples[0].stack, FP_INDEX_NONE);
    assert_int_equal(profile->samples[1].time_us, 11250);
    assert_int_equal(profile->samples[1].stack, 0);
}

static void takes_a_trace_bare_and_in_each_envelope(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        TRACE,
        "{'trace':" TRACE "}",
        "{'duration':42.5,'trace':" TRACE "}",
        "{'timing':{'navigationStart':1795211444250},'trace':" TRACE "}",
        "{'version':1,'trace':" TRACE ",'marks':[],'measures':[],'entries':[]}",
        "{'version':1.0,'trace':" TRACE ",'marks':null,'id':null,'page':null,'agent':null}",
        "{'something':{'new':[1]},'trace':" TRACE "}",
        "\xEF\xBB\xBF{'trace':" TRACE "}",
        "\n\t {'trace':" TRACE "} \r\n",
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct decoded decoded;
        decode_good(&decoded, shapes[i]);
        assert_trace(&decoded.profile);
        release(&decoded);
        decode_good_hinted(&decoded, shapes[i], "self-profile");
        release(&decoded);
    }
}

static void reads_all_members_of_the_envelope(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(
        &decoded,
        "{'version':1,'id':'123E4567-e89b-42d3-a456-426614174000',"
        "'load':'00000000-0000-4000-8000-000000000001','part':2,"
        "'agent':{'name':'fleetprof-agent','version':'0.1.0'},'truncated':true,"
        "'variant':'b','coverage':'quota','page':{'url':'https://shop.example/cart?x=1',"
        "'route':'/cart'},'release':'1.2','environment':'production','thread':'worker',"
        "'frame':'cross-origin','sampleInterval':10,'requestedInterval':1,'maxBufferSize':10000,"
        "'timeOrigin':1795211444250.5,'machine':'mid','drawn':false,'network':'3g','custom':' plan "
        "= "
        "pro;country=de;x; =y;',"
        "'token':'v1.a.b'}");
    const struct fp_profile *profile = &decoded.profile;
    char uuid[FP_UUID_TEXT_LEN + 1];
    assert_true(profile->has_id);
    fp_uuid_format(&profile->id, uuid);
    assert_string_equal(uuid, "123e4567-e89b-42d3-a456-426614174000");
    assert_true(profile->has_load);
    assert_int_equal(profile->part, 2);
    assert_text(profile->agent_name, "fleetprof-agent");
    assert_text(profile->agent_version, "0.1.0");
    assert_true(profile->truncated);
    assert_text(profile->said.variant, "b");
    assert_int_equal(profile->coverage, FP_COVERAGE_QUOTA);
    assert_text(profile->page_url, "https://shop.example/cart?x=1");
    assert_true(profile->has_page_route);
    assert_text(profile->page_route, "/cart");
    assert_text(profile->release, "1.2");
    assert_text(profile->said.environment, "production");
    assert_text(profile->said.thread, "worker");
    assert_text(profile->said.frame, "cross-origin");
    assert_text(profile->said.machine, "mid");
    assert_text(profile->said.drawn, "no");
    assert_text(profile->said.network, "3g");
    static const char *const custom[][2] = {{"plan", "pro"}, {"country", "de"}, {"x", ""}};
    assert_int_equal(profile->said.custom_count, FP_COUNT(custom));
    for (size_t i = 0; i < FP_COUNT(custom); i++) {
        assert_text(profile->said.custom[i].name, custom[i][0]);
        assert_text(profile->said.custom[i].value, custom[i][1]);
    }
    assert_text(profile->token, "v1.a.b");
    assert_int_equal(profile->interval_us, 10000);
    assert_int_equal(profile->format, FP_UPLOAD_SELF_PROFILE);
    assert_false(profile->has_trace);
    release(&decoded);
}

static void reads_what_was_left_out(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'marks':[],'leftOut':[{'what':'measure','name':'Row','count':2},"
                          "{'what':'mark','count':1.0},{'what':'overload','name':null},"
                          "{'what':'frame','name':'x'},{'what':'soon','name':'x'}]}");
    const struct fp_profile *profile = &decoded.profile;
    assert_int_equal(profile->left_out_count, 5);
    assert_int_equal(profile->left_outs[0].what, FP_LEFT_OUT_MEASURE);
    assert_true(profile->left_outs[0].has_name);
    assert_text(profile->left_outs[0].name, "Row");
    assert_int_equal(profile->left_outs[0].count, 2);
    assert_int_equal(profile->left_outs[1].what, FP_LEFT_OUT_MARK);
    assert_int_equal(profile->left_outs[1].count, 1);
    assert_int_equal(profile->left_outs[2].what, FP_LEFT_OUT_OVERLOAD);
    assert_int_equal(profile->left_outs[3].what, FP_LEFT_OUT_FRAME);
    assert_int_equal(profile->left_outs[4].what, FP_LEFT_OUT_UNKNOWN);
    for (uint32_t i = 1; i < profile->left_out_count; i++)
        assert_false(profile->left_outs[i].has_name);
    assert_true(profile->truncated);
    assert_int_equal(profile->format, FP_UPLOAD_USER_TIMING);
    release(&decoded);
}

static void knows_each_word_of_coverage(void **state)
{
    (void)state;
    for (enum fp_coverage i = FP_COVERAGE_NO_POLICY; i < FP_COVERAGE_COUNT; i++) {
        char text[64];
        snprintf(text, sizeof(text), "{'coverage':'%s'}", fp_coverage_name(i));
        struct decoded decoded;
        decode_good(&decoded, text);
        assert_int_equal(decoded.profile.coverage, i);
        release(&decoded);
    }
}

static void knows_each_word_of_a_dimension(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        const char *thread;
        const char *frame;
        const char *machine;
        const char *drawn;
    } cases[] = {
        {"'thread':'window'", "window", "", "", ""},
        {"'thread':'worker'", "worker", "", "", ""},
        {"'thread':null", "", "", "", ""},
        {"'frame':'top'", "", "", "", ""},
        {"'frame':null", "", "", "", ""},
        {"'frame':'same-origin'", "", "same-origin", "", ""},
        {"'frame':'cross-origin'", "", "cross-origin", "", ""},
        {"'machine':'low'", "", "", "low", ""},
        {"'machine':'mid'", "", "", "mid", ""},
        {"'machine':'high'", "", "", "high", ""},
        {"'machine':null", "", "", "", ""},
        {"'drawn':true", "", "", "", "yes"},
        {"'drawn':false", "", "", "", "no"},
        {"'drawn':null", "", "", "", ""},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        char text[80];
        struct decoded decoded;
        (void)snprintf(text, sizeof(text), "{%s,'coverage':'quota'}", cases[i].member);
        decode_good(&decoded, text);
        assert_text(decoded.profile.said.thread, cases[i].thread);
        assert_text(decoded.profile.said.frame, cases[i].frame);
        assert_text(decoded.profile.said.machine, cases[i].machine);
        release(&decoded);
    }
}

static void takes_each_word_of_network_and_no_other(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        const char *network;
    } cases[] = {
        {"'network':'4g'", "4g"},
        {"'network':'3g'", "3g"},
        {"'network':'2g'", "2g"},
        {"'network':'slow-2g'", "2g"},
        {"'network':'save-data'", "save-data"},
        {"'network':'6g'", ""},
        {"'network':''", ""},
        {"'network':null", ""},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        char text[80];
        struct decoded decoded;
        snprintf(text, sizeof(text), "{%s,'coverage':'quota'}", cases[i].member);
        decode_good(&decoded, text);
        assert_text(decoded.profile.said.network, cases[i].network);
        release(&decoded);
    }
}

static void takes_timings_in_each_shape(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "[{'name':'a','entryType':'mark','startTime':1.5,'duration':0,'detail':{'x':[1]}},"
        "{'name':'b','entryType':'measure','startTime':1,'duration':-2}]",
        "{'entries':[{'name':'a','entryType':'mark','startTime':1.5},"
        "{'name':'b','entryType':'measure','startTime':1,'duration':-2}]}",
        "{'marks':[{'name':'a','entryType':'mark','startTime':1.5,'duration':null}],"
        "'measures':[{'name':'b','entryType':'measure','startTime':1,'duration':-2}]}",
        "{'marks':{'a':[1.5]},'measures':{'b':[-2]}}",
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct decoded decoded;
        decode_good_hinted(&decoded, shapes[i], "user-timing");
        const struct fp_profile *profile = &decoded.profile;
        assert_int_equal(profile->format, FP_UPLOAD_USER_TIMING);
        assert_int_equal(profile->timing_count, 2);
        assert_text(profile->timings[0].name, "a");
        assert_int_equal(profile->timings[0].kind, FP_TIMING_MARK);
        assert_int_equal(profile->timings[0].value_us, 1500);
        assert_text(profile->timings[1].name, "b");
        assert_int_equal(profile->timings[1].kind, FP_TIMING_MEASURE);
        assert_int_equal(profile->timings[1].value_us, -2000);
        release(&decoded);
    }
}

static void takes_a_bare_map_as_marks(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'mark1':[0.75,1.125],'':[2]}");
    assert_int_equal(decoded.profile.timing_count, 3);
    assert_int_equal(decoded.profile.timings[1].kind, FP_TIMING_MARK);
    assert_int_equal(decoded.profile.timings[1].value_us, 1125);
    assert_text(decoded.profile.timings[2].name, "");
    release(&decoded);
}

static void takes_a_name_with_null_in_a_map_as_absent(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{'a':[1],'b':null}",
        "{'b':null,'a':[1],'c':[]}",
        "{'version':1,'marks':{'a':[1],'b':null}}",
        "{'measures':{'b':null},'marks':{'a':[1]}}",
        "{'marks':{'b':[2],'a':[1],'b':null}}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct decoded decoded;
        decode_good(&decoded, bodies[i]);
        assert_int_equal(decoded.profile.timing_count, 1);
        assert_text(decoded.profile.timings[0].name, "a");
        release(&decoded);
    }
}

static void takes_marks_that_bear_the_names_of_other_formats_members(void **state)
{
    (void)state;
    static const char *const maps[] = {
        "{'frames':[1],'b':[2]}",         "{'b':[1],'samples':[2]}",
        "{'stacks':[1],'resources':[2]}", "{'header':[1],'data':[2]}",
        "{'marks':[1],'measures':[2]}",   "{'trace':[1],'entries':[2]}",
        "{'coverage':[1],'a':[2]}",       "{'type':[1],'opera scope':[2]}",
        "{'method':[1],'':[2]}",
    };
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        struct decoded decoded;
        decode_good(&decoded, maps[i]);
        assert_int_equal(decoded.profile.format, FP_UPLOAD_USER_TIMING);
        assert_int_equal(decoded.profile.timing_count, 2);
        release(&decoded);
        decode_good_hinted(&decoded, maps[i], "user-timing");
        release(&decoded);
    }
}

/* However little of it is left. */
static void takes_a_broken_trace_or_envelope_for_one(void **state)
{
    (void)state;
    static const struct {
        const char *body, *pointer;
    } traces[] = {
        {"{'frames':[]}", ""},
        {"{'samples':[{'timestamp':1}],'a':[1]}", ""},
        {"{'resources':['a']}", ""},
        {"{'marks':[1],'measures':[]}", "/marks/0"},
        {"{'marks':[1],'release':'x'}", "/marks/0"},
        {"{'frames':[1],'samples':[]}", ""},
        {"{'stacks':{}}", ""},
        {"{'resources':[],'frames':[1],'stacks':[],'samples':[]}", "/frames/0"},
        {"{'resources':[1],'frames':[],'stacks':[],'samples':[]}", "/resources/0"},
        {"{'resources':[],'frames':[],'stacks':[1],'samples':[2]}", "/stacks/0"},
    };
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        struct decoded decoded;
        decode(&decoded, traces[i].body, "self-profile");
        assert_int_equal(decoded.verdict, FP_VERDICT_INVALID);
        assert_string_equal(decoded.error.pointer, traces[i].pointer);
        assert_null(strstr(decoded.error.detail, "the URL has"));
        release(&decoded);
    }
}

static void takes_trace_and_timings_together(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'trace':" TRACE ",'marks':{'a':[1]}}");
    assert_trace(&decoded.profile);
    assert_int_equal(decoded.profile.timing_count, 1);
    release(&decoded);
}

/* A page's beforeSend may take the trace out of it. */
static void takes_a_part_of_a_page_load_in_which_nothing_happened(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'version':1,'load':'0190b5c2-7d1e-7abc-8def-0123456789ab','part':1,"
                          "'marks':[],'measures':[]}");
    assert_false(decoded.profile.has_trace);
    assert_int_equal(decoded.profile.format, FP_UPLOAD_USER_TIMING);
    release(&decoded);
}

static void skips_and_counts_entries_of_other_types(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "[{'name':'x','entryType':'paint'},{'entryType':'resource'},"
                          "{'name':'a','entryType':'mark','startTime':0}]");
    assert_int_equal(decoded.profile.skipped_entries, 2);
    assert_int_equal(decoded.profile.timing_count, 1);
    release(&decoded);
}

static void lets_a_workers_mark_and_any_measure_be_named_like_an_attribute(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'marks':{'fetchStart':[1]},'thread':'worker'}");
    release(&decoded);
    decode_good(&decoded, "{'measures':{'fetchStart':[1]},'thread':'window'}");
    release(&decoded);
}

static void takes_the_last_of_equal_keys(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'coverage':'nonsense','coverage':'quota','release':'x','release':null,"
                          "'marks':{'a':[1,2],'b':[3],'a':[4]}}");
    assert_int_equal(decoded.profile.coverage, FP_COVERAGE_QUOTA);
    assert_text(decoded.profile.release, "");
    assert_int_equal(decoded.profile.timing_count, 2);
    assert_int_equal(decoded.profile.timings[0].value_us, 4000);
    release(&decoded);
    decode_good(&decoded, "{'resources':[],'frames':[{'line':true,'name':1,'name':'n','line':2}],"
                          "'stacks':[{'frameId':7,'frameId':0}],'samples':[]}");
    assert_text(decoded.profile.frames[0].function, "n");
    assert_int_equal(decoded.profile.frames[0].line, 2);
    release(&decoded);
}

static void takes_whole_numbers_however_they_are_written(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded,
                "{'resources':[''],'frames':[{'name':'','line':1.0,'column':-0,"
                "'resourceId':0e5},{'name':'','line':2147483647}],"
                "'stacks':[{'frameId':1e0}],'samples':[{'timestamp':1e1,'stackId':0.0}]}");
    assert_int_equal(decoded.profile.frames[0].line, 1);
    assert_int_equal(decoded.profile.frames[0].column, 0);
    assert_int_equal(decoded.profile.frames[1].line, INT32_MAX);
    assert_int_equal(decoded.profile.stacks[0].frame, 1);
    assert_int_equal(decoded.profile.samples[0].time_us, 10000);
    release(&decoded);
}

static void accepts_parents_after_their_children(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(
        &decoded,
        "{'resources':[],'frames':[{'name':'f'}],'samples':[],"
        "'stacks':[{'frameId':0,'parentId':2},{'frameId':0,'parentId':null},"
        "{'frameId':0,'parentId':1},{'frameId':0,'parentId':2},{'frameId':0,'parentId':1}]}");
    assert_int_equal(decoded.profile.stacks[0].parent, 2);
    assert_int_equal(decoded.profile.stacks[1].parent, FP_INDEX_NONE);
    release(&decoded);
}

static void takes_samples_in_any_order_and_below_zero(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded,
                "{'resources':[],'frames':[],'stacks':[],'samples':["
                "{'timestamp':5,'marker':'gc'},{'timestamp':-0.0005,'marker':'sweep'},"
                "{'timestamp':5,'marker':null},{'timestamp':-0.0006,'marker':'layout'}]}");
    const struct fp_profile_sample *samples = decoded.profile.samples;
    assert_int_equal(samples[0].marker, FP_MARKER_GC);
    assert_int_equal(samples[1].marker, FP_MARKER_OTHER);
    assert_int_equal(samples[1].time_us, 0);
    assert_int_equal(samples[2].marker, FP_MARKER_NONE);
    assert_int_equal(samples[3].marker, FP_MARKER_LAYOUT);
    assert_int_equal(samples[3].time_us, -1);
    release(&decoded);
}

static void takes_empty_arrays(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'resources':[],'frames':[],'stacks':[],'samples':[]}");
    assert_true(decoded.profile.has_trace);
    release(&decoded);
}

static void takes_what_is_exactly_at_a_limit(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "{'resources':['','',''],'frames':[{'name':''},{'name':''},{'name':''},{'name':''},"
        "{'name':''}],'stacks':[{'frameId':0},{'frameId':0,'parentId':0},{'frameId':0,'parentId':1}"
        ","
        "{'frameId':0},{'frameId':0},{'frameId':0}],'samples':[{'timestamp':0},{'timestamp':1},"
        "{'timestamp':2},{'timestamp':60000}]}",
        "{'marks':{'a':[1,2,3,4,5,6]}}",
        "{'x':[[[[[[[]]]]]]],'coverage':'quota'}",
        "{'sampleInterval':10000,'coverage':'quota'}",
        "{'marks':{'a':[9007199254740.992,-9007199254740.992]}}",
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct decoded decoded;
        decode_good(&decoded, shapes[i]);
        release(&decoded);
    }
}

static void gives_an_interval_below_half_a_microsecond_one(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'sampleInterval':0.0001,'coverage':'quota'}");
    assert_int_equal(decoded.profile.interval_us, 1);
    release(&decoded);
}

static void repairs_mojibake_in_names_of_functions_and_scripts_alone(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'trace':{'resources':['\xC3\x90\xC2\xB8.js'],'stacks':[],'samples':[],"
                          "'frames':[{'name':'\xC3\x90\xC2\xB8\xC3\x90\xC2\xBC\xC3\x91\xC2\x8F'}]},"
                          "'marks':{'\xC3\x90\xC2\xB8':[1]}}");
    assert_text(decoded.profile.frames[0].function, "имя");
    assert_text(decoded.profile.resources[0], "и.js");
    assert_text(decoded.profile.timings[0].name, "\xC3\x90\xC2\xB8");
    release(&decoded);
}

static void replaces_what_a_database_cannot_hold(void **state)
{
    (void)state;
    struct decoded decoded;
    decode_good(&decoded, "{'release':'a\\u0000b','marks':{'\\ud800x':[1],'\\ud83d\\ude00':[2],"
                          "'\\\\\\udfff':[3]}}");
    assert_text(decoded.profile.release, "a\xEF\xBF\xBD"
                                         "b");
    assert_text(decoded.profile.timings[0].name, "\xEF\xBF\xBDx");
    assert_text(decoded.profile.timings[1].name, "\xF0\x9F\x98\x80");
    assert_text(decoded.profile.timings[2].name, "\\\xEF\xBF\xBD");
    release(&decoded);
}

static void leaves_the_body_and_the_arenas_account_as_they_were(void **state)
{
    (void)state;
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    struct fp_str body = json_of(&decoded.arena, "{'marks':{'\\ud800':[1]}}");
    char before[64];
    memcpy(before, body.ptr, body.len);
    size_t used_bytes = decoded.arena.used_bytes;
    decode_bytes(&decoded, body, "");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_memory_equal(body.ptr, before, body.len);
    assert_int_equal(decoded.arena.used_bytes, used_bytes);
    release(&decoded);
}

/* With every maximum of the arena the result is the profile or "no memory", and no memory leaks
 * (the sanitizers check). */
static void runs_out_of_memory_at_every_point_without_harm(void **state)
{
    (void)state;
    static const char text[] = "{'trace':" TRACE ",'marks':{'a\\ud800':[1]},'release':'x'}";
    bool decoded_once = false;
    for (size_t max_bytes = 0; max_bytes < 64 * 1024; max_bytes += 61) {
        struct decoded texts;
        fp_arena_init(&texts.arena, TEST_ARENA_MAX);
        struct fp_str body = json_of(&texts.arena, text);
        struct decoded decoded;
        fp_arena_init(&decoded.arena, max_bytes);
        decode_bytes(&decoded, body, "");
        assert_true(decoded.arena.used_bytes <= max_bytes);
        decoded_once = decoded.verdict == FP_VERDICT_OK;
        if (!decoded_once)
            assert_int_equal(decoded.verdict, FP_VERDICT_MEMORY);
        release(&decoded);
        release(&texts);
    }
    assert_true(decoded_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_a_trace_bare_and_in_each_envelope),
        cmocka_unit_test(reads_all_members_of_the_envelope),
        cmocka_unit_test(reads_what_was_left_out),
        cmocka_unit_test(knows_each_word_of_coverage),
        cmocka_unit_test(knows_each_word_of_a_dimension),
        cmocka_unit_test(takes_each_word_of_network_and_no_other),
        cmocka_unit_test(takes_timings_in_each_shape),
        cmocka_unit_test(takes_a_bare_map_as_marks),
        cmocka_unit_test(takes_a_name_with_null_in_a_map_as_absent),
        cmocka_unit_test(takes_marks_that_bear_the_names_of_other_formats_members),
        cmocka_unit_test(takes_a_broken_trace_or_envelope_for_one),
        cmocka_unit_test(takes_trace_and_timings_together),
        cmocka_unit_test(takes_a_part_of_a_page_load_in_which_nothing_happened),
        cmocka_unit_test(skips_and_counts_entries_of_other_types),
        cmocka_unit_test(lets_a_workers_mark_and_any_measure_be_named_like_an_attribute),
        cmocka_unit_test(takes_the_last_of_equal_keys),
        cmocka_unit_test(takes_whole_numbers_however_they_are_written),
        cmocka_unit_test(accepts_parents_after_their_children),
        cmocka_unit_test(takes_samples_in_any_order_and_below_zero),
        cmocka_unit_test(takes_empty_arrays),
        cmocka_unit_test(takes_what_is_exactly_at_a_limit),
        cmocka_unit_test(gives_an_interval_below_half_a_microsecond_one),
        cmocka_unit_test(repairs_mojibake_in_names_of_functions_and_scripts_alone),
        cmocka_unit_test(replaces_what_a_database_cannot_hold),
        cmocka_unit_test(leaves_the_body_and_the_arenas_account_as_they_were),
        cmocka_unit_test(runs_out_of_memory_at_every_point_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
