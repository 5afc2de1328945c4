/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids: the hashed bytes of docs/internals/ids.md and the ids they give, pinned.
 */

#include "tests/unit/unit.h"

#include "collector/base/hash.h"
#include "collector/rollup/ids.c"

static const uint64_t site_id = UINT64_C(0x0102030405060708);

#define SITE "\x08\x07\x06\x05\x04\x03\x02\x01"
#define ZERO "\0\0\0\0\0\0\0\0"
#define NONE "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"

#define HASH(bytes) fp_hash64((bytes), sizeof(bytes) - 1)

static void hashes_the_bytes_that_are_written_down(void **state)
{
    (void)state;
    assert_true(fp_site_id(FP_STR("shop")) == HASH("S\4\0\0\0shop"));
    assert_true(fp_resource_id(site_id, FP_STR("/a.js")) == HASH("R" SITE "\5\0\0\0/a.js"));

    const struct fp_frame_key frame = {FP_STR("f"), 2, 258, 3, FP_FRAME_FUNCTION};
    assert_true(fp_frame_id(site_id, &frame) == HASH("F" SITE "\2\0\0\0\0\0\0\0"
                                                     "\2\1\0\0\0\0\0\0"
                                                     "\3\0\0\0\0\0\0\0" ZERO "\1\0\0\0f"));
    const struct fp_frame_key marker = {FP_STR("(gc)"), 0, FP_POSITION_NONE, FP_POSITION_NONE,
                                        FP_FRAME_MARKER};
    assert_true(fp_frame_id(site_id, &marker) == HASH("F" SITE ZERO NONE NONE "\2\0\0\0\0\0\0\0"
                                                      "\4\0\0\0(gc)"));

    assert_true(fp_stack_id(0, site_id) == HASH("K" ZERO SITE));
    const struct fp_timing_key measure = {.kind = FP_TIMING_MEASURE};
    assert_true(fp_timing_id(site_id, &measure) == HASH("T" SITE "\1\0\0\0\0\0\0\0\0\0\0\0"));
    struct fp_timing_key script = {FP_TIMING_FRAME_SCRIPT, FP_STR("a"), FP_STR("b"), FP_STR("c"),
                                   FP_NAVIGATION_UNKNOWN};
    assert_true(fp_timing_id(site_id, &script) == HASH("T" SITE "\x09\0\0\0\0\0\0\0"
                                                       "\1\0\0\0a\1\0\0\0b\1\0\0\0c"));
    script.navigation = FP_NAVIGATION_SOFT;
    assert_true(fp_timing_id(site_id, &script) == HASH("T" SITE "\x09\0\0\0\0\0\0\0"
                                                       "\1\0\0\0a\1\0\0\0b\1\0\0\0c\4\0\0\0soft"));

    const struct fp_uuid load = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
    const struct fp_delta_vital vital = {
        .metric = site_id, .vital = FP_VITAL_INP, .value_us = 336000};
    const struct fp_uuid vital_id = fp_vital_id(site_id, &load, &vital);
    const uint64_t hash = htobe64(HASH("V" SITE "\1\0\0\0\0\0\0\0" SITE "\x10\0\0\0"
                                       "\1\2\3\4\5\6\7\x08\x09\0\0\0\0\0\0\0"));
    assert_memory_equal(vital_id.bytes, load.bytes, 8);
    assert_memory_equal(vital_id.bytes + 8, &hash, 8);
    const struct fp_uuid left_out_id = fp_left_out_id(site_id, &load);
    const uint64_t left_out_hash =
        htobe64(HASH("L" SITE "\x10\0\0\0\1\2\3\4\5\6\7\x08\x09\0\0\0\0\0\0\0"));
    assert_memory_equal(left_out_id.bytes, load.bytes, 8);
    assert_memory_equal(left_out_id.bytes + 8, &left_out_hash, 8);

    const struct fp_segment segment = {.site = FP_STR("a"),
                                       .route = FP_STR("b"),
                                       .release = FP_STR("c"),
                                       .environment = FP_STR("d"),
                                       .variant = FP_STR("e"),
                                       .browser = FP_STR("f"),
                                       .os = FP_STR("g"),
                                       .device = FP_STR("h"),
                                       .thread = FP_STR("i"),
                                       .rate_ppm = 10000};
    assert_true(fp_segment_id(&segment) ==
                HASH("G\x10\x27\0\0\0\0\0\0"
                     "\1\0\0\0a\1\0\0\0b\1\0\0\0c\1\0\0\0d\1\0\0\0e\1\0\0\0f\1\0\0\0g\1\0\0\0h"
                     "\1\0\0\0i"));
}

static void only_a_frame_adds_to_an_id(void **state)
{
    (void)state;
    const struct fp_segment top = {.site = FP_STR("a")};
    struct fp_segment framed = top;
    framed.frame = FP_STR("same-origin");
    assert_true(fp_segment_id(&top) == HASH("G" ZERO "\1\0\0\0a" ZERO ZERO ZERO ZERO));
    assert_true(fp_segment_id(&framed) ==
                HASH("G" ZERO "\1\0\0\0a" ZERO ZERO ZERO ZERO "\x0b\0\0\0same-origin"));
    assert_true(fp_cohort_id(1, 1, &framed) == HASH("C\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0a"
                                                    "\x0b\0\0\0same-origin"));
}

static void a_cohort_is_its_level_and_what_it_keeps(void **state)
{
    (void)state;
    const struct fp_segment segment = {.site = FP_STR("a"),
                                       .route = FP_STR("b"),
                                       .release = FP_STR("c"),
                                       .environment = FP_STR("d"),
                                       .variant = FP_STR("e"),
                                       .browser = FP_STR("f"),
                                       .os = FP_STR("g"),
                                       .device = FP_STR("h"),
                                       .thread = FP_STR("i"),
                                       .rate_ppm = 10000};
    const unsigned site_environment_thread = 1 | 8 | 256;
    uint64_t id = fp_cohort_id(2, site_environment_thread, &segment);
    assert_true(id == HASH("C\2\0\0\0\0\0\0\0\x09\1\0\0\0\0\0\0"
                           "\1\0\0\0a\1\0\0\0d\1\0\0\0i"));
    assert_true(id != fp_cohort_id(3, site_environment_thread, &segment));
    assert_true(fp_cohort_id(1, 1, &segment) == UINT64_C(0xe342cc8753a78227));
}

/* Recorded once; they pin the whole chain, including hash function and byte order. */
static void gives_the_ids_it_gave_before(void **state)
{
    (void)state;
    const struct fp_frame_key frame = {FP_STR("render"), 7, 1, 2, FP_FRAME_FUNCTION};
    assert_true(fp_site_id(FP_STR("shop")) == UINT64_C(0x1e6e6ae49ba0d35f));
    assert_true(fp_frame_id(1, &frame) == UINT64_C(0xd176587968e019dc));
    assert_true(fp_stack_id(3, 4) == UINT64_C(0x72a72d91ad09d795));
}

static void each_field_makes_a_difference(void **state)
{
    (void)state;
    const struct fp_frame_key key = {FP_STR("f"), 1, 1, 1, FP_FRAME_FUNCTION};
    const struct fp_frame_key others[] = {
        {FP_STR("g"), 1, 1, 1, FP_FRAME_FUNCTION},
        {FP_STR("f"), 0, 1, 1, FP_FRAME_FUNCTION},
        {FP_STR("f"), 1, FP_POSITION_NONE, 1, FP_FRAME_FUNCTION},
        {FP_STR("f"), 1, 1, FP_POSITION_NONE, FP_FRAME_FUNCTION},
        {FP_STR("f"), 1, 1, 1, FP_FRAME_BUILTIN},
    };
    uint64_t id = fp_frame_id(site_id, &key);
    assert_true(id != fp_frame_id(site_id + 1, &key));
    for (size_t i = 0; i < FP_COUNT(others); i++)
        assert_true(id != fp_frame_id(site_id, &others[i]));
    assert_true(fp_stack_id(1, 2) != fp_stack_id(2, 1));
    const struct fp_timing_key timings[] = {
        {FP_TIMING_MARK, FP_STR("a"), FP_STR(""), FP_STR(""), FP_NAVIGATION_UNKNOWN},
        {FP_TIMING_MEASURE, FP_STR("a"), FP_STR(""), FP_STR(""), FP_NAVIGATION_UNKNOWN},
        {FP_TIMING_BLOCKING, FP_STR("a"), FP_STR(""), FP_STR(""), FP_NAVIGATION_UNKNOWN},
        {FP_TIMING_BLOCKING, FP_STR("a"), FP_STR("b"), FP_STR(""), FP_NAVIGATION_UNKNOWN},
        {FP_TIMING_BLOCKING, FP_STR("a"), FP_STR(""), FP_STR("b"), FP_NAVIGATION_UNKNOWN},
        {FP_TIMING_BLOCKING, FP_STR("a"), FP_STR(""), FP_STR("b"), FP_NAVIGATION_HARD},
        {FP_TIMING_BLOCKING, FP_STR("a"), FP_STR(""), FP_STR("b"), FP_NAVIGATION_SOFT},
    };
    for (size_t i = 0; i < FP_COUNT(timings); i++)
        for (size_t k = 0; k < i; k++)
            assert_true(fp_timing_id(1, &timings[i]) != fp_timing_id(1, &timings[k]));
    const struct fp_segment shifted[] = {{.release = FP_STR("a")}, {.environment = FP_STR("a")}};
    assert_true(fp_segment_id(&shifted[0]) != fp_segment_id(&shifted[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_the_bytes_that_are_written_down),
        cmocka_unit_test(only_a_frame_adds_to_an_id),
        cmocka_unit_test(a_cohort_is_its_level_and_what_it_keeps),
        cmocka_unit_test(gives_the_ids_it_gave_before),
        cmocka_unit_test(each_field_makes_a_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
