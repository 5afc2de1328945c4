/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names over their ceilings: which of them become `(overflow)`.
 */
#include "site_test.h"

#include "collector/base/buf.h"
#include "collector/profile/fold/metrics.h"
#include "collector/rollup/ids.h"

#include <stdio.h>

static struct fp_delta fold_json(struct site *site, const char *text)
{
    const struct fp_fold_context context = context_of(site);
    struct fp_delta delta;
    fold_body(&site->arena, json_of(&site->arena, text), &context, &delta);
    return delta;
}

static int64_t overflowed(const struct site *site, enum fp_profile_metric metric)
{
    return fp_metrics_get(fp_metrics_join(site->metrics, &fp_profile_metrics), metric);
}

#define ENVELOPE(frames, stacks, samples)                                                          \
    "{'sampleInterval':10,'trace':{'resources':['https://shop.example/a.js',"                      \
    "'https://shop.example/b.js'],'frames':[" frames "],'stacks':[" stacks "],'samples':[" samples \
    "]}}"
#define FRAME(name, resource) "{'name':'" name "','resourceId':" resource "}"
#define ABC FRAME("a", "0") "," FRAME("b", "1") "," FRAME("c", "1")

static void add_path(const struct fp_delta *delta, uint32_t stack, struct fp_buf *out)
{
    const struct fp_delta_stack *at = &delta->stacks[stack];
    const struct fp_delta_frame *frame = &delta->frames[at->frame];
    if (at->parent != FP_INDEX_NONE) {
        add_path(delta, at->parent, out);
        fp_buf_addf(out, ";");
    }
    fp_buf_addf(out, "%.*s", FP_STR_ARG(frame->function));
    assert_int_equal(frame->kind == FP_FRAME_OVERFLOW,
                     fp_str_equal(frame->function, fp_str_of(overflow)));
}

/* `PATH SELF PATH SELF …` in milliseconds, then `| FRAME TOTAL …`. */
static void assert_stacks(const struct fp_delta *delta, const char *expected)
{
    struct fp_buf text;
    fp_buf_init(&text, 4096);
    for (uint32_t i = 0; i < delta->stack_sample_count; i++) {
        add_path(delta, delta->stack_samples[i].stack, &text);
        fp_buf_addf(&text, " %lld ", (long long)delta->stack_samples[i].self_us / 1000);
    }
    fp_buf_addf(&text, "|");
    for (uint32_t i = 0; i < delta->frame_count; i++)
        fp_buf_addf(&text, " %.*s %lld", FP_STR_ARG(delta->frames[i].function),
                    (long long)delta->frames[i].total_us / 1000);
    assert_false(text.failed);
    assert_text((struct fp_str){(const char *)text.data, text.len}, expected);
    fp_buf_release(&text);
}

static void a_frame_over_its_ceiling_is_replaced_in_its_place(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 2;
    struct fp_delta delta = fold_json(
        site, ENVELOPE(ABC,
                       "{'frameId':0},{'frameId':2,'parentId':0},{'frameId':1,'parentId':0},"
                       "{'frameId':0,'parentId':2}",
                       "{'timestamp':0,'stackId':1},{'timestamp':10,'stackId':3}"));
    assert_stacks(&delta, "a;c 10 a;(overflow);a 10 | a 20 c 10 (overflow) 10");
    const uint64_t site_id = fp_site_id(FP_STR("shop"));
    const struct fp_frame_key key = {fp_str_of(overflow), 0, FP_POSITION_NONE, FP_POSITION_NONE,
                                     FP_FRAME_OVERFLOW};
    assert_int_equal(delta.frames[2].id, fp_frame_id(site_id, &key));
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_FRAME), 1);
}

static void several_of_one_stack_count_each_sample_once(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC,
                                 "{'frameId':0},{'frameId':1,'parentId':0},"
                                 "{'frameId':2,'parentId':1}",
                                 "{'timestamp':0,'stackId':2},{'timestamp':10,'stackId':1}"));
    assert_stacks(&delta, "a;(overflow) 10 a;(overflow);(overflow) 10 | a 20 (overflow) 20");
    assert_int_equal(delta.frames[1].samples, 2);
    assert_int_equal(delta.resource_count, 1);
}

static void stacks_that_become_alike_are_one(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC,
                                 "{'frameId':0},{'frameId':1,'parentId':0},"
                                 "{'frameId':2,'parentId':0},{'frameId':0,'parentId':2}",
                                 "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1},"
                                 "{'timestamp':20,'stackId':2},{'timestamp':30,'stackId':3}"));
    assert_stacks(&delta, "a 10 a;(overflow) 20 a;(overflow);a 10 | a 40 (overflow) 30");
}

static void a_stack_over_its_ceiling_is_the_one_frame_and_leaves_nothing_behind(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_STACK] = 2;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC,
                                 "{'frameId':0},{'frameId':1,'parentId':0},"
                                 "{'frameId':2,'parentId':1}",
                                 "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':2}"));
    assert_stacks(&delta, "a 10 (overflow) 10 | a 10 (overflow) 10");
    assert_int_equal(delta.stack_count, 2);
    assert_int_equal(delta.resource_count, 1);
    assert_int_equal(delta.stacks[1].level, 1);
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_STACK), 1);

    /* The second upload knows the names that the first one was charged for. */
    delta = fold_json(site, ENVELOPE(ABC, "{'frameId':0},{'frameId':1,'parentId':0}",
                                     "{'timestamp':0,'stackId':1}"));
    assert_stacks(&delta, "a;b 10 | a 10 b 10");
}

static void the_stack_of_overflow_alone_is_free(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    site->limits.names[FP_NAME_STACK] = 1;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC, "{'frameId':0},{'frameId':1},{'frameId':2,'parentId':1}",
                                 "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1},"
                                 "{'timestamp':20,'stackId':2}"));
    assert_stacks(&delta, "a 10 (overflow) 20 | a 10 (overflow) 20");
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_STACK), 1);
}

static void judges_the_callees_of_an_overflow_stack_by_themselves(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    site->limits.names[FP_NAME_STACK] = 2;
    struct fp_delta delta =
        fold_json(site, ENVELOPE(ABC,
                                 "{'frameId':0},{'frameId':1},{'frameId':2,'parentId':1},"
                                 "{'frameId':0,'parentId':2}",
                                 "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1},"
                                 "{'timestamp':20,'stackId':2},{'timestamp':30,'stackId':3}"));
    assert_stacks(&delta, "a 10 (overflow) 20 (overflow);(overflow) 10 | a 10 (overflow) 30");
}

/* Ceilings decide on an upload in several steps, with other uploads between them. */
static void a_known_stack_on_a_refused_one_goes_with_it(void **state)
{
    struct site *site = *state;
    const char upload[] =
        ENVELOPE(ABC, "{'frameId':0},{'frameId':1,'parentId':0}", "{'timestamp':0,'stackId':1}");
    const struct fp_fold_context unbounded = {.site = FP_STR("shop")};
    struct fp_delta delta;
    fold_body(&site->arena, json_of(&site->arena, upload), &unbounded, &delta);
    const struct fp_ceilings_visit visit = {
        .ceilings = site->ceilings,
        .limits = &site->limits,
        .site = unbounded.site,
        .site_id = fp_site_id(unbounded.site),
    };
    bool refused;
    site->limits.names[FP_NAME_STACK] = 1;
    assert_int_equal(fp_ceilings_admit(&visit, FP_NAME_STACK, &delta.stacks[1].id, 1, &refused), 0);
    delta = fold_json(site, upload);
    assert_stacks(&delta, "(overflow) 10 | (overflow) 10");
    assert_int_equal(delta.stack_count, 1);
}

static void markers_stay_beside_overflow(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    struct fp_delta delta = fold_json(
        site, ENVELOPE(ABC, "{'frameId':0},{'frameId':1}",
                       "{'timestamp':0,'stackId':0},{'timestamp':10,'stackId':1,'marker':'gc'},"
                       "{'timestamp':20,'marker':'layout'},{'timestamp':30}"));
    assert_stacks(&delta, "a 10 (overflow) 10 (overflow) 10 | a 10 (overflow) 20");
    assert_int_equal(delta.split_count, 2);
    assert_int_equal(delta.splits[0].marker, FP_MARKER_GC);
    assert_int_equal(delta.splits[1].marker, FP_MARKER_LAYOUT);
    assert_int_equal(delta.unattributed_us, 10000);
}

static void timings_over_their_ceiling_are_counted_and_binned_by_kind(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_TIMING] = 1;
    struct fp_delta delta =
        fold_json(site, "{'measures':{'a':[1],'b':[2,3],'(overflow)':[5],'a2':[1]},"
                        "'marks':{'m':[7],'(overflow)':[9]}}");
    assert_int_equal(delta.timing_count, 3);
    uint32_t counts[FP_TIMING_KIND_COUNT] = {0};
    for (uint32_t i = 0; i < delta.timing_count; i++) {
        const struct fp_delta_timing *timing = &delta.timings[i];
        if (!fp_str_equal(timing->name, fp_str_of(overflow)))
            continue;
        counts[timing->kind] = timing->count;
        uint32_t binned = 0;
        for (uint32_t k = 0; k < timing->bin_count; k++)
            binned += delta.bins[timing->first_bin + k].count;
        assert_int_equal(binned, timing->count);
        const struct fp_timing_key key = {.kind = timing->kind, .name = timing->name};
        assert_int_equal(timing->id, fp_timing_id(fp_site_id(FP_STR("shop")), &key));
    }
    /* One name of each kind was admitted. */
    assert_true((counts[FP_TIMING_MEASURE] == 4 && counts[FP_TIMING_MARK] == 2) ||
                (counts[FP_TIMING_MEASURE] == 5 && counts[FP_TIMING_MARK] == 1));
}

static void routes_and_releases_over_their_ceilings_are_replaced(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_ROUTE] = 1;
    site->limits.names[FP_NAME_RELEASE] = 1;
    const char first[] = "{'marks':{'m':[1]},'release':'1','page':{'route':'/a'}}";
    for (int round = 0; round < 2; round++) {
        struct fp_delta delta = fold_json(site, first);
        assert_text(delta.segment.release, "1");
        assert_text(delta.segment.route, "/a");
        delta = fold_json(site, "{'marks':{'m':[1]},'release':'2','page':{'route':'/b'}}");
        assert_text(delta.segment.release, overflow);
        assert_text(delta.segment.route, overflow);
        delta = fold_json(site, "{'marks':{'m':[1]}}");
        assert_text(delta.segment.release, "");
        assert_text(delta.segment.route, "");
    }
}

static void assert_segment(struct site *site, const char *upload, const char *expected)
{
    const struct fp_delta delta = fold_json(site, upload);
    const struct fp_segment *segment = &delta.segment;
    char text[200];
    snprintf(text, sizeof(text), "%.*s|%.*s|%.*s|%.*s", FP_STR_ARG(segment->environment),
             FP_STR_ARG(segment->release), FP_STR_ARG(segment->route),
             FP_STR_ARG(segment->variant));
    assert_string_equal(text, expected);
}

#define IN(environment, release, route, variant)                                                   \
    "{'marks':{'m':[1]},'environment':'" environment "','release':'" release                       \
    "','page':{'route':'" route "'},'variant':'" variant "'}"

static void segments_lose_environment_then_release_then_route(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_SEGMENT] = 10; /* a tenth per step */
    for (char name[] = "0"; name[0] <= '9'; name[0]++) {
        char upload[200];
        char expected[20];
        snprintf(upload, sizeof(upload), IN("e", "%s", "/", "v"), name);
        snprintf(expected, sizeof(expected), "e|%s|/|v", name);
        assert_segment(site, upload, expected);
    }
    assert_segment(site, IN("e", "0", "/", "v"), "e|0|/|v");
    assert_segment(site, IN("f", "0", "/", "v"), "(overflow)|0|/|v");
    assert_segment(site, IN("g", "0", "/", "v"), "(overflow)|0|/|v");
    assert_segment(site, IN("g", "1", "/", "v"), "(overflow)|(overflow)|/|v");
    assert_segment(site, IN("g", "2", "/", "v"), "(overflow)|(overflow)|/|v");
    assert_segment(site, IN("g", "2", "/b", "v"), "(overflow)|(overflow)|(overflow)|v");
    assert_segment(site, IN("g", "2", "/b", "w"), "(overflow)|(overflow)|(overflow)|(overflow)");
    assert_segment(site, IN("", "2", "", "w"), "|(overflow)||(overflow)");
    assert_segment(site, IN("e", "5", "/", "v"), "e|5|/|v");
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_SEGMENT), 7);
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_RELEASE), 0);
}

static void assert_version(struct site *site, const char *user_agent, const char *upload,
                           const char *expected)
{
    struct fp_fold_context context = context_of(site);
    struct fp_delta delta;
    context.user_agent = fp_str_of(user_agent);
    fold_body(&site->arena, json_of(&site->arena, upload), &context, &delta);
    char text[200];
    snprintf(text, sizeof(text), "%.*s|%.*s", FP_STR_ARG(delta.segment.environment),
             FP_STR_ARG(delta.segment.browser_version));
    assert_string_equal(text, expected);
}

static void browser_versions_take_no_other_dimensions_room(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_SEGMENT] = 2;
    site->limits.names[FP_NAME_BROWSER_VERSION] = 2;
    assert_version(site, "Chrome/155.0", IN("e", "1", "/", "v"), "e|155");
    assert_version(site, "Chrome/156.0", IN("e", "1", "/", "v"), "e|156");
    assert_version(site, "Chrome/157.0", IN("e", "1", "/", "v"), "e|(overflow)");
    assert_version(site, "Chrome/156.0", IN("f", "1", "/", "v"), "f|(overflow)");
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_SEGMENT), 0);
    assert_version(site, "Chrome/156.0", IN("g", "1", "/", "v"), "(overflow)|(overflow)");
    assert_version(site, "Chrome/156.0", IN("e", "1", "/", "v"), "e|156");
    assert_version(site, "Chrome/x", IN("f", "1", "/", "v"), "f|");
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_SEGMENT), 1);
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_BROWSER_VERSION), 3);
}

static void assert_custom(struct site *site, const char *environment, const char *custom,
                          const char *expected)
{
    const struct fp_str names[] = {FP_STR("plan"), FP_STR("country")};
    struct fp_fold_context context = context_of(site);
    struct fp_delta delta;
    char upload[120];
    char text[200];
    context.custom = names;
    context.custom_count = FP_COUNT(names);
    snprintf(upload, sizeof(upload), "{'coverage':'quota','environment':'%s','custom':'%s'}",
             environment, custom);
    fold_body(&site->arena, json_of(&site->arena, upload), &context, &delta);
    snprintf(text, sizeof(text), "%.*s|%.*s", FP_STR_ARG(delta.segment.environment),
             FP_STR_ARG(delta.segment.custom));
    assert_string_equal(text, expected);
}

static void custom_dimensions_take_no_other_dimensions_room(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_SEGMENT] = 2;
    site->limits.names[FP_NAME_CUSTOM] = 4;
    site->limits.names[FP_NAME_CUSTOM_VALUE] = 3;
    assert_custom(site, "e", "plan=a", "e|plan=a");
    assert_custom(site, "e", "plan=a; country=a", "e|plan=a; country=a");
    assert_custom(site, "e", "plan=b", "e|plan=b");
    assert_custom(site, "e", "plan=c; country=a", "e|plan=(overflow); country=a");
    assert_custom(site, "f", "plan=a", "f|(overflow)");
    assert_custom(site, "e", "plan=d; country=a", "e|plan=(overflow); country=a");
    assert_custom(site, "g", "", "(overflow)|");
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_CUSTOM_VALUE), 2);
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_CUSTOM), 1);
    assert_int_equal(overflowed(site, FP_METRIC_NAMES_OVERFLOWED_SEGMENT), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_frame_over_its_ceiling_is_replaced_in_its_place),
        TEST(several_of_one_stack_count_each_sample_once),
        TEST(stacks_that_become_alike_are_one),
        TEST(a_stack_over_its_ceiling_is_the_one_frame_and_leaves_nothing_behind),
        TEST(the_stack_of_overflow_alone_is_free),
        TEST(judges_the_callees_of_an_overflow_stack_by_themselves),
        TEST(a_known_stack_on_a_refused_one_goes_with_it),
        TEST(markers_stay_beside_overflow),
        TEST(timings_over_their_ceiling_are_counted_and_binned_by_kind),
        TEST(routes_and_releases_over_their_ceilings_are_replaced),
        TEST(segments_lose_environment_then_release_then_route),
        TEST(browser_versions_take_no_other_dimensions_room),
        TEST(custom_dimensions_take_no_other_dimensions_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
