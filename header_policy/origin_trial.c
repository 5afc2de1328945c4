/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the form of an origin trial's token, so that a cut or quoted copy is found at the start.
 */
#include "origin_trial.h"

#include <string.h>

/* Bytes before the signed text: version, signature, length. */
#define HEAD_LEN 69

/* Returns the value of a base64 digit, or -1. */
static int digit_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *digit = c == '\0' ? NULL : strchr(digits, c);

    return digit == NULL ? -1 : (int)(digit - digits);
}

/* Returns the length without padding, of at most two characters. */
static size_t unpadded_len(struct fleetprof_slice token)
{
    size_t len = token.len;

    while (len > 0 && token.len - len < 2 && token.data[len - 1] == '=') {
        len--;
    }
    return len;
}

static bool is_base64(struct fleetprof_slice token)
{
    size_t end = unpadded_len(token);
    size_t i;

    for (i = 0; i < end; i++) {
        if (digit_value(token.data[i]) < 0) {
            return false;
        }
    }
    return true;
}

/* Returns a byte of the decoded token, which is long enough. */
static unsigned byte_at(struct fleetprof_slice token, size_t i)
{
    const char *digits = token.data + i / 3 * 4 + i % 3;
    unsigned pair = (unsigned)digit_value(digits[0]) << 6 | (unsigned)digit_value(digits[1]);

    return pair >> (4 - 2 * (i % 3)) & 0xff;
}

static enum fleetprof_trial_error check(struct fleetprof_slice token)
{
    size_t len = unpadded_len(token) * 3 / 4;
    size_t signed_len = 0;
    size_t i;

    if (!is_base64(token)) {
        return FLEETPROF_TRIAL_CHARACTER;
    }
    if (token.len % 4 != 0 || len < HEAD_LEN) {
        return FLEETPROF_TRIAL_LENGTH;
    }
    if (byte_at(token, 0) != 2 && byte_at(token, 0) != 3) {
        return FLEETPROF_TRIAL_VERSION;
    }
    for (i = HEAD_LEN - 4; i < HEAD_LEN; i++) {
        signed_len = signed_len << 8 | byte_at(token, i);
    }
    return len - HEAD_LEN == signed_len ? FLEETPROF_TRIAL_OK : FLEETPROF_TRIAL_LENGTH;
}

static bool contains(struct fleetprof_slice list, struct fleetprof_slice wanted)
{
    struct fleetprof_slice token;

    while (fleetprof_slice_split(&list, ',', &token)) {
        if (fleetprof_slice_equal(token, wanted)) {
            return true;
        }
    }
    return false;
}

enum fleetprof_trial_error fleetprof_trial_add(struct fleetprof_buffer *list,
                                               struct fleetprof_slice token)
{
    size_t len = list->len;
    enum fleetprof_trial_error error = check(token);

    if (error != FLEETPROF_TRIAL_OK) {
        return error;
    }
    if (contains(fleetprof_buffer_text(list), token)) {
        return FLEETPROF_TRIAL_TWICE;
    }
    if ((len > 0 && !fleetprof_buffer_put(list, FLEETPROF_SLICE(", "))) ||
        !fleetprof_buffer_put(list, token)) {
        list->len = len;
        return FLEETPROF_TRIAL_LIST_LENGTH;
    }
    return FLEETPROF_TRIAL_OK;
}

const char *fleetprof_trial_error_text(enum fleetprof_trial_error error)
{
    switch (error) {
    case FLEETPROF_TRIAL_CHARACTER:
        return "it is not base64; write the token as it was issued, of A-Z a-z 0-9 + / and = at "
               "its end, each token as a parameter of its own";
    case FLEETPROF_TRIAL_LENGTH:
        return "it is longer or shorter than it says itself; copy all of the token";
    case FLEETPROF_TRIAL_VERSION:
        return "it does not begin as tokens of versions 2 and 3 do; copy it from its first "
               "character on";
    case FLEETPROF_TRIAL_TWICE:
        return "the token is named twice; keep one";
    case FLEETPROF_TRIAL_LIST_LENGTH:
        return "the list is longer than 4096 bytes; name fewer tokens";
    case FLEETPROF_TRIAL_OK:
    default:
        return "it is fine";
    }
}
