/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of bad uploads: one row per rule, with the verdict, the place and the
 * sentence that the web developer gets.
 */
#ifndef FP_TESTS_BAD_UPLOAD_TEST_H
#define FP_TESTS_BAD_UPLOAD_TEST_H

#include "test.h"

#define TRACE(resources, frames, stacks, samples)                                                  \
    "{'resources':" resources ",'frames':" frames ",'stacks':" stacks ",'samples':" samples "}"

struct bad_upload {
    const char *title;
    const char *body; /* ' stands for " */
    const char *hint; /* `?format=` */
    enum fp_verdict verdict;
    const char *pointer; /* NULL: none */
    int64_t offset;      /* of what is malformed, or too large */
    const char *detail;
};

static inline void assert_refused(const struct bad_upload *bad)
{
    struct decoded decoded;
    decode(&decoded, bad->body, bad->hint != NULL ? bad->hint : "");
    const struct fp_upload_error *error = &decoded.error;
    bool has_offset = bad->verdict == FP_VERDICT_MALFORMED || bad->offset > 0;
    int64_t offset = has_offset ? bad->offset : -1;
    const char *pointer = bad->pointer != NULL ? bad->pointer : "";
    if (decoded.verdict != bad->verdict || error->verdict != bad->verdict ||
        strcmp(error->detail, bad->detail) != 0 || error->offset != offset ||
        error->has_pointer != (bad->pointer != NULL) || strcmp(error->pointer, pointer) != 0)
        fail_msg("%s: verdict %d, pointer %s, offset %lld: %s", bad->title, (int)decoded.verdict,
                 error->has_pointer ? error->pointer : "none", (long long)error->offset,
                 error->detail);
    release(&decoded);
}

#endif
