/* SPDX-License-Identifier: Apache-2.0 */
/* Included by every unit test: cmocka, after the headers that it needs before it. */
#ifndef FP_TESTS_UNIT_H
#define FP_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* True if one of the names, which lie `stride` bytes apart, is that name. */
static inline bool is_named(const char *name, const char *const *names, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, *(const char *const *)(const void *)((const char *)names + i * stride)) ==
            0)
            return true;
    return false;
}

/*
 * Walks a table of facts: fails for a row without an example, and for an example without a row. Of
 * each, the second argument is the member that names it.
 */
#define assert_walks(rows, row_name, examples, example_name)                                       \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < sizeof(rows) / sizeof((rows)[0]); i_++)                           \
            if (!is_named((rows)[i_] row_name, &(examples)[0] example_name, sizeof((examples)[0]), \
                          sizeof(examples) / sizeof((examples)[0])))                               \
                fail_msg("%s[%zu] has no example: %s", #rows, i_, (rows)[i_] row_name);            \
        for (size_t i_ = 0; i_ < sizeof(examples) / sizeof((examples)[0]); i_++)                   \
            if (!is_named((examples)[i_] example_name, &(rows)[0] row_name, sizeof((rows)[0]),     \
                          sizeof(rows) / sizeof((rows)[0])))                                       \
                fail_msg("%s has no row: %s", #rows, (examples)[i_] example_name);                 \
    } while (0)

#endif
