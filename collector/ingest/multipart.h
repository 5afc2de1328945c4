/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multipart: splits a multipart/form-data body (RFC 7578, RFC 2046 section 5.1) into parts, as
 * slices of it. Pure functions; any thread.
 */
#ifndef FP_INGEST_MULTIPART_H
#define FP_INGEST_MULTIPART_H

#include "collector/base/base.h"

enum fp_multipart_step {
    FP_MULTIPART_PART,
    FP_MULTIPART_END,    /* the closing delimiter was found */
    FP_MULTIPART_BROKEN, /* the body ends early, or a part's headers do not end */
};

struct fp_multipart {
    struct fp_str body;
    struct fp_str boundary;
    size_t at;   /* the byte after the latest delimiter, 0 before the first */
    bool closed; /* that was the closing one */
};

/* True if the text can be a boundary: 1 to 70 of the characters that RFC 2046 allows. */
bool fp_multipart_boundary_ok(struct fp_str boundary);

/*
 * Returns the next part's content. Skips a part's headers: an upload's bytes say what it is. If the
 * step is BROKEN, `at` is where parsing failed.
 */
enum fp_multipart_step fp_multipart_next(struct fp_multipart *multipart,
                                         struct fp_str *part) FP_MUST_CHECK;

#endif
