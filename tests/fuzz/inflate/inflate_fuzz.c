/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as a body; the first one chooses the Content-Encoding.
 */
#include "collector/inflate/inflate.h"
#include "tests/fuzz/check.h"

enum { MAX_INFLATED = 256 * 1024, ARENA_MAX = 4 * 1024 * 1024 };

static const struct fp_str encodings[] = {
    {"", 0}, {"gzip", 4}, {"deflate", 7}, {"br", 2}, {"zstd", 4}};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return 0;
    const struct fp_inflate_input input = {
        .body = {(const char *)bytes + 1, len - 1},
        .encoding = encodings[bytes[0] % (sizeof(encodings) / sizeof(encodings[0]))],
        .max_inflated = MAX_INFLATED,
    };
    struct fp_arena arena;
    fp_arena_init(&arena, ARENA_MAX);
    struct fp_str inflated;
    struct fp_upload_error error;
    enum fp_verdict verdict = fp_inflate(&input, &arena, &inflated, &error);
    if (verdict == FP_VERDICT_OK)
        check(inflated.len <= MAX_INFLATED);
    else
        check(error.verdict == verdict);
    fp_arena_release(&arena);
    return 0;
}
