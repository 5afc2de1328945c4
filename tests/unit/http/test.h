/*
 * What the unit tests of this room share: cmocka, in the order it wants its headers.
 */
#ifndef FP_TESTS_HTTP_TEST_H
#define FP_TESTS_HTTP_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#endif
