/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte search without SSE2. On x86-64 the tests of scrubbing and of dumps run the other one.
 */
#undef __SSE2__
#include "test.h"

#include "collector/base/bytes.h"

static void each_byte_that_is_found_has_its_bit(void **state)
{
    (void)state;
    char bytes[2 * sizeof(fp_bytes16)];
    for (uint32_t wanted = 0; wanted <= UINT16_MAX; wanted++) {
        for (size_t i = 0; i < 16; i++)
            bytes[i + wanted % 16] = (wanted >> i & 1) > 0 ? '"' : (char)i;
        const fp_bytes16 loaded = fp_bytes16_load(bytes + wanted % 16);
        assert_int_equal(fp_bytes16_bits((fp_bytes16)(loaded == '"')), wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_that_is_found_has_its_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
