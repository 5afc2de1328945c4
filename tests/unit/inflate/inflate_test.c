/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflating: every encoding, bombs, truncation, and bytes after the end.
 */
#include "tests/unit/format/test.h"

#include "collector/inflate/inflate.c"

#include <brotli/encode.h>
#include <libdeflate.h>
#include <zstd.h>

enum { PACKED_MAX = 64 * 1024, TEXT_LEN = 3000, MAX_INFLATED = 4096 };

enum packing { GZIP, ZLIB, RAW, BROTLI, ZSTD, PACKING_COUNT };

static const char *const encodings[PACKING_COUNT] = {"gzip", "deflate", "deflate", "br", "zstd"};
static const char *const names[PACKING_COUNT] = {"gzip", "deflate", "deflate", "br", "zstd"};

struct packed {
    char bytes[PACKED_MAX];
    size_t len;
};

static void pack_deflate(enum packing packing, struct fp_str text, struct packed *packed)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    assert_non_null(compressor);
    size_t (*compress)(struct libdeflate_compressor *, const void *, size_t, void *, size_t) =
        packing == GZIP   ? libdeflate_gzip_compress
        : packing == ZLIB ? libdeflate_zlib_compress
                          : libdeflate_deflate_compress;
    packed->len = compress(compressor, text.ptr, text.len, packed->bytes, PACKED_MAX);
    libdeflate_free_compressor(compressor);
}

static void pack(enum packing packing, struct fp_str text, struct packed *packed)
{
    packed->len = PACKED_MAX;
    if (packing == BROTLI)
        assert_true(BrotliEncoderCompress(5, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, text.len,
                                          (const uint8_t *)text.ptr, &packed->len,
                                          (uint8_t *)packed->bytes));
    else if (packing == ZSTD)
        packed->len = ZSTD_compress(packed->bytes, PACKED_MAX, text.ptr, text.len, 3);
    else
        pack_deflate(packing, text, packed);
    assert_true(packed->len > 0 && packed->len < PACKED_MAX);
}

/* Makes a text that compresses only moderately. */
static struct fp_str make_text(char *bytes, size_t len)
{
    uint32_t random = 1;
    for (size_t i = 0; i < len; i++) {
        random = random * 1664525 + 1013904223;
        bytes[i] = (char)('a' + (random >> 24) % 16);
    }
    return (struct fp_str){bytes, len};
}

struct result {
    struct fp_arena arena;
    struct fp_str inflated;
    struct fp_upload_error error;
    enum fp_verdict verdict;
};

static void inflate(struct result *result, struct fp_str body, const char *encoding)
{
    const struct fp_inflate_input input = {body, fp_str_of(encoding), MAX_INFLATED};
    fp_arena_init(&result->arena, TEST_ARENA_MAX);
    result->verdict = fp_inflate(&input, &result->arena, &result->inflated, &result->error);
}

static void assert_inflates(struct fp_str body, const char *encoding, struct fp_str expected)
{
    struct result result;
    inflate(&result, body, encoding);
    if (result.verdict != FP_VERDICT_OK)
        fail_msg("%s: %s", encoding, result.error.detail);
    assert_int_equal(result.inflated.len, expected.len);
    assert_memory_equal(result.inflated.ptr, expected.ptr, expected.len);
    fp_arena_release(&result.arena);
}

static void assert_fails(struct fp_str body, const char *encoding, enum fp_verdict verdict,
                         const char *detail)
{
    struct result result;
    inflate(&result, body, encoding);
    assert_int_equal(result.verdict, verdict);
    assert_int_equal(result.error.verdict, verdict);
    assert_string_equal(result.error.detail, detail);
    assert_false(result.error.has_pointer);
    fp_arena_release(&result.arena);
}

static struct fp_str bytes_of(const struct packed *packed)
{
    return (struct fp_str){packed->bytes, packed->len};
}

static void inflates_every_encoding(void **state)
{
    (void)state;
    char bytes[TEXT_LEN];
    struct fp_str text = make_text(bytes, sizeof(bytes));
    for (enum packing packing = GZIP; packing < PACKING_COUNT; packing++) {
        struct packed packed;
        pack(packing, text, &packed);
        assert_inflates(bytes_of(&packed), encodings[packing], text);
    }
}

static void recognises_gzip_and_zlib_without_an_announcement(void **state)
{
    (void)state;
    char bytes[TEXT_LEN];
    struct fp_str text = make_text(bytes, sizeof(bytes));
    struct packed packed;
    for (enum packing packing = GZIP; packing <= ZLIB; packing++) {
        pack(packing, text, &packed);
        assert_inflates(bytes_of(&packed), "", text);
        assert_inflates(bytes_of(&packed), "identity", text);
    }
}

/* RFC 1950: method 8, a window of at most 32 KiB (7), and a sum that 31 divides. */
static void takes_no_other_two_bytes_for_a_header_of_zlib(void **state)
{
    (void)state;
    size_t count = 0;
    for (unsigned first = 0; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            const char header[2] = {(char)first, (char)second};
            bool is_header = (first & 15) == 8 && first < 128 && (first * 256 + second) % 31 == 0;
            assert_int_equal(has_zlib_magic((struct fp_str){header, 2}), is_header);
            count += is_header;
        }
    }
    assert_int_equal(count, 66);
    assert_false(has_zlib_magic(FP_STR("x")));
    assert_inflates(FP_STR("\x88\x1c{}"), "", FP_STR("\x88\x1c{}"));
}

static void takes_an_encoding_in_any_case_and_its_old_name(void **state)
{
    (void)state;
    struct packed packed;
    pack(GZIP, FP_STR("{}"), &packed);
    assert_inflates(bytes_of(&packed), "GZip", FP_STR("{}"));
    assert_inflates(bytes_of(&packed), " x-gzip\t", FP_STR("{}"));
}

static void hands_a_plain_body_through(void **state)
{
    (void)state;
    const struct fp_str body = FP_STR(" {\"a\":1}");
    struct result result;
    inflate(&result, body, "");
    assert_int_equal(result.verdict, FP_VERDICT_OK);
    assert_ptr_equal(result.inflated.ptr, body.ptr);
    assert_int_equal(result.arena.used_bytes, 0);
    fp_arena_release(&result.arena);
    assert_inflates(FP_STR(""), "", FP_STR(""));
}

static void joins_the_members_of_a_gzip_file(void **state)
{
    (void)state;
    char bytes[TEXT_LEN];
    struct fp_str text = make_text(bytes, sizeof(bytes));
    struct packed first;
    struct packed second;
    pack(GZIP, (struct fp_str){text.ptr, 10}, &first);
    pack(GZIP, (struct fp_str){text.ptr + 10, text.len - 10}, &second);
    memcpy(first.bytes + first.len, second.bytes, second.len);
    first.len += second.len;
    assert_inflates(bytes_of(&first), "gzip", text);
}

static void fills_the_limit_to_its_last_byte_and_refuses_one_more(void **state)
{
    (void)state;
    char bytes[MAX_INFLATED + 1];
    struct fp_str text = make_text(bytes, sizeof(bytes));
    for (enum packing packing = GZIP; packing < PACKING_COUNT; packing++) {
        struct packed packed;
        pack(packing, (struct fp_str){text.ptr, MAX_INFLATED}, &packed);
        assert_inflates(bytes_of(&packed), encodings[packing],
                        (struct fp_str){text.ptr, MAX_INFLATED});
        pack(packing, text, &packed);
        assert_fails(bytes_of(&packed), encodings[packing], FP_VERDICT_TOO_LARGE,
                     "the body is larger than 4096 bytes when inflated (limits.max_inflated)");
    }
    assert_inflates((struct fp_str){text.ptr, MAX_INFLATED}, "",
                    (struct fp_str){text.ptr, MAX_INFLATED});
    assert_fails(text, "", FP_VERDICT_TOO_LARGE,
                 "the body is larger than 4096 bytes when inflated (limits.max_inflated)");
}

static void a_bomb_costs_no_more_memory_than_the_limit(void **state)
{
    (void)state;
    static char zeros[8 * 1024 * 1024];
    for (enum packing packing = GZIP; packing < PACKING_COUNT; packing++) {
        struct packed packed;
        pack(packing, (struct fp_str){zeros, sizeof(zeros)}, &packed);
        struct result result;
        inflate(&result, bytes_of(&packed), encodings[packing]);
        assert_int_equal(result.verdict, FP_VERDICT_TOO_LARGE);
        assert_true(result.arena.used_bytes <= 16 * MAX_INFLATED);
        fp_arena_release(&result.arena);
    }
}

static void a_lie_in_the_gzip_trailer_reserves_nothing(void **state)
{
    (void)state;
    char bytes[TEXT_LEN];
    struct packed packed;
    pack(GZIP, make_text(bytes, sizeof(bytes)), &packed);
    memset(packed.bytes + packed.len - 4, 0x7F, 4);
    const struct fp_inflate_input input = {bytes_of(&packed), FP_STR("gzip"), (size_t)1 << 30};
    struct result result;
    fp_arena_init(&result.arena, TEST_ARENA_MAX);
    result.verdict = fp_inflate(&input, &result.arena, &result.inflated, &result.error);
    assert_int_equal(result.verdict, FP_VERDICT_MALFORMED);
    assert_true(result.arena.used_bytes < 128 * 1024);
    fp_arena_release(&result.arena);
}

static void refuses_every_truncation(void **state)
{
    (void)state;
    char bytes[TEXT_LEN];
    struct fp_str text = make_text(bytes, sizeof(bytes));
    for (enum packing packing = GZIP; packing < PACKING_COUNT; packing++) {
        struct packed packed;
        pack(packing, text, &packed);
        for (size_t len = 0; len < packed.len; len += len < 40 ? 1 : 37) {
            struct result result;
            inflate(&result, (struct fp_str){packed.bytes, len}, encodings[packing]);
            assert_int_equal(result.verdict, FP_VERDICT_MALFORMED);
            assert_non_null(strstr(result.error.detail, "truncated"));
            fp_arena_release(&result.arena);
        }
    }
}

static void refuses_what_follows_the_end(void **state)
{
    (void)state;
    for (enum packing packing = GZIP; packing < ZSTD; packing++) {
        struct packed packed;
        pack(packing, FP_STR("{}"), &packed);
        memcpy(packed.bytes + packed.len, "xyz", 3);
        packed.len += 3;
        char detail[64];
        snprintf(detail, sizeof(detail), "3 bytes follow the end of the %s data", names[packing]);
        assert_fails(bytes_of(&packed), encodings[packing], FP_VERDICT_MALFORMED, detail);
    }
    struct packed packed;
    pack(ZSTD, FP_STR("{}"), &packed);
    memcpy(packed.bytes + packed.len, "xyzw", 4);
    packed.len += 4;
    struct result result;
    inflate(&result, bytes_of(&packed), "zstd");
    assert_int_equal(result.verdict, FP_VERDICT_MALFORMED);
    fp_arena_release(&result.arena);
}

static void notices_a_wrong_checksum(void **state)
{
    (void)state;
    for (enum packing packing = GZIP; packing <= ZLIB; packing++) {
        struct packed packed;
        pack(packing, FP_STR("{}"), &packed);
        packed.bytes[packed.len - (packing == GZIP ? 8 : 1)] ^= 1;
        assert_fails(bytes_of(&packed), encodings[packing], FP_VERDICT_MALFORMED,
                     packing == GZIP ? "the gzip data is damaged or truncated"
                                     : "the deflate data is damaged or truncated");
    }
}

static void refuses_a_body_that_is_not_what_was_announced(void **state)
{
    (void)state;
    assert_fails(FP_STR("{\"a\":1}"), "gzip", FP_VERDICT_MALFORMED,
                 "the Content-Encoding is gzip, but the body does not begin like gzip");
    assert_fails(FP_STR("{\"a\":1}"), "zstd", FP_VERDICT_MALFORMED,
                 "the Content-Encoding is zstd, but the body does not begin like zstd");
    for (enum packing packing = GZIP; packing < PACKING_COUNT; packing++) {
        struct result result;
        inflate(&result, FP_STR("{\"trace\":{}}"), encodings[packing]);
        assert_int_equal(result.verdict, FP_VERDICT_MALFORMED);
        fp_arena_release(&result.arena);
    }
}

static void refuses_encodings_it_does_not_know(void **state)
{
    (void)state;
    static const char *const unknown[] = {"compress", "gzip, gzip", "gzip,br", "dcb", "gzip2", "*"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        assert_fails(FP_STR("{}"), unknown[i], FP_VERDICT_UNSUPPORTED,
                     "the Content-Encoding must be one of gzip, deflate, br, zstd and identity, "
                     "and only one");
}

static void runs_out_of_memory_without_harm(void **state)
{
    (void)state;
    char bytes[TEXT_LEN];
    struct fp_str text = make_text(bytes, sizeof(bytes));
    for (enum packing packing = GZIP; packing < PACKING_COUNT; packing++) {
        struct packed packed;
        pack(packing, text, &packed);
        const struct fp_inflate_input input = {bytes_of(&packed), fp_str_of(encodings[packing]),
                                               MAX_INFLATED};
        struct result result;
        fp_arena_init(&result.arena, 1000);
        assert_int_equal(fp_inflate(&input, &result.arena, &result.inflated, &result.error),
                         FP_VERDICT_MEMORY);
        fp_arena_release(&result.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inflates_every_encoding),
        cmocka_unit_test(recognises_gzip_and_zlib_without_an_announcement),
        cmocka_unit_test(takes_no_other_two_bytes_for_a_header_of_zlib),
        cmocka_unit_test(takes_an_encoding_in_any_case_and_its_old_name),
        cmocka_unit_test(hands_a_plain_body_through),
        cmocka_unit_test(joins_the_members_of_a_gzip_file),
        cmocka_unit_test(fills_the_limit_to_its_last_byte_and_refuses_one_more),
        cmocka_unit_test(a_bomb_costs_no_more_memory_than_the_limit),
        cmocka_unit_test(a_lie_in_the_gzip_trailer_reserves_nothing),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(refuses_what_follows_the_end),
        cmocka_unit_test(notices_a_wrong_checksum),
        cmocka_unit_test(refuses_a_body_that_is_not_what_was_announced),
        cmocka_unit_test(refuses_encodings_it_does_not_know),
        cmocka_unit_test(runs_out_of_memory_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
