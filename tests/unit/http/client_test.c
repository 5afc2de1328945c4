/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client: whose word counts for an address.
 */
#include "tests/unit/unit.h"

#include "collector/http/client.c"

#include <stdlib.h>

/* Returns a connection's address, by its family. */
static struct sockaddr_storage peer_of(const char *text)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNIX};
    struct sockaddr_in ipv4 = {.sin_family = AF_INET};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &ipv4.sin_addr) == 1)
        memcpy(&peer, &ipv4, sizeof(ipv4));
    else if (inet_pton(AF_INET6, text, &ipv6.sin6_addr) == 1)
        memcpy(&peer, &ipv6, sizeof(ipv6));
    return peer;
}

/* Returns the client's address as text, "" if it is not known. lines: values of the header,
 * separated by `|`. */
static const char *client_of(const char *lines, unsigned proxies, const char *peer)
{
    static char text[INET6_ADDRSTRLEN];
    struct forwarded forwarded = {.count = 0};
    char *copy = strdup(lines);
    char *rest = NULL;
    for (char *line = strtok_r(copy, "|", &rest); line != NULL; line = strtok_r(NULL, "|", &rest))
        add_line(&forwarded, fp_str_of(line));
    const struct sockaddr_storage address = peer_of(peer);
    uint8_t bytes[FP_CLIENT_ADDRESS_LEN];
    text[0] = '\0';
    if (write_client(&forwarded, proxies, (const void *)&address, bytes))
        inet_ntop(AF_INET6, bytes, text, sizeof(text));
    free(copy);
    return text;
}

static void an_address_is_what_the_outermost_known_proxy_says(void **state)
{
    (void)state;
    static const struct {
        const char *lines;
        unsigned proxies;
        const char *peer;
        const char *client;
    } cases[] = {
        {"", 1, "192.0.2.9", "::ffff:192.0.2.9"},
        {"", 0, "192.0.2.9", "::ffff:192.0.2.9"},
        {"192.0.2.1", 1, "127.0.0.1", "::ffff:192.0.2.1"},
        {"192.0.2.1", 1, "unix", "::ffff:192.0.2.1"},
        {"6.6.6.6, 192.0.2.1", 1, "127.0.0.1", "::ffff:192.0.2.1"},
        {"6.6.6.6, 192.0.2.1, 10.0.0.1", 2, "127.0.0.1", "::ffff:192.0.2.1"},
        {"6.6.6.6|192.0.2.1|10.0.0.1", 2, "127.0.0.1", "::ffff:192.0.2.1"},
        {"6.6.6.6 ,192.0.2.1\t|10.0.0.1", 2, "127.0.0.1", "::ffff:192.0.2.1"},
        {"192.0.2.1", 3, "127.0.0.1", "::ffff:192.0.2.1"},
        {",192.0.2.1,,", 1, "127.0.0.1", "::ffff:192.0.2.1"},
        {"192.0.2.1:4711", 1, "127.0.0.1", "::ffff:192.0.2.1"},
        {"[2001:db8:1:2:3::4]:80", 1, "127.0.0.1", "2001:db8:1:2::"},
        {"2001:db8:1:2:3::4", 1, "127.0.0.1", "2001:db8:1:2::"},
        {"::ffff:192.0.2.1", 1, "127.0.0.1", "::ffff:192.0.2.1"},
        {"192.0.2.1", 0, "192.0.2.9", "::ffff:192.0.2.9"},
        {"", 1, "2001:db8:1:2:3::4", "2001:db8:1:2::"},
        {"", 1, "::ffff:192.0.2.9", "::ffff:192.0.2.9"},
        /* Not known: a proxy that does not say, or says something else. */
        {"", 1, "127.0.0.1", ""},
        {"", 1, "127.1.2.3", ""},
        {"", 1, "::1", ""},
        {"", 1, "::ffff:127.0.0.1", ""},
        {"", 1, "unix", ""},
        {"192.0.2.1", 0, "127.0.0.1", ""},
        {"unknown", 1, "192.0.2.9", ""},
        {"_hidden", 1, "192.0.2.9", ""},
        {"[2001:db8::1", 1, "192.0.2.9", ""},
        {"192.0.2.1.192.0.2.1.192.0.2.1.192.0.2.1.192.0.2.1.192.0.2.1", 1, "192.0.2.9", ""},
        {" , ", 1, "127.0.0.1", ""},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        const char *client = client_of(cases[i].lines, cases[i].proxies, cases[i].peer);
        if (strcmp(client, cases[i].client) != 0)
            fail_msg("\"%s\" behind %u from %s: \"%s\", not \"%s\"", cases[i].lines,
                     cases[i].proxies, cases[i].peer, client, cases[i].client);
    }
}

static void only_the_last_lines_are_read(void **state)
{
    (void)state;
    char lines[64 * LINES_MAX] = "";
    for (size_t i = 0; i < 2 * (size_t)LINES_MAX; i++)
        snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "192.0.2.%zu|", i);
    assert_string_equal(client_of(lines, 1, "127.0.0.1"), "::ffff:192.0.2.31");
    assert_string_equal(client_of(lines, 100, "127.0.0.1"), "::ffff:192.0.2.16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_what_the_outermost_known_proxy_says),
        cmocka_unit_test(only_the_last_lines_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
