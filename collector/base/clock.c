/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock: clock_gettime in microseconds.
 */
#include "collector/base/clock.h"

#include <time.h>

static int64_t now_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * FP_US_PER_S + now.tv_nsec / 1000;
}

int64_t fp_clock_real_us(void)
{
    return now_us(CLOCK_REALTIME);
}

int64_t fp_clock_monotonic_us(void)
{
    return now_us(CLOCK_MONOTONIC);
}

int64_t fp_clock_thread_us(void)
{
    return now_us(CLOCK_THREAD_CPUTIME_ID);
}
