/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of browsers in a delta: counts without values, and stacks as ids of frames. */
#include "site_test.h"

#include "collector/rollup/ids.h"

#include <inttypes.h>

#define CRASH(body)                                                                                \
    "{'type':'crash','url':'https://shop.example/cart?token=1','user_agent':'Mozilla/5.0 (X11; "   \
    "Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',"        \
    "'body':{" body "}}"
#define STACK                                                                                      \
    "'reason':'unresponsive','visibility_state':'hidden','is_top_level':false,'stack':'\\n    at " \
    "spin (https://shop.example/app.js?v=1:12:3)\\n    at main "                                   \
    "(https://shop.example/app.js?v=1:1:1)\\n    at Array.map (<anonymous>)'"

static struct fp_delta fold_json(struct site *site, const char *text)
{
    struct fp_delta delta;
    const struct fp_fold_context context = context_of(site);
    fold_body(&site->arena, json_of(&site->arena, text), &context, &delta);
    return delta;
}

static const struct fp_delta_timing *find(const struct fp_delta *delta, enum fp_timing_kind kind,
                                          const char *name, const char *source)
{
    for (uint32_t i = 0; i < delta->timing_count; i++)
        if (delta->timings[i].kind == kind &&
            fp_str_equal(delta->timings[i].name, fp_str_of(name)) &&
            fp_str_equal(delta->timings[i].source, fp_str_of(source)))
            return &delta->timings[i];
    fail_msg("no %s of %s", name, source);
    return NULL;
}

static void crashes_count_and_are_in_no_time(void **state)
{
    const struct fp_delta delta = fold_json(
        *state, "[" CRASH("") "," CRASH("") "," CRASH("'reason':'oom'") "," CRASH(STACK) "," CRASH(
                    STACK) ",{'type':'document-policy-violation','url':'https://shop.example/"
                           "cart?token=1','user_agent':'','body':{'policyId':'js-profiling'}}]");
    assert_int_equal(delta.format, FP_UPLOAD_REPORTS);
    assert_false(fp_delta_is_profiled(&delta));
    assert_text(delta.segment.route, "/cart");
    assert_text(delta.segment.browser, "Chrome");
    assert_text(delta.segment.os, "Linux");
    assert_text(delta.segment.thread, "window");
    assert_int_equal(delta.profiled_us, 0);
    assert_int_equal(delta.samples, 0);
    assert_int_equal(delta.bin_count, 0);
    assert_int_equal(find(&delta, FP_TIMING_HANG, "crash", "")->count, 2);
    assert_int_equal(find(&delta, FP_TIMING_HANG, "oom", "")->count, 1);
    const struct fp_delta_timing *hang =
        find(&delta, FP_TIMING_HANG, "unresponsive", "hidden frame");
    assert_int_equal(hang->count, 2);
    assert_int_equal(hang->sum_us, 0);
}

static void a_stack_is_the_ids_of_its_frames(void **state)
{
    char expected[128];
    const struct fp_delta delta =
        fold_json(*state, "[" CRASH("'reason':'oom'") "," CRASH(STACK) "]");
    assert_int_equal(delta.frame_count, 3);
    assert_int_equal(delta.resource_count, 1);
    assert_text(delta.resources[0].url, "https://shop.example/app.js");
    assert_text(delta.frames[0].function, "spin");
    assert_int_equal(delta.frames[0].line, 12);
    assert_int_equal(delta.frames[0].kind, FP_FRAME_FUNCTION);
    assert_int_equal(delta.frames[2].kind, FP_FRAME_BUILTIN);
    snprintf(expected, sizeof(expected), "%" PRId64 ",%" PRId64 ",%" PRId64,
             (int64_t)delta.frames[0].id, (int64_t)delta.frames[1].id, (int64_t)delta.frames[2].id);
    assert_text(find(&delta, FP_TIMING_HANG, "unresponsive", "hidden frame")->function, expected);
    assert_text(find(&delta, FP_TIMING_HANG, "oom", "")->function, "");
}

static void frames_over_the_ceiling_are_one_and_their_scripts_are_dropped(void **state)
{
    char expected[128];
    struct site *site = *state;
    site->limits.names[FP_NAME_FRAME] = 1;
    const struct fp_delta delta = fold_json(
        site, "[" CRASH("'reason':'unresponsive','stack':'at a (https://a.example/a.js:1:1)\\nat "
                        "b (https://b.example/b.js:1:1)\\nat c (https://c.example/c.js:1:1)'") "]");
    assert_int_equal(delta.frame_count, 2);
    assert_int_equal(delta.resource_count, 1);
    assert_text(delta.frames[0].function, "a");
    assert_int_equal(delta.frames[0].resource, 0);
    assert_text(delta.frames[1].function, overflow);
    snprintf(expected, sizeof(expected), "%" PRId64 ",%" PRId64 ",%" PRId64,
             (int64_t)delta.frames[0].id, (int64_t)delta.frames[1].id, (int64_t)delta.frames[1].id);
    assert_text(find(&delta, FP_TIMING_HANG, "unresponsive", "")->function, expected);
}

static void over_the_ceiling_on_timings_a_hang_loses_its_stack_and_still_counts(void **state)
{
    struct site *site = *state;
    site->limits.names[FP_NAME_TIMING] = 0;
    const struct fp_delta delta = fold_json(
        site, "[" CRASH(STACK) ",{'type':'document-policy-violation','url':'https://"
                               "shop.example/cart?token=1','body':{'policyId':'made-up'}}]");
    const struct fp_delta_timing *hang =
        find(&delta, FP_TIMING_HANG, "unresponsive", "hidden frame");
    assert_int_equal(hang->count, 1);
    assert_text(hang->function, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(crashes_count_and_are_in_no_time),
        TEST(a_stack_is_the_ids_of_its_frames),
        TEST(frames_over_the_ceiling_are_one_and_their_scripts_are_dropped),
        TEST(over_the_ceiling_on_timings_a_hang_loses_its_stack_and_still_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
