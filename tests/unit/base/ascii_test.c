/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classes of characters against the C library's, and texts that are trimmed and compared.
 */
#include "collector/base/ascii.h"
#include "tests/unit/base/test.h"

#include <ctype.h>

/* A test program never calls setlocale: the C library's classes are those of the C locale. */
static void the_classes_are_those_of_the_c_locale(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char c = (char)i;
        assert_int_equal(fp_is_digit(c), isdigit(i) != 0);
        assert_int_equal(fp_is_lower(c), islower(i) != 0);
        assert_int_equal(fp_is_upper(c), isupper(i) != 0);
        assert_int_equal(fp_is_alpha(c), isalpha(i) != 0);
        assert_int_equal(fp_is_alnum(c), isalnum(i) != 0);
        assert_int_equal(fp_is_blank(c), isblank(i) != 0);
        assert_int_equal(fp_is_space(c), isspace(i) != 0);
        assert_int_equal((unsigned char)fp_to_lower(c), tolower(i));
        assert_int_equal(fp_hex_value(c) >= 0, isxdigit(i) != 0);
    }
}

static void hexadecimal_digits_have_their_values(void **state)
{
    (void)state;
    for (int value = 0; value < 16; value++) {
        assert_int_equal(fp_hex_value("0123456789abcdef"[value]), value);
        assert_int_equal(fp_hex_value("0123456789ABCDEF"[value]), value);
    }
}

static void trims_blanks_at_both_ends_only(void **state)
{
    (void)state;
    const struct {
        struct fp_str text, trimmed;
    } cases[] = {
        {FP_STR(" \t a b\t "), FP_STR("a b")}, {FP_STR("ab"), FP_STR("ab")},
        {FP_STR(" \t "), FP_STR("")},          {FP_STR(""), FP_STR("")},
        {FP_STR("\na\r"), FP_STR("\na\r")},    {{NULL, 0}, FP_STR("")},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++)
        assert_true(fp_str_equal(fp_str_trim(cases[i].text), cases[i].trimmed));
}

static void compares_in_any_case(void **state)
{
    (void)state;
    assert_true(fp_str_equal_nocase(FP_STR("GZip"), FP_STR("gzIP")));
    assert_true(fp_str_equal_nocase((struct fp_str){NULL, 0}, FP_STR("")));
    assert_false(fp_str_equal_nocase(FP_STR("gzip"), FP_STR("gzi")));
    assert_false(fp_str_equal_nocase(FP_STR("gzi"), FP_STR("gzip")));
    assert_false(fp_str_equal_nocase(FP_STR("@["), FP_STR("`{")));
    assert_false(fp_str_equal_nocase(FP_STR("\xC4"), FP_STR("\xE4")));
}

static void finds_prefixes(void **state)
{
    (void)state;
    assert_true(fp_str_has_prefix(FP_STR("STP/1"), FP_STR("STP/")));
    assert_true(fp_str_has_prefix(FP_STR("STP/"), FP_STR("STP/")));
    assert_true(fp_str_has_prefix((struct fp_str){NULL, 0}, FP_STR("")));
    assert_false(fp_str_has_prefix(FP_STR("STP"), FP_STR("STP/")));
    assert_false(fp_str_has_prefix(FP_STR("stp/"), FP_STR("STP/")));
    assert_true(fp_str_has_prefix_nocase(FP_STR("stp/1"), FP_STR("STP/")));
    assert_false(fp_str_has_prefix_nocase(FP_STR("st"), FP_STR("STP/")));
    assert_true(fp_str_equal(fp_str_skip(FP_STR("STP/1"), 4), FP_STR("1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_classes_are_those_of_the_c_locale),
        cmocka_unit_test(hexadecimal_digits_have_their_values),
        cmocka_unit_test(trims_blanks_at_both_ends_only),
        cmocka_unit_test(compares_in_any_case),
        cmocka_unit_test(finds_prefixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
