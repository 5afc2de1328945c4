/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observed facts in a delta: their timings, and the windows that samples are joined with.
 */
#include "site_test.h"

static struct fp_delta fold_json(struct site *site, const char *text, uint32_t measures)
{
    struct fp_delta delta;
    struct fp_fold_context context = context_of(site);
    context.measures = measures;
    fold_body(&site->arena, json_of(&site->arena, text), &context, &delta);
    return delta;
}

/* Returns the timing with these texts. Fails without it. */
static const struct fp_delta_timing *find(const struct fp_delta *delta, enum fp_timing_kind kind,
                                          const char *name, const char *source)
{
    for (uint32_t i = 0; i < delta->timing_count; i++)
        if (delta->timings[i].kind == kind &&
            fp_str_equal(delta->timings[i].name, fp_str_of(name)) &&
            fp_str_equal(delta->timings[i].source, fp_str_of(source)))
            return &delta->timings[i];
    for (uint32_t i = 0; i < delta->timing_count; i++)
        print_error("%s %.*s | %.*s\n", fp_timing_kind_name(delta->timings[i].kind),
                    FP_STR_ARG(delta->timings[i].name), FP_STR_ARG(delta->timings[i].source));
    fail_msg("no %s %s %s", fp_timing_kind_name(kind), name, source);
    return NULL;
}

static void assert_counted(const struct fp_delta *delta, enum fp_timing_kind kind, const char *name,
                           uint32_t count, int64_t sum_us)
{
    const struct fp_delta_timing *timing = find(delta, kind, name, "");
    assert_int_equal(timing->count, count);
    assert_int_equal(timing->sum_us, sum_us);
}

static bool has_kind(const struct fp_delta *delta, enum fp_timing_kind kind)
{
    for (uint32_t i = 0; i < delta->timing_count; i++)
        if (delta->timings[i].kind == kind)
            return true;
    return false;
}

/* Profiled time inside a window, and the self time of the frame `f` there. */
struct inside {
    int64_t profiled_us;
    int64_t f_us;
};

static struct inside inside_of(const struct fp_delta *delta, const char *window)
{
    struct inside inside = {0, 0};
    uint32_t timing = (uint32_t)(find(delta, FP_TIMING_WINDOW, window, "") - delta->timings);
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        if (measured->timing != timing)
            continue;
        inside.profiled_us = measured->profiled_us;
        for (uint32_t k = 0; k < measured->frame_count; k++) {
            const struct fp_delta_measured_frame *row =
                &delta->measured_frames[measured->first_frame + k];
            if (fp_str_equal(delta->frames[row->frame].function, FP_STR("f")))
                inside.f_us += row->self_us;
        }
    }
    return inside;
}

/* Samples at 0, 10, … 90 ms: `f` at 20 and 30, so from 15 to 35, else idle. */
#define TRACE                                                                                      \
    "'sampleInterval':10,'trace':{'resources':[],'frames':[{'name':'f','line':1,'column':1}],"     \
    "'stacks':[{'frameId':0}],'samples':[{'timestamp':0},{'timestamp':10},{'timestamp':20,"        \
    "'stackId':0},{'timestamp':30,'stackId':0},{'timestamp':40},{'timestamp':50},{'timestamp':60}" \
    ","                                                                                            \
    "{'timestamp':70},{'timestamp':80},{'timestamp':90}]}"

static void vitals_are_values_ratings_and_windows(void **state)
{
    struct fp_delta delta = fold_json(*state,
                                      "{" TRACE ",'vitals':[{'name':'LCP','value':4001},"
                                      "{'name':'INP','value':600,'start':20,'duration':10},"
                                      "{'name':'FCP','value':30},{'name':'TTFB','value':1000},"
                                      "{'name':'CLS','value':0.05},{'name':'CLS','value':0.3}]}",
                                      64);
    assert_counted(&delta, FP_TIMING_VITAL, "LCP", 1, 4001000);
    assert_counted(&delta, FP_TIMING_VITAL_POOR, "LCP", 1, 0);
    assert_counted(&delta, FP_TIMING_VITAL_POOR, "INP", 1, 0);
    assert_counted(&delta, FP_TIMING_VITAL_GOOD, "FCP", 1, 0);
    assert_counted(&delta, FP_TIMING_VITAL, "TTFB", 1, 1000000);
    assert_counted(&delta, FP_TIMING_VITAL, "CLS", 2, 350000);
    assert_counted(&delta, FP_TIMING_VITAL_GOOD, "CLS", 1, 0);
    assert_counted(&delta, FP_TIMING_VITAL_POOR, "CLS", 1, 0);
    assert_int_equal(inside_of(&delta, "(lcp)").profiled_us, 95000);
    assert_int_equal(inside_of(&delta, "(LCP) poor").f_us, 20000);
    assert_int_equal(inside_of(&delta, "(INP) poor").profiled_us, 10000);
    assert_int_equal(inside_of(&delta, "(INP) poor").f_us, 10000);
    assert_int_equal(inside_of(&delta, "(FCP) good").profiled_us, 30000);
    assert_int_equal(inside_of(&delta, "(blocking)").f_us, 15000);
    for (uint32_t i = 0; i < delta.timing_count; i++)
        assert_false(fp_str_equal(delta.timings[i].name, FP_STR("(CLS) good")) ||
                     fp_str_equal(delta.timings[i].name, FP_STR("(TTFB) good")));
}

/* Returns the count of a timing of one kind of navigation. */
static uint32_t count_of(const struct fp_delta *delta, enum fp_timing_kind kind, const char *name,
                         enum fp_navigation navigation)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        if (timing->kind == kind && timing->navigation == navigation &&
            fp_str_equal(timing->name, fp_str_of(name)))
            count += timing->count;
    }
    return count;
}

static void kinds_of_navigation_are_apart(void **state)
{
    struct fp_delta delta = fold_json(
        *state,
        "{'vitals':[{'name':'LCP','value':9,'navigationType':'navigate','target':'h1'},"
        "{'name':'LCP','value':5000,'navigationType':'soft-navigation','start':7,'duration':5000,"
        "'target':'h1','attribution':{'timeToFirstByte':1,'resourceLoadDelay':2,"
        "'resourceLoadDuration':3}},{'name':'LCP','value':8,'start':7,'duration':8,"
        "'navigationType':'back-forward-cache'},{'name':'TTFB','value':9,'server':1,"
        "'navigationType':'soft-navigation'},{'name':'LCP','value':7,'navigationType':'new'}],"
        "'interactions':[{'type':'pointer','start':1,'processingStart':2,'processingEnd':3,"
        "'duration':40,'navigationType':'soft-navigation'},{'type':'pointer','start':1,"
        "'processingStart':2,'processingEnd':3,'duration':40}]}",
        64);
    static const enum fp_timing_kind of_lcp[] = {FP_TIMING_VITAL, FP_TIMING_VITAL_ELEMENT,
                                                 FP_TIMING_VITAL_PART, FP_TIMING_VITAL_POOR};
    static const uint32_t soft[] = {1, 1, 4, 1};
    for (size_t i = 0; i < FP_COUNT(of_lcp); i++)
        assert_int_equal(count_of(&delta, of_lcp[i], "LCP", FP_NAVIGATION_SOFT), soft[i]);
    assert_int_equal(count_of(&delta, FP_TIMING_VITAL, "LCP", FP_NAVIGATION_HARD), 1);
    assert_int_equal(count_of(&delta, FP_TIMING_VITAL, "LCP", FP_NAVIGATION_BACK_FORWARD_CACHE), 1);
    assert_int_equal(count_of(&delta, FP_TIMING_VITAL, "LCP", FP_NAVIGATION_UNKNOWN), 1);
    assert_int_equal(count_of(&delta, FP_TIMING_WINDOW, "(LCP) poor", FP_NAVIGATION_SOFT), 1);
    assert_int_equal(count_of(&delta, FP_TIMING_WINDOW, "(LCP) good", FP_NAVIGATION_HARD), 1);
    /* Windows of page loads: of the hard and the unknown one. */
    assert_int_equal(count_of(&delta, FP_TIMING_WINDOW, "(lcp)", FP_NAVIGATION_UNKNOWN), 2);
    assert_false(has_kind(&delta, FP_TIMING_TTFB));
    static const enum fp_timing_kind of_interactions[] = {
        FP_TIMING_INTERACTION, FP_TIMING_INPUT_DELAY, FP_TIMING_PROCESSING};
    for (size_t i = 0; i < FP_COUNT(of_interactions); i++) {
        assert_int_equal(count_of(&delta, of_interactions[i], "pointer", FP_NAVIGATION_SOFT), 1);
        assert_int_equal(count_of(&delta, of_interactions[i], "pointer", FP_NAVIGATION_UNKNOWN), 1);
    }
}

static void a_name_counts_once_against_its_ceiling_in_all_kinds_of_navigation(void **state)
{
    static const char json[] =
        "{'interactions':["
        "{'type':'a','start':1,'processingStart':2,'processingEnd':3,'duration':40},"
        "{'type':'a','start':1,'processingStart':2,'processingEnd':3,'duration':40,"
        "'navigationType':'soft-navigation'},{'type':'a','start':1,'processingStart':2,"
        "'processingEnd':3,'duration':40,'navigationType':'reload'},"
        "{'type':'b','start':1,'processingStart':2,'processingEnd':3,'duration':40,"
        "'navigationType':'reload'}]}";
    struct site *site = *state;
    site->limits.names[FP_NAME_TIMING] = 1;
    struct fp_delta delta = fold_json(site, json, 64);
    assert_int_equal(count_of(&delta, FP_TIMING_INTERACTION, "a", FP_NAVIGATION_UNKNOWN), 1);
    assert_int_equal(count_of(&delta, FP_TIMING_INTERACTION, "a", FP_NAVIGATION_SOFT), 1);
    assert_int_equal(count_of(&delta, FP_TIMING_INTERACTION, "a", FP_NAVIGATION_RELOAD), 1);
    assert_int_equal(count_of(&delta, FP_TIMING_INTERACTION, "(overflow)", FP_NAVIGATION_RELOAD),
                     1);
}

/* The parts of a TTFB are its whole, by what the server's cache did. */
static void a_ttfb_has_the_share_of_its_server(void **state)
{
    struct fp_delta delta = fold_json(*state,
                                      "{'vitals':[{'name':'TTFB','value':300,'server':120.5,"
                                      "'cache':'MISS'},{'name':'TTFB','value':50,'server':60,"
                                      "'cache':'MISS'},{'name':'TTFB','value':30,'server':0,"
                                      "'cache':'HIT for someone@shop.example'},"
                                      "{'name':'TTFB','value':20,'server':1},"
                                      "{'name':'TTFB','value':1000,'cache':'MISS'},"
                                      "{'name':'LCP','value':9,'server':5,'cache':'MISS'}]}",
                                      64);
    assert_counted(&delta, FP_TIMING_VITAL, "TTFB", 5, 1400000);
    assert_counted(&delta, FP_TIMING_TTFB, "MISS", 2, 350000);
    assert_counted(&delta, FP_TIMING_TTFB_SERVER, "MISS", 2, 170500);
    assert_counted(&delta, FP_TIMING_TTFB, "", 1, 20000);
    assert_counted(&delta, FP_TIMING_TTFB_SERVER, "", 1, 1000);
    for (uint32_t i = 0; i < delta.timing_count; i++)
        if (delta.timings[i].name.len > 0)
            assert_null(memmem(delta.timings[i].name.ptr, delta.timings[i].name.len, "someone", 7));
}

static void a_vital_with_an_id_and_a_load_may_be_replaced(void **state)
{
    static const char *const vitals[] = {
        "{'load':'018f0000-0000-7000-8000-000000000001','vitals':[{'name':'INP','value':600,"
        "'id':'v5-1','start':0,'duration':600},{'name':'LCP','value':10},"
        "{'name':'INP','value':100,'id':'v5-1','start':0,'duration':100}]}",
        "{'vitals':[{'name':'INP','value':100,'id':'v5-1','start':0,'duration':100},"
        "{'name':'LCP','value':10}]}",
    };
    struct fp_delta delta = fold_json(*state, vitals[0], 64);
    assert_int_equal(delta.vital_count, 1);
    assert_int_equal(delta.vitals[0].vital, FP_VITAL_INP);
    assert_int_equal(delta.vitals[0].value_us, 100000);
    assert_counted(&delta, FP_TIMING_VITAL, "LCP", 1, 10000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(INP) good", 1, 100000);
    assert_false(has_kind(&delta, FP_TIMING_VITAL_POOR));
    delta = fold_json(*state, vitals[1], 64);
    assert_int_equal(delta.vital_count, 0);
    assert_counted(&delta, FP_TIMING_VITAL, "INP", 1, 100000);
    assert_counted(&delta, FP_TIMING_VITAL_GOOD, "INP", 1, 0);
}

/* With an id, the rollup counts them. */
static void vitals_have_elements_and_parts(void **state)
{
#define LCP(id)                                                                                    \
    "{'load':'018f0000-0000-7000-8000-000000000001','page':{'url':'https://shop.example/'},"       \
    "'vitals':[{'name':'LCP','value':2500," id "'target':'#hero-12345','url':"                     \
    "'https://shop.example/h.webp?token=7','attribution':{'timeToFirstByte':400,"                  \
    "'resourceLoadDelay':300,'resourceLoadDuration':1000}}]}"
    struct fp_delta delta = fold_json(*state, LCP(""), 64);
    assert_int_equal(find(&delta, FP_TIMING_VITAL_ELEMENT, "LCP", "#hero-*")->sum_us, 2500000);
    int64_t sum_us = 0;
    for (uint32_t i = 0; i < delta.timing_count; i++) {
        const struct fp_delta_timing *timing = &delta.timings[i];
        if (timing->kind == FP_TIMING_VITAL_ELEMENT)
            assert_true(fp_str_equal(timing->function, FP_STR("https://shop.example/h.webp")));
        if (timing->kind == FP_TIMING_VITAL_PART)
            sum_us += timing->sum_us;
    }
    assert_int_equal(sum_us, 2500000);
    delta = fold_json(*state, LCP("'id':'v6-1',"), 64);
#undef LCP
    assert_int_equal(find(&delta, FP_TIMING_VITAL_ELEMENT, "LCP", "#hero-*")->count, 0);
    assert_false(has_kind(&delta, FP_TIMING_VITAL_PART));
    assert_int_equal(delta.timings[delta.vitals[0].element].kind, FP_TIMING_VITAL_ELEMENT);
    assert_int_equal(delta.vitals[0].parts.known, 3);
}

/* The limit holds for one upload, however many vitals its page makes up. */
static void sixty_four_vitals_may_be_replaced(void **state)
{
    enum { VITALS = 70, ELEMENT_LEN = 48 };
    char text[VITALS * ELEMENT_LEN + 128] =
        "{'load':'018f0000-0000-7000-8000-000000000001','vitals':[";
    for (unsigned i = 0; i < VITALS; i++)
        snprintf(text + strlen(text), ELEMENT_LEN, "%s{'name':'INP','value':100,'id':'%u'}",
                 i > 0 ? "," : "", i);
    snprintf(text + strlen(text), ELEMENT_LEN, "]}");
    struct fp_delta delta = fold_json(*state, text, 64);
    assert_int_equal(delta.vital_count, 64);
    assert_counted(&delta, FP_TIMING_VITAL, "INP", VITALS - 64, (VITALS - 64) * 100000);
}

static void the_inp_finds_its_interaction(void **state)
{
    struct fp_delta delta =
        fold_json(*state,
                  "{" TRACE ",'vitals':[{'name':'INP','value':10}],'interactions':["
                  "{'type':'pointer','start':0,'processingStart':1,'processingEnd':2,'duration':8},"
                  "{'type':'pointer','start':30,'processingStart':31,'processingEnd':33,"
                  "'duration':10,'target':'#go-9'}]}",
                  64);
    assert_int_equal(inside_of(&delta, "(INP) good").f_us, 5000);
    assert_int_equal(inside_of(&delta, "(interaction)").profiled_us, 18000);
    assert_int_equal(inside_of(&delta, "(interaction)").f_us, 5000);
    assert_int_equal(inside_of(&delta, "(interaction) pointer #go-*").f_us, 5000);
    assert_int_equal(inside_of(&delta, "(interaction) pointer").profiled_us, 8000);
    assert_int_equal(find(&delta, FP_TIMING_INTERACTION, "pointer", "#go-*")->sum_us, 10000);
    assert_int_equal(find(&delta, FP_TIMING_INPUT_DELAY, "pointer", "#go-*")->sum_us, 1000);
    assert_int_equal(find(&delta, FP_TIMING_PROCESSING, "pointer", "#go-*")->sum_us, 2000);
}

/* Their ends are 1 ms apart: the whole is longer than the INP, which is that of the longest. */
static void the_inp_finds_the_events_of_a_frame(void **state)
{
    struct fp_delta delta = fold_json(
        *state,
        "{" TRACE ",'vitals':[{'name':'INP','value':16}],'entries':[{'entryType':'event',"
        "'name':'pointerup','startTime':20,'processingStart':21,'processingEnd':22,'duration':16,"
        "'interactionId':7},{'entryType':'event','name':'click','startTime':21,'processingStart':"
        "23,'processingEnd':30,'duration':16,'interactionId':7}]}",
        64);
    assert_counted(&delta, FP_TIMING_WINDOW, "(INP) good", 1, 17000);
    assert_int_equal(inside_of(&delta, "(INP) good").f_us, 15000);
    assert_int_equal(find(&delta, FP_TIMING_PROCESSING, "click", "")->sum_us, 9000);
}

#define SHOWN_AT_30(first_paint)                                                                   \
    "{" TRACE ",'entries':[{'entryType':'paint','name':'first-paint','startTime':" first_paint     \
    "},{'entryType':'largest-contentful-paint','startTime':60},"                                   \
    "{'entryType':'navigation','responseStart':10,'activationStart':30}]}"

static void a_page_rendered_in_advance_has_windows_from_when_it_was_shown(void **state)
{
    struct fp_delta delta = fold_json(*state, SHOWN_AT_30("40"), 64);
    assert_counted(&delta, FP_TIMING_VITAL, "LCP", 1, 30000);
    assert_int_equal(inside_of(&delta, "(lcp)").profiled_us, 30000);
    assert_int_equal(inside_of(&delta, "(lcp)").f_us, 5000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(blocking)", 1, 10000);
    assert_int_equal(inside_of(&delta, "(blocking)").f_us, 5000);
    delta = fold_json(*state, SHOWN_AT_30("20"), 64);
    assert_counted(&delta, FP_TIMING_WINDOW, "(blocking)", 1, 0);
}

static void a_page_that_came_back_has_no_window_from_its_start(void **state)
{
    struct fp_delta delta =
        fold_json(*state,
                  "{" TRACE ",'vitals':[{'name':'LCP','value':30,'navigationType':"
                  "'back-forward-cache'},{'name':'INP','value':16}]}",
                  64);
    assert_counted(&delta, FP_TIMING_VITAL_GOOD, "LCP", 1, 0);
    assert_false(has_kind(&delta, FP_TIMING_WINDOW));
}

/* 100 us over 1 + 1 + 1: 34, 33, 33; the first of equal remainders gets what is left. */
static void a_frame_divides_its_blocking_time(void **state)
{
    struct fp_delta delta = fold_json(
        *state,
        "{'version':1,'frames':[{'start':0,'duration':60,'blocking':0.1,'scripts':["
        "{'invoker':'a.onclick','url':'https://x.example/a.js?k=1','function':'go','start':0,"
        "'duration':1},{'invoker':'b.onclick','start':1,'duration':1,'forced':1},"
        "{'invoker':'c.onclick','start':2,'duration':1}]},"
        "{'start':100,'duration':70,'blocking':20}]}",
        64);
    assert_int_equal(
        find(&delta, FP_TIMING_BLOCKING, "a.onclick", "https://x.example/a.js")->sum_us, 34);
    assert_counted(&delta, FP_TIMING_BLOCKING, "b.onclick", 1, 33);
    assert_counted(&delta, FP_TIMING_BLOCKING, "c.onclick", 1, 33);
    assert_counted(&delta, FP_TIMING_BLOCKING, "", 1, 20000);
    assert_counted(&delta, FP_TIMING_FRAME_SCRIPT, "", 1, 70000);
    assert_counted(&delta, FP_TIMING_FORCED_LAYOUT, "b.onclick", 1, 1000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(long frame)", 2, 130000);
    assert_text(
        find(&delta, FP_TIMING_FRAME_SCRIPT, "a.onclick", "https://x.example/a.js")->function,
        "go");
}

/* Where a browser says 0, that counts: not as where it says nothing. */
static void a_frame_divides_its_style_and_layout(void **state)
{
    struct fp_delta delta = fold_json(
        *state,
        "{'version':1,'frames':[{'start':0,'duration':60,'style':0.1,'layout':0,'scripts':["
        "{'invoker':'a.onclick','start':0,'duration':1,'forcedStyle':0.5,'forcedLayout':0},"
        "{'invoker':'b.onclick','start':1,'duration':2}]},"
        "{'start':100,'duration':70,'style':7}]}",
        64);
    assert_counted(&delta, FP_TIMING_STYLE, "a.onclick", 1, 33);
    assert_counted(&delta, FP_TIMING_STYLE, "b.onclick", 1, 67);
    assert_counted(&delta, FP_TIMING_LAYOUT, "a.onclick", 1, 0);
    assert_counted(&delta, FP_TIMING_LAYOUT, "b.onclick", 1, 0);
    assert_counted(&delta, FP_TIMING_STYLE, "", 1, 7000);
    assert_counted(&delta, FP_TIMING_FORCED_STYLE, "a.onclick", 1, 500);
    assert_counted(&delta, FP_TIMING_FORCED_REFLOW, "a.onclick", 1, 0);
    for (uint32_t i = 0; i < delta.timing_count; i++) {
        const struct fp_delta_timing *timing = &delta.timings[i];
        const bool is_forced =
            timing->kind == FP_TIMING_FORCED_STYLE || timing->kind == FP_TIMING_FORCED_REFLOW;
        assert_false(is_forced && !fp_str_equal(timing->name, FP_STR("a.onclick")));
        assert_false(timing->kind == FP_TIMING_LAYOUT && timing->name.len == 0);
    }
}

/* Nothing else of them counts: no value, no part, no window. */
static void too_long_waits_are_flagged(void **state)
{
    struct fp_delta delta =
        fold_json(*state,
                  "{" TRACE ",'vitals':[{'name':'INP','value':60000,'start':5,'duration':60000},"
                  "{'name':'LCP','value':60000,'navigationType':'prerender'}],"
                  "'interactions':[{'type':'pointer','target':'#a','start':5,'processingStart':6,"
                  "'processingEnd':7,'duration':60000}]}",
                  64);
    assert_counted(&delta, FP_TIMING_VITAL_FLAGGED, "INP", 1, 0);
    assert_int_equal(find(&delta, FP_TIMING_INTERACTION_FLAGGED, "pointer", "#a")->count, 1);
    assert_counted(&delta, FP_TIMING_VITAL_POOR, "LCP", 1, 0);
    assert_counted(&delta, FP_TIMING_VITAL, "LCP", 1, 60000000);
    assert_false(has_kind(&delta, FP_TIMING_INTERACTION));
    assert_false(has_kind(&delta, FP_TIMING_INPUT_DELAY));
    assert_false(has_kind(&delta, FP_TIMING_PROCESSING));
    for (uint32_t k = 0; k < delta.timing_count; k++)
        assert_false(delta.timings[k].kind == FP_TIMING_WINDOW &&
                     !fp_str_equal(delta.timings[k].name, FP_STR("(running)")));
    delta = fold_json(*state,
                      "{'vitals':[{'name':'INP','value':59999}],'interactions':[{'type':'pointer',"
                      "'start':5,'processingStart':6,'processingEnd':7,'duration':59999}]}",
                      64);
    assert_counted(&delta, FP_TIMING_VITAL_POOR, "INP", 1, 0);
    assert_counted(&delta, FP_TIMING_INTERACTION, "pointer", 1, 59999000);
    assert_false(has_kind(&delta, FP_TIMING_VITAL_FLAGGED));
    assert_false(has_kind(&delta, FP_TIMING_INTERACTION_FLAGGED));
}

/* The one window is of all, the other of a target, whatever its type. */
static void a_response_is_a_time_and_a_window_of_its_target(void **state)
{
    struct fp_delta delta =
        fold_json(*state,
                  "{" TRACE ",'responses':[{'type':'pointer','target':'#go-7','start':10,"
                  "'duration':20},{'type':'keyboard','target':'#go-8','start':28,'duration':10},"
                  "{'type':'pointer','start':60,'duration':5}]}",
                  64);
    const struct fp_delta_timing *timing = find(&delta, FP_TIMING_RESPONSE, "pointer", "#go-*");
    assert_int_equal(timing->count, 1);
    assert_int_equal(timing->sum_us, 20000);
    assert_int_equal(timing->bin_count, 1);
    assert_int_equal(find(&delta, FP_TIMING_RESPONSE, "keyboard", "#go-*")->sum_us, 10000);
    assert_counted(&delta, FP_TIMING_RESPONSE, "pointer", 1, 5000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(response)", 3, 35000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(response) #go-*", 2, 30000);
    /* Two milliseconds are in both responses, and count once. */
    assert_int_equal(inside_of(&delta, "(response) #go-*").profiled_us, 28000);
    assert_int_equal(inside_of(&delta, "(response) #go-*").f_us, 20000);
    assert_int_equal(inside_of(&delta, "(response)").profiled_us, 33000);
    assert_false(has_kind(&delta, FP_TIMING_INTERACTION));
    assert_false(has_kind(&delta, FP_TIMING_HIDDEN));
}

static void a_response_of_a_minute_is_flagged(void **state)
{
    struct fp_delta delta = fold_json(*state,
                                      "{'version':1,'responses':[{'type':'pointer','start':1,"
                                      "'duration':59999,'target':'#a'},{'type':'pointer',"
                                      "'start':1,'duration':60000,'target':'#a'}]}",
                                      64);
    assert_int_equal(find(&delta, FP_TIMING_RESPONSE, "pointer", "#a")->sum_us, 59999000);
    assert_int_equal(find(&delta, FP_TIMING_RESPONSE_FLAGGED, "pointer", "#a")->count, 1);
    assert_counted(&delta, FP_TIMING_WINDOW, "(response)", 1, 59999000);
}

static void a_long_task_needs_no_scripts(void **state)
{
    struct fp_delta delta = fold_json(
        *state, "[{'entryType':'longtask','name':'self','startTime':1,'duration':80}]", 64);
    assert_counted(&delta, FP_TIMING_FRAME_SCRIPT, "", 1, 80000);
    assert_counted(&delta, FP_TIMING_BLOCKING, "", 1, 30000);
}

static void resources_are_summed_by_host_and_kind(void **state)
{
    struct fp_delta delta =
        fold_json(*state,
                  "{'version':1,'resources':["
                  "{'host':'CDN.example','kind':'script','duration':[1,3],'bytes':10},"
                  "{'host':'cdn.example','kind':'script','duration':2,'bytes':5},"
                  "{'host':'cdn.example','kind':'img','opaque':4}]}",
                  64);
    const struct fp_delta_timing *timing =
        find(&delta, FP_TIMING_RESOURCE, "cdn.example", "script");
    assert_int_equal(timing->count, 3);
    assert_int_equal(timing->sum_us, 6000);
    assert_int_equal(timing->bin_count, 3);
    timing = find(&delta, FP_TIMING_RESOURCE_BYTES, "cdn.example", "script");
    assert_int_equal(timing->count, 3);
    assert_int_equal(timing->sum_us, 15);
    assert_int_equal(find(&delta, FP_TIMING_RESOURCE_OPAQUE, "cdn.example", "img")->count, 4);
    assert_int_equal(find(&delta, FP_TIMING_RESOURCE_BYTES, "cdn.example", "img")->count, 4);
}

static void an_upload_with_samples_or_resources_says_which_host_its_page_is_on(void **state)
{
    struct fp_delta delta =
        fold_json(*state,
                  "{'version':1,'page':{'url':'https://WWW.shop.example:8443/a?b'},'resources':["
                  "{'host':'cdn.example','kind':'img','opaque':4}]}",
                  64);
    assert_counted(&delta, FP_TIMING_PAGE_HOST, "www.shop.example:8443", 1, 0);
    delta = fold_json(*state,
                      "{'version':1,'page':{'url':'https://shop.example/'},'trace':{'resources':[],"
                      "'frames':[],'stacks':[],'samples':[{'timestamp':1}]}}",
                      64);
    assert_counted(&delta, FP_TIMING_PAGE_HOST, "shop.example", 1, 0);
    delta = fold_json(*state, "{'page':{'url':'https://shop.example/'},'coverage':'quota'}", 64);
    assert_int_equal(delta.timing_count, 1);
    delta = fold_json(*state,
                      "{'version':1,'page':{'url':'file:///home/a'},'resources':["
                      "{'host':'cdn.example','kind':'img','opaque':4}]}",
                      64);
    assert_int_equal(delta.timing_count, 2);
    delta = fold_json(*state,
                      "{'version':1,'page':{'url':'https://shop.examplehttps://shop.example/0f0f'},"
                      "'resources':[{'host':'cdn.example','kind':'img','opaque':4}]}",
                      64);
    assert_int_equal(delta.timing_count, 2);
}

static void overload_counts_in_any_part_and_the_load_stays_profiled(void **state)
{
    struct fp_delta delta = fold_json(*state, "{'coverage':'overload','part':3," TRACE "}", 64);
    assert_counted(&delta, FP_TIMING_COVERAGE, "overload", 1, 0);
    assert_true(fp_delta_is_profiled(&delta));
    delta = fold_json(*state,
                      "{'coverage':'overload','trace':{'resources':[],'frames':[],'stacks':[],"
                      "'samples':[]}}",
                      64);
    assert_true(fp_delta_is_profiled(&delta));
    delta = fold_json(*state, "{'coverage':'overload'}", 64);
    assert_counted(&delta, FP_TIMING_COVERAGE, "overload", 1, 0);
    assert_false(fp_delta_is_profiled(&delta));
}

static void coverage_counts_a_page_load_once(void **state)
{
    struct fp_delta delta = fold_json(*state, "{'coverage':'no-policy'}", 64);
    assert_counted(&delta, FP_TIMING_COVERAGE, "no-policy", 1, 0);
    assert_false(fp_delta_is_profiled(&delta));
    delta = fold_json(*state, "{'coverage':'no-policy','part':1}", 64);
    assert_int_equal(delta.timing_count, 0);
    delta = fold_json(*state, "{'vitals':[{'name':'LCP','value':1}]}", 64);
    assert_false(fp_delta_is_profiled(&delta));
    delta = fold_json(*state, "{" TRACE "}", 64);
    assert_true(fp_delta_is_profiled(&delta));
    delta = fold_json(*state, "{'coverage':'quota'," TRACE "}", 64);
    assert_true(fp_delta_is_profiled(&delta));
    assert_int_equal(delta.coverage, FP_COVERAGE_NONE);
    delta = fold_json(*state, "{'load':'0190b5c2-7d1e-7abc-8def-0123456789ab','marks':[]}", 64);
    assert_false(fp_delta_is_profiled(&delta));
}

static void targets_over_the_ceiling_overflow_together(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_TIMING] = 1;
    struct fp_delta delta =
        fold_json(site,
                  "{'interactions':["
                  "{'type':'a','start':0,'processingStart':1,'processingEnd':2,'duration':8},"
                  "{'type':'b','start':0,'processingStart':1,'processingEnd':2,'duration':8},"
                  "{'type':'b','start':0,'processingStart':1,'processingEnd':2,'duration':8},"
                  "{'type':'c','start':0,'processingStart':1,'processingEnd':2,'duration':8}]}",
                  64);
    assert_counted(&delta, FP_TIMING_INTERACTION, "a", 1, 8000);
    assert_counted(&delta, FP_TIMING_INTERACTION, overflow, 3, 24000);
    assert_counted(&delta, FP_TIMING_PROCESSING, overflow, 3, 3000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(interaction) (overflow)", 3, 24000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(interaction)", 4, 32000);
}

static void responses_over_the_ceiling_have_no_window_of_their_own(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_TIMING] = 1;
    struct fp_delta delta =
        fold_json(site,
                  "{'version':1,'responses':[{'type':'a','target':'#a','start':0,'duration':8},"
                  "{'type':'a','target':'#b','start':10,'duration':8},"
                  "{'type':'a','target':'#c','start':20,'duration':8}]}",
                  64);
    assert_int_equal(find(&delta, FP_TIMING_RESPONSE, "a", "#a")->count, 1);
    assert_counted(&delta, FP_TIMING_RESPONSE, overflow, 2, 16000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(response) #a", 1, 8000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(response)", 3, 24000);
    assert_int_equal(delta.timing_count, 4);
}

/* Time without a stack inside the spans of a script; an empty URL: outside of scripts. */
static int64_t hidden_us(const struct fp_delta *delta, const char *url)
{
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        const struct fp_delta_timing *timing = &delta->timings[measured->timing];
        if (timing->kind != FP_TIMING_HIDDEN || !fp_str_equal(timing->source, fp_str_of(url)))
            continue;
        assert_int_equal(measured->profiled_us, measured->unattributed_us);
        assert_int_equal(measured->frame_count, 0);
        return measured->unattributed_us;
    }
    return 0;
}

static int64_t running_us(const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->measured_count; i++)
        if (fp_str_equal(delta->timings[delta->measured[i].timing].name, FP_STR("(running)")))
            return delta->measured[i].unattributed_us;
    return 0;
}

/* `f` has 15 to 35 ms. The frame is on from 10 to 70, the handlers of the interaction from 60 to
 * 80; one script has 12 to 40 of it, and another one 40 to 55. */
static void time_that_surely_ran_without_a_stack_is_hidden(void **state)
{
    struct fp_delta delta = fold_json(
        *state,
        "{" TRACE ",'page':{'url':'https://a.example/'},'frames':[{'start':10,'duration':60,"
        "'scripts':[{'url':'https://a.example/x.js?q','start':12,'duration':28},"
        "{'url':'https://b.example/y.js','start':40,'duration':15}]}],"
        "'interactions':[{'type':'pointer','start':50,'processingStart':60,'processingEnd':80,"
        "'duration':45}]}",
        64);
    assert_int_equal(running_us(&delta), 50000);
    assert_int_equal(hidden_us(&delta, "https://a.example/x.js"), 8000);
    assert_int_equal(hidden_us(&delta, "https://b.example/y.js"), 15000);
    assert_int_equal(hidden_us(&delta, ""), 27000);
}

/* This name is the first of as many names as an upload may join. */
static void hidden_time_needs_no_place_among_the_names(void **state)
{
    struct fp_delta delta =
        fold_json(*state,
                  "{" TRACE ",'frames':[{'start':10,'duration':5,'scripts':[]}],'measures':["
                  "{'name':'m','entryType':'measure','startTime':0,'duration':90}]}",
                  1);
    assert_int_equal(running_us(&delta), 5000);
    assert_int_equal(hidden_us(&delta, ""), 5000);
    assert_int_equal(delta.unmeasured, 2); /* the measure, and (long frame) */
}

static void idle_time_is_not_hidden(void **state)
{
    struct fp_delta delta = fold_json(
        *state,
        "{" TRACE ",'vitals':[{'name':'LCP','value':80}],'frames':[{'start':16,'duration':9}]}",
        64);
    assert_int_equal(running_us(&delta), 0);
    assert_int_equal(hidden_us(&delta, ""), 0);
}

static void a_users_own_measure_is_another_one(void **state)
{
    struct fp_delta delta =
        fold_json(*state,
                  "{" TRACE ",'vitals':[{'name':'LCP','value':30}],'measures':[{'name':"
                  "'(lcp)','entryType':'measure','startTime':50,'duration':10}]}",
                  64);
    assert_counted(&delta, FP_TIMING_MEASURE, "(lcp)", 1, 10000);
    assert_counted(&delta, FP_TIMING_WINDOW, "(lcp)", 1, 30000);
    assert_int_equal(inside_of(&delta, "(lcp)").f_us, 15000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(vitals_are_values_ratings_and_windows),
        TEST(kinds_of_navigation_are_apart),
        TEST(a_name_counts_once_against_its_ceiling_in_all_kinds_of_navigation),
        TEST(a_vital_with_an_id_and_a_load_may_be_replaced),
        TEST(vitals_have_elements_and_parts),
        TEST(sixty_four_vitals_may_be_replaced),
        TEST(a_ttfb_has_the_share_of_its_server),
        TEST(the_inp_finds_its_interaction),
        TEST(the_inp_finds_the_events_of_a_frame),
        TEST(a_page_rendered_in_advance_has_windows_from_when_it_was_shown),
        TEST(a_page_that_came_back_has_no_window_from_its_start),
        TEST(a_frame_divides_its_blocking_time),
        TEST(a_frame_divides_its_style_and_layout),
        TEST(too_long_waits_are_flagged),
        TEST(a_response_is_a_time_and_a_window_of_its_target),
        TEST(a_response_of_a_minute_is_flagged),
        TEST(a_long_task_needs_no_scripts),
        TEST(resources_are_summed_by_host_and_kind),
        TEST(an_upload_with_samples_or_resources_says_which_host_its_page_is_on),
        TEST(coverage_counts_a_page_load_once),
        TEST(overload_counts_in_any_part_and_the_load_stays_profiled),
        TEST(targets_over_the_ceiling_overflow_together),
        TEST(responses_over_the_ceiling_have_no_window_of_their_own),
        TEST(time_that_surely_ran_without_a_stack_is_hidden),
        TEST(hidden_time_needs_no_place_among_the_names),
        TEST(idle_time_is_not_hidden),
        TEST(a_users_own_measure_is_another_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
