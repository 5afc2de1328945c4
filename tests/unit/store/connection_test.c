/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection: which errors of the server pass by themselves.
 */
#include "tests/unit/unit.h"

#include "collector/store/connection.c"

static enum fp_store_result judge_row(const char *state, const char *constraint)
{
    struct fp_failure_place place = {.constraint = ""};
    snprintf(place.constraint, sizeof(place.constraint), "%s", constraint);
    return judge(&place, state);
}

static void each_passing_error_is_tried_again(void **state)
{
    (void)state;
    /* The last column is of the neighbouring class or code that must not match. */
    static const struct {
        const char *row;
        const char *sqlstate;
        const char *neighbour;
    } cases[] = {
        {"08", "08006", "09000"}, {"25006", "25006", "25001"}, {"40", "40P01", "42P01"},
        {"53", "53300", "54000"}, {"55P03", "55P03", "55000"}, {"57", "57014", "58030"},
    };
    assert_walks(passing, , cases, .row);
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        assert_int_equal(judge_row(cases[i].sqlstate, ""), FP_STORE_DOWN);
        assert_int_equal(judge_row(cases[i].neighbour, ""), FP_STORE_TROUBLE);
    }
}

static void only_the_faults_of_a_row_refuse_it(void **state)
{
    (void)state;
    static const struct {
        const char *sqlstate;
        const char *constraint;
        enum fp_store_result result;
    } cases[] = {
        {"22001", "", FP_STORE_REFUSED},
        {"22P02", "", FP_STORE_REFUSED},
        {"23502", "", FP_STORE_REFUSED},
        {"23514", "upload_part_check", FP_STORE_REFUSED},
        {"23505", "upload_pkey", FP_STORE_REFUSED},
        {"23514", "", FP_STORE_TROUBLE}, /* there is no partition for the row */
        {"42P01", "", FP_STORE_TROUBLE},
        {"21000", "", FP_STORE_TROUBLE},
        {"24000", "", FP_STORE_TROUBLE},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++)
        assert_int_equal(judge_row(cases[i].sqlstate, cases[i].constraint), cases[i].result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_passing_error_is_tried_again),
        cmocka_unit_test(only_the_faults_of_a_row_refuse_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
