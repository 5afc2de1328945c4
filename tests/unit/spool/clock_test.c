/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock that jumps loses no record and does not keep one from being written. The linker replaces
 * the system's clocks by these.
 */
#include "test.h"

#include <stdatomic.h>

static _Atomic int64_t real_offset_us;
static _Atomic int64_t monotonic_offset_us;

int64_t __real_fp_clock_real_us(void);
int64_t __real_fp_clock_monotonic_us(void);
int64_t __wrap_fp_clock_real_us(void);
int64_t __wrap_fp_clock_monotonic_us(void);

int64_t __wrap_fp_clock_real_us(void)
{
    return __real_fp_clock_real_us() + real_offset_us;
}

int64_t __wrap_fp_clock_monotonic_us(void)
{
    return __real_fp_clock_monotonic_us() + monotonic_offset_us;
}

static void clock_jumps_lose_nothing_and_the_position_is_still_written_down(void **state)
{
    static const int64_t jumps_us[] = {FP_US_PER_HOUR, FP_US_PER_DAY, 365 * FP_US_PER_DAY};
    struct fixture *fixture = *state;
    uint64_t last = 0;
    open_spool(fixture);
    for (unsigned i = 0; i < 6; i++) {
        append_range(fixture->spool, last + 1, last + 200);
        last += 200;
        /* The wall clock jumps both ways; the monotonic one stops in sleep, or leaps. */
        real_offset_us += i % 2 == 0 ? jumps_us[i / 2] : -2 * jumps_us[i / 2];
        monotonic_offset_us += jumps_us[i / 2];
        assert_int_equal(fp_spool_trim(fixture->spool, last - 100), FP_SPOOL_OK);
        expect_range(fixture->spool, last - 100, last - 99, last);
        if (i % 2 == 1)
            reopen_spool(fixture);
        assert_int_equal(fp_spool_position(fixture->spool), last - 100);
        expect_range(fixture->spool, last - 100, last - 99, last);
    }
    monotonic_offset_us = 0; /* after a reboot the clock counts from zero */
    reopen_spool(fixture);
    assert_int_equal(fp_spool_position(fixture->spool), last - 100);
    expect_range(fixture->spool, last - 100, last - 99, last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            clock_jumps_lose_nothing_and_the_position_is_still_written_down, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("spool_clock", tests, NULL, NULL);
}
