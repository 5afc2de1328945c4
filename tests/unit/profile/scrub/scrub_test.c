/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrubbed URLs, and the template that a path matches.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/scrub/scrub.h"

static const struct fp_str templates[] = {
    {"/product/:id", 12}, {"/cart", 5}, {"/", 1}, {"/help/*", 7}, {"/:lang/about", 12},
};

static const struct fp_scrub_rules rules = {.routes = templates,
                                            .route_count = FP_COUNT(templates)};

static const struct {
    const char *url;
    const char *route;
} routes[] = {
    {"https://shop.example/product/42", "/product/:id"},
    {"https://shop.example/product/42/", "/product/:id"},
    {"https://shop.example/product/42?color=red#top", "/product/:id"},
    {"http://shop.example:8080/product/42", "/product/:id"},
    {"https://ann:secret@shop.example/product/42", "/product/:id"},
    {"https://shop.example/product/", "/product/"},
    {"https://shop.example/product//x", "/product//x"},
    {"https://shop.example/product/42/reviews", "/product/42/reviews"},
    {"https://shop.example/cart/", "/cart"},
    {"https://shop.example/", "/"},
    {"https://shop.example/?utm=1", "/"},
    {"https://shop.example/help", "/help/*"},
    {"https://shop.example/help/a/b/c", "/help/*"},
    {"https://shop.example/de/about", "/:lang/about"},
    {"https://shop.example//about", "//about"},
    {"https://shop.example/Cart", "/Cart"},
    {"https://shop.example", ""},
    {"https://shop.example?x", ""},
    {"https://shop example/cart", ""},
    {"HTTPS://shop.example/cart", "/cart"},
    {"file:///home/ann/cart", ""},
    {"about:blank", ""},
    {"blob:https://shop.example/0f0f", ""},
    /* location.origin and location.pathname of pages in frames (srcdoc) and of blobs. */
    {"nullsrcdoc", ""},
    {"https://shop.examplehttps://shop.example/0f0f0f0f-1111", ""},
    {"/cart", ""},
    {"", ""},
};

static void a_page_takes_the_first_template_it_fits_or_its_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(routes); i++) {
        struct fp_arena arena;
        fp_arena_init(&arena, 64 * 1024);
        struct fp_str route;
        assert_true(fp_scrub_route(&rules, fp_str_of(routes[i].url), &arena, &route));
        if (!fp_str_equal(route, fp_str_of(routes[i].route)))
            fail_msg("%s: %.*s", routes[i].url, FP_STR_ARG(route));
        fp_arena_release(&arena);
    }
}

static void a_long_path_is_cut_between_its_characters(void **state)
{
    (void)state;
    char url[1024];
    int len = snprintf(url, sizeof(url), "https://shop.example/");
    for (int i = 0; i < 300; i++)
        len += snprintf(url + len, sizeof(url) - (size_t)len, "ж");
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * 1024);
    struct fp_str route;
    assert_true(fp_scrub_route(&rules, fp_str_of(url), &arena, &route));
    assert_int_equal(route.len, 1 + 199 * 2);
    fp_arena_release(&arena);
}

static const struct {
    const char *url;
    const char *scrubbed;
} resources[] = {
    {"https://cdn.example/app.js", "https://cdn.example/app.js"},
    {"https://cdn.example/app.js?v=3&key=secret", "https://cdn.example/app.js"},
    {"https://cdn.example/app.js#secret", "https://cdn.example/app.js"},
    {"https://cdn.example/app.js#a?b", "https://cdn.example/app.js"},
    {"https://ann:secret@cdn.example/app.js", "https://cdn.example/app.js"},
    {"https://ann@cdn.example/app.js", "https://cdn.example/app.js"},
    {"https://a@b:c@cdn.example/app.js", "https://cdn.example/app.js"},
    {"https:\\\\ann:secret@cdn.example/app.js", "https:\\\\cdn.example/app.js"},
    {"//ann:secret@cdn.example/app.js", "//cdn.example/app.js"},
    {"https://cdn.example/react@18.2.0/index.js", "https://cdn.example/react@18.2.0/index.js"},
    {"https://cdn.example:8443/a.mjs", "https://cdn.example:8443/a.mjs"},
    {"webpack-internal:///./src/app.js?1234", "webpack-internal:///./src/app.js"},
    {"webpack://ann:secret@shop/./src/app.js", "webpack://shop/./src/app.js"},
    {"wp:///https://ann:secret@cdn.example/x", "wp:///https://cdn.example/x"},
    {"https://a@proxy.example/https://b@cdn.example/x",
     "https://proxy.example/https://cdn.example/x"},
    {"see https://ann:secret@cdn.example/ and https://bob:pw@x.example/",
     "see https://cdn.example/ and https://x.example/"},
    {"my bundle.js?token=secret", "my bundle.js"},
    {"app.js", "app.js"},
    {"?secret", ""},
    {"", ""},
    {"chrome-extension://abcdefghijklmnop/content.js?x", "chrome-extension:"},
    {"moz-extension://0f0f-11/content.js", "moz-extension:"},
    {"safari-web-extension://0F-11/content.js", "safari-web-extension:"},
    {"javascript:alert('secret')", "javascript:"},
    {"file:///home/ann/work/app.js?x", "file:app.js"},
    {"file:///C:\\Users\\ann\\app.js", "file:app.js"},
    {"blob:https://shop.example/0f0f0f0f-1111-2222-3333-444444444444", "blob:https://shop.example"},
    {"blob:https://ann:pw@shop.example/0f0f", "blob:https://shop.example"},
    {"blob:null/0f0f0f0f-1111-2222-3333-444444444444", "blob:null"},
    {"BLOB:https://shop.example/0f0f", "blob:https://shop.example"},
    {"data:text/javascript,alert(1)", "data:text/javascript;xxh3=0000000000000000"},
    {"data:text/javascript;base64,YQ==", "data:text/javascript;xxh3=0000000000000000"},
    {"data:,x", "data:text/plain;xxh3=0000000000000000"},
    {"data:<secret>,x", "data:text/plain;xxh3=0000000000000000"},
    /* On the page's own origin, which is https://shop.example. */
    {"https://shop.example/product/7?x", "https://shop.example/product/:id"},
    {"https://SHOP.example/product/7", "https://SHOP.example/product/:id"},
    {"https://ann:secret@shop.example/product/7", "https://shop.example/product/:id"},
    {"https://shop.example/cart", "https://shop.example/cart"},
    {"https://shop.example/help/app.js", "https://shop.example/help/app.js"},
    {"https://shop.example/js/main.js?x", "https://shop.example/js/main.js"},
    /* Each ending of a script. */
    {"https://shop.example/product/7.js", "https://shop.example/product/7.js"},
    {"https://shop.example/product/7.mjs", "https://shop.example/product/7.mjs"},
    {"https://shop.example/product/7.cjs", "https://shop.example/product/7.cjs"},
    {"https://shop.example/product/7.jsx", "https://shop.example/product/7.jsx"},
    {"https://shop.example/product/7.ts", "https://shop.example/product/7.ts"},
    {"https://shop.example/product/7.tsx", "https://shop.example/product/7.tsx"},
    {"https://shop.example/product/7.wasm", "https://shop.example/product/7.wasm"},
    {"https://shop.example/product/7.html", "https://shop.example/product/:id"},
    {"https://other.example/product/7", "https://other.example/product/7"},
    {"http://shop.example/product/7", "http://shop.example/product/7"},
    {"https://shop.example:8443/product/7", "https://shop.example:8443/product/7"},
};

/* True if two texts differ only in the digits of a hash. */
static bool same_but_for_the_hash(struct fp_str actual, const char *expected)
{
    const char *hash = strstr(expected, ";xxh3=");
    size_t len = hash != NULL ? (size_t)(hash - expected) + 6 : strlen(expected);
    return actual.len == strlen(expected) && (len == 0 || memcmp(actual.ptr, expected, len) == 0);
}

static void a_resource_loses_what_is_private_or_different_each_time(void **state)
{
    (void)state;
    const struct fp_str page = FP_STR("https://shop.example/product/7");
    for (size_t i = 0; i < FP_COUNT(resources); i++) {
        struct fp_arena arena;
        fp_arena_init(&arena, 64 * 1024);
        struct fp_str scrubbed;
        assert_true(
            fp_scrub_resource(&rules, fp_str_of(resources[i].url), page, &arena, &scrubbed));
        if (!same_but_for_the_hash(scrubbed, resources[i].scrubbed))
            fail_msg("%s: %.*s", resources[i].url, FP_STR_ARG(scrubbed));
        fp_arena_release(&arena);
    }
}

static void different_data_urls_stay_different(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * 1024);
    struct fp_str first;
    struct fp_str second;
    struct fp_str again;
    const struct fp_str page = FP_STR("");
    assert_true(fp_scrub_resource(&rules, FP_STR("data:,a"), page, &arena, &first));
    assert_true(fp_scrub_resource(&rules, FP_STR("data:,b"), page, &arena, &second));
    assert_true(fp_scrub_resource(&rules, FP_STR("data:,a"), page, &arena, &again));
    assert_false(fp_str_equal(first, second));
    assert_true(fp_str_equal(first, again));
    fp_arena_release(&arena);
}

static void scrubbing_twice_changes_nothing(void **state)
{
    (void)state;
    const struct fp_str page = FP_STR("https://shop.example/product/7");
    for (size_t i = 0; i < FP_COUNT(resources); i++) {
        struct fp_arena arena;
        fp_arena_init(&arena, 64 * 1024);
        struct fp_str once;
        struct fp_str twice;
        assert_true(fp_scrub_resource(&rules, fp_str_of(resources[i].url), page, &arena, &once));
        assert_true(fp_scrub_resource(&rules, once, page, &arena, &twice));
        if (!fp_str_equal(once, twice))
            fail_msg("%.*s becomes %.*s", FP_STR_ARG(once), FP_STR_ARG(twice));
        fp_arena_release(&arena);
    }
}

static void nothing_hides_behind_the_hash_of_a_data_url(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "data:text/plain;xxh3=0123456789abcdef,secret", "data:text/plain;xxh3=secret6789abcdef",
        "data:<secret>;xxh3=0123456789abcdef", "data:text/plain;xxh3=0123456789abcdef?secret"};
    for (size_t i = 0; i < FP_COUNT(urls); i++) {
        struct fp_arena arena;
        fp_arena_init(&arena, 64 * 1024);
        struct fp_str scrubbed;
        assert_true(fp_scrub_resource(&rules, fp_str_of(urls[i]), FP_STR(""), &arena, &scrubbed));
        assert_true(same_but_for_the_hash(scrubbed, "data:text/plain;xxh3=0000000000000000"));
        fp_arena_release(&arena);
    }
}

static void queries_stay_when_the_site_wants_them_but_nothing_else_does(void **state)
{
    (void)state;
    const struct fp_scrub_rules keeping = {.keep_query = true};
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * 1024);
    struct fp_str scrubbed;
    assert_true(fp_scrub_resource(&keeping, FP_STR("https://u:p@cdn.example/a.js?v=3#f"),
                                  FP_STR(""), &arena, &scrubbed));
    assert_text(scrubbed, "https://cdn.example/a.js?v=3");
    fp_arena_release(&arena);
}

static const struct {
    const char *route_template;
    const char *wrong; /* a word of the message, NULL if valid */
} checks[] = {
    {"/", NULL},
    {"/cart", NULL},
    {"/cart/", NULL},
    {"/product/:id", NULL},
    {"/a/:b_2/c/*", NULL},
    {"/*", NULL},
    {"/~user/x.html", NULL},
    {"", "begins with /"},
    {"cart", "begins with /"},
    {"https://shop.example/", "begins with /"},
    {"/a//b", "empty"},
    {"//", "empty"},
    {"/:", "name"},
    {"/:a-b", "name"},
    {"/*/x", "*"},
    {"/a*", "*"},
    {"/a?x", "query"},
    {"/a#x", "query"},
    {"/a b", "white space"},
    {"/a\tb", "control"},
};

static void checks_templates_of_the_configuration(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(checks); i++) {
        const char *wrong = fp_route_check(fp_str_of(checks[i].route_template));
        bool as_expected = checks[i].wrong == NULL
                               ? wrong == NULL
                               : wrong != NULL && strstr(wrong, checks[i].wrong) != NULL;
        if (!as_expected)
            fail_msg("%s: %s", checks[i].route_template, wrong != NULL ? wrong : "good");
    }
    char long_template[300];
    snprintf(long_template, sizeof(long_template), "/%0200d", 0);
    assert_non_null(fp_route_check(fp_str_of(long_template)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_takes_the_first_template_it_fits_or_its_path),
        cmocka_unit_test(a_long_path_is_cut_between_its_characters),
        cmocka_unit_test(a_resource_loses_what_is_private_or_different_each_time),
        cmocka_unit_test(different_data_urls_stay_different),
        cmocka_unit_test(scrubbing_twice_changes_nothing),
        cmocka_unit_test(nothing_hides_behind_the_hash_of_a_data_url),
        cmocka_unit_test(queries_stay_when_the_site_wants_them_but_nothing_else_does),
        cmocka_unit_test(checks_templates_of_the_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
