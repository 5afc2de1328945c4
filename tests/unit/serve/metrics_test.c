/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: more than there is room for is an error, never a part of them.
 */
#include "tests/unit/unit.h"

#include "cli/serve/metrics.c"

/* The rows of the answer: all of one site, each with a route of so many bytes. */
static struct {
    int rows;
    size_t route_len;
    bool is_refused; /* the last row was not taken */
} answer;

/* Returns a row of a query with as many columns as it has: texts, numbers, "t". */
static PGresult *row_of(char *route)
{
    enum { COLUMNS = COUNT + 1 };
    PGresAttDesc columns[COLUMNS] = {0};
    char site[] = "shop", vital[] = "INP", is_time[] = "t", p75[] = "0.2", count[] = "7",
         name[] = "c";
    char *const values[COLUMNS] = {site, route, vital, is_time, p75, count};
    PGresult *row = PQmakeEmptyPGresult(NULL, PGRES_SINGLE_TUPLE);
    assert_non_null(row);
    for (size_t i = 0; i < COLUMNS; i++)
        columns[i].name = name;
    assert_true(PQsetResultAttrs(row, COLUMNS, columns));
    for (int i = 0; i < COLUMNS; i++)
        assert_true(PQsetvalue(row, 0, i, values[i], (int)strlen(values[i])));
    return row;
}

/* Takes the place of reader.c, which would need a database with 64 MiB of names. */
enum fp_reader_result fp_readers_ask(struct fp_readers *readers,
                                     const struct fp_reader_query *query,
                                     struct fp_trouble *trouble)
{
    (void)readers;
    (void)trouble;
    if (query->take != take)
        return FP_READER_FINE;
    char *route = malloc(answer.route_len + 1);
    assert_non_null(route);
    memset(route, 'r', answer.route_len);
    route[answer.route_len] = '\0';
    PGresult *row = row_of(route);
    answer.is_refused = false;
    for (int i = 0; i < answer.rows && !answer.is_refused; i++)
        answer.is_refused = !query->take(query->context, row);
    PQclear(row);
    free(route);
    return FP_READER_FINE;
}

static void expect_too_long(struct fp_buf *out)
{
    struct fp_trouble trouble = {0};
    assert_int_equal(fp_metrics_write(NULL, -1, out, &trouble), FP_READER_TROUBLE);
    assert_int_equal(trouble.status, 500);
    assert_non_null(strstr(trouble.detail, "longer than 67108864 bytes"));
    assert_non_null(strstr(trouble.hint, "sites[].routes"));
}

static void metrics_that_fit_are_all_there(void **state)
{
    (void)state;
    struct fp_trouble trouble = {0};
    struct fp_buf out;
    answer.rows = 2;
    answer.route_len = 4;
    fp_buf_init(&out, 4096);
    assert_int_equal(fp_metrics_write(NULL, -1, &out, &trouble), FP_READER_FINE);
    fp_buf_add(&out, "", 1);
    assert_non_null(
        strstr((const char *)out.data,
               "\nfleetprof_vital_values{site=\"shop\",route=\"rrrr\",vital=\"INP\"} 7\n"));
    fp_buf_release(&out);
}

static void refuses_metrics_that_do_not_fit_together(void **state)
{
    (void)state;
    struct fp_buf out;
    answer.rows = 2;
    answer.route_len = 3000;
    fp_buf_init(&out, 4096);
    expect_too_long(&out);
    assert_false(answer.is_refused);
    fp_buf_release(&out);
}

static void takes_no_more_rows_than_there_is_room_for(void **state)
{
    (void)state;
    struct fp_buf out;
    answer.rows = 1000;
    answer.route_len = (size_t)1024 * 1024;
    fp_buf_init(&out, FP_METRICS_MAX);
    expect_too_long(&out);
    assert_true(answer.is_refused);
    fp_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_that_fit_are_all_there),
        cmocka_unit_test(refuses_metrics_that_do_not_fit_together),
        cmocka_unit_test(takes_no_more_rows_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
