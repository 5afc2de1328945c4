/* SPDX-License-Identifier: Apache-2.0 */
/* Origins as browsers write them, and the union of lists. */
#include "header_policy/timing_allow_origin.c"

#include "test.h"

#define LINES_MAX 4

static char memory[FLEETPROF_FIELD_MAX];

static void origins_are_checked_as_browsers_write_them(void **state)
{
    static const struct {
        const char *origin;
        enum fleetprof_origin_error error;
    } cases[] = {
        {"*", FLEETPROF_ORIGIN_OK},
        {"null", FLEETPROF_ORIGIN_OK},
        {"https://shop.example", FLEETPROF_ORIGIN_OK},
        {"https://shop.example:8443", FLEETPROF_ORIGIN_OK},
        {"https://shop.example:65535", FLEETPROF_ORIGIN_OK},
        {"http://shop.example:443", FLEETPROF_ORIGIN_OK},
        {"https://shop.example:80", FLEETPROF_ORIGIN_OK},
        {"http://127.0.0.1:8080", FLEETPROF_ORIGIN_OK},
        {"http://[::1]", FLEETPROF_ORIGIN_OK},
        {"http://[::]", FLEETPROF_ORIGIN_OK},
        {"http://[2001:db8::1]:81", FLEETPROF_ORIGIN_OK},
        {"https://xn--bcher-kva.example", FLEETPROF_ORIGIN_OK},
        {"http://a_b-c.example", FLEETPROF_ORIGIN_OK},
        {"chrome-extension://abcdef:80", FLEETPROF_ORIGIN_OK},
        {"a1+-.://x", FLEETPROF_ORIGIN_OK},
        {"", FLEETPROF_ORIGIN_NO_SCHEME},
        {"shop.example", FLEETPROF_ORIGIN_NO_SCHEME},
        {"//shop.example", FLEETPROF_ORIGIN_NO_SCHEME},
        {"://shop.example", FLEETPROF_ORIGIN_NO_SCHEME},
        {"1x://shop.example", FLEETPROF_ORIGIN_NO_SCHEME},
        {"ht_tp://shop.example", FLEETPROF_ORIGIN_NO_SCHEME},
        {"https:/shop.example", FLEETPROF_ORIGIN_NO_SCHEME},
        {"HTTPS://shop.example", FLEETPROF_ORIGIN_UPPER_CASE},
        {"https://Shop.example", FLEETPROF_ORIGIN_UPPER_CASE},
        {"NULL", FLEETPROF_ORIGIN_UPPER_CASE},
        {"https://shop.example/", FLEETPROF_ORIGIN_PATH},
        {"https://shop.example/cart", FLEETPROF_ORIGIN_PATH},
        {"https://shop.example?x", FLEETPROF_ORIGIN_PATH},
        {"https://shop.example#x", FLEETPROF_ORIGIN_PATH},
        {"https://shop.example\\", FLEETPROF_ORIGIN_PATH},
        {"https://user@shop.example", FLEETPROF_ORIGIN_USER},
        {"https://*.example", FLEETPROF_ORIGIN_WILDCARD},
        {"https://*", FLEETPROF_ORIGIN_WILDCARD},
        {"https://", FLEETPROF_ORIGIN_HOST},
        {"https://:8443", FLEETPROF_ORIGIN_HOST},
        {"https://.example", FLEETPROF_ORIGIN_HOST},
        {"https://b\xc3\xbc"
         "cher.example",
         FLEETPROF_ORIGIN_HOST},
        {"https://shop%2e.example", FLEETPROF_ORIGIN_HOST},
        {"https://[::1", FLEETPROF_ORIGIN_HOST},
        {"https://[]", FLEETPROF_ORIGIN_HOST},
        {"https://[::g]", FLEETPROF_ORIGIN_HOST},
        {"https://shop.example:", FLEETPROF_ORIGIN_PORT},
        {"https://shop.example:0", FLEETPROF_ORIGIN_PORT},
        {"https://shop.example:080", FLEETPROF_ORIGIN_PORT},
        {"https://shop.example:65536", FLEETPROF_ORIGIN_PORT},
        {"https://shop.example:100000", FLEETPROF_ORIGIN_PORT},
        {"https://shop.example:8x", FLEETPROF_ORIGIN_PORT},
        {"https://shop.example:443", FLEETPROF_ORIGIN_DEFAULT_PORT},
        {"http://shop.example:80", FLEETPROF_ORIGIN_DEFAULT_PORT},
        {"ws://shop.example:80", FLEETPROF_ORIGIN_DEFAULT_PORT},
        {"wss://shop.example:443", FLEETPROF_ORIGIN_DEFAULT_PORT},
        {"ftp://shop.example:21", FLEETPROF_ORIGIN_DEFAULT_PORT},
        {"https://a.example,https://b.example", FLEETPROF_ORIGIN_LIST},
        {"https://a.example https://b.example", FLEETPROF_ORIGIN_LIST},
    };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        if (fleetprof_origin_check(text(cases[i].origin)) != cases[i].error) {
            fail_msg("%s: %d", cases[i].origin, (int)fleetprof_origin_check(text(cases[i].origin)));
        }
    }
}

static void every_refusal_says_what_would_be_right(void **state)
{
    int error;

    (void)state;
    for (error = FLEETPROF_ORIGIN_NO_SCHEME; error <= FLEETPROF_ORIGIN_LIST; error++) {
        assert_non_null(
            strchr(fleetprof_origin_error_text((enum fleetprof_origin_error)error), ';'));
    }
    assert_string_equal(fleetprof_origin_error_text(FLEETPROF_ORIGIN_OK), "it is fine");
}

static void merges_as_the_table_says(void **state)
{
    static const struct {
        const char *upstream[LINES_MAX];
        const char *ours;
        enum fleetprof_outcome outcome;
        const char *merged;
    } cases[] = {
        {{NULL}, "https://a.example", FLEETPROF_CHANGED, "https://a.example"},
        {{""}, "https://a.example", FLEETPROF_CHANGED, "https://a.example"},
        {{"https://b.example"},
         "https://a.example",
         FLEETPROF_CHANGED,
         "https://b.example, https://a.example"},
        {{" https://a.example "}, "https://a.example", FLEETPROF_UNCHANGED, "https://a.example"},
        {{"https://a.example,https://b.example"},
         "https://b.example",
         FLEETPROF_CHANGED,
         "https://a.example, https://b.example"},
        {{"https://b.example", "null, , https://c.example"},
         "null, https://a.example",
         FLEETPROF_CHANGED,
         "https://b.example, null, https://c.example, https://a.example"},
        {{"*"}, "https://a.example", FLEETPROF_UNCHANGED, "*"},
        {{"https://b.example, *"}, "https://a.example", FLEETPROF_CHANGED, "*"},
        {{"https://b.example", "*"}, "https://a.example", FLEETPROF_CHANGED, "*"},
        {{"https://b.example"}, "*", FLEETPROF_CHANGED, "*"},
        {{NULL}, "*", FLEETPROF_CHANGED, "*"},
        /* The 2012 draft's space list is one string that matches nothing: left alone. */
        {{"http://x.example http://y.example"},
         "https://a.example",
         FLEETPROF_CHANGED,
         "http://x.example http://y.example, https://a.example"},
        {{"HTTPS://A.example"},
         "https://a.example",
         FLEETPROF_CHANGED,
         "HTTPS://A.example, https://a.example"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(cases); i++) {
        struct fleetprof_buffer out = {memory, 0, sizeof(memory)};
        struct fleetprof_slice lines[LINES_MAX];
        struct fleetprof_lines upstream = {lines, 0};

        while (cases[i].upstream[upstream.count] != NULL) {
            lines[upstream.count] = text(cases[i].upstream[upstream.count]);
            upstream.count++;
        }
        assert_int_equal(fleetprof_timing_allow_origin_merge(upstream, text(cases[i].ours), &out),
                         cases[i].outcome);
        assert_text(fleetprof_buffer_text(&out), cases[i].merged);
    }
}

static void merging_twice_is_merging_once(void **state)
{
    static const char *const origins[] = {
        "https://a.example", "https://b.example", "null", "*", "x y", "", " "};
    static char again_memory[FLEETPROF_FIELD_MAX];
    uint64_t random = 7;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        struct fleetprof_buffer out = {memory, 0, sizeof(memory)};
        struct fleetprof_buffer again = {again_memory, 0, sizeof(again_memory)};
        struct fleetprof_slice lines[2] = {text(origins[pick(&random, 7)]),
                                           text(origins[pick(&random, 7)])};
        struct fleetprof_lines upstream = {lines, pick(&random, 3)};
        struct fleetprof_slice ours = text(origins[pick(&random, 4)]);
        struct fleetprof_slice merged;

        if (fleetprof_timing_allow_origin_merge(upstream, ours, &out) == FLEETPROF_CHANGED) {
            merged = fleetprof_buffer_text(&out);
            upstream = (struct fleetprof_lines){&merged, 1};
            assert_int_equal(fleetprof_timing_allow_origin_merge(upstream, ours, &again),
                             FLEETPROF_UNCHANGED);
        }
    }
}

static void a_line_past_the_maximum_is_too_long(void **state)
{
    struct fleetprof_slice line = text("abc");
    struct fleetprof_lines upstream = {&line, 1};
    struct fleetprof_buffer out = {memory, 0, 0};

    (void)state;
    for (out.size = 0; out.size < strlen("abc, def"); out.size++) {
        assert_int_equal(fleetprof_timing_allow_origin_merge(upstream, text("def"), &out),
                         FLEETPROF_TOO_LONG);
    }
    assert_int_equal(fleetprof_timing_allow_origin_merge(upstream, text("def"), &out),
                     FLEETPROF_CHANGED);
    out.size = 0;
    assert_int_equal(fleetprof_timing_allow_origin_merge(upstream, text("*"), &out),
                     FLEETPROF_TOO_LONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(origins_are_checked_as_browsers_write_them),
        cmocka_unit_test(every_refusal_says_what_would_be_right),
        cmocka_unit_test(merges_as_the_table_says),
        cmocka_unit_test(merging_twice_is_merging_once),
        cmocka_unit_test(a_line_past_the_maximum_is_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
