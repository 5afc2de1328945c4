/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The token of a sampled page, or of one with arms of experiments. The web server signs it, the
 * agent carries it, and the collector checks it to learn the site, the rate, the arms and the age
 * of a page load that it never saw.
 *
 *     v1.KEYID.SITE.PPM.TIME.NONCE.MAC       docs/page_token.md has every field
 *     v2.KEYID.SITE.ARMS.PPM.TIME.NONCE.MAC
 *
 * A token limits invented uploads but proves nothing: whoever loads a sampled page has one. Keys
 * never change after they are read, so any thread may use them; the caller owns everything else.
 * The code runs inside other people's servers, hence the hidden visibility.
 */
#ifndef FLEETPROF_PAGE_TOKEN_H
#define FLEETPROF_PAGE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FLEETPROF_TOKEN_MUST_CHECK __attribute__((warn_unused_result))
#pragma GCC visibility push(hidden)
#else
#define FLEETPROF_TOKEN_MUST_CHECK
#endif

/* Maximum length of a site's name in the collector's configuration: 1 to 64 of A–Z a–z 0–9 . _ - */
#define FLEETPROF_TOKEN_SITE_MAX 64

/* Length of a nonce: 96 random bits as base64url. Uploads are counted per nonce. */
#define FLEETPROF_TOKEN_NONCE_LEN 16

/* Maximum length of the arms, in bytes. */
#define FLEETPROF_TOKEN_ARMS_MAX 135

/* Maximum length of a token in bytes; it has no terminator. */
#define FLEETPROF_TOKEN_MAX 300

/* Maximum size of a key file, in bytes. */
#define FLEETPROF_KEY_FILE_MAX 16384

/* Maximum number of keys in a file. The first key signs; each key is valid for checking. */
#define FLEETPROF_KEYS_MAX 16

/* Created by fleetprof_token_keys_load or _parse, freed by fleetprof_token_keys_free. */
struct fleetprof_token_keys;

enum fleetprof_key_error {
    FLEETPROF_KEY_OK,
    FLEETPROF_KEY_UNREADABLE, /* errno says why */
    FLEETPROF_KEY_FILE_LONG,
    FLEETPROF_KEY_NONE,
    FLEETPROF_KEY_NOT_HEX,
    FLEETPROF_KEY_SHORT,
    FLEETPROF_KEY_LONG,
    FLEETPROF_KEY_TWICE,
    FLEETPROF_KEY_MANY,
    FLEETPROF_KEY_CRYPTO /* out of memory, or libcrypto has no HMAC-SHA-256 */
};

struct fleetprof_key_result {
    enum fleetprof_key_error error;
    unsigned line; /* from 1; 0 when the error does not concern a line */
};

/*
 * Reads a key file: one key per line, an even number of 64 to 256 hexadecimal digits; skips blank
 * lines and lines that start with "#". On success the caller owns `*keys`; on failure it is NULL.
 * Blocks on the file system: for start and reload only.
 */
FLEETPROF_TOKEN_MUST_CHECK struct fleetprof_key_result
fleetprof_token_keys_load(const char *path, struct fleetprof_token_keys **keys);

/* Does the same as _load, from `len` bytes in memory. */
FLEETPROF_TOKEN_MUST_CHECK struct fleetprof_key_result
fleetprof_token_keys_parse(const char *text, size_t len, struct fleetprof_token_keys **keys);

/* Wipes and frees. NULL is fine. */
void fleetprof_token_keys_free(struct fleetprof_token_keys *keys);

/* Returns what is wrong and what would be right, for an administrator: constant text, no full
 * stop. */
const char *fleetprof_key_error_text(enum fleetprof_key_error error);

/* The contents of a token. */
struct fleetprof_token {
    const char *site; /* not terminated; after a check it points into the checked text */
    size_t site_len;
    uint32_t ppm;   /* the rate at which the page load was sampled: 1 to 1,000,000; with arms also
                       0: it was not sampled */
    int64_t time_s; /* when the page was sent, seconds since 1970 */
    char nonce[FLEETPROF_TOKEN_NONCE_LEN];
    const char *arms; /* `NAME=ARM,NAME=ARM`, in the same way */
    size_t arms_len;  /* 0: none */
};

/* True if the text is valid as a site's name. */
bool fleetprof_token_site_is_valid(const char *site, size_t len);

/* Draws a nonce from libcrypto's generator. False, with `nonce` unspecified, if that failed. */
FLEETPROF_TOKEN_MUST_CHECK bool fleetprof_token_draw_nonce(char nonce[FLEETPROF_TOKEN_NONCE_LEN]);

/*
 * Writes the signed token to `text`. Returns its length, or 0 when a field is out of range or
 * libcrypto failed. Every byte is safe in a quoted string.
 */
FLEETPROF_TOKEN_MUST_CHECK size_t fleetprof_token_make(const struct fleetprof_token_keys *keys,
                                                       const struct fleetprof_token *token,
                                                       char text[FLEETPROF_TOKEN_MAX]);

/* Maximum length of fleetprof_token_field's value. */
#define FLEETPROF_TOKEN_FIELD_MAX (FLEETPROF_TOKEN_MAX + 20)

/* The value of Server-Timing that means: do not profile this page load. */
#define FLEETPROF_TOKEN_NO_FIELD "fleetprof;desc=\"0\""

/*
 * Writes the value of Server-Timing for a sampled page load or one with arms, with a new nonce.
 * With `keys` the value carries a token, after `0.` if the load is not sampled. When `keys` is NULL
 * it carries `1.TIME.NONCE`, which uses only `token.time_s`. Returns its length, or 0 as
 * fleetprof_token_make does.
 */
FLEETPROF_TOKEN_MUST_CHECK size_t fleetprof_token_field(const struct fleetprof_token_keys *keys,
                                                        struct fleetprof_token token,
                                                        char value[FLEETPROF_TOKEN_FIELD_MAX]);

enum fleetprof_token_error {
    FLEETPROF_TOKEN_OK,
    FLEETPROF_TOKEN_MALFORMED,
    FLEETPROF_TOKEN_VERSION,
    FLEETPROF_TOKEN_UNKNOWN_KEY,
    FLEETPROF_TOKEN_FORGED,
    FLEETPROF_TOKEN_OTHER_SITE,
    FLEETPROF_TOKEN_EXPIRED,
    FLEETPROF_TOKEN_EARLY, /* in the future, beyond the allowance */
    FLEETPROF_TOKEN_CRYPTO /* libcrypto failed: the token is unchecked */
};

/* The rules a token is checked against. */
struct fleetprof_token_rules {
    const char *site; /* the site of the upload */
    size_t site_len;
    int64_t now_s;
    int64_t max_age_s; /* at most this old … */
    int64_t skew_s;    /* … plus this allowance for clock differences, in both directions */
};

/*
 * Checks `text` and reads it into `*token`, which is set on success only. Compares the MAC in
 * constant time, before it uses anything that the token claims. The caller counts how often it sees
 * a nonce.
 */
FLEETPROF_TOKEN_MUST_CHECK enum fleetprof_token_error
fleetprof_token_check(const struct fleetprof_token_keys *keys, const char *text, size_t len,
                      const struct fleetprof_token_rules *rules, struct fleetprof_token *token);

/* Returns why a token is refused, for a web developer: constant text, no full stop. */
const char *fleetprof_token_error_text(enum fleetprof_token_error error);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
