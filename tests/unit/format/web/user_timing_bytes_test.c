/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User Timing: the names of performance.timing in every place; bytes that are not JSON, too deep,
 * truncated at every byte or damaged at every byte.
 */
#include "tests/unit/format/test.h"

#include "collector/base/buf.h"

#include <stdio.h>

static const char *const attributes[] = {
    "navigationStart",
    "unloadEventStart",
    "unloadEventEnd",
    "redirectStart",
    "redirectEnd",
    "fetchStart",
    "domainLookupStart",
    "domainLookupEnd",
    "connectStart",
    "connectEnd",
    "secureConnectionStart",
    "requestStart",
    "responseStart",
    "responseEnd",
    "domLoading",
    "domInteractive",
    "domContentLoadedEventStart",
    "domContentLoadedEventEnd",
    "domComplete",
    "loadEventStart",
    "loadEventEnd",
};

enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

/* Uploads with a mark called @, and the place of the name. */
static const struct {
    const char *body;
    const char *pointer;
} marks[] = {
    {"{'@':[1]}", "/@"},
    {"{'a':[1],'@':[]}", "/@"},
    {"{'marks':{'@':[0]}}", "/marks/@"},
    {"{'thread':'window','marks':{'@':[1,2]},'measures':{'m':[1]}}", "/marks/@"},
    {"{'marks':[{'name':'@','entryType':'mark','startTime':1}]}", "/marks/0/name"},
    {"{'entries':[{'entryType':'paint'},{'entryType':'mark','startTime':1,'name':'@'}]}",
     "/entries/1/name"},
    {"[{'name':'@','entryType':'mark','startTime':1,'duration':0,'detail':null}]", "/0/name"},
    {"[{'name':'a','entryType':'mark','startTime':1,'name':'@'}]", "/0/name"},
};

/* Uploads where the name is valid. */
static const char *const others[] = {
    "{'thread':'worker','marks':{'@':[1]}}",
    "{'thread':'worker','entries':[{'name':'@','entryType':'mark','startTime':1}]}",
    "{'measures':{'@':[1]}}",
    "{'measures':[{'name':'@','entryType':'measure','startTime':1,'duration':1}]}",
    "{'coverage':'quota','timing':{'@':1}}",
    "{'marks':{'a':[1]},'page':{'url':'https://a/@'}}",
    "{'marks':{'@ ':[1]}}",
    "[{'name':'a','entryType':'mark','startTime':1},{'name':'@','entryType':'navigation'}]",
};

/* Returns the text with each @ replaced. */
static void fill(char *filled, size_t size, const char *text, const char *name)
{
    struct fp_buf out;
    fp_buf_init(&out, size);
    for (; *text != '\0'; text++)
        fp_buf_addf(&out, "%.*s", *text == '@' ? (int)strlen(name) : 1, *text == '@' ? name : text);
    assert_true(!out.failed && out.len < size);
    memcpy(filled, out.data, out.len);
    filled[out.len] = '\0';
    fp_buf_release(&out);
}

/* The caller releases. */
static void decode_with(struct decoded *decoded, const char *body, const char *name)
{
    char text[512];
    fill(text, sizeof(text), body, name);
    decode(decoded, text, "");
}

static void no_mark_of_a_window_has_a_name_of_performance_timing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++) {
            struct decoded decoded;
            char pointer[128];
            fill(pointer, sizeof(pointer), marks[k].pointer, attributes[i]);
            decode_with(&decoded, marks[k].body, attributes[i]);
            assert_int_equal(decoded.verdict, FP_VERDICT_INVALID);
            assert_string_equal(decoded.error.pointer, pointer);
            release(&decoded);
        }
    }
}

static void takes_other_things_of_the_same_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
            struct decoded decoded;
            decode_with(&decoded, others[k], attributes[i]);
            if (decoded.verdict != FP_VERDICT_OK)
                fail_msg("%s in %s: %s", attributes[i], others[k], decoded.error.detail);
            release(&decoded);
        }
    }
}

static void names_that_only_resemble_them_are_taken(void **state)
{
    (void)state;
    static const char *const resembling[] = {"",
                                             "FetchStart",
                                             "fetchstart",
                                             "fetch",
                                             "fetchStart2",
                                             " fetchStart",
                                             "toJSON",
                                             "workerStart",
                                             "load",
                                             "domContentLoaded",
                                             "__proto__",
                                             "timing",
                                             "fetchStart\\u0000"};
    for (size_t i = 0; i < sizeof(resembling) / sizeof(resembling[0]); i++) {
        struct decoded decoded;
        decode_with(&decoded, "{'marks':{'@':[1]}}", resembling[i]);
        assert_int_equal(decoded.verdict, FP_VERDICT_OK);
        release(&decoded);
    }
}

static void escapes_do_not_hide_them(void **state)
{
    (void)state;
    struct decoded decoded;
    decode(&decoded, "{'marks':{'fetch\\u0053tart':[1]}}", "");
    assert_int_equal(decoded.verdict, FP_VERDICT_INVALID);
    assert_string_equal(decoded.error.pointer, "/marks/fetchStart");
    release(&decoded);
}

static void each_attribute_is_a_point_unless_it_is_0(void **state)
{
    (void)state;
    static const char *const set[] = {
        "{'timing':{'navigationStart':1000,'@':1007},'measures':[{'name':'m','endMark':'@'}]}",
        "[{'entryType':'navigation','@':7},{'name':'m','entryType':'measure','endMark':'@'}]",
        ("{'timing':{'navigationStart':1000,'@':null},'measures':[{'name':'m','endMark':'@'}],"
         "'entries':[{'entryType':'navigation','@':7}]}"),
    };
    static const char *const unset[] = {
        "{'timing':{'navigationStart':1000,'@':0},'measures':[{'name':'m','endMark':'@'}]}",
        "{'measures':[{'name':'m','endMark':'@'}],'entries':[{'entryType':'navigation','@':0}]}",
        "{'measures':[{'name':'m','endMark':'@'}],'entries':[{'entryType':'resource','@':7}]}",
    };
    for (size_t i = 0; i < ATTRIBUTES; i++) {
        for (size_t k = 0; k < sizeof(set) / sizeof(set[0]); k++) {
            struct decoded decoded;
            decode_with(&decoded, set[k], attributes[i]);
            assert_int_equal(decoded.verdict, FP_VERDICT_OK);
            assert_int_equal(decoded.profile.timings[0].value_us, i == 0 ? 0 : 7000);
            release(&decoded);
            decode_with(&decoded, unset[k], attributes[i]);
            assert_int_equal(decoded.verdict, i == 0 ? FP_VERDICT_OK : FP_VERDICT_INVALID);
            assert_string_equal(decoded.error.pointer, i == 0 ? "" : "/measures/0/endMark");
            release(&decoded);
        }
    }
}

/* Bytes. */

/* An upload with everything that this format has. */
#define WHOLE                                                                                      \
    "{'timing':{'navigationStart':1700000000000,'fetchStart':1700000000005},'marks':{'a':[1,"      \
    "2.5e0],'\\u00fc/~':[3]},'measures':[{'name':'m','startMark':'a','endMark':'fetchStart'}],"    \
    "'entries':[{'name':'b','entryType':'mark','startTime':7,'duration':0,'detail':{'k':"          \
    "['\\ud800',null,true,-0.0]}},{'name':'n','entryType':'measure','startTime':4,'duration':-1}]" \
    "}"

static void no_part_of_an_upload_is_taken_for_one(void **state)
{
    (void)state;
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    struct fp_str whole = json_of(&decoded.arena, WHOLE);
    decode_bytes(&decoded, whole, "");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    for (size_t len = 0; len < whole.len; len++) {
        decode_bytes(&decoded, (struct fp_str){whole.ptr, len}, "");
        if (decoded.verdict != FP_VERDICT_MALFORMED || decoded.error.offset < 0 ||
            decoded.error.offset > (int64_t)len)
            fail_msg("%zu bytes: verdict %d, offset %lld", len, (int)decoded.verdict,
                     (long long)decoded.error.offset);
    }
    release(&decoded);
}

/* Every byte becomes each of these: structure, digits, letters, controls, half a character. */
static void a_damaged_upload_is_taken_or_refused_and_nothing_worse(void **state)
{
    (void)state;
    static const char damage[] = {'"', '{', '}', '[', ']',  ',', ':',  '-',    '0',
                                  '9', 'e', '.', ' ', '\\', 'n', '\0', '\xc3', '\xff'};
    struct decoded decoded;
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    struct fp_str whole = json_of(&decoded.arena, WHOLE);
    char *bytes = malloc(whole.len);
    assert_non_null(bytes);
    uint32_t refused = 0;
    for (size_t i = 0; i < whole.len; i++) {
        for (size_t k = 0; k < sizeof(damage); k++) {
            memcpy(bytes, whole.ptr, whole.len);
            bytes[i] = damage[k];
            decode_bytes(&decoded, (struct fp_str){bytes, whole.len}, "");
            assert_true(decoded.verdict == FP_VERDICT_OK || decoded.error.detail[0] != '\0');
            refused += decoded.verdict != FP_VERDICT_OK;
        }
        fp_arena_clear(&decoded.arena);
        whole = json_of(&decoded.arena, WHOLE);
    }
    assert_true(refused > whole.len);
    free(bytes);
    release(&decoded);
}

static const struct {
    const char *body;
    int64_t offset;
} malformed[] = {
    {"{'marks':{'a':[NaN]}}", 15},
    {"{'marks':{'a':[Infinity]}}", 15},
    {"{'marks':{'a':[-Infinity]}}", 16},
    {"{'marks':{'a':[1e400]}}", 15},
    {"{'marks':{'a':[-1e400]}}", 15},
    {"{'marks':{'a':[01]}}", 15},
    {"{'marks':{'a':[+1]}}", 15},
    {"{'marks':{'a':[.5]}}", 15},
    {"{'marks':{'a':[1.]}}", 17},
    {"{'marks':{'a':[1e]}}", 17},
    {"{'marks':{'a':[0x1]}}", 16},
    {"{'marks':{'a':[1,]}}", 16},
    {"{'marks':{'a':[1],}}", 17},
    {"{'marks':{'a':[1 2]}}", 17},
    {"{'marks':{'a':[undefined]}}", 15},
    {"{'marks':{a:[1]}}", 10},
    {"{'marks':{'a':[1]}}{}", 19},
    {"{'marks':{'a':[1]}} x", 20},
    {"[{'name':'a' 'entryType':'mark'}]", 13},
    {"{'marks':{'\\x':[1]}}", 12},
    {"{'marks':{'a\n':[1]}}", 12},
    {"{'marks':{'\xff':[1]}}", 11},
    {"{'marks':{'\xc3(':[1]}}", 11},
    {"{'marks':{'\xed\xa0\x80':[1]}}", 11},
    {"{'marks':{'\xc0\x80':[1]}}", 11},
    {"{'marks':{'\xf4\x90\x80\x80':[1]}}", 11},
    {"[{'name':'\xe2\x82','entryType':'mark','startTime':1}]", 10},
};

static void refuses_malformed_json_with_its_offset(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        struct decoded decoded;
        decode(&decoded, malformed[i].body, "user-timing");
        if (decoded.verdict != FP_VERDICT_MALFORMED || decoded.error.offset != malformed[i].offset)
            fail_msg("%s: verdict %d, offset %lld: %s", malformed[i].body, (int)decoded.verdict,
                     (long long)decoded.error.offset, decoded.error.detail);
        release(&decoded);
    }
}

static void nesting_is_refused_wherever_it_stands(void **state)
{
    (void)state;
    enum { LEVELS = 10000 };
    static const char *const around[][2] = {
        {"", ""},
        {"{\"marks\":", "}"},
        {"{\"marks\":{\"a\":", "}}"},
        {"{\"measures\":[", "]}"},
        {"{\"entries\":[{\"name\":\"a\",\"entryType\":\"mark\",\"startTime\":1,\"detail\":", "}]}"},
        {"[{\"name\":\"a\",\"entryType\":\"mark\",\"startTime\":", "}]"},
        {"{\"marks\":{\"a\":[1]},\"timing\":{\"fetchStart\":", "}}"},
        {"{\"marks\":{\"a\":[1]},\"ignored\":", "}"},
    };
    for (size_t i = 0; i < 2 * sizeof(around) / sizeof(around[0]); i++) {
        const char *const *ends = around[i / 2];
        bool objects = i % 2 == 1;
        struct decoded decoded;
        struct fp_buf body;
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        fp_buf_init(&body, TEST_ARENA_MAX);
        fp_buf_addf(&body, "%s", ends[0]);
        for (size_t level = 0; level < LEVELS; level++)
            fp_buf_addf(&body, "%s", objects ? "{\"x\":" : "[");
        fp_buf_addf(&body, "1");
        for (size_t level = 0; level < LEVELS; level++)
            fp_buf_addf(&body, "%s", objects ? "}" : "]");
        fp_buf_addf(&body, "%s", ends[1]);
        decode_bytes(&decoded, (struct fp_str){(const char *)body.data, body.len}, "");
        assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
        fp_buf_release(&body);
        release(&decoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_mark_of_a_window_has_a_name_of_performance_timing),
        cmocka_unit_test(takes_other_things_of_the_same_name),
        cmocka_unit_test(names_that_only_resemble_them_are_taken),
        cmocka_unit_test(escapes_do_not_hide_them),
        cmocka_unit_test(each_attribute_is_a_point_unless_it_is_0),
        cmocka_unit_test(no_part_of_an_upload_is_taken_for_one),
        cmocka_unit_test(a_damaged_upload_is_taken_or_refused_and_nothing_worse),
        cmocka_unit_test(refuses_malformed_json_with_its_offset),
        cmocka_unit_test(nesting_is_refused_wherever_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
