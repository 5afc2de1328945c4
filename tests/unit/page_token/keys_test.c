/* SPDX-License-Identifier: Apache-2.0 */
/* Key files: every mistake with its line, key ids, published MACs. */
#include "page_token/keys.c"

#include "test.h"

#include <errno.h>
#include <unistd.h>

static struct fleetprof_key_result parse(const char *text, struct fleetprof_token_keys **keys)
{
    return fleetprof_token_keys_parse(text, strlen(text), keys);
}

/* Expects one error in one line, and no keys. */
static void assert_refused(const char *text, enum fleetprof_key_error error, unsigned line)
{
    struct fleetprof_token_keys *keys = (void *)1;
    struct fleetprof_key_result result = parse(text, &keys);

    assert_int_equal(result.error, error);
    assert_int_equal(result.line, line);
    assert_null(keys);
}

/* The tests' own view of RFC 4231: the MAC in hexadecimal. */
static void assert_mac(const unsigned char *key, size_t key_len, const char *text,
                       const char *expected)
{
    EVP_MAC_CTX *keyed = keyed_context(key, key_len);
    unsigned char mac[MAC_BYTES];
    char hex[2 * MAC_BYTES + 1];

    assert_non_null(keyed);
    assert_true(sign(keyed, text, strlen(text), mac));
    for (size_t i = 0; i < MAC_BYTES; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", mac[i]);
    }
    assert_string_equal(hex, expected);
    EVP_MAC_CTX_free(keyed);
}

static void macs_are_those_of_rfc_4231(void **state)
{
    unsigned char aa[131];
    unsigned char count[25];

    (void)state;
    memset(aa, 0xaa, sizeof(aa));
    assert_mac((const unsigned char *)"Jefe", 4, "what do ya want for nothing?",
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    assert_mac(aa, sizeof(aa), "Test Using Larger Than Block-Size Key - Hash Key First",
               "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    memset(aa, 0x0b, 20);
    assert_mac(aa, 20, "Hi There",
               "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    for (size_t i = 0; i < sizeof(count); i++) {
        count[i] = (unsigned char)(i + 1);
    }
    memset(aa, 0xcd, 50);
    aa[50] = '\0';
    assert_mac(count, sizeof(count), (const char *)aa,
               "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
}

static void base64url_is_that_of_rfc_4648(void **state)
{
    static const struct {
        const char *bytes;
        const char *text;
    } cases[] = {{"f", "Zg"},        {"fo", "Zm8"},        {"foo", "Zm9v"},
                 {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"},
                 {"\xfb\xff", "-_8"}};
    char text[16];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        fleetprof_base64url((const unsigned char *)cases[i].bytes, strlen(cases[i].bytes), text,
                            strlen(cases[i].text));
        assert_memory_equal(text, cases[i].text, strlen(cases[i].text));
    }
}

static void a_key_is_named_after_itself(void **state)
{
    struct fleetprof_token_keys *keys;
    char mac[FLEETPROF_MAC_LEN];

    (void)state;
    assert_int_equal(parse(KEY_A "\n" KEY_B, &keys).error, FLEETPROF_KEY_OK);
    assert_memory_equal(fleetprof_key_id(&keys->key[0]), "9dfbd8d2", FLEETPROF_KEY_ID_LEN);
    assert_memory_equal(fleetprof_key_id(&keys->key[1]), "5b6e4d3a", FLEETPROF_KEY_ID_LEN);
    assert_ptr_equal(fleetprof_key_first(keys), &keys->key[0]);
    assert_ptr_equal(fleetprof_key_find(keys, "5b6e4d3a"), &keys->key[1]);
    assert_null(fleetprof_key_find(keys, "5b6e4d3b"));
    /* Signing leaves the key as it was. */
    for (int i = 0; i < 2; i++) {
        assert_true(fleetprof_key_sign(&keys->key[0], "fleetprof", 9, mac));
        assert_memory_equal(mac, "WFxDZ99NGQdb50t3TpfS2WZKurd_T6-IeXE36Et8iiI", FLEETPROF_MAC_LEN);
    }
    fleetprof_token_keys_free(keys);
}

static void blanks_comments_and_case_do_not_matter(void **state)
{
    static const char *files[] = {
        KEY_B, KEY_B "\n", "# made in May\n\n" KEY_B "\n\n", " \t" KEY_B "\t \r\n \r\n",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"};
    struct fleetprof_token_keys *keys;

    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        struct fleetprof_key_result result = parse(files[i], &keys);

        assert_int_equal(result.error, FLEETPROF_KEY_OK);
        assert_int_equal(result.line, 0);
        assert_int_equal(keys->count, 1);
        assert_memory_equal(fleetprof_key_id(fleetprof_key_first(keys)), "5b6e4d3a",
                            FLEETPROF_KEY_ID_LEN);
        fleetprof_token_keys_free(keys);
    }
}

static void every_mistake_has_its_line(void **state)
{
    char text[300];

    (void)state;
    assert_refused("", FLEETPROF_KEY_NONE, 0);
    assert_refused("# nothing\n\n", FLEETPROF_KEY_NONE, 0);
    assert_refused("secret", FLEETPROF_KEY_NOT_HEX, 1);
    assert_refused(KEY_A "\n" KEY_B "0\n", FLEETPROF_KEY_NOT_HEX, 2);
    assert_refused("# one\n" KEY_A " " KEY_B, FLEETPROF_KEY_NOT_HEX, 2);
    assert_refused("\n\n0001\n", FLEETPROF_KEY_SHORT, 3);
    (void)snprintf(text, sizeof(text), "%.62s", KEY_A);
    assert_refused(text, FLEETPROF_KEY_SHORT, 1);
    memset(text, '0', 258);
    text[258] = '\0';
    assert_refused(text, FLEETPROF_KEY_LONG, 1);
    assert_refused(KEY_A "\n" KEY_B "\n" KEY_A "\n", FLEETPROF_KEY_TWICE, 3);
}

static void a_key_of_128_bytes_is_fine(void **state)
{
    struct fleetprof_token_keys *keys;
    char text[257];

    (void)state;
    memset(text, 'f', 256);
    text[256] = '\0';
    assert_int_equal(parse(text, &keys).error, FLEETPROF_KEY_OK);
    fleetprof_token_keys_free(keys);
}

static void the_seventeenth_key_is_one_too_many(void **state)
{
    char text[17 * 65 + 1];
    struct fleetprof_token_keys *keys;

    (void)state;
    for (int i = 0; i < 17; i++) {
        (void)snprintf(text + i * 65, 66, "%064x\n", (unsigned)i);
    }
    assert_refused(text, FLEETPROF_KEY_MANY, 17);
    text[16 * 65] = '\0';
    assert_int_equal(parse(text, &keys).error, FLEETPROF_KEY_OK);
    assert_int_equal(keys->count, 16);
    fleetprof_token_keys_free(keys);
}

static void files_are_read(void **state)
{
    struct fleetprof_token_keys *keys;
    char path[] = "/tmp/fleetprof-keys-XXXXXX";
    int fd = mkstemp(path);
    char blank[FLEETPROF_KEY_FILE_MAX - 65];

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, KEY_A "\n", 65), 65);
    assert_int_equal(fleetprof_token_keys_load(path, &keys).error, FLEETPROF_KEY_OK);
    fleetprof_token_keys_free(keys);

    memset(blank, '\n', sizeof(blank));
    assert_int_equal(write(fd, blank, sizeof(blank)), sizeof(blank));
    assert_int_equal(fleetprof_token_keys_load(path, &keys).error, FLEETPROF_KEY_OK);
    fleetprof_token_keys_free(keys);
    assert_int_equal(write(fd, "\n", 1), 1);
    assert_int_equal(fleetprof_token_keys_load(path, &keys).error, FLEETPROF_KEY_FILE_LONG);
    assert_null(keys);

    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(fleetprof_token_keys_load(path, &keys).error, FLEETPROF_KEY_UNREADABLE);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(fleetprof_token_keys_load("/", &keys).error, FLEETPROF_KEY_UNREADABLE);
    assert_int_equal(errno, EISDIR);
    fleetprof_token_keys_free(NULL);
}

static void every_error_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int i = FLEETPROF_KEY_OK; i < FLEETPROF_KEY_CRYPTO; i++) {
        for (int other = i + 1; other <= FLEETPROF_KEY_CRYPTO; other++) {
            assert_string_not_equal(fleetprof_key_error_text((enum fleetprof_key_error)i),
                                    fleetprof_key_error_text((enum fleetprof_key_error)other));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(macs_are_those_of_rfc_4231),
        cmocka_unit_test(base64url_is_that_of_rfc_4648),
        cmocka_unit_test(a_key_is_named_after_itself),
        cmocka_unit_test(blanks_comments_and_case_do_not_matter),
        cmocka_unit_test(every_mistake_has_its_line),
        cmocka_unit_test(a_key_of_128_bytes_is_fine),
        cmocka_unit_test(the_seventeenth_key_is_one_too_many),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(every_error_has_a_text_of_its_own),
    };

    return cmocka_run_group_tests_name("page_token_keys", tests, NULL, NULL);
}
