/*
 * Body: reading a file whole and decoding it.
 */
#include "cli/body.h"

#include "cli/message.h"

#include <errno.h>

static bool read_stream(FILE *stream, struct fp_buf *bytes)
{
    char chunk[64 * 1024];
    while (feof(stream) == 0 && ferror(stream) == 0) {
        size_t len = fread(chunk, 1, sizeof(chunk), stream);
        fp_buf_add(bytes, chunk, len);
        if (bytes->failed) {
            errno = EFBIG;
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

bool fp_body_read(const char *file, struct fp_body *body)
{
    bool standard = strcmp(file, "-") == 0;
    body->name = standard ? "standard input" : file;
    body->encoding = encoding_of(file);
    fp_buf_init(&body->bytes, FP_BODY_MAX);
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

void fp_body_release(struct fp_body *body)
{
    fp_buf_release(&body->bytes);
}

enum fp_format_verdict fp_body_decode(const struct fp_body *body,
                                      const struct fp_format_limits *limits, struct fp_arena *arena,
                                      struct fp_str *text, struct fp_profile *profile,
                                      struct fp_format_error *error)
{
    struct fp_inflate_input input = {
        .body = {(const char *)body->bytes.data, body->bytes.len},
        .encoding = body->encoding,
        .max_inflated = limits->max_inflated,
    };
    enum fp_format_verdict verdict = fp_inflate(&input, arena, text, error);
    if (verdict != FP_FORMAT_OK)
        return verdict;
    return fp_format_decode(*text, FP_STR(""), limits, arena, profile, error);
}
