/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments: what a configuration may say, and that draws have the shares of their weights. */
#include "header_policy/arms.c"
#include "header_policy/sampling.h"

#include "test.h"

#include <stdio.h>

static enum fleetprof_arms_error add(struct fleetprof_arms *arms, const char *text)
{
    return fleetprof_arms_add(arms, (struct fleetprof_slice){text, strlen(text)});
}

static void configurations_are_checked(void **state)
{
    static const struct {
        const char *text;
        enum fleetprof_arms_error error;
    } cases[] = {
        {"chat=on:99,off:1", FLEETPROF_ARMS_OK},
        {"_0=A:1,b-_9:10000", FLEETPROF_ARMS_OK},
        {"a234567890123456=B234567890123456:1,b:01", FLEETPROF_ARMS_OK},
        {"x=1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1", FLEETPROF_ARMS_OK},
        {"", FLEETPROF_ARMS_SYNTAX},
        {"chat", FLEETPROF_ARMS_SYNTAX},
        {"chat=", FLEETPROF_ARMS_SYNTAX},
        {"chat=on", FLEETPROF_ARMS_SYNTAX},
        {"chat=on:1,", FLEETPROF_ARMS_SYNTAX},
        {"chat=on:1,,off:1", FLEETPROF_ARMS_SYNTAX},
        {"=on:1,off:1", FLEETPROF_ARMS_EXPERIMENT_NAME},
        {"Chat=on:1,off:1", FLEETPROF_ARMS_EXPERIMENT_NAME},
        {"a-b=on:1,off:1", FLEETPROF_ARMS_EXPERIMENT_NAME},
        {"a2345678901234567=on:1,off:1", FLEETPROF_ARMS_EXPERIMENT_NAME},
        {"chat=:1,off:1", FLEETPROF_ARMS_ARM_NAME},
        {"chat=o.n:1,off:1", FLEETPROF_ARMS_ARM_NAME},
        {"chat=a=b:1,off:1", FLEETPROF_ARMS_ARM_NAME},
        {"chat=B2345678901234567:1,off:1", FLEETPROF_ARMS_ARM_NAME},
        {"chat=on:,off:1", FLEETPROF_ARMS_WEIGHT},
        {"chat=on:0,off:1", FLEETPROF_ARMS_WEIGHT},
        {"chat=on:-1,off:1", FLEETPROF_ARMS_WEIGHT},
        {"chat=on:1.5,off:1", FLEETPROF_ARMS_WEIGHT},
        {"chat=on:99%,off:1%", FLEETPROF_ARMS_WEIGHT},
        {"chat=on:10001,off:1", FLEETPROF_ARMS_WEIGHT},
        {"chat=on:4294967297,off:1", FLEETPROF_ARMS_WEIGHT},
        {"chat=on:1:1,off:1", FLEETPROF_ARMS_WEIGHT},
        {"chat=on:1", FLEETPROF_ARMS_ONE},
        {"chat=on:1,on:1", FLEETPROF_ARMS_TWICE},
        {"chat=on:1,on2:1", FLEETPROF_ARMS_ALIKE},
        {"chat=off:1,on-fast:1,on:1", FLEETPROF_ARMS_ALIKE},
        {"x=1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1", FLEETPROF_ARMS_MANY},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fleetprof_arms arms = {.count = 0};
        assert_int_equal(add(&arms, cases[i].text), cases[i].error);
        assert_int_equal(arms.count, cases[i].error == FLEETPROF_ARMS_OK);
        assert_non_null(fleetprof_arms_error_text(cases[i].error));
    }
}

static void experiments_are_few_and_differ(void **state)
{
    struct fleetprof_arms arms = {.count = 0};

    (void)state;
    assert_int_equal(add(&arms, "a=x:1,y:1"), FLEETPROF_ARMS_OK);
    assert_int_equal(add(&arms, "a=x:1,z:1"), FLEETPROF_ARMS_EXPERIMENT_TWICE);
    assert_int_equal(add(&arms, "_a=x:1,z:1"), FLEETPROF_ARMS_EXPERIMENT_ALIKE);
    assert_int_equal(add(&arms, "b=x:1,y:1"), FLEETPROF_ARMS_OK);
    assert_int_equal(add(&arms, "c=x:1,y:1"), FLEETPROF_ARMS_OK);
    assert_int_equal(add(&arms, "d=x:1,y:1"), FLEETPROF_ARMS_OK);
    assert_int_equal(add(&arms, "e=x:1,y:1"), FLEETPROF_ARMS_EXPERIMENTS_MANY);
    assert_int_equal(arms.count, FLEETPROF_EXPERIMENTS_MAX);
}

static void the_longest_text_fits(void **state)
{
    static const char *const texts[] = {
        "a234567890123456=A234567890123456:1,b:1", "b234567890123456=A234567890123456:1,b:1",
        "c234567890123456=A234567890123456:1,b:1", "d234567890123456=A234567890123456:1,b:1"};
    const unsigned char drawn[FLEETPROF_EXPERIMENTS_MAX] = {0, 0, 0, 0};
    struct fleetprof_arms arms = {.count = 0};
    char text[FLEETPROF_ARMS_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < FLEETPROF_EXPERIMENTS_MAX; i++) {
        assert_int_equal(add(&arms, texts[i]), FLEETPROF_ARMS_OK);
    }
    assert_int_equal(fleetprof_arms_format(&arms, drawn, text), sizeof(text));
    assert_memory_equal(text, "a234567890123456=A234567890123456,b", 35);
}

static void the_ends_of_the_numbers_draw_the_first_and_the_last_arm(void **state)
{
    struct fleetprof_arms arms = {.count = 0};

    (void)state;
    assert_int_equal(add(&arms, "x=a:1,b:10000,c:1"), FLEETPROF_ARMS_OK);
    assert_int_equal(fleetprof_arm_draw(&arms.experiment[0], 0), 0);
    assert_int_equal(fleetprof_arm_draw(&arms.experiment[0], UINT64_MAX / 2), 1);
    assert_int_equal(fleetprof_arm_draw(&arms.experiment[0], UINT64_MAX), 2);
}

/* Five standard deviations of a binomial count, squared: by chance one count in two million. */
static void assert_share(size_t hits, size_t trials, double share)
{
    double off = (double)hits - (double)trials * share;

    assert_true(off * off < 25.0 * (double)trials * share * (1 - share));
}

enum { LOADS = 100000 };

/* Counts what 100,000 loads draw, at random or by the visitor, beside a sample of 10 %. */
static void draw_many(bool by_visitor)
{
    struct fleetprof_arms arms = {.count = 0};
    size_t off = 0, off_sampled = 0, off_blue = 0, sampled = 0;
    uint64_t state = 7;

    assert_int_equal(add(&arms, "chat=on:99,off:1"), FLEETPROF_ARMS_OK);
    assert_int_equal(add(&arms, "hero=red:1,blue:1"), FLEETPROF_ARMS_OK);
    for (unsigned i = 0; i < LOADS; i++) {
        char visitor[16];
        struct fleetprof_slice key = {visitor, (size_t)snprintf(visitor, sizeof(visitor), "%u", i)};
        bool is_sampled = fleetprof_sampled(
            by_visitor ? fleetprof_key_number(key) : fleetprof_random_number(&state), 100000);
        size_t arm[2];

        for (size_t j = 0; j < 2; j++) {
            arm[j] = fleetprof_arm_draw(
                &arms.experiment[j], by_visitor ? fleetprof_arm_number(arms.experiment[j].name, key)
                                                : fleetprof_random_number(&state));
        }
        sampled += is_sampled;
        off += arm[0] == 1;
        off_sampled += arm[0] == 1 && is_sampled;
        off_blue += arm[0] == 1 && arm[1] == 1;
    }
    assert_share(sampled, LOADS, 0.1);
    assert_share(off, LOADS, 0.01);
    assert_share(off_sampled, off, 0.1);
    assert_share(off_blue, off, 0.5);
}

static void loads_draw_by_weight_and_independently_of_the_sample(void **state)
{
    (void)state;
    draw_many(false);
    draw_many(true);
}

/* Servers of all versions have to agree. */
static void a_visitors_number_is_pinned(void **state)
{
    (void)state;
    assert_true(fleetprof_arm_number(FLEETPROF_SLICE("chat"), FLEETPROF_SLICE("visitor-1")) ==
                1908025228780615484u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations_are_checked),
        cmocka_unit_test(experiments_are_few_and_differ),
        cmocka_unit_test(the_longest_text_fits),
        cmocka_unit_test(the_ends_of_the_numbers_draw_the_first_and_the_last_arm),
        cmocka_unit_test(loads_draw_by_weight_and_independently_of_the_sample),
        cmocka_unit_test(a_visitors_number_is_pinned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
