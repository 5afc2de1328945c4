/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload error: what is wrong with an upload, and where.
 */
#ifndef FP_BASE_UPLOAD_ERROR_H
#define FP_BASE_UPLOAD_ERROR_H

#include "collector/base/base.h"

/* The kind of an upload's error, one per status of the contract. */
enum fp_verdict {
    FP_VERDICT_OK = 0,
    FP_VERDICT_MALFORMED,   /* 400: not JSON, truncated or broken compression */
    FP_VERDICT_TOO_LARGE,   /* 413: over a limit */
    FP_VERDICT_UNSUPPORTED, /* 415: encoding or format not supported */
    FP_VERDICT_INVALID,     /* 422: JSON, but not a valid upload */
    FP_VERDICT_MEMORY, /* the arena is full, or the machine is: 413 or 503, the caller decides */
};

struct fp_upload_error {
    enum fp_verdict verdict;
    char detail[256];  /* a sentence a web developer understands; escaped for JSON by whoever prints
                          it */
    char pointer[256]; /* RFC 6901, "" when it does not apply (or the whole document) */
    bool has_pointer;
    int64_t offset; /* bytes into the inflated body, -1 when it does not apply */
};

/* Fills *error, without a pointer, and returns the verdict. */
enum fp_verdict fp_upload_fail(struct fp_upload_error *error, enum fp_verdict verdict,
                               const char *detail, ...) FP_PRINTF(3, 4);
enum fp_verdict fp_upload_fail_memory(struct fp_upload_error *error);

#endif
