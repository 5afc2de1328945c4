/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network: each prefix of the tables, from its first address to its last, and the addresses beside
 * it.
 */
#include "tests/unit/unit.h"

#include "cli/doctor/network.c"

static const struct {
    enum fp_network network;
    const char *texts[16];
} expected[] = {
    {FP_NETWORK_PUBLIC,
     {"1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
      "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
      "172.32.0.0", "192.167.255.255", "192.169.0.0", "223.255.255.255"}},
    {FP_NETWORK_PUBLIC,
     {"191.255.255.255", "192.0.1.0", "192.0.2.1", "198.17.255.255", "198.20.0.0", "203.0.113.1",
      "2000::1", "2001:1::1", "2001:db8::1", "2606:4700::1111", "2a00::1", "3fff:ffff::1"}},
    {FP_NETWORK_PUBLIC,
     {"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "::8.8.8.8", "::ffff:0:8.8.8.8"}},
    {FP_NETWORK_LOOPBACK,
     {"0.0.0.0", "0.255.255.255", "127.0.0.0", "127.0.0.1", "127.255.255.255", "::", "::1",
      "::ffff:127.0.0.1", "::ffff:0.0.0.0", "64:ff9b::127.0.0.1", "2002:7f00:1::", "::127.0.0.1",
      "::ffff:0:127.0.0.1", "::2"}},
    {FP_NETWORK_LINK_LOCAL,
     {"169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::", "fe80::1%eth0", "febf:ffff::1",
      "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::"}},
    {FP_NETWORK_PRIVATE,
     {"10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "172.16.0.0", "172.31.255.255",
      "192.168.0.0", "192.168.255.255", "192.0.0.0", "192.0.0.255"}},
    {FP_NETWORK_PRIVATE,
     {"198.18.0.0", "198.19.255.255", "fc00::", "fdff:ffff::1", "fec0::1", "feff:ffff::1",
      "::ffff:10.0.0.1", "::ffff:192.168.1.1", "64:ff9b:1::1", "64:ff9b:1:ffff::1",
      "::ffff:0:10.0.0.1"}},
    {FP_NETWORK_RESERVED,
     {"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "ff02::1", "2001::1",
      "2001:0:ffff::1", "100::1", "4000::1%1", "64:ff9b:2::1", "no address", ""}},
};

static bool differs(enum fp_network network, enum fp_network wanted, const char *text)
{
    if (network != wanted)
        print_message("# %s is %s, not %s\n", text, fp_network_name(network),
                      fp_network_name(wanted));
    return network != wanted;
}

static void each_prefix_holds_from_its_first_address_to_its_last(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < FP_COUNT(expected); i++)
        for (size_t k = 0; k < FP_COUNT(expected[i].texts) && expected[i].texts[k] != NULL; k++)
            wrong += differs(fp_network_of_text(expected[i].texts[k]), expected[i].network,
                             expected[i].texts[k]);
    assert_int_equal(wrong, 0);
}

static void a_socket_address_is_judged_as_its_text(void **state)
{
    (void)state;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7F000001)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    const struct sockaddr unknown = {.sa_family = AF_UNIX};
    assert_int_equal(inet_pton(AF_INET6, "::ffff:169.254.169.254", &six.sin6_addr), 1);
    assert_int_equal(fp_network_of((const struct sockaddr *)&four), FP_NETWORK_LOOPBACK);
    assert_int_equal(fp_network_of((const struct sockaddr *)&six), FP_NETWORK_LINK_LOCAL);
    assert_int_equal(fp_network_of(&unknown), FP_NETWORK_LOOPBACK);
}

/* Every row decides at least one address above, so none can be removed unseen. */
static void every_row_is_needed(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < FP_COUNT(prefixes4); i++)
        assert_int_equal(fp_network_of_text(prefixes4[i].text), prefixes4[i].network);
    for (size_t i = 0; i + 1 < FP_COUNT(prefixes6); i++)
        assert_int_equal(fp_network_of_text(prefixes6[i].text), prefixes6[i].network);
}

static void each_network_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(fp_network_name(FP_NETWORK_PUBLIC), "public");
    assert_string_equal(fp_network_name(FP_NETWORK_LOOPBACK), "loopback");
    assert_string_equal(fp_network_name(FP_NETWORK_LINK_LOCAL), "link-local");
    assert_string_equal(fp_network_name(FP_NETWORK_PRIVATE), "private");
    assert_string_equal(fp_network_name(FP_NETWORK_RESERVED), "reserved");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_prefix_holds_from_its_first_address_to_its_last),
        cmocka_unit_test(a_socket_address_is_judged_as_its_text),
        cmocka_unit_test(every_row_is_needed),
        cmocka_unit_test(each_network_has_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
