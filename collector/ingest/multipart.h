/*
 * Multipart: the parts of a multipart/form-data body (RFC 7578, RFC 2046 section 5.1), as slices of
 * it. Pure functions; any thread.
 */
#ifndef FP_INGEST_MULTIPART_H
#define FP_INGEST_MULTIPART_H

#include "collector/base/base.h"

enum fp_multipart_step {
    FP_MULTIPART_PART,
    FP_MULTIPART_END,    /* the closing delimiter was met */
    FP_MULTIPART_BROKEN, /* the body ends early or a part has no end of headers */
};

struct fp_multipart {
    struct fp_str body;
    struct fp_str boundary;
    size_t at;   /* the byte behind the latest delimiter, 0 before the first */
    bool closed; /* that was the last one */
};

/* Whether the text can be a boundary: 1 to 70 of the characters that RFC 2046 allows. */
bool fp_multipart_boundary_ok(struct fp_str boundary);

/*
 * Gives the next part's content. A part's headers are skipped: what an upload is, its bytes say.
 * When the step is BROKEN, `at` is where reading failed.
 */
enum fp_multipart_step fp_multipart_next(struct fp_multipart *multipart,
                                         struct fp_str *part) FP_MUST_CHECK;

#endif
