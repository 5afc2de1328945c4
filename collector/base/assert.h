/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions: invariants of our own code, checked while it runs. Any thread.
 *
 * Never for input: what a client, a disk or a database sends is checked and answered with an error.
 * A condition has no side effects. FP_ASSERT's costs no more than a few comparisons;
 * FP_ASSERT_COSTLY's may walk over data.
 *
 * On in every build of tools/build, which is what the tests, the sanitizers and the fuzzers run.
 * Off where Meson defines NDEBUG, that is with --buildtype release.
 * FP_ASSERT_COSTLY is on in unit tests, sanitizer builds and fuzzers only: Meson defines
 * FP_SANITIZED for sanitizers, and links tests/unit/thorough.c into every unit test.
 */
#ifndef FP_BASE_ASSERT_H
#define FP_BASE_ASSERT_H

#include <stdbool.h>
#include <stddef.h>

/* Prints "FILE:LINE: assertion failed: CONDITION" to standard error and aborts. */
void fp_assert_failed(const char *condition, const char *file, int line)
    __attribute__((noreturn, cold));

/* Present in programs that check at any cost. */
extern const bool fp_assert_thorough __attribute__((weak));

#ifdef FP_SANITIZED
#define FP_ASSERT_IS_THOROUGH true
#else
#define FP_ASSERT_IS_THOROUGH (&fp_assert_thorough != NULL)
#endif

#ifdef NDEBUG
#define FP_ASSERT(condition) ((void)(false && (condition)))
#define FP_ASSERT_COSTLY(condition) ((void)(false && (condition)))
#else
#define FP_ASSERT(condition)                                                                       \
    ((condition) ? (void)0 : fp_assert_failed(#condition, __FILE__, __LINE__))
#define FP_ASSERT_COSTLY(condition)                                                                \
    (!FP_ASSERT_IS_THOROUGH || (condition) ? (void)0                                               \
                                           : fp_assert_failed(#condition, __FILE__, __LINE__))
#endif

#endif
