/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrubbed names: each row has a name and its result.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/scrub/name.h"

static const struct {
    const char *name;
    const char *scrubbed;
} rows[] = {
    {"", ""},
    {"cart opened", "cart opened"},
    {"a \"b\" \\ \n\r\t\x1b c", "a \"b\" \\ \n\r\t\x1b c"},
    {"/cart?x=secret", "/cart"},
    {"/cart#secret", "/cart"},
    {"GET https://u:secret@a.example/b?secret#secret \"x\" \\\n\x01",
     "GET https://a.example/b \"x\" \\\n\x01"},
    {"{\"password\": \"secret\"}", "{\"password\":(removed)"},
    {"Cookie: secret\nAccept: x", "Cookie:(removed)\nAccept: x"},
    {"C:\\temp\\u0041", "C:\\temp\\u0041"},
    {"mail jane@a.example", "mail (removed)"},
    {"mail jane%40a.example", "mail (removed)"},
    {"mail jane%2540a.example", "mail (removed)"},
    {"mail jane.o'secret@a.example", "mail (removed)"},
    {"'jane@a.example'", "'(removed)'"},
    {"mail 'jane@a.example'", "mail '(removed)'"},
    /* A URL in a query, or in a fragment. */
    {"login?next=https://a.example/secret", "login"},
    {"GET /login?next=https://a.example/secret done", "GET /login done"},
    {"GET /login?https://a.example/secret,https://b.example/secret", "GET /login"},
    {"GET /login#next=https://a.example/secret", "GET /login"},
    {"from=https://a.example/b?secret", "from=https://a.example/b"},
    {"really? https://a.example/b?secret", "really? https://a.example/b"},
    {"a?b https://a.example/b?x=secret", "a?b https://a.example/b"},
    /* A query and a fragment of a URL or a path, and what only looks like one. */
    {"load https://shop.example/x?secret", "load https://shop.example/x"},
    {"load https://shop.example/x#secret", "load https://shop.example/x"},
    {"load https://a:secret@shop.example/x;s=secret/y", "load https://shop.example/x/y"},
    {"https://shop.example/x?secret#secret", "https://shop.example/x"},
    {"GET /cart?secret", "GET /cart"},
    {"GET /cart#secret", "GET /cart"},
    {"GET /cart;v=secret/x", "GET /cart/x"},
    {"GET /cart;v=secret?a#b done", "GET /cart done"},
    {"fetch(/cart?secret)", "fetch(/cart"},
    {"url=/cart#secret", "url=/cart"},
    {"/cart?secret", "/cart"},
    {"/#/product/secret", "/"},
    {"is ready?", "is ready?"},
    {"is /cart ready?", "is /cart ready?"},
    {"open /cart?", "open /cart?"},
    {"step #3", "step #3"},
    {"#3", "#3"},
    {"a?b", "a?b"},
    {"a#b", "a#b"},
    {"yes/no?", "yes/no?"},
    {"1/3#2", "1/3#2"},
    {"C# and F#", "C# and F#"},
    {"a;b=c", "a;b=c"},
    {"Next.js-hydration", "Next.js-hydration"},
    {"fetch-1234", "fetch-1234"},
    {"\xe2\x9a\x9b Component", "\xe2\x9a\x9b Component"},
    {"App.render (3 of 7)", "App.render (3 of 7)"},
    {"javascript:secret", "javascript:"},
    {"\xc3\xa9 token=secret \xe2\x82\xac", "\xc3\xa9 token=(removed) \xe2\x82\xac"},
};

static void each_name_becomes_what_it_says(void **state)
{
    (void)state;
    const struct fp_scrub_rules rules = {0};
    for (size_t i = 0; i < FP_COUNT(rows); i++) {
        struct fp_arena arena;
        struct fp_str scrubbed;
        fp_arena_init(&arena, 1 << 16);
        assert_true(fp_scrub_name(&rules, fp_str_of(rows[i].name), &arena, &scrubbed));
        if (!fp_str_equal(scrubbed, fp_str_of(rows[i].scrubbed)))
            fail_msg("%s: %.*s", rows[i].name, (int)scrubbed.len, scrubbed.ptr);
        fp_arena_release(&arena);
    }
}

static void a_name_that_does_not_fit_is_told(void **state)
{
    (void)state;
    const struct fp_scrub_rules rules = {0};
    char name[4096];
    struct fp_str scrubbed;
    memset(name, ':', sizeof(name));
    for (size_t max = 0; max < 2 * sizeof(name); max += 512) {
        struct fp_arena arena;
        fp_arena_init(&arena, max);
        if (fp_scrub_name(&rules, (struct fp_str){name, sizeof(name)}, &arena, &scrubbed))
            assert_true(fp_str_equal(scrubbed, (struct fp_str){name, sizeof(name)}));
        else
            assert_true(max <= sizeof(name));
        fp_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_becomes_what_it_says),
        cmocka_unit_test(a_name_that_does_not_fit_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
