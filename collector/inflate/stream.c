/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream: inflates brotli and zstd, whose decoders have a window of their own.
 *
 * Brotli's format limits the window to 16 MiB. Ours is 8 MiB for zstd, which RFC 8878 section
 * 3.1.1.1.2 asks every decoder to support.
 */
#include "collector/inflate/stream.h"

#include <brotli/decode.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { ZSTD_WINDOW_LOG_MAX = 23 };

static enum fp_verdict fail_damaged(const struct fp_inflated *out, const char *codec)
{
    return fp_upload_fail(out->error, FP_VERDICT_MALFORMED, "the %s data is damaged", codec);
}

static enum fp_verdict fail_truncated(const struct fp_inflated *out, const char *codec)
{
    return fp_upload_fail(out->error, FP_VERDICT_MALFORMED, "the %s data is truncated", codec);
}

/* True if the decoder failed for lack of memory, which is not the body's fault. */
static bool has_no_memory(const BrotliDecoderState *state)
{
    BrotliDecoderErrorCode error = BrotliDecoderGetErrorCode(state);
    return error <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
           error >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
}

static enum fp_verdict run_brotli(BrotliDecoderState *state, struct fp_str body,
                                  struct fp_inflated *out)
{
    size_t in_left = body.len;
    const uint8_t *in = (const uint8_t *)body.ptr;
    for (;;) {
        size_t room = out->cap - out->len;
        uint8_t *to = out->data + out->len;
        BrotliDecoderResult result =
            BrotliDecoderDecompressStream(state, &in_left, &in, &room, &to, NULL);
        out->len = out->cap - room;
        if (result == BROTLI_DECODER_RESULT_SUCCESS)
            break;
        if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT)
            return fail_truncated(out, "br");
        if (result == BROTLI_DECODER_RESULT_ERROR)
            return has_no_memory(state) ? fp_upload_fail_memory(out->error)
                                        : fail_damaged(out, "br");
        enum fp_verdict verdict = fp_inflated_grow(out);
        if (verdict != FP_VERDICT_OK)
            return verdict;
    }
    if (in_left == 0)
        return FP_VERDICT_OK;
    return fp_upload_fail(out->error, FP_VERDICT_MALFORMED,
                          "%zu bytes follow the end of the br data", in_left);
}

enum fp_verdict fp_inflate_brotli(struct fp_str body, struct fp_inflated *out)
{
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (state == NULL)
        return fp_upload_fail_memory(out->error);
    enum fp_verdict verdict = run_brotli(state, body, out);
    BrotliDecoderDestroyInstance(state);
    return verdict;
}

static enum fp_verdict run_zstd(ZSTD_DCtx *context, struct fp_str body, struct fp_inflated *out)
{
    ZSTD_inBuffer in = {body.ptr, body.len, 0};
    size_t left;
    do {
        ZSTD_outBuffer to = {out->data, out->cap, out->len};
        left = ZSTD_decompressStream(context, &to, &in);
        if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
            return fp_upload_fail_memory(out->error);
        if (ZSTD_getErrorCode(left) == ZSTD_error_prefix_unknown)
            return fp_upload_fail(
                out->error, FP_VERDICT_MALFORMED,
                "the Content-Encoding is zstd, but the body does not begin like zstd");
        if (ZSTD_isError(left))
            return fail_damaged(out, "zstd");
        out->len = to.pos;
        if (left > 0 && out->len == out->cap) {
            enum fp_verdict verdict = fp_inflated_grow(out);
            if (verdict != FP_VERDICT_OK)
                return verdict;
        } else if (left > 0 && in.pos == in.size) {
            return fail_truncated(out, "zstd");
        }
    } while (left > 0 || in.pos < in.size);
    return FP_VERDICT_OK;
}

enum fp_verdict fp_inflate_zstd(struct fp_str body, struct fp_inflated *out)
{
    if (body.len == 0)
        return fail_truncated(out, "zstd");
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context == NULL)
        return fp_upload_fail_memory(out->error);
    enum fp_verdict verdict;
    if (ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX)))
        verdict = fp_upload_fail_memory(out->error);
    else
        verdict = run_zstd(context, body, out);
    ZSTD_freeDCtx(context);
    return verdict;
}
