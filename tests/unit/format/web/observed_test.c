/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observed: vitals, interactions, long animation frames and resources, as members of an envelope
 * and as entries.
 */
#include "../bad_upload_test.h"

#include "collector/format/web/observed_entries.c"

#include <stdio.h>

static const struct fp_profile *decode_good(struct decoded *decoded, const char *text)
{
    decode(decoded, text, "");
    if (decoded->verdict != FP_VERDICT_OK)
        fail_msg("%s: %s: %s", text, decoded->error.pointer, decoded->error.detail);
    return &decoded->profile;
}

static void an_interaction_is_known_by_its_first_type_of_these(void **state)
{
    (void)state;
    static const char *const names[] = {"keydown", "keyup", "click", "pointerup", "pointerdown"};
    for (size_t i = 0; i < FP_COUNT(names); i++)
        assert_int_equal(rank_type(fp_str_of(names[i])), i);
    assert_int_equal(rank_type(FP_STR("mousedown")), FP_COUNT(names));
}

static void vitals_have_their_values_and_windows(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile =
        decode_good(&decoded, "{'vitals':[{'name':'LCP','value':2500.0004,'rating':'good'},"
                              "{'name':'CLS','value':0.123},{'name':'TTFB','value':800,"
                              "'navigationType':'back-forward-cache'},"
                              "{'name':'INP','value':40,'start':5,'duration':48,'target':'#a'}]}");
    assert_int_equal(profile->format, FP_UPLOAD_USER_TIMING);
    assert_int_equal(profile->vital_count, 4);
    const struct fp_profile_vital *vitals = profile->vitals;
    assert_int_equal(vitals[0].vital, FP_VITAL_LCP);
    assert_int_equal(vitals[0].value_us, 2500000);
    assert_true(vitals[0].navigation == FP_NAVIGATION_UNKNOWN && !vitals[0].has_window);
    assert_int_equal(vitals[1].value_us, 123000);
    assert_int_equal(vitals[2].navigation, FP_NAVIGATION_BACK_FORWARD_CACHE);
    assert_true(vitals[3].has_window);
    assert_int_equal(vitals[3].start_us, 5000);
    assert_int_equal(vitals[3].duration_us, 48000);
    release(&decoded);
}

/* As web-vitals 5 reports it, with its attribution build and without. */
static void takes_metrics_as_they_are(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded,
        "{'vitals':[{'name':'INP','value':104,'rating':'good','delta':104,'entries':[{'name':"
        "'click','entryType':'event','startTime':900,'duration':104}],'id':'v5-1','navigationType':"
        "'navigate','attribution':{'interactionTarget':'#a','interactionTime':899.5}},"
        "{'name':'INP','value':208,'delta':104,'entries':[{'startTime':2000}],'id':'v5-1'},"
        "{'name':'INP','value':64,'id':'v5-2','entries':[]},"
        "{'name':'LCP','value':64,'id':'v5-1','entries':[{'startTime':64}]}]}");
    assert_int_equal(profile->vital_count, 3);
    assert_int_equal(profile->vitals[0].value_us, 208000);
    assert_int_equal(profile->vitals[0].start_us, 2000000);
    assert_int_equal(profile->vitals[0].duration_us, 208000);
    assert_false(profile->vitals[1].has_window);
    assert_int_equal(profile->vitals[2].vital, FP_VITAL_LCP);
    release(&decoded);
    profile = decode_good(&decoded, "{'vitals':[{'name':'INP','value':104,'attribution':"
                                    "{'interactionTime':899.5},'entries':[{'startTime':900}]}]}");
    assert_int_equal(profile->vitals[0].start_us, 899500);
    release(&decoded);
}

/* The element of a value and its parts, as the agent sends them and as web-vitals has them. */
static void reads_what_a_vital_is_of_and_what_it_consists_of(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded,
        "{'vitals':[{'name':'LCP','value':2500,'target':'#hero','url':'https://a/h.webp',"
        "'attribution':{'target':'#other','url':'https://a/o','timeToFirstByte':400,"
        "'resourceLoadDelay':300.5,'resourceLoadDuration':1000,'elementRenderDelay':7}},"
        "{'name':'INP','value':200,'attribution':{'interactionTarget':'#buy','inputDelay':150,"
        "'processingDuration':80,'presentationDelay':1}},"
        "{'name':'CLS','value':0.2,'attribution':{'largestShiftTarget':'#ad'}},"
        "{'name':'TTFB','value':90,'attribution':{'waitingDuration':10,'dnsDuration':5}},"
        "{'name':'LCP','value':10}]}");
    const struct fp_profile_vital *vitals = profile->vitals;
    assert_true(fp_str_equal(vitals[0].target, FP_STR("#hero")));
    assert_true(fp_str_equal(vitals[0].url, FP_STR("https://a/h.webp")));
    assert_int_equal(vitals[0].parts.known, 3);
    assert_int_equal(vitals[0].parts.us[1], 300500);
    assert_int_equal(fp_vital_part_us(FP_VITAL_LCP, 3, &vitals[0].parts, vitals[0].value_us),
                     799500);
    assert_true(fp_str_equal(vitals[1].target, FP_STR("#buy")));
    assert_int_equal(vitals[1].parts.us[1], 50000); /* what is left of the value */
    assert_int_equal(fp_vital_part_us(FP_VITAL_INP, 2, &vitals[1].parts, vitals[1].value_us), 0);
    assert_true(fp_str_equal(vitals[2].target, FP_STR("#ad")));
    assert_int_equal(vitals[2].parts.known, 0);
    assert_int_equal(vitals[3].parts.known, 0);
    assert_int_equal(vitals[4].parts.known + (int64_t)vitals[4].target.len, 0);
    release(&decoded);
}

static void reads_interactions_frames_and_resources(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded, "{'version':1,'interactions':[{'type':'pointer','start':10,'processingStart':12,"
                  "'processingEnd':30,'duration':24,'target':'#buy'}],"
                  "'frames':[{'start':100,'duration':90.5,'blocking':40,'style':3,'layout':4.5,'"
                  "renderStart':180,"
                  "'styleAndLayoutStart':0,'scripts':[{'invoker':'#buy.onclick','invokerType':"
                  "'event-listener','url':'https://a.example/a.js','function':'f','position':7,"
                  "'start':100,'duration':80,'forced':5,'forcedStyle':2,'forcedLayout':0},{'start':"
                  "181,'duration':1}]}]}");
    assert_int_equal(profile->interactions[0].delay_us, 2000);
    assert_int_equal(profile->interactions[0].processing_us, 18000);
    assert_int_equal(profile->interactions[0].duration_us, 24000);
    assert_text(profile->interactions[0].target, "#buy");
    assert_int_equal(profile->long_frames[0].duration_us, 90500);
    assert_int_equal(profile->long_frames[0].script_count, 2);
    assert_text(profile->scripts[0].invoker, "#buy.onclick");
    assert_int_equal(profile->long_frames[0].style_us, 3000);
    assert_int_equal(profile->long_frames[0].layout_us, 4500);
    assert_int_equal(profile->scripts[0].forced_us, 5000);
    assert_int_equal(profile->scripts[0].forced_style_us, 2000);
    assert_int_equal(profile->scripts[0].forced_layout_us, 0);
    assert_int_equal(profile->scripts[1].duration_us, 1000);
    assert_int_equal(profile->scripts[1].forced_us, 0);
    assert_int_equal(profile->scripts[1].forced_style_us, FP_DURATION_NONE);
    assert_int_equal(profile->scripts[1].forced_layout_us, FP_DURATION_NONE);
    release(&decoded);
    profile = decode_good(&decoded, "{'version':1,'resources':[{'host':'a.example','kind':'script',"
                                    "'duration':[1,2.5],'bytes':9,'opaque':1,"
                                    "'count':3},{'host':'b','opaque':true,'duration':4}]}");
    assert_int_equal(profile->responses[0].duration_count, 2);
    assert_int_equal(profile->responses[0].opaque, 1);
    assert_int_equal(profile->responses[0].bytes, 9);
    assert_int_equal(profile->response_durations_us[1], 2500);
    assert_int_equal(profile->responses[1].duration_count, 0);
    assert_int_equal(profile->responses[1].opaque, 1);
    release(&decoded);
}

static void reads_what_interactions_showed(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded, "{'version':1,'responses':[{'type':'pointer','start':10,"
                  "'duration':705.5,'target':'#search','requests':[{'host':'a','start':1,"
                  "'duration':2.5},{'host':'b','start':3,'duration':0}]},{'type':"
                  "'keyboard','start':0,'duration':0,'later':1},{'type':'keyboard',"
                  "'start':0,'duration':0,'requests':[{'host':'c','start':4,"
                  "'duration':1}]}]}");
    assert_int_equal(profile->format, FP_UPLOAD_USER_TIMING);
    assert_int_equal(profile->result_count, 3);
    assert_text(profile->results[0].type, "pointer");
    assert_text(profile->results[0].target, "#search");
    assert_int_equal(profile->results[0].start_us, 10000);
    assert_int_equal(profile->results[0].duration_us, 705500);
    assert_int_equal(profile->results[1].target.len, 0);
    assert_int_equal(profile->request_count, 3);
    assert_int_equal(profile->results[0].request_count, 2);
    assert_int_equal(profile->results[1].request_count, 0);
    assert_int_equal(profile->results[2].first_request, 2);
    assert_int_equal(profile->results[2].request_count, 1);
    assert_text(profile->requests[0].host, "a");
    assert_int_equal(profile->requests[0].start_us, 1000);
    assert_int_equal(profile->requests[0].duration_us, 2500);
    release(&decoded);
}

static void views_are_uploads_of_their_own_with_the_rest_of_the_envelope(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded,
        "{'id':'123e4567-e89b-42d3-a456-426614174000','load':'223e4567-e89b-42d3-a456-426614174000'"
        ","
        "'part':3,'start':5,'variant':'b','machine':'low','release':'1','page':{'route':'/a'},"
        "'vitals':[{'name':'LCP','value':1}],'views':[{'page':{'route':'/b'},'release':'2',"
        "'vitals':[{'name':'CLS','value':0},{'name':'INP','value':8}]},{'page':{'url':'http://s/"
        "c'},"
        "'interactions':[{'type':'pointer','start':9,'processingStart':10,'processingEnd':20,"
        "'duration':40}]}]}");
    const struct fp_profile *second = profile->next;
    const struct fp_profile *third = second->next;
    assert_null(third->next);
    assert_true(!profile->is_view && second->is_view && third->is_view);
    assert_int_equal(profile->vital_count, 1);
    assert_int_equal(second->vital_count, 2);
    assert_int_equal(third->interaction_count, 1);
    assert_true(fp_str_equal(second->page_route, FP_STR("/b")));
    assert_true(fp_str_equal(second->release, FP_STR("2")));
    assert_true(fp_str_equal(third->page_url, FP_STR("http://s/c")));
    assert_true(!third->has_page_route);
    assert_true(fp_str_equal(third->release, FP_STR("")));
    for (const struct fp_profile *view = second; view != NULL; view = view->next) {
        assert_true(view->has_id && view->has_load && view->has_start);
        assert_true(memcmp(&view->id, &profile->id, sizeof(view->id)) != 0);
        assert_true(memcmp(&view->load, &profile->load, sizeof(view->load)) == 0);
        assert_int_equal(view->part, 3);
        assert_int_equal(view->start_us, 5000);
        assert_true(memcmp(&view->said, &profile->said, sizeof(view->said)) == 0);
        assert_true(fp_str_equal(view->said.variant, FP_STR("b")));
        assert_true(fp_str_equal(view->said.machine, FP_STR("low")));
        assert_int_equal(view->format, FP_UPLOAD_USER_TIMING);
    }
    assert_true(memcmp(&second->id, &third->id, sizeof(second->id)) != 0);
    release(&decoded);
}

static void an_envelope_has_a_limit_of_views(void **state)
{
    (void)state;
    struct fp_buf text;
    fp_buf_init(&text, 1 << 20);
    fp_buf_addf(&text, "{'vitals':[{'name':'LCP','value':1}],'views':[");
    for (int i = 0; i < 64; i++)
        fp_buf_addf(&text, "%s{'page':{},'vitals':[{'name':'LCP','value':1}]}", i > 0 ? "," : "");
    fp_buf_addf(&text, "]}");
    struct decoded decoded;
    fp_buf_add(&text, "", 1);
    decode(&decoded, (const char *)text.data, "");
    assert_int_equal(decoded.verdict, FP_VERDICT_TOO_LARGE);
    assert_string_equal(decoded.error.detail, "an envelope can have at most 63 views");
    release(&decoded);
    fp_buf_release(&text);
}

static void a_bare_trace_stays_one(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile =
        decode_good(&decoded, TRACE("[]", "[{'name':'f'}]", "[]", "[]"));
    assert_true(profile->has_trace);
    assert_int_equal(profile->long_frame_count, 0);
    release(&decoded);
    profile =
        decode_good(&decoded, "{'trace':" TRACE("[]", "[]", "[]",
                                                "[]") ",'frames':[{'start':1,'duration':2}],"
                                                      "'resources':[],'start':5,'duration':10}");
    assert_true(profile->has_trace && profile->has_start);
    assert_int_equal(profile->long_frame_count, 1);
    assert_int_equal(profile->start_us, 5000);
    assert_int_equal(profile->duration_us, 10000);
    release(&decoded);
}

static void takes_interactions_from_entries_once(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded,
        "[{'entryType':'event','name':'pointerdown','startTime':1,'processingStart':2,"
        "'processingEnd':3,'duration':16,'interactionId':7},"
        "{'entryType':'event','name':'click','startTime':1,'processingStart':2,'processingEnd':9,"
        "'duration':24,'interactionId':7},"
        "{'entryType':'event','name':'mouseover','startTime':1,'processingStart':2,'processingEnd':"
        "3,'duration':16,'interactionId':0},"
        "{'entryType':'first-input','name':'keydown','startTime':50,'processingStart':51,"
        "'processingEnd':52,'duration':8}]");
    assert_int_equal(profile->interaction_count, 2);
    assert_text(profile->interactions[0].type, "click");
    assert_int_equal(profile->interactions[0].duration_us, 24000);
    assert_text(profile->interactions[1].type, "keydown");
    assert_int_equal(profile->skipped_entries, 1);
    release(&decoded);
}

#define EVENT_ENTRY(name, start, from, to, duration, more)                                         \
    "{'entryType':'event','name':'" name "','startTime':" start ",'processingStart':" from         \
    ",'processingEnd':" to ",'duration':" duration ",'interactionId':7" more "}"
#define POINTERDOWN EVENT_ENTRY("pointerdown", "1000", "1002", "1002.1", "168", ",'target':'#buy'")
#define POINTERUP EVENT_ENTRY("pointerup", "1000.8", "1002.5", "1002.6", "168", "")
#define CLICK EVENT_ENTRY("click", "1000.8", "1003.2", "1153.4", "168", "")

/* A click on a phone: all three have the same frame, and nearly all of the time is in the last. */
static void events_of_one_frame_are_one_interaction(void **state)
{
    (void)state;
    static const char *const orders[] = {"[" POINTERDOWN "," POINTERUP "," CLICK "]",
                                         "[" CLICK "," POINTERDOWN "," POINTERUP "]",
                                         "[" POINTERUP "," CLICK "," POINTERDOWN "]"};
    for (size_t i = 0; i < FP_COUNT(orders); i++) {
        struct decoded decoded;
        const struct fp_profile *profile = decode_good(&decoded, orders[i]);
        const struct fp_profile_interaction *interaction = profile->interactions;
        assert_int_equal(profile->interaction_count, 1);
        assert_text(interaction->type, "click");
        assert_text(interaction->target, "#buy");
        assert_int_equal(interaction->start_us, 1000000);
        assert_int_equal(interaction->duration_us, 168800);
        assert_int_equal(interaction->longest_us, 168000);
        assert_int_equal(interaction->delay_us, 2000);
        assert_int_equal(interaction->processing_us, 151400);
        release(&decoded);
    }
}

/* As Chromium reports Enter on a button, and a click whose pointerdown was presented before. */
static void the_longest_frame_is_the_interaction(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded, "[" EVENT_ENTRY("click", "10", "12", "150", "152", "") "," EVENT_ENTRY(
                      "keypress", "10", "11", "150", "152",
                      "") "," EVENT_ENTRY("keydown", "10", "10.5", "10.6", "152", "") "]");
    assert_int_equal(profile->interaction_count, 1);
    assert_text(profile->interactions[0].type, "keydown");
    assert_int_equal(profile->interactions[0].delay_us, 500);
    release(&decoded);
    profile = decode_good(
        &decoded,
        "[" EVENT_ENTRY("pointerdown", "900", "901", "902", "64", ",'target':'#a'") "," EVENT_ENTRY(
            "pointerup", "1000", "1001", "1002", "160", "") "," EVENT_ENTRY("click", "1000", "1003",
                                                                            "1100", "160", "") "]");
    assert_int_equal(profile->interaction_count, 1);
    assert_text(profile->interactions[0].type, "click");
    assert_text(profile->interactions[0].target, "#a");
    assert_int_equal(profile->interactions[0].start_us, 1000000);
    assert_int_equal(profile->interactions[0].duration_us, 160000);
    assert_int_equal(profile->interactions[0].delay_us, 1000);
    assert_int_equal(profile->interactions[0].processing_us, 99000);
    release(&decoded);
    /* Ends that are 8 ms apart are of one frame, those that are further apart are not. */
    profile = decode_good(&decoded,
                          "[" EVENT_ENTRY("pointerup", "0", "1", "2", "160", "") "," EVENT_ENTRY(
                              "click", "0", "3", "9", "168", "") "]");
    assert_int_equal(profile->interactions[0].processing_us, 8000);
    release(&decoded);
    profile = decode_good(&decoded,
                          "[" EVENT_ENTRY("pointerup", "0", "1", "2", "160", "") "," EVENT_ENTRY(
                              "click", "0.1", "3", "9", "168", "") "]");
    assert_int_equal(profile->interactions[0].processing_us, 6000);
    release(&decoded);
}

/* As Chromium reports a handler that calls alert(): the frame is presented before it ends. */
static void processing_is_clipped_to_its_event(void **state)
{
    (void)state;
    static const struct {
        const char *start, *end;
        int64_t delay_us, processing_us;
    } cases[] = {
        {"101", "5101", 1000, 23000}, {"99", "110", 0, 10000}, {"130", "140", 24000, 0},
        {"110", "105", 10000, 0},     {"110", "0", 10000, 0},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct decoded decoded;
        char text[512];
        (void)snprintf(text, sizeof(text),
                       "[{'entryType':'event','name':'click','startTime':100,'processingStart':%s,"
                       "'processingEnd':%s,'duration':24,'interactionId':7},"
                       "{'entryType':'mark','name':'m','startTime':1}]",
                       cases[i].start, cases[i].end);
        const struct fp_profile *profile = decode_good(&decoded, text);
        assert_int_equal(profile->timing_count, 1);
        assert_int_equal(profile->interactions[0].duration_us, 24000);
        assert_int_equal(profile->interactions[0].delay_us, cases[i].delay_us);
        assert_int_equal(profile->interactions[0].processing_us, cases[i].processing_us);
        release(&decoded);
    }
}

static void takes_vitals_from_entries(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile =
        decode_good(&decoded, "[{'entryType':'largest-contentful-paint','startTime':10},"
                              "{'entryType':'largest-contentful-paint','startTime':20},"
                              "{'entryType':'paint','name':'first-paint','startTime':8},"
                              "{'entryType':'paint','name':'first-contentful-paint','startTime':9},"
                              "{'entryType':'navigation','responseStart':7,'activationStart':0}]");
    assert_int_equal(profile->vital_count, 3);
    assert_int_equal(profile->vitals[0].vital, FP_VITAL_LCP);
    assert_int_equal(profile->vitals[0].value_us, 20000);
    assert_int_equal(profile->vitals[1].vital, FP_VITAL_FCP);
    assert_int_equal(profile->vitals[1].value_us, 9000);
    assert_int_equal(profile->vitals[2].vital, FP_VITAL_TTFB);
    assert_int_equal(profile->vitals[2].value_us, 7000);
    assert_false(profile->vitals[0].has_window || profile->vitals[2].has_window);
    assert_true(profile->has_first_paint);
    assert_int_equal(profile->first_paint_us, 8000);
    assert_int_equal(profile->shown_us, 0);
    release(&decoded);
    profile = decode_good(&decoded, "{'vitals':[{'name':'LCP','value':21}],'entries':["
                                    "{'entryType':'largest-contentful-paint','startTime':20}]}");
    assert_int_equal(profile->vital_count, 1);
    assert_int_equal(profile->vitals[0].value_us, 21000);
    release(&decoded);
}

#define SHOWN "{'entryType':'navigation','responseStart':7,'activationStart':5000}"
#define PAINTED                                                                                    \
    "{'entryType':'largest-contentful-paint','startTime':5200.5},"                                 \
    "{'entryType':'paint','name':'first-paint','startTime':3990},"                                 \
    "{'entryType':'layout-shift','startTime':5300,'value':0.1},"                                   \
    "{'entryType':'paint','name':'first-contentful-paint','startTime':4000}"

/* As web-vitals does it. */
static void a_page_rendered_in_advance_counts_from_when_it_was_shown(void **state)
{
    (void)state;
    static const char *const orders[] = {"[" SHOWN "," PAINTED "]", "[" PAINTED "," SHOWN "]"};
    static const struct fp_profile_vital wanted[] = {{.vital = FP_VITAL_LCP, .value_us = 200500},
                                                     {.vital = FP_VITAL_CLS, .value_us = 100000},
                                                     {.vital = FP_VITAL_FCP, .value_us = 0},
                                                     {.vital = FP_VITAL_TTFB, .value_us = 0}};
    for (size_t i = 0; i < FP_COUNT(orders); i++) {
        struct decoded decoded;
        const struct fp_profile *profile = decode_good(&decoded, orders[i]);
        assert_int_equal(profile->vital_count, FP_COUNT(wanted));
        for (size_t k = 0; k < FP_COUNT(wanted); k++) {
            const struct fp_profile_vital *vital = &profile->vitals[k];
            bool has_window = vital->vital != FP_VITAL_CLS;
            assert_int_equal(vital->vital, wanted[k].vital);
            assert_int_equal(vital->value_us, wanted[k].value_us);
            assert_int_equal(vital->has_window, has_window);
            assert_int_equal(vital->start_us, has_window ? 5000000 : 0);
            assert_int_equal(vital->duration_us, has_window ? vital->value_us : 0);
        }
        assert_int_equal(profile->first_paint_us, 3990000);
        assert_int_equal(profile->shown_us, 5000000);
        release(&decoded);
    }
}

/* 0.1 + 0.2 within a second; 0.25 two seconds later; one after an input does not count. */
static void the_worst_window_of_shifts_is_the_cls(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded,
        "[{'entryType':'layout-shift','startTime':100,'value':0.1,'hadRecentInput':false},"
        "{'entryType':'layout-shift','startTime':1000,'value':0.2,'hadRecentInput':false},"
        "{'entryType':'layout-shift','startTime':1100,'value':0.5,'hadRecentInput':true},"
        "{'entryType':'layout-shift','startTime':3000,'value':0.25}]");
    assert_int_equal(profile->vital_count, 1);
    assert_int_equal(profile->vitals[0].vital, FP_VITAL_CLS);
    assert_int_equal(profile->vitals[0].value_us, 300000);
    release(&decoded);
}

static void long_tasks_stand_in_for_frames(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded, "[{'entryType':'longtask','startTime':1,'duration':80,'attribution':[]}]");
    assert_int_equal(profile->long_frame_count, 1);
    assert_int_equal(profile->long_frames[0].blocking_us, 30000);
    assert_int_equal(profile->long_frames[0].style_us, FP_DURATION_NONE);
    assert_int_equal(profile->long_frames[0].layout_us, FP_DURATION_NONE);
    release(&decoded);
    profile = decode_good(
        &decoded,
        "[{'entryType':'longtask','startTime':1,'duration':80},{'entryType':'long-animation-frame',"
        "'startTime':0,'duration':90,'blockingDuration':31,'styleDuration':6,'layoutDuration':7,"
        "'scripts':[{'startTime':1,'duration':80,"
        "'invoker':'A#b.onclick','sourceURL':'u','sourceFunctionName':'f',"
        "'forcedStyleAndLayoutDuration':2,'forcedStyleDuration':0.5,"
        "'forcedLayoutDuration':1.5}]}]");
    assert_int_equal(profile->long_frame_count, 1);
    assert_int_equal(profile->long_frames[0].blocking_us, 31000);
    assert_text(profile->scripts[0].function, "f");
    assert_int_equal(profile->long_frames[0].style_us, 6000);
    assert_int_equal(profile->long_frames[0].layout_us, 7000);
    assert_int_equal(profile->scripts[0].forced_us, 2000);
    assert_int_equal(profile->scripts[0].forced_style_us, 500);
    assert_int_equal(profile->scripts[0].forced_layout_us, 1500);
    release(&decoded);
}

static void resources_without_their_times_are_opaque(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded,
        "[{'entryType':'resource','name':'https://a.example/a.js','initiatorType':'script',"
        "'duration':12,'requestStart':3,'responseStart':5,'transferSize':300},"
        "{'entryType':'resource','name':'https://b.example/b.js','initiatorType':'script',"
        "'duration':12,'requestStart':0,'responseStart':0,'transferSize':0}]");
    assert_int_equal(profile->responses_count, 2);
    assert_int_equal(profile->responses[0].opaque, 0);
    assert_int_equal(profile->responses[0].bytes, 300);
    assert_int_equal(profile->responses[1].opaque, 1);
    assert_int_equal(profile->response_duration_count, 1);
    release(&decoded);
}

/* They have no host, and took no network. */
static void resources_that_are_blobs_or_data_are_skipped(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded,
        "[{'entryType':'resource','name':'blob:https://a.example/0f0f','initiatorType':'fetch',"
        "'duration':1},"
        "{'entryType':'resource','name':'data:image/png;base64,YQ==','initiatorType':'img',"
        "'duration':1},"
        "{'entryType':'resource','name':'chrome-extension://abc/a.js','initiatorType':'script',"
        "'duration':1},"
        "{'entryType':'resource','name':'https://a.example/a.js','initiatorType':'script',"
        "'duration':12}]");
    assert_int_equal(profile->responses_count, 2);
    assert_int_equal(profile->skipped_entries, 2);
    release(&decoded);
}

/* Agents sent these before the collector read them. */
static void entries_that_lack_a_member_are_skipped(void **state)
{
    (void)state;
    struct decoded decoded;
    const struct fp_profile *profile = decode_good(
        &decoded, "[{'entryType':'event'},{'entryType':'resource'},{'entryType':'longtask'},"
                  "{'entryType':'layout-shift'},{'entryType':'element','x':1},"
                  "{'entryType':'mark','name':'m','startTime':1}]");
    assert_int_equal(profile->skipped_entries, 5);
    assert_int_equal(profile->timing_count, 1);
    release(&decoded);
}

#define SPAN "'start':1,'duration':9"
#define EVENT(members) "{'interactions':[{'type':'key'," members "}]}"
#define FRAME(members) "{'version':1,'frames':[{" SPAN "," members "}]}"
#define SCRIPT(members) FRAME("'scripts':[{'start':1,'duration':2},{" members "}]")
#define RESOURCE(members) "{'version':1,'resources':[{'host':'a'," members "}]}"

static const struct bad_upload bad_uploads[] = {
    {"vitals that are not a list", "{'vitals':{}}", NULL, FP_VERDICT_INVALID, "/vitals", 0,
     "vitals is an object; it must be an array"},
    {"an unknown vital", "{'vitals':[{'name':'FID','value':1}]}", NULL, FP_VERDICT_INVALID,
     "/vitals/0/name", 0, "name must be one of LCP, INP, CLS, FCP, TTFB"},
    {"a vital without a value", "{'vitals':[{'name':'LCP'}]}", NULL, FP_VERDICT_INVALID,
     "/vitals/0", 0, "value is missing"},
    {"a negative vital", "{'vitals':[{'name':'LCP','value':-1}]}", NULL, FP_VERDICT_INVALID,
     "/vitals/0/value", 0, "value is -1; it must not be negative"},
    {"a vital that is a text", "{'vitals':[{'name':'LCP','value':'1'}]}", NULL, FP_VERDICT_INVALID,
     "/vitals/0/value", 0, "value is a string; it must be a number of milliseconds"},
    {"an absurd score", "{'vitals':[{'name':'CLS','value':2e6}]}", NULL, FP_VERDICT_INVALID,
     "/vitals/0/value", 0, "value is 2000000; a score is at most 1000000"},
    {"half a window", "{'vitals':[{'name':'CLS','value':1,'start':1}]}", NULL, FP_VERDICT_INVALID,
     "/vitals/0", 0, "duration is missing"},
    {"a reversed window", "{'vitals':[{'name':'CLS','value':1,'start':1,'duration':-1}]}", NULL,
     FP_VERDICT_INVALID, "/vitals/0/duration", 0, "duration is -1; it must not be negative"},
    {"a wrong target", "{'vitals':[{'name':'CLS','value':1,'target':{}}]}", NULL,
     FP_VERDICT_INVALID, "/vitals/0/target", 0, "target is an object; it must be a string"},
    {"a wrong time of a Metric",
     "{'vitals':[{'name':'INP','value':1,'attribution':"
     "{'interactionTime':'x'}}]}",
     NULL, FP_VERDICT_INVALID, "/vitals/0/attribution/interactionTime", 0,
     "interactionTime is a string; it must be a number of milliseconds"},
    {"too many vitals", "{'vitals':[{},{},{},{},{},{},{}]}", NULL, FP_VERDICT_TOO_LARGE, "/vitals",
     0, "vitals has 7 elements; at most 6 are allowed (limits.entries)"},
    {"an interaction that is processed before it begins",
     EVENT("'start':5,'processingStart':4,'processingEnd':6,'duration':8"), NULL,
     FP_VERDICT_INVALID, "/interactions/0/processingStart", 0,
     "processingStart is before the interaction starts"},
    {"an interaction whose processing is reversed",
     EVENT("'start':5,'processingStart':7,'processingEnd':6,'duration':8"), NULL,
     FP_VERDICT_INVALID, "/interactions/0/processingEnd", 0,
     "processingEnd is before the processing starts"},
    {"an interaction that is processed after its end",
     EVENT("'start':5,'processingStart':7,'processingEnd':60,'duration':8"), NULL,
     FP_VERDICT_INVALID, "/interactions/0/processingEnd", 0,
     "processingEnd is after the interaction ends"},
    {"an interaction without a type", "{'interactions':[{'start':5}]}", NULL, FP_VERDICT_INVALID,
     "/interactions/0", 0, "type is missing"},
    {"a response without a type", "{'version':1,'responses':[{'start':5,'duration':1}]}", NULL,
     FP_VERDICT_INVALID, "/responses/0", 0, "type is missing"},
    {"a response that ends before it begins",
     "{'version':1,'responses':[{'type':'a','start':5,'duration':-1}]}", NULL, FP_VERDICT_INVALID,
     "/responses/0/duration", 0, "duration is -1; it must not be negative"},
    {"a request without a host",
     "{'version':1,'responses':[{'type':'a','start':5,'duration':1,'requests':[{'start':5,"
     "'duration':1}]}]}",
     NULL, FP_VERDICT_INVALID, "/responses/0/requests/0", 0, "host is missing"},
    {"a request that ends before it begins",
     "{'version':1,'responses':[{'type':'a','start':5,'duration':1,'requests':[{'host':'a',"
     "'start':5,'duration':-1}]}]}",
     NULL, FP_VERDICT_INVALID, "/responses/0/requests/0/duration", 0,
     "duration is -1; it must not be negative"},
    {"six requests of a response",
     "{'version':1,'responses':[{'type':'a','start':1,'duration':1,'requests':[{'host':'a','start':"
     "1,'duration':1},{'host':'a','start':1,'duration':1},{'host':'a','start':1,'duration':1},"
     "{'host':'a','start':1,'duration':1},{'host':'a','start':1,'duration':1},{'host':'a','start':"
     "1,'duration':1}]}]}",
     NULL, FP_VERDICT_TOO_LARGE, "/responses/0", 0,
     "more than 6 vitals, interactions, frames, scripts, resources and requests (limits.entries)"},
    {"responses to seven interactions",
     "{'version':1,'interactions':[{'type':'a','start':5,'processingStart':6,'processingEnd':7,"
     "'duration':8}],'responses':[{'type':'a','start':1,'duration':1},{'type':'a','start':1,"
     "'duration':1},{'type':'a','start':1,'duration':1},{'type':'a','start':1,'duration':1},"
     "{'type':'a','start':1,'duration':1},{'type':'a','start':1,'duration':1}]}",
     NULL, FP_VERDICT_TOO_LARGE, "/responses/5", 0,
     "more than 6 vitals, interactions, frames, scripts, resources and requests (limits.entries)"},
    {"a negative start", EVENT("'start':-5,'processingStart':7,'processingEnd':7,'duration':8"),
     NULL, FP_VERDICT_INVALID, "/interactions/0/start", 0, "start is -5; it must not be negative"},
    {"a time beyond 2^53", EVENT("'start':1e13,'processingStart':7,'processingEnd':7,'duration':8"),
     NULL, FP_VERDICT_INVALID, "/interactions/0/start", 0,
     "10000000000000 ms is out of range; a time may be at most 2^53 microseconds, either way"},
    {"a frame that blocks for longer than it takes", FRAME("'blocking':20"), NULL,
     FP_VERDICT_INVALID, "/frames/0/blocking", 0, "blocking is longer than the frame"},
    {"a frame that renders outside itself", FRAME("'renderStart':21"), NULL, FP_VERDICT_INVALID,
     "/frames/0/renderStart", 0, "renderStart is after the frame ends"},
    {"a script before its frame",
     "{'version':1,'frames':[{'start':50,'duration':9,'scripts':[{'start':39,'duration':1}]}]}",
     NULL, FP_VERDICT_INVALID, "/frames/0/scripts/0/start", 0, "start is before the frame starts"},
    {"a script that outlasts its frame", SCRIPT("'start':2,'duration':19"), NULL,
     FP_VERDICT_INVALID, "/frames/0/scripts/1/duration", 0, "duration is after the frame ends"},
    {"forced layout longer than its script", SCRIPT("'start':2,'duration':1,'forced':12"), NULL,
     FP_VERDICT_INVALID, "/frames/0/scripts/1/forced", 0, "forced is longer than the script"},
    {"forced style longer than its script", SCRIPT("'start':2,'duration':1,'forcedStyle':12"), NULL,
     FP_VERDICT_INVALID, "/frames/0/scripts/1/forcedStyle", 0,
     "forcedStyle is longer than the script"},
    {"forced layout alone longer than its script",
     SCRIPT("'start':2,'duration':1,'forcedLayout':12"), NULL, FP_VERDICT_INVALID,
     "/frames/0/scripts/1/forcedLayout", 0, "forcedLayout is longer than the script"},
    {"style longer than its frame", FRAME("'style':20"), NULL, FP_VERDICT_INVALID,
     "/frames/0/style", 0, "style is longer than the frame"},
    {"layout longer than its frame", FRAME("'layout':20"), NULL, FP_VERDICT_INVALID,
     "/frames/0/layout", 0, "layout is longer than the frame"},
    {"negative style", FRAME("'style':-1"), NULL, FP_VERDICT_INVALID, "/frames/0/style", 0,
     "style is -1; it must not be negative"},
    {"a script that is a text", FRAME("'scripts':['x']"), NULL, FP_VERDICT_INVALID,
     "/frames/0/scripts/0", 0, "this is a string; it must be an object"},
    {"a wrong position", SCRIPT("'start':2,'duration':1,'position':'7'"), NULL, FP_VERDICT_INVALID,
     "/frames/0/scripts/1/position", 0, "position is a string; it must be a number"},
    {"a resource without duration", RESOURCE("'bytes':1"), NULL, FP_VERDICT_INVALID, "/resources/0",
     0, "a resource needs a duration, unless it is opaque"},
    {"a count that does not add up", RESOURCE("'duration':[1,2],'opaque':1,'count':2"), NULL,
     FP_VERDICT_INVALID, "/resources/0/count", 0,
     "count is 2, but there are 2 durations and 1 opaque responses, which have none"},
    {"negative durations", RESOURCE("'duration':[1,-2]"), NULL, FP_VERDICT_INVALID,
     "/resources/0/duration/1", 0, "this is -2; a duration must not be negative"},
    {"negative bytes", RESOURCE("'duration':1,'bytes':-1"), NULL, FP_VERDICT_INVALID,
     "/resources/0/bytes", 0, "bytes must be a whole number from 0 to 2^53"},
    {"a wrong opaque", RESOURCE("'opaque':'yes'"), NULL, FP_VERDICT_INVALID, "/resources/0/opaque",
     0, "opaque must be true, false or a number of responses"},
    {"too many opaque ones", RESOURCE("'opaque':6},{'host':'b','opaque':true"), NULL,
     FP_VERDICT_TOO_LARGE, "/resources/0", 0,
     "more than 6 vitals, interactions, frames, scripts, resources and requests (limits.entries)"},
    {"too many durations", RESOURCE("'duration':[1,2,3,4,5,6,7]"), NULL, FP_VERDICT_TOO_LARGE,
     "/resources/0/duration/6", 0,
     "more than 6 vitals, interactions, frames, scripts, resources and requests (limits.entries)"},
    {"a part that begins before the page", "{'start':-1,'coverage':'quota'}", NULL,
     FP_VERDICT_INVALID, "/start", 0, "start is -1; it must not be negative"},
    {"a part with a reversed window", "{'start':1,'duration':-1,'coverage':'quota'}", NULL,
     FP_VERDICT_INVALID, "/duration", 0, "duration is -1; it must not be negative"},
    {"an entry of a wrong type", "[{'entryType':'layout-shift','startTime':1,'value':'x'}]", NULL,
     FP_VERDICT_INVALID, "/0/value", 0, "value is a string; it must be a number"},
    {"an event that is processed before the page",
     "[" EVENT_ENTRY("click", "5", "-1", "6", "8", "") "]", NULL, FP_VERDICT_INVALID,
     "/0/processingStart", 0, "processingStart is -1; it must not be negative"},
    {"an event that is processed until a text",
     "[" EVENT_ENTRY("click", "5", "6", "'x'", "8", "") "]", NULL, FP_VERDICT_INVALID,
     "/0/processingEnd", 0, "processingEnd is a string; it must be a number of milliseconds"},
    {"an event that is processed forever", "[" EVENT_ENTRY("click", "5", "6", "1e300", "8", "") "]",
     NULL, FP_VERDICT_INVALID, "/0/processingEnd", 0,
     "1e+300 ms is out of range; a time may be at most 2^53 microseconds, either way"},
    {"an entry out of range", "[{'entryType':'longtask','startTime':-1,'duration':60}]", NULL,
     FP_VERDICT_INVALID, "/0/startTime", 0, "startTime is -1; it must not be negative"},
    {"a script of an entry",
     "[{'entryType':'long-animation-frame','startTime':1,'duration':9,'scripts':[{}]}]", NULL,
     FP_VERDICT_INVALID, "/0/scripts/0", 0, "startTime is missing"},
    {"views that are not a list", "{'vitals':[],'views':{}}", NULL, FP_VERDICT_INVALID, "", 0,
     "there is no trace, mark, measure, vital, interaction, frame, resource or coverage in this "
     "upload"},
    {"a view that is a number", "{'coverage':'quota','views':[4]}", NULL, FP_VERDICT_INVALID,
     "/views/0", 0, "this is a number; it must be an object"},
    {"views in an object", "{'coverage':'quota','views':{}}", NULL, FP_VERDICT_INVALID, "/views", 0,
     "views must be an array of views"},
    {"a view without a page", "{'coverage':'quota','views':[{'vitals':[]}]}", NULL,
     FP_VERDICT_INVALID, "/views/0", 0, "page is missing"},
    {"a view of nothing", "{'coverage':'quota','views':[{'page':{}}]}", NULL, FP_VERDICT_INVALID,
     "/views/0", 0, "there is no vital, interaction, response, frame or resource in this view"},
    {"a bad vital in a view",
     "{'coverage':'quota','views':[{'page':{},'vitals':[{'name':'LCP','value':'x'}]}]}", NULL,
     FP_VERDICT_INVALID, "/views/0/vitals/0/value", 0,
     "value is a string; it must be a number of milliseconds"},
    {"empty lists", "{'version':1,'vitals':[],'interactions':[],'frames':[],'resources':[]}", NULL,
     FP_VERDICT_INVALID, "", 0,
     "there is no trace, mark, measure, vital, interaction, frame, resource or coverage in this "
     "upload"},
    {"frames without a version are a broken trace", "{'frames':[]}", NULL, FP_VERDICT_INVALID, "",
     0, "resources is missing"},
};

static void each_bad_one_is_refused_with_its_place_and_a_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(bad_uploads); i++)
        assert_refused(&bad_uploads[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interaction_is_known_by_its_first_type_of_these),
        cmocka_unit_test(vitals_have_their_values_and_windows),
        cmocka_unit_test(takes_metrics_as_they_are),
        cmocka_unit_test(reads_what_a_vital_is_of_and_what_it_consists_of),
        cmocka_unit_test(reads_interactions_frames_and_resources),
        cmocka_unit_test(reads_what_interactions_showed),
        cmocka_unit_test(views_are_uploads_of_their_own_with_the_rest_of_the_envelope),
        cmocka_unit_test(an_envelope_has_a_limit_of_views),
        cmocka_unit_test(a_bare_trace_stays_one),
        cmocka_unit_test(takes_interactions_from_entries_once),
        cmocka_unit_test(events_of_one_frame_are_one_interaction),
        cmocka_unit_test(the_longest_frame_is_the_interaction),
        cmocka_unit_test(processing_is_clipped_to_its_event),
        cmocka_unit_test(takes_vitals_from_entries),
        cmocka_unit_test(a_page_rendered_in_advance_counts_from_when_it_was_shown),
        cmocka_unit_test(the_worst_window_of_shifts_is_the_cls),
        cmocka_unit_test(long_tasks_stand_in_for_frames),
        cmocka_unit_test(resources_without_their_times_are_opaque),
        cmocka_unit_test(resources_that_are_blobs_or_data_are_skipped),
        cmocka_unit_test(entries_that_lack_a_member_are_skipped),
        cmocka_unit_test(each_bad_one_is_refused_with_its_place_and_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
