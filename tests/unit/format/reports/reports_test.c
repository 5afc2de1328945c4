/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of browsers: what is read, what is counted and left, and what is refused as a whole. */
#include "../test.h"

#include "collector/profile/notes.h"

#define URL "https://shop.example/cart"
#define CRASH(body) "{'type':'crash','age':3,'url':'" URL "','user_agent':'UA','body':{" body "}}"

/* As Chromium's source writes them. */
static void crashes_are_read(void **state)
{
    static const struct {
        const char *body;
        enum fp_crash crash;
        bool is_hidden;
        bool is_in_frame;
        uint32_t call_count;
    } cases[] = {
        {"", FP_CRASH_UNKNOWN, false, false, 0},
        {"'reason':'oom','is_top_level':true,'visibility_state':'visible'", FP_CRASH_OOM, false,
         false, 0},
        {"'reason':'unresponsive','is_top_level':false,'visibility_state':'hidden',"
         "'stack':'\\n    at a (https://shop.example/a.js:1:2)\\n    at b (x)'",
         FP_CRASH_UNRESPONSIVE, true, true, 2},
        {"'reason':'unresponsive','stack':'Unable to collect JS call stack.'",
         FP_CRASH_UNRESPONSIVE, false, false, 0},
        {"'reason':'cosmic ray','crashId':'x','is_top_level':'true'", FP_CRASH_OTHER, false, false,
         0},
    };
    (void)state;
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct decoded decoded;
        char text[512];
        snprintf(text, sizeof(text), "[" CRASH("%s") "]", cases[i].body);
        decode(&decoded, text, "reports");
        assert_int_equal(decoded.verdict, FP_VERDICT_OK);
        assert_int_equal(decoded.profile.format, FP_UPLOAD_REPORTS);
        assert_int_equal(decoded.profile.report_count, 1);
        assert_text(decoded.profile.page_url, URL);
        assert_text(decoded.profile.user_agent, "UA");
        const struct fp_profile_report *report = &decoded.profile.reports[0];
        assert_null(report->policy.ptr);
        assert_int_equal(report->crash, cases[i].crash);
        assert_int_equal(report->is_hidden, cases[i].is_hidden);
        assert_int_equal(report->is_in_frame, cases[i].is_in_frame);
        assert_int_equal(report->call_count, cases[i].call_count);
        release(&decoded);
    }
}

static void the_shape_alone_tells_reports_from_entries(void **state)
{
    struct decoded decoded;
    (void)state;
    decode(&decoded, "[" CRASH("") "]", "");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.format, FP_UPLOAD_REPORTS);
    release(&decoded);
    decode(&decoded, "[{'entryType':'mark','name':'a','startTime':1,'type':'x','body':{}}]", "");
    assert_int_equal(decoded.profile.format, FP_UPLOAD_USER_TIMING);
    release(&decoded);
}

static void a_broken_policy_is_read_by_its_name(void **state)
{
    struct decoded decoded;
    (void)state;
    decode(&decoded,
           "[{'type':'document-policy-violation','url':'" URL "','body':{'policyId':'js-profiling',"
           "'disposition':'enforce','sourceFile':'x','lineNumber':1}}]",
           "reports");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.report_count, 1);
    assert_text(decoded.profile.reports[0].policy, "js-profiling");
    release(&decoded);
}

/* One bad report must not cost the others. */
static void bad_reports_and_those_of_other_types_are_counted(void **state)
{
    static const char *const bad[] = {
        "7",
        "null",
        "[]",
        "{}",
        "{'type':7,'body':{}}",
        "{'type':'crash'}",
        "{'type':'crash','body':null}",
        "{'type':'crash','body':[]}",
        "{'type':'crash','body':'oom'}",
        "{'type':'crash','url':7,'body':{}}",
        "{'type':'crash','user_agent':{},'body':{}}",
        CRASH("'reason':7"),
        CRASH("'stack':['at f']"),
        CRASH("'visibility_state':true"),
        "{'type':'document-policy-violation','body':{}}",
        "{'type':'document-policy-violation','body':{'policyId':[]}}",
    };
    (void)state;
    for (size_t i = 0; i < FP_COUNT(bad); i++) {
        struct decoded decoded;
        struct fp_notes notes;
        char text[512];
        char place[FP_NOTE_PLACE_MAX];
        snprintf(text, sizeof(text), "[" CRASH("") ",{'type':'deprecation','body':{'id':'x'}},%s]",
                 bad[i]);
        decode(&decoded, text, "reports");
        assert_int_equal(decoded.verdict, FP_VERDICT_OK);
        assert_int_equal(decoded.profile.report_count, 1);
        const struct fp_record_counts counts = fp_notes_count_records(&decoded.profile);
        assert_int_equal(counts.read, 3);
        assert_int_equal(counts.kept, 1);
        assert_int_equal(counts.refused, 2);
        fp_notes_list(&decoded.profile, &notes);
        assert_int_equal(notes.count, 2);
        assert_int_equal(notes.list[0].reason, FP_RECORD_REFUSAL_OTHER_REPORT);
        fp_note_place(&notes.list[0], place);
        assert_string_equal(place, "element 1");
        assert_int_equal(notes.list[1].reason, FP_RECORD_REFUSAL_BAD_REPORT);
        fp_note_place(&notes.list[1], place);
        assert_string_equal(place, "element 2");
        release(&decoded);
    }
}

static void refuses_what_is_not_an_array_of_reports(void **state)
{
    static const struct {
        const char *text;
        enum fp_verdict verdict;
        const char *detail;
    } cases[] = {
        {"[]", FP_VERDICT_INVALID, "the body is not an array of a browser's reports"},
        {"{}", FP_VERDICT_INVALID, "the body is not an array of a browser's reports"},
        {CRASH(""), FP_VERDICT_INVALID, "the body is not an array of a browser's reports"},
        {"[" CRASH(""), FP_VERDICT_INVALID, ""},
        {"[[[[[[[[[[]]]]]]]]]]", FP_VERDICT_TOO_LARGE, "limits.json_depth"},
        {"[" CRASH("") "," CRASH("") "," CRASH("") "," CRASH("") "," CRASH("") "," CRASH(
             "") "," CRASH("") "]",
         FP_VERDICT_TOO_LARGE, "limits.entries"},
        {"[" CRASH("'stack':'at a\\nat b\\nat c'") "," CRASH("'stack':'at a\\nat b\\nat c'") "]",
         FP_VERDICT_TOO_LARGE, "limits.frames"},
    };
    (void)state;
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct decoded decoded;
        decode(&decoded, cases[i].text, "reports");
        assert_int_equal(decoded.verdict, cases[i].verdict);
        if (strstr(decoded.error.detail, cases[i].detail) == NULL)
            fail_msg("%s: %s", cases[i].text, decoded.error.detail);
        release(&decoded);
    }
}

/* Decodes a body of many reports under the limits of the sample configuration. */
static void decode_many(struct decoded *decoded, const struct fp_buf *body)
{
    struct fp_format_limits limits = small_limits;
    limits.entries = 50000;
    limits.frames = 100000;
    fp_arena_init(&decoded->arena, (size_t)64 * 1024 * 1024);
    decoded->verdict =
        fp_format_decode((struct fp_str){(const char *)body->data, body->len}, FP_STR("reports"),
                         &limits, &decoded->arena, &decoded->profile, &decoded->error);
}

static void ten_thousand_reports_of_many_pages_are_all_read(void **state)
{
    struct decoded decoded;
    struct fp_buf body;
    uint32_t profiles = 0;
    uint32_t reports = 0;
    const struct fp_profile *last = NULL;
    (void)state;
    fp_buf_init(&body, (size_t)16 * 1024 * 1024);
    for (unsigned i = 0; i < 10000; i++)
        fp_buf_addf(
            &body,
            "%s{\"type\":\"crash\",\"url\":\"https://shop.example/%u\",\"user_agent\":\"UA\","
            "\"body\":{}}",
            i == 0 ? "[" : ",", i % 100);
    fp_buf_addf(&body, "]");
    decode_many(&decoded, &body);
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    for (const struct fp_profile *each = &decoded.profile; each != NULL; each = each->next) {
        assert_non_null(each->session.raw.ptr);
        profiles++;
        reports += each->report_count;
        last = each;
    }
    assert_int_equal(profiles, FP_PROFILE_SESSIONS_MAX);
    assert_int_equal(reports, 10000);
    /* Those of the pages that are too many lose their page. */
    assert_text(last->page_url, "");
    assert_int_equal(last->report_count, 3700);
    release(&decoded);
    fp_buf_release(&body);
}

static void a_huge_stack_gives_its_innermost_calls(void **state)
{
    struct decoded decoded;
    struct fp_buf body;
    (void)state;
    fp_buf_init(&body, (size_t)16 * 1024 * 1024);
    fp_buf_addf(&body, "[{\"type\":\"crash\",\"body\":{\"stack\":\"");
    for (unsigned i = 0; i < 100000; i++)
        fp_buf_addf(&body, "at f%u (https://shop.example/a.js:%u:1)\\n", i, i);
    fp_buf_addf(&body, "\"}}]");
    decode_many(&decoded, &body);
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.reports[0].call_count, 40);
    assert_text(decoded.profile.reports[0].calls[39].function, "f39");
    release(&decoded);

    fp_buf_clear(&body);
    fp_buf_addf(&body, "[{\"type\":\"crash\",\"body\":{\"stack\":\"at f");
    for (unsigned i = 0; i < 100000; i++)
        fp_buf_addf(&body, "\xC3\xA9");
    fp_buf_addf(&body, "\"}}]");
    decode_many(&decoded, &body);
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.reports[0].call_count, 0);
    release(&decoded);
    fp_buf_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes_are_read),
        cmocka_unit_test(the_shape_alone_tells_reports_from_entries),
        cmocka_unit_test(a_broken_policy_is_read_by_its_name),
        cmocka_unit_test(bad_reports_and_those_of_other_types_are_counted),
        cmocka_unit_test(refuses_what_is_not_an_array_of_reports),
        cmocka_unit_test(ten_thousand_reports_of_many_pages_are_all_read),
        cmocka_unit_test(a_huge_stack_gives_its_innermost_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
