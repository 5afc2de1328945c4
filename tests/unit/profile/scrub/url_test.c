/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URL: every byte that may end a scheme or an authority.
 */
#include "tests/unit/unit.h"

#include "collector/profile/scrub/url.c"

/* Replaces the ~ of a text by a byte. */
static struct fp_str with_byte(const char *text, unsigned char byte, char written[64])
{
    size_t len = strlen(text);
    memcpy(written, text, len);
    *(char *)memchr(written, '~', len) = (char)byte;
    return (struct fp_str){written, len};
}

/* An at sign after the end of the authority does not count: else the host would follow it. */
static void only_a_slash_a_query_a_fragment_and_white_space_end_an_authority(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
        char text[64];
        const struct fp_url url =
            fp_url_parse(with_byte("https://shop~x@y/z", (unsigned char)byte, text));
        const bool ends = byte <= ' ' || byte == '/' || byte == '\\' || byte == '?' || byte == '#';
        if (!fp_str_equal(url.host, ends ? FP_STR("shop") : FP_STR("y")))
            fail_msg("byte %u: the host is %.*s", byte, FP_STR_ARG(url.host));
    }
}

static void only_two_slashes_begin_an_authority(void **state)
{
    (void)state;
    for (unsigned byte = 1; byte <= UINT8_MAX; byte++) {
        char text[64];
        const bool is_one = byte == '/' || byte == '\\';
        /* Behind the first two slashes, an at sign ends credentials of its own. */
        const bool ends_credentials = byte == ':' || byte == '@';
        struct fp_url url = fp_url_parse(with_byte("https:~/x", (unsigned char)byte, text));
        assert_int_equal(url.host.len, is_one ? 1 : 0);
        url = fp_url_parse(with_byte("https:/~x", (unsigned char)byte, text));
        assert_int_equal(url.host.len, is_one ? 1 : 0);
        struct fp_str found = with_byte("//b~//a@c", (unsigned char)byte, text);
        assert_int_equal(fp_url_drop_credentials(text, found.len),
                         found.len - (ends_credentials ? 2 : 0));
    }
}

static void a_scheme_has_letters_digits_plus_minus_and_dots(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
        char text[64];
        const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        const bool is_more =
            (byte >= '0' && byte <= '9') || byte == '+' || byte == '-' || byte == '.';
        struct fp_url url = fp_url_parse(with_byte("~b:c", (unsigned char)byte, text));
        assert_int_equal(url.scheme.len, is_letter ? 2 : 0);
        url = fp_url_parse(with_byte("a~:c", (unsigned char)byte, text));
        assert_int_equal(url.scheme.len, is_letter || is_more ? 2 : byte == ':' ? 1 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_slash_a_query_a_fragment_and_white_space_end_an_authority),
        cmocka_unit_test(only_two_slashes_begin_an_authority),
        cmocka_unit_test(a_scheme_has_letters_digits_plus_minus_and_dots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
