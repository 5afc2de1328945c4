/*
 * Assertions: invariants of our own code, checked while it runs. Any thread.
 *
 * Never for input: what a client, a disk or a database sends is checked and answered with an error.
 * A condition has no side effects and costs no more than a few comparisons.
 *
 * On in every build of tools/build, which is what the tests, the sanitizers and the fuzzers run.
 * Off where Meson defines NDEBUG, that is with --buildtype release.
 */
#ifndef FP_BASE_ASSERT_H
#define FP_BASE_ASSERT_H

/* Prints "FILE:LINE: assertion failed: CONDITION" to standard error and aborts. */
void fp_assert_failed(const char *condition, const char *file, int line)
    __attribute__((noreturn, cold));

#ifdef NDEBUG
#define FP_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#else
#define FP_ASSERT(condition)                                                                       \
    ((condition) ? (void)0 : fp_assert_failed(#condition, __FILE__, __LINE__))
#endif

#endif
