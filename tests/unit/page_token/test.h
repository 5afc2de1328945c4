/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of page_token: keys that other programs can also use. */
#ifndef FLEETPROF_TEST_PAGE_TOKEN_H
#define FLEETPROF_TEST_PAGE_TOKEN_H

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The bytes 00 to 1f, and 32 times aa. */
#define KEY_A "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define KEY_B "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

#endif
