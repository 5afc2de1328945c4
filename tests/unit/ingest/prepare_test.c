/*
 * Prepare: an upload is acknowledged only if what the spool gets of it can be read.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/prepare.c"

enum { MEMORY_MAX = 1 << 20 };

struct room {
    struct fp_arena arena;
    struct fp_buf record;
    struct fp_problem problem;
    struct fp_preparation work;
};

static void set_up(struct room *room)
{
    const struct fp_delta delta = {.segment = {.site = FP_STR("shop")}};
    *room = (struct room){
        .work = {.arena = &room->arena, .record = &room->record, .problem = &room->problem}};
    fp_arena_init(&room->arena, MEMORY_MAX);
    fp_buf_init(&room->record, MEMORY_MAX);
    fp_record_add(&room->record, &delta);
}

static void tear_down(struct room *room)
{
    fp_buf_release(&room->record);
    fp_arena_release(&room->arena);
}

static void a_record_that_can_be_read_is_accepted(void **state)
{
    (void)state;
    struct room room;
    set_up(&room);
    assert_true(check_readable(&room.work, 0));
    tear_down(&room);
}

/* Cuts the last delta of a record by a byte, as a defect of the encoder may. */
static void a_record_that_cannot_be_read_is_refused(void **state)
{
    (void)state;
    struct room room;
    set_up(&room);
    const size_t begin = room.record.len;
    const struct fp_delta delta = {.segment = {.site = FP_STR("shop")}};
    fp_record_add(&room.record, &delta);
    room.record.len--;
    assert_true(!check_readable(&room.work, begin));
    assert_int_equal(room.problem.reason, FP_REFUSAL_UNREADABLE);
    assert_non_null(strstr(room.problem.detail, "defect of fleetprof"));
    tear_down(&room);
}

static void memory_for_the_check_that_is_missing_is_another_reason(void **state)
{
    (void)state;
    struct room room;
    set_up(&room);
    room.arena.max_bytes = 1;
    assert_true(!check_readable(&room.work, 0));
    assert_int_equal(room.problem.reason, FP_REFUSAL_MEMORY);
    tear_down(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_can_be_read_is_accepted),
        cmocka_unit_test(a_record_that_cannot_be_read_is_refused),
        cmocka_unit_test(memory_for_the_check_that_is_missing_is_another_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
