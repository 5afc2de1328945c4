/*
 * Problem: why a request is refused, for whoever writes the reply.
 */
#ifndef FP_BASE_PROBLEM_H
#define FP_BASE_PROBLEM_H

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

/* For `Retry-After`. */
enum {
    FP_RETRY_BUSY_S = 5,  /* until others' memory is free */
    FP_RETRY_FULL_S = 30, /* a full spool drains at the database's pace */
};

/* Fills a problem that passes, 503: the same request may be sent again. */
void fp_problem_defer(struct fp_problem *problem, unsigned retry_s, const char *detail);

#endif
