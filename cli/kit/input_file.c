/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input file: reads a whole file, inflates and compresses.
 */
#include "cli/kit/input_file.h"

#include "collector/inflate/inflate.h"

#include "cli/kit/message.h"

#include <errno.h>
#include <libdeflate.h>

enum { GZIP_LEVEL = 6 };

static bool read_stream(FILE *stream, struct fp_buf *bytes)
{
    char chunk[64 * 1024];
    while (feof(stream) == 0 && ferror(stream) == 0) {
        size_t len = fread(chunk, 1, sizeof(chunk), stream);
        fp_buf_add(bytes, chunk, len);
        if (bytes->failed) {
            errno = bytes->starved ? ENOMEM : EFBIG;
            return false;
        }
    }
    return ferror(stream) == 0;
}

static struct fp_str encoding_of(const char *file)
{
    const char *end = strrchr(file, '.');
    if (end == NULL)
        return FP_STR("");
    if (strcmp(end, ".gz") == 0)
        return FP_STR("gzip");
    if (strcmp(end, ".br") == 0)
        return FP_STR("br");
    return strcmp(end, ".zst") == 0 ? FP_STR("zstd") : FP_STR("");
}

bool fp_input_file_read(const char *file, struct fp_input_file *body)
{
    bool standard = strcmp(file, "-") == 0;
    body->name = standard ? "standard input" : file;
    body->encoding = encoding_of(file);
    fp_buf_init(&body->bytes, FP_INPUT_FILE_MAX);
    FILE *stream = standard ? stdin : fopen(file, "rbe");
    bool fine = stream != NULL && read_stream(stream, &body->bytes);
    if (!fine) {
        fp_message_error("could not read %s: %s", body->name, strerror(errno));
        fp_buf_release(&body->bytes);
    }
    if (stream != NULL && !standard)
        (void)fclose(stream);
    return fine;
}

void fp_input_file_release(struct fp_input_file *body)
{
    fp_buf_release(&body->bytes);
}

enum fp_verdict fp_input_file_inflate(const struct fp_input_file *body,
                                      const struct fp_format_limits *limits, struct fp_arena *arena,
                                      struct fp_str *text, struct fp_upload_error *error)
{
    const struct fp_inflate_input input = {
        .body = {(const char *)body->bytes.data, body->bytes.len},
        .encoding = body->encoding,
        .max_inflated = limits->max_inflated,
    };
    struct fp_str inflated;
    enum fp_verdict verdict = fp_inflate(&input, arena, &inflated, error);
    if (verdict == FP_VERDICT_OK)
        *text = inflated;
    return verdict;
}

bool fp_input_file_compress(struct fp_str text, struct fp_arena *arena, struct fp_str *compressed)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(GZIP_LEVEL);
    if (compressor == NULL)
        return false;
    size_t room = libdeflate_gzip_compress_bound(compressor, text.len);
    char *bytes = fp_arena_alloc(arena, room);
    size_t len =
        bytes != NULL ? libdeflate_gzip_compress(compressor, text.ptr, text.len, bytes, room) : 0;
    libdeflate_free_compressor(compressor);
    if (len > 0)
        *compressed = (struct fp_str){bytes, len};
    return len > 0;
}
