/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes page tokens: a check never reads past the end, accepts only signed tokens, and reads back
 * what was signed; a key file is refused or usable.
 *
 * The first byte says what follows: a token, a key file, or the fields of a token.
 */
#include "page_token/page_token.h"
#include "tests/fuzz/check.h"

#include <string.h>

#define SITE "shop"
#define NOW_S 1767225600

static const char key_file[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
                               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";

static const struct fleetprof_token_keys *fixed_keys(void)
{
    static struct fleetprof_token_keys *keys;

    if (keys == NULL) {
        check(fleetprof_token_keys_parse(key_file, sizeof(key_file) - 1, &keys).error ==
              FLEETPROF_KEY_OK);
    }
    return keys;
}

/* A token is valid only if signing its fields gives the same token. */
static void fuzz_token(const char *text, size_t len)
{
    struct fleetprof_token_rules rules = {SITE, strlen(SITE), NOW_S, 3600, 60};
    struct fleetprof_token token;
    enum fleetprof_token_error error =
        fleetprof_token_check(fixed_keys(), text, len, &rules, &token);

    check(fleetprof_token_error_text(error) != NULL);
    if (error == FLEETPROF_TOKEN_OK) {
        check(token.site_len == strlen(SITE) && (token.ppm > 0 || token.arms_len > 0) &&
              len <= FLEETPROF_TOKEN_MAX);
    }
}

static void fuzz_key_file(const char *text, size_t len)
{
    struct fleetprof_token token = {SITE, strlen(SITE), 1, NOW_S, "AAAAAAAAAAAAAAA", NULL, 0};
    struct fleetprof_token_keys *keys;
    struct fleetprof_key_result result = fleetprof_token_keys_parse(text, len, &keys);
    char made[FLEETPROF_TOKEN_MAX];

    check((keys == NULL) == (result.error != FLEETPROF_KEY_OK));
    check(fleetprof_key_error_text(result.error) != NULL);
    if (keys != NULL) {
        token.nonce[FLEETPROF_TOKEN_NONCE_LEN - 1] = 'A';
        check(fleetprof_token_make(keys, &token, made) > 0);
    }
    fleetprof_token_keys_free(keys);
}

static void fuzz_fields(const char *text, size_t len)
{
    struct fleetprof_token token = {NULL, 0, 0, 0, {0}, NULL, 0};
    struct fleetprof_token read;
    struct fleetprof_token_rules rules = {NULL, 0, 0, 0, 0};
    char made[FLEETPROF_TOKEN_MAX];
    size_t made_len;

    if (len < sizeof(token.ppm) + sizeof(token.time_s) + sizeof(token.nonce)) {
        return;
    }
    memcpy(&token.ppm, text, sizeof(token.ppm));
    memcpy(&token.time_s, text + 4, sizeof(token.time_s));
    memcpy(token.nonce, text + 12, sizeof(token.nonce));
    token.site = text + 28;
    token.site_len = len - 28;
    /* Half of the time the text is also the arms. */
    token.arms = text + 28;
    token.arms_len = token.ppm % 2 == 0 ? len - 28 : 0;
    made_len = fleetprof_token_make(fixed_keys(), &token, made);
    if (made_len == 0) {
        return;
    }
    rules.site = token.site;
    rules.site_len = token.site_len;
    rules.now_s = token.time_s;
    check(fleetprof_token_check(fixed_keys(), made, made_len, &rules, &read) == FLEETPROF_TOKEN_OK);
    check(read.ppm == token.ppm && read.time_s == token.time_s);
    check(read.arms_len == token.arms_len &&
          (read.arms_len == 0 || memcmp(read.arms, token.arms, read.arms_len) == 0));
    check(memcmp(read.nonce, token.nonce, sizeof(token.nonce)) == 0);
    check(memchr(made, '"', made_len) == NULL && memchr(made, '\\', made_len) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text;
    size_t len;

    if (size < 2) {
        return 0;
    }
    text = (const char *)data + 1;
    len = size - 1;
    switch (data[0] % 3) {
    case 0:
        fuzz_token(text, len);
        break;
    case 1:
        fuzz_key_file(text, len);
        break;
    default:
        fuzz_fields(text, len);
        break;
    }
    return 0;
}
