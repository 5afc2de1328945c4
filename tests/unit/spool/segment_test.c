/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a segment, pinned: later versions must read them.
 */
#include "test.h"

#include "collector/spool/segment.c"

static const struct fp_spool_segment_header example = {
    .spool_id = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
    .segment_id = {{0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac,
                    0xad, 0xae, 0xaf}},
    .number = 3,
    .first_sequence = 0x0102030405060708,
    .tail = 0x0102030405060700,
    .previous_number = 2,
    .previous_end = 8272,
};

static void a_header_has_the_bytes_of_the_manual(void **state)
{
    (void)state;
    uint8_t copy[HEADER_USED];
    encode_header(&example, copy);
    static const uint8_t expected[HEADER_USED] =
        "FPSPOOL\n\x01\0\0\0\x87\x10\x55\xe2"
        "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
        "\xa0\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab\xac\xad\xae\xaf"
        "\x03\0\0\0\0\0\0\0\x08\x07\x06\x05\x04\x03\x02\x01"
        "\0\x07\x06\x05\x04\x03\x02\x01\x02\0\0\0\0\0\0\0\x50\x20\0\0\0\0\0";
    assert_memory_equal(copy, expected, HEADER_USED);
    struct fp_spool_segment_header back;
    assert_int_equal(decode_header(copy, &back), FP_SPOOL_SEGMENT_VALID);
    assert_memory_equal(&back, &example, sizeof(back));
}

static void a_header_with_any_bit_wrong_is_refused(void **state)
{
    (void)state;
    uint8_t copy[HEADER_USED];
    struct fp_spool_segment_header header;
    encode_header(&example, copy);
    for (size_t bit = 0; bit < sizeof(copy) * 8; bit++) {
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        bool in_version = bit / 8 >= AT_VERSION && bit / 8 < AT_CRC;
        assert_int_equal(decode_header(copy, &header),
                         in_version ? FP_SPOOL_SEGMENT_UNKNOWN_VERSION : FP_SPOOL_SEGMENT_FOREIGN);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void a_header_whose_numbers_are_impossible_is_refused(void **state)
{
    (void)state;
    struct fp_spool_segment_header impossible[] = {example, example, example};
    impossible[0].tail = example.first_sequence;
    impossible[1].first_sequence = impossible[1].tail = 0;
    impossible[2].first_sequence = FP_SPOOL_SEQUENCE_MAX + 1;
    for (size_t i = 0; i < FP_COUNT(impossible); i++) {
        uint8_t copy[HEADER_USED];
        struct fp_spool_segment_header header;
        encode_header(&impossible[i], copy);
        assert_int_equal(decode_header(copy, &header), FP_SPOOL_SEGMENT_FOREIGN);
    }
}

static void a_frame_has_the_bytes_of_the_manual(void **state)
{
    (void)state;
    uint8_t frame[32];
    memset(frame, 0xff, sizeof(frame));
    memcpy(frame + FP_SPOOL_FRAME_HEADER_LEN, "abcde", 5);
    assert_int_equal(fp_spool_frame_len(5), 32);
    fp_spool_frame_finish(frame, 5, 0x1122334455667788, &example.segment_id);
    static const uint8_t expected[32] = "\x05\0\0\0\x97\xd6\x50\xc4\x88\x77\x66\x55\x44\x33\x22\x11"
                                        "\xfa\x75\x22\x2e"
                                        "abcde\0\0\0\0\0\0";
    assert_memory_equal(frame, expected, sizeof(frame));
}

static void a_frame_of_another_segment_is_not_ours(void **state)
{
    (void)state;
    uint8_t bytes[24] = {0};
    struct fp_spool_frame frame;
    fp_spool_frame_finish(bytes, 0, 7, &example.segment_id);
    assert_true(fp_spool_frame_parse(bytes, &example.segment_id, &frame));
    assert_int_equal(frame.sequence, 7);
    assert_int_equal(frame.payload_len, 0);
    struct fp_uuid other = example.segment_id;
    other.bytes[15] ^= 1;
    assert_false(fp_spool_frame_parse(bytes, &other, &frame));
    for (size_t bit = 0; bit < (size_t)FP_SPOOL_FRAME_HEADER_LEN * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(fp_spool_frame_parse(bytes, &example.segment_id, &frame));
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void a_sequence_number_near_overflow_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[24] = {0};
    struct fp_spool_frame frame;
    fp_spool_frame_finish(bytes, 0, FP_SPOOL_SEQUENCE_MAX, &example.segment_id);
    assert_true(fp_spool_frame_parse(bytes, &example.segment_id, &frame));
    fp_spool_frame_finish(bytes, 0, FP_SPOOL_SEQUENCE_MAX + 1, &example.segment_id);
    assert_false(fp_spool_frame_parse(bytes, &example.segment_id, &frame));
}

static void zeros_are_no_frame(void **state)
{
    (void)state;
    const uint8_t zeros[FP_SPOOL_FRAME_HEADER_LEN] = {0};
    struct fp_spool_frame frame;
    assert_false(fp_spool_frame_parse(zeros, &example.segment_id, &frame));
}

static void frames_are_aligned_and_of_bounded_length(void **state)
{
    (void)state;
    assert_int_equal(fp_spool_frame_len(0), 24);
    assert_int_equal(fp_spool_frame_len(4), 24);
    assert_int_equal(fp_spool_frame_len(12), 32);
    assert_int_equal(fp_spool_frame_len(13), 40);
    assert_true(fp_spool_frame_len(UINT32_MAX) > UINT32_MAX);
    assert_int_equal(fp_spool_frame_len((size_t)UINT32_MAX + 1), 0);
    assert_int_equal(fp_spool_frame_len(SIZE_MAX), 0);
}

static void only_canonical_names_are_segments(void **state)
{
    (void)state;
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    uint64_t number = 0;
    fp_spool_segment_name(0xabc, name);
    assert_string_equal(name, "0000000000000abc.seg");
    assert_true(fp_spool_segment_parse_name(name, &number));
    assert_int_equal(number, 0xabc);
    static const char *const others[] = {
        "",
        ".",
        "state",
        "abc.seg",
        "0000000000000ABC.seg",
        "0000000000000abc.seg.tmp",
        "0000000000000000.seg",
        "ffffffffffffffff.seg",
        "-000000000000001.seg",
        "10000000000000000.seg",
    };
    for (size_t i = 0; i < FP_COUNT(others); i++)
        assert_false(fp_spool_segment_parse_name(others[i], &number));
    assert_int_equal(number, 0xabc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_has_the_bytes_of_the_manual),
        cmocka_unit_test(a_header_with_any_bit_wrong_is_refused),
        cmocka_unit_test(a_header_whose_numbers_are_impossible_is_refused),
        cmocka_unit_test(a_frame_has_the_bytes_of_the_manual),
        cmocka_unit_test(a_frame_of_another_segment_is_not_ours),
        cmocka_unit_test(a_sequence_number_near_overflow_is_refused),
        cmocka_unit_test(zeros_are_no_frame),
        cmocka_unit_test(frames_are_aligned_and_of_bounded_length),
        cmocka_unit_test(only_canonical_names_are_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
