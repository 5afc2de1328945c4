/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses.
 */
#include "test.h"

#include "collector/base/address.c"

static void reads_every_kind_of_address(void **state)
{
    (void)state;
    struct fp_address address;
    const struct sockaddr_in *sin = (const void *)&address.sa;
    const struct sockaddr_in6 *sin6 = (const void *)&address.sa;
    const struct sockaddr_un *sun = (const void *)&address.sa;

    assert_null(fp_address_parse(FP_STR("192.0.2.1:8600"), &address));
    assert_int_equal(address.len, sizeof(*sin));
    assert_int_equal(sin->sin_family, AF_INET);
    assert_int_equal(ntohs(sin->sin_port), 8600);
    assert_int_equal(ntohl(sin->sin_addr.s_addr), 0xc0000201);

    assert_null(fp_address_parse(FP_STR("localhost:1"), &address));
    assert_int_equal(ntohl(sin->sin_addr.s_addr), INADDR_LOOPBACK);
    assert_null(fp_address_parse(FP_STR("0.0.0.0:65535"), &address));
    assert_int_equal(ntohs(sin->sin_port), 65535);

    assert_null(fp_address_parse(FP_STR("[2001:db8::1]:80"), &address));
    assert_int_equal(address.len, sizeof(*sin6));
    assert_int_equal(sin6->sin6_family, AF_INET6);
    assert_int_equal(sin6->sin6_addr.s6_addr[15], 1);

    assert_null(fp_address_parse(FP_STR("unix:/run/a:b.sock"), &address));
    assert_int_equal(sun->sun_family, AF_UNIX);
    assert_string_equal(sun->sun_path, "/run/a:b.sock");
}

static void refuses_everything_else_and_changes_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "8600",
                                      ":8600",
                                      "127.0.0.1",
                                      "127.0.0.1:",
                                      "127.0.0.1:0",
                                      "127.0.0.1:65536",
                                      "127.0.0.1:+1",
                                      "127.0.0.1:1 ",
                                      "127.0.0.1: 1",
                                      "127.1:80",
                                      "256.0.0.1:80",
                                      "::1:80",
                                      "[::1:80",
                                      "::1]:80",
                                      "[::1]",
                                      "[]:80",
                                      "[127.0.0.1]:80",
                                      "[localhost]:80",
                                      "example.org:80",
                                      "*:80",
                                      "unix:",
                                      "unix:a",
                                      "UNIX:/a",
                                      "127.0.0.1:100000"};
    struct fp_address address = {.len = 77};
    for (size_t i = 0; i < FP_COUNT(bad); i++) {
        assert_non_null(fp_address_parse(fp_str_of(bad[i]), &address));
        assert_int_equal(address.len, 77);
    }
    assert_non_null(fp_address_parse(FP_STR("unix:/run/a\0b.sock"), &address));
    assert_int_equal(address.len, 77);
    char path[128];
    memset(path, 'x', sizeof(path));
    memcpy(path, "unix:/", 6);
    assert_null(fp_address_parse((struct fp_str){path, 5 + 107}, &address));
    assert_non_null(fp_address_parse((struct fp_str){path, 5 + 108}, &address));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_kind_of_address),
        cmocka_unit_test(refuses_everything_else_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
