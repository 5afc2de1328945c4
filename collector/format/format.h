/*
 * Format: the bytes of a body become a profile: inflate, name the format, decode and validate.
 */
#ifndef FP_FORMAT_FORMAT_H
#define FP_FORMAT_FORMAT_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/profile/profile.h"

/* Ceilings of one upload; the configuration's `limits`. */
struct fp_format_limits {
    size_t max_inflated; /* bytes */
    uint32_t samples;
    uint32_t stacks;
    uint32_t frames;
    uint32_t resources;
    uint32_t entries;     /* marks, measures and entries together */
    uint32_t stack_depth; /* frames on one stack */
    uint32_t json_depth;
    int64_t max_span_us;            /* last sample - first sample */
    struct fp_str_list detail_keys; /* members of a mark's or measure's detail that are kept */
    uint32_t keep_ppm; /* share of traces that are kept whole; formats with events always are */
};

/* What is wrong with an upload, as the contract's statuses sort it. */
enum fp_format_verdict {
    FP_FORMAT_OK = 0,
    FP_FORMAT_MALFORMED,   /* 400: not JSON, truncated or broken compression */
    FP_FORMAT_TOO_LARGE,   /* 413: over a limit */
    FP_FORMAT_UNSUPPORTED, /* 415: encoding or format not supported */
    FP_FORMAT_INVALID,     /* 422: JSON, but not a valid upload */
    FP_FORMAT_MEMORY, /* the arena or the machine has no more: 413 or 503, as the caller sees fit */
};

struct fp_format_error {
    enum fp_format_verdict verdict;
    char detail[256];  /* a sentence a web developer understands; escaped for JSON by whoever prints
                          it */
    char pointer[256]; /* RFC 6901, "" when it does not apply (or the whole document) */
    bool has_pointer;
    int64_t offset; /* bytes into the inflated body, -1 when it does not apply */
};

/* `Content-Encoding`, "" for none; gzip and zlib magic is recognised without it. */
struct fp_inflate_input {
    struct fp_str body;
    struct fp_str encoding;
    size_t max_inflated;
};

/*
 * Inflates gzip, deflate (zlib or raw), br and zstd, up to max_inflated bytes; trailing garbage,
 * truncation and bad checksums are errors. *inflated is the body itself when nothing was to
 * inflate, else memory of the arena.
 */
enum fp_format_verdict fp_inflate(const struct fp_inflate_input *input, struct fp_arena *arena,
                                  struct fp_str *inflated,
                                  struct fp_format_error *error) FP_MUST_CHECK;

/*
 * Decodes. format_hint: the `?format=` value, "" when the shape decides. body is not changed. On
 * failure *error says where and why, and profile is undefined. The profile lives in the arena, as
 * do those that follow it (profile->next): each is an upload of its own. Any thread.
 */
enum fp_format_verdict fp_format_decode(struct fp_str body, struct fp_str format_hint,
                                        const struct fp_format_limits *limits,
                                        struct fp_arena *arena, struct fp_profile *profile,
                                        struct fp_format_error *error) FP_MUST_CHECK;

#endif
