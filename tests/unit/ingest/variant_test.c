/* SPDX-License-Identifier: Apache-2.0 */
/* Variants: no page can claim an arm, and what is proven is never cut. */
#include "tests/unit/unit.h"

#include "collector/ingest/variant.c"

#define A135                                                                                       \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=b"
#define O70 "oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo"

static struct fp_arena arena;

static void assert_joined(const char *arms, const char *own, const char *expected)
{
    struct fp_str variant;
    assert_true(fp_variant_join(fp_str_of(arms), fp_str_of(own), &arena, &variant));
    if (!fp_str_equal(variant, fp_str_of(expected)))
        fail_msg("%.*s", FP_STR_ARG(variant));
}

static void joins_proven_arms_and_claimed_words(void **state)
{
    (void)state;
    fp_arena_init(&arena, 1 << 16);
    assert_joined("", "", "");
    assert_joined("chat=off", "", "chat=off");
    assert_joined("", "blue", "blue");
    assert_joined("chat=off,hero=b", "blue", "chat=off,hero=b,blue");
    assert_joined("", "chat=off", "chat:off");
    assert_joined("chat=on", "chat=off,=", "chat=on,chat:off,:");
    assert_joined("", "\xc3\xbc=\xe2\x82\xac", "\xc3\xbc:\xe2\x82\xac");
    assert_int_equal(sizeof(A135) - 1, 135);
    assert_joined(A135, O70,
                  A135 ",oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo");
    fp_arena_release(&arena);
}

static void without_memory_the_variant_stays(void **state)
{
    (void)state;
    struct fp_str variant = FP_STR("before");
    fp_arena_init(&arena, 1);
    assert_false(fp_variant_join(FP_STR("chat=off"), FP_STR("blue"), &arena, &variant));
    assert_true(fp_str_equal(variant, FP_STR("before")));
    fp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_proven_arms_and_claimed_words),
        cmocka_unit_test(without_memory_the_variant_stays),
    };
    return cmocka_run_group_tests_name("ingest_variant", tests, NULL, NULL);
}
