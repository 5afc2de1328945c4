/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems: valid JSON whatever a request had in it.
 */
#include "tests/unit/unit.h"

#include "collector/http/problem_json.c"

/* Fails unless the problem is written as this text. */
static void assert_written(const struct fp_problem *problem, const char *expected)
{
    size_t len = 0;
    char *json = fp_problem_json(problem, &len);
    assert_non_null(json);
    assert_int_equal(len, strlen(json));
    assert_string_equal(json, expected);
    free(json);
}

static struct fp_problem problem_with(const char *detail, const char *pointer)
{
    struct fp_problem problem = {.status = 422, .offset = -1};
    snprintf(problem.detail, sizeof(problem.detail), "%s", detail);
    if (pointer != NULL) {
        problem.has_pointer = true;
        snprintf(problem.pointer, sizeof(problem.pointer), "%s", pointer);
    }
    return problem;
}

static void has_type_title_status_and_detail(void **state)
{
    (void)state;
    struct fp_problem problem = problem_with("it is wrong", NULL);
    problem.status = 403;
    assert_written(&problem, "{\"type\":\"about:blank\",\"title\":\"Forbidden\",\"status\":403,"
                             "\"detail\":\"it is wrong\"}");
}

static void says_where_only_where_that_applies(void **state)
{
    (void)state;
    struct fp_problem problem = problem_with("d", "/trace/frames/0");
    assert_written(&problem, "{\"type\":\"about:blank\",\"title\":\"Unprocessable Content\","
                             "\"status\":422,\"detail\":\"d\",\"pointer\":\"/trace/frames/0\"}");
    problem = problem_with("d", "");
    assert_written(&problem, "{\"type\":\"about:blank\",\"title\":\"Unprocessable Content\","
                             "\"status\":422,\"detail\":\"d\",\"pointer\":\"\"}");
    problem = problem_with("d", NULL);
    problem.status = 400;
    problem.offset = 0;
    assert_written(&problem, "{\"type\":\"about:blank\",\"title\":\"Bad Request\","
                             "\"status\":400,\"detail\":\"d\",\"offset\":0}");
}

static void each_status_of_a_refusal_has_its_title(void **state)
{
    (void)state;
    static const struct {
        unsigned status;
        const char *title;
    } titles[] = {
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
    };
    size_t known = 0;
    for (unsigned status = 100; status < 600; status++) {
        const bool is_next = known < FP_COUNT(titles) && titles[known].status == status;
        assert_string_equal(title_of(status), is_next ? titles[known++].title : "Error");
    }
    assert_int_equal(known, FP_COUNT(titles));
    for (enum fp_refusal reason = 0; reason < FP_REFUSAL_COUNT; reason++) {
        struct fp_problem problem;
        fp_problem_refuse(&problem, reason, "d");
        assert_string_not_equal(title_of(problem.status), "Error");
    }
}

static void escapes_everything(void **state)
{
    (void)state;
    struct fp_problem problem =
        problem_with("a\"b\\c\nd\x01\x7f</script>\xc3\xa9\xf0\x9f\x98\x80", "/\"\t");
    assert_written(&problem,
                   "{\"type\":\"about:blank\",\"title\":\"Unprocessable Content\",\"status\":422,"
                   "\"detail\":\"a\\\"b\\\\c\\nd\\u0001\x7f</script>\\u00E9\\uD83D\\uDE00\","
                   "\"pointer\":\"/\\\"\\t\"}");
}

static void a_text_that_was_cut_within_a_character_is_left_out(void **state)
{
    (void)state;
    struct fp_problem problem = problem_with("cut \xc3", "/a");
    assert_written(&problem, "{\"type\":\"about:blank\",\"title\":\"Unprocessable Content\","
                             "\"status\":422,\"detail\":\"Unprocessable Content\"}");
    problem = problem_with("d", "/a\xf0\x9f\x98");
    problem.offset = 5;
    assert_written(&problem, "{\"type\":\"about:blank\",\"title\":\"Unprocessable Content\","
                             "\"status\":422,\"detail\":\"Unprocessable Content\",\"offset\":5}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_type_title_status_and_detail),
        cmocka_unit_test(says_where_only_where_that_applies),
        cmocka_unit_test(each_status_of_a_refusal_has_its_title),
        cmocka_unit_test(escapes_everything),
        cmocka_unit_test(a_text_that_was_cut_within_a_character_is_left_out),
    };
    return cmocka_run_group_tests_name("http_problem", tests, NULL, NULL);
}
