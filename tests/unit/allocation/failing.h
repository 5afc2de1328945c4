/*
 * Failing: every allocation of the process, those of the libraries too, is counted, and the N-th
 * since a test armed it fails. Starting a thread counts as one.
 */
#ifndef FP_TESTS_ALLOCATION_FAILING_H
#define FP_TESTS_ALLOCATION_FAILING_H

#include "collector/base/base.h"

#include "tests/unit/unit.h"

/* From here on the n-th allocation (from 1) fails; with and_later so do all that follow. */
void failing_arm(unsigned long n, bool and_later);

/* From here on none fails, so that a run can look at what is left. */
void failing_pause(void);

/* The same at the end of a run. Whether one has failed. */
bool failing_disarm(void);

enum outcome {
    DONE,    /* the result is right; run() has looked */
    REFUSED, /* refused in the way that the manual describes; nothing is left of it */
};

/* One thing that needs memory. `run` fails the test when the result is neither. */
struct scenario {
    const char *name;
    enum outcome (*run)(void *context);
    void *context;
    void (*prepare)(void *context); /* before each run, while nothing fails; NULL: nothing to do */
    unsigned allocations_min; /* fewer would mean that the scenario does not do what it should */
};

/*
 * Runs it with the first allocation failing, the second, …, until none fails, and again with all
 * later ones failing too. After each failure it is run undisturbed, and must be DONE.
 */
void failing_each(const struct scenario *scenario);

#endif
