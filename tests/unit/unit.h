/* What every unit test includes: cmocka, after the headers that it needs before it. */
#ifndef FP_TESTS_UNIT_H
#define FP_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#endif
