/*
 * What the unit tests of the store share: cmocka's headers in its order.
 */
#ifndef FP_TESTS_STORE_TEST_H
#define FP_TESTS_STORE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#endif
