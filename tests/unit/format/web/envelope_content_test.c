/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads that are kept whole: their content has only what was read, and decodes to the same
 * upload.
 */
#include "tests/unit/format/test.h"

#include <stdio.h>

static struct fp_str detail_keys[] = {{"status", 6}, {"k\"ey", 4}};

static void try_kept(struct decoded *decoded, struct fp_str body)
{
    struct fp_format_limits limits = small_limits;
    limits.keep_ppm = 1000000;
    limits.entries = 20;
    limits.detail_keys = (struct fp_str_list){detail_keys, 2};
    decoded->error = (struct fp_upload_error){.offset = -1};
    decoded->verdict = fp_format_decode(body, FP_STR(""), &limits, &decoded->arena,
                                        &decoded->profile, &decoded->error);
}

/* The caller releases. */
static void decode_kept(struct decoded *decoded, struct fp_str body)
{
    try_kept(decoded, body);
    if (decoded->verdict != FP_VERDICT_OK)
        fail_msg("%s: %s: %.*s", decoded->error.pointer, decoded->error.detail, FP_STR_ARG(body));
}

#define EMPTY_TRACE "{'resources':[],'frames':[],'stacks':[],'samples':[]}"
#define KEPT_TRACE ",'trace':" EMPTY_TRACE

static const struct {
    const char *title;
    const char *body; /* ' stands for " */
    const char *kept;
} cases[] = {
    {"a bare trace; neither what it does not name nor null",
     "{'secret':1,'resources':['a',''],'frames':[{'name':'f','resourceId':0,'source':'secret',"
     "'line':null,'column':2}],'stacks':[{'frameId':0,'parentId':null},{'parentId':0,'frameId':0,"
     "'x':{}}],'samples':[{'timestamp':1.5,'stackId':1,'marker':'gc'},{'timestamp':2,'note':[3]}]}",
     "{'resources':['a',''],'frames':[{'name':'f','resourceId':0,'column':2}],"
     "'stacks':[{'frameId':0},{'frameId':0,'parentId':0}],"
     "'samples':[{'timestamp':1.5,'stackId':1,'marker':'gc'},{'timestamp':2}]}"},
    {"neither id nor token, nor unknown members of what is known",
     "{'id':'123e4567-e89b-42d3-a456-426614174000','token':'secret','version':1,'part':2,"
     "'agent':{'name':'a','version':'1','x':'secret'},'page':{'url':'u','route':'r','title':"
     "'secret'},'timing':{'navigationStart':5,'name':'secret','fetchStart':'secret',"
     "'loadEventEnd':7}" KEPT_TRACE ",'secret':['x']}",
     "{'version':1,'part':2,'agent':{'name':'a','version':'1'},'page':{'url':'u','route':'r'},"
     "'timing':{'navigationStart':5,'loadEventEnd':7}" KEPT_TRACE "}"},
    {"of equal keys the last",
     "{'release':'secret','release':'r','trace':'secret','trace':" EMPTY_TRACE
     ",'marks':[{'name':'secret','entryType':'mark','startTime':1,'name':'a'}]}",
     "{'release':'r','trace':" EMPTY_TRACE
     ",'marks':[{'name':'a','entryType':'mark','startTime':1}]}"},
    {"of a detail what is allowed",
     "{'trace':" EMPTY_TRACE ",'marks':[{'name':'a','entryType':'mark','startTime':1,'detail':"
     "{'user':'secret','status':200,'k\\\"ey':'v','deep':{'status':1}}},{'name':'b','entryType':"
     "'mark','startTime':1,'detail':{'status':['secret']}},{'name':'c','entryType':'mark',"
     "'startTime':1,'detail':'secret'}],'measures':[{'name':'m','endMark':'a','detail':"
     "{'status':null}}]}",
     "{'trace':" EMPTY_TRACE ",'marks':[{'name':'a','entryType':'mark','startTime':1,'detail':"
     "{'status':200,'k\\\"ey':'v'}},{'name':'b','entryType':'mark','startTime':1,'detail':{}},"
     "{'name':'c','entryType':'mark','startTime':1}],'measures':[{'name':'m','endMark':'a',"
     "'detail':{}}]}"},
    {"of other entries that they were there, and what measures refer to",
     "{'trace':" EMPTY_TRACE ",'entries':[{'name':'https://cdn.example/secret',"
     "'entryType':'resource','fetchStart':1},{'name':'https://"
     "secret','entryType':'navigation','fetchStart':1,'type':"
     "'secret'},{'name':'m','entryType':'measure','endMark':'fetchStart'}]}",
     "{'trace':" EMPTY_TRACE ",'entries':[{'name':'cdn.example','entryType':'resource'},"
     "{'entryType':'navigation','fetchStart':1},{'name':'m','entryType':'measure','endMark':'"
     "fetchStart'}]}"},
    {"when a page that was rendered in advance was shown",
     "{'trace':" EMPTY_TRACE ",'entries':[{'entryType':'largest-contentful-paint','startTime':9,"
     "'url':'secret'},{'entryType':'navigation','type':'secret','activationStart':5,"
     "'responseStart':2}]}",
     "{'trace':" EMPTY_TRACE ",'entries':[{'entryType':'largest-contentful-paint','startTime':9},"
     "{'entryType':'navigation','activationStart':5,'responseStart':2}]}"},
    {"maps, of equal names all times",
     "{'trace':" EMPTY_TRACE ",'marks':{'a\\u00fc/':[1,2.5],'b':['secret'],'b':[3]},"
     "'measures':{'m':[]}}",
     "{'trace':" EMPTY_TRACE ",'marks':{'a\xc3\xbc/':[1,2.5],'b':[],'b':[3]},'measures':{'m':[]}}"},
    {"maps, of names with null that they are not there",
     "{'trace':" EMPTY_TRACE ",'marks':{'b':[2],'a':[1],'b':null},'measures':{'m':null}}",
     "{'trace':" EMPTY_TRACE ",'marks':{'b':[2],'a':[1],'b':null},'measures':{'m':null}}"},
    {"what was observed, with templated selectors and hosts",
     "{'trace':" EMPTY_TRACE ",'start':1,'vitals':[{'name':'LCP','value':2,'rating':'secret',"
     "'target':'#secret7','url':'https://a/b.png'}],'interactions':[{'type':'key','start':1,"
     "'processingStart':1,'processingEnd':1,'duration':1,'target':'secret text','x':'secret'}],"
     "'responses':[{'type':'key','start':1,'duration':9,'target':'#secret7','text':'secret',"
     "'requests':[{'host':'https://a.example/secret?b','start':1,'duration':2,'path':'secret'}]}],"
     "'frames':[{'start':1,'duration':9,'scripts':[{'invoker':'A#b1.onclick','start':1,'duration':"
     "2,'position':7,'invokerType':'secret'},{'invoker':'https://a/b.js','start':1,'duration':2}]}"
     "]}",
     "{'start':1,'trace':" EMPTY_TRACE
     ",'vitals':[{'name':'LCP','value':2,'target':'#secret*','url':'https://a/b.png'}],"
     "'interactions':[{'type':'key','start':1,'processingStart':1,'processingEnd':1,'duration':1,"
     "'target':'* text'}],'responses':[{'type':'key','start':1,'duration':9,'target':'#secret*',"
     "'requests':[{'host':'a.example','start':1,'duration':2}]}],"
     "'frames':[{'start':1,'duration':9,'scripts':[{'invoker':'A#b*.onclick',"
     "'start':1,'duration':2},{'invoker':'https://a/b.js','start':1,'duration':2}]}]}"},
    {"the server's share of a TTFB",
     "{'trace':" EMPTY_TRACE ",'vitals':[{'name':'TTFB','value':2,'server':1,'cache':'HIT'}]}",
     "{'trace':" EMPTY_TRACE ",'vitals':[{'name':'TTFB','value':2,'server':1,'cache':'HIT'}]}"},
    {"resources",
     "{'trace':" EMPTY_TRACE ",'resources':[{'host':'https://u:secret@a/secret','duration':1,"
     "'kind':'img','opaque':1},{'host':'b','opaque':true,'name':'secret'}]}",
     "{'trace':" EMPTY_TRACE ",'resources':[{'host':'a','kind':'img','duration':1,'opaque':1},"
     "{'host':'b','opaque':true}]}"},
    {"entries of observers",
     "{'trace':" EMPTY_TRACE ",'entries':[{'entryType':'event','name':'click','startTime':1,"
     "'processingStart':1,'processingEnd':1,'duration':8,'interactionId':7,'target':'#a1'},"
     "{'entryType':'long-animation-frame','startTime':1,'duration':60,'scripts':[{'startTime':1,"
     "'duration':2,'sourceURL':'u','windowAttribution':'secret'}]},"
     "{'entryType':'layout-shift','startTime':1,'value':0.1,'sources':['secret']}]}",
     "{'trace':" EMPTY_TRACE ",'entries':[{'name':'click','entryType':'event','startTime':1,"
     "'duration':8,'processingStart':1,'processingEnd':1,'interactionId':7,'target':'#a*'},"
     "{'entryType':'long-animation-frame','startTime':1,'duration':60,'scripts':[{'sourceURL':'u',"
     "'startTime':1,'duration':2}]},"
     "{'entryType':'layout-shift','startTime':1,'value':0.1}]}"},
    {"no upload without a trace: marks", "{'marks':{'a':[1]}}", ""},
    {"no upload without a trace: coverage", "{'coverage':'quota','page':{'url':'u'}}", ""},
    {"no upload without a trace: entries",
     "[{'name':'a','entryType':'mark','startTime':1,'detail':{'status':1}}]", ""},
};

static void keeps_the_members_that_it_reads_and_no_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        decode_kept(&decoded, json_of(&decoded.arena, cases[i].body));
        struct fp_str expected = json_of(&decoded.arena, cases[i].kept);
        struct fp_str kept = decoded.profile.session.content;
        assert_int_equal(decoded.profile.has_session, expected.len > 0);
        if (!fp_str_equal(kept, expected))
            fail_msg("%s: %.*s", cases[i].title, FP_STR_ARG(kept));
        release(&decoded);
    }
}

/* Every member that is read, in the order in which it is kept. */
static const char *const whole[] = {
    "{'version':1,'load':'123e4567-e89b-42d3-a456-426614174001','part':0,'agent':{'name':'a',"
    "'version':'1'},'truncated':true,'leftOut':[{'what':'mark','name':'n','count':3}],'varian"
    "t':'v','page':{'url':'https://a/','route':'r'},'release':'1','environment':'e','thread':"
    "'window','frame':'same-origin','sampleInterval':10,'requestedInterval':9,'maxBufferSize'"
    ":500,'timeOrigin':1700000000000,'start':1,'duration':5000,'timing':{'navigationStart':10"
    "00,'unloadEventStart':1001,'unloadEventEnd':1002,'redirectStart':1003,'redirectEnd':1004"
    ",'fetchStart':1005,'domainLookupStart':1006,'domainLookupEnd':1007,'connectStart':1008,'"
    "connectEnd':1009,'secureConnectionStart':1010,'requestStart':1011,'responseStart':1012,'"
    "responseEnd':1013,'domLoading':1014,'domInteractive':1015,'domContentLoadedEventStart':1"
    "016,'domContentLoadedEventEnd':1017,'domComplete':1018,'loadEventStart':1019,'loadEventE"
    "nd':1020},'trace':{'resources':['a'],'frames':[{'name':'f','resourceId':0,'line':1,'colu"
    "mn':2}],'stacks':[{'frameId':0},{'frameId':0,'parentId':0}],'samples':[{'timestamp':1.5,"
    "'stackId':1,'marker':'gc'}]},'marks':[{'name':'n','entryType':'mark','startTime':1,'dura"
    "tion':0,'detail':{'status':1}}],'measures':[{'name':'m','entryType':'measure','startTime"
    "':1,'duration':2},{'name':'o','startMark':'n','endMark':'n'}],'vitals':[{'name':'LCP','v"
    "alue':2,'navigationType':'navigate','start':1,'duration':3,'target':'#a','url':'https://a/"
    "b.png','id':'v1','entr"
    "ies':[{'startTime':4}],'attribution':{'interactionTime':5,'target':'#a','interactionTarget':'#"
    "b','largestShiftTarget':'#c','url':'https://a/"
    "c.png','timeToFirstByte':1,'resourceLoadDelay':0,'resourceLoadDuration':1,'inputDelay':1,'"
    "processingDuration':2,'waitingDuration':3,'cacheDuration':4,'dnsDuration':5,'"
    "connectionDuration':6}}],'interactions':[{'type':'ke"
    "y','start':1,'processingStart':1,'processingEnd':1,'duration':1,'target':'b'}],'responses':"
    "[{'type':'key','start':1,'duration':9,'target':'b','requests':[{'host':'a','start':1,"
    "'duration':2}]}],'frames':"
    "[{'start':1,'duration':90,'blocking':40,'style':5,'layout':6,'renderStart':50,'"
    "styleAndLayoutStart':60,'scrip"
    "ts':[{'invoker':'A.onclick','url':'https://a/b.js','function':'g','start':2,'duration':2"
    "0,'forced':3,'forcedStyle':1,'forcedLayout':2}]}],'resources':[{'host':'c','kind':'img','"
    "count':3,'duration':[1,2],'bytes"
    "':7,'opaque':1}]}",
    "{'coverage':'quota','trace':{'resources':[],'frames':[],'stacks':[],'samples':[]},'entri"
    "es':[{'entryType':'navigation','activationStart':5,'navigationStart':1000,'unloadEventSt"
    "art':1001,'unloadEventEnd':1002,'redirectStart':1003,'redirectEnd':1004,'fetchStart':100"
    "5,'domainLookupStart':1006,'domainLookupEnd':1007,'connectStart':1008,'connectEnd':1009,"
    "'secureConnectionStart':1010,'requestStart':1011,'responseStart':1012,'responseEnd':1013"
    ",'domLoading':1014,'domInteractive':1015,'domContentLoadedEventStart':1016,'domContentLo"
    "adedEventEnd':1017,'domComplete':1018,'loadEventStart':1019,'loadEventEnd':1020},{'name'"
    ":'n','entryType':'mark','startTime':1,'duration':0,'detail':{'status':1}},{'name':'click"
    "','entryType':'event','startTime':1,'duration':8,'processingStart':2,'processingEnd':3,'"
    "interactionId':7,'target':'#a'},{'name':'click','entryType':'first-input','startTime':1,"
    "'duration':8,'processingStart':2,'processingEnd':3,'interactionId':7,'target':'#a'},{'en"
    "tryType':'long-animation-frame','startTime':1,'duration':60,'blockingDuration':10,'"
    "styleDuration':5,'layoutDuration':6,'rende"
    "rStart':30,'styleAndLayoutStart':40,'scripts':[{'invoker':'A.onclick','sourceURL':'https"
    "://a/b.js','sourceFunctionName':'g','startTime':2,'duration':20,'forcedStyleAndLayoutDur"
    "ation':3,'forcedStyleDuration':1,'forcedLayoutDuration':2}]},{'entryType':'longtask','"
    "startTime':100,'duration':60},{'entryType':'largest"
    "-contentful-paint','startTime':9},{'entryType':'layout-shift','startTime':1,'value':0.1,"
    "'hadRecentInput':true},{'name':'first-contentful-paint','entryType':'paint','startTime':"
    "8},{'name':'c','entryType':'resource','startTime':1,'duration':5,'initiatorType':'img','"
    "transferSize':7,'requestStart':2,'responseStart':3}]}",
};

static void every_member_that_is_read_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(whole); i++) {
        struct decoded decoded;
        fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
        struct fp_str body = json_of(&decoded.arena, whole[i]);
        decode_kept(&decoded, body);
        const struct fp_str kept = decoded.profile.session.content;
        if (!fp_str_equal(kept, body))
            fail_msg("%.*s", FP_STR_ARG(kept));
        release(&decoded);
    }
}

static void assert_same_profile(const struct fp_profile *before, const struct fp_profile *after)
{
    assert_int_equal(after->sample_count, before->sample_count);
    assert_int_equal(after->stack_count, before->stack_count);
    assert_int_equal(after->frame_count, before->frame_count);
    assert_int_equal(after->timing_count, before->timing_count);
    assert_int_equal(after->skipped_entries, before->skipped_entries);
    assert_int_equal(after->unordered_entries, before->unordered_entries);
    assert_int_equal(after->vital_count, before->vital_count);
    assert_int_equal(after->interaction_count, before->interaction_count);
    assert_int_equal(after->result_count, before->result_count);
    assert_int_equal(after->request_count, before->request_count);
    assert_int_equal(after->script_count, before->script_count);
    assert_int_equal(after->shown_us, before->shown_us);
    for (uint32_t i = 0; i < before->vital_count; i++)
        assert_int_equal(after->vitals[i].value_us, before->vitals[i].value_us);
    assert_int_equal(after->response_duration_count, before->response_duration_count);
    for (uint32_t i = 0; i < before->timing_count; i++) {
        const struct fp_profile_timing *timing = &after->timings[i];
        assert_true(fp_str_equal(timing->name, before->timings[i].name));
        assert_true(fp_str_equal(timing->detail, before->timings[i].detail));
        assert_int_equal(timing->value_us, before->timings[i].value_us);
        assert_int_equal(timing->has_start, before->timings[i].has_start);
        assert_int_equal(timing->start_us, before->timings[i].start_us);
    }
}

static void decodes_the_kept_content_to_the_same_upload(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded first;
        struct decoded again;
        fp_arena_init(&first.arena, TEST_ARENA_MAX);
        fp_arena_init(&again.arena, TEST_ARENA_MAX);
        decode_kept(&first, json_of(&first.arena, cases[i].body));
        struct fp_str kept = first.profile.session.content;
        if (kept.len > 0) {
            decode_kept(&again, kept);
            assert_same_profile(&first.profile, &again.profile);
            assert_true(fp_str_equal(again.profile.session.content, kept));
        }
        release(&again);
        release(&first);
    }
}

/* True if the trace with this id is kept; number 0: it has no id. */
static bool is_drawn(uint32_t ppm, unsigned number)
{
    char text[256];
    struct decoded decoded;
    struct fp_format_limits limits = small_limits;
    limits.keep_ppm = ppm;
    snprintf(text, sizeof(text), "{'id':'123e4567-e89b-42d3-a456-%012x','trace':" EMPTY_TRACE "}",
             number);
    fp_arena_init(&decoded.arena, TEST_ARENA_MAX);
    const char *body = number > 0 ? text : "{'trace':" EMPTY_TRACE "}";
    assert_int_equal(fp_format_decode(json_of(&decoded.arena, body), FP_STR(""), &limits,
                                      &decoded.arena, &decoded.profile, &decoded.error),
                     FP_VERDICT_OK);
    bool drawn = decoded.profile.has_session;
    release(&decoded);
    return drawn;
}

static void a_share_is_kept_and_always_the_same_one(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    unsigned kept = 0;
    unsigned kept_by_chance = 0;
    for (unsigned number = 1; number <= COUNT; number++) {
        bool drawn = is_drawn(100000, number);
        kept += drawn;
        kept_by_chance += is_drawn(100000, 0);
        assert_int_equal(is_drawn(100000, number), drawn);
        if (drawn)
            assert_true(is_drawn(100001, number)); /* and more when the share grows */
        assert_false(is_drawn(0, number));
        assert_true(is_drawn(1000000, number));
    }
    /* Six standard deviations of 19. */
    assert_in_range(kept, COUNT / 10 - 114, COUNT / 10 + 114);
    assert_in_range(kept_by_chance, COUNT / 10 - 114, COUNT / 10 + 114);
}

static void memory_that_ends_anywhere_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decoded decoded;
        struct fp_arena texts;
        uint32_t failures = 0;
        fp_arena_init(&texts, TEST_ARENA_MAX);
        struct fp_str body = json_of(&texts, cases[i].body);
        decoded.verdict = FP_VERDICT_MEMORY;
        for (size_t max_bytes = 0; decoded.verdict != FP_VERDICT_OK; max_bytes += 16) {
            fp_arena_init(&decoded.arena, max_bytes);
            try_kept(&decoded, body);
            failures += decoded.verdict == FP_VERDICT_MEMORY;
            assert_true(decoded.verdict == FP_VERDICT_OK || decoded.verdict == FP_VERDICT_MEMORY);
            release(&decoded);
        }
        assert_true(failures > 0);
        fp_arena_release(&texts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_members_that_it_reads_and_no_others),
        cmocka_unit_test(every_member_that_is_read_is_kept),
        cmocka_unit_test(decodes_the_kept_content_to_the_same_upload),
        cmocka_unit_test(a_share_is_kept_and_always_the_same_one),
        cmocka_unit_test(memory_that_ends_anywhere_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
