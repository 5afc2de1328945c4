/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vitals without what ran in them: what they would be.
 */
#include "tests/unit/profile/test.h"

#include "collector/base/buf.h"
#include "collector/rollup/bins.h"
#include "collector/rollup/ids.h"

#include <stdlib.h>

#define LOAD "'id':'%s','load':'5f0c6f4e-0000-4000-8000-000000000001','part':%u,"
#define PAGE "'version':1,'page':{'url':'https://shop.example/'},'sampleInterval':10"

enum { INTERVAL_MS = 10 };

/* From one time to another a stack is on top. */
struct run {
    unsigned from_ms;
    unsigned to_ms;
    int stack;
};

static void add_samples(struct fp_buf *json, const struct run *runs, size_t count, unsigned end_ms)
{
    for (unsigned ms = INTERVAL_MS / 2; ms < end_ms; ms += INTERVAL_MS) {
        fp_buf_addf(json, "%s{'timestamp':%u", ms > INTERVAL_MS ? "," : "", ms);
        for (size_t i = 0; i < count; i++)
            if (ms >= runs[i].from_ms && ms < runs[i].to_ms)
                fp_buf_addf(json, ",'stackId':%d", runs[i].stack);
        fp_buf_addf(json, "}");
    }
}

/* 0 click; 1 click > sort; 2 click > tag, of another host; 3 render. */
static void add_trace(struct fp_buf *json, const struct run *runs, size_t count, unsigned end_ms)
{
    fp_buf_addf(json,
                ",'trace':{'resources':['https://shop.example/app.js','https://tag.example/t.js'],"
                "'frames':[{'name':'click','resourceId':0,'line':1,'column':1},"
                "{'name':'sort','resourceId':0,'line':2,'column':1},"
                "{'name':'tag','resourceId':1,'line':3,'column':1},"
                "{'name':'render','resourceId':0,'line':4,'column':1}],"
                "'stacks':[{'frameId':0},{'frameId':1,'parentId':0},{'frameId':2,'parentId':0},"
                "{'frameId':3}],'samples':[");
    add_samples(json, runs, count, end_ms);
    fp_buf_addf(json, "]}");
}

static void add_interaction(struct fp_buf *json, unsigned start_ms, unsigned duration_ms)
{
    fp_buf_addf(json,
                "{'type':'pointer','start':%u,'processingStart':%u,'processingEnd':%u,"
                "'duration':%u}",
                start_ms, start_ms, start_ms, duration_ms);
}

static void fold_json(struct fp_arena *arena, struct fp_buf *json,
                      const struct fp_fold_context *context, struct fp_delta *delta)
{
    fp_buf_add(json, "", 1);
    assert_false(json->failed);
    struct fp_str body = json_of(arena, (const char *)json->data);
    fold_body(arena, body, context, delta);
    fp_buf_clear(json);
}

/* Returns what a vital of the delta would be without a thing; NULL: the same. */
static const struct fp_delta_without *find(const struct fp_delta *delta, enum fp_vital vital,
                                           const char *kind, struct fp_str name)
{
    for (uint32_t i = 0; i < delta->vital_count; i++)
        for (uint32_t k = 0; k < delta->vitals[i].without_count; k++) {
            const struct fp_delta_without *without =
                &delta->withouts[delta->vitals[i].first_without + k];
            const struct fp_delta_timing *timing = &delta->timings[without->timing];
            assert_int_equal(timing->kind, FP_TIMING_VITAL_WITHOUT);
            assert_int_equal(timing->count, 0);
            if (delta->vitals[i].vital == vital && fp_str_equal(timing->source, fp_str_of(kind)) &&
                fp_str_equal(timing->function, name))
                return without;
        }
    return NULL;
}

/* Finds that of a function by its name, among the frames of the delta. */
static const struct fp_delta_without *find_function(const struct fp_delta *delta,
                                                    enum fp_vital vital, const char *function)
{
    char id[32] = "";
    for (uint32_t i = 0; i < delta->frame_count; i++)
        if (fp_str_equal(delta->frames[i].function, fp_str_of(function)))
            snprintf(id, sizeof(id), "%lld", (long long)delta->frames[i].id);
    return find(delta, vital, "function", fp_str_of(id));
}

static void assert_without(const struct fp_delta_without *without, int64_t gone_ms, int64_t half_ms)
{
    assert_non_null(without);
    assert_int_equal(without->gone, fp_bin_of(gone_ms * 1000));
    assert_int_equal(without->half, fp_bin_of(half_ms * 1000));
}

static void another_interaction_becomes_the_inp(void **state)
{
    (void)state;
    static const struct run runs[] = {{1000, 1250, 1}, {2000, 2040, 2}, {2040, 2200, 3}};
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json,
                "{" LOAD PAGE ",'vitals':[{'name':'INP','value':300,'id':'a'}],"
                "'interactions':[",
                "5f0c6f4e-0000-4000-8000-000000000011", 0);
    add_interaction(&json, 1000, 300);
    fp_buf_addf(&json, ",");
    add_interaction(&json, 2000, 200);
    fp_buf_addf(&json, "]");
    add_trace(&json, runs, FP_COUNT(runs), 2300);
    fp_buf_addf(&json, "}");
    fold_json(&arena, &json, &no_context, &delta);
    assert_int_equal(delta.vital_count, 1);
    assert_true(delta.vitals[0].is_profiled);
    /* 300 ms less 250 ms would be 50 ms, but the other one takes 200 ms. */
    assert_without(find_function(&delta, FP_VITAL_INP, "sort"), 200, 200);
    /* It calls what takes time in both. */
    assert_without(find_function(&delta, FP_VITAL_INP, "click"), 160, 180);
    /* The INP is another interaction's. */
    assert_null(find_function(&delta, FP_VITAL_INP, "render"));
    assert_null(find_function(&delta, FP_VITAL_INP, "tag"));
    assert_null(find(&delta, FP_VITAL_INP, "host", FP_STR("tag.example")));
    fp_buf_release(&json);
    fp_arena_release(&arena);
}

static void an_lcp_ends_earlier_without_what_ran_before_it(void **state)
{
    (void)state;
    static const struct run runs[] = {{100, 400, 2}, {400, 500, 3}};
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json, "{" LOAD PAGE ",'vitals':[{'name':'LCP','value':450,'id':'a'}]",
                "5f0c6f4e-0000-4000-8000-000000000012", 0);
    add_trace(&json, runs, FP_COUNT(runs), 800);
    fp_buf_addf(&json, "}");
    fold_json(&arena, &json, &no_context, &delta);
    assert_without(find_function(&delta, FP_VITAL_LCP, "tag"), 150, 300);
    assert_without(find_function(&delta, FP_VITAL_LCP, "render"), 400, 425);
    assert_without(find(&delta, FP_VITAL_LCP, "host", FP_STR("tag.example")), 150, 300);
    assert_null(find(&delta, FP_VITAL_LCP, "host", FP_STR("shop.example")));
    fp_buf_release(&json);
    fp_arena_release(&arena);
}

static void page_loads_that_nobody_watched_are_not_profiled(void **state)
{
    (void)state;
    static const struct run runs[] = {{100, 400, 2}};
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json, "{" LOAD PAGE ",'vitals':[{'name':'LCP','value':450,'id':'a'}]}",
                "5f0c6f4e-0000-4000-8000-000000000013", 0);
    fold_json(&arena, &json, &no_context, &delta);
    assert_int_equal(delta.vital_count, 1);
    assert_false(delta.vitals[0].is_profiled);
    /* The profile ended before the interaction. */
    fp_buf_addf(&json,
                "{" LOAD PAGE ",'vitals':[{'name':'INP','value':300,'id':'a'}],"
                "'interactions':[",
                "5f0c6f4e-0000-4000-8000-000000000014", 0);
    add_interaction(&json, 2000, 300);
    fp_buf_addf(&json, "]");
    add_trace(&json, runs, FP_COUNT(runs), 500);
    fp_buf_addf(&json, "}");
    fold_json(&arena, &json, &no_context, &delta);
    assert_int_equal(delta.vital_count, 1);
    assert_false(delta.vitals[0].is_profiled);
    assert_int_equal(delta.without_count, 0);
    fp_buf_release(&json);
    fp_arena_release(&arena);
}

/* The vital comes with its element in one part, the trace in the next one. */
static void a_later_part_sends_the_vital_again_for_what_it_would_be(void **state)
{
    (void)state;
    static const struct run runs[] = {{1000, 1250, 1}};
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    struct fp_part part;
    struct fp_fold_context context = no_context;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json,
                "{" LOAD PAGE ",'vitals':[{'name':'INP','value':300,'id':'a',"
                "'target':'#buy'}],'interactions':[",
                "5f0c6f4e-0000-4000-8000-000000000015", 1);
    add_interaction(&json, 1000, 300);
    fp_buf_addf(&json, "]}");
    context.part = &part;
    fold_json(&arena, &json, &context, &delta);
    const struct fp_delta_vital first = delta.vitals[0];
    const uint64_t element = delta.timings[first.element].id;
    assert_int_equal(part.vital_count, 1);

    struct fp_part *copy = fp_part_copy(&part);
    assert_non_null(copy);
    const struct fp_part *earlier[] = {copy};
    context.part = NULL;
    context.earlier = earlier;
    context.earlier_count = 1;
    context.measures = 100;
    fp_buf_addf(&json, "{" LOAD PAGE, "5f0c6f4e-0000-4000-8000-000000000016", 0);
    add_trace(&json, runs, FP_COUNT(runs), 1400);
    fp_buf_addf(&json, "}");
    fold_json(&arena, &json, &context, &delta);
    assert_int_equal(delta.vital_count, 1);
    const struct fp_delta_vital *again = &delta.vitals[0];
    assert_int_equal(again->metric, first.metric);
    assert_int_equal(again->value_us, 300000);
    assert_int_equal(again->later, 1);
    assert_int_equal(delta.timings[again->element].id, element);
    assert_text(delta.timings[again->element].source, "#buy");
    assert_without(find_function(&delta, FP_VITAL_INP, "sort"), 50, 175);

    /* Samples after the interaction say nothing of it. */
    static const struct run others[] = {{1500, 1600, 1}};
    fp_buf_addf(&json,
                "{" LOAD PAGE ",'start':1450,'duration':200,'trace':{'resources':[],"
                "'frames':[{'name':'late'}],'stacks':[{'frameId':0}],'samples':["
                "{'timestamp':1500,'stackId':0},{'timestamp':1510,'stackId':0}]}}",
                "5f0c6f4e-0000-4000-8000-000000000017", 2);
    (void)others;
    fold_json(&arena, &json, &context, &delta);
    assert_int_equal(delta.vital_count, 0);
    free(copy);
    fp_buf_release(&json);
    fp_arena_release(&arena);
}

static void keeps_the_rank_of_the_inp_among_many_interactions(void **state)
{
    (void)state;
    enum { COUNT = 51 };
    static const struct run runs[] = {{0, 400, 3}, {1000, 1200, 1}};
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json,
                "{" LOAD PAGE ",'vitals':[{'name':'INP','value':250,'id':'a'}],"
                "'interactions':[",
                "5f0c6f4e-0000-4000-8000-000000000018", 0);
    add_interaction(&json, 0, 500);
    fp_buf_addf(&json, ",");
    add_interaction(&json, 1000, 250);
    for (unsigned i = 2; i < COUNT; i++) {
        fp_buf_addf(&json, ",");
        add_interaction(&json, 1000 + i * 100, 80);
    }
    fp_buf_addf(&json, "]");
    add_trace(&json, runs, FP_COUNT(runs), 1400);
    fp_buf_addf(&json, "}");
    fold_json(&arena, &json, &no_context, &delta);
    /* The second longest: then 500 and 80 ms. */
    assert_without(find_function(&delta, FP_VITAL_INP, "sort"), 80, 150);
    /* Then 250 and 100 ms. */
    assert_without(find_function(&delta, FP_VITAL_INP, "render"), 100, 250);
    fp_buf_release(&json);
    fp_arena_release(&arena);
}

/* ---- measures and responses ---- */

static void add_measure(struct fp_buf *json, const char *name, unsigned start_ms,
                        unsigned duration_ms)
{
    fp_buf_addf(json, "{'entryType':'measure','name':'%s','startTime':%u,'duration':%u}", name,
                start_ms, duration_ms);
}

/* Returns the value of a name that is looked at, number `skipped` from 0; NULL: there is none. */
static const struct fp_delta_profiled *find_profiled(const struct fp_delta *delta, const char *name,
                                                     unsigned skipped)
{
    for (uint32_t i = 0; i < delta->profiled_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[delta->profiled[i].timing];
        assert_int_equal(timing->kind, FP_TIMING_VITAL_PROFILED);
        assert_int_equal(timing->count, 0);
        if (fp_str_equal(timing->name, fp_str_of(name)) && skipped-- == 0)
            return &delta->profiled[i];
    }
    return NULL;
}

/* Returns what a value would be without a thing; NULL: the same. */
static const struct fp_delta_without *find_in(const struct fp_delta *delta,
                                              const struct fp_delta_profiled *profiled,
                                              const char *kind, struct fp_str name)
{
    assert_non_null(profiled);
    for (uint32_t i = 0; i < profiled->without_count; i++) {
        const struct fp_delta_without *without = &delta->withouts[profiled->first_without + i];
        const struct fp_delta_timing *timing = &delta->timings[without->timing];
        assert_true(fp_str_equal(timing->name, delta->timings[profiled->timing].name));
        if (fp_str_equal(timing->source, fp_str_of(kind)) && fp_str_equal(timing->function, name))
            return without;
    }
    return NULL;
}

static void measures_and_responses_are_shorter_without_what_ran_in_them(void **state)
{
    (void)state;
    static const struct run runs[] = {{100, 400, 2}, {400, 500, 3}};
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json, "{" LOAD PAGE ",'entries':[", "5f0c6f4e-0000-4000-8000-000000000021", 0);
    add_measure(&json, "search", 50, 400);
    fp_buf_addf(&json, ",");
    /* It would hide the vital. */
    add_measure(&json, "INP", 50, 400);
    fp_buf_addf(&json, ",");
    /* Nobody watched. */
    add_measure(&json, "later", 5000, 400);
    fp_buf_addf(&json,
                "],'responses':[{'type':'click','target':'#buy','start':100,'duration':500}]");
    add_trace(&json, runs, FP_COUNT(runs), 800);
    fp_buf_addf(&json, "}");
    fold_json(&arena, &json, &no_context, &delta);
    assert_int_equal(delta.profiled_count, 2);
    const struct fp_delta_profiled *search = find_profiled(&delta, "search", 0);
    assert_int_equal(search->now, fp_bin_of(400000));
    assert_without(find_in(&delta, search, "host", FP_STR("tag.example")), 100, 250);
    const struct fp_delta_profiled *response = find_profiled(&delta, "(response)", 0);
    assert_int_equal(response->now, fp_bin_of(500000));
    assert_without(find_in(&delta, response, "host", FP_STR("tag.example")), 200, 350);
    assert_null(find_in(&delta, response, "host", FP_STR("shop.example")));
    fp_buf_release(&json);
    fp_arena_release(&arena);
}

static void draws_among_many_names_and_values(void **state)
{
    (void)state;
    enum { NAMES = 9, VALUES = 5, TRIES = 99 };
    static const struct run runs[] = {{100, 400, 2}};
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    unsigned met[NAMES] = {0};
    fp_buf_init(&json, 1 << 20);
    for (unsigned try = 0; try < TRIES; try++) {
        fp_arena_init(&arena, TEST_ARENA_MAX);
        fp_buf_addf(&json, "{'load':'5f0c6f4e-0000-4000-8000-0000000000%02u'," PAGE ",'entries':[",
                    try);
        for (unsigned i = 0; i < NAMES * VALUES; i++) {
            char name[8];
            snprintf(name, sizeof(name), "n%u", i / VALUES);
            fp_buf_addf(&json, "%s", i > 0 ? "," : "");
            add_measure(&json, name, 100 + i % VALUES * 50, 200 + i);
        }
        fp_buf_addf(&json, "]");
        add_trace(&json, runs, FP_COUNT(runs), 800);
        fp_buf_addf(&json, "}");
        fold_json(&arena, &json, &no_context, &delta);
        assert_int_equal(delta.profiled_count, VALUES);
        unsigned names = 0;
        for (unsigned i = 0; i < NAMES; i++) {
            const char name[] = {'n', (char)('0' + i), '\0'};
            const bool is_met = find_profiled(&delta, name, 0) != NULL;
            met[i] += is_met;
            names += is_met;
        }
        assert_int_equal(names, 1);
        fp_arena_release(&arena);
    }
    for (unsigned i = 0; i < NAMES; i++)
        assert_true(met[i] > 0);
    fp_buf_release(&json);
}

/* The measure comes in one part, the trace in the next one, and then another trace. */
static void a_later_part_says_what_an_earlier_measure_would_be_once(void **state)
{
    (void)state;
    static const struct run runs[] = {{1000, 1250, 2}};
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    struct fp_part part;
    struct fp_part second;
    struct fp_fold_context context = no_context;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json, "{" LOAD PAGE ",'entries':[", "5f0c6f4e-0000-4000-8000-000000000025", 0);
    add_measure(&json, "search", 1000, 600);
    fp_buf_addf(&json, "]}");
    context.part = &part;
    context.measures = 100;
    fold_json(&arena, &json, &context, &delta);
    assert_int_equal(delta.profiled_count, 0);

    struct fp_part *copy = fp_part_copy(&part);
    assert_non_null(copy);
    const struct fp_part *earlier[] = {copy, NULL};
    context.part = &second;
    context.earlier = earlier;
    context.earlier_count = 1;
    fp_buf_addf(&json, "{" LOAD PAGE, "5f0c6f4e-0000-4000-8000-000000000026", 1);
    add_trace(&json, runs, FP_COUNT(runs), 1400);
    fp_buf_addf(&json, "}");
    fold_json(&arena, &json, &context, &delta);
    assert_int_equal(delta.profiled_count, 1);
    assert_without(
        find_in(&delta, find_profiled(&delta, "search", 0), "host", FP_STR("tag.example")), 350,
        475);

    struct fp_part *second_copy = fp_part_copy(&second);
    assert_non_null(second_copy);
    earlier[1] = second_copy;
    context.part = NULL;
    context.earlier_count = 2;
    fp_buf_addf(&json,
                "{" LOAD PAGE ",'start':1400,'duration':200,'trace':{'resources':[],"
                "'frames':[{'name':'late'}],'stacks':[{'frameId':0}],'samples':["
                "{'timestamp':1500,'stackId':0},{'timestamp':1510,'stackId':0}]}}",
                "5f0c6f4e-0000-4000-8000-000000000027", 2);
    fold_json(&arena, &json, &context, &delta);
    assert_int_equal(delta.profiled_count, 0);
    free(second_copy);
    free(copy);
    fp_buf_release(&json);
    fp_arena_release(&arena);
}

/* ---- what is picked ---- */

static void packages_are_those_that_urls_name(void **state)
{
    (void)state;
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    static const struct run runs[] = {{100, 300, 1}, {300, 400, 2}};
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json,
                "{" LOAD PAGE ",'vitals':[{'name':'LCP','value':450,'id':'a'}],'trace':{"
                "'resources':['https://shop.example/app.js',"
                "'https://shop.example/node_modules/react-dom/a.js',"
                "'https://shop.example/node_modules/react-dom/b.js'],"
                "'frames':[{'name':'main','resourceId':0,'line':1,'column':1},"
                "{'name':'render','resourceId':1,'line':2,'column':1},"
                "{'name':'commit','resourceId':2,'line':3,'column':1}],"
                "'stacks':[{'frameId':0},{'frameId':1,'parentId':0},{'frameId':2,'parentId':0}],"
                "'samples':[",
                "5f0c6f4e-0000-4000-8000-000000000031", 0);
    add_samples(&json, runs, FP_COUNT(runs), 800);
    fp_buf_addf(&json, "]}}");
    fold_json(&arena, &json, &no_context, &delta);
    assert_without(find(&delta, FP_VITAL_LCP, "package", FP_STR("react-dom")), 150, 300);
    assert_null(find(&delta, FP_VITAL_LCP, "package", FP_STR("")));
    fp_buf_release(&json);
    fp_arena_release(&arena);
}

/* Twelve functions, four foreign hosts with a package each. */
static void all_kinds_share_ten_picks(void **state)
{
    (void)state;
    enum { FUNCTIONS = 12, HOSTS = 4, ALL = FUNCTIONS + HOSTS };
    struct run runs[ALL];
    struct fp_arena arena;
    struct fp_buf json;
    struct fp_delta delta;
    unsigned at_ms = 100;
    for (unsigned i = 0; i < ALL; i++) {
        const unsigned next_ms = at_ms + 100 + 20 * i;
        runs[i] = (struct run){at_ms, next_ms, (int)i};
        at_ms = next_ms;
    }
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json,
                "{" LOAD PAGE ",'vitals':[{'name':'LCP','value':%u,'id':'a'}],'trace':{"
                "'resources':['https://shop.example/app.js'",
                "5f0c6f4e-0000-4000-8000-000000000032", 0, at_ms);
    for (unsigned i = 0; i < HOSTS; i++)
        fp_buf_addf(&json, ",'https://tag%u.example/p%u@1.0.0/a.js'", i, i);
    fp_buf_addf(&json, "],'frames':[");
    for (unsigned i = 0; i < ALL; i++)
        fp_buf_addf(&json, "%s{'name':'f%u','resourceId':%u,'line':%u,'column':1}",
                    i > 0 ? "," : "", i, i < FUNCTIONS ? 0 : i - FUNCTIONS + 1, i + 1);
    fp_buf_addf(&json, "],'stacks':[");
    for (unsigned i = 0; i < ALL; i++)
        fp_buf_addf(&json, "%s{'frameId':%u}", i > 0 ? "," : "", i);
    fp_buf_addf(&json, "],'samples':[");
    add_samples(&json, runs, ALL, at_ms);
    fp_buf_addf(&json, "]}}");
    fold_json(&arena, &json, &no_context, &delta);
    assert_int_equal(delta.vitals[0].without_count, 10);
    assert_non_null(find(&delta, FP_VITAL_LCP, "host", FP_STR("tag3.example")));
    assert_non_null(find(&delta, FP_VITAL_LCP, "package", FP_STR("p3")));
    assert_null(find(&delta, FP_VITAL_LCP, "host", FP_STR("tag1.example")));
    assert_non_null(find_function(&delta, FP_VITAL_LCP, "f15"));
    assert_null(find_function(&delta, FP_VITAL_LCP, "f0"));
    fp_buf_release(&json);
    fp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_interaction_becomes_the_inp),
        cmocka_unit_test(an_lcp_ends_earlier_without_what_ran_before_it),
        cmocka_unit_test(page_loads_that_nobody_watched_are_not_profiled),
        cmocka_unit_test(a_later_part_sends_the_vital_again_for_what_it_would_be),
        cmocka_unit_test(keeps_the_rank_of_the_inp_among_many_interactions),
        cmocka_unit_test(measures_and_responses_are_shorter_without_what_ran_in_them),
        cmocka_unit_test(draws_among_many_names_and_values),
        cmocka_unit_test(a_later_part_says_what_an_earlier_measure_would_be_once),
        cmocka_unit_test(packages_are_those_that_urls_name),
        cmocka_unit_test(all_kinds_share_ten_picks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
