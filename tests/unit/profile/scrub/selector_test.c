/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors, invokers and hosts: what is kept of them.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/scrub/selector.c"

struct example {
    const char *raw;
    const char *kept;
};

static const struct example selectors[] = {
    {"", ""},
    {"button.add-to-cart", "button.add-to-cart"},
    {"html>body>div#root>main>h2.title", "html>body>div#root>main>h2.title"},
    {"#item-1234 > li:nth-child(3)::before", "#item-*>li:nth-child(*)::before"},
    {"div.css-1dbjc4n.sc-bdVaJa", "div.css-*.sc-*"},
    {"div#post-123e4567-e89b-42d3-a456-426614174000", "div#post-*"},
    {"#x123e4567-e89b-42d3-a456-426614174000", "#*"},
    /* As the agent sends them. */
    {"li#*-e*b-*d*-a*-*>b", "li#*>b"},
    {"#*-*-*-abcd-*.go", "#*.go"},
    {"#*-*-a-b-c-*-d-e-*", "#*"},
    {"#*-*-*-abcde-*", "#*-*-*-abcde-*"},
    {"#*-e*b-*d*-a*-", "#*-e*b-*d*-a*-"},
    {".123e4567-e89b-42d3-a456-426614174000", ".*"},
    {".deadbeefcafe", ".*"},
    {".col2.mt4", ".col*.mt*"},
    {"a[href=\"https://x.example/?token=abc]\"].go", "a[href].go"},
    {"my-element.a", "my-element.a"},
    /* Texts are not tags. */
    {"Buy now, John Smith!", "* * * *"},
    {"button 'Pay Jane'", "button *"},
    {"p:contains(\"my secret\")", "p:contains(*)"},
    {"ann@shop.example", "*"},
    {"div\\:weird\\31 x", "div*weird*x"},
    {"p>.a\\@b\\.c q", "p>* q"},
    {"#a\\40 b.c", "*"},
    {"div.token=abc", "*"},
    {"div.w-1\\/2.go", "div.w-*.go"},
    {"#a\\:b", "#a*b"},
    {"main div.jane.doe@shop.example", "main *"},
    {"div.\xc3\xa9t\xc3\xa9", "div.\xc3\xa9t\xc3\xa9"},
    {">>>", ""},
    {"(((", "*"},
};

static void keeps_structure_and_drops_content(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    for (size_t i = 0; i < FP_COUNT(selectors); i++) {
        struct fp_str kept;
        struct fp_str again;
        assert_true(fp_scrub_selector(fp_str_of(selectors[i].raw), false, &arena, &kept));
        if (!fp_str_equal(kept, fp_str_of(selectors[i].kept)))
            print_error("%s: %.*s\n", selectors[i].raw, FP_STR_ARG(kept));
        assert_text(kept, selectors[i].kept);
        assert_true(fp_scrub_selector(kept, false, &arena, &again));
        assert_text(again, selectors[i].kept);
    }
    fp_arena_release(&arena);
}

static void keeps_the_last_steps_of_a_long_one(void **state)
{
    (void)state;
    struct fp_arena arena;
    struct fp_str kept;
    char text[10240];
    fp_arena_init(&arena, TEST_ARENA_MAX);
    for (size_t i = 0; i + 4 < sizeof(text); i += 4)
        memcpy(text + i, "div>", 4);
    memcpy(text + sizeof(text) - 16, "button.buy-here", 16);
    assert_true(fp_scrub_selector(fp_str_of(text), false, &arena, &kept));
    assert_in_range(kept.len, 100, FP_SELECTOR_MAX);
    assert_memory_equal(kept.ptr + kept.len - 15, "button.buy-here", 15);
    assert_memory_equal(kept.ptr, "div>", 4);
    for (size_t i = 0; i + 3 < sizeof(text); i += 3)
        memcpy(text + i, ".ab", 3);
    assert_true(fp_scrub_selector(fp_str_of(text), false, &arena, &kept));
    assert_int_equal(kept.len, FP_SELECTOR_MAX);
    fp_arena_release(&arena);
}

static const struct example invokers[] = {
    {"BUTTON#buy-7.onclick", "BUTTON#buy-*.onclick"},
    {"Window.setTimeout", "Window.setTimeout"},
    {"TimerHandler:setTimeout", "TimerHandler:setTimeout"},
    {"Response.json.then", "Response.json.then"},
    {"#document.onclick", "#document.onclick"},
    {"IMG[src=https://cdn.example/u/1?token=x].onload", "IMG[src].onload"},
    {"IMG[src=\"/pixel.svg?token=]x\"].onload", "IMG[src].onload"},
};

static void keeps_what_invokes_a_script(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    for (size_t i = 0; i < FP_COUNT(invokers); i++) {
        struct fp_str kept;
        assert_false(fp_invoker_is_url(fp_str_of(invokers[i].raw)));
        assert_true(fp_scrub_selector(fp_str_of(invokers[i].raw), true, &arena, &kept));
        assert_text(kept, invokers[i].kept);
    }
    assert_true(fp_invoker_is_url(FP_STR("https://cdn.example/a.js")));
    static const struct {
        const char *scheme;
        const char *invoker;
    } cases[] = {{"data", "data:text/javascript,a()"},
                 {"blob", "blob:https://a.example/0f0f"},
                 {"file", "file:///home/a.js"},
                 {"javascript", "javascript:a()"}};
    assert_walks(hostless_schemes, , cases, .scheme);
    for (size_t i = 0; i < FP_COUNT(cases); i++)
        assert_true(fp_invoker_is_url(fp_str_of(cases[i].invoker)));
    fp_arena_release(&arena);
}

static const struct example hosts[] = {
    {"", ""},
    {"CDN.example:8443", "cdn.example:8443"},
    {"https://ann:secret@cdn.example/a?b#c", "cdn.example"},
    {"ann:secret@cdn.example/a", "cdn.example"},
    {"cdn.example?token=secret", "cdn.example"},
    {"[::1]:80", "[::1]:80"},
    {"two words", "two*words"},
    {"chrome-extension://abcdefghijklmnop/a.js", "chrome-extension:"},
    {"Moz-Extension://0f0f-0f0f/", "moz-extension:"},
    {"chrome-extension:8080", "chrome-extension:8080"},
};

static void keeps_the_host_alone(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    for (size_t i = 0; i < FP_COUNT(hosts); i++) {
        struct fp_str kept;
        assert_true(fp_scrub_host(fp_str_of(hosts[i].raw), &arena, &kept));
        assert_text(kept, hosts[i].kept);
    }
    fp_arena_release(&arena);
}

static void only_whole_words_are_tags(void **state)
{
    (void)state;
    assert_true(is_tag(FP_STR("a")) && is_tag(FP_STR("wbr")) && is_tag(FP_STR("BUTTON")));
    assert_false(is_tag(FP_STR("butto")) || is_tag(FP_STR("buttons")) || is_tag(FP_STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_structure_and_drops_content),
        cmocka_unit_test(keeps_the_last_steps_of_a_long_one),
        cmocka_unit_test(keeps_what_invokes_a_script),
        cmocka_unit_test(keeps_the_host_alone),
        cmocka_unit_test(only_whole_words_are_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
