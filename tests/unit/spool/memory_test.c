/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long backlog is recovered and read in bounded memory. FLEETPROF_LONG: 4 GiB of it.
 */
#include "test.h"

#include <stdlib.h>

enum { LONG_RECORD_LEN = 1 << 20, PEAK_MAX_KIB = 64 * 1024 };

/* Sanitizers keep what was freed. */
#ifdef FP_SANITIZED
enum { MEASURES_MEMORY = 0 };
#else
enum { MEASURES_MEMORY = 1 };
#endif

static FILE *open_stream(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    if (file == NULL)
        abort(); /* for the compiler: cmocka has left already */
    return file;
}

/* Resets the peak of the process's memory. */
static void reset_peak(void)
{
    FILE *file = open_stream("/proc/self/clear_refs", "w");
    assert_true(fputs("5", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static long peak_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *file = open_stream("/proc/self/status", "r");
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    fclose(file);
    return kib;
}

static void append_backlog(struct fp_spool *spool, unsigned count)
{
    uint8_t *record = calloc(1, LONG_RECORD_LEN);
    assert_non_null(record);
    struct waiter waiter = WAITER_INIT;
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(fp_spool_append(spool, record, LONG_RECORD_LEN, tell_waiter, &waiter),
                         FP_SPOOL_OK);
        wait_until_told(&waiter, i + 1);
    }
    assert_int_equal(waiter.committed, count);
    free(record);
}

static void recovers_and_reads_a_long_backlog_in_bounded_memory(void **state)
{
    struct fixture *fixture = *state;
    unsigned count = getenv("FLEETPROF_LONG") != NULL ? 4096 : 128;
    fixture->settings.max_bytes = UINT64_C(5) << 30;
    fixture->settings.segment_bytes = UINT64_C(16) << 20;
    open_spool(fixture);
    append_backlog(fixture->spool, count);
    close_spool(fixture);

    reset_peak();
    open_spool(fixture);
    unsigned read = 0;
    uint64_t after = 0;
    struct fp_spool_batch batch;
    do {
        assert_int_equal(fp_spool_read(fixture->spool, after, 8 << 20, 1000, &batch), FP_SPOOL_OK);
        read += (unsigned)batch.count;
        if (batch.count > 0)
            after = batch.records[batch.count - 1].sequence;
    } while (batch.count > 0);
    long peak = peak_kib();
    print_message("# %u MiB read, peak %ld KiB\n", count, peak);
    assert_int_equal(read, count);
    if (MEASURES_MEMORY)
        assert_in_range(peak, 1, PEAK_MAX_KIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recovers_and_reads_a_long_backlog_in_bounded_memory, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("spool_memory", tests, NULL, NULL);
}
