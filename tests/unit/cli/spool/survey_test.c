/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A survey beside a collector: a record that is half written at the first look is not damage, one
 * that stays unreadable is.
 */

#include "tests/unit/unit.h"

#include "collector/spool/file_ops.h"

/* The survey's files are read through this test. */
static const struct fp_file_ops *test_ops(void);
#define fp_file_ops_real test_ops
#include "cli/spool/survey.c"
#undef fp_file_ops_real

#define SPOOL FP_TEST_DATA "/spool-v1/spool"

/* Where the second record of each segment lies, and where the file ends. */
static const struct place {
    uint64_t offset;
    uint64_t file_end;
} in_older = {8392, 8888}, in_newest = {8416, 9148};

enum { ALL_RECORDS = 7, HIDDEN_LEN = 64 };

static struct fp_file_ops ops;
static struct place hidden; /* bytes that read as zeros ... */
static int hidden_reads;    /* ... so many times */

static ssize_t read_at(void *context, int file, void *bytes, size_t len, uint64_t offset)
{
    ssize_t got = fp_file_ops_real()->read_at(context, file, bytes, len, offset);
    if (hidden_reads == 0 || offset > hidden.offset || offset + (uint64_t)got != hidden.file_end)
        return got;
    hidden_reads--;
    memset((char *)bytes + (hidden.offset - offset), 0, HIDDEN_LEN);
    return got;
}

static const struct fp_file_ops *test_ops(void)
{
    ops = *fp_file_ops_real();
    ops.read_at = read_at;
    return &ops;
}

static void count_damage(void *context, const struct fp_survey_segment *segment,
                         const struct fp_survey_damage *damage)
{
    (void)segment;
    assert_true(damage->offset == hidden.offset);
    ++*(int *)context;
}

/* Returns how much damage a survey reports while a record is hidden from the given number of reads.
 * Fails unless the other records are found. */
static int damage_when_hidden(struct place place, int reads)
{
    struct fp_survey survey;
    int damages = 0;
    hidden_reads = 0;
    assert_true(open_survey(SPOOL, &survey));
    assert_int_equal(survey.segment_count, 2);
    hidden = place;
    hidden_reads = reads;
    fp_survey_scan(&survey, count_damage, &damages);
    uint64_t records = survey.segments[0].records + survey.segments[1].records;
    assert_true(records == (uint64_t)(ALL_RECORDS - damages));
    fp_survey_release(&survey);
    return damages;
}

static void a_record_that_is_being_written_is_no_damage(void **state)
{
    (void)state;
    assert_int_equal(damage_when_hidden(in_newest, 0), 0);
    assert_int_equal(damage_when_hidden(in_newest, 1), 0);
}

static void a_record_that_stays_unreadable_is_damage(void **state)
{
    (void)state;
    assert_int_equal(damage_when_hidden(in_newest, 1000), 1);
    assert_int_equal(damage_when_hidden(in_older, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_is_being_written_is_no_damage),
        cmocka_unit_test(a_record_that_stays_unreadable_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
