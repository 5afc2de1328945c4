/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trouble: the title of each status that the report answers with.
 */
#include "tests/unit/unit.h"

#include "cli/serve/trouble.c"

static void each_status_has_its_title(void **state)
{
    (void)state;
    /* RFC 9110, except for 500. */
    static const struct {
        unsigned status;
        const char *title;
    } cases[] = {
        {400, "Bad Request"},        {403, "Forbidden"},      {404, "Not Found"},
        {405, "Method Not Allowed"}, {500, "Internal Error"}, {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
    };
    assert_int_equal(FP_COUNT(titles), FP_COUNT(cases));
    for (size_t i = 0; i < FP_COUNT(cases); i++)
        assert_string_equal(title_of(cases[i].status), cases[i].title);
    assert_string_equal(title_of(418), "Error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_status_has_its_title)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
