/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Database status: what /readyz and /metrics say of the database.
 */
#include "tests/unit/unit.h"

#include "collector/writer/status.c"

static struct fp_database_status status = FP_DATABASE_STATUS_NEW;
static char text[2048];

static const struct fp_culprit house = {.object = "constraint house",
                                        .place = "fleetprof_data.upload"};

static void read_text(void (*write)(struct fp_database_status *, struct fp_buf *))
{
    struct fp_buf buf;
    fp_buf_init(&buf, sizeof(text));
    write(&status, &buf);
    fp_buf_add(&buf, "", 1);
    assert_false(buf.failed);
    snprintf(text, sizeof(text), "%s", (const char *)buf.data);
    fp_buf_release(&buf);
}

static void assert_line(const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, text);
}

static void tells_the_state_and_how_long_it_fails(void **state)
{
    (void)state;
    read_text(fp_database_status_tell);
    assert_string_equal(text, "database: connecting: not tried yet\n");
    fp_database_status_set(&status, FP_DATABASE_UNREACHABLE, false);
    atomic_store(&status.failing_since_us, fp_clock_real_us() - 90 * FP_US_PER_S);
    fp_database_status_set(&status, FP_DATABASE_UNREACHABLE, false);
    read_text(fp_database_status_tell);
    assert_line("unreachable: there is no connection to it; for 9");
    fp_database_status_set(&status, FP_DATABASE_REACHABLE, true);
    read_text(fp_database_status_tell);
    assert_string_equal(text, "database: reachable: uploads can be written\n");
}

static void names_the_culprit_until_uploads_are_written(void **state)
{
    (void)state;
    assert_true(fp_database_status_accuse(&status, &house, "drop it"));
    assert_false(fp_database_status_accuse(&status, &house, "drop it"));
    fp_database_status_set(&status, FP_DATABASE_REFUSING, false);
    read_text(fp_database_status_tell);
    assert_line("database: refusing: ");
    assert_line("the spool keeps uploads; drop it\n");
    read_text(fp_database_status_render);
    assert_line("\nfleetprof_database_refused_by{object=\"constraint house\","
                "table=\"fleetprof_data.upload\"} 1\n");
    assert_true(fp_database_status_accuse(&status, NULL, NULL));
    read_text(fp_database_status_tell);
    assert_null(strstr(text, "drop it"));
    read_text(fp_database_status_render);
    assert_null(strstr(text, "house"));
    assert_line("# TYPE fleetprof_database_refused_by gauge\n");
}

static void the_place_and_the_name_make_news(void **state)
{
    (void)state;
    struct fp_culprit other = house;
    assert_true(fp_database_status_accuse(&status, &house, ""));
    snprintf(other.place, sizeof(other.place), "fleetprof_data.segment");
    assert_true(fp_database_status_accuse(&status, &other, ""));
    snprintf(other.object, sizeof(other.object), "constraint home");
    assert_true(fp_database_status_accuse(&status, &other, ""));
}

static void quotes_names_as_prometheus_wants(void **state)
{
    (void)state;
    const struct fp_culprit odd = {.object = "constraint \"a\\b\nc\"", .place = "t"};
    (void)fp_database_status_accuse(&status, &odd, "");
    read_text(fp_database_status_render);
    assert_line("{object=\"constraint \\\"a\\\\b\\nc\\\"\",table=\"t\"} 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_the_state_and_how_long_it_fails),
        cmocka_unit_test(names_the_culprit_until_uploads_are_written),
        cmocka_unit_test(the_place_and_the_name_make_news),
        cmocka_unit_test(quotes_names_as_prometheus_wants),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
