/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as V8 writes them, and other texts. */
#include "collector/format/reports/call_stack.c"

#include "../test.h"

struct expected {
    const char *function;
    const char *url;
    int32_t line;
    int32_t column;
};

static void each_form_of_a_line_gives_its_call(void **state)
{
    static const struct {
        const char *text;
        struct expected call;
    } cases[] = {
        {"    at spin (https://shop.example/app.js:12:34)",
         {"spin", "https://shop.example/app.js", 12, 34}},
        {"at https://shop.example/app.js:1:2", {"", "https://shop.example/app.js", 1, 2}},
        {"at https://shop.example:8443/app.js:7", {"", "https://shop.example:8443/app.js", 7, -1}},
        {"at async load (https://a.example/x.js:1:1)", {"load", "https://a.example/x.js", 1, 1}},
        {"at new Cart (https://a.example/x.js:1:1)", {"Cart", "https://a.example/x.js", 1, 1}},
        {"at Object.go [as run] (https://a.example/x.js:3:4)",
         {"Object.go [as run]", "https://a.example/x.js", 3, 4}},
        {"at Array.map (<anonymous>)", {"Array.map", "", -1, -1}},
        {"at JSON.parse (native code)", {"JSON.parse", "", -1, -1}},
        {"at eval (eval at f (https://a.example/x.js:1:1), <anonymous>:1:1)", {"eval", "", -1, -1}},
        {"at <anonymous>", {"<anonymous>", "", -1, -1}},
        {"at f (https://a.example/x.js:99999999999:1)",
         {"f", "https://a.example/x.js:99999999999", 1, -1}},
        {"at f (https://a.example/x.js:99999999999)", {"f", "", -1, -1}},
        {"at f (blob:https://a.example/0-1:2:3)", {"f", "blob:https://a.example/0-1", 2, 3}},
        {"at f (", {"f (", "", -1, -1}},
        {"at f ()", {"f", "", -1, -1}},
    };
    struct fp_profile_call calls[2];
    (void)state;
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        assert_int_equal(fp_call_stack_read(fp_str_of(cases[i].text), calls, 2), 1);
        assert_text(calls[0].function, cases[i].call.function);
        assert_text(calls[0].url, cases[i].call.url);
        assert_int_equal(calls[0].line, cases[i].call.line);
        assert_int_equal(calls[0].column, cases[i].call.column);
    }
}

static void skips_what_is_not_a_call(void **state)
{
    static const char *const texts[] = {"",
                                        "\n\n",
                                        "Error: at last",
                                        "atom (x:1:1)",
                                        "at ",
                                        "at",
                                        ("Website owner has not opted in for JS call stacks in "
                                         "crash reports.")};
    struct fp_profile_call calls[2];
    (void)state;
    for (size_t i = 0; i < FP_COUNT(texts); i++)
        assert_int_equal(fp_call_stack_read(fp_str_of(texts[i]), calls, 2), 0);
}

static void the_innermost_calls_are_kept_up_to_the_maximum(void **state)
{
    const struct fp_str text = FP_STR("RangeError\r\n    at a (https://x.example/a.js:1:1)\r\n"
                                      "    at b (https://x.example/a.js:2:2)\r\n"
                                      "    at c (https://x.example/a.js:3:3)");
    struct fp_profile_call calls[3];
    (void)state;
    assert_int_equal(fp_call_stack_read(text, calls, 2), 2);
    assert_text(calls[0].function, "a");
    assert_text(calls[1].function, "b");
    assert_int_equal(fp_call_stack_read(text, calls, 3), 3);
    assert_int_equal(calls[2].column, 3);
}

static void a_text_of_many_lines_is_not_read_to_its_end(void **state)
{
    static char text[3 * LINES_MAX];
    struct fp_profile_call calls[1];
    (void)state;
    memset(text, '\n', sizeof(text));
    memcpy(text + sizeof(text) - 8, "at f (x)", 8);
    assert_int_equal(fp_call_stack_read((struct fp_str){text, sizeof(text)}, calls, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_of_a_line_gives_its_call),
        cmocka_unit_test(skips_what_is_not_a_call),
        cmocka_unit_test(the_innermost_calls_are_kept_up_to_the_maximum),
        cmocka_unit_test(a_text_of_many_lines_is_not_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
