/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC32C: the vectors of RFC 3720 appendix B.4, computed by instruction and by table.
 */
#include "test.h"

#include "collector/base/crc32c.c"

static void gives_the_answers_of_rfc_3720(void **state)
{
    (void)state;
    uint8_t bytes[32] = {0};
    assert_int_equal(fp_crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, 32);
    assert_int_equal(fp_crc32c(0, bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(fp_crc32c(0, bytes, 32), 0x46dd794e);
    assert_int_equal(fp_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(fp_crc32c(0, NULL, 0), 0);
}

static void continues_where_it_stopped(void **state)
{
    (void)state;
    const char *digits = "123456789";
    for (size_t cut = 0; cut <= 9; cut++)
        assert_int_equal(fp_crc32c(fp_crc32c(0, digits, cut), digits + cut, 9 - cut), 0xe3069283);
}

static void table_and_instruction_agree(void **state)
{
    (void)state;
    uint8_t bytes[100];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t start = 0; start < 16; start++)
        for (size_t len = 0; start + len <= sizeof(bytes); len++)
            assert_int_equal(update(7, bytes + start, len), update_by_table(7, bytes + start, len));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_answers_of_rfc_3720),
        cmocka_unit_test(continues_where_it_stopped),
        cmocka_unit_test(table_and_instruction_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
