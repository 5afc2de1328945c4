/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflate: finds a body's codec, and inflates gzip, zlib and raw deflate with libdeflate.
 *
 * libdeflate needs room for the whole output at once. It gets room by the body's size, and runs
 * again with twice the room while that is too small: a bomb costs no more than the limit, and a
 * false length in the gzip trailer costs nothing.
 */
#include "collector/inflate/inflate.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/inflate/stream.h"

#include <libdeflate.h>

enum {
    CAP_MIN = 4096,
    USUAL_RATIO = 8,     /* of JSON traces: 4 to 33, mostly below 8 */
    BELIEVED_RATIO = 40, /* up to it the length in the gzip trailer is plausible */
    GZIP_MIN_LEN = 18,
};

/* Allocates the first output buffer. likely_len is a guess of any size. */
static enum fp_verdict begin_output(struct fp_inflated *out, size_t likely_len)
{
    size_t cap = likely_len > CAP_MIN ? likely_len : CAP_MIN;
    return fp_inflated_grow_to(out, cap < out->max ? cap : out->max);
}

static size_t usual_len(struct fp_str body)
{
    size_t len;
    return __builtin_mul_overflow(body.len, (size_t)USUAL_RATIO, &len) ? SIZE_MAX : len;
}

/* Returns the length in the gzip trailer if it is plausible, else the usual one. */
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

/* Inflates one member of a gzip file, or the only stream of the other two codecs. */
static enum fp_verdict inflate_member(struct libdeflate_decompressor *decompressor,
                                      enum codec codec, struct fp_str body, struct fp_inflated *out,
                                      size_t *taken)
{
    const bool lacks_magic = codec == CODEC_GZIP && body.len >= 2 && !has_gzip_magic(body);
    for (;;) {
        enum libdeflate_result result = run_libdeflate(decompressor, codec, body, out, taken);
        if (result == LIBDEFLATE_SUCCESS)
            return FP_VERDICT_OK;
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE && lacks_magic)
            return fp_upload_fail(
                out->error, FP_VERDICT_MALFORMED,
                "the Content-Encoding is gzip, but the body does not begin like gzip");
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
            return fp_upload_fail(out->error, FP_VERDICT_MALFORMED,
                                  "the %s data is damaged or truncated", codec_name(codec));
        enum fp_verdict verdict = fp_inflated_grow(out);
        if (verdict != FP_VERDICT_OK)
            return verdict;
    }
}

/* True for a header of RFC 1950: method 8, window up to 32 KiB, divisible by 31. */
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
        FP_ASSERT(taken <= body.len && out->len <= out->cap);
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

/* Codecs. */

/* Returns the codec of `deflate`: zlib's format (RFC 9110 section 8.4.1.2), but some clients send
 * it raw. */
static enum codec deflate_codec(struct fp_str body)
{
    return has_zlib_magic(body) ? CODEC_ZLIB : CODEC_RAW;
}

/* Finds the codec by the Content-Encoding, or by its magic. False if the encoding is
 * unsupported. */
static bool find_codec(const struct fp_inflate_input *input, enum codec *codec)
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
    if (!find_codec(input, &codec))
        return fp_upload_fail(error, FP_VERDICT_UNSUPPORTED,
                              "the Content-Encoding must be one of gzip, deflate, br, zstd and "
                              "identity, and only one");
    struct fp_inflated out = {.arena = arena, .error = error, .max = input->max_inflated};
    *inflated = input->body;
    if (codec == CODEC_NONE)
        return input->body.len <= out.max ? FP_VERDICT_OK : fp_inflated_fail_too_large(&out);
    enum fp_verdict verdict = inflate_with(codec, input->body, &out);
    FP_ASSERT(out.len <= out.cap && out.cap <= out.max);
    *inflated = (struct fp_str){(const char *)out.data, out.len};
    return verdict;
}
