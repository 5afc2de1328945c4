/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates of names: which names match, which templates are invalid; compared with trying
 * everything.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/scrub/timing_name.c"

static const struct {
    const char *name_template;
    const char *name;
    bool fits;
} cases[] = {
    {"fetch-:id", "fetch-1234", true},
    {"fetch-:id", "fetch-", false}, /* at least one character */
    {"fetch-:id", "fetch", false},
    {"fetch-:id", "prefetch-1", false},
    {"fetch-:id", "fetch-1/2 and more", true},
    {"fetch-:id", "fetch-\xC3\xA9", true},
    {":id-render", "7-render", true},
    {":id-render", "-render", false},
    {":id-render", "7-render-8", false},
    {":id-render", "a-render-render", true},
    {"item-:id-of-:list", "item-1-of-2", true},
    {"item-:id-of-:list", "item-1-of-", false},
    {"item-:id-of-:list", "item--of-2", false},
    {"item-:id-of-:list", "item--of-of-of-2", true},
    {"item-:id/a", "item-/a/a", true},
    {"react/*", "react/", true},
    {"react/*", "react/App/Button", true},
    {"react/*", "react", false},
    {":all", "x", true},
    {":all", "", false},
    {"*", "", true},
    {"a: :x", "a: b", true}, /* a colon that no name follows is a colon */
    {"a: :x", "a:b", false},
    {"vue:mount-:id", "vue:mount-5", true},
};

static void names_fit_their_templates(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct fp_str name_template = fp_str_of(cases[i].name_template);
        const struct fp_scrub_rules rules = {.timing_names = &name_template,
                                             .timing_name_count = 1};
        struct fp_str found = fp_timing_name_find(&rules, fp_str_of(cases[i].name));
        if (fp_timing_name_check(name_template) != NULL)
            fail_msg("%s is refused", cases[i].name_template);
        if ((found.ptr == name_template.ptr) != cases[i].fits)
            fail_msg("%s and %s", cases[i].name_template, cases[i].name);
    }
}

/* The slow method: tries every length of every wildcard. */
static bool fits_slowly(const char *pattern, const char *name)
{
    if (*pattern == '\0')
        return *name == '\0';
    if (*pattern != ':' && *pattern != '*')
        return *pattern == *name && fits_slowly(pattern + 1, name + 1);
    size_t least = *pattern == ':' ? 1 : 0;
    pattern += least + 1; /* a placeholder's name is one letter here */
    for (size_t taken = least; taken <= strlen(name); taken++)
        if (fits_slowly(pattern, name + taken))
            return true;
    return false;
}

static void append(char *text, const char *more)
{
    memcpy(text + strlen(text), more, strlen(more) + 1);
}

/* Made of repeating letters, so that a piece occurs in many places. */
static void draw(uint64_t *random, char *text, size_t pieces, bool is_template)
{
    static const char *const parts[] = {"-", "--", "-+", "+", ":x-", ":x+-"};
    text[0] = '\0';
    for (size_t i = 0; i < pieces; i++) {
        *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        append(text, parts[(*random >> 33) % (is_template ? 6 : 4)]);
    }
    if (is_template)
        append(text, *random >> 63 == 0 ? ":x" : "*");
}

static void fit_as_by_trying_everything(void **state)
{
    (void)state;
    uint64_t random = 5;
    unsigned fitting = 0;
    for (unsigned round = 0; round < 20000; round++) {
        char pattern[64];
        char name[64];
        draw(&random, pattern, round % 4, true);
        draw(&random, name, round % 9, false);
        struct fp_str name_template = fp_str_of(pattern);
        const struct fp_scrub_rules rules = {.timing_names = &name_template,
                                             .timing_name_count = 1};
        if (fp_timing_name_check(name_template) != NULL)
            continue;
        bool fits = fp_timing_name_find(&rules, fp_str_of(name)).ptr == pattern;
        if (fits != fits_slowly(pattern, name))
            fail_msg("%s and %s: %d", pattern, name, fits);
        fitting += fits ? 1 : 0;
    }
    assert_in_range(fitting, 1000, 19000);
}

static void the_first_template_that_fits_wins(void **state)
{
    (void)state;
    const struct fp_str templates[] = {FP_STR("b-:x"), FP_STR("a-:x"), FP_STR("a*")};
    const struct fp_scrub_rules rules = {.timing_names = templates, .timing_name_count = 3};
    assert_text(fp_timing_name_find(&rules, FP_STR("a-1")), "a-:x");
    assert_text(fp_timing_name_find(&rules, FP_STR("a")), "a*");
    assert_text(fp_timing_name_find(&rules, FP_STR("c")), "c");
}

static void refuses_templates_that_cannot_be_meant(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "fetch", "a:",  "a: b", "*a",
                                      "a*b:x", ":a:b",  "a**", "*:x",  "a:id*"};
    for (size_t i = 0; i < FP_COUNT(bad); i++)
        if (fp_timing_name_check(fp_str_of(bad[i])) == NULL)
            fail_msg("%s is taken", bad[i]);
    char longest[202];
    memset(longest, 'a', sizeof(longest));
    longest[199] = '*';
    assert_null(fp_timing_name_check((struct fp_str){longest, 200}));
    longest[199] = 'a';
    longest[200] = '*';
    assert_non_null(fp_timing_name_check((struct fp_str){longest, 201}));
}

/* The names of the drafts of 2011 and 2012, and of User Timing Level 3. */
static void recommended_names_are_those_of_the_specifications(void **state)
{
    (void)state;
    static const char *const names[] = {
        "fullyLoaded",         "fullyVisible",
        "aboveTheFold",        "timeToUserAction",
        "mark_fully_loaded",   "mark_fully_visible",
        "mark_above_the_fold", "mark_time_to_user_action",
        "mark_interactive",    "mark_feature_usage",
    };
    assert_walks(recommended, , names, );
    for (size_t i = 0; i < FP_COUNT(names); i++)
        assert_true(fp_timing_name_is_recommended(fp_str_of(names[i])));
    assert_false(fp_timing_name_is_recommended(FP_STR("fullyloaded")));
    assert_false(fp_timing_name_is_recommended(FP_STR("mark_fully_loaded ")));
}

/* Each character without width, at either end. */
static void names_lose_characters_without_width(void **state)
{
    (void)state;
    static const char *const around[] = {
        "\u200brow",
        "\u200crow",
        "\u200drow",
        "\u2060row",
        "\ufeffrow",
        "row\u200b",
        "row\u200c",
        "row\u200d",
        "row\u2060",
        "row\ufeff",
        "\u200b\u2060row\ufeff\u200d",
    };
    for (size_t i = 0; i < FP_COUNT(around); i++)
        assert_true(fp_str_equal(fp_text_trim(fp_str_of(around[i])), FP_STR("row")));
    static const char *const kept[] = {"\u200arow", "\u200erow", "r\u200bow", "\u2061row"};
    for (size_t i = 0; i < FP_COUNT(kept); i++)
        assert_true(fp_str_equal(fp_text_trim(fp_str_of(kept[i])), fp_str_of(kept[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lose_characters_without_width),
        cmocka_unit_test(recommended_names_are_those_of_the_specifications),
        cmocka_unit_test(names_fit_their_templates),
        cmocka_unit_test(fit_as_by_trying_everything),
        cmocka_unit_test(the_first_template_that_fits_wins),
        cmocka_unit_test(refuses_templates_that_cannot_be_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
