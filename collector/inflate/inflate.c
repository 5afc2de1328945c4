/*
 * Inflate: which codec a body needs, and gzip, zlib and raw deflate with libdeflate.
 *
 * libdeflate wants room for its whole output at once. It is given what the body's own size makes
 * likely and is run again with twice the room when that was too little; so a bomb costs what the
 * limit allows and a lie in the gzip trailer costs nothing.
 */
#include "collector/inflate/inflate.h"

#include "collector/base/ascii.h"
#include "collector/inflate/stream.h"

#include <libdeflate.h>

enum {
    ROOM_MIN = 4096,
    USUAL_RATIO = 8,     /* of JSON traces: 4 to 33, mostly below 8 */
    BELIEVED_RATIO = 40, /* up to here the gzip trailer is believed */
    GZIP_MIN_LEN = 18,
};

/* The room to begin with; likely_len is a guess from anywhere. */
static enum fp_verdict begin_output(struct fp_inflated *out, size_t likely_len)
{
    size_t cap = likely_len > ROOM_MIN ? likely_len : ROOM_MIN;
    return fp_inflated_grow_to(out, cap < out->max ? cap : out->max);
}

static size_t usual_len(struct fp_str body)
{
    size_t len;
    return __builtin_mul_overflow(body.len, (size_t)USUAL_RATIO, &len) ? SIZE_MAX : len;
}

/* The length in the gzip trailer when it is believable, else the usual one. */
static size_t gzip_len(struct fp_str body)
{
    if (body.len < GZIP_MIN_LEN)
        return usual_len(body);
    const uint8_t *trailer = (const uint8_t *)body.ptr + body.len - 4;
    size_t len = (size_t)trailer[0] | (size_t)trailer[1] << 8 | (size_t)trailer[2] << 16 |
                 (size_t)trailer[3] << 24;
    return len / BELIEVED_RATIO <= body.len ? len : usual_len(body);
}

/* libdeflate. */

enum codec { CODEC_NONE, CODEC_GZIP, CODEC_ZLIB, CODEC_RAW, CODEC_BROTLI, CODEC_ZSTD };

static const char *codec_name(enum codec codec)
{
    return codec == CODEC_GZIP ? "gzip" : "deflate";
}

static enum libdeflate_result run_libdeflate(struct libdeflate_decompressor *decompressor,
                                             enum codec codec, struct fp_str body,
                                             struct fp_inflated *out, size_t *taken)
{
    uint8_t *to = out->data + out->len;
    size_t room = out->cap - out->len;
    size_t made = 0;
    enum libdeflate_result result;
    if (codec == CODEC_GZIP)
        result =
            libdeflate_gzip_decompress_ex(decompressor, body.ptr, body.len, to, room, taken, &made);
    else if (codec == CODEC_ZLIB)
        result =
            libdeflate_zlib_decompress_ex(decompressor, body.ptr, body.len, to, room, taken, &made);
    else
        result = libdeflate_deflate_decompress_ex(decompressor, body.ptr, body.len, to, room, taken,
                                                  &made);
    if (result == LIBDEFLATE_SUCCESS)
        out->len += made;
    return result;
}

static bool has_gzip_magic(struct fp_str body)
{
    return body.len >= 2 && memcmp(body.ptr, "\x1f\x8b", 2) == 0;
}

/* One member of a gzip file, or the only stream of the other two. */
static enum fp_verdict inflate_member(struct libdeflate_decompressor *decompressor,
                                      enum codec codec, struct fp_str body, struct fp_inflated *out,
                                      size_t *taken)
{
    const bool is_no_gzip = codec == CODEC_GZIP && body.len >= 2 && !has_gzip_magic(body);
    for (;;) {
        enum libdeflate_result result = run_libdeflate(decompressor, codec, body, out, taken);
        if (result == LIBDEFLATE_SUCCESS)
            return FP_VERDICT_OK;
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE && is_no_gzip)
            return fp_upload_fail(out->error, FP_VERDICT_MALFORMED,
                                  "this is said to be gzip, but does not begin as gzip does");
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
            return fp_upload_fail(out->error, FP_VERDICT_MALFORMED,
                                  "the %s data is damaged or truncated", codec_name(codec));
        enum fp_verdict verdict = fp_inflated_grow(out);
        if (verdict != FP_VERDICT_OK)
            return verdict;
    }
}

/* RFC 1950: method 8, window up to 32 KiB, and a header that 31 divides. */
static bool has_zlib_magic(struct fp_str body)
{
    if (body.len < 2)
        return false;
    unsigned method = (unsigned char)body.ptr[0];
    unsigned flags = (unsigned char)body.ptr[1];
    return (method & 0x0F) == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0;
}

static enum fp_verdict inflate_members(struct libdeflate_decompressor *decompressor,
                                       enum codec codec, struct fp_str body,
                                       struct fp_inflated *out)
{
    do {
        size_t taken = 0;
        enum fp_verdict verdict = inflate_member(decompressor, codec, body, out, &taken);
        if (verdict != FP_VERDICT_OK)
            return verdict;
        body = (struct fp_str){body.ptr + taken, body.len - taken};
    } while (codec == CODEC_GZIP && has_gzip_magic(body));
    if (body.len == 0)
        return FP_VERDICT_OK;
    return fp_upload_fail(out->error, FP_VERDICT_MALFORMED,
                          "%zu bytes follow the end of the %s data", body.len, codec_name(codec));
}

static enum fp_verdict inflate_deflate(enum codec codec, struct fp_str body,
                                       struct fp_inflated *out)
{
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (decompressor == NULL)
        return fp_upload_fail_memory(out->error);
    enum fp_verdict verdict = inflate_members(decompressor, codec, body, out);
    libdeflate_free_decompressor(decompressor);
    return verdict;
}

/* Naming the codec. */

/* `deflate` means zlib's wrapping (RFC 9110 section 8.4.1.2), but some send it bare. */
static enum codec deflate_codec(struct fp_str body)
{
    return has_zlib_magic(body) ? CODEC_ZLIB : CODEC_RAW;
}

static bool name_codec(const struct fp_inflate_input *input, enum codec *codec)
{
    struct fp_str encoding = fp_str_trim(input->encoding);
    if (encoding.len == 0 || fp_str_equal_nocase(encoding, FP_STR("identity")))
        *codec = has_gzip_magic(input->body)   ? CODEC_GZIP
                 : has_zlib_magic(input->body) ? CODEC_ZLIB
                                               : CODEC_NONE;
    else if (fp_str_equal_nocase(encoding, FP_STR("gzip")) ||
             fp_str_equal_nocase(encoding, FP_STR("x-gzip")))
        *codec = CODEC_GZIP;
    else if (fp_str_equal_nocase(encoding, FP_STR("deflate")))
        *codec = deflate_codec(input->body);
    else if (fp_str_equal_nocase(encoding, FP_STR("br")))
        *codec = CODEC_BROTLI;
    else if (fp_str_equal_nocase(encoding, FP_STR("zstd")))
        *codec = CODEC_ZSTD;
    else
        return false;
    return true;
}

static enum fp_verdict inflate_with(enum codec codec, struct fp_str body, struct fp_inflated *out)
{
    size_t likely_len = codec == CODEC_GZIP ? gzip_len(body) : usual_len(body);
    enum fp_verdict verdict = begin_output(out, likely_len);
    if (verdict != FP_VERDICT_OK)
        return verdict;
    if (codec == CODEC_BROTLI)
        return fp_inflate_brotli(body, out);
    if (codec == CODEC_ZSTD)
        return fp_inflate_zstd(body, out);
    return inflate_deflate(codec, body, out);
}

enum fp_verdict fp_inflate(const struct fp_inflate_input *input, struct fp_arena *arena,
                           struct fp_str *inflated, struct fp_upload_error *error)
{
    enum codec codec;
    if (!name_codec(input, &codec))
        return fp_upload_fail(error, FP_VERDICT_UNSUPPORTED,
                              "the Content-Encoding must be one of gzip, deflate, br, zstd and "
                              "identity, and only one");
    struct fp_inflated out = {.arena = arena, .error = error, .max = input->max_inflated};
    *inflated = input->body;
    if (codec == CODEC_NONE)
        return input->body.len <= out.max ? FP_VERDICT_OK : fp_inflated_fail_too_large(&out);
    enum fp_verdict verdict = inflate_with(codec, input->body, &out);
    *inflated = (struct fp_str){(const char *)out.data, out.len};
    return verdict;
}
