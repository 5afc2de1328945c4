/*
 * Bodies: the file of requests that bodies.mjs writes, mapped into memory.
 */
#ifndef FP_BENCH_BODIES_H
#define FP_BENCH_BODIES_H

#include "collector/base/base.h"

/* One request, head and body; lies in the mapping, which lives as long as the process. */
struct bodies_request {
    struct fp_str whole;
    struct fp_str body;
};

struct bodies {
    struct bodies_request *requests;
    size_t count;
};

/* Maps the file and finds its requests. False, with a message on stderr, when it cannot. */
bool bodies_open(const char *path, struct bodies *bodies) FP_MUST_CHECK;

#endif
