/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guard: who may ask, by the names that a request uses.
 */
#include "tests/unit/unit.h"

#include "cli/serve/guard.c"

static void only_literal_loopback_passes_for_loopback(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        bool wanted;
    } cases[] = {
        {"localhost", true},
        {"LocalHost:8602", true},
        {"127.0.0.1", true},
        {"127.255.0.9:1", true},
        {"[::1]", true},
        {"[::1]:8602", true},
        {"[0:0:0:0:0:0:0:1]", true},
        {NULL, false},
        {"", false},
        {":80", false},
        {"localhost:", true},
        {"localhost:123456", false},
        {"localhost:8602x", false},
        {"localhost.", false},
        {"127.0.0.1.evil.example", false},
        {"127.1", false},
        {"0177.0.0.1", false},
        {"::1", false},
        {"[::1", false},
        {"[::1]x", false},
        {"[::ffff:127.0.0.1]", false},
        {"128.0.0.1", false},
    };
    const struct fp_guard guard = {.is_loopback = true};
    for (size_t i = 0; i < FP_COUNT(cases); i++)
        assert_int_equal(fp_guard_admits_host(&guard, cases[i].host), cases[i].wanted);
    const struct fp_guard wide = {.names = {"report.example"}, .name_count = 1};
    assert_true(fp_guard_admits_host(&wide, "REPORT.example:443"));
    assert_false(fp_guard_admits_host(&wide, "localhost"));
    assert_false(fp_guard_admits_host(&wide, "report.example.evil"));
    assert_true(fp_guard_admits_host(&(struct fp_guard){.any_host = true}, NULL));
}

static void addresses_of_this_machine_are_local(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool wanted;
    } cases[] = {
        {"127.0.0.1:1", true}, {"localhost:1", true},
        {"[::1]:1", true},     {"unix:/x", true},
        {"0.0.0.0:1", false},  {"[::]:1", false},
        {"10.0.0.1:1", false}, {"[::ffff:127.0.0.1]:1", false},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct fp_address address;
        assert_null(fp_address_parse(fp_str_of(cases[i].text), &address));
        assert_int_equal(fp_guard_is_local(&address), cases[i].wanted);
    }
}

static void only_the_page_itself_and_the_address_bar_may_ask(void **state)
{
    (void)state;
    static const struct {
        const char *sec_fetch_site;
        bool wanted;
    } cases[] = {
        {NULL, true},          {"none", true},         {"same-origin", true}, {"same-site", false},
        {"cross-site", false}, {"Same-Origin", false}, {"", false},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++)
        assert_int_equal(fp_guard_admits_fetch(cases[i].sec_fetch_site), cases[i].wanted);
}

static void names_have_no_port_and_no_pattern(void **state)
{
    (void)state;
    assert_true(fp_guard_is_host_name("report.example"));
    assert_true(fp_guard_is_host_name("[2001:db8::1]"));
    static const char *const wrong[] = {"", "a:1", "*", "a b", "http://a", "[::1", "[::1]:1", "a/"};
    for (size_t i = 0; i < FP_COUNT(wrong); i++)
        assert_false(fp_guard_is_host_name(wrong[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_literal_loopback_passes_for_loopback),
        cmocka_unit_test(addresses_of_this_machine_are_local),
        cmocka_unit_test(only_the_page_itself_and_the_address_bar_may_ask),
        cmocka_unit_test(names_have_no_port_and_no_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
