/*
 * Shared by the unit tests of the rollup: cmocka's headers in its order.
 */
#ifndef FP_TESTS_ROLLUP_TEST_H
#define FP_TESTS_ROLLUP_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#endif
