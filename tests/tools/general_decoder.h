/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The general decoder of JSON bodies, for tests that hold the fast reader of traces against it.
 */
#ifndef FP_TESTS_GENERAL_DECODER_H
#define FP_TESTS_GENERAL_DECODER_H

#include "collector/format/format.h"
#include "tests/tools/profile_difference.h"

#include <stdlib.h>

/* One decoding of a body; the caller releases it. */
struct fp_decoding {
    struct fp_str spaced; /* what the general decoder read, owned; else ptr is NULL */
    struct fp_arena arena;
    struct fp_profile profile;
    struct fp_upload_error error;
    enum fp_verdict verdict;
};

static inline void fp_decoding_run(struct fp_decoding *decoding, struct fp_str body,
                                   const struct fp_format_limits *limits, size_t memory)
{
    decoding->spaced = (struct fp_str){NULL, 0};
    fp_arena_init(&decoding->arena, memory);
    decoding->verdict = fp_format_decode(body, FP_STR(""), limits, &decoding->arena,
                                         &decoding->profile, &decoding->error);
}

/* So much white space before a body makes the fast reader leave it to the general decoder. */
enum { FP_GENERAL_SPACES = 4096 };

/* Returns a body behind white space, allocated with malloc. */
static inline struct fp_str fp_general_body(struct fp_str body)
{
    char *spaced = malloc(FP_GENERAL_SPACES + body.len);
    if (spaced == NULL)
        abort();
    memset(spaced, ' ', FP_GENERAL_SPACES);
    memcpy(spaced + FP_GENERAL_SPACES, body.ptr, body.len);
    return (struct fp_str){spaced, FP_GENERAL_SPACES + body.len};
}

/* Decodes a body without the fast reader. The offset of an error is that in the body. */
static inline void fp_decoding_run_general(struct fp_decoding *decoding, struct fp_str body,
                                           const struct fp_format_limits *limits, size_t memory)
{
    const struct fp_str spaced = fp_general_body(body);
    fp_decoding_run(decoding, spaced, limits, memory);
    decoding->spaced = spaced;
    if (decoding->error.offset >= FP_GENERAL_SPACES)
        decoding->error.offset -= FP_GENERAL_SPACES;
}

static inline void fp_decoding_release(struct fp_decoding *decoding)
{
    fp_arena_release(&decoding->arena);
    free((void *)(uintptr_t)decoding->spaced.ptr);
}

/* Returns what differs between two decodings, NULL if nothing does. */
static inline const char *fp_decoding_difference(const struct fp_decoding *a,
                                                 const struct fp_decoding *b)
{
    if (a->verdict != b->verdict)
        return "verdict";
    if (a->verdict == FP_VERDICT_OK)
        return fp_profile_difference(&a->profile, &b->profile);
    if (strcmp(a->error.detail, b->error.detail) != 0)
        return "detail";
    if (a->error.has_pointer != b->error.has_pointer ||
        (a->error.has_pointer && strcmp(a->error.pointer, b->error.pointer) != 0))
        return "pointer";
    return a->error.offset != b->error.offset ? "offset" : NULL;
}

#endif
