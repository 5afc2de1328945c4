/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A site with ceilings on its names, for tests.
 */
#ifndef FP_TESTS_SITE_TEST_H
#define FP_TESTS_SITE_TEST_H

#include "tests/unit/profile/test.h"

enum { PLENTY = 1000000 };

static const char overflow[] = "(overflow)";

struct site {
    struct fp_metrics *metrics;
    struct fp_ceilings *ceilings;
    struct fp_ceiling_limits limits;
    struct fp_arena arena;
};

static inline int set_up(void **state)
{
    struct site *site = calloc(1, sizeof(*site));
    assert_non_null(site);
    site->metrics = fp_metrics_create();
    assert_non_null(site->metrics);
    site->ceilings = fp_ceilings_create(site->metrics);
    assert_non_null(site->ceilings);
    site->limits.memory = 1 << 20;
    for (size_t i = 0; i < FP_NAME_KINDS; i++)
        site->limits.names[i] = PLENTY;
    fp_arena_init(&site->arena, TEST_ARENA_MAX);
    *state = site;
    return 0;
}

static inline int tear_down(void **state)
{
    struct site *site = *state;
    fp_arena_release(&site->arena);
    fp_ceilings_free(site->ceilings);
    fp_metrics_free(site->metrics);
    free(site);
    return 0;
}

static inline struct fp_fold_context context_of(const struct site *site)
{
    return (struct fp_fold_context){
        .site = FP_STR("shop"), .ceilings = site->ceilings, .ceiling_limits = &site->limits};
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
