/* SPDX-License-Identifier: Apache-2.0 */
/* Merging Document-Policy: which side wins, what survives, and what holds for any input. */
#include "header_policy/document_policy.c"

#include "test.h"

#define LINES_MAX 4
#define ROUNDS 20000

static char memory[FLEETPROF_FIELD_MAX];

static struct fleetprof_merge_result merge(struct fleetprof_lines upstream, const char *members,
                                           enum fleetprof_conflict conflict,
                                           struct fleetprof_buffer *out)
{
    struct fleetprof_policy_request request = {upstream, text(members), conflict};

    return fleetprof_document_policy_merge(&request, out);
}

struct merge_case {
    const char *upstream[LINES_MAX];
    const char *members;
    enum fleetprof_conflict conflict;
    enum fleetprof_outcome outcome;
    const char *merged; /* when changed */
    bool upstream_decides;
};

static void check_case(const struct merge_case *c)
{
    struct fleetprof_buffer out = {memory, 0, sizeof(memory)};
    struct fleetprof_slice lines[LINES_MAX];
    struct fleetprof_lines upstream = {lines, 0};
    struct fleetprof_merge_result result;

    while (upstream.count < LINES_MAX && c->upstream[upstream.count] != NULL) {
        lines[upstream.count] = text(c->upstream[upstream.count]);
        upstream.count++;
    }
    result = merge(upstream, c->members, c->conflict, &out);
    assert_int_equal(result.outcome, c->outcome);
    assert_int_equal(result.upstream_decides, c->upstream_decides);
    if (c->merged != NULL) {
        assert_text(fleetprof_buffer_text(&out), c->merged);
    }
}

#define UPSTREAM FLEETPROF_CONFLICT_UPSTREAM
#define LOCAL FLEETPROF_CONFLICT_LOCAL
#define YES FLEETPROF_POLICY_YES
#define NO FLEETPROF_POLICY_NO
#define CHANGED FLEETPROF_CHANGED
#define UNCHANGED FLEETPROF_UNCHANGED
#define UNPARSABLE FLEETPROF_UNPARSABLE

static void merges_as_the_table_says(void **state)
{
    static const struct merge_case cases[] = {
        {{NULL}, YES, UPSTREAM, CHANGED, YES, false},
        {{NULL}, NO, UPSTREAM, CHANGED, NO, false},
        {{""}, YES, UPSTREAM, CHANGED, YES, false},
        {{" \t "}, YES, UPSTREAM, CHANGED, YES, false},
        {{"a=1"}, NO, UPSTREAM, CHANGED, "a=1, " NO, false},
        {{" a=1 ,b;p=\"x, y\"\t"}, NO, UPSTREAM, CHANGED, "a=1 ,b;p=\"x, y\", " NO, false},
        {{"a", "b, c", "d"}, NO, UPSTREAM, CHANGED, "a, b, c, d, " NO, false},
        {{"foo;js-profiling"}, YES, UPSTREAM, CHANGED, "foo;js-profiling, " YES, false},
        {{"js-profiling=?0"}, YES, UPSTREAM, UNCHANGED, NULL, true},
        {{"js-profiling"}, NO, UPSTREAM, UNCHANGED, NULL, true},
        {{"js-profiling-mode=eager"}, YES, UPSTREAM, UNCHANGED, NULL, true},
        {{"js-profiling=1"}, YES, UPSTREAM, UNCHANGED, NULL, true},
        {{"a", "js-profiling=?0"}, YES, UPSTREAM, UNCHANGED, NULL, true},
        {{"js-profiling"}, "js-profiling, x=1", UPSTREAM, CHANGED, "js-profiling, x=1", true},
        {{"x=2"}, "js-profiling, x=1", UPSTREAM, CHANGED, "x=2, js-profiling", false},
        {{"x=2", "y"}, "x=1", UPSTREAM, UNCHANGED, NULL, false},
        {{"a,"}, YES, UPSTREAM, UNPARSABLE, NULL, false},
        {{"a", "B"}, YES, UPSTREAM, UNPARSABLE, NULL, false},
        {{"", "a"}, YES, UPSTREAM, UNPARSABLE, NULL, false},
        {{"a,"}, YES, LOCAL, UNPARSABLE, NULL, false},
        {{"js-profiling=?0"}, YES, LOCAL, CHANGED, YES, false},
        {{"js-profiling-mode=eager"}, NO, LOCAL, CHANGED, NO, false},
        {{YES}, YES, LOCAL, UNCHANGED, NULL, false},
        {{"js-profiling=?0,a;p ,js-profiling-mode=x,b"}, YES, LOCAL, CHANGED, "a;p,b, " YES, false},
        {{"js-profiling", "js-profiling=?0, z"}, YES, LOCAL, CHANGED, "z, " YES, false},
        {{"x=2, y"}, "js-profiling, x=1", LOCAL, CHANGED, "y, js-profiling, x=1", false},
        {{"a=1"}, NO, LOCAL, CHANGED, "a=1, " NO, false},
        {{NULL}, "", UPSTREAM, UNCHANGED, NULL, false},
        {{"js-profiling"}, "", UPSTREAM, UNCHANGED, NULL, true},
        {{NULL}, "", LOCAL, UNCHANGED, NULL, false},
        {{"a", "b"}, "", LOCAL, UNCHANGED, NULL, false},
        {{"a, js-profiling", "b"}, "", LOCAL, CHANGED, "a, b", false},
        {{"js-profiling, js-profiling-mode=lazy"}, "", LOCAL, CHANGED, "", false},
        {{"a,"}, "", LOCAL, UNPARSABLE, NULL, false},
    };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        check_case(&cases[i]);
    }
}

static void a_line_that_just_fits_is_merged_and_a_longer_one_refused(void **state)
{
    static char long_line[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer out = {memory, 0, sizeof(memory)};
    struct fleetprof_slice line = {long_line, FLEETPROF_FIELD_MAX - sizeof(", " NO) + 1};
    struct fleetprof_lines upstream = {&line, 1};
    struct fleetprof_slice lines[2];
    size_t size;

    (void)state;
    memset(long_line, 'a', sizeof(long_line));
    assert_int_equal(merge(upstream, NO, UPSTREAM, &out).outcome, FLEETPROF_CHANGED);
    assert_int_equal(out.len, FLEETPROF_FIELD_MAX);
    /* Each smaller buffer fails in a different place: the member, the separator, the line itself.
     * */
    for (size = FLEETPROF_FIELD_MAX - 1; size >= line.len - 1; size--) {
        out.size = size;
        assert_int_equal(merge(upstream, NO, UPSTREAM, &out).outcome, FLEETPROF_TOO_LONG);
    }
    lines[0] = text("ab");
    lines[1] = text("c");
    upstream = (struct fleetprof_lines){lines, 2};
    for (size = 0; size < 5; size++) {
        out.size = size;
        assert_int_equal(merge(upstream, NO, UPSTREAM, &out).outcome, FLEETPROF_TOO_LONG);
    }
}

static void configured_members_are_checked(void **state)
{
    static const struct {
        const char *members;
        enum fleetprof_policy_error error;
    } cases[] = {
        {"js-profiling", FLEETPROF_POLICY_OK},
        {"js-profiling=?0", FLEETPROF_POLICY_OK},
        {"js-profiling;report-to=default", FLEETPROF_POLICY_OK},
        {"js-profiling, js-profiling-mode=eager", FLEETPROF_POLICY_OK},
        {"document-write=?0", FLEETPROF_POLICY_OK},
        {"", FLEETPROF_POLICY_EMPTY},
        {" ", FLEETPROF_POLICY_EMPTY},
        {"JS-Profiling", FLEETPROF_POLICY_SYNTAX},
        {"js-profiling,", FLEETPROF_POLICY_SYNTAX},
        {"a, a", FLEETPROF_POLICY_DUPLICATE},
        {"js-profiling=1", FLEETPROF_POLICY_PROFILING_TYPE},
        {"js-profiling=true", FLEETPROF_POLICY_PROFILING_TYPE},
        {"js-profiling-mode", FLEETPROF_POLICY_MODE_TYPE},
        {"js-profiling-mode=\"lazy\"", FLEETPROF_POLICY_MODE_TYPE},
    };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        struct fleetprof_buffer out = {memory, 0, sizeof(memory)};
        enum fleetprof_policy_error error =
            fleetprof_document_policy_add(&out, text(cases[i].members));

        assert_int_equal(error, cases[i].error);
        assert_text(fleetprof_buffer_text(&out),
                    error == FLEETPROF_POLICY_OK ? cases[i].members : "");
    }
}

static void yes_is_told_from_no(void **state)
{
    static const struct {
        const char *dictionary;
        bool says_yes;
    } cases[] = {
        {YES, true},
        {NO, false},
        {"", false},
        {"a", false},
        {"js-profiling", true},
        {"js-profiling=?1", true},
        {"a, js-profiling;report-to=default", true},
        {"js-profiling-mode=eager", true},
        {"js-profiling=?0, js-profiling-mode=lazy", true},
        {"js-profiling, js-profiling=?0", false},
        {"foo;js-profiling", false},
        {"js-profiling=1", false},
        {"js-profiling-mode", false},
        {"js-profiling,", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (fleetprof_document_policy_says_yes(text(cases[i].dictionary)) != cases[i].says_yes) {
            fail_msg("case %zu: %s", i, cases[i].dictionary);
        }
    }
}

static void stacks_are_added_once_and_a_configured_no_stays(void **state)
{
    static const char *const cases[][2] = {
        {YES, YES ", " FLEETPROF_POLICY_STACKS},
        {FLEETPROF_POLICY_STACKS ", a", FLEETPROF_POLICY_STACKS ", a"},
        {FLEETPROF_POLICY_STACKS "=?0", FLEETPROF_POLICY_STACKS "=?0"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fleetprof_buffer list = {memory, 0, sizeof(memory)};

        assert_true(fleetprof_buffer_put(&list, text(cases[i][0])));
        assert_true(fleetprof_document_policy_add_stacks(&list));
        assert_text(fleetprof_buffer_text(&list), cases[i][1]);
        list.size = list.len;
        assert_true(fleetprof_document_policy_add_stacks(&list));
        list.len = 0;
        list.size = key_stacks.len - 1;
        assert_false(fleetprof_document_policy_add_stacks(&list));
    }
}

static void a_refused_addition_leaves_the_list_as_it_was(void **state)
{
    struct fleetprof_buffer out = {memory, 0, 9};

    (void)state;
    assert_int_equal(fleetprof_document_policy_add(&out, text("a")), FLEETPROF_POLICY_OK);
    assert_int_equal(fleetprof_document_policy_add(&out, text("b, a")), FLEETPROF_POLICY_DUPLICATE);
    assert_int_equal(fleetprof_document_policy_add(&out, text("b, cdefg")), FLEETPROF_POLICY_LONG);
    assert_int_equal(fleetprof_document_policy_add(&out, text("b, c=")), FLEETPROF_POLICY_SYNTAX);
    assert_text(fleetprof_buffer_text(&out), "a");
    assert_int_equal(fleetprof_document_policy_add(&out, text("bcd")), FLEETPROF_POLICY_OK);
    assert_text(fleetprof_buffer_text(&out), "a, bcd");
    out.size = 7;
    assert_int_equal(fleetprof_document_policy_add(&out, text("e")), FLEETPROF_POLICY_LONG);
    assert_text(fleetprof_buffer_text(&out), "a, bcd");
}

static void every_refusal_says_what_would_be_right(void **state)
{
    int error;

    (void)state;
    for (error = FLEETPROF_POLICY_EMPTY; error <= FLEETPROF_POLICY_LONG; error++) {
        assert_non_null(
            strchr(fleetprof_policy_error_text((enum fleetprof_policy_error)error), ';'));
    }
    assert_string_equal(fleetprof_policy_error_text(FLEETPROF_POLICY_OK), "it is fine");
}

/* ---- properties: what holds for any input ---- */

static const char *const pieces[] = {
    "js-profiling",
    "js-profiling=?0",
    "js-profiling-mode=lazy",
    "a",
    "b=1",
    "c=\"x, y\"",
    "d;p=1",
    "e=(1 2);q",
    "f=%\"%c3%bc\"",
    "x=2",
    ",",
    ", ",
    " ,\t",
    ";js-profiling",
    "=",
    "\"",
    "A",
    " ",
};

static struct fleetprof_slice random_line(uint64_t *random, char *line, size_t size)
{
    struct fleetprof_buffer out = {line, 0, size};
    unsigned count = pick(random, 7);
    bool well_formed = pick(random, 4) > 0;

    for (unsigned i = 0; i < count; i++) {
        if (well_formed && i > 0) {
            assert_true(fleetprof_buffer_put(&out, text(pieces[10 + pick(random, 3)])));
        }
        assert_true(fleetprof_buffer_put(
            &out, text(pieces[pick(random, well_formed ? 10 : (unsigned)COUNT(pieces))])));
    }
    return fleetprof_buffer_text(&out);
}

static bool names_profiling(struct fleetprof_slice key)
{
    return fleetprof_slice_equal(key, key_profiling) || fleetprof_slice_equal(key, key_mode);
}

static bool is_dictionary(struct fleetprof_slice value)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(value);
    struct fleetprof_sf_member member;
    enum fleetprof_sf_step step;

    while ((step = fleetprof_sf_next(&reader, &member)) == FLEETPROF_SF_MEMBER) {
    }
    return step == FLEETPROF_SF_END;
}

/* Fails unless `after` has each member of `before` that ours does not set, byte for byte. */
static void foreign_members_survive(struct fleetprof_slice before, struct fleetprof_slice after,
                                    struct fleetprof_slice ours)
{
    struct fleetprof_sf_reader reader = fleetprof_sf_read(before);
    struct fleetprof_sf_member member;
    struct fleetprof_sf_member last;
    struct fleetprof_sf_member kept;

    while (fleetprof_sf_next(&reader, &member) == FLEETPROF_SF_MEMBER) {
        if (names_profiling(member.key) || has_key(ours, member.key)) {
            continue;
        }
        assert_true(fleetprof_sf_find(before, member.key, &last));
        assert_true(fleetprof_sf_find(after, member.key, &kept));
        assert_true(fleetprof_slice_equal(last.text, kept.text));
    }
}

static void check_properties(struct fleetprof_lines upstream, struct fleetprof_slice joined,
                             const char *members, enum fleetprof_conflict conflict)
{
    static char again_memory[FLEETPROF_FIELD_MAX];
    struct fleetprof_buffer out = {memory, 0, sizeof(memory)};
    struct fleetprof_buffer again = {again_memory, 0, sizeof(again_memory)};
    struct fleetprof_merge_result result = merge(upstream, members, conflict, &out);
    struct fleetprof_slice merged;
    struct fleetprof_lines once;

    assert_int_equal(result.outcome == FLEETPROF_UNPARSABLE, !is_dictionary(joined));
    if (result.outcome != FLEETPROF_CHANGED) {
        return;
    }
    merged = fleetprof_buffer_text(&out);
    assert_true(is_dictionary(merged));
    foreign_members_survive(joined, merged, text(members));
    once = (struct fleetprof_lines){&merged, 1};
    assert_int_equal(merge(once, members, conflict, &again).outcome, FLEETPROF_UNCHANGED);
}

static void
for_any_upstream_the_merge_is_parsable_idempotent_and_keeps_foreign_members(void **state)
{
    static const char *const ours[] = {YES, NO, "js-profiling, x=1", ""};
    uint64_t random = 20260901;
    char data[3][256];
    char joined_data[1024];

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct fleetprof_buffer joined = {joined_data, 0, sizeof(joined_data)};
        struct fleetprof_slice lines[3];
        struct fleetprof_lines upstream = {lines, pick(&random, 4)};

        for (size_t i = 0; i < upstream.count; i++) {
            lines[i] = random_line(&random, data[i], sizeof(data[i]));
            assert_true(i == 0 || fleetprof_buffer_put(&joined, separator));
            assert_true(fleetprof_buffer_put(&joined, fleetprof_slice_trim(lines[i])));
        }
        check_properties(upstream, fleetprof_buffer_text(&joined), ours[pick(&random, 4)],
                         pick(&random, 2) ? LOCAL : UPSTREAM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_as_the_table_says),
        cmocka_unit_test(a_line_that_just_fits_is_merged_and_a_longer_one_refused),
        cmocka_unit_test(configured_members_are_checked),
        cmocka_unit_test(yes_is_told_from_no),
        cmocka_unit_test(stacks_are_added_once_and_a_configured_no_stays),
        cmocka_unit_test(a_refused_addition_leaves_the_list_as_it_was),
        cmocka_unit_test(every_refusal_says_what_would_be_right),
        cmocka_unit_test(
            for_any_upstream_the_merge_is_parsable_idempotent_and_keeps_foreign_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
