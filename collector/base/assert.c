/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions: the end of a process whose invariant does not hold.
 */
#include "collector/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void fp_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
