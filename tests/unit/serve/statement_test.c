/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statement: values are parameters in SQL, literals for people, and words of a command.
 */
#include "tests/unit/unit.h"

#include "cli/serve/question.c"
#include "cli/serve/statement.c"
#include "cli/serve/trouble.c"
#include "cli/serve/value.c"

#include <locale.h>

/* Adds name and value, in turns, up to NULL. */
static void ask(struct fp_inquiry *inquiry, const char *question, const char *const *texts)
{
    struct fp_trouble trouble = {0};
    fp_inquiry_init(inquiry, fp_question_find(question));
    for (size_t i = 0; texts[i] != NULL; i += 2)
        assert_true(
            fp_inquiry_add(inquiry, fp_str_of(texts[i]), fp_str_of(texts[i + 1]), &trouble));
    assert_true(fp_inquiry_is_whole(inquiry, &trouble));
}

static void expect(const char *question, const char *const *texts, const char *const expected[3])
{
    struct fp_inquiry inquiry;
    struct fp_statement statement;
    ask(&inquiry, question, texts);
    assert_true(fp_statement_init(&statement, &inquiry, 7));
    assert_string_equal((const char *)statement.sql.data, expected[0]);
    assert_string_equal((const char *)statement.shown.data, expected[1]);
    assert_string_equal((const char *)statement.command.data, expected[2]);
    fp_statement_release(&statement);
    fp_inquiry_release(&inquiry);
}

static void a_value_is_never_part_of_the_statement(void **state)
{
    (void)state;
    expect("hotspots", (const char *const[]){"site", "a'; drop", "since", "7d", "top", "3", NULL},
           (const char *const[]){"select * from fleetprof.hotspots(top => $1::integer, site => "
                                 "$2::text, since => now() - $3::interval) limit 7",
                                 "select * from fleetprof.hotspots(top => 3, site => 'a''; drop', "
                                 "since => now() - interval '7d')",
                                 "fleetprof top --top 3 --site 'a'\\''; drop' --since 7d"});
}

static void a_view_has_conditions(void **state)
{
    (void)state;
    expect(
        "sessions",
        (const char *const[]){"site", "shop", "route", "/a_%", "since", "2026-01-01", NULL},
        (const char *const[]){
            "select * from fleetprof.sessions where site = $1::text and received >= "
            "$2::timestamptz and route like replace(replace(replace($3::text, '\\', '\\\\'), '_', "
            "'\\_'), '\\\\%', '\\%') order by received desc, session_id limit 7",
            "select * from fleetprof.sessions where site = 'shop' and received >= '2026-01-01' "
            "and route like replace(replace(replace('/a_%', '\\', '\\\\'), '_', '\\_'), '\\\\%', "
            "'\\%') order by received "
            "desc, session_id",
            ""});
}

static void texts_become_one_array(void **state)
{
    (void)state;
    expect("get_events",
           (const char *const[]){"session_id", "-1", "timeline_id", "2", "types", "a\"b", "types",
                                 "c\\,", NULL},
           (const char *const[]){"select * from fleetprof.get_events(session_id => $1::bigint, "
                                 "timeline_id => $2::bigint, types => $3::text[]) limit 7",
                                 "select * from fleetprof.get_events(session_id => -1, timeline_id "
                                 "=> 2, types => '{\"a\\\"b\",\"c\\\\,\"}')",
                                 ""});
}

static void every_question_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < fp_question_count; i++) {
        const struct fp_parameter *parameters[FP_PARAMETERS_MAX];
        size_t count = list_parameters(&fp_questions[i], parameters);
        for (size_t a = 0; a < count; a++) {
            for (size_t b = a + 1; b < count; b++)
                assert_string_not_equal(parameters[a]->name, parameters[b]->name);
        }
        assert_ptr_equal(fp_question_find(fp_questions[i].name), &fp_questions[i]);
        assert_true(fp_questions[i].shape != FP_SHAPE_VIEW || fp_questions[i].order != NULL);
    }
}

static void times_are_days_that_exist(void **state)
{
    (void)state;
    static const char *const good[] = {"2024-02-29",
                                       "2026-12-31T23:59",
                                       "2026-01-01 00:00:00.123456Z",
                                       "2026-01-01T00:00+14:00",
                                       "2026-01-01T00:00-08",
                                       "0s",
                                       "999999w"};
    static const char *const bad[] = {"",
                                      "now",
                                      "2026-02-29",
                                      "2100-02-29",
                                      "2026-13-01",
                                      "2026-00-01",
                                      "2026-01-00",
                                      "0000-01-01",
                                      "2026-1-1",
                                      "2026-01-01T24:00",
                                      "2026-01-01T00:00:60",
                                      "2026-01-01T00:00:00.1234567",
                                      "2026-01-01T00:00+15:00",
                                      "2026-01-01T00:00 01:00",
                                      "-1d",
                                      "1d2h",
                                      "1000000d",
                                      "1y",
                                      "2026-01-01T",
                                      "2026-01-01Tx",
                                      "2"};
    const struct fp_parameter parameter = {.name = "since", .type = FP_VALUE_TIME};
    struct fp_trouble trouble;
    for (size_t i = 0; i < FP_COUNT(good); i++)
        assert_true(fp_value_check(&parameter, fp_str_of(good[i]), &trouble));
    for (size_t i = 0; i < FP_COUNT(bad); i++) {
        assert_false(fp_value_check(&parameter, fp_str_of(bad[i]), &trouble));
        assert_string_equal(trouble.parameter, "since");
    }
}

static void a_problem_with_half_a_character_is_still_json(void **state)
{
    (void)state;
    struct fp_trouble trouble;
    size_t len = 0;
    fp_trouble_parameter(&trouble, "site", "cut: \xc3");
    char *text = fp_trouble_json(&trouble, &len);
    assert_string_equal(text, "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
                              "\"detail\":\"Bad Request\",\"parameter\":\"site\"}");
    free(text);
}

int main(void)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_never_part_of_the_statement),
        cmocka_unit_test(a_view_has_conditions),
        cmocka_unit_test(texts_become_one_array),
        cmocka_unit_test(every_question_fits),
        cmocka_unit_test(times_are_days_that_exist),
        cmocka_unit_test(a_problem_with_half_a_character_is_still_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
