/* SPDX-License-Identifier: Apache-2.0 */
/* Server-Timing: which metrics are ours, and that all others keep every byte. */
#include "header_policy/server_timing.c"

#include "test.h"

#define LONGEST 64
#define ROUNDS 20000

static void metrics_of_our_name_go_and_others_stay(void **state)
{
    static const struct {
        const char *line;
        bool names_us;
        const char *others;
    } cases[] = {
        {"", false, ""},
        {"db;dur=1", false, "db;dur=1"},
        {"db;dur=1 ,cache;desc=\"a, b\"", false, "db;dur=1 ,cache;desc=\"a, b\""},
        {", ,", false, ""},
        {"fleetprof", true, ""},
        {" fleetprof\t", true, ""},
        {"fleetprof;desc=\"0\"", true, ""},
        {"fleetprof ;desc=\"a, b\"", true, ""},
        {"fleetprof=1", true, ""},
        {"fleetprof x", true, ""},
        {"fleetprof\"x\"", true, ""},
        {"fleetprof;desc=\"a\\\", b\", c", true, "c"},
        {"fleetprof, fleetprof;dur=1", true, ""},
        {"a, fleetprof;dur=1", true, "a"},
        {"fleetprof;dur=1, a", true, "a"},
        {"a,fleetprof , b;dur=1", true, "a, b;dur=1"},
        {"a, b, fleetprof", true, "a, b"},
        {"fleetprof2, fleet, xfleetprof, FleetProf, fleetprof-2, fleetprof.x", false,
         "fleetprof2, fleet, xfleetprof, FleetProf, fleetprof-2, fleetprof.x"},
        {"a;desc=\"fleetprof\", b;fleetprof, c;x=fleetprof", false,
         "a;desc=\"fleetprof\", b;fleetprof, c;x=fleetprof"},
        {"a;desc=\", fleetprof;desc=1\"", false, "a;desc=\", fleetprof;desc=1\""},
        {"a;desc=\"open, fleetprof", false, "a;desc=\"open, fleetprof"},
        {"a;desc=\"open\\", false, "a;desc=\"open\\"},
        {"a\\\", fleetprof", false, "a\\\", fleetprof"},
    };
    char others[128];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fleetprof_slice line = text(cases[i].line);
        size_t len = fleetprof_server_timing_others(line, others);

        if (fleetprof_server_timing_names_us(line) != cases[i].names_us) {
            fail_msg("case %zu: %s", i, cases[i].line);
        }
        assert_text(((struct fleetprof_slice){others, len}), cases[i].others);
    }
}

/* For any line: the rest fits where the line did, and has no member of ours. */
static void nothing_of_ours_is_left_of_any_line(void **state)
{
    static const char *const pieces[] = {"fleetprof", ",", ";", "=", "\"", "\\", " ", "a", "\t"};
    uint64_t seed = 1;
    char line[LONGEST];
    char others[LONGEST];
    unsigned named = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct fleetprof_buffer made = {line, 0, sizeof(line)};
        struct fleetprof_slice rest = {others, 0};

        while (fleetprof_buffer_put(&made, text(pieces[pick(&seed, COUNT(pieces))])) &&
               pick(&seed, 12) != 0) {
        }
        rest.len = fleetprof_server_timing_others(fleetprof_buffer_text(&made), others);
        assert_true(rest.len <= made.len);
        assert_false(fleetprof_server_timing_names_us(rest));
        named += fleetprof_server_timing_names_us(fleetprof_buffer_text(&made)) ? 1 : 0;
    }
    assert_true(named > ROUNDS / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_of_our_name_go_and_others_stay),
        cmocka_unit_test(nothing_of_ours_is_left_of_any_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
