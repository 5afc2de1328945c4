/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failing: counts every allocation of the process, including those of libraries, and fails the N-th
 * after a test arms it. Starting a thread counts as one.
 */
#ifndef FP_TESTS_ALLOCATION_FAILING_H
#define FP_TESTS_ALLOCATION_FAILING_H

#include "collector/base/base.h"

#include "tests/unit/unit.h"

/* Makes the n-th allocation from now on (from 1) fail; with and_later also all after it. */
void failing_arm(unsigned long n, bool and_later);

/* Lets all allocations succeed, so that a run can check the result. */
void failing_pause(void);

/* The same at the end of a run. True if one has failed. */
bool failing_disarm(void);

enum outcome {
    DONE,    /* the result is correct; run() has checked it */
    REFUSED, /* refused as the manual describes; nothing is left of it */
};

/* A scenario that needs memory. `run` fails the test if the result is neither. */
struct scenario {
    const char *name;
    enum outcome (*run)(void *context);
    void *context;
    void (*prepare)(void *context); /* before each run, while nothing fails; may be NULL */
    unsigned allocations_min;       /* fewer mean that the scenario does not do what it should */
};

/*
 * Runs the scenario with the first allocation failing, then the second, …, until none fails, and
 * again with all later ones failing too. After each failure it runs undisturbed, and must be DONE.
 */
void failing_each(const struct scenario *scenario);

#endif
