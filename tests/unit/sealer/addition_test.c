/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding groups to the rows of a block: parts of the groups with their rows, and sums.
 */
#include "tests/unit/pack/random_pack.h"

#include "collector/sealer/addition.c"

enum { GROUPS = 3 };

/* Fills groups of the ids 1 … GROUPS with two random entries each. */
static void fill_groups(struct fp_groups *groups, uint64_t *seed)
{
    *groups = (struct fp_groups){.kind = FP_PACK_STACK};
    for (int64_t id = 1; id <= GROUPS; id++) {
        struct fp_pack pack;
        fill(&pack, FP_PACK_STACK, 2, seed);
        assert_true(fp_groups_add(groups, id, &pack));
    }
}

static void a_part_takes_the_rows_of_its_groups(void **state)
{
    (void)state;
    uint64_t seed = 1;
    struct fp_groups groups;
    fill_groups(&groups, &seed);
    struct fp_plan_item rows[] = {{.group_id = 1, .entries = 1}, {.group_id = 3, .entries = 1}};
    struct part part = next_part(&groups, 0, &(struct fp_plan){.items = rows, .count = 2}, 0);
    assert_int_equal(part.count, GROUPS);
    assert_int_equal(part.row_count, 2);
    fp_groups_release(&groups);
}

/* A caller that finds rows left over refuses them. */
static void a_part_leaves_a_row_of_no_group(void **state)
{
    (void)state;
    uint64_t seed = 2;
    struct fp_groups groups;
    fill_groups(&groups, &seed);
    for (int64_t id = 0; id <= GROUPS + 1; id += GROUPS + 1) {
        struct fp_plan_item rows[] = {{.group_id = id}, {.group_id = GROUPS + 2}};
        struct part part = next_part(&groups, 0, &(struct fp_plan){.items = rows, .count = 2}, 0);
        assert_int_equal(part.count, GROUPS);
        assert_int_equal(part.row_count, 0);
    }
    fp_groups_release(&groups);
}

static void a_group_with_a_row_becomes_their_sum_and_others_stay(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct fp_groups groups;
    struct fp_groups rows = {.kind = FP_PACK_STACK};
    struct fp_pack pack;
    struct fp_group_ref refs[GROUPS];
    fill_groups(&groups, &seed);
    fill(&pack, FP_PACK_STACK, 2, &seed);
    assert_true(fp_groups_add(&rows, 2, &pack));
    assert_true(add_up(&(struct part){.groups = groups.items, .count = GROUPS}, &rows, refs));
    for (int64_t i = 0; i < GROUPS; i++)
        assert_true(refs[i].id == i + 1);
    assert_ptr_equal(refs[0].pack, &groups.items[0].pack);
    assert_ptr_equal(refs[1].pack, &rows.items[0].pack);
    assert_ptr_equal(refs[2].pack, &groups.items[2].pack);
    assert_true(refs[1].pack->count >= 2);
    fp_groups_release(&groups);
    fp_groups_release(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_takes_the_rows_of_its_groups),
        cmocka_unit_test(a_part_leaves_a_row_of_no_group),
        cmocka_unit_test(a_group_with_a_row_becomes_their_sum_and_others_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
