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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_interaction_becomes_the_inp),
        cmocka_unit_test(an_lcp_ends_earlier_without_what_ran_before_it),
        cmocka_unit_test(page_loads_that_nobody_watched_are_not_profiled),
        cmocka_unit_test(a_later_part_sends_the_vital_again_for_what_it_would_be),
        cmocka_unit_test(keeps_the_rank_of_the_inp_among_many_interactions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
