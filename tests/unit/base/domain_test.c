/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domain: registrable domains, and hosts that have none.
 */
#include "test.h"

#include "collector/base/domain.c"

static void finds_the_registrable_domain(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"https://img.shop.co.uk/a.js", "shop.co.uk"},
        {"https://shop.example", "shop.example"},
        {"https://cdn.a.b.shop.example:8443/a.js?b#c", "shop.example"},
        {"https://user:secret@www.shop.example/", "shop.example"},
        {"blob:https://www.shop.example/1234", "shop.example"},
        /* Everybody may have a page there: what follows is somebody's own. */
        {"https://alice.github.io/a.js", "alice.github.io"},
        {"https://d1234.cloudfront.net/a.js", "d1234.cloudfront.net"},
        /* None: the host. */
        {"https://github.io/a.js", "github.io"},
        {"http://localhost:8080/a.js", "localhost"},
        {"http://127.0.0.1:8080/a.js", "127.0.0.1"},
        {"http://[::1]:8080/a.js", "[::1]"},
        {"http://[::1/a.js", ""},
        {"/a.js", ""},
        {"data:text/javascript,1", ""},
        {"://", ""},
        {"https://", ""},
        {"", ""},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct fp_str domain = fp_domain_of_url(fp_str_of(cases[i][0]));
        assert_int_equal(domain.len, strlen(cases[i][1]));
        if (domain.len > 0)
            assert_memory_equal(domain.ptr, cases[i][1], domain.len);
    }
}

static void leaves_a_host_that_is_too_long_alone(void **state)
{
    (void)state;
    char url[400] = "https://";
    memset(url + 8, 'a', 300);
    memcpy(url + 308, ".example/a.js", sizeof(".example/a.js"));
    assert_int_equal(fp_domain_of_url(fp_str_of(url)).len, 308);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_registrable_domain),
        cmocka_unit_test(leaves_a_host_that_is_too_long_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
