/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of page tokens: reads them from a file of hexadecimal lines, derives each key's name from
 * the key, and keeps them as HMAC contexts ready for signing. Wipes a key's bytes as soon as its
 * context holds them.
 */
#include "keys.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES_MIN 32
#define KEY_BYTES_MAX 128
#define MAC_BYTES 32

struct fleetprof_key {
    char id[FLEETPROF_KEY_ID_LEN];
    EVP_MAC_CTX *keyed; /* copied for every use, never updated */
};

struct fleetprof_token_keys {
    size_t count;
    struct fleetprof_key key[FLEETPROF_KEYS_MAX];
};

const struct fleetprof_key *fleetprof_key_first(const struct fleetprof_token_keys *keys)
{
    return &keys->key[0];
}

const struct fleetprof_key *fleetprof_key_find(const struct fleetprof_token_keys *keys,
                                               const char *id)
{
    size_t i;

    for (i = 0; i < keys->count; i++) {
        if (memcmp(keys->key[i].id, id, FLEETPROF_KEY_ID_LEN) == 0) {
            return &keys->key[i];
        }
    }
    return NULL;
}

const char *fleetprof_key_id(const struct fleetprof_key *key)
{
    return key->id;
}

static bool sign(const EVP_MAC_CTX *keyed, const char *text, size_t len,
                 unsigned char mac[MAC_BYTES])
{
    EVP_MAC_CTX *copy = EVP_MAC_CTX_dup(keyed);
    size_t mac_len = 0;
    bool signed_it = copy != NULL && EVP_MAC_update(copy, (const unsigned char *)text, len) == 1 &&
                     EVP_MAC_final(copy, mac, &mac_len, MAC_BYTES) == 1 && mac_len == MAC_BYTES;

    EVP_MAC_CTX_free(copy);
    return signed_it;
}

void fleetprof_base64url(const unsigned char *bytes, size_t len, char *text, size_t text_len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t i;

    for (i = 0; i < text_len; i++) {
        size_t at = i * 6 / 8;
        unsigned pair = (unsigned)bytes[at] << 8 | (at + 1 < len ? bytes[at + 1] : 0u);

        text[i] = digits[pair >> (10 - i * 6 % 8) & 63];
    }
}

bool fleetprof_key_sign(const struct fleetprof_key *key, const char *text, size_t len,
                        char mac[FLEETPROF_MAC_LEN])
{
    unsigned char bytes[MAC_BYTES];

    if (!sign(key->keyed, text, len, bytes)) {
        return false;
    }
    fleetprof_base64url(bytes, MAC_BYTES, mac, FLEETPROF_MAC_LEN);
    return true;
}

/* Returns an HMAC-SHA-256 context that holds the key, or NULL. The caller frees it. */
static EVP_MAC_CTX *keyed_context(const unsigned char *bytes, size_t len)
{
    char digest[] = "SHA256";
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                           OSSL_PARAM_construct_end()};
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(hmac);

    EVP_MAC_free(hmac);
    if (context != NULL && EVP_MAC_init(context, bytes, len, params) != 1) {
        EVP_MAC_CTX_free(context);
        return NULL;
    }
    return context;
}

/* Names a key by the start of a MAC. The signed text differs from that of every token: tokens begin
 * with "v1.". */
static bool name_key(struct fleetprof_key *key)
{
    static const char purpose[] = "fleetprof key id";
    static const char digits[] = "0123456789abcdef";
    unsigned char mac[MAC_BYTES];
    size_t i;

    if (!sign(key->keyed, purpose, sizeof(purpose) - 1, mac)) {
        return false;
    }
    for (i = 0; i < FLEETPROF_KEY_ID_LEN; i++) {
        key->id[i] = digits[i % 2 == 0 ? mac[i / 2] >> 4 : mac[i / 2] & 15];
    }
    return true;
}

static enum fleetprof_key_error add_key(struct fleetprof_token_keys *keys,
                                        const unsigned char *bytes, size_t len)
{
    struct fleetprof_key key;

    if (keys->count == FLEETPROF_KEYS_MAX) {
        return FLEETPROF_KEY_MANY;
    }
    key.keyed = keyed_context(bytes, len);
    if (key.keyed == NULL || !name_key(&key)) {
        EVP_MAC_CTX_free(key.keyed);
        return FLEETPROF_KEY_CRYPTO;
    }
    if (fleetprof_key_find(keys, key.id) != NULL) {
        EVP_MAC_CTX_free(key.keyed);
        return FLEETPROF_KEY_TWICE;
    }
    keys->key[keys->count++] = key;
    return FLEETPROF_KEY_OK;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static enum fleetprof_key_error read_hex(const char *line, size_t len,
                                         unsigned char bytes[KEY_BYTES_MAX])
{
    size_t i;

    for (i = 0; i < len; i++) {
        int value = digit_value(line[i]);

        if (value < 0) {
            return FLEETPROF_KEY_NOT_HEX;
        }
        if (i / 2 == KEY_BYTES_MAX) {
            return FLEETPROF_KEY_LONG;
        }
        bytes[i / 2] = (unsigned char)(i % 2 == 0 ? value << 4 : bytes[i / 2] | value);
    }
    if (len % 2 != 0) {
        return FLEETPROF_KEY_NOT_HEX;
    }
    return len / 2 < KEY_BYTES_MIN ? FLEETPROF_KEY_SHORT : FLEETPROF_KEY_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static enum fleetprof_key_error read_line(struct fleetprof_token_keys *keys, const char *line,
                                          size_t len)
{
    unsigned char bytes[KEY_BYTES_MAX];
    enum fleetprof_key_error error;

    while (len > 0 && is_blank(line[0])) {
        line++;
        len--;
    }
    while (len > 0 && is_blank(line[len - 1])) {
        len--;
    }
    if (len == 0 || line[0] == '#') {
        return FLEETPROF_KEY_OK;
    }
    error = read_hex(line, len, bytes);
    if (error == FLEETPROF_KEY_OK) {
        error = add_key(keys, bytes, len / 2);
    }
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return error;
}

static struct fleetprof_key_result read_lines(struct fleetprof_token_keys *keys, const char *text,
                                              size_t len)
{
    struct fleetprof_key_result result = {FLEETPROF_KEY_OK, 0};
    size_t from = 0;

    while (from < len && result.error == FLEETPROF_KEY_OK) {
        const char *end = memchr(text + from, '\n', len - from);
        size_t line_len = end == NULL ? len - from : (size_t)(end - (text + from));

        result.line++;
        result.error = read_line(keys, text + from, line_len);
        from += line_len + 1;
    }
    if (result.error == FLEETPROF_KEY_OK && keys->count == 0) {
        result.error = FLEETPROF_KEY_NONE;
    }
    if (result.error == FLEETPROF_KEY_OK || result.error == FLEETPROF_KEY_NONE) {
        result.line = 0;
    }
    return result;
}

struct fleetprof_key_result fleetprof_token_keys_parse(const char *text, size_t len,
                                                       struct fleetprof_token_keys **keys)
{
    struct fleetprof_key_result result = {FLEETPROF_KEY_CRYPTO, 0};

    *keys = NULL;
    if (len > FLEETPROF_KEY_FILE_MAX) {
        result.error = FLEETPROF_KEY_FILE_LONG;
        return result;
    }
    *keys = OPENSSL_zalloc(sizeof(struct fleetprof_token_keys));
    if (*keys == NULL) {
        return result;
    }
    result = read_lines(*keys, text, len);
    if (result.error != FLEETPROF_KEY_OK) {
        fleetprof_token_keys_free(*keys);
        *keys = NULL;
    }
    return result;
}

struct fleetprof_key_result fleetprof_token_keys_load(const char *path,
                                                      struct fleetprof_token_keys **keys)
{
    struct fleetprof_key_result result = {FLEETPROF_KEY_UNREADABLE, 0};
    char text[FLEETPROF_KEY_FILE_MAX + 1];
    FILE *file = fopen(path, "re");
    size_t len;

    *keys = NULL;
    if (file == NULL) {
        return result;
    }
    /* No stdio buffer: nothing would wipe it. */
    (void)setvbuf(file, NULL, _IONBF, 0);
    len = fread(text, 1, sizeof(text), file);
    if (ferror(file) == 0) {
        result = fleetprof_token_keys_parse(text, len, keys);
    }
    OPENSSL_cleanse(text, sizeof(text));
    (void)fclose(file);
    return result;
}

void fleetprof_token_keys_free(struct fleetprof_token_keys *keys)
{
    size_t i;

    if (keys == NULL) {
        return;
    }
    for (i = 0; i < keys->count; i++) {
        EVP_MAC_CTX_free(keys->key[i].keyed); /* wipes its contents */
    }
    OPENSSL_free(keys);
}

const char *fleetprof_key_error_text(enum fleetprof_key_error error)
{
    switch (error) {
    case FLEETPROF_KEY_UNREADABLE:
        return "the file can't be read";
    case FLEETPROF_KEY_FILE_LONG:
        return "the file is longer than 16384 bytes; name a file with one key per line";
    case FLEETPROF_KEY_NONE:
        return "there is no key in the file; make one with \"openssl rand -hex 32\"";
    case FLEETPROF_KEY_NOT_HEX:
        return "it is not a key in hexadecimal digits, two per byte; make one with "
               "\"openssl rand -hex 32\"";
    case FLEETPROF_KEY_SHORT:
        return "the key is shorter than 32 bytes; make one with \"openssl rand -hex 32\"";
    case FLEETPROF_KEY_LONG:
        return "the key is longer than 128 bytes; make one with \"openssl rand -hex 32\"";
    case FLEETPROF_KEY_TWICE:
        return "the key is in the file twice; keep one";
    case FLEETPROF_KEY_MANY:
        return "there are more than 16 keys; remove those that no page uses any more";
    case FLEETPROF_KEY_CRYPTO:
        return "libcrypto could not set up HMAC-SHA-256";
    case FLEETPROF_KEY_OK:
    default:
        return "it is fine";
    }
}
