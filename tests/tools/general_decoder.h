/*
 * The general decoder of JSON bodies, for tests that hold the fast reader of traces against it.
 */
#ifndef FP_TESTS_GENERAL_DECODER_H
#define FP_TESTS_GENERAL_DECODER_H

#include "collector/format/format.h"
#include "tests/tools/profile_difference.h"

/* One decoding of a body; the caller releases the arena. */
struct fp_decoding {
    struct fp_arena arena;
    struct fp_profile profile;
    struct fp_upload_error error;
    enum fp_verdict verdict;
};

static inline void fp_decoding_run(struct fp_decoding *decoding, struct fp_str body,
                                   const struct fp_format_limits *limits, size_t memory)
{
    fp_arena_init(&decoding->arena, memory);
    decoding->verdict = fp_format_decode(body, FP_STR(""), limits, &decoding->arena,
                                         &decoding->profile, &decoding->error);
}

/* Decodes a body without the fast reader, which leaves every body that begins with white space to
 * the general decoder. That moves an error's offset by one; it is moved back. */
static inline bool fp_decoding_run_general(struct fp_decoding *decoding, struct fp_str body,
                                           const struct fp_format_limits *limits, size_t memory)
{
    char *spaced = malloc(body.len + 1);
    if (spaced == NULL)
        return false;
    spaced[0] = ' ';
    memcpy(spaced + 1, body.ptr, body.len);
    fp_decoding_run(decoding, (struct fp_str){spaced, body.len + 1}, limits, memory);
    decoding->error.offset -= decoding->error.offset > 0;
    return fp_arena_adopt(&decoding->arena, spaced, body.len + 1);
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
