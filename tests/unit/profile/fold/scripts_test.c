/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts: a page load counts once for each script file that it loads, and once for each that runs,
 * in whichever of its parts.
 */
#include "tests/unit/profile/test.h"

#include "collector/base/buf.h"

#include <stdlib.h>

#define PAGE "'version':1,'page':{'url':'https://shop.example/'},'sampleInterval':10"
#define TRACE(url)                                                                                 \
    ",'trace':{'resources':['" url "'],'frames':[{'name':'f','resourceId':0,'line':1,'column':1}]" \
    ",'stacks':[{'frameId':0}],'samples':[{'timestamp':10,'stackId':0},{'timestamp':20,"           \
    "'stackId':0}]}"
#define RESOURCE(url) "{'host':'" url "','kind':'script','duration':5,'bytes':100}"
#define RESOURCES(list) ",'resources':[" list "]"
#define LOADED RESOURCES(RESOURCE("https://shop.example/a.js?v=1"))

static struct fp_arena arena;

static int set_up(void **state)
{
    (void)state;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fp_arena_release(&arena);
    return 0;
}

/* Folds a body with ' for ", after at most one earlier part. */
static struct fp_delta fold_text(const char *text, const struct fp_part *earlier,
                                 struct fp_part *part)
{
    struct fp_delta delta;
    const struct fp_part *parts[] = {earlier};
    const struct fp_fold_context context = {.site = FP_STR("shop"),
                                            .measures = 100,
                                            .earlier = parts,
                                            .earlier_count = earlier != NULL ? 1 : 0,
                                            .part = part};
    const size_t len = strlen(text);
    char *json = fp_arena_alloc(&arena, len);
    assert_non_null(json);
    for (size_t i = 0; i < len; i++)
        json[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    fold_body(&arena, (struct fp_str){json, len}, &context, &delta);
    return delta;
}

/* Returns how often the script counts, whose bytes *bytes adds up; "" for all page loads. */
static uint64_t count_of(const struct fp_delta *delta, enum fp_timing_kind kind, const char *url,
                         int64_t *bytes)
{
    for (uint32_t i = 0; i < delta->timing_count; i++) {
        const struct fp_delta_timing *timing = &delta->timings[i];
        if (timing->kind != kind || !fp_str_equal(timing->source, fp_str_of(url)))
            continue;
        assert_int_equal(timing->name.len, 0);
        if (bytes != NULL)
            *bytes = timing->sum_us;
        return timing->count;
    }
    return 0;
}

static uint64_t loaded(const struct fp_delta *delta, const char *url)
{
    return count_of(delta, FP_TIMING_SCRIPT_LOADED, url, NULL);
}

static uint64_t ran(const struct fp_delta *delta, const char *url)
{
    return count_of(delta, FP_TIMING_SCRIPT_RAN, url, NULL);
}

static void script_files_count_by_their_scrubbed_urls(void **state)
{
    (void)state;
    int64_t bytes = 0;
    static const char trace[] = TRACE("https://shop.example/a.js?v=1");
    static const char first[] = RESOURCE("https://shop.example/a.js?v=1");
    static const char again[] = RESOURCE("https://shop.example/a.js?v=2");
    static const char other[] = RESOURCE("https://shop.example/b.mjs");
    static const char data[] = RESOURCE("https://a.example/c.json");
    char text[2048];
    snprintf(text, sizeof(text), "{" PAGE "%s" RESOURCES("%s,%s,%s,%s") "}", trace, first, again,
             other, data);
    struct fp_delta delta = fold_text(text, NULL, NULL);
    assert_int_equal(loaded(&delta, ""), 1);
    assert_int_equal(count_of(&delta, FP_TIMING_SCRIPT_LOADED, "https://shop.example/a.js", &bytes),
                     1);
    assert_int_equal(bytes, 100);
    assert_int_equal(loaded(&delta, "https://shop.example/b.mjs"), 1);
    assert_int_equal(loaded(&delta, "https://a.example/c.json"), 0);
    assert_int_equal(ran(&delta, ""), 1);
    assert_int_equal(ran(&delta, "https://shop.example/a.js"), 1);
    assert_int_equal(ran(&delta, "https://shop.example/b.mjs"), 0);
}

static void long_frames_say_what_ran(void **state)
{
    (void)state;
    static const char frames[] =
        ",'frames':[{'start':0,'duration':80,'scripts':[{'start':5,'duration':60,"
        "'url':'https://tag.example/t.js?id=1'}]}]";
    char text[2048];
    struct fp_delta delta;
    snprintf(text, sizeof(text), "{" PAGE "%s" TRACE("https://shop.example/a.js") LOADED "}",
             frames);
    delta = fold_text(text, NULL, NULL);
    assert_int_equal(ran(&delta, "https://tag.example/t.js"), 1);
    snprintf(text, sizeof(text), "{" PAGE "%s" LOADED "}", frames);
    delta = fold_text(text, NULL, NULL);
    assert_int_equal(loaded(&delta, "https://shop.example/a.js"), 1);
    assert_int_equal(ran(&delta, ""), 0);
    assert_int_equal(ran(&delta, "https://tag.example/t.js"), 0);
}

static void a_page_load_that_does_not_say_what_it_loaded_counts_nowhere(void **state)
{
    (void)state;
    struct fp_delta delta = fold_text("{" PAGE TRACE("https://shop.example/a.js")
                                          RESOURCES(RESOURCE("shop.example")) "}",
                                      NULL, NULL);
    assert_int_equal(loaded(&delta, ""), 0);
    assert_int_equal(ran(&delta, ""), 0);
    assert_int_equal(ran(&delta, "https://shop.example/a.js"), 0);
}

/* Folds two parts of a page load, and counts them in order. */
static void assert_parts(const char *first, const char *second, const uint64_t expected[4])
{
    struct fp_part part;
    struct fp_part last;
    const struct fp_delta before = fold_text(first, NULL, &part);
    struct fp_part *copy = fp_part_copy(&part);
    assert_non_null(copy);
    const struct fp_delta after = fold_text(second, copy, &last);
    const uint64_t actual[4] = {
        loaded(&before, "") + loaded(&after, ""),
        loaded(&before, "https://shop.example/a.js") + loaded(&after, "https://shop.example/a.js"),
        ran(&before, "") + ran(&after, ""),
        ran(&before, "https://shop.example/a.js") + ran(&after, "https://shop.example/a.js")};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(actual[i], expected[i]);
    free(copy);
}

static void parts_of_a_page_load_count_it_once(void **state)
{
    (void)state;
    static const char both[] = "{" PAGE TRACE("https://shop.example/a.js") LOADED "}";
    static const char list[] = "{" PAGE LOADED "}";
    static const char trace[] = "{" PAGE TRACE("https://shop.example/a.js") "}";
    static const char other[] = "{" PAGE TRACE("https://shop.example/b.js") "}";
    assert_parts(both, both, (const uint64_t[]){1, 1, 1, 1});
    assert_parts(list, trace, (const uint64_t[]){1, 1, 1, 1});
    assert_parts(trace, list, (const uint64_t[]){1, 1, 1, 1});
    assert_parts(list, other, (const uint64_t[]){1, 1, 1, 0});
    assert_parts(list, list, (const uint64_t[]){1, 1, 0, 0});
    assert_parts(trace, trace, (const uint64_t[]){0, 0, 0, 0});
}

static void many_scripts_have_room_beside_a_divided_response(void **state)
{
    (void)state;
    enum { SCRIPTS = 90 };
    struct fp_buf body;
    fp_buf_init(&body, 1 << 16);
    fp_buf_addf(
        &body,
        "{" PAGE TRACE(
            "https://shop.example/a.js") ",'responses':[{'type':'click',"
                                         "'target':'#go','start':5,'duration':40}],'resources':[");
    for (int i = 0; i < SCRIPTS; i++)
        fp_buf_addf(&body, "%s" RESOURCE("https://shop.example/%d.js"), i > 0 ? "," : "", i);
    fp_buf_addf(&body, "]}");
    fp_buf_addf(&body, "%c", '\0');
    const struct fp_delta delta = fold_text((const char *)body.data, NULL, NULL);
    fp_buf_release(&body);
    assert_int_equal(loaded(&delta, "https://shop.example/0.js"), 1);
    assert_int_equal(loaded(&delta, "https://shop.example/89.js"), 1);
    assert_int_equal(ran(&delta, "https://shop.example/a.js"), 1);
    uint32_t shares = 0;
    for (uint32_t i = 0; i < delta.timing_count; i++)
        shares += delta.timings[i].kind == FP_TIMING_WAIT;
    assert_true(shares > 0);
}

#define SCRIPTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPTS_TEST(script_files_count_by_their_scrubbed_urls),
        SCRIPTS_TEST(long_frames_say_what_ran),
        SCRIPTS_TEST(a_page_load_that_does_not_say_what_it_loaded_counts_nowhere),
        SCRIPTS_TEST(parts_of_a_page_load_count_it_once),
        SCRIPTS_TEST(many_scripts_have_room_beside_a_divided_response)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
