/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSP: source lists match as in CSP Level 3.
 */
#include "tests/unit/unit.h"

#include "cli/doctor/csp.c"

#define PAGE "https://shop.example/cart/"

/* Asks about a script or an upload at `url`. */
static bool allows_script(const char *policy, const char *url)
{
    struct fp_str directive;
    return fp_csp_allows_script(policy, &(struct fp_csp_question){PAGE, url, "abc", "sha384-AbC="},
                                &directive);
}

static bool allows_connect(const char *policy, const char *url)
{
    struct fp_str directive;
    return fp_csp_allows_connect(policy, &(struct fp_csp_question){.page_url = PAGE, .url = url},
                                 &directive);
}

static void sources_match_as_the_standard_says(void **state)
{
    (void)state;
    static const struct {
        const char *sources;
        const char *url;
        bool matches;
    } cases[] = {
        {"'self'", "https://shop.example/v1/ingest/k", true},
        {"'SELF'", "https://shop.example/v1/ingest/k", true},
        {"'self'", "https://shop.example:8443/v1/ingest/k", false},
        {"'self'", "https://api.shop.example/", false},
        {"'none'", "https://shop.example/", false},
        {"", "https://shop.example/", false},
        {"*", "https://any.example/", true},
        {"https:", "https://any.example/", true},
        {"http:", "https://any.example/", true},
        {"https:", "http://any.example/", false},
        {"api.example", "https://api.example/", true},
        {"api.example", "http://api.example/", false},
        {"http://api.example", "https://api.example/", true},
        {"https://API.example", "https://api.example/", true},
        {"*.example", "https://api.example/", true},
        {"*.example", "https://a.api.example/", true},
        {"*.api.example", "https://api.example/", false},
        {"api.example:8600", "https://api.example:8600/", true},
        {"api.example:8600", "https://api.example/", false},
        {"api.example:*", "https://api.example:1/", true},
        {"api.example:80", "https://api.example/", true},
        {"http://api.example:80", "https://api.example/", true},
        {"api.example:80", "https://api.example:80/", true},
        {"api.example:80", "https://api.example:8443/", false},
        {"api.example:443", "https://api.example/", true},
        {"http://api.example:443", "http://api.example/", false},
        {"http://api.example", "http://api.example/", true},
        {"http://api.example", "http://api.example:443/", false},
        {"http://api.example", "https://api.example:80/", false},
        {"api.example/v1/", "https://api.example/v1/ingest/k", true},
        {"api.example/v1", "https://api.example/v1/ingest/k", false},
        {"api.example/v1/ingest/k", "https://api.example/v1/ingest/k", true},
        {"https://a.example  https://b.example", "https://b.example/", true},
        {"'unsafe-inline' 'nonce-abc'", "https://shop.example/", false},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        char policy[200];
        snprintf(policy, sizeof(policy), "default-src 'none'; connect-src %s", cases[i].sources);
        if (allows_connect(policy, cases[i].url) != cases[i].matches)
            fail_msg("\"%s\" and %s", cases[i].sources, cases[i].url);
    }
}

static void the_nearest_directive_decides_and_the_first_of_a_name(void **state)
{
    (void)state;
    const char *url = "https://shop.example/f.js";
    assert_true(allows_script("", url));
    assert_true(allows_script("img-src 'none'", url));
    assert_false(allows_script("default-src 'none'", url));
    assert_true(allows_script("default-src 'none'; script-src 'self'", url));
    assert_false(allows_script("script-src 'self'; script-src-elem 'none'", url));
    assert_true(allows_script("script-src 'self'; script-src 'none'", url));
    assert_true(allows_connect("script-src 'none'", url));
}

/* Checks that each directive decides before those after it. */
static void check_fallbacks(const char *const names[], const char *const expected[],
                            bool (*allows_url)(const char *, const char *))
{
    char policy[200];
    for (size_t i = 0; names[i] != NULL || expected[i] != NULL; i++) {
        assert_non_null(names[i]);
        assert_string_equal(names[i], expected[i]);
        const char *next = names[i + 1] != NULL ? names[i + 1] : "img-src";
        snprintf(policy, sizeof(policy), "%s 'none'; %s *", names[i], next);
        assert_false(allows_url(policy, "https://x.example/"));
        snprintf(policy, sizeof(policy), "%s 'none'; %s *", next, names[i]);
        assert_true(allows_url(policy, "https://x.example/"));
    }
}

static void each_directive_falls_back_to_the_next(void **state)
{
    (void)state;
    check_fallbacks(script_directives,
                    (const char *[]){"script-src-elem", "script-src", "default-src", NULL},
                    allows_script);
    check_fallbacks(connect_directives, (const char *[]){"connect-src", "default-src", NULL},
                    allows_connect);
}

static void every_policy_must_allow(void **state)
{
    (void)state;
    const char *url = "https://shop.example/f.js";
    assert_false(allows_script("script-src 'self', script-src 'none'", url));
    assert_true(allows_script("script-src 'self', img-src 'none'", url));
}

static void nonces_and_hashes_allow_a_tag(void **state)
{
    (void)state;
    const char *url = "https://cdn.example/f.js";
    assert_true(allows_script("script-src 'nonce-abc'", url));
    assert_false(allows_script("script-src 'nonce-ABC'", url));
    assert_false(allows_script("script-src 'nonce-ab'", url));
    assert_true(allows_script("script-src 'sha384-AbC='", url));
    assert_false(allows_script("script-src 'sha384-abc='", url));
    assert_true(allows_script("script-src 'strict-dynamic' 'nonce-abc'", url));
    assert_false(allows_script("script-src 'strict-dynamic' cdn.example", url));
    assert_true(allows_connect("connect-src 'strict-dynamic' cdn.example", url));
}

static void the_forbidding_directive_is_shown(void **state)
{
    (void)state;
    struct fp_str directive = {"", 0};
    const struct fp_csp_question question = {.page_url = PAGE, .url = "https://x.example/"};
    assert_false(fp_csp_allows_connect("img-src *; default-src 'self'", &question, &directive));
    assert_true(fp_str_equal(directive, FP_STR("default-src 'self'")));
}

static void a_sandbox_needs_its_flags(void **state)
{
    (void)state;
    assert_false(fp_csp_sandboxes("default-src 'self'", "allow-scripts"));
    assert_true(fp_csp_sandboxes("sandbox", "allow-scripts"));
    assert_false(fp_csp_sandboxes("sandbox allow-forms Allow-Scripts", "allow-scripts"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_match_as_the_standard_says),
        cmocka_unit_test(the_nearest_directive_decides_and_the_first_of_a_name),
        cmocka_unit_test(each_directive_falls_back_to_the_next),
        cmocka_unit_test(every_policy_must_allow),
        cmocka_unit_test(nonces_and_hashes_allow_a_tag),
        cmocka_unit_test(the_forbidding_directive_is_shown),
        cmocka_unit_test(a_sandbox_needs_its_flags),
    };
    return cmocka_run_group_tests_name("doctor_csp", tests, NULL, NULL);
}
