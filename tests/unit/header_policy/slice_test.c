/* SPDX-License-Identifier: Apache-2.0 */
/* The few operations on borrowed text and the caller's buffer. */
#include "header_policy/slice.c"

#include "test.h"

static void equality_is_of_bytes_and_the_other_of_letters_in_any_case(void **state)
{
    (void)state;
    assert_true(fleetprof_slice_equal(text(""), text(NULL)));
    assert_true(fleetprof_slice_equal(text("ab"), text("ab")));
    assert_false(fleetprof_slice_equal(text("ab"), text("Ab")));
    assert_false(fleetprof_slice_equal(text("ab"), text("abc")));
    assert_true(fleetprof_slice_is(text("AbZ-9"), text("abz-9")));
    assert_false(fleetprof_slice_is(text("ab["), text("ab{")));
    assert_false(fleetprof_slice_is(text("ab"), text("a")));
    assert_false(fleetprof_slice_is(text("xb"), text("ab")));
    assert_true(fleetprof_slice_is(text("ab"), text("ab")));
    assert_true(fleetprof_slice_is(text(""), text("")));
}

static void trimming_takes_blanks_off_both_ends_only(void **state)
{
    (void)state;
    assert_text(fleetprof_slice_trim(text(" \ta b\t ")), "a b");
    assert_text(fleetprof_slice_trim(text(" \t ")), "");
    assert_text(fleetprof_slice_trim(text("\n")), "\n");
}

static void splitting_gives_every_part_and_then_stops(void **state)
{
    struct fleetprof_slice rest = text(" a ,, b,");
    struct fleetprof_slice part;

    (void)state;
    assert_true(fleetprof_slice_split(&rest, ',', &part));
    assert_text(part, "a");
    assert_true(fleetprof_slice_split(&rest, ',', &part));
    assert_text(part, "");
    assert_true(fleetprof_slice_split(&rest, ',', &part));
    assert_text(part, "b");
    assert_true(fleetprof_slice_split(&rest, ',', &part));
    assert_text(part, "");
    assert_false(fleetprof_slice_split(&rest, ',', &part));
    assert_false(fleetprof_slice_split(&rest, ',', &part));
}

static void a_buffer_takes_what_fits_and_nothing_of_what_does_not(void **state)
{
    char memory[4] = "....";
    struct fleetprof_buffer buffer = {memory, 0, 3};

    (void)state;
    assert_true(fleetprof_buffer_put(&buffer, text("ab")));
    assert_false(fleetprof_buffer_put(&buffer, text("cd")));
    assert_true(fleetprof_buffer_put(&buffer, text(NULL)));
    assert_true(fleetprof_buffer_put(&buffer, text("c")));
    assert_false(fleetprof_buffer_put(&buffer, text("d")));
    assert_text(fleetprof_buffer_text(&buffer), "abc");
    assert_int_equal(memory[3], '.');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality_is_of_bytes_and_the_other_of_letters_in_any_case),
        cmocka_unit_test(trimming_takes_blanks_off_both_ends_only),
        cmocka_unit_test(splitting_gives_every_part_and_then_stops),
        cmocka_unit_test(a_buffer_takes_what_fits_and_nothing_of_what_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
