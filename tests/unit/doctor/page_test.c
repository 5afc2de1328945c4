/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page: the scripts that a browser would run, in their order.
 */
#include "tests/unit/unit.h"

#include "cli/doctor/page.c"

static struct fp_arena arena;

static struct fp_page parse(const char *html)
{
    struct fp_page page;
    fp_arena_release(&arena);
    fp_arena_init(&arena, (size_t)64 << 20);
    fp_page_parse(fp_str_of(html), &arena, &page);
    return page;
}

static void reads_scripts_with_their_attributes(void **state)
{
    (void)state;
    const struct fp_page page =
        parse("<!doctype html><base href=/b/><base href=/c/><script>1</script>"
              "<SCRIPT SRC='/fleetprof.js?v=1' Defer nonce=n DATA-Endpoint='/v1/ingest/k'></SCRIPT>"
              "<body><script type=module crossorigin src=m.mjs></script>");
    assert_string_equal(page.base, "/b/");
    assert_int_equal(page.script_count, 3);
    const struct fp_page_script *agent = &page.scripts[1], *module = &page.scripts[2];
    assert_null(page.scripts[0].src);
    assert_string_equal(agent->src, "/fleetprof.js?v=1");
    assert_true(agent->has_defer && agent->is_in_head && !agent->has_async && !agent->is_module);
    assert_string_equal(agent->nonce, "n");
    assert_int_equal(agent->data_count, 1);
    assert_string_equal(agent->data[0].name, "endpoint");
    assert_string_equal(agent->data[0].value, "/v1/ingest/k");
    assert_true(module->is_module && !module->is_in_head);
    assert_string_equal(module->crossorigin, "");
}

static void skips_what_browsers_do_not_run(void **state)
{
    (void)state;
    const struct fp_page page =
        parse("<script type=application/ld+json>{}</script><script type=importmap>{}</script>"
              "<body><template><script src=t.js></script></template>"
              "<noscript><script src=n.js></script></noscript>"
              "<!-- <script src=c.js></script> --><textarea><script src=x.js></script></textarea>"
              "<script type=text/plain src=fleetprof-1.js></script>"
              "<script type=TEXT/JavaScript src=y.js></script>");
    assert_int_equal(page.script_count, 1);
    assert_string_equal(page.scripts[0].src, "y.js");
    assert_string_equal(page.inert_agent, "<script type=text/plain src=fleetprof-1.js>");
}

static void an_image_in_a_noscript_of_the_head_does_not_end_it(void **state)
{
    (void)state;
    const struct fp_page page = parse("<head><noscript><img src=p.gif></noscript>"
                                      "<script src=fleetprof.js></script></head><body>");
    assert_int_equal(page.script_count, 1);
    assert_true(page.scripts[0].is_in_head);
}

static void reads_policies_in_meta_elements(void **state)
{
    (void)state;
    const struct fp_page page =
        parse("<meta http-equiv=content-security-policy content=\"script-src 'self'\">"
              "<meta http-equiv=document-policy content=js-profiling><meta name=x content=y>");
    assert_int_equal(page.csp_count, 1);
    assert_string_equal(page.csp[0], "script-src 'self'");
    assert_true(page.has_policy_meta);
}

static void knows_the_agent_by_its_name(void **state)
{
    (void)state;
    assert_true(fp_page_is_agent("fleetprof.js"));
    assert_true(fp_page_is_agent("https://cdn.example/a/fleetprof-0.1.0.js?x#y"));
    assert_true(fp_page_is_agent("/fleetprof/fleetprof.vitals.mjs"));
    assert_false(fp_page_is_agent("/fleetprof/app.js"));
    assert_false(fp_page_is_agent("/my-fleetprof.js"));
    assert_false(fp_page_is_agent("/fleetprof"));
    assert_false(fp_page_is_agent("/fleetprof.css"));
    assert_false(fp_page_is_agent(""));
}

static void bounds_scripts_and_survives_depth(void **state)
{
    (void)state;
    enum { DEPTH = 20000 };
    char *html = malloc(DEPTH * 5 + 1);
    assert_non_null(html);
    for (size_t i = 0; i < DEPTH; i++)
        memcpy(html + i * 5, "<div>", 5);
    html[DEPTH * 5] = '\0';
    assert_int_equal(parse(html).script_count, 0);
    static const char script[] = "<script>0</script>";
    for (size_t i = 0; i < FP_PAGE_SCRIPTS_MAX + 1; i++)
        memcpy(html + i * (sizeof(script) - 1), script, sizeof(script));
    const struct fp_page page = parse(html);
    assert_int_equal(page.script_count, FP_PAGE_SCRIPTS_MAX);
    assert_true(page.has_more_scripts);
    free(html);
}

static void an_empty_page_has_nothing(void **state)
{
    (void)state;
    const struct fp_page page = parse("");
    assert_int_equal(page.script_count, 0);
    assert_null(page.base);
}

static int end(void **state)
{
    (void)state;
    fp_arena_release(&arena);
    return 0;
}

static void scripts_of_these_types_run(void **state)
{
    (void)state;
    static const char *const types[] = {
        "",
        "text/javascript",
        "application/javascript",
        "application/x-javascript",
        "application/ecmascript",
        "text/ecmascript",
        "text/jscript",
    };
    static const char *const others[] = {"text/plain", "text/javascripts", "module", "javascript",
                                         "application/json"};
    assert_walks(classic_types, , types, );
    for (size_t i = 0; i < FP_COUNT(types); i++)
        assert_true(is_classic(types[i]));
    for (size_t i = 0; i < FP_COUNT(others); i++)
        assert_false(is_classic(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_of_these_types_run),
        cmocka_unit_test(reads_scripts_with_their_attributes),
        cmocka_unit_test(skips_what_browsers_do_not_run),
        cmocka_unit_test(an_image_in_a_noscript_of_the_head_does_not_end_it),
        cmocka_unit_test(reads_policies_in_meta_elements),
        cmocka_unit_test(knows_the_agent_by_its_name),
        cmocka_unit_test(bounds_scripts_and_survives_depth),
        cmocka_unit_test(an_empty_page_has_nothing),
    };
    return cmocka_run_group_tests_name("doctor_page", tests, NULL, end);
}
