/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dimensions of an upload: names and their ids, routes, templates, fields of the envelope and
 * of the request.
 */
#include "tests/unit/profile/test.h"

#include "collector/rollup/ids.h"

static void names_are_hashed_whole_and_then_cut(void **state)
{
    (void)state;
    char upload[6000];
    snprintf(
        upload, sizeof(upload),
        "{'resources':[],'frames':[{'name':'%01024d'},{'name':'%01024d1'},{'name':'%01024d2'}],"
        "'stacks':[{'frameId':0},{'frameId':1},{'frameId':2}],'samples':["
        "{'timestamp':0,'stackId':0},{'timestamp':1,'stackId':1},{'timestamp':2,'stackId':2}]}",
        0, 0, 0);
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    struct fp_delta delta;
    fold_body(&arena, json_of(&arena, upload), &no_context, &delta);
    assert_int_equal(delta.frame_count, 3);
    assert_int_equal(delta.frames[2].function.len, 1024);
    assert_true(fp_str_equal(delta.frames[0].function, delta.frames[2].function));
    fp_arena_release(&arena);
}

static void one_site_cannot_name_what_another_has(void **state)
{
    (void)state;
    static const char upload[] =
        "{'sampleInterval':10,'trace':{'resources':['https://shop.example/a.js'],'frames':["
        "{'name':'a','resourceId':0},{'name':'b','resourceId':0},{'name':'c','resourceId':0}],"
        "'stacks':[{'frameId':0},{'frameId':1,'parentId':0},{'frameId':2,'parentId':1}],"
        "'samples':[{'timestamp':0,'stackId':2}]}}";
    const struct fp_fold_context other_context = {.site = {"blog", 4}};
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    struct fp_delta first;
    struct fp_delta second;
    fold_body(&arena, json_of(&arena, upload), &no_context, &first);
    fold_body(&arena, json_of(&arena, upload), &other_context, &second);
    assert_true(first.resources[0].id ==
                fp_resource_id(fp_site_id(FP_STR("shop")), FP_STR("https://shop.example/a.js")));
    assert_true(first.resources[0].id != second.resources[0].id);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(first.frames[i].id != second.frames[i].id);
        assert_true(first.stacks[i].id != second.stacks[i].id);
    }
    assert_true(first.stacks[1].id == fp_stack_id(first.stacks[0].id, first.frames[1].id));
    fp_arena_release(&arena);
}

/* Dimensions. */

#define ROUTE_COUNT 2
static const struct fp_str routes[ROUTE_COUNT] = {{"/product/:id", 12}, {"/cart", 5}};

static const struct {
    const char *title;
    const char *upload;
    const char *referer;
    const char *route;
} pages[] = {
    {"the page's own word wins",
     "{'coverage':'quota','page':{'url':'https://s.example/cart','route':'checkout'}}", "",
     "checkout"},
    {"the page's own word may be empty",
     "{'coverage':'quota','page':{'url':'https://s.example/cart','route':''}}", "", ""},
    {"the page's own word is cleaned", "{'coverage':'quota','page':{'route':'/x?token=1#y'}}", "",
     "/x"},
    {"an address in place of a route is cut to its path",
     "{'coverage':'quota','page':{'route':'https://u:p@s.example/x?token=1'}}", "", "/x"},
    {"a template", "{'coverage':'quota','page':{'url':'https://s.example/product/7?x'}}", "",
     "/product/:id"},
    {"a path without a template", "{'coverage':'quota','page':{'url':'https://s.example/help#a'}}",
     "", "/help"},
    {"the root", "{'coverage':'quota','page':{'url':'https://s.example/'}}", "", "/"},
    {"the envelope's address before the Referer",
     "{'coverage':'quota','page':{'url':'https://s.example/help'}}", "https://s.example/cart",
     "/help"},
    {"the Referer", "{'coverage':'quota'}", "https://s.example/product/9?secret", "/product/:id"},
    {"the Referer of another origin says nothing", "{'coverage':'quota'}", "https://s.example/",
     ""},
    {"the Referer of the start page with a query", "{'coverage':'quota'}", "https://s.example/?x",
     "/"},
    {"a Referer that no browser sends", "{'coverage':'quota'}", "https://s.example/\xFF", ""},
    {"a local file", "{'coverage':'quota','page':{'url':'file:///home/ann/x.html'}}", "", ""},
};

static void finds_the_route(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(pages); i++) {
        const struct fp_fold_context context = {
            .site = {"shop", 4},
            .rules = {.routes = routes, .route_count = ROUTE_COUNT},
            .referer = fp_str_of(pages[i].referer),
        };
        struct fp_arena arena;
        fp_arena_init(&arena, TEST_ARENA_MAX);
        struct fp_delta delta;
        fold_body(&arena, json_of(&arena, pages[i].upload), &context, &delta);
        if (!fp_str_equal(delta.segment.route, fp_str_of(pages[i].route)))
            fail_msg("%s: %.*s", pages[i].title, FP_STR_ARG(delta.segment.route));
        fp_arena_release(&arena);
    }
}

static void inline_scripts_of_all_product_pages_are_one_resource(void **state)
{
    (void)state;
    const struct fp_fold_context context = {
        .site = {"shop", 4},
        .rules = {.routes = routes, .route_count = ROUTE_COUNT},
        .referer = FP_STR("https://shop.example/product/8"),
    };
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    struct fp_delta delta;
    fold_body(&arena,
              json_of(&arena, "{'resources':['https://shop.example/product/8'],'frames':["
                              "{'name':'a','resourceId':0,'line':1}],'stacks':[{'frameId':0}],"
                              "'samples':[{'timestamp':0,'stackId':0}]}"),
              &context, &delta);
    assert_text(delta.resources[0].url, "https://shop.example/product/:id");
    fp_arena_release(&arena);
}

static void carries_over_what_the_envelope_and_the_request_say(void **state)
{
    (void)state;
    const struct fp_fold_context context = {
        .site = {"shop", 4},
        .user_agent = FP_STR("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, "
                             "like Gecko) Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0"),
        .received_us = 1795210750000000,
        .rate_ppm = 500,
        .body_bytes = 77,
    };
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    struct fp_delta delta;
    fold_body(&arena,
              json_of(&arena, "{'id':'123e4567-e89b-42d3-a456-426614174000','load':"
                              "'123e4567-e89b-42d3-a456-426614174001','part':3,'truncated':true,"
                              "'release':'r','environment':'e','variant':'v','thread':'worker',"
                              "'agent':{'name':'x','version':'2'},'entries':["
                              "{'name':'a','entryType':'paint'},"
                              "{'name':'a','entryType':'mark','startTime':1}]}"),
              &context, &delta);
    assert_int_equal(delta.id.bytes[15], 0);
    assert_true(delta.has_load);
    assert_int_equal(delta.load.bytes[15], 1);
    assert_int_equal(delta.part, 3);
    assert_true(delta.truncated);
    assert_true(delta.received_us == context.received_us);
    assert_int_equal(delta.body_bytes, 77);
    assert_int_equal(delta.skipped_entries, 1);
    assert_int_equal(delta.format, FP_UPLOAD_USER_TIMING);
    assert_int_equal(delta.browser_version, 156);
    assert_text(delta.agent, "x/2");
    assert_text(delta.segment.site, "shop");
    assert_text(delta.segment.release, "r");
    assert_text(delta.segment.environment, "e");
    assert_text(delta.segment.variant, "v");
    assert_text(delta.segment.browser, "Edge");
    assert_text(delta.segment.browser_version, "156");
    assert_text(delta.segment.os, "Windows");
    assert_text(delta.segment.device, "desktop");
    assert_text(delta.segment.thread, "worker");
    assert_int_equal(delta.segment.rate_ppm, 500);
    fp_arena_release(&arena);
}

static void a_version_is_the_major_number_of_a_known_browser(void **state)
{
    (void)state;
    static const struct {
        const char *user_agent;
        const char *version;
    } cases[] = {
        {"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "145"},
        {"Version/26.2 Safari/605", "26"},
        {"Chrome/7", "7"},
        {"Chrome/999.0", "999"},
        {"Chrome/1000.0", ""},
        {"Chrome/987654321.0", ""},
        {"Chrome/0.0", ""},
        {"Chrome/x", ""},
        {"curl/8.14", ""},
        {"", ""},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        const struct fp_fold_context context = {.site = {"shop", 4},
                                                .user_agent = fp_str_of(cases[i].user_agent)};
        struct fp_arena arena;
        struct fp_delta delta;
        fp_arena_init(&arena, TEST_ARENA_MAX);
        fold_body(&arena, json_of(&arena, "{'coverage':'quota'}"), &context, &delta);
        assert_text(delta.segment.browser_version, cases[i].version);
        fp_arena_release(&arena);
    }
}

static void custom_dimensions_are_those_that_the_site_names(void **state)
{
    (void)state;
    const struct fp_str names[] = {FP_STR("plan"), FP_STR("country"), FP_STR("arm")};
    static const struct {
        const char *said;
        const char *text;
        uint32_t dropped;
    } cases[] = {
        {"", "", 0},
        {"plan=pro", "plan=pro", 0},
        {"country=de; plan=pro", "plan=pro; country=de", 0},
        {"arm=b; plan=a; country=c; plan=pro", "plan=pro; country=c; arm=b", 0},
        {"plan", "", 0},
        {"plan=", "", 0},
        {"plan=a=b", "plan=a=b", 0},
        {"plans=pro; arm=b", "arm=b", 1},
        {"Plan=pro", "", 1},
        {"plan=100%", "", 1},
        {"plan=me@shop.example", "plan=:mail", 0},
        {"plan=\u00fcber",
         "plan=\xc3\xbc"
         "ber",
         0},
        {"plan=a\\tb", "", 1},
        {"plan=0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2", "", 1},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        const struct fp_fold_context context = {
            .site = {"shop", 4}, .custom = names, .custom_count = FP_COUNT(names)};
        struct fp_arena arena;
        struct fp_delta delta;
        char body[200];
        fp_arena_init(&arena, TEST_ARENA_MAX);
        snprintf(body, sizeof(body), "{'coverage':'quota','custom':'%s'}", cases[i].said);
        fold_body(&arena, json_of(&arena, body), &context, &delta);
        assert_text(delta.segment.custom, cases[i].text);
        assert_int_equal(delta.dropped_custom, cases[i].dropped);
        fp_arena_release(&arena);
    }
}

static void names_that_fit_a_template_count_as_one(void **state)
{
    (void)state;
    struct fp_str names[] = {{"fetch-1", 7}, {"fetch-2", 7}, {"fetch", 5}};
    struct fp_profile_timing timings[] = {
        {.name = names[0], .kind = FP_TIMING_MEASURE, .value_us = 1},
        {.name = names[1], .kind = FP_TIMING_MEASURE, .value_us = 2},
        {.name = names[1], .detail = FP_STR("{cached=true}"), .kind = FP_TIMING_MEASURE},
        {.name = names[2], .detail = FP_STR("{cached=true}"), .kind = FP_TIMING_MEASURE},
        {.name = names[2], .kind = FP_TIMING_MEASURE},
    };
    static const char *const expected[] = {"fetch-:id", "fetch-:id{cached=true}",
                                           "fetch{cached=true}", "fetch"};
    const struct fp_profile profile = {.timings = timings, .timing_count = 5};
    const struct fp_str name_template = FP_STR("fetch-:id");
    const struct fp_fold_context context = {
        .site = {"shop", 4},
        .rules = {.timing_names = &name_template, .timing_name_count = 1},
    };
    struct fp_arena arena;
    struct fp_delta delta;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    assert_true(fp_fold(&profile, &context, &arena, &delta));
    assert_int_equal(delta.timing_count, 4);
    assert_int_equal(delta.timings[0].count, 2);
    for (uint32_t i = 0; i < 4; i++)
        assert_text(delta.timings[i].name, expected[i]);
    fp_arena_release(&arena);
}

static void an_upload_without_an_id_gets_one_of_its_own(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    struct fp_delta first;
    struct fp_delta second;
    fold_body(&arena, json_of(&arena, "{'coverage':'quota'}"), &no_context, &first);
    fold_body(&arena, json_of(&arena, "{'coverage':'quota'}"), &no_context, &second);
    assert_false(fp_uuid_equal(&first.id, &second.id));
    fp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_hashed_whole_and_then_cut),
        cmocka_unit_test(one_site_cannot_name_what_another_has),
        cmocka_unit_test(finds_the_route),
        cmocka_unit_test(inline_scripts_of_all_product_pages_are_one_resource),
        cmocka_unit_test(carries_over_what_the_envelope_and_the_request_say),
        cmocka_unit_test(a_version_is_the_major_number_of_a_known_browser),
        cmocka_unit_test(custom_dimensions_are_those_that_the_site_names),
        cmocka_unit_test(names_that_fit_a_template_count_as_one),
        cmocka_unit_test(an_upload_without_an_id_gets_one_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
