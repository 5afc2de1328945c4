/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies: the heads and bodies of requests that bodies.mjs writes, mapped into memory.
 */
#ifndef FP_BENCH_BODIES_H
#define FP_BENCH_BODIES_H

#include "collector/base/base.h"

/* All texts lie in the mapping, which lives as long as the process. */
struct bodies {
    struct fp_str *heads; /* of requests, each with the end of its last line, without a length */
    size_t head_count;
    struct fp_str *items;
    size_t count;
};

/* Maps the file and finds its heads and bodies. False, with a message on stderr, when it cannot. */
bool bodies_open(const char *path, struct bodies *bodies) FP_MUST_CHECK;

#endif
