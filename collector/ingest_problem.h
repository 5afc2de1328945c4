/*
 * Problem: why a request is refused, for whoever writes the reply.
 */
#ifndef FP_INGEST_PROBLEM_H
#define FP_INGEST_PROBLEM_H

#include "collector/base/base.h"

/* Why a request is not answered with 204. */
struct fp_problem {
    unsigned status;   /* HTTP */
    unsigned retry_s;  /* `Retry-After`, 0: none */
    bool has_pointer;  /* pointer applies (it may be "", the whole document) */
    int64_t offset;    /* into the inflated body (of the part), -1: does not apply */
    char detail[320];  /* a sentence; not escaped */
    char pointer[256]; /* RFC 6901; not escaped */
};

/* Fills a problem without place; detail by printf's rules. */
void fp_problem_set(struct fp_problem *problem, unsigned status, const char *detail, ...)
    FP_PRINTF(3, 4);

#endif
