/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict: the fields that decide where a request ends and for whom it is.
 */
#include "tests/unit/unit.h"

#include "collector/http/strict.c"

static void each_field_comes_once_whatever_its_case(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *other_case;
        const char *value;
        const char *twice;
        const char *invalid;
        const char *wrong;
    } cases[] = {
        {"Content-Length", "content-length", "7", "the request has two Content-Length headers",
         "7,7", "the header Content-Length is not one whole number"},
        {"Transfer-Encoding", "TRANSFER-ENCODING", "Chunked",
         "the request has two Transfer-Encoding headers", "gzip",
         "the only Transfer-Encoding that is supported is chunked"},
        {"Host", "hOST", "shop.example:80", "the request has two Host headers", "a/b",
         "the header Host is not a host"},
    };
    assert_walks(framing, .name, cases, .name);
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct field_reading reading = {.counts = {0}};
        const struct fp_str name = fp_str_of(cases[i].name);
        const struct fp_str value = fp_str_of(cases[i].value);
        assert_string_equal(field_trouble(&reading, name, fp_str_of(cases[i].invalid)),
                            cases[i].wrong);
        reading = (struct field_reading){.counts = {0}};
        assert_null(field_trouble(&reading, name, value));
        assert_null(field_trouble(&reading, FP_STR("X"), FP_STR("1")));
        assert_null(field_trouble(&reading, FP_STR("X"), FP_STR("1")));
        assert_string_equal(field_trouble(&reading, fp_str_of(cases[i].other_case), value),
                            cases[i].twice);
    }
}

/* Returns where `a`, the byte, `b` may stand: n, in a name; h, in a host; a, in an address. */
static const char *uses_of(unsigned char byte)
{
    static char uses[4];
    const char text[] = {'a', (char)byte, 'b'};
    const char address[] = {'[', 'a', (char)byte, 'b', ']'};
    const char port[] = {'a', ':', '1', (char)byte};
    size_t len = 0;
    if (is_token((struct fp_str){text, sizeof(text)}))
        uses[len++] = 'n';
    if (is_host((struct fp_str){text, sizeof(text)}))
        uses[len++] = 'h';
    if (is_host((struct fp_str){address, sizeof(address)}))
        uses[len++] = 'a';
    assert_int_equal(is_host((struct fp_str){port, sizeof(port)}), byte >= '0' && byte <= '9');
    uses[len] = '\0';
    return uses;
}

/* RFC 9110: token; RFC 3986: reg-name without a comma, IP-literal with a zone. */
static void each_byte_stands_where_it_may(void **state)
{
    (void)state;
    static const char *const uses[256] = {
        ['!'] = "nh",  ['#'] = "n",   ['$'] = "nh", ['%'] = "nha", ['&'] = "nh",
        ['\''] = "nh", ['('] = "h",   [')'] = "h",  ['*'] = "nh",  ['+'] = "nh",
        ['-'] = "nha", ['.'] = "nha", [':'] = "a",  [';'] = "h",   ['='] = "h",
        ['^'] = "n",   ['_'] = "nha", ['`'] = "n",  ['|'] = "n",   ['~'] = "nha",
    };
    for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
        const bool is_alnum = fp_is_alnum((char)byte);
        const char *expected = is_alnum ? "nha" : uses[byte] != NULL ? uses[byte] : "";
        if (strcmp(uses_of((unsigned char)byte), expected) != 0)
            fail_msg("byte %u: %s, not %s", byte, uses_of((unsigned char)byte), expected);
        const char value = (char)byte;
        assert_int_equal(has_control((struct fp_str){&value, 1}),
                         (byte < ' ' && byte != '\t') || byte == 0x7F);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_stands_where_it_may),
        cmocka_unit_test(each_field_comes_once_whatever_its_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
