/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad uploads: JSON, envelope, format.
 */
#include "bad_upload_test.h"

static const struct bad_upload bad_uploads[] = {
    {.title = "an empty body",
     .body = "",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 0,
     .detail = "not JSON: the body is empty"},
    {.title = "white space alone",
     .body = "  ",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 0,
     .detail = "not JSON: the body is empty"},
    {.title = "not JSON at all",
     .body = "hello",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 0,
     .detail = "not JSON: this character is not allowed here"},
    {.title = "UTF-16",
     .body = "\xff\xfe{",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 0,
     .detail = "not JSON: this is UTF-16; JSON is UTF-8"},
    {.title = "truncated in the middle",
     .body = "{'frames':[{'name':'a'",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 22,
     .detail = "not JSON: it ends too early, as if the upload was truncated"},
    {.title = "truncated inside a string",
     .body = "{'frames':['a",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 13,
     .detail = "not JSON: it ends too early, as if the upload was truncated"},
    {.title = "two values",
     .body = "{} {}",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 3,
     .detail = "not JSON: there is more after the end of the JSON value; one body holds one value"},
    {.title = "two values on lines, after a byte order mark",
     .body = "\xEF\xBB\xBF{}\n\n {}",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 8,
     .detail = "not JSON: there is more after the end of the JSON value; one body holds one value"},
    {.title = "a truncated value on lines",
     .body = "{'frames':\n[1,\n",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 15,
     .detail = "not JSON: it ends too early, as if the upload was truncated"},
    {.title = "a trailing comma",
     .body = "[1,]",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 2,
     .detail = "not JSON: this character is not allowed here"},
    {.title = "a comment",
     .body = "[/* hm */]",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 1,
     .detail = "not JSON: this character is not allowed here"},
    {.title = "NaN",
     .body = "{'coverage':NaN}",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 12,
     .detail = "not JSON: this character is not allowed here"},
    {.title = "Infinity",
     .body = "[Infinity]",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 1,
     .detail = "not JSON: this character is not allowed here"},
    {.title = "a number with a leading zero",
     .body = "[01]",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 1,
     .detail = "not JSON: this is not a number that JSON allows, or beyond what a double holds"},
    {.title = "a number beyond a double",
     .body = "[1e999]",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 1,
     .detail = "not JSON: this is not a number that JSON allows, or beyond what a double holds"},
    {.title = "an unknown escape",
     .body = "['\\x41']",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 3,
     .detail = "not JSON: the escape in this string is not one that JSON knows"},
    {.title = "a raw control character",
     .body = "['a\nb']",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 3,
     .detail = "not JSON: a control character inside a string must be written as an escape"},
    {.title = "invalid UTF-8",
     .body = "['\xff']",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 2,
     .detail = "not JSON: the text here is not valid UTF-8"},
    {.title = "invalid UTF-8 that looks like a surrogate",
     .body = "['\xed\xa0\x80']",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 2,
     .detail = "not JSON: the text here is not valid UTF-8"},
    {.title = "form data",
     .body = "trace=%7B%7D",
     .verdict = FP_VERDICT_MALFORMED,
     .offset = 0,
     .detail = "not JSON: this is none of the words true, false and null"},
    {.title = "nested too deep",
     .body = "[[[[[[[[[]]]]]]]]]",
     .verdict = FP_VERDICT_TOO_LARGE,
     .offset = 8,
     .detail = "the JSON is nested deeper than 8 levels (limits.json_depth)"},
    {.title = "nested too deep in an ignored member",
     .body = "{'coverage':'quota','x':{'a':{'b':{'c':{'d':{'e':{'f':{'g':{}}}}}}}}}",
     .verdict = FP_VERDICT_TOO_LARGE,
     .offset = 59,
     .detail = "the JSON is nested deeper than 8 levels (limits.json_depth)"},
    {.title = "nested too deep after brackets in a text",
     .body = "\xEF\xBB\xBF{'coverage':'[[[\\\\[[[','x':[[],[],[[[[[[[[]]]]]]]]]}",
     .verdict = FP_VERDICT_TOO_LARGE,
     .offset = 43,
     .detail = "the JSON is nested deeper than 8 levels (limits.json_depth)"},
    {.title = "a number",
     .body = "1",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "",
     .detail = "an upload is a JSON object or an array of performance entries"},
    {.title = "a string",
     .body = "'trace'",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "",
     .detail = "an upload is a JSON object or an array of performance entries"},
    {.title = "null",
     .body = "null",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "",
     .detail = "an upload is a JSON object or an array of performance entries"},
    {.title = "an empty object",
     .body = "{}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "",
     .detail = "this is not an upload: it has none of trace, marks, measures, entries, "
               "vitals, interactions and coverage, and is not a ProfilerTrace, a map of marks, a "
               "Speed Tracer dump "
               "or an Opera Scope session"},
    {.title = "an empty array",
     .body = "[]",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "",
     .detail = "there is no trace, mark, measure, vital, interaction, frame, resource or "
               "coverage in this upload"},
    {.title = "performance.timing alone",
     .body = "{'navigationStart':1,'fetchStart':2}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "",
     .detail = "this is not an upload: it has none of trace, marks, measures, entries, "
               "vitals, interactions and coverage, and is not a ProfilerTrace, a map of marks, a "
               "Speed Tracer dump "
               "or an Opera Scope session"},
    {.title = "an unknown format in the address",
     .body = "{'coverage':'quota'}",
     .hint = "chrome",
     .verdict = FP_VERDICT_UNSUPPORTED,
     .detail = "the format must be self-profile, user-timing, speed-tracer, "
               "opera-scope or reports"},
    {.title = "an envelope where the address says a dump",
     .body = "{'coverage':'quota'}",
     .hint = "speed-tracer",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "",
     .detail = "the URL asks for speed-tracer, but the body is not a dump of Speed Tracer"},
    {.title = "another format than the address says",
     .body = "{'trace':" TRACE("[]", "[]", "[]", "[]") "}",
     .hint = "user-timing",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "",
     .detail = "the URL asks for user-timing, but the body is self-profile"},
    {.title = "timings where the address says self-profile",
     .body = "{'marks':{'a':[1]}}",
     .hint = "self-profile",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "",
     .detail = "the URL asks for self-profile, but the body is user-timing"},
    {.title = "another version",
     .body = "{'version':2,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/version",
     .detail = "version of the envelope must be the number 1"},
    {.title = "a version between two",
     .body = "{'version':1.5,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/version",
     .detail = "version of the envelope must be the number 1"},
    {.title = "a version in quotes",
     .body = "{'version':'1','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/version",
     .detail = "version of the envelope must be the number 1"},
    {.title = "an id that is not a UUID",
     .body = "{'id':'42','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/id",
     .detail = "id must be a UUID such as \"123e4567-e89b-42d3-a456-426614174000\"; "
               "crypto.randomUUID() makes one"},
    {.title = "an id that is a number",
     .body = "{'id':42,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/id",
     .detail = "id must be a UUID such as \"123e4567-e89b-42d3-a456-426614174000\"; "
               "crypto.randomUUID() makes one"},
    {.title = "a load that is not a UUID",
     .body = "{'load':'123e4567-e89b-42d3-a456-42661417400','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/load",
     .detail = "load must be a UUID such as \"123e4567-e89b-42d3-a456-426614174000\"; "
               "crypto.randomUUID() makes one"},
    {.title = "a negative part",
     .body = "{'part':-1,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/part",
     .detail = "part is -1; it must be a whole number from 0 to 2147483647"},
    {.title = "half a part",
     .body = "{'part':0.5,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/part",
     .detail = "part is 0.5; it must be a whole number from 0 to 2147483647"},
    {.title = "a part in quotes",
     .body = "{'part':'0','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/part",
     .detail = "part is a string; it must be a whole number"},
    {.title = "an unknown thread",
     .body = "{'thread':'main','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/thread",
     .detail = "thread must be \"window\" or \"worker\""},
    {.title = "a thread that is a number",
     .body = "{'thread':1,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/thread",
     .detail = "thread is a number; it must be a string"},
    {.title = "an unknown frame",
     .body = "{'frame':'iframe','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/frame",
     .detail = "frame must be \"top\", \"same-origin\" or \"cross-origin\""},
    {.title = "an unknown machine class",
     .body = "{'machine':'fast','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/machine",
     .detail = "machine must be \"low\", \"mid\" or \"high\""},
    {.title = "an unknown draw",
     .body = "{'drawn':'maybe','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/drawn",
     .detail = "drawn is a string; it must be true or false"},
    {.title = "a number as network class",
     .body = "{'network':4,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/network",
     .detail = "network is a number; it must be a string"},
    {.title = "an unknown coverage",
     .body = "{'coverage':'none'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/coverage",
     .detail = "coverage must be \"no-policy\", \"unsupported\", \"quota\", \"disabled\", "
               "\"not-sampled\" or \"overload\""},
    {.title = "a coverage that is true",
     .body = "{'coverage':true}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/coverage",
     .detail = "coverage is a boolean; it must be a string"},
    {.title = "an interval of 0",
     .body = "{'sampleInterval':0,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/sampleInterval",
     .detail = "sampleInterval is 0; it must be above 0 and at most 10000 ms"},
    {.title = "a negative interval",
     .body = "{'sampleInterval':-10,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/sampleInterval",
     .detail = "sampleInterval is -10; it must be above 0 and at most 10000 ms"},
    {.title = "an interval above ten seconds",
     .body = "{'sampleInterval':10000.5,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/sampleInterval",
     .detail = "sampleInterval is 10000.5; it must be above 0 and at most 10000 ms"},
    {.title = "an interval in quotes",
     .body = "{'sampleInterval':'10','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/sampleInterval",
     .detail = "sampleInterval is a string; it must be a number"},
    {.title = "a release that is a number",
     .body = "{'release':7,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/release",
     .detail = "release is a number; it must be a string"},
    {.title = "an environment that is an array",
     .body = "{'environment':[],'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/environment",
     .detail = "environment is an array; it must be a string"},
    {.title = "a variant that is an object",
     .body = "{'variant':{},'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/variant",
     .detail = "variant is an object; it must be a string"},
    {.title = "a release that is an essay",
     .body = "{'coverage':'quota','release':'"
             "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
             "5678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
             "012345678901234567890123456789x'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/release",
     .detail = "release is longer than 200 characters"},
    {.title = "a page that is a string",
     .body = "{'page':'/cart','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/page",
     .detail = "this is a string; it must be an object"},
    {.title = "a page address that is a number",
     .body = "{'page':{'url':5},'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/page/url",
     .detail = "url is a number; it must be a string"},
    {.title = "a route that is true",
     .body = "{'page':{'route':true},'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/page/route",
     .detail = "route is a boolean; it must be a string"},
    {.title = "an agent that is a string",
     .body = "{'agent':'x','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/agent",
     .detail = "this is a string; it must be an object"},
    {.title = "an agent version that is a number",
     .body = "{'agent':{'name':'x','version':1},'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/agent/version",
     .detail = "version is a number; it must be a string"},
    {.title = "truncated that is a string",
     .body = "{'truncated':'yes','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/truncated",
     .detail = "truncated is a string; it must be true or false"},
    {.title = "leftOut that is an object",
     .body = "{'leftOut':{},'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/leftOut",
     .detail = "leftOut is an object; it must be an array"},
    {.title = "something left out that does not say what it is",
     .body = "{'leftOut':[{'what':'mark'},{'name':'x'}],'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/leftOut/1",
     .detail = "what is missing"},
    {.title = "less than nothing left out",
     .body = "{'leftOut':[{'what':'mark','count':-1}],'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/leftOut/0/count",
     .detail = "count is -1; it must be a whole number from 0 to 2147483647"},
    {.title = "a name left out that is a number",
     .body = "{'leftOut':[{'what':'mark','name':1}],'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/leftOut/0/name",
     .detail = "name is a number; it must be a string"},
    {.title = "a duration that is a string",
     .body = "{'duration':'12','trace':{'resources':[],'frames':[],'stacks':[],'samples':[]}}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/duration",
     .detail = "duration is a string; it must be a number"},
    {.title = "a timing that is an array",
     .body = "{'timing':[],'trace':{'resources':[],'frames':[],'stacks':[],'samples':[]}}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/timing",
     .detail = "timing must be an object"},
    {.title = "a token that is a number",
     .body = "{'token':1,'coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/token",
     .detail = "token is a number; it must be a string"},
    {.title = "a time origin that is a string",
     .body = "{'timeOrigin':'now','coverage':'quota'}",
     .verdict = FP_VERDICT_INVALID,
     .pointer = "/timeOrigin",
     .detail = "timeOrigin is a string; it must be a number"},
};

static void each_bad_upload_is_refused_with_its_place_and_a_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_uploads) / sizeof(bad_uploads[0]); i++)
        assert_refused(&bad_uploads[i]);
}

/* A body without any format's shape, with each format that the address can name. */
static void the_format_that_was_asked_for_is_the_one_that_is_missed(void **state)
{
    (void)state;
    static const char *const bodies[] = {"[]", "[{}]", "{}", "''", "1", "null", "{'a':1}"};
    static const struct {
        const char *hint, *detail;
        bool takes_arrays;
    } hints[] = {
        {"self-profile",
         "the URL asks for self-profile, but the body is neither a ProfilerTrace nor an "
         "envelope",
         false},
        {"user-timing",
         "the URL asks for user-timing, but the body is neither marks and measures nor an "
         "envelope",
         true},
        {"speed-tracer",
         "the URL asks for speed-tracer, but the body is not a dump of Speed Tracer", false},
        {"opera-scope",
         "the URL asks for opera-scope, but the body is not a session of Opera Scope", false},
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        for (size_t j = 0; j < sizeof(hints) / sizeof(hints[0]); j++) {
            if (hints[j].takes_arrays && bodies[i][0] == '[')
                continue;
            const struct bad_upload bad = {.title = bodies[i],
                                           .body = bodies[i],
                                           .hint = hints[j].hint,
                                           .verdict = FP_VERDICT_INVALID,
                                           .pointer = "",
                                           .detail = hints[j].detail};
            assert_refused(&bad);
        }
}

/* Invalid bodies of other formats: they are refused for their format, not for what is invalid. */
static void another_formats_faults_are_not_those_of_the_one_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *body, *hint;
    } uploads[] = {
        {"{'type':1,'time':'x'}", "self-profile"},
        {"{'opera-scope':3}", "user-timing"},
        {"['profiler',1,0,2,[]]\n['profiler'", "self-profile"},
        {"['profiler',1,0,2,[]]\n['profiler'", "speed-tracer"},
        {"{'frames':3}", "speed-tracer"},
        {"{'coverage':3}", "opera-scope"},
        {"{'frames':3}", "user-timing"},
        {"{'a':['x']}", "self-profile"},
    };
    for (size_t i = 0; i < sizeof(uploads) / sizeof(uploads[0]); i++) {
        struct decoded decoded;
        decode(&decoded, uploads[i].body, uploads[i].hint);
        assert_int_equal(decoded.verdict, FP_VERDICT_INVALID);
        if (strncmp(decoded.error.detail, "the URL asks for ", 17) != 0)
            fail_msg("%s: %s", uploads[i].body, decoded.error.detail);
        release(&decoded);
    }
}

static void the_next_good_upload_in_the_same_arena_is_taken(void **state)
{
    (void)state;
    struct decoded decoded;
    decode(&decoded, "{'coverage':", "");
    assert_int_equal(decoded.verdict, FP_VERDICT_MALFORMED);
    fp_arena_clear(&decoded.arena);
    decode_bytes(&decoded, json_of(&decoded.arena, "{'coverage':'quota'}"), "");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    release(&decoded);
}

static void a_pointer_that_would_not_fit_ends_at_what_fits(void **state)
{
    (void)state;
    char body[700];
    snprintf(body, sizeof(body), "{'marks':{'%0500d':[true]}}", 7);
    struct decoded decoded;
    decode(&decoded, body, "");
    assert_int_equal(decoded.verdict, FP_VERDICT_INVALID);
    assert_string_equal(decoded.error.pointer, "/marks");
    release(&decoded);
}

static void a_sentence_never_repeats_what_an_upload_says(void **state)
{
    (void)state;
    struct decoded decoded;
    decode(&decoded, "{'marks':{'<script>':[true]},'thread':'worker'}", "");
    assert_null(strstr(decoded.error.detail, "script"));
    release(&decoded);
    decode(&decoded, "{'coverage':'<script>'}", "");
    assert_null(strstr(decoded.error.detail, "script"));
    release(&decoded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bad_upload_is_refused_with_its_place_and_a_sentence),
        cmocka_unit_test(the_format_that_was_asked_for_is_the_one_that_is_missed),
        cmocka_unit_test(another_formats_faults_are_not_those_of_the_one_asked_for),
        cmocka_unit_test(the_next_good_upload_in_the_same_arena_is_taken),
        cmocka_unit_test(a_pointer_that_would_not_fit_ends_at_what_fits),
        cmocka_unit_test(a_sentence_never_repeats_what_an_upload_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
