/* SPDX-License-Identifier: Apache-2.0 */
/* Inside page_token: finding keys, signing with them, and base64url. */
#ifndef FLEETPROF_PAGE_TOKEN_KEYS_H
#define FLEETPROF_PAGE_TOKEN_KEYS_H

#include "page_token.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* Number of hexadecimal digits in a key's name. */
#define FLEETPROF_KEY_ID_LEN 8

/* Length of a MAC as base64url without padding: 256 bits. */
#define FLEETPROF_MAC_LEN 43

struct fleetprof_key;

/* Returns the key that signs. */
const struct fleetprof_key *fleetprof_key_first(const struct fleetprof_token_keys *keys);

/* Returns the key with this name of FLEETPROF_KEY_ID_LEN bytes, or NULL. */
const struct fleetprof_key *fleetprof_key_find(const struct fleetprof_token_keys *keys,
                                               const char *id);

/* Returns the key's name: FLEETPROF_KEY_ID_LEN bytes, which live as long as the keys. */
const char *fleetprof_key_id(const struct fleetprof_key *key);

/* Computes the HMAC-SHA-256 of `text` under the key. False, with `mac` unspecified, if libcrypto
 * failed. */
FLEETPROF_TOKEN_MUST_CHECK bool fleetprof_key_sign(const struct fleetprof_key *key,
                                                   const char *text, size_t len,
                                                   char mac[FLEETPROF_MAC_LEN]);

/* Writes `len` bytes as base64url without padding (RFC 4648 §5): `text_len` is ⌈len * 8 / 6⌉. */
void fleetprof_base64url(const unsigned char *bytes, size_t len, char *text, size_t text_len);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
