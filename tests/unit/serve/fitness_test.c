/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fitness: what a refused query's SQLSTATE means to who asks.
 */
#include "tests/unit/unit.h"

#include "cli/serve/fitness.c"

static void each_row_has_an_error_that_it_explains(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        const char *sqlstate;
        unsigned status;
        bool is_retried;
        bool is_stale; /* the connection is checked again */
        const char *words;
    } cases[] = {
        {"57014", "57014", 504, false, false, "--statement-timeout"},
        {"57P", "57P01", 503, true, true, "when it is back"},
        {"55P03", "55P03", 503, true, false, "in a moment"},
        {"40", "40P01", 503, true, false, "in a moment"},
        {"53", "53300", 503, true, true, "log"},
        {"22", "22023", 400, false, false, NULL},
        {"54", "54001", 400, false, false, NULL},
        {"P0002", "P0002", 404, false, false, NULL},
        {"42501", "42501", 503, false, true, "fleetprof_reader"},
        {"42", "42883", 503, false, true, "fleetprof migrate"},
        {"3F000", "3F000", 503, false, true, "right database"},
        {"", "XX000", 500, false, true, NULL},
    };
    assert_walks(explanations, .sqlstate, cases, .row);
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        const struct explanation *found = find_explanation(cases[i].sqlstate);
        assert_string_equal(found->sqlstate, cases[i].row);
        assert_int_equal(found->status, cases[i].status);
        assert_int_equal(found->retry_s > 0, cases[i].is_retried);
        assert_int_equal(found->is_stale, cases[i].is_stale);
        if (cases[i].words != NULL)
            assert_non_null(strstr(found->hint, cases[i].words));
        else
            assert_null(found->hint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_has_an_error_that_it_explains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
