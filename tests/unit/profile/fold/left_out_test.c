/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Omissions of an agent in a delta: kinds of things, and marks and measures by name.
 */
#include "site_test.h"

static struct fp_delta fold_json(struct site *site, const char *text)
{
    struct fp_delta delta;
    const struct fp_fold_context context = context_of(site);
    fold_body(&site->arena, json_of(&site->arena, text), &context, &delta);
    return delta;
}

static const struct fp_delta_timing *find(const struct fp_delta *delta, const char *what,
                                          const char *source)
{
    for (uint32_t i = 0; i < delta->timing_count; i++)
        if (delta->timings[i].kind == FP_TIMING_LEFT_OUT &&
            fp_str_equal(delta->timings[i].name, fp_str_of(what)) &&
            fp_str_equal(delta->timings[i].source, fp_str_of(source)))
            return &delta->timings[i];
    return NULL;
}

static uint32_t rows_in(const struct fp_delta *delta)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < delta->timing_count; i++)
        rows += delta->timings[i].kind == FP_TIMING_LEFT_OUT;
    return rows;
}

/* The upload counts once, whatever was left out. */
static void assert_left_out(const struct fp_delta *delta, const char *what, const char *source,
                            int64_t missing)
{
    const struct fp_delta_timing *timing = find(delta, what, source);
    if (timing == NULL)
        fail_msg("no %s %s", what, source);
    assert_int_equal(timing->count, 1);
    assert_int_equal(timing->sum_us, missing);
    assert_int_equal(timing->bin_count, 0);
}

static void kinds_and_names_are_summed_and_the_upload_counts_once(void **state)
{
    const struct fp_delta delta = fold_json(
        *state, "{'version':1,'marks':[{'name':'Row','entryType':'mark','startTime':1}],'leftOut':["
                "{'what':'measure','name':'Row','count':11800},{'what':'measure','count':40},"
                "{'what':'measure','name':'Row','count':1},{'what':'mark','name':'Row','count':3},"
                "{'what':'profile'}]}");
    assert_int_equal(rows_in(&delta), 6);
    assert_left_out(&delta, "(any)", "", 0);
    assert_left_out(&delta, "measure", "", 11841);
    assert_left_out(&delta, "measure", "Row", 11801);
    assert_left_out(&delta, "mark", "", 3);
    assert_left_out(&delta, "mark", "Row", 3);
    assert_left_out(&delta, "profile", "", 0);
    assert_true(delta.truncated);
}

static void only_marks_and_measures_have_names(void **state)
{
    const struct fp_delta delta = fold_json(
        *state, "{'coverage':'quota','leftOut':[{'what':'interaction','name':'secret','count':2},"
                "{'what':'mark','name':'','count':1},{'what':'later','name':'x','count':9}]}");
    assert_int_equal(rows_in(&delta), 4);
    assert_left_out(&delta, "interaction", "", 2);
    assert_left_out(&delta, "mark", "", 1);
    /* A word that only a later agent has. */
    assert_left_out(&delta, "(unknown)", "", 9);
}

static void a_sender_that_does_not_say_what_is_unknown(void **state)
{
    struct fp_delta delta = fold_json(*state, "{'coverage':'quota','truncated':true}");
    assert_int_equal(rows_in(&delta), 2);
    assert_left_out(&delta, "(any)", "", 0);
    assert_left_out(&delta, "(unknown)", "", 0);
    delta = fold_json(*state, "{'coverage':'quota','truncated':false,'leftOut':[]}");
    assert_int_equal(rows_in(&delta), 0);
    assert_false(delta.truncated);
    delta = fold_json(*state, "{'coverage':'quota','truncated':true,'leftOut':[{'what':'upload',"
                              "'count':2}]}");
    assert_int_equal(rows_in(&delta), 2);
    assert_left_out(&delta, "upload", "", 2);
}

/* They end in the middle of a record. */
static void a_dump_whose_end_is_cut_off_leaves_out_nothing(void **state)
{
    struct fp_delta delta;
    struct site *site = *state;
    const struct fp_fold_context context = context_of(site);
    fold_body(&site->arena,
              json_of(&site->arena, "{'type':11,'time':1,'data':{},'sequence':1}\n{'type':11,'ti"),
              &context, &delta);
    assert_int_equal(delta.format, FP_UPLOAD_SPEED_TRACER);
    assert_true(delta.truncated);
    assert_int_equal(rows_in(&delta), 0);
}

/* As those of marks: then the two are found together. */
static void names_are_treated_as_those_of_marks(void **state)
{
    struct fp_delta delta =
        fold_json(*state, "{'version':1,'measures':[{'name':'load /a?key=1','entryType':'measure',"
                          "'startTime':1,'duration':2}],'leftOut':[{'what':'measure','name':"
                          "'load /a?key=1','count':5}]}");
    assert_int_equal(delta.timings[0].kind, FP_TIMING_MEASURE);
    char name[64];
    snprintf(name, sizeof(name), "%.*s", FP_STR_ARG(delta.timings[0].name));
    assert_null(strstr(name, "key"));
    assert_left_out(&delta, "measure", name, 5);

    struct site *site = *state;
    site->limits.names[FP_NAME_TIMING] = 2;
    delta = fold_json(site, "{'version':1,'marks':[{'name':'b','entryType':'mark','startTime':1},"
                            "{'name':'c','entryType':'mark','startTime':1}],'leftOut':["
                            "{'what':'mark','name':'b','count':5},"
                            "{'what':'mark','name':'c','count':7}]}");
    assert_left_out(&delta, "mark", "b", 5);
    assert_left_out(&delta, "mark", overflow, 7);
    assert_left_out(&delta, "mark", "", 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kinds_and_names_are_summed_and_the_upload_counts_once),
        TEST(only_marks_and_measures_have_names),
        TEST(a_sender_that_does_not_say_what_is_unknown),
        TEST(a_dump_whose_end_is_cut_off_leaves_out_nothing),
        TEST(names_are_treated_as_those_of_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
