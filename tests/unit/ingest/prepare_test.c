/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepare: an upload is acknowledged only if what the spool gets of it can be read.
 */
#include "tests/unit/unit.h"

#include "collector/rollup/record.h"

/* An encoder with a defect: what it adds lacks its last bytes. */
static size_t lost_bytes;

static void add_with_defect(struct fp_buf *bytes, const struct fp_delta *delta)
{
    fp_record_add(bytes, delta);
    bytes->len -= lost_bytes;
}

#define fp_record_add add_with_defect
#include "collector/ingest/prepare.c"
#undef fp_record_add

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

/* Adds an upload to the record, as is done with each before its 204. */
static bool add_upload(struct room *room)
{
    static struct fp_rules rules;
    static const struct fp_upload upload = {.rules = &rules, .is_dry_run = true};
    static struct fp_profile profile;
    const struct piece piece = {.profile = &profile, .is_single = true};
    const struct fp_fold_context context = {.site = FP_STR("shop")};
    room->work.upload = &upload;
    return add_to_record(&room->work, &piece, &context);
}

static void an_upload_that_a_defect_makes_unreadable_is_not_acknowledged(void **state)
{
    (void)state;
    struct room room;
    set_up(&room);
    assert_true(add_upload(&room));
    lost_bytes = 1;
    assert_false(add_upload(&room));
    lost_bytes = 0;
    assert_int_equal(room.problem.reason, FP_REFUSAL_UNREADABLE);
    assert_int_equal(room.work.upload_count, 1);
    tear_down(&room);
}

static void each_error_has_the_reason_of_the_step_that_found_it(void **state)
{
    (void)state;
    static const struct {
        enum fp_verdict verdict;
        const char *pointer;
        enum fp_refusal inflating, decoding;
    } cases[] = {
        {FP_VERDICT_MALFORMED, NULL, FP_REFUSAL_COMPRESSION, FP_REFUSAL_NOT_JSON},
        {FP_VERDICT_TOO_LARGE, NULL, FP_REFUSAL_INFLATED_SIZE, FP_REFUSAL_LIMIT},
        {FP_VERDICT_UNSUPPORTED, NULL, FP_REFUSAL_ENCODING, FP_REFUSAL_FORMAT},
        {FP_VERDICT_INVALID, NULL, FP_REFUSAL_INVALID, FP_REFUSAL_INVALID},
        {FP_VERDICT_INVALID, "/versions", FP_REFUSAL_INVALID, FP_REFUSAL_INVALID},
        {FP_VERDICT_INVALID, "/version", FP_REFUSAL_VERSION, FP_REFUSAL_VERSION},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct fp_upload_error error = {.verdict = cases[i].verdict,
                                        .has_pointer = cases[i].pointer != NULL};
        if (cases[i].pointer != NULL)
            snprintf(error.pointer, sizeof(error.pointer), "%s", cases[i].pointer);
        assert_int_equal(reason_of(&error, INFLATER), cases[i].inflating);
        assert_int_equal(reason_of(&error, DECODER), cases[i].decoding);
    }
}

/* Each byte of a signature counts; zlib's two bytes are not one. */
static void a_body_is_compressed_by_its_first_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
    } signatures[] = {{"\x1f\x8b", 2}, {"\x28\xb5\x2f\xfd", 4}};
    for (size_t i = 0; i < FP_COUNT(signatures); i++) {
        char bytes[8] = {0};
        const size_t len = signatures[i].len;
        memcpy(bytes, signatures[i].bytes, len);
        assert_true(is_compressed((struct fp_str){bytes, len}));
        assert_true(is_compressed((struct fp_str){bytes, sizeof(bytes)}));
        assert_false(is_compressed((struct fp_str){bytes, len - 1}));
        for (size_t at = 0; at < len; at++) {
            bytes[at] ^= 1;
            assert_false(is_compressed((struct fp_str){bytes, sizeof(bytes)}));
            bytes[at] ^= 1;
        }
    }
    assert_false(is_compressed(FP_STR("\x78\x9c...")));
    assert_false(is_compressed(FP_STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_compressed_by_its_first_bytes),
        cmocka_unit_test(each_error_has_the_reason_of_the_step_that_found_it),
        cmocka_unit_test(a_record_that_can_be_read_is_accepted),
        cmocka_unit_test(a_record_that_cannot_be_read_is_refused),
        cmocka_unit_test(an_upload_that_a_defect_makes_unreadable_is_not_acknowledged),
        cmocka_unit_test(memory_for_the_check_that_is_missing_is_another_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
