/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the rows of groups from a COPY, and dividing groups into batches.
 */
#include "tests/unit/pack/random_pack.h"

#include "collector/sealer/groups.c"

/* Appends a row of a group with random entries. */
static void add_row(struct fp_buf *bytes, int64_t group_id, uint64_t *seed)
{
    struct fp_pack pack;
    fill(&pack, FP_PACK_STACK, 3, seed);
    fp_copy_fields(1 + pack.shape->column_count, bytes);
    fp_copy_bigint(group_id, bytes);
    fp_pack_encode(&pack, bytes);
    fp_pack_release(&pack);
}

/* Gives a message to the intake and empties the buffer. */
static bool take(struct intake *intake, struct fp_buf *message, bool *is_ours)
{
    bool taken = take_row(intake, message->data, message->len, is_ours);
    fp_buf_clear(message);
    return taken;
}

static void rows_of_a_group_become_one(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct fp_groups groups = {0};
    struct intake intake = {.shape = fp_pack_shape(FP_PACK_STACK), .groups = &groups};
    struct fp_buf message;
    bool is_ours;
    fp_buf_init(&message, BYTES_MAX);
    fp_copy_begin(&message); /* comes with the first row */
    /* 0 is also the id of no group yet. */
    static const int64_t ids[] = {INT64_MIN, INT64_MIN, 0, 0, 0, 5};
    for (size_t i = 0; i < FP_COUNT(ids); i++) {
        add_row(&message, ids[i], &seed);
        assert_true(take(&intake, &message, &is_ours) && is_ours);
    }
    fp_copy_end(&message);
    assert_true(take(&intake, &message, &is_ours) && is_ours);
    assert_true(intake.has_ended);
    assert_int_equal(groups.rows, FP_COUNT(ids));
    assert_int_equal(groups.count, 3);
    assert_true(groups.items[0].id == INT64_MIN);
    assert_int_equal(groups.items[1].id, 0);
    assert_int_equal(groups.items[2].id, 5);
    fp_groups_release(&groups);
    fp_ladder_release(&intake.ladder);
    fp_buf_release(&message);
}

static void no_rows_are_a_header_and_a_trailer(void **state)
{
    (void)state;
    struct fp_groups groups = {0};
    struct intake intake = {.shape = fp_pack_shape(FP_PACK_STACK), .groups = &groups};
    struct fp_buf message;
    bool is_ours;
    fp_buf_init(&message, BYTES_MAX);
    fp_copy_begin(&message);
    fp_copy_end(&message);
    assert_true(take(&intake, &message, &is_ours));
    assert_true(intake.has_ended);
    assert_int_equal(groups.count, 0);
    fp_buf_release(&message);
}

/* Under AddressSanitizer, also that nothing behind the bytes is read. */
static void a_row_that_is_cut_anywhere_is_refused(void **state)
{
    (void)state;
    uint64_t seed = 4;
    struct fp_buf whole;
    fp_buf_init(&whole, BYTES_MAX);
    fp_copy_begin(&whole);
    add_row(&whole, 9, &seed);
    for (size_t len = 0; len < whole.len; len++) {
        struct fp_groups groups = {0};
        struct intake intake = {.shape = fp_pack_shape(FP_PACK_STACK), .groups = &groups};
        bool is_ours;
        uint8_t *cut = malloc(len + (len == 0));
        assert_non_null(cut);
        memcpy(cut, whole.data, len);
        assert_false(take_row(&intake, cut, len, &is_ours));
        assert_false(is_ours);
        free(cut);
        fp_groups_release(&groups);
        fp_ladder_release(&intake.ladder);
    }
    fp_buf_release(&whole);
}

static void rows_of_other_groups_are_not_those_of_the_plan(void **state)
{
    (void)state;
    struct fp_group groups[] = {{.id = 2}, {.id = 7}};
    struct fp_groups read = {.items = groups, .count = 2, .rows = 3};
    struct intake intake = {.groups = &read, .has_ended = true};
    const struct fp_plan_item planned[] = {{.group_id = 2}, {.group_id = 7}};
    const struct fp_plan_item others[] = {{.group_id = 2}, {.group_id = 8}};
    assert_true(is_planned(&intake, planned, 2, 3));
    assert_false(is_planned(&intake, others, 2, 3));
    assert_false(is_planned(&intake, planned, 1, 3));
    assert_false(is_planned(&intake, planned, 2, 2));
    intake.has_ended = false;
    assert_false(is_planned(&intake, planned, 2, 3));
}

static void a_batch_is_bounded_and_never_empty(void **state)
{
    (void)state;
    enum { COUNT = FP_SEAL_GROUPS_MAX + 10 };
    static struct fp_plan_item items[COUNT];
    size_t width = fp_seal_entry_bytes(fp_pack_shape(FP_PACK_FRAME));
    assert_int_equal(width, 8 + 2 * 4 + 3 * 8 + 4 * 4);
    size_t most = FP_SEAL_BATCH_BYTES / width;
    for (size_t i = 0; i < COUNT; i++)
        items[i] = (struct fp_plan_item){.kind = FP_PACK_FRAME, .entries = 1};
    assert_int_equal(fp_plan_batch(items, COUNT), FP_SEAL_GROUPS_MAX);
    assert_int_equal(fp_plan_batch(items, 3), 3);
    items[1].entries = most - 2;
    assert_int_equal(fp_plan_batch(items, COUNT), 3);
    items[0].entries = most * 10; /* one group may be larger */
    assert_int_equal(fp_plan_batch(items, COUNT), 1);
    items[0].entries = most;
    items[1].kind = FP_PACK_STACK; /* another kind is another batch */
    items[0].entries = 1;
    items[1].entries = 1;
    assert_int_equal(fp_plan_batch(items, COUNT), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_group_become_one),
        cmocka_unit_test(no_rows_are_a_header_and_a_trailer),
        cmocka_unit_test(a_row_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(rows_of_other_groups_are_not_those_of_the_plan),
        cmocka_unit_test(a_batch_is_bounded_and_never_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
