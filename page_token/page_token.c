/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads tokens. Only a site's name may contain dots, so a token is parsed from both
 * ends, and the rest in the middle is the site.
 */
#include "page_token.h"

#include "keys.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#define PPM_MAX 1000000
#define TIME_MAX 99999999999 /* 11 digits: the year 5138 */
#define NONCE_BYTES 12

/* The longest token: version, key's name, site, arms, 7 digits, 11 digits, nonce, MAC, seven dots.
 */
_Static_assert(2 + FLEETPROF_KEY_ID_LEN + FLEETPROF_TOKEN_SITE_MAX + FLEETPROF_TOKEN_ARMS_MAX + 7 +
                       11 + FLEETPROF_TOKEN_NONCE_LEN + FLEETPROF_MAC_LEN + 7 <
                   FLEETPROF_TOKEN_MAX,
               "a token and snprintf's NUL fit in FLEETPROF_TOKEN_MAX");

/* Text between two dots. */
struct token_field {
    const char *data;
    size_t len;
};

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* True if every byte is a letter, a digit, or one of `others`. */
static bool consists_of(const char *text, size_t len, const char *others)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (!is_alphanumeric(text[i]) && (text[i] == '\0' || strchr(others, text[i]) == NULL)) {
            return false;
        }
    }
    return true;
}

bool fleetprof_token_site_is_valid(const char *site, size_t len)
{
    return len > 0 && len <= FLEETPROF_TOKEN_SITE_MAX && consists_of(site, len, "._-");
}

bool fleetprof_token_draw_nonce(char nonce[FLEETPROF_TOKEN_NONCE_LEN])
{
    unsigned char bytes[NONCE_BYTES];

    if (RAND_bytes(bytes, NONCE_BYTES) != 1) {
        return false;
    }
    fleetprof_base64url(bytes, NONCE_BYTES, nonce, FLEETPROF_TOKEN_NONCE_LEN);
    return true;
}

/* True for an empty text, and for `NAME=ARM,NAME=ARM` as the servers write it. */
static bool arms_are_valid(const char *arms, size_t len)
{
    return len <= FLEETPROF_TOKEN_ARMS_MAX && consists_of(arms, len, "=,_-");
}

static bool is_in_range(const struct fleetprof_token *token)
{
    return fleetprof_token_site_is_valid(token->site, token->site_len) &&
           arms_are_valid(token->arms, token->arms_len) &&
           (token->ppm > 0 || token->arms_len > 0) && token->ppm <= PPM_MAX && token->time_s > 0 &&
           token->time_s <= TIME_MAX && consists_of(token->nonce, FLEETPROF_TOKEN_NONCE_LEN, "_-");
}

size_t fleetprof_token_make(const struct fleetprof_token_keys *keys,
                            const struct fleetprof_token *token, char text[FLEETPROF_TOKEN_MAX])
{
    const struct fleetprof_key *key = fleetprof_key_first(keys);
    size_t len;

    if (!is_in_range(token)) {
        return 0;
    }
    len = (size_t)snprintf(text, FLEETPROF_TOKEN_MAX, "v%d.%.*s.%.*s.%.*s%s%u.%lld.%.*s",
                           token->arms_len > 0 ? 2 : 1, FLEETPROF_KEY_ID_LEN, fleetprof_key_id(key),
                           (int)token->site_len, token->site, (int)token->arms_len,
                           token->arms_len > 0 ? token->arms : "", token->arms_len > 0 ? "." : "",
                           (unsigned)token->ppm, (long long)token->time_s,
                           FLEETPROF_TOKEN_NONCE_LEN, token->nonce);
    if (!fleetprof_key_sign(key, text, len, text + len + 1)) {
        return 0;
    }
    text[len] = '.';
    return len + 1 + FLEETPROF_MAC_LEN;
}

static const char field_start[] = "fleetprof;desc=\"";
static const char unsampled_start[] = "fleetprof;desc=\"0.";

/* Writes the unsigned value. Returns its length, or 0 when the time is out of range. */
static size_t make_unsigned(const struct fleetprof_token *token, char text[FLEETPROF_TOKEN_MAX])
{
    if (token->time_s <= 0 || token->time_s > TIME_MAX) {
        return 0;
    }
    return (size_t)snprintf(text, FLEETPROF_TOKEN_MAX, "1.%lld.%.*s", (long long)token->time_s,
                            FLEETPROF_TOKEN_NONCE_LEN, token->nonce);
}

size_t fleetprof_token_field(const struct fleetprof_token_keys *keys, struct fleetprof_token token,
                             char value[FLEETPROF_TOKEN_FIELD_MAX])
{
    const bool is_unsampled = keys != NULL && token.ppm == 0;
    const char *start = is_unsampled ? unsampled_start : field_start;
    const size_t start_len = (is_unsampled ? sizeof(unsampled_start) : sizeof(field_start)) - 1;
    size_t len;

    if (!fleetprof_token_draw_nonce(token.nonce)) {
        return 0;
    }
    len = keys == NULL ? make_unsigned(&token, value + start_len)
                       : fleetprof_token_make(keys, &token, value + start_len);
    if (len == 0) {
        return 0;
    }
    memcpy(value, start, start_len);
    value[start_len + len] = '"';
    return start_len + len + 1;
}

/* Takes the text before the first dot, and the dot, off the front of `rest`. */
static bool take_first(struct token_field *rest, struct token_field *field)
{
    const char *dot = rest->len > 0 ? memchr(rest->data, '.', rest->len) : NULL;

    if (dot == NULL) {
        return false;
    }
    field->data = rest->data;
    field->len = (size_t)(dot - rest->data);
    rest->data += field->len + 1;
    rest->len -= field->len + 1;
    return true;
}

/* Takes the text after the last dot, and the dot, off the end of `rest`. */
static bool take_last(struct token_field *rest, struct token_field *field)
{
    size_t start = rest->len;

    while (start > 0 && rest->data[start - 1] != '.') {
        start--;
    }
    if (start == 0) {
        return false;
    }
    field->data = rest->data + start;
    field->len = rest->len - start;
    rest->len = start - 1;
    return true;
}

/* Parses a number from 1 to `max`: only digits, and no leading zero. */
static bool read_number(struct token_field field, int64_t max, int64_t *number)
{
    int64_t value = 0;
    size_t i;

    if (field.len == 0 || field.data[0] == '0') {
        return false;
    }
    for (i = 0; i < field.len; i++) {
        if (field.data[i] < '0' || field.data[i] > '9') {
            return false;
        }
        value = value * 10 + (field.data[i] - '0');
        if (value > max) {
            return false;
        }
    }
    *number = value;
    return true;
}

/* Parses the rate. Only a token with arms may be of a load that is not sampled. */
static bool read_ppm(struct token_field field, bool has_arms, uint32_t *ppm)
{
    int64_t value = 0;

    if (!(has_arms && field.len == 1 && field.data[0] == '0') &&
        !read_number(field, PPM_MAX, &value)) {
        return false;
    }
    *ppm = (uint32_t)value;
    return true;
}

/* Parses the arms, which stand between the site and the rate; none if the token has no such field.
 */
static bool take_arms(struct token_field *rest, bool has_arms, struct fleetprof_token *token)
{
    struct token_field arms = {NULL, 0};

    if (has_arms &&
        (!take_last(rest, &arms) || arms.len == 0 || !arms_are_valid(arms.data, arms.len))) {
        return false;
    }
    token->arms = arms.data;
    token->arms_len = arms.len;
    return true;
}

/* Parses the fields between the key's name and the MAC. */
static bool read_claims(struct token_field rest, bool has_arms, struct fleetprof_token *token)
{
    struct token_field ppm;
    struct token_field time;
    struct token_field nonce;

    if (!take_last(&rest, &nonce) || !take_last(&rest, &time) || !take_last(&rest, &ppm) ||
        nonce.len != FLEETPROF_TOKEN_NONCE_LEN || !consists_of(nonce.data, nonce.len, "_-") ||
        !read_number(time, TIME_MAX, &token->time_s) || !read_ppm(ppm, has_arms, &token->ppm) ||
        !take_arms(&rest, has_arms, token) || !fleetprof_token_site_is_valid(rest.data, rest.len)) {
        return false;
    }
    memcpy(token->nonce, nonce.data, nonce.len);
    token->site = rest.data;
    token->site_len = rest.len;
    return true;
}

static enum fleetprof_token_error check_mac(const struct fleetprof_token_keys *keys,
                                            struct token_field key_id,
                                            struct token_field signed_text, struct token_field mac)
{
    const struct fleetprof_key *key = fleetprof_key_find(keys, key_id.data);
    char expected[FLEETPROF_MAC_LEN];

    if (key == NULL) {
        return FLEETPROF_TOKEN_UNKNOWN_KEY;
    }
    if (!fleetprof_key_sign(key, signed_text.data, signed_text.len, expected)) {
        return FLEETPROF_TOKEN_CRYPTO;
    }
    return CRYPTO_memcmp(expected, mac.data, FLEETPROF_MAC_LEN) == 0 ? FLEETPROF_TOKEN_OK
                                                                     : FLEETPROF_TOKEN_FORGED;
}

static enum fleetprof_token_error check_rules(const struct fleetprof_token *token,
                                              const struct fleetprof_token_rules *rules)
{
    if (token->site_len != rules->site_len ||
        memcmp(token->site, rules->site, rules->site_len) != 0) {
        return FLEETPROF_TOKEN_OTHER_SITE;
    }
    if (token->time_s - rules->now_s > rules->skew_s) {
        return FLEETPROF_TOKEN_EARLY;
    }
    if (rules->now_s - token->time_s - rules->skew_s > rules->max_age_s) {
        return FLEETPROF_TOKEN_EXPIRED;
    }
    return FLEETPROF_TOKEN_OK;
}

enum fleetprof_token_error fleetprof_token_check(const struct fleetprof_token_keys *keys,
                                                 const char *text, size_t len,
                                                 const struct fleetprof_token_rules *rules,
                                                 struct fleetprof_token *token)
{
    struct token_field rest = {text, len};
    struct token_field version;
    struct token_field key_id;
    struct token_field mac;
    struct fleetprof_token claims;
    enum fleetprof_token_error error;

    if (len > FLEETPROF_TOKEN_MAX || !take_first(&rest, &version)) {
        return FLEETPROF_TOKEN_MALFORMED;
    }
    if (version.len != 2 || version.data[0] != 'v' ||
        (version.data[1] != '1' && version.data[1] != '2')) {
        return FLEETPROF_TOKEN_VERSION;
    }
    if (!take_first(&rest, &key_id) || key_id.len != FLEETPROF_KEY_ID_LEN ||
        !take_last(&rest, &mac) || mac.len != FLEETPROF_MAC_LEN ||
        !read_claims(rest, version.data[1] == '2', &claims)) {
        return FLEETPROF_TOKEN_MALFORMED;
    }
    error = check_mac(keys, key_id, (struct token_field){text, len - FLEETPROF_MAC_LEN - 1}, mac);
    if (error == FLEETPROF_TOKEN_OK) {
        error = check_rules(&claims, rules);
    }
    if (error == FLEETPROF_TOKEN_OK) {
        *token = claims;
    }
    return error;
}

const char *fleetprof_token_error_text(enum fleetprof_token_error error)
{
    switch (error) {
    case FLEETPROF_TOKEN_MALFORMED:
        return "the token is not of the form v1.KEYID.SITE.PPM.TIME.NONCE.MAC; send the "
               "description of the page's Server-Timing entry \"fleetprof\" as it is, but without "
               "a \"0.\" before it";
    case FLEETPROF_TOKEN_VERSION:
        return "the token's version is neither v1 nor v2";
    case FLEETPROF_TOKEN_UNKNOWN_KEY:
        return "the token is signed with a key that is not known here";
    case FLEETPROF_TOKEN_FORGED:
        return "the token's signature is wrong";
    case FLEETPROF_TOKEN_OTHER_SITE:
        return "the token belongs to another site";
    case FLEETPROF_TOKEN_EXPIRED:
        return "the token has expired; a page's uploads must arrive soon after it was loaded";
    case FLEETPROF_TOKEN_EARLY:
        return "the token is from the future; the clocks of web server and collector differ";
    case FLEETPROF_TOKEN_CRYPTO:
        return "the token could not be checked";
    case FLEETPROF_TOKEN_OK:
    default:
        return "the token is good";
    }
}
