/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash: the vectors of its authors, and that every bit of key and input matters.
 */
#include "test.h"

#include "collector/base/siphash.c"

static void gives_the_answers_of_its_authors(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        uint64_t hash;
    } vectors[] = {
        {0, UINT64_C(0x726fdb47dd0e0e31)},  {1, UINT64_C(0x74f839c593dc67fd)},
        {7, UINT64_C(0xab0200f58b01d137)},  {8, UINT64_C(0x93f5f5799a932462)},
        {15, UINT64_C(0xa129ca6149be45e5)},
    };
    uint8_t bytes[16];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    for (size_t i = 0; i < FP_COUNT(vectors); i++)
        assert_true(fp_siphash(bytes, bytes, vectors[i].len) == vectors[i].hash);
}

static void every_bit_matters(void **state)
{
    (void)state;
    uint8_t key[FP_SIPHASH_KEY_LEN] = {1, 2, 3};
    uint8_t bytes[24] = {4, 5, 6};
    const uint64_t hash = fp_siphash(key, bytes, sizeof(bytes));
    for (unsigned bit = 0; bit < 8 * sizeof(key); bit++) {
        key[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_true(fp_siphash(key, bytes, sizeof(bytes)) != hash);
        key[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (unsigned bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_true(fp_siphash(key, bytes, sizeof(bytes)) != hash);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_true(fp_siphash(key, bytes, sizeof(bytes)) == hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_answers_of_its_authors),
        cmocka_unit_test(every_bit_matters),
    };
    return cmocka_run_group_tests_name("siphash", tests, NULL, NULL);
}
