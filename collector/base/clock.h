/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock: the clocks of the collector, in whole microseconds. Any thread.
 */
#ifndef FP_BASE_CLOCK_H
#define FP_BASE_CLOCK_H

#include "collector/base/base.h"

#define FP_US_PER_MS INT64_C(1000)
#define FP_US_PER_S INT64_C(1000000)
#define FP_US_PER_HOUR (INT64_C(3600) * FP_US_PER_S)
#define FP_US_PER_DAY (24 * FP_US_PER_HOUR)

/* The longest time or duration that a format may state: 2^53 us, some 285 years. Each whole number
 * up to here is a double. */
#define FP_TIME_MAX_US (INT64_C(1) << 53)

/* Microseconds since 1970-01-01 UTC. May jump. */
int64_t fp_clock_real_us(void);

/* Microseconds since a fixed moment. Never goes back. */
int64_t fp_clock_monotonic_us(void);

/* Microseconds of processor time that the calling thread has used. A system call. */
int64_t fp_clock_thread_us(void);

#endif
