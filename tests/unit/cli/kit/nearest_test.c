/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nearest names: one edit in three letters is near, a beginning is, what is far is not.
 */
#include "cli/kit/nearest.h"

#include "collector/base/base.h"
#include "tests/unit/unit.h"

static const char *nearest_of(const char *word, const char *const *names)
{
    struct fp_nearest nearest = {.word = word};
    for (; *names != NULL; names++)
        fp_nearest_take(&nearest, *names);
    return nearest.name;
}

static void finds_the_name_that_was_meant(void **state)
{
    (void)state;
    static const char *const names[] = {"top",  "trend",  "timings",       "since", "until",
                                        "site", "status", "third-parties", NULL};
    static const struct {
        const char *word;
        const char *name; /* NULL: none is near */
    } examples[] = {
        {"tpo", "top"},
        {"to", "top"},
        {"topp", "top"},
        {"tap", "top"},
        {"trned", "trend"},
        {"sice", "since"},
        {"timing", "timings"},
        {"third-party", "third-parties"},
        {"third", "third-parties"},
        {"sta", "status"},
        {"statuts", "status"},
        {"burn", NULL},
        {"t", NULL},
        {"", NULL},
        {"pot", NULL},
        {"a-word-longer-than-thirty-two-letters", NULL},
    };
    for (size_t i = 0; i < FP_COUNT(examples); i++) {
        const char *name = nearest_of(examples[i].word, names);
        if (examples[i].name == NULL)
            assert_null(name);
        else
            assert_string_equal(name, examples[i].name);
    }
}

static void prefers_fewer_edits_then_the_first(void **state)
{
    (void)state;
    static const char *const names[] = {"before-route", "before-release", "before-releases", NULL};
    assert_string_equal(nearest_of("before-relase", names), "before-release");
    static const char *const equal[] = {"cat", "car", NULL};
    assert_string_equal(nearest_of("caz", equal), "cat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_name_that_was_meant),
        cmocka_unit_test(prefers_fewer_edits_then_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
