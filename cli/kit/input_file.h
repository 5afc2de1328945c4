/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input file: reads a file to upload, finds its encoding, and inflates it.
 *
 * One thread.
 */
#ifndef FP_CLI_KIT_INPUT_FILE_H
#define FP_CLI_KIT_INPUT_FILE_H

#include "collector/base/arena.h"
#include "collector/base/buf.h"
#include "collector/format/format.h"

/* The largest file that is read. A larger one is an error of reading, not of the upload. */
#define FP_INPUT_FILE_MAX ((size_t)1 << 30)

struct fp_input_file {
    const char *name; /* the file's, "standard input" for "-" */
    struct fp_buf bytes;
    struct fp_str encoding; /* by the name's end: gzip (.gz), br (.br), zstd (.zst) or "" */
};

/* Reads a file, or standard input for "-". Prints an error and returns false on failure; there is
 * nothing to release then. */
bool fp_input_file_read(const char *file, struct fp_input_file *body) FP_MUST_CHECK;
void fp_input_file_release(struct fp_input_file *body);

/*
 * Inflates as the collector does. *text lives in the arena, or is the file's own bytes if these are
 * not compressed; it is unchanged on failure.
 */
enum fp_verdict fp_input_file_inflate(const struct fp_input_file *body,
                                      const struct fp_format_limits *limits, struct fp_arena *arena,
                                      struct fp_str *text,
                                      struct fp_upload_error *error) FP_MUST_CHECK;

/* Gzips a text into the arena. False, with *compressed unchanged, if there is no room. */
bool fp_input_file_compress(struct fp_str text, struct fp_arena *arena,
                            struct fp_str *compressed) FP_MUST_CHECK;

#endif
