/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes: pinned, because existing databases hold them as ids.
 */
#include "test.h"

#include "collector/base/hash.c"

static void known_bytes_keep_their_hash(void **state)
{
    (void)state;
    assert_int_equal(fp_hash64("", 0), UINT64_C(0x2d06800538d394c2));
    assert_int_equal(fp_hash64("abc", 3), UINT64_C(0x78af5f94892f3950));
}

static void fields_are_hashed_as_the_bytes_that_the_header_names(void **state)
{
    (void)state;
    const uint64_t numbers[] = {UINT64_C(0x0102030405060708), 1};
    const struct fp_str texts[] = {FP_STR("render"), {NULL, 0}};
    const struct fp_hash_input input = {'f', numbers, 2, texts, 2};
    static const char bytes[] = "f\x08\x07\x06\x05\x04\x03\x02\x01"
                                "\x01\0\0\0\0\0\0\0"
                                "\x06\0\0\0render"
                                "\0\0\0\0";
    assert_int_equal(fp_hash_fields(&input), fp_hash64(bytes, sizeof(bytes) - 1));
}

static void long_texts_hash_the_same_way_as_short_ones(void **state)
{
    (void)state;
    char text[2 * FLAT_MAX];
    memset(text, 'a', sizeof(text));
    for (size_t len = 0; len <= sizeof(text); len++) {
        const uint64_t numbers[] = {len};
        const struct fp_str texts[] = {{text, len}, FP_STR("tail")};
        const struct fp_hash_input input = {'x', numbers, 1, texts, 2};
        assert_int_equal(fp_hash_fields(&input), hash_streamed(&input));
        if (flat_len(&input) <= FLAT_MAX)
            assert_int_equal(flat_len(&input), 1 + 8 + 4 + len + 4 + 4);
        else
            assert_true(1 + 8 + 4 + len + 4 + 4 > FLAT_MAX);
    }
}

static void a_pair_hashes_as_its_fields_do(void **state)
{
    (void)state;
    uint64_t number = 1;
    for (size_t i = 0; i < 10000; i++) {
        uint64_t numbers[2];
        for (size_t k = 0; k < 2; k++)
            numbers[k] = i == 0 ? 0 : (number = number * UINT64_C(6364136223846793005) + 1);
        const char tag = (char)i; /* also above 0x7F */
        const struct fp_hash_input input = {tag, numbers, 2, NULL, 0};
        assert_int_equal(fp_hash_pair(tag, numbers[0], numbers[1]), fp_hash_fields(&input));
    }
}

static void borders_between_texts_count(void **state)
{
    (void)state;
    const struct fp_str left[] = {FP_STR("ab"), FP_STR("c")};
    const struct fp_str right[] = {FP_STR("a"), FP_STR("bc")};
    const struct fp_hash_input a = {'f', NULL, 0, left, 2};
    const struct fp_hash_input b = {'f', NULL, 0, right, 2};
    assert_int_not_equal(fp_hash_fields(&a), fp_hash_fields(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes_keep_their_hash),
        cmocka_unit_test(fields_are_hashed_as_the_bytes_that_the_header_names),
        cmocka_unit_test(long_texts_hash_the_same_way_as_short_ones),
        cmocka_unit_test(a_pair_hashes_as_its_fields_do),
        cmocka_unit_test(borders_between_texts_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
