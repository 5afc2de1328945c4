/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes: packs come back as they were written, and nothing else is read.
 */
#include "random_pack.h"

static void encode(const struct fp_pack *pack, struct fp_buf *bytes)
{
    fp_buf_init(bytes, BYTES_MAX);
    fp_pack_encode(pack, bytes);
    assert_false(bytes->failed);
}

static void every_kind_comes_back(void **state)
{
    (void)state;
    uint64_t seed = 21;
    for (enum fp_pack_kind kind = 0; kind < FP_PACK_KIND_COUNT; kind++) {
        struct fp_pack pack;
        struct fp_pack read;
        struct fp_buf bytes;
        fill(&pack, kind, 2, &seed);
        encode(&pack, &bytes);
        fp_buf_add(&bytes, "next", 4);
        const uint8_t *at = bytes.data;
        fp_pack_init(&read, pack.shape);
        assert_true(fp_pack_decode(&read, &at, bytes.data + bytes.len));
        assert_ptr_equal(at, bytes.data + bytes.len - 4);
        assert_same(&read, &pack);
        fp_pack_release(&pack);
        fp_pack_release(&read);
        fp_buf_release(&bytes);
    }
}

static void a_second_tuple_is_appended(void **state)
{
    (void)state;
    uint64_t seed = 4;
    struct fp_pack pack;
    struct fp_pack read;
    struct fp_buf bytes;
    fill(&pack, FP_PACK_FRAME, 1, &seed);
    encode(&pack, &bytes);
    fp_pack_init(&read, pack.shape);
    for (size_t i = 0; i < 3; i++) {
        const uint8_t *at = bytes.data;
        assert_true(fp_pack_decode(&read, &at, bytes.data + bytes.len));
    }
    assert_int_equal(read.count, 3 * pack.count);
    for (size_t i = 0; i < read.count; i++)
        assert_int_equal(compare_entries(&read, i, &pack, i % pack.count), 0);
    fp_pack_release(&pack);
    fp_pack_release(&read);
    fp_buf_release(&bytes);
}

static void the_bytes_are_those_of_arrays(void **state)
{
    (void)state;
    static const uint8_t expected[] =
        "\0\0\0\x20\0\0\0\1\0\0\0\0\0\0\0\x14\0\0\0\1\0\0\0\1\0\0\0\10\1\2\3\4\5\6\7\10"
        "\0\0\0\x1a\0\0\0\1\0\0\0\0\0\0\0\x15\0\0\0\1\0\0\0\1\0\0\0\2\1\2"
        "\0\0\0\x1c\0\0\0\1\0\0\0\0\0\0\0\x17\0\0\0\1\0\0\0\1\0\0\0\4\1\2\3\4";
    struct fp_pack pack;
    struct fp_buf bytes;
    fp_pack_init(&pack, fp_pack_shape(FP_PACK_TIMING_BIN));
    const struct fp_timing_bin_fact row = {
        .key.id = 0x0102030405060708, .key.part = 0x0102, .count = 0x01020304};
    assert_true(fp_pack_append(&pack, &row));
    encode(&pack, &bytes);
    assert_int_equal(bytes.len, sizeof(expected) - 1);
    assert_memory_equal(bytes.data, expected, bytes.len);
    fp_pack_release(&pack);
    fp_buf_release(&bytes);
}

static void an_empty_pack_has_empty_arrays(void **state)
{
    (void)state;
    struct fp_pack pack;
    struct fp_buf bytes;
    fp_pack_init(&pack, fp_pack_shape(FP_PACK_TOTAL));
    encode(&pack, &bytes);
    static const uint8_t first[] = "\0\0\0\14\0\0\0\0\0\0\0\0\0\0\0\x15";
    assert_int_equal(bytes.len, (sizeof(first) - 1) * pack.shape->column_count);
    assert_memory_equal(bytes.data, first, sizeof(first) - 1);
    const uint8_t *at = bytes.data;
    assert_true(fp_pack_decode(&pack, &at, bytes.data + bytes.len));
    assert_int_equal(pack.count, 0);
    fp_pack_release(&pack);
    fp_buf_release(&bytes);
}

/* A row that an earlier version wrote has null in the columns that came later. */
static void fills_columns_that_earlier_versions_lack(void **state)
{
    (void)state;
    static const uint8_t null[] = {0xff, 0xff, 0xff, 0xff};
    uint64_t seed = 9;
    struct fp_pack pack;
    struct fp_pack read;
    struct fp_buf bytes;
    fill(&pack, FP_PACK_MEASURE, 5, &seed);
    encode(&pack, &bytes); /* a later row, then an earlier one */
    for (size_t i = 0; i < pack.shape->column_count; i++)
        if (pack.shape->columns[i].like == NULL)
            fp_pack_encode_column(&pack, i, &bytes);
        else
            fp_buf_add(&bytes, null, sizeof(null));
    fp_pack_init(&read, pack.shape);
    const uint8_t *at = bytes.data;
    assert_true(fp_pack_decode(&read, &at, bytes.data + bytes.len));
    assert_true(fp_pack_decode(&read, &at, bytes.data + bytes.len));
    assert_ptr_equal(at, bytes.data + bytes.len);
    assert_int_equal(read.count, 2 * pack.count);
    const int32_t *uploads = read.columns[1];
    const int32_t *loads = read.columns[6];
    const int64_t *profiled_us = read.columns[4];
    const int64_t *window_us = read.columns[7];
    for (size_t i = 0; i < pack.count; i++) {
        assert_int_equal(loads[i], ((const int32_t *)pack.columns[6])[i]);
        assert_int_equal(loads[pack.count + i], uploads[i]);
        assert_int_equal(window_us[pack.count + i], profiled_us[i]);
    }
    fp_pack_release(&pack);
    fp_pack_release(&read);
    fp_buf_release(&bytes);
}

static void unseen_time_of_earlier_versions_is_zero(void **state)
{
    (void)state;
    static const uint8_t null[] = {0xff, 0xff, 0xff, 0xff};
    uint64_t seed = 11;
    struct fp_pack pack;
    struct fp_buf bytes;
    fill(&pack, FP_PACK_TOTAL, 5, &seed);
    encode(&pack, &bytes);
    struct fp_buf last;
    fp_buf_init(&last, BYTES_MAX);
    fp_pack_encode_column(&pack, 6, &last);
    bytes.len -= last.len;
    fp_buf_add(&bytes, null, sizeof(null));
    const size_t count = pack.count;
    fp_pack_clear(&pack);
    const uint8_t *at = bytes.data;
    assert_true(fp_pack_decode(&pack, &at, bytes.data + bytes.len));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(((const int64_t *)pack.columns[6])[i], 0);
    fp_pack_release(&pack);
    fp_buf_release(&bytes);
    fp_buf_release(&last);
}

/* Decodes bytes from memory of their own, so that a sanitizer sees a read past their end. */
static bool decodes(struct fp_pack *pack, const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len > 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    const uint8_t *at = copy;
    bool decoded = fp_pack_decode(pack, &at, copy + len);
    assert_ptr_equal(at, decoded ? copy + len : copy);
    free(copy);
    return decoded;
}

static void truncated_bytes_are_refused(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (enum fp_pack_kind kind = 0; kind < FP_PACK_KIND_COUNT; kind++) {
        struct fp_pack pack;
        struct fp_pack read;
        struct fp_buf bytes;
        fill(&pack, kind, kind == FP_PACK_MEASURE_FRAME ? 40 : 10, &seed);
        encode(&pack, &bytes);
        fp_pack_init(&read, pack.shape);
        assert_true(decodes(&read, bytes.data, bytes.len));
        for (size_t len = 0; len < bytes.len; len++)
            assert_false(decodes(&read, bytes.data, len));
        assert_same(&read, &pack);
        fp_pack_release(&pack);
        fp_pack_release(&read);
        fp_buf_release(&bytes);
    }
}

/* Flips each bit: either it was in a value, which differs then, or the bytes are refused. */
static void damaged_bytes_are_refused(void **state)
{
    (void)state;
    uint64_t seed = 7;
    struct fp_pack pack;
    struct fp_pack read;
    struct fp_buf bytes;
    struct fp_buf again;
    fill(&pack, FP_PACK_TIMING, 8, &seed);
    encode(&pack, &bytes);
    fp_pack_init(&read, pack.shape);
    size_t refused = 0;
    for (size_t bit = 0; bit < bytes.len * 8; bit++) {
        fp_pack_clear(&read);
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (decodes(&read, bytes.data, bytes.len)) {
            encode(&read, &again);
            assert_int_equal(again.len, bytes.len);
            assert_memory_equal(again.data, bytes.data, bytes.len);
            fp_buf_release(&again);
        } else {
            assert_int_equal(read.count, 0);
            refused++;
        }
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    /* The headers, and the length before each element. */
    assert_int_equal(refused, pack.shape->column_count * (24 + 4 * pack.count) * 8);
    fp_pack_release(&pack);
    fp_pack_release(&read);
    fp_buf_release(&bytes);
}

static void arrays_of_different_lengths_are_refused(void **state)
{
    (void)state;
    uint64_t seed = 9;
    struct fp_pack packs[2];
    struct fp_pack read;
    struct fp_buf bytes[2];
    for (size_t i = 0; i < 2; i++) {
        fp_pack_init(&packs[i], fp_pack_shape(FP_PACK_TIMING_BIN));
        for (size_t rows = 0; rows < 3 + i; rows++) {
            uint8_t row[ROW_MAX] = {0};
            draw_values(packs[i].shape, &seed, row);
            append_row(&packs[i], (const int64_t[KEYS]){(int64_t)rows}, row);
        }
        encode(&packs[i], &bytes[i]);
    }
    /* The first column of one, the others of the other. */
    size_t first[2] = {24 + 3 * 12, 24 + 4 * 12};
    fp_pack_init(&read, packs[0].shape);
    for (size_t i = 0; i < 2; i++) {
        struct fp_buf mixed;
        fp_buf_init(&mixed, BYTES_MAX);
        fp_buf_add(&mixed, bytes[i].data, first[i]);
        fp_buf_add(&mixed, bytes[1 - i].data + first[1 - i], bytes[1 - i].len - first[1 - i]);
        assert_false(decodes(&read, mixed.data, mixed.len));
        fp_buf_release(&mixed);
    }
    assert_int_equal(read.count, 0);
    for (size_t i = 0; i < 2; i++) {
        fp_pack_release(&packs[i]);
        fp_buf_release(&bytes[i]);
    }
    fp_pack_release(&read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back),
        cmocka_unit_test(a_second_tuple_is_appended),
        cmocka_unit_test(the_bytes_are_those_of_arrays),
        cmocka_unit_test(an_empty_pack_has_empty_arrays),
        cmocka_unit_test(fills_columns_that_earlier_versions_lack),
        cmocka_unit_test(unseen_time_of_earlier_versions_is_zero),
        cmocka_unit_test(truncated_bytes_are_refused),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(arrays_of_different_lengths_are_refused),
    };
    return cmocka_run_group_tests_name("pack_bytes", tests, NULL, NULL);
}
