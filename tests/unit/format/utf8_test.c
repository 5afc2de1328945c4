/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8: what is replaced, what is repaired, and what stays unchanged.
 */
#include "test.h"

#include "collector/format/utf8.c"

#include <iconv.h>

static void replaces_each_nul_and_keeps_the_rest(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * 1024);
    struct fp_str copy;
    assert_true(fp_utf8_copy(&arena, (struct fp_str){"\0a\0\0", 4}, &copy));
    assert_text(copy, "\xEF\xBF\xBD"
                      "a\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_true(fp_utf8_copy(&arena, FP_STR("имя"), &copy));
    assert_text(copy, "имя");
    assert_true(fp_utf8_copy(&arena, (struct fp_str){NULL, 0}, &copy));
    assert_text(copy, "");
    fp_arena_release(&arena);
}

static const struct {
    const char *title;
    const char *name;
    const char *repaired;
} names[] = {
    {"two bytes", "\xC3\x90\xC2\xB8", "\xD0\xB8"},
    {"three bytes", "\xC3\xA2\xC2\x82\xC2\xAC", "\xE2\x82\xAC"},
    {"four bytes", "\xC3\xB0\xC2\x9F\xC2\x9A\xC2\x80", "\xF0\x9F\x9A\x80"},
    {"among ASCII", "a\xC3\x83\xC2\xA9z", "a\xC3\xA9z"},
    {"ASCII alone", "plain", "plain"},
    {"nothing", "", ""},
    {"a letter that is not UTF-8 as a byte", "caf\xC3\xA9", "caf\xC3\xA9"},
    {"a code point above U+00FF", "\xC3\x90\xC2\xB8\xD0\xB8", "\xC3\x90\xC2\xB8\xD0\xB8"},
    {"a truncated sequence", "\xC3\xA2\xC2\x82", "\xC3\xA2\xC2\x82"},
    {"an overlong form", "\xC3\x80\xC2\x80", "\xC3\x80\xC2\x80"},
    {"an overlong form of three", "\xC3\xA0\xC2\x80\xC2\x80", "\xC3\xA0\xC2\x80\xC2\x80"},
    {"a surrogate", "\xC3\xAD\xC2\xA0\xC2\x80", "\xC3\xAD\xC2\xA0\xC2\x80"},
    {"beyond U+10FFFF", "\xC3\xB4\xC2\x90\xC2\x80\xC2\x80", "\xC3\xB4\xC2\x90\xC2\x80\xC2\x80"},
};

static void repairs_mojibake_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char bytes[32];
        size_t len = strlen(names[i].name);
        memcpy(bytes, names[i].name, len);
        struct fp_str repaired = fp_utf8_repair((struct fp_str){bytes, len});
        if (!fp_str_equal(repaired, fp_str_of(names[i].repaired)))
            fail_msg("%s: %.*s", names[i].title, FP_STR_ARG(repaired));
    }
}

static const struct {
    const char *title;
    const char *json;
    const char *paired;
} escapes[] = {
    {"a high one alone", "\"\\ud800\"", "\"\\ufffd\""},
    {"a low one alone", "\"\\uDFFF\"", "\"\\ufffd\""},
    {"a pair", "\"\\ud83d\\ude00\"", "\"\\ud83d\\ude00\""},
    {"two high ones and a low one", "\"\\ud83d\\ud83d\\ude00\"", "\"\\ufffd\\ud83d\\ude00\""},
    {"a pair and a low one", "\"\\ud83d\\ude00\\ude00\"", "\"\\ud83d\\ude00\\ufffd\""},
    {"a high one before another escape", "\"\\ud800\\n\"", "\"\\ufffd\\n\""},
    {"an escaped backslash before u", "\"\\\\ud800\"", "\"\\\\ud800\""},
    {"at the very end", "\"\\ud800", "\"\\ufffd"},
    {"truncated", "\"\\ud80", "\"\\ud80"},
    {"a backslash at the end", "\"\\", "\"\\"},
    {"other escapes", "\"\\u0041\\t\"", "\"\\u0041\\t\""},
};

static void pairs_escapes_of_surrogates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        char bytes[32];
        size_t len = strlen(escapes[i].json);
        memcpy(bytes, escapes[i].json, len);
        bool changed = strcmp(escapes[i].json, escapes[i].paired) != 0;
        assert_int_equal(fp_utf8_pair_escapes(bytes, len), changed);
        if (memcmp(bytes, escapes[i].paired, len) != 0)
            fail_msg("%s: %.*s", escapes[i].title, (int)len, bytes);
    }
}

static void knows_valid_from_invalid(void **state)
{
    (void)state;
    static const char *const valid[] = {"",
                                        "plain",
                                        "\x7F",
                                        "\xC2\x80",
                                        "\xDF\xBF",
                                        "\xE0\xA0\x80",
                                        "\xED\x9F\xBF",
                                        "\xEF\xBF\xBF",
                                        "\xF0\x90\x80\x80",
                                        "\xF4\x8F\xBF\xBF",
                                        "a\xC3\xA9z"};
    static const char *const invalid[] = {"\x80",
                                          "\xBF",
                                          "\xC0\x80",
                                          "\xC1\xBF",
                                          "\xC3",
                                          "\xC3(",
                                          "\xC3\xC3\xA9",
                                          "\xE0\x9F\xBF",
                                          "\xE2\x82",
                                          "\xE2\x28\xA1",
                                          "\xED\xA0\x80",
                                          "\xF0\x8F\xBF\xBF",
                                          "\xF0\x90\x80",
                                          "\xF4\x90\x80\x80",
                                          "\xF5\x80\x80\x80",
                                          "\xFF",
                                          "a\xC3\xA9\xA9"};
    for (size_t i = 0; i < FP_COUNT(valid); i++)
        assert_true(fp_utf8_is_valid(fp_str_of(valid[i])));
    for (size_t i = 0; i < FP_COUNT(invalid); i++)
        assert_false(fp_utf8_is_valid(fp_str_of(invalid[i])));
}

/* As the C library has it. The five bytes that Windows leaves out are control characters (WHATWG
 * Encoding). */
static void reads_windows_1252_as_browsers_do(void **state)
{
    (void)state;
    iconv_t converter = iconv_open("UTF-8", "WINDOWS-1252");
    assert_true(converter != (iconv_t)-1);
    for (unsigned byte = 1; byte < 256; byte++) {
        char from[1] = {(char)byte};
        char expected[8] = {0};
        char *in = from;
        char *out = expected;
        size_t in_left = 1;
        size_t out_left = sizeof(expected) - 1;
        if (iconv(converter, &in, &in_left, &out, &out_left) == (size_t)-1)
            snprintf(expected, sizeof(expected), "\xC2%c", byte);
        struct fp_buf read;
        fp_buf_init(&read, 64);
        fp_utf8_add_windows_1252((struct fp_str){from, 1}, &read);
        fp_buf_add(&read, "", 1);
        assert_string_equal((const char *)read.data, expected);
        fp_buf_release(&read);
    }
    assert_int_equal(iconv_close(converter), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_windows_1252_as_browsers_do),
        cmocka_unit_test(knows_valid_from_invalid),
        cmocka_unit_test(replaces_each_nul_and_keeps_the_rest),
        cmocka_unit_test(repairs_mojibake_and_nothing_else),
        cmocka_unit_test(pairs_escapes_of_surrogates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
