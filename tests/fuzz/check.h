/*
 * Check: how a fuzzer says that a property does not hold.
 */
#ifndef FP_FUZZ_CHECK_H
#define FP_FUZZ_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Ends the process, with a stack for libFuzzer to print, when something does not hold. */
static inline void check(bool holds)
{
    if (!holds)
        abort();
}

#endif
