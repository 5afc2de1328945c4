/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, bad input: one row per defect, with its result. Each bad record is between two
 * valid ones, which must both be kept.
 */
#include "dump_test.h"

/* Records that are refused, and records that are kept with a note. */
struct bad_record {
    const char *title;
    const char *record; /* ' stands for " */
    const char *note;   /* the first words of its note */
    uint32_t read;      /* records in it, children included */
    uint32_t kept;
};

static const struct bad_record bad_records[] = {
    {"no JSON: a number that ends with a dot", "{'type':1,'time':1.}", "a record that is not", 1,
     0},
    {"no JSON: a comma too many", "{'type':1,}", "a record that is not", 1, 0},
    {"no JSON: two values for one member", "{'type':1 2}", "a record that is not", 1, 0},
    {"no JSON: a bare word", "{'type':one}", "a record that is not", 1, 0},
    {"no JSON: NaN", "{'type':1,'time':NaN}", "a record that is not", 1, 0},
    {"no JSON: Infinity", "{'type':1,'time':Infinity}", "a record that is not", 1, 0},
    {"no JSON: a number beyond a double", "{'type':1,'time':1e999}", "a record that is not", 1, 0},
    {"no JSON: a comment", "{/* */'type':1}", "a record that is not", 1, 0},
    {"no JSON: markup that a browser put in", "{'type':1,'data':{'a':<b>x</b>}}",
     "a record that is not", 1, 0},
    {"no JSON: a control character", "{'type':1,'data':{'a':'\x01'}}", "a record that is not", 1,
     0},
    {"no JSON: an unknown escape", "{'type':1,'data':{'a':'\\x'}}", "a record that is not", 1, 0},
    {"no JSON: brackets that do not match", "{'type':1,'data':{'a':[}]}}", "a record that is not",
     1, 0},
    {"no JSON: a brace without members", "{{}}", "a record that is not", 1, 0},
    {"no JSON: nested deeper than JSON may be",
     "{'type':1,'data':{'a':[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x"
     "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}}",
     "a record that is not", 1, 0},
    {"invalid UTF-8: a lone continuation byte", "{'type':1,'data':{'a':'\x80'}}",
     "a record that is not", 1, 0},
    {"invalid UTF-8: Latin-1", "{'type':1,'data':{'a':'caf\xE9'}}", "a record that is not", 1, 0},
    {"invalid UTF-8: an overlong slash", "{'type':1,'data':{'a':'\xC0\xAF'}}",
     "a record that is not", 1, 0},
    {"invalid UTF-8: a surrogate", "{'type':1,'data':{'a':'\xED\xA0\x80'}}", "a record that is not",
     1, 0},
    {"a type that is a text", "{'type':'Layout'}", "a type that is not a", 1, 0},
    {"a type that is a fraction", "{'type':1.5}", "a type that is not a", 1, 0},
    {"a type beyond 32 bits", "{'type':2147483648}", "a type that is not a", 1, 0},
    {"a type below 32 bits", "{'type':-2147483649}", "a type that is not a", 1, 0},
    {"a type that is an array", "{'type':[1]}", "a type that is not a", 1, 0},
    {"a type that is true", "{'type':true}", "a type that is not a", 1, 0},
    {"a time that is a text", "{'type':1,'time':'3'}", "a time that is not a number", 1, 0},
    {"a time that is an object", "{'type':1,'time':{}}", "a time that is not a number", 1, 0},
    {"a huge time", "{'type':1,'time':9007199254741}", "a time that is not a number", 1, 0},
    {"a time hugely below zero", "{'type':1,'time':-1e300}", "a time that is not a number", 1, 0},
    {"a duration that is a text", "{'type':1,'time':0,'duration':'3'}", "a duration that is no", 1,
     0},
    {"a huge duration", "{'type':1,'time':0,'duration':1e14}", "a duration that is no", 1, 0},
    {"a duration longer than a session may be", "{'type':1,'time':0,'duration':60001}",
     "a duration that is no", 1, 0},
    {"a duration below zero", "{'type':1,'time':0,'duration':-0.0001}", "a duration below", 1, 0},
    {"children that are an object", "{'type':1,'children':{}}", "children that are not", 1, 0},
    {"children that are a number", "{'type':1,'children':3}", "children that are not", 1, 0},
    {"data that are an array", "{'type':1,'data':[]}", "data that is not an object", 1, 0},
    {"data that are a text", "{'type':1,'data':'x'}", "data that is not an object", 1, 0},
    {"a child that is a number", "{'type':1,'children':[4,{'type':2}]}",
     "a value among the records", 3, 2},
    {"a child that is null", "{'type':1,'children':[null]}", "a value among the records", 2, 1},
    {"a bad child between good ones",
     "{'type':1,'children':[{'type':2},{'type':'x'},{'type':3,'children':[{'type':4}]}]}",
     "a type that is not a", 5, 4},
    {"a bad record with children",
     "{'type':1,'duration':-1,'children':[{'type':2,'children':[1]}]}", "a duration below", 3, 1},
    {"a raw message of an inspector among records", "{'method':'Page.x','type':'x'}",
     "a type that is not a", 1, 0},
    {"a posted body among records", "{'header':{},'data':[{'type':1}]}",
     "data that is not an object", 1, 0},
    {"an inspector's record with texts for types", "{'type':'Layout','startTime':1,'endTime':2}",
     "a type that is not a", 1, 0},
    {"words between records", "and then", "something between", 0, 0},
    {"braces between records", "}}}}", "something between", 0, 0},
    {"a control character between records", "\x7F", "something between", 0, 0},
    {"a time below zero", "{'type':1,'time':-3}", "a time below zero", 1, 1},
    {"an unknown type", "{'type':4711}", "a type that is not known", 1, 1},
    {"a custom type whose name is a number", "{'type':-2,'typeName':7}", "a custom type without", 1,
     1},
    {"a profile in another format", "{'type':2147483644,'data':{'format':'jsc','profileData':'x'}}",
     "a JavaScript profile", 1, 1},
    {"a profile without a text", "{'type':2147483644,'data':{'format':'v8'}}",
     "a JavaScript profile", 1, 1},
    {"a profile that is not a log",
     "{'type':15,'data':{'format':'v8','profileData':'tick,zz,0,0\\n'}}", "a line of a V8 profile",
     1, 1},
    {"a line in a URL's place that is not a number",
     "{'type':10,'data':{'url':'a','lineNumber':'x'},'time':-1}", "a time below zero", 1, 1},
};

/* True if each skipped record has one note; a line of a V8 profile is not a record. */
static bool refusals_add_up(const struct decoded *decoded)
{
    const struct fp_profile_session *session = &decoded->profile.session;
    uint32_t refused = 0;
    for (uint32_t i = 0; i < session->note_count; i++)
        if (session->notes[i].reason != FP_RECORD_REFUSAL_NONE)
            refused += session->notes[i].count;
    return refused - note_count(decoded, "a line of a V8 profile") ==
           session->records_read - session->records_kept;
}

static bool is_as_expected(const struct decoded *decoded, const struct bad_record *bad)
{
    const struct fp_profile *profile = &decoded->profile;
    return decoded->verdict == FP_VERDICT_OK && profile->event_count == bad->kept + 2 &&
           profile->session.records_read == bad->read + 2 &&
           profile->session.records_kept == bad->kept + 2 && refusals_add_up(decoded) &&
           note_count(decoded, bad->note) == 1 && profile->events[0].type_number == 0 &&
           profile->events[profile->event_count - 1].type_number == 9;
}

/* Runs all rows. separator: the text around the bad record. False if a result is not as
 * expected. */
static bool all_are_as_expected(const char *separator)
{
    bool all = true;
    for (size_t i = 0; i < sizeof(bad_records) / sizeof(bad_records[0]); i++) {
        const struct bad_record *bad = &bad_records[i];
        char dump[512];
        snprintf(dump, sizeof(dump), "{'type':0,'time':0}%s%s%s{'type':9,'time':0}", separator,
                 bad->record, separator);
        struct decoded decoded;
        decode_dump(&decoded, dump);
        if (!is_as_expected(&decoded, bad)) {
            all = false;
            print_error("%s: verdict %d, %u read, %u kept, %u notes\n", bad->title,
                        (int)decoded.verdict, decoded.profile.session.records_read,
                        decoded.profile.session.records_kept, note_count(&decoded, bad->note));
        }
        release(&decoded);
    }
    return all;
}

static void a_bad_record_drops_no_valid_one(void **state)
{
    (void)state;
    assert_true(all_are_as_expected("\n"));
    assert_true(all_are_as_expected("\r\n \r\n"));
    assert_true(all_are_as_expected(""));
}

/* The format of a stream does not depend on its first record, unless that is an inspector's message
 * or a posted body. */
static void a_bad_first_record_drops_no_valid_one(void **state)
{
    (void)state;
    bool all = true;
    for (size_t i = 0; i < sizeof(bad_records) / sizeof(bad_records[0]); i++) {
        const struct bad_record *bad = &bad_records[i];
        if (strstr(bad->record, "'method'") != NULL || strstr(bad->record, "'header'") != NULL)
            continue;
        char dump[512];
        snprintf(dump, sizeof(dump), "%s\n{'type':8,'time':0}\n{'type':9,'time':0}", bad->record);
        struct decoded decoded;
        decode_dump(&decoded, dump);
        if (decoded.verdict != FP_VERDICT_OK || decoded.profile.event_count != bad->kept + 2 ||
            note_count(&decoded, bad->note) != 1) {
            all = false;
            print_error("%s: verdict %d, %s\n", bad->title, (int)decoded.verdict,
                        decoded.error.detail);
        }
        release(&decoded);
    }
    assert_true(all);
}

static void notes_say_where_the_first_one_is(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':1,'time':0} x\n{'type':'a'}{'type':'b'}");
    assert_int_equal(decoded.profile.session.note_count, 2);
    const struct fp_profile_note *notes = decoded.profile.session.notes;
    assert_int_not_equal(notes[0].reason, FP_RECORD_REFUSAL_NONE);
    assert_int_equal(notes[0].count, 2);
    assert_int_equal(notes[0].first_offset, 22);
    assert_int_equal(notes[1].reason, FP_RECORD_REFUSAL_NONE);
    assert_int_equal(notes[1].first_offset, 20);
    release(&decoded);
}

/* Whole uploads that are refused. */
struct bad_dump {
    const char *title;
    const char *body;
    const char *hint;
    enum fp_verdict verdict;
    const char *pointer; /* NULL: none */
    int64_t offset;
    const char *detail; /* its beginning */
};

static const struct bad_dump bad_dumps[] = {
    {"nothing", "", "speed-tracer", FP_VERDICT_INVALID, NULL, 0, "there is no record"},
    {"words", "hello", "speed-tracer", FP_VERDICT_INVALID, NULL, 5, "there is no record"},
    {"a page of something else", " <html><body>{'type':1}</body></html>", "", FP_VERDICT_MALFORMED,
     NULL, 1, "this is an HTML page without"},
    {"a page that ends in a tag", "<div id='traceData", "", FP_VERDICT_INVALID, NULL, 18,
     "there is no record"},
    {"a page that ends in an attribute's name", "<div id", "", FP_VERDICT_MALFORMED, NULL, 0,
     "this is an HTML page"},
    {"a page with nothing in its element", "<div id='traceData'>\n</div>", "", FP_VERDICT_INVALID,
     NULL, 27, "there is no record"},
    {"a page of raw messages", "<div ISRAW=true id=traceData>{'type':1}", "",
     FP_VERDICT_UNSUPPORTED, NULL, 29, "this page holds raw messages"},
    {"raw messages", "{'method':'Timeline.eventRecorded','record':{}}{}", "",
     FP_VERDICT_UNSUPPORTED, NULL, 0, "this is a message of a browser's inspector"},
    {"a raw message inside a record", "{'type':1,'children':[{'type':2},{'method':'Page.x'}]}", "",
     FP_VERDICT_UNSUPPORTED, NULL, 0, "this is a message of a browser's inspector"},
    {"raw messages in a posted body", "{'header':{},'data':[{'method':'Page.x'},{'type':1}]}", "",
     FP_VERDICT_UNSUPPORTED, "/data/0", -1, "this is a message of a browser's inspector"},
    {"a posted body whose data are an object", "{'header':{'timeStamp':1},'data':{'0':{}}}", "",
     FP_VERDICT_INVALID, "/data", -1, "data must be an array"},
    {"a posted body without records", "{'header':{'timeStamp':1},'data':[]}", "",
     FP_VERDICT_INVALID, NULL, 36, "there is no record"},
    {"a posted body of bad records", "{'header':{},'data':[3,{'type':'x'}]}", "",
     FP_VERDICT_INVALID, "/data/0", -1,
     "none of the records is valid; the first problem is a value among the records"},
    {"a record without a type, and another that is bad", "{'time':'x'}{'type':'x'}", "",
     FP_VERDICT_INVALID, NULL, 0, "none of the records is valid; the first problem is a time"},
    {"bad records alone", "{'type':1,'time':'x'}\n{'type':2,'time':'x'}", "", FP_VERDICT_INVALID,
     NULL, 0, "none of the records is valid; the first problem is a time"},
    {"no JSON at all in its braces", "x {a}{b}", "speed-tracer", FP_VERDICT_MALFORMED, NULL, 2,
     "none of the records is valid; the first problem is a record that is not JSON"},
    {"one truncated record", "{'type':1,'time'", "speed-tracer", FP_VERDICT_MALFORMED, NULL, 0,
     "none of the records is valid; the first problem is a truncated record"},
    {"one truncated record, and no format given", "{'type':1,'time'", "", FP_VERDICT_MALFORMED,
     NULL, 16, "not JSON: it ends too early"},
    {"a truncated envelope", "{'trace':{'frames':[{}],'type':1}", "", FP_VERDICT_MALFORMED, NULL,
     33, "not JSON: it ends too early"},
    {"two envelopes", "{'coverage':'quota'}{'type':1}", "", FP_VERDICT_MALFORMED, NULL, 20,
     "not JSON: there is more"},
    {"records in an array", "[{'type':1},{'type':2}]", "", FP_VERDICT_INVALID, "/0", -1,
     "this is a record of Speed Tracer; a dump has them one after another"},
    {"entries in an array, with types of their own", "[{'type':1,'entryType':'mark'}]", "",
     FP_VERDICT_INVALID, "/0", -1, "name is missing"},
    {"a dump where the address says a trace", "{'type':1}{'type':2}", "self-profile",
     FP_VERDICT_INVALID, "", -1, "the URL asks for self-profile, but the body is neither"},
    {"a page where the address says a session", "<div id=traceData>{'type':1}", "opera-scope",
     FP_VERDICT_INVALID, "", -1, "the URL asks for opera-scope, but the body is not a session"},
    {"a truncated body where the address says a trace", "{'frames':[", "self-profile",
     FP_VERDICT_MALFORMED, NULL, 11, "not JSON: it ends too early"},
    {"a record where the address says timings", "{'type':1}", "user-timing", FP_VERDICT_INVALID, "",
     -1,
     "the URL asks for user-timing, but the body is neither marks and measures nor an "
     "envelope"},
    {"a bad record where the address says timings", "{'type':1,'time':'x'}", "user-timing",
     FP_VERDICT_INVALID, "", -1, "the URL asks for user-timing"},
};

static void refuses_an_invalid_dump_with_its_place(void **state)
{
    (void)state;
    bool all = true;
    for (size_t i = 0; i < sizeof(bad_dumps) / sizeof(bad_dumps[0]); i++) {
        const struct bad_dump *bad = &bad_dumps[i];
        struct decoded decoded;
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        decode_limited(&decoded, json_of(&decoded.arena, bad->body), bad->hint, &dump_limits);
        const struct fp_upload_error *error = &decoded.error;
        bool is_right = decoded.verdict == bad->verdict && error->offset == bad->offset &&
                        error->has_pointer == (bad->pointer != NULL) &&
                        strncmp(error->detail, bad->detail, strlen(bad->detail)) == 0 &&
                        (bad->pointer == NULL || strcmp(error->pointer, bad->pointer) == 0);
        if (!is_right)
            print_error("%s: verdict %d, pointer %s, offset %lld: %s\n", bad->title,
                        (int)decoded.verdict, error->has_pointer ? error->pointer : "none",
                        (long long)error->offset, error->detail);
        all = all && is_right;
        release(&decoded);
    }
    assert_true(all);
}

/* Limits. */

static void assert_over(const char *text, const struct fp_format_limits *limits, const char *detail)
{
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    decode_limited(&decoded, json_of(&decoded.arena, text), "", limits);
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    assert_non_null(strstr(decoded.error.detail, detail));
    assert_true(decoded.error.offset >= 0);
    release(&decoded);
}

static void each_limit_says_its_name(void **state)
{
    (void)state;
    struct fp_format_limits limits = dump_limits;
    limits.entries = 2;
    assert_over("{'type':1}{'type':2,'children':[{'type':3}]}", &limits, "(limits.entries)");
    limits = dump_limits;
    limits.resources = 1;
    assert_over("{'type':10,'data':{'url':'a'}}{'type':10,'data':{'url':'b'}}", &limits,
                "(limits.resources)");
    limits = dump_limits;
    limits.json_depth = 4;
    assert_over("{'type':1}{'type':2,'data':{'a':[[1]],'b':[[[]]]}}", &limits,
                "(limits.json_depth)");
    assert_over("{'type':1}{'type':2,'children':[{'children':[{}]}]}", &limits,
                "(limits.json_depth)");
}

static void a_limit_that_a_posted_body_passes_is_told_by_the_records_pointer(void **state)
{
    (void)state;
    struct fp_format_limits limits = dump_limits;
    limits.entries = 2;
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    decode_limited(&decoded,
                   json_of(&decoded.arena,
                           "{'header':{},'data':[{'type':1},{'type':2,'children':[{'type':3}]}]}"),
                   "", &limits);
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    assert_int_equal(decoded.error.offset, -1);
    assert_string_equal(decoded.error.pointer, "/data/1");
    release(&decoded);
}

/* opening, 10,000 times, inside a record that follows a good one. */
static void assert_too_deep(const char *opening)
{
    enum { DEPTH = 10000 };
    const size_t len = strlen(opening);
    char *body = malloc(64 + DEPTH * len);
    assert_non_null(body);
    size_t at = (size_t)snprintf(body, 64, "{\"type\":1}\n{\"type\":2,\"data\":{\"a\":");
    for (int i = 0; i < DEPTH; i++, at += len)
        memcpy(body + at, opening, len);
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    decode_limited(&decoded, (struct fp_str){body, at}, "", &dump_limits);
    /* It is also truncated: the records before it are kept. */
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.event_count, 1);
    release(&decoded);
    free(body);
}

static void nesting_10000_deep_is_refused_cleanly(void **state)
{
    (void)state;
    enum { DEPTH = 10000 };
    assert_too_deep("[");
    assert_too_deep("{\"a\":");
    static char body[2 * DEPTH + 64];
    size_t at = (size_t)snprintf(body, 64, "{\"type\":1}{\"type\":2,\"children\":");
    memset(body + at, '[', DEPTH);
    memset(body + at + DEPTH, ']', DEPTH);
    body[at + 2 * DEPTH] = '}';
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    decode_limited(&decoded, (struct fp_str){body, at + 2 * DEPTH + 1}, "", &dump_limits);
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    assert_int_equal(decoded.error.offset, 10);
    release(&decoded);
}

static void an_arena_that_is_too_small_is_no_other_error(void **state)
{
    (void)state;
    const char body[] = "{\"type\":1}{\"type\":-2,\"typeName\":\"a\",\"data\":{\"url\":\"b\"}}"
                        "{\"type\":15,\"data\":{\"format\":\"v8\",\"profileData\":"
                        "\"code-creation,Stub,1000,9,\\\"x\\\"\\ntick,1000,0,0\"}}";
    bool taken = false;
    bool refused = false;
    for (size_t max = 1024; max < 1024 * 1024; max += 3000) {
        struct decoded decoded;
        fp_arena_init(&decoded.arena, max);
        decode_limited(&decoded, fp_str_of(body), "speed-tracer", &dump_limits);
        assert_true(decoded.verdict == FP_VERDICT_OK || decoded.verdict == FP_VERDICT_MEMORY);
        taken = taken || decoded.verdict == FP_VERDICT_OK;
        refused = refused || decoded.verdict == FP_VERDICT_MEMORY;
        release(&decoded);
    }
    assert_true(taken && refused);
}

/* Each line could swallow all lines after it: without the resync this would take hours. */
static void lines_without_an_end_cost_no_more_than_their_length(void **state)
{
    (void)state;
    enum { LINES = 200000 };
    static char body[LINES * 4 + 32];
    for (size_t i = 0; i < LINES; i++)
        memcpy(body + i * 4, i % 2 == 0 ? "{\"x\n" : "{[y\n", 4);
    memcpy(body + (size_t)LINES * 4, "{\"type\":1}", 10);
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    decode_limited(&decoded, (struct fp_str){body, LINES * 4 + 10}, "speed-tracer", &dump_limits);
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.event_count, 1);
    assert_int_equal(decoded.profile.session.records_read, LINES + 1);
    release(&decoded);
}

/* Cut at every byte. */

static void a_dump_cut_anywhere_gives_all_whole_records_before_the_cut(void **state)
{
    (void)state;
    static const char body[] = "{\"type\":7,\"time\":1,\"duration\":3,\"data\":{\"timerId\":3},"
                               "\"children\":[{\"type\":5}]}\n"
                               "{\"type\":11,\"time\":2,\"data\":{\"message\":\"{ a \\\" ' }\"}}\n"
                               "{\"type\":-2,\"typeName\":\"x\",\"time\":3}";
    const char *const ends[] = {strchr(body, '\n'), strrchr(body, '\n'), body + sizeof(body) - 1};
    for (size_t len = 0; len < sizeof(body); len++) {
        uint32_t expected = 0;
        for (size_t i = 0; i < 3; i++)
            if (body + len >= ends[i])
                expected += i == 0 ? 2 : 1;
        struct decoded decoded;
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        decode_limited(&decoded, (struct fp_str){body, len}, "speed-tracer", &dump_limits);
        if (expected > 0) {
            assert_int_equal(decoded.verdict, FP_VERDICT_OK);
            assert_int_equal(decoded.profile.event_count, expected);
        } else {
            assert_int_not_equal(decoded.verdict, FP_VERDICT_OK);
            assert_true(decoded.error.detail[0] != '\0');
        }
        release(&decoded);
    }
}

/* begin and end: the text around the records of a dump that is truncated at every byte. */
static void assert_cut_anywhere(const char *begin, const char *separator, const char *end)
{
    static const char *const records[] = {"{\"type\":7,\"children\":[{\"type\":5}]}",
                                          "{\"type\":11,\"data\":{\"message\":\"} '\"}}"};
    char body[512];
    const size_t first_end = (size_t)snprintf(body, sizeof(body), "%s%s", begin, records[0]);
    const size_t second_end =
        (size_t)snprintf(body, sizeof(body), "%s%s%s%s", begin, records[0], separator, records[1]);
    snprintf(body + second_end, sizeof(body) - second_end, "%s", end);
    for (size_t len = 0; len <= strlen(body); len++) {
        const uint32_t expected = (len >= first_end ? 2U : 0U) + (len >= second_end ? 1U : 0U);
        struct decoded decoded;
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        decode_limited(&decoded, (struct fp_str){body, len}, "speed-tracer", &dump_limits);
        if (expected > 0) {
            assert_int_equal(decoded.verdict, FP_VERDICT_OK);
            assert_int_equal(decoded.profile.event_count, expected);
        } else {
            assert_true(decoded.verdict == FP_VERDICT_MALFORMED ||
                        decoded.verdict == FP_VERDICT_INVALID);
            assert_true(decoded.error.offset >= 0);
        }
        release(&decoded);
    }
}

static void pages_and_posted_bodies_cut_anywhere_give_all_whole_records_before_the_cut(void **state)
{
    (void)state;
    assert_cut_anywhere("<html><div id=\"traceData\" version=\"0.26\">", "\n", "\n</div></html>");
    assert_cut_anywhere("{\"header\":{\"timeStamp\":1},\"data\":[\n", ",\n", "\n]}\n");
    assert_cut_anywhere("{\"header\":{\"timeStamp\":1},\"data\":[", ",", "]}");
    assert_cut_anywhere("{\"data\":[", " , ", "],\"header\":{\"a\":{}}}");
}

static void mixed_containers_give_every_record_and_what_is_kept_of_them_reads_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t events;
    } mixed[] = {
        {"{'type':1}<html><div id='traceData'>{'type':2}</div>", 2},
        {"<div id=traceData>{'type':1}</div><div id=traceData>{'type':2}</div>", 1},
        {"<div id=traceData>{'type':1}\n<div id=traceData>{'type':2}</div>", 2},
        {"{'header':{},'data':[{'type':1},{'type':2}]}{'type':3}", 3},
        {"{'header':{},'data':[{'type':1}]}\n{'header':{},'data':[{'type':2}]}", 1},
        {"<div id=traceData>{'header':{},'data':[{'type':1}]}</div>", 1},
        {"{'type':1}\n[{'type':2},{'type':3}]", 3},
        {"{'type':1}{'coverage':'quota'}", 2},
        {"{'type':1}['profiler',1,0,2,[]]{'type':2}", 2},
        {"{'header':{},'data':[{'type':1},[{'type':2}],null]}", 1},
    };
    for (size_t i = 0; i < sizeof(mixed) / sizeof(mixed[0]); i++) {
        struct decoded decoded;
        struct decoded again;
        take_dump(&decoded, mixed[i].body);
        assert_int_equal(decoded.profile.event_count, mixed[i].events);
        fp_arena_init(&again.arena, TEST_ARENA_MAX);
        decode_limited(&again, decoded.profile.session.content, "", &dump_limits);
        assert_int_equal(again.verdict, FP_VERDICT_OK);
        assert_int_equal(again.profile.event_count, mixed[i].events);
        for (uint32_t k = 0; k < mixed[i].events; k++)
            assert_int_equal(event_at(&again, k)->type_number, event_at(&decoded, k)->type_number);
        release(&again);
        release(&decoded);
    }
}

static void a_posted_body_with_a_bad_record_keeps_the_good_ones_and_its_start(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded,
              "{'header':{'timeStamp':1277201472123,'name':'} ,\\''},'data' : [{'type':1},"
              "{'type':2,'time':1.},{'type':3,'data':{'a':']'}}],'x':{'type':4}}");
    assert_int_equal(decoded.profile.event_count, 2);
    assert_int_equal(decoded.profile.session.records_read, 3);
    assert_int_equal(note_count(&decoded, "a record that is not JSON"), 1);
    assert_int_equal(note_count(&decoded, "a posted body that is not JSON"), 1);
    assert_int_equal(decoded.profile.session.note_count, 3); /* and no time */
    assert_false(decoded.profile.session.notes[0].is_index);
    assert_true(decoded.profile.session.started_us == INT64_C(1277201472123000));
    assert_false(decoded.profile.truncated);
    release(&decoded);
    take_dump(&decoded, "{'header':{'timeStamp':5},'data':[{'type':1},{'type':2},");
    assert_int_equal(decoded.profile.event_count, 2);
    assert_true(decoded.profile.truncated);
    release(&decoded);
}

/* begin and end: the text around the list of a posted body, with a bad record on a line of its own,
 * and on a line with valid ones. */
static void assert_all_but_one(const char *begin, const char *bad, const char *end)
{
    static const char *const separators[] = {",", ",\n", " ,\n  "};
    for (size_t i = 0; i < sizeof(separators) / sizeof(separators[0]); i++) {
        char body[512];
        snprintf(body, sizeof(body), "%s{'type':7,'children':[{'type':5}]}%s%s%s{'type':9}%s",
                 begin, separators[i], bad, separators[i], end);
        struct decoded decoded;
        take_dump(&decoded, body);
        const uint32_t count = decoded.profile.event_count;
        assert_true(count >= 3);
        assert_int_equal(event_at(&decoded, 0)->type_number, 7);
        assert_int_equal(event_at(&decoded, count - 1)->type_number, 9);
        release(&decoded);
    }
}

static void a_bracket_in_a_bad_record_of_a_posted_body_is_not_its_lists_end(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{'type':1,'children':[.'type':2}],'sequence':1}",
        "'type':1,'data':{'a':1},'children':[{'type':2}],'sequence':1}",
        "{'type':1:}],'sequence':1}",
        "{'type':1]}}",
        "]}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_all_but_one("{'header':{'timeStamp':1},'data':[", bad[i], "]}");
        assert_all_but_one("{'header':{'timeStamp':1},'data':[", bad[i], "\n]\n}\n");
        assert_all_but_one("{'header':{'timeStamp':1},'data':[", bad[i], "");
        assert_all_but_one("{'data':[", bad[i], "],'header':{'a':[{'type':4}],'b':']'}}");
    }
}

static void a_stream_whose_first_record_lost_its_brace_is_a_dump(void **state)
{
    (void)state;
    static const char *const firsts[] = {
        "'type':1,'data':{'url':'a'},'children':[{'type':2}]}",
        "{'type':},'data':{'u'l':'a'},'children':[{'type':2}]}",
        "{'unknown':true}",
    };
    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
        char body[512];
        snprintf(body, sizeof(body), "%s\n{'type':7,'time':0}\n{'type':9,'time':0}", firsts[i]);
        struct decoded decoded;
        take_dump(&decoded, body);
        const uint32_t count = decoded.profile.event_count;
        assert_true(count >= 2);
        assert_int_equal(event_at(&decoded, count - 2)->type_number, 7);
        assert_int_equal(event_at(&decoded, count - 1)->type_number, 9);
        release(&decoded);
    }
}

static void does_not_search_other_bodies_for_records(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{'type':1,'data':[{'type':2}],'time':1.}",
        "{'header':{},'data':{'0':{'type':2}},'time':1.}",
        "{'header':{},'trace':{},'x':[{'type':1}],'time':1.}",
        "{'header':1.,'datum':[{'type':2}]}",
        "{'header'",
        "{'header':",
        "{'header':{},",
        "{'data':",
        "{ 'header' : 3 'data' : [ {'type':1} ]}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct decoded decoded;
        decode_dump(&decoded, bodies[i]);
        if (decoded.verdict != FP_VERDICT_MALFORMED)
            print_error("%s: %d\n", bodies[i], (int)decoded.verdict);
        assert_int_equal(decoded.verdict, FP_VERDICT_MALFORMED);
        release(&decoded);
    }
}

static void children_of_a_bad_record_move_to_its_parent(void **state)
{
    (void)state;
    struct decoded decoded;
    take_dump(&decoded, "{'type':0,'time':1,'duration':10,'children':["
                        "{'type':1,'time':'x','children':["
                        "{'type':3,'time':2,'duration':3},{'type':4,'time':6,'duration':2}]}]}\n"
                        "{'type':'x','children':[{'type':5,'time':20,'duration':1}]}");
    const struct fp_profile *profile = &decoded.profile;
    assert_int_equal(profile->event_count, 4);
    assert_int_equal(profile->session.records_read, 6);
    assert_true(refusals_add_up(&decoded));
    assert_int_equal(profile->events[0].self_us, 5000);
    assert_int_equal(profile->events[1].parent, 0);
    assert_int_equal(profile->events[2].parent, 0);
    assert_int_equal(profile->events[3].parent, FP_INDEX_NONE);
    release(&decoded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_record_drops_no_valid_one),
        cmocka_unit_test(a_bad_first_record_drops_no_valid_one),
        cmocka_unit_test(notes_say_where_the_first_one_is),
        cmocka_unit_test(refuses_an_invalid_dump_with_its_place),
        cmocka_unit_test(each_limit_says_its_name),
        cmocka_unit_test(a_limit_that_a_posted_body_passes_is_told_by_the_records_pointer),
        cmocka_unit_test(nesting_10000_deep_is_refused_cleanly),
        cmocka_unit_test(an_arena_that_is_too_small_is_no_other_error),
        cmocka_unit_test(lines_without_an_end_cost_no_more_than_their_length),
        cmocka_unit_test(a_dump_cut_anywhere_gives_all_whole_records_before_the_cut),
        cmocka_unit_test(
            pages_and_posted_bodies_cut_anywhere_give_all_whole_records_before_the_cut),
        cmocka_unit_test(a_posted_body_with_a_bad_record_keeps_the_good_ones_and_its_start),
        cmocka_unit_test(a_bracket_in_a_bad_record_of_a_posted_body_is_not_its_lists_end),
        cmocka_unit_test(a_stream_whose_first_record_lost_its_brace_is_a_dump),
        cmocka_unit_test(does_not_search_other_bodies_for_records),
        cmocka_unit_test(children_of_a_bad_record_move_to_its_parent),
        cmocka_unit_test(
            mixed_containers_give_every_record_and_what_is_kept_of_them_reads_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
