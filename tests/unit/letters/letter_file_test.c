/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A letter file reads back as written, and anything else is not a letter.
 */
#include "collector/letters/letter_file.c"

#include "tests/unit/unit.h"

static const struct fp_letter sample = {
    .received_us = 1795245309176231,
    .site = {"shop", 4},
    .problem = {.status = 422,
                .has_pointer = true,
                .pointer = "/trace/samples/0/stackId",
                .offset = -1,
                .detail = "there are 2 \"stacks\"\n"},
    .content_type = {"text/plain", 10},
    .encoding = {"gzip", 4},
    .has_key = true,
    .key = {{1, 2, 3}},
};

static struct fp_buf write_letter(const struct fp_letter *letter, struct fp_str body)
{
    struct fp_buf out;
    fp_buf_init(&out, 64 * 1024);
    fp_letter_add_head(letter, body.len, &out);
    fp_buf_add(&out, body.ptr, body.len);
    assert_false(out.failed);
    return out;
}

static bool read_letter(const struct fp_buf *bytes, size_t len, struct fp_arena *arena,
                        struct fp_letter *letter, struct fp_str *body)
{
    return fp_letter_read((struct fp_str){(const char *)bytes->data, len}, arena, letter, body) ==
           FP_LETTER_OK;
}

static void reads_back_what_was_written(void **state)
{
    (void)state;
    const struct fp_str sent = FP_STR("body\nwith lines\0and NULs");
    struct fp_buf bytes = write_letter(&sample, sent);
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * 1024);
    struct fp_letter letter;
    struct fp_str body;
    assert_true(read_letter(&bytes, bytes.len, &arena, &letter, &body));
    assert_true(fp_str_equal(body, sent));
    assert_int_equal(letter.received_us, sample.received_us);
    assert_true(fp_str_equal(letter.site, sample.site));
    assert_true(fp_str_equal(letter.content_type, sample.content_type));
    assert_true(fp_str_equal(letter.encoding, sample.encoding));
    assert_int_equal(letter.origin.len, 0);
    assert_int_equal(letter.format.len, 0);
    assert_int_equal(letter.problem.status, 422);
    assert_string_equal(letter.problem.detail, sample.problem.detail);
    assert_true(letter.problem.has_pointer);
    assert_string_equal(letter.problem.pointer, sample.problem.pointer);
    assert_int_equal(letter.problem.offset, -1);
    assert_true(letter.has_key && fp_uuid_equal(&letter.key, &sample.key));
    fp_arena_release(&arena);
    fp_buf_release(&bytes);
}

static void an_offset_of_0_and_a_pointer_of_nothing_are_places(void **state)
{
    (void)state;
    struct fp_letter given = sample;
    given.problem.offset = 0;
    given.problem.pointer[0] = '\0';
    given.has_key = false;
    struct fp_buf bytes = write_letter(&given, FP_STR(""));
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * 1024);
    struct fp_letter letter;
    struct fp_str body;
    assert_true(read_letter(&bytes, bytes.len, &arena, &letter, &body));
    assert_int_equal(letter.problem.offset, 0);
    assert_true(letter.problem.has_pointer);
    assert_string_equal(letter.problem.pointer, "");
    assert_int_equal(body.len, 0);
    assert_false(letter.has_key);
    fp_arena_release(&arena);
    fp_buf_release(&bytes);
}

static void headers_that_are_long_or_no_utf8_do_no_harm(void **state)
{
    (void)state;
    static char lots[8192];
    memset(lots, '\xff', sizeof(lots));
    struct fp_letter given = sample;
    given.origin = given.content_type = given.encoding = (struct fp_str){lots, sizeof(lots)};
    given.site = given.format = given.origin;
    memset(given.problem.detail, 1, sizeof(given.problem.detail) - 1);
    memset(given.problem.pointer, 1, sizeof(given.problem.pointer) - 1);
    struct fp_buf bytes = write_letter(&given, FP_STR("body"));
    const uint8_t *end = memchr(bytes.data, '\n', bytes.len);
    assert_true((size_t)(end - bytes.data) < FP_LETTER_HEAD_MAX);
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * 1024);
    struct fp_letter letter;
    struct fp_str body;
    assert_true(read_letter(&bytes, bytes.len, &arena, &letter, &body));
    assert_true(fp_str_equal(body, FP_STR("body")));
    fp_arena_release(&arena);
    fp_buf_release(&bytes);
}

/* Writes a letter with this format, reads it, and returns how much of the format is left. */
static size_t format_left(struct fp_str format)
{
    struct fp_letter given = sample;
    given.format = format;
    struct fp_buf bytes = write_letter(&given, FP_STR(""));
    struct fp_arena arena;
    struct fp_letter letter;
    struct fp_str body;
    fp_arena_init(&arena, 64 * 1024);
    assert_true(read_letter(&bytes, bytes.len, &arena, &letter, &body));
    size_t left = letter.format.len;
    fp_arena_release(&arena);
    fp_buf_release(&bytes);
    return left;
}

/* If the text were cut there, each remaining byte would be written as three. */
static void a_code_point_is_not_cut(void **state)
{
    (void)state;
    static const char *const points[] = {"\u00e9", "\u20ac", "\U0001f600"};
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        const size_t len = strlen(points[i]);
        for (size_t before = TEXT_MAX - len; before < TEXT_MAX; before++) {
            char text[TEXT_MAX + 8];
            memset(text, 'a', before);
            memcpy(text + before, points[i], len);
            size_t left = format_left((struct fp_str){text, before + len});
            assert_int_equal(left, before + len <= TEXT_MAX ? before + len : before);
        }
    }
    /* Text that is not UTF-8 has no beginning of a character to go back to. */
    char text[TEXT_MAX + 8];
    memset(text, '\x80', sizeof(text));
    assert_in_range(format_left((struct fp_str){text, sizeof(text)}), 3 * (TEXT_MAX - 3),
                    3 * TEXT_MAX);
}

/* Only we write letters, but a reader must not rely on that. */
static void a_place_that_is_none_and_a_detail_too_long_are_read_as_what_can_be(void **state)
{
    (void)state;
    enum { DETAIL_MAX = sizeof(((struct fp_problem *)NULL)->detail) - 1 };
    char file[DETAIL_MAX + 128];
    char filler[DETAIL_MAX];
    memset(filler, 'a', sizeof(filler));
    int len =
        snprintf(file, sizeof(file),
                 "{\"version\":1,\"body_bytes\":0,\"offset\":-5,\"detail\":\"%.*s\u20acb\"}\n",
                 DETAIL_MAX - 1, filler);
    struct fp_arena arena;
    struct fp_letter letter;
    struct fp_str body;
    fp_arena_init(&arena, 64 * 1024);
    assert_int_equal(fp_letter_read((struct fp_str){file, (size_t)len}, &arena, &letter, &body),
                     FP_LETTER_OK);
    assert_int_equal(letter.problem.offset, -1);
    assert_int_equal(strlen(letter.problem.detail), DETAIL_MAX - 1);
    fp_arena_release(&arena);
}

static void a_cut_letter_is_none(void **state)
{
    (void)state;
    struct fp_buf bytes = write_letter(&sample, FP_STR("body"));
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * 1024);
    struct fp_letter letter;
    struct fp_str body;
    for (size_t len = 0; len < bytes.len; len++)
        assert_false(read_letter(&bytes, len, &arena, &letter, &body));
    fp_buf_add(&bytes, "!", 1);
    assert_false(read_letter(&bytes, bytes.len, &arena, &letter, &body));
    fp_arena_release(&arena);
    fp_buf_release(&bytes);
}

static void other_json_is_no_letter(void **state)
{
    (void)state;
    static const char *const others[] = {
        "{}\n", "[]\n", "1\n", "\n", "{\"version\":2,\"body_bytes\":0}\n", "{\"version\":1}\nx",
    };
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * 1024);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct fp_letter letter;
        struct fp_str body;
        assert_int_equal(fp_letter_read(fp_str_of(others[i]), &arena, &letter, &body),
                         FP_LETTER_BROKEN);
    }
    fp_arena_release(&arena);
}

static void only_names_of_letters_are_letters(void **state)
{
    (void)state;
    char name[FP_LETTER_NAME_SIZE];
    uint64_t id = 0;
    fp_letter_name(0x00064413d5c3a1f0, name);
    assert_string_equal(name, "00064413d5c3a1f0.letter");
    assert_true(parse_name(name, &id));
    assert_true(id == 0x00064413d5c3a1f0);
    static const char *const others[] = {
        "",
        ".letter",
        "64413d5c3a1f0.letter",
        "00064413d5c3a1f0.tmp",
        "letter",
        "00064413D5C3A1F0.letter",
        "00064413d5c3a1f0.letter~",
        "000064413d5c3a1f0.letter",
        "../x",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(parse_name(others[i], &id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_what_was_written),
        cmocka_unit_test(an_offset_of_0_and_a_pointer_of_nothing_are_places),
        cmocka_unit_test(headers_that_are_long_or_no_utf8_do_no_harm),
        cmocka_unit_test(a_code_point_is_not_cut),
        cmocka_unit_test(a_place_that_is_none_and_a_detail_too_long_are_read_as_what_can_be),
        cmocka_unit_test(a_cut_letter_is_none),
        cmocka_unit_test(other_json_is_no_letter),
        cmocka_unit_test(only_names_of_letters_are_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
