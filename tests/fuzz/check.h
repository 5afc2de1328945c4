/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check: how a fuzzer reports that a property does not hold.
 */
#ifndef FP_FUZZ_CHECK_H
#define FP_FUZZ_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static inline _Noreturn void check_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

/* Ends the process, with a stack for libFuzzer to print, when something does not hold. */
#define check(holds) ((holds) ? (void)0 : check_failed(#holds, __FILE__, __LINE__))

#endif
