/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User Timing: measures that name their start and end, the order of marks, and one row per defect
 * of marks and measures, with the place in the error.
 */
#include "collector/profile/notes.h"
#include "tests/unit/format/test.h"

/* The profile's timings as text: kind, name, start (? if unknown), value; µs. */
static void render(const struct fp_profile *profile, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < profile->timing_count; i++) {
        const struct fp_profile_timing *timing = &profile->timings[i];
        char start[32] = "?";
        if (timing->has_start)
            snprintf(start, sizeof(start), "%lld", (long long)timing->start_us);
        len += (size_t)snprintf(out + len, size - len, "%s%s %.*s %s %lld", i > 0 ? "; " : "",
                                fp_timing_kind_name(timing->kind), FP_STR_ARG(timing->name), start,
                                (long long)timing->value_us);
        assert_true(len < size);
    }
}

struct good {
    const char *title;
    const char *body; /* ' stands for " */
    const char *timings;
};

/* Epoch times, as in performance.timing. */
#define TIMING                                                                                     \
    "'timing':{'navigationStart':1700000000000,'fetchStart':1700000000005,"                        \
    "'loadEventEnd':1700000000900,'redirectStart':0}"
#define NAVIGATION                                                                                 \
    "{'name':'https://a/"                                                                          \
    "','entryType':'navigation','startTime':0,'duration':9.5,'fetchStart':1.25,"                   \
    "'domInteractive':4.5,'redirectEnd':0}"
#define MARK(name, time) "{'name':'" name "','entryType':'mark','startTime':" time "}"

/* A moment 2,000 ms after TIMING's navigationStart. */
#define EPOCH "1700000002000"

#define FROM_0_TO_A "{'name':'m','entryType':'measure','endMark':'a'}"
#define FROM_A_TO_B "{'name':'m','entryType':'measure','startMark':'a','endMark':'b'}"

static const struct good goods[] = {
    {.title = "2011: types are numbers, and a measure starts at fetchStart",
     .body = "{" TIMING ",'entries':[{'name':'a','entryType':2,'startTime':" EPOCH "},"
             "{'name':'m','entryType':3,'startTime':1700000000500.5,'duration':7},"
             "{'name':'n','entryType':3,'endMark':'a'},{'name':'r','entryType':1}]}",
     .timings = "mark a ? 2000000; measure m 500500 7000; measure n 5000 1995000"},
    {.title = "2011: a map of times since 1970",
     .body = "{" TIMING ",'marks':{'a':[3," EPOCH "]},'measures':[{'name':'m','endMark':'a'},"
             "{'name':'n','startMark':'navigationStart','endMark':'loadEventEnd'}]}",
     .timings = "mark a ? 3000; mark a ? 2000000; measure m 5000 1995000; measure n 0 900000"},
    {.title = "2011: without navigationStart the first time is the page's start",
     .body = "{'timing':{'fetchStart':1700000001000},'marks':{'a':[" EPOCH "],"
             "'b':[1700000001500]},'measures':[{'name':'m','endMark':'a'},"
             "{'name':'n','startMark':'b','endMark':'a'}]}",
     .timings = "mark a ? 500000; mark b ? 0; measure m -500000 1000000; measure n 0 500000"},
    {.title = "2011: a bare map",
     .body = "{'a':[1700000001500," EPOCH "]}",
     .timings = "mark a ? 0; mark a ? 500000"},
    {.title = "a number as the type of a mark since the page's start",
     .body = "{'marks':{'b':[3]},'timing':{'navigationStart':10,'fetchStart':11},'entries':["
             "{'name':'a','entryType':2,'startTime':2},{'name':'m','entryType':3}]}",
     .timings = "mark b ? 3000; mark a ? 2000; measure m 1000 2000"},
    {.title = "timing without navigationStart, which nothing needs",
     .body = "{'timing':{'loadEventEnd':5},'marks':{'a':[1]},'measures':[{'name':'m'}]}",
     .timings = "mark a ? 1000; measure m 0 1000"},
    {.title = "timing without navigationStart, beside a navigation entry",
     .body = "{'timing':{'fetchStart':5},'entries':[" NAVIGATION
             "],'measures':[{'name':'m','startMark':'fetchStart','endMark':'domInteractive'}]}",
     .timings = "measure m 1250 3250"},
    {.title = "from one mark to another",
     .body =
         "{'marks':{'a':[1],'b':[3.5]},'measures':[{'name':'m','startMark':'a','endMark':'b'}]}",
     .timings = "mark a ? 1000; mark b ? 3500; measure m 1000 2500"},
    {.title = "the last mark of a name counts",
     .body = "{'marks':{'a':[1,2],'b':[9,4]},"
             "'measures':[{'name':'m','startMark':'a','endMark':'b'}]}",
     .timings = "mark a ? 1000; mark a ? 2000; mark b ? 9000; mark b ? 4000; measure m 2000 2000"},
    {.title = "among entries, the last mark before the measure",
     .body = "[" MARK("a", "1") "," MARK("b", "2") "," FROM_A_TO_B
                                                   "," MARK("b", "5") "," FROM_A_TO_B "]",
     .timings = "mark a ? 1000; mark b ? 2000; measure m 1000 1000; mark b ? 5000; "
                "measure m 1000 4000"},
    {.title = "marks among the entries, for a measure among the measures",
     .body = "{'measures':[{'name':'m','startMark':'a','endMark':'b'}],"
             "'entries':[" MARK("a", "1") "," MARK("b", "2") "]}",
     .timings = "mark a ? 1000; mark b ? 2000; measure m 1000 1000"},
    {.title = "from a mark to itself",
     .body = "{'marks':{'a':[1.0004]},'measures':[{'name':'m','startMark':'a','endMark':'a'}]}",
     .timings = "mark a ? 1000; measure m 1000 0"},
    {.title = "an entry's mark goes before the map's",
     .body = "{'marks':{'a':[1]},'entries':[" FROM_0_TO_A
             "," MARK("a", "5") "," FROM_0_TO_A "],'measures':[{'name':'o','endMark':'a'}]}",
     .timings = "mark a ? 1000; measure m 0 1000; mark a ? 5000; measure m 0 5000; "
                "measure o 0 5000"},
    {.title = "no start is the page's start",
     .body = "{'marks':{'b':[3]},'measures':[{'name':'m','endMark':'b'}]}",
     .timings = "mark b ? 3000; measure m 0 3000"},
    {.title = "navigationStart is the page's start, with and without timing",
     .body = "{'marks':{'b':[3]},'measures':[{'name':'m','startMark':'navigationStart',"
             "'endMark':'b'}]}",
     .timings = "mark b ? 3000; measure m 0 3000"},
    {.title = "no end is the last moment that the upload knows of: a mark",
     .body = "{'marks':{'a':[1],'b':[7,2]},'measures':[{'name':'m','startMark':'a'}]}",
     .timings = "mark a ? 1000; mark b ? 7000; mark b ? 2000; measure m 1000 6000"},
    {.title = "the end of another measure",
     .body = "{'marks':{'a':[1]},'measures':[{'name':'m','startMark':'a'},"
             "{'name':'n','entryType':'measure','startTime':4,'duration':5}]}",
     .timings = "mark a ? 1000; measure m 1000 8000; measure n 4000 5000"},
    {.title = "a sample",
     .body = "{'trace':{'resources':[],'frames':[],'stacks':[],'samples':[{'timestamp':12},"
             "{'timestamp':11}]},'measures':[{'name':'m'}]}",
     .timings = "measure m 0 12000"},
    {.title = "an attribute that has been, when it is later than all else",
     .body = "{" TIMING ",'marks':{'a':[1]},'measures':[{'name':'m','startMark':'a'},"
             "{'name':'n','startMark':'loadEventEnd'}]}",
     .timings = "mark a ? 1000; measure m 1000 899000; measure n 900000 0"},
    {.title = "the latest of the attributes, whatever their order",
     .body = "{'timing':{'navigationStart':1000,'fetchStart':1900,'domComplete':1005},"
             "'measures':[{'name':'m'}]}",
     .timings = "measure m 0 900000"},
    {.title = "also one of a navigation entry; what has not been says nothing",
     .body = "[" NAVIGATION ",{'name':'m','entryType':'measure'}]",
     .timings = "measure m 0 4500"},
    {.title = "not an attribute, in a worker",
     .body = "{'thread':'worker'," TIMING ",'marks':{'a':[1]},'measures':[{'name':'m'}]}",
     .timings = "mark a ? 1000; measure m 0 1000"},
    {.title = "not the end of another one without an end",
     .body = "{'marks':{'a':[1]},'measures':[{'name':'m'},{'name':'n','startMark':'a'}]}",
     .timings = "mark a ? 1000; measure m 0 1000; measure n 1000 0"},
    {.title = "attributes of performance.timing",
     .body = "{" TIMING ",'measures':[{'name':'m','startMark':'fetchStart',"
             "'endMark':'loadEventEnd'}]}",
     .timings = "measure m 5000 895000"},
    {.title = "attributes of a navigation entry, which may come later",
     .body = "{'entries':[{'name':'m','entryType':'measure','startMark':'fetchStart',"
             "'endMark':'domInteractive'}," NAVIGATION "]}",
     .timings = "measure m 1250 3250"},
    {.title = "performance.timing first, a navigation entry for what it lacks",
     .body = "{" TIMING ",'entries':[" NAVIGATION ",{'name':'m','entryType':'measure',"
             "'startMark':'domInteractive','endMark':'fetchStart'}]}",
     .timings = "measure m 4500 500"},
    {.title = "also in a bare array",
     .body = "[" NAVIGATION "," MARK("a", "2") ",{'name':'m','entryType':'measure',"
                                               "'startMark':'fetchStart','endMark':'a'}]",
     .timings = "mark a ? 2000; measure m 1250 750"},
    {.title = "the last of equal keys wins, also in a navigation entry and in a reference",
     .body = "[{'entryType':'paint','fetchStart':1,'entryType':'navigation','fetchStart':2},"
             "{'entryType':'navigation','fetchStart':3,'entryType':'paint'},"
             "{'name':'m','entryType':'measure','endMark':'nowhere','endMark':'fetchStart'}]",
     .timings = "measure m 0 2000"},
    {.title = "the first of several navigation entries",
     .body = "[{'entryType':'navigation','fetchStart':1},{'entryType':'navigation','fetchStart':7},"
             "{'name':'m','entryType':'measure','endMark':'fetchStart'}]",
     .timings = "measure m 0 1000"},
    {.title = "null says as little as what is missing",
     .body = "{'timing':{'navigationStart':1000,'fetchStart':null},'entries':[" NAVIGATION
             ",{'name':'m','entryType':'measure','endMark':'fetchStart'}]}",
     .timings = "measure m 0 1250"},
    {.title = "a measure is not a point, a mark of the same name is",
     .body = "{'marks':{'m':[3]},'measures':[{'name':'m','entryType':'measure','startTime':9,"
             "'duration':1},{'name':'n','endMark':'m'}]}",
     .timings = "mark m ? 3000; measure m 9000 1000; measure n 0 3000"},
    {.title = "names may be empty, and hold what SQL does not",
     .body = "{'marks':{'':[3],'x\\u0000y':[4],'\\ud800':[5]},'measures':[{'name':'m','startMark':"
             "'','endMark':'x\\u0000y'},{'name':'n','startMark':'x\\u0000y','endMark':"
             "'\\udfff'}]}",
     .timings = "mark  ? 3000; mark x\xef\xbf\xbdy ? 4000; mark \xef\xbf\xbd ? 5000; "
                "measure m 3000 1000; measure n 4000 1000"},
    {.title = "in a worker these are names like others",
     .body = "{'thread':'worker','marks':{'fetchStart':[1],'loadEventEnd':[2]},"
             "'measures':[{'name':'m','startMark':'fetchStart','endMark':'loadEventEnd'}]}",
     .timings = "mark fetchStart ? 1000; mark loadEventEnd ? 2000; measure m 1000 1000"},
    {.title = "a measure may bear an attribute's name",
     .body = "{'measures':[{'name':'fetchStart','entryType':'measure','startTime':1,"
             "'duration':2}]}",
     .timings = "measure fetchStart 1000 2000"},
    {.title = "with times, the names of marks say nothing more",
     .body = "{'measures':[{'name':'m','entryType':'measure','startTime':1,'duration':2,"
             "'startMark':'nowhere'}]}",
     .timings = "measure m 1000 2000"},
    {.title = "nor do the options of performance.measure()",
     .body = "{'measures':[{'name':'m','entryType':'measure','startTime':1,'duration':2,"
             "'start':9,'end':'nowhere'}]}",
     .timings = "measure m 1000 2000"},
    {.title = "null is absent",
     .body = "{'marks':{'a':[4]},'measures':[{'name':'m','startTime':null,'startMark':null,"
             "'endMark':'a'}]}",
     .timings = "mark a ? 4000; measure m 0 4000"},
    {.title = "times of the 2012 draft's measures have no start",
     .body = "{'measures':{'m':[1,-2]}}",
     .timings = "measure m ? 1000; measure m ? -2000"},
    {.title = "today's measures may end before they start",
     .body = "[{'name':'m','entryType':'measure','startTime':5,'duration':-2}]",
     .timings = "measure m 5000 -2000"},
};

static void each_measure_has_the_times_that_the_drafts_give_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
        struct decoded decoded;
        char timings[512];
        decode(&decoded, goods[i].body, "");
        if (decoded.verdict != FP_VERDICT_OK)
            fail_msg("%s: %s: %s", goods[i].title, decoded.error.pointer, decoded.error.detail);
        render(&decoded.profile, timings, sizeof(timings));
        if (strcmp(timings, goods[i].timings) != 0)
            fail_msg("%s: %s", goods[i].title, timings);
        release(&decoded);
    }
}

static void marks_that_go_back_in_time_are_counted_and_taken(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t unordered;
    } cases[] = {
        {"{'marks':{'a':[1,2,2,3],'b':[0,1]}}", 0}, /* each name has an order of its own */
        {"{'marks':{'a':[1,3,2],'b':[2,1]}}", 2},
        {"{'marks':[" MARK("a", "2") "," MARK("b", "1") "," MARK("a", "3") "]}", 1},
        {"{'marks':[" MARK("a", "5") "],'entries':[" MARK("b", "1") "]}", 0},
        {"[{'name':'m','entryType':'measure','startTime':9,'duration':1}," MARK("a", "2") "]", 0},
        {"{'measures':{'m':[3,2,1]}}", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        decode(&decoded, cases[i].body, "");
        assert_int_equal(decoded.verdict, FP_VERDICT_OK);
        assert_int_equal(decoded.profile.unordered_entries, cases[i].unordered);
        release(&decoded);
    }
}

static void keeps_allowed_keys_of_the_detail(void **state)
{
    (void)state;
    static const struct {
        const char *detail;
        const char *kept;
    } cases[] = {
        {"{'status':200,'cached':true,'secret':'x'}", "{status=200,cached=true}"},
        {"{'cached':false,'status':'OK'}", "{status=OK,cached=false}"},
        {"{'status':-1.5}", "{status=-1.5}"},
        {"{'status':1,'status':2}", "{status=2}"},
        {"{'status':''}", "{status=}"},
        {"{'status':null,'cached':[1]}", ""},
        {"{'secret':{'status':1}}", ""},
        {"'status'", ""},
        {"[1]", ""},
        {"null", ""},
    };
    struct fp_str keys[] = {{"status", 6}, {"cached", 6}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[256];
        struct decoded decoded;
        struct fp_format_limits limits = small_limits;
        limits.detail_keys = (struct fp_str_list){keys, 2};
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        snprintf(body, sizeof(body),
                 "{'marks':[{'name':'a','entryType':'mark','startTime':1,'detail':%s}],"
                 "'measures':[{'name':'m','detail':%s,'endMark':'a'}]}",
                 cases[i].detail, cases[i].detail);
        assert_int_equal(fp_format_decode(json_of(&decoded.arena, body), FP_STR(""), &limits,
                                          &decoded.arena, &decoded.profile, &decoded.error),
                         FP_VERDICT_OK);
        assert_text(decoded.profile.timings[0].detail, cases[i].kept);
        assert_text(decoded.profile.timings[1].detail, cases[i].kept);
        release(&decoded);
        decode(&decoded, body, "");
        assert_text(decoded.profile.timings[0].detail, "");
        release(&decoded);
    }
}

struct bad {
    const char *body;
    const char *pointer;
    const char *detail; /* how it begins */
};

#define MEASURE(members) "{'marks':{'a':[1],'b':[2]},'measures':[{'name':'m'," members "}]}"
#define REFERS_TO(timing) "{'timing':" timing ",'measures':[{'name':'m','endMark':'fetchStart'}]}"
#define MEASURE_ENTRY(members) "[{'name':'m','entryType':'measure'," members "}]"

static const struct bad bads[] = {
    /* The containers. */
    {"{'marks':1}", "/marks", "this must be an array of performance entries, or a map"},
    {"{'marks':'a'}", "/marks", "this must be an array of performance entries, or a map"},
    {"{'measures':true}", "/measures", "this must be an array of performance entries, or a map"},
    {"{'entries':{'a':[1]}}", "/entries", "this must be an array of performance entries"},
    {"{'entries':0}", "/entries", "this must be an array of performance entries"},
    {"{'marks':[[]]}", "/marks/0", "this is an array; it must be an object"},
    {"{'measures':[null]}", "/measures/0", "this is null; it must be an object"},
    {"{'entries':['a']}", "/entries/0", "this is a string; it must be an object"},
    {"[{},7]", "/0", "entryType is missing"},
    {"[" MARK("a", "1") ",7]", "/1", "this is a number; it must be an object"},
    /* Names and types. */
    {"{'marks':[{'entryType':'mark','startTime':1}]}", "/marks/0", "name is missing"},
    {"{'marks':[{'name':null,'entryType':'mark','startTime':1}]}", "/marks/0", "name is missing"},
    {"{'measures':[{'name':{},'startMark':'a'}]}", "/measures/0/name",
     "name is an object; it must be a string"},
    {"{'marks':[{'name':'a','startTime':1}]}", "/marks/0", "entryType is missing"},
    {"[{'name':'m','startMark':'a'}]", "/0", "entryType is missing"},
    {"{'measures':[{'name':'m','startTime':1,'duration':1}]}", "/measures/0",
     "entryType is missing"},
    {"{'marks':[{'name':'a','entryType':['mark'],'startTime':1}]}", "/marks/0/entryType",
     "entryType must be a string"},
    {"{'marks':[{'name':'a','entryType':'Mark','startTime':1}]}", "/marks/0/entryType",
     "entryType must be \"mark\" in marks"},
    {"{'marks':[{'name':'m','entryType':'measure','startMark':'a'}]}", "/marks/0/entryType",
     "entryType must be \"mark\" in marks"},
    {"{'measures':[{'name':'a','entryType':'navigation'}]}", "/measures/0/entryType",
     "entryType must be \"measure\" in measures"},
    {"{'marks':[" MARK("domLoading", "1") "]}", "/marks/0/name",
     "a window's mark cannot be named like an attribute"},
    {"{'thread':'window','entries':[" MARK("navigationStart", "0") "]}", "/entries/0/name",
     "a window's mark cannot be named like an attribute"},
    {"{'marks':{'a':[1],'responseEnd':[]}}", "/marks/responseEnd",
     "a window's mark cannot be named like an attribute"},
    {"{'unloadEventStart':[1]}", "/unloadEventStart",
     "a window's mark cannot be named like an attribute"},
    /* Times. */
    {"[{'name':'a','entryType':'mark'}]", "/0", "startTime is missing"},
    {"[{'name':'a','entryType':'mark','startTime':[1]}]", "/0/startTime",
     "startTime is an array; it must be a number of milliseconds"},
    {"[{'name':'a','entryType':'mark','startTime':1e13}]", "/0/startTime", "10000000000000 ms is"},
    {"[{'name':'a','entryType':'mark','startTime':-1e13}]", "/0/startTime",
     "-10000000000000 ms is out of range"},
    {"[{'name':'a','entryType':'mark','startTime':1,'duration':-1}]", "/0/duration",
     "duration of a mark must be 0"},
    {"[{'name':'a','entryType':'mark','startTime':1,'duration':'0'}]", "/0/duration",
     "duration is a string; it must be a number"},
    {MEASURE_ENTRY("'startTime':1"), "/0", "duration is missing"},
    {MEASURE_ENTRY("'duration':1,'startMark':'a'"), "/0", "startTime is missing"},
    {MEASURE_ENTRY("'startTime':true,'duration':1"), "/0/startTime", "startTime is a boolean"},
    {MEASURE_ENTRY("'startTime':1,'duration':{}"), "/0/duration", "duration is an object"},
    {MEASURE_ENTRY("'startTime':1,'duration':1e300"), "/0/duration", "1e+300 ms is out of range"},
    {"{'marks':{'a':{}}}", "/marks/a", "in a map of names, each name has an array of times"},
    {"{'measures':{'m':5}}", "/measures/m", "in a map of names, each name has an array of times"},
    {"{'marks':{'a':[1,null]}}", "/marks/a/1", "this is null; it must be a number of milliseconds"},
    {"{'measures':{'m':[[1]]}}", "/measures/m/0", "this is an array; it must be a number"},
    {"{'marks':{'':[1e16]}}", "/marks//0", "1e+16 ms is out of range"},
    /* References. */
    {MEASURE("'startMark':1"), "/measures/0/startMark",
     "startMark is a number; it must be a string"},
    {MEASURE("'endMark':['a']"), "/measures/0/endMark", "endMark is an array; it must be a string"},
    {MEASURE("'startMark':'c'"), "/measures/0/startMark", "startMark does not name a mark"},
    {MEASURE("'startMark':'a','endMark':'A'"), "/measures/0/endMark",
     "endMark does not name a mark"},
    {MEASURE("'startMark':'m'"), "/measures/0/startMark", "startMark does not name a mark"},
    {MEASURE("'startMark':'b','endMark':'a'"), "/measures/0", "this measure ends before it starts"},
    {MEASURE("'startMark':'fetchStart'"), "/measures/0/startMark",
     "startMark is an attribute of performance.timing, which neither timing nor a navigation"},
    {"[{'name':'m','entryType':'measure','startMark':'a'}," MARK("a", "1") "]", "/0/startMark",
     "startMark does not name a mark"},
    {"[" NAVIGATION ",{'name':'m','entryType':'measure','endMark':'redirectEnd'}]", "/1/endMark",
     "endMark is an attribute of performance.timing whose value is 0: an InvalidAccessError"},
    {"[{'entryType':'navigation','fetchStart':'1'},{'name':'m','entryType':'measure',"
     "'endMark':'fetchStart'}]",
     "/0/fetchStart", "fetchStart is a string; it must be a number of milliseconds"},
    {"{" TIMING ",'measures':[{'name':'m','endMark':'redirectStart'}]}", "/measures/0/endMark",
     "endMark is an attribute of performance.timing whose value is 0: an InvalidAccessError"},
    {"{" TIMING ",'measures':[{'name':'m','startMark':'loadEventEnd','endMark':'fetchStart'}]}",
     "/measures/0", "this measure ends before it starts"},
    {REFERS_TO("{'fetchStart':5}"), "/measures/0/endMark",
     "endMark is an attribute of performance.timing, whose times count from navigationStart"},
    {REFERS_TO("{'navigationStart':'x','fetchStart':5}"), "/timing/navigationStart",
     "navigationStart is a string; it must be a number of milliseconds"},
    {REFERS_TO("{'navigationStart':1,'fetchStart':false}"), "/timing/fetchStart",
     "fetchStart is a boolean; it must be a number of milliseconds"},
    {REFERS_TO("{'navigationStart':1,'fetchStart':1e300}"), "/timing/fetchStart",
     "1e+300 ms is out of range"},
    {REFERS_TO("{}"), "/measures/0/endMark",
     "endMark is an attribute of performance.timing, which"},
    {REFERS_TO("[]"), "/timing", "timing must be an object"},
    {"{'measures':[{'name':'m'}]}", "/measures/0", "endMark is missing, and nothing in the upload"},
    {"{'measures':[{'name':'m'},{'name':'n'}]}", "/measures/0",
     "endMark is missing, and nothing in the upload"},
    {"{'marks':{'a':[1],'b':[-2]},'measures':[{'name':'m','startMark':'a','endMark':'b'}]}",
     "/measures/0", "this measure ends before it starts, a SyntaxError"},
    {"{'marks':{'a':[-9e12],'b':[9e12]},'measures':[{'name':'m','startMark':'a','endMark':'b'}]}",
     "/measures/0", "this measure is longer than 2^53 microseconds"},
    {"{'marks':{'a':[-9e12],'b':[9e12]},'measures':[{'name':'m','startMark':'a'}]}", "/measures/0",
     "this measure is longer than 2^53 microseconds"},
    {"{'timing':{'navigationStart':-9e12,'fetchStart':9e12},'measures':[{'name':'m'}]}",
     "/measures/0", "this measure is longer than 2^53 microseconds"},
    {"{'marks':{'a':[-1]},'measures':[{'name':'m'}]}", "/measures/0",
     "this measure ends before it starts, a SyntaxError"},
    {"{'timing':{'navigationStart':1,'loadEventEnd':'x'},'measures':[{'name':'m'}]}",
     "/timing/loadEventEnd", "loadEventEnd is a string; it must be a number of milliseconds"},
    {"{'timing':{'loadEventEnd':5},'measures':[{'name':'m'}]}", "/measures/0",
     "endMark is missing, and nothing in the upload"},
    /* The draft of 2011. */
    {"[{'name':'m','entryType':3}]", "/0",
     "this measure has no startMark and starts at fetchStart"},
    {"{'marks':{'a':[" EPOCH
     "]},'timing':{'fetchStart':0},'measures':[{'name':'m','endMark':'a'}]}",
     "/measures/0", "this measure has no startMark and starts at fetchStart"},
    {"{'marks':[{'name':'a','entryType':3,'startTime':1,'duration':1}]}", "/marks/0/entryType",
     "entryType must be \"mark\" in marks"},
    {"[{'name':'a','entryType':-2,'startTime':1}]", "/0/entryType", "entryType must be a string"},
    {"{'thread':'worker'," TIMING ",'measures':[{'name':'m','endMark':'loadEventEnd'}]}",
     "/measures/0/endMark", "endMark does not name a mark before it: a SyntaxError"},
    {"{'thread':'worker'," TIMING ",'measures':[{'name':'m'}]}", "/measures/0",
     "endMark is missing, and nothing in the upload"},
    {"{'marks':{'a':[]},'measures':[{'name':'m','endMark':'a'}]}", "/measures/0/endMark",
     "endMark does not name a mark before it: a SyntaxError"},
    {"{'measures':[{'name':'m','startMark':'','endMark':'a'}]}", "/measures/0/startMark",
     "startMark does not name a mark before it: a SyntaxError"},
    {"{'marks':{'a':[1]},'measures':[{'name':'m','startMark':{},'endMark':'a'}]}",
     "/measures/0/startMark", "startMark is an object; it must be a string"},
    {MEASURE("'start':'a','end':'b'"), "/measures/0/start", "start is an option of"},
    {MEASURE("'startMark':'a','end':2"), "/measures/0/end", "end is an option of"},
};

static void times_since_1970_are_noted(void **state)
{
    (void)state;
    struct decoded decoded;
    decode(&decoded, "{" TIMING ",'marks':{'a':[3," EPOCH "]}}", "");
    assert_int_equal(decoded.verdict, FP_VERDICT_OK);
    assert_int_equal(decoded.profile.epoch_times, 1);
    assert_int_equal(decoded.profile.first_epoch, 1);
    assert_false(decoded.profile.is_since_first_epoch);
    release(&decoded);
    decode(&decoded, "{'a':[" EPOCH "," EPOCH "]}", "");
    assert_int_equal(decoded.profile.epoch_times, 2);
    assert_true(decoded.profile.is_since_first_epoch);
    struct fp_notes notes;
    fp_notes_list(&decoded.profile, &notes);
    assert_string_equal(notes.list[0].text,
                        "a time since 1970, taken as since the earliest of them");
    release(&decoded);
}

static void each_bad_timing_is_refused_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
        const struct bad *bad = &bads[i];
        struct decoded decoded;
        decode(&decoded, bad->body, "");
        const struct fp_upload_error *error = &decoded.error;
        if (decoded.verdict != FP_VERDICT_INVALID || !error->has_pointer ||
            strcmp(error->pointer, bad->pointer) != 0 ||
            strncmp(error->detail, bad->detail, strlen(bad->detail)) != 0)
            fail_msg("%s: verdict %d at %s: %s", bad->body, (int)decoded.verdict, error->pointer,
                     error->detail);
        release(&decoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_measure_has_the_times_that_the_drafts_give_it),
        cmocka_unit_test(marks_that_go_back_in_time_are_counted_and_taken),
        cmocka_unit_test(keeps_allowed_keys_of_the_detail),
        cmocka_unit_test(times_since_1970_are_noted),
        cmocka_unit_test(each_bad_timing_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
