/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function end: functions in brackets, those of one line, and those that do not show where they
 * end.
 */
#include "cli/ask/function_end.h"

#include "tests/unit/unit.h"

struct example {
    const char *text;
    unsigned first;
    unsigned end;
};

static void walk(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned end = fp_function_end(examples[i].text, examples[i].first);
        if (end != examples[i].end)
            fail_msg("ends on line %u, not %u:\n%s", end, examples[i].end, examples[i].text);
    }
}

static void ends_at_the_bracket_that_is_indented_as_the_first_line(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"function f() {\n  g(() => {\n  });\n}\nh();\n", 1, 4},
        {"function f()\n{\n  g();\n\n}\n", 1, 5},
        {"const f = (\n  a,\n) => {\n  g();\n};\n", 1, 5},
        {"class A {\n  f() {\n    g();\n  }\n}\n", 2, 4},
    };
    walk(examples, FP_COUNT(examples));
}

static void ends_a_function_without_a_bracket_before_the_next_statement(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"const f = (x) => x * 2;\nconst g = (x) => x * 3;\n", 1, 1},
        {"const f = (x) => x * 2;\n\nfunction g() {\n  h();\n}\n", 1, 1},
        {"const f = (x) => x * 2;", 1, 1},
        {"class A {\n  get x() { return 1; }\n}\n", 2, 2},
        {"const f = (x) =>\n  x * 2;\n\nconst g = 1;\n", 1, 2},
        {"const f = (x) => x\n  .map(g)\n  .length;\nconst g = 1;\n", 1, 3},
    };
    walk(examples, FP_COUNT(examples));
}

static void does_not_guess_where_nothing_shows_the_end(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"function f() {\ng();\n}\n", 1, 0},
        {"function f() {\n  g();\n", 1, 0},
        {"const f = (x) =>\nx * 2;\n", 1, 0},
        {"f();\n\ng();\n", 2, 0},
        {"f();\n", 2, 0},
        {"", 1, 0},
    };
    walk(examples, FP_COUNT(examples));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_at_the_bracket_that_is_indented_as_the_first_line),
        cmocka_unit_test(ends_a_function_without_a_bracket_before_the_next_statement),
        cmocka_unit_test(does_not_guess_where_nothing_shows_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
