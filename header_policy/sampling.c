/* SPDX-License-Identifier: Apache-2.0 */
/* Rates, and the two sources of numbers that are compared with them. */
#include "sampling.h"

#include <string.h>

/* Maximum number of digits per part of a rate: its value times 10^8 stays within 64 bits. */
#define RATE_DIGITS_MAX 9

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes a run of 1 to RATE_DIGITS_MAX digits off the front of `text`. */
static bool take_digits(struct fleetprof_slice *text, uint64_t *value, size_t *count)
{
    *value = 0;
    *count = 0;
    while (*count < text->len && is_digit(text->data[*count])) {
        if (*count == RATE_DIGITS_MAX) {
            return false;
        }
        *value = *value * 10 + (uint64_t)(text->data[*count] - '0');
        (*count)++;
    }
    text->data += *count;
    text->len -= *count;
    return *count > 0;
}

static bool take(struct fleetprof_slice *text, char wanted)
{
    if (text->len == 0 || text->data[0] != wanted) {
        return false;
    }
    text->data++;
    text->len--;
    return true;
}

static enum fleetprof_rate_error to_ppm(uint64_t part, uint64_t whole, uint32_t *ppm)
{
    if (whole == 0) {
        return FLEETPROF_RATE_SYNTAX;
    }
    if (part > whole) {
        return FLEETPROF_RATE_ABOVE_ONE;
    }
    if (part > 0 && part * FLEETPROF_RATE_ONE < whole) {
        return FLEETPROF_RATE_TOO_SMALL;
    }
    *ppm = (uint32_t)((part * FLEETPROF_RATE_ONE + whole / 2) / whole);
    return FLEETPROF_RATE_OK;
}

/* Takes the rest of a percentage after its whole number: [.digits]%. Scales both numbers to
 * integers. */
static bool take_percent(struct fleetprof_slice *text, uint64_t *part, uint64_t *whole)
{
    uint64_t fraction;
    size_t digits;

    *whole = 100;
    if (take(text, '.')) {
        if (!take_digits(text, &fraction, &digits)) {
            return false;
        }
        while (digits-- > 0) {
            *part *= 10;
            *whole *= 10;
        }
        *part += fraction;
    }
    return take(text, '%');
}

enum fleetprof_rate_error fleetprof_rate_parse(struct fleetprof_slice text, uint32_t *ppm)
{
    uint64_t part;
    uint64_t whole;
    size_t digits;

    if (!take_digits(&text, &part, &digits)) {
        return FLEETPROF_RATE_SYNTAX;
    }
    if (take(&text, '/')) {
        if (!take_digits(&text, &whole, &digits)) {
            return FLEETPROF_RATE_SYNTAX;
        }
    } else {
        if (part > 100) {
            /* Keeps the scaling below within 64 bits. */
            part = 101;
        }
        if (!take_percent(&text, &part, &whole)) {
            return FLEETPROF_RATE_SYNTAX;
        }
    }
    return text.len > 0 ? FLEETPROF_RATE_SYNTAX : to_ppm(part, whole, ppm);
}

const char *fleetprof_rate_error_text(enum fleetprof_rate_error error)
{
    switch (error) {
    case FLEETPROF_RATE_SYNTAX:
        return "it is not a rate; write a percentage such as \"1%\" or \"0.05%\", or a fraction "
               "such as \"1/2000\"";
    case FLEETPROF_RATE_ABOVE_ONE:
        return "it is above 100 %; write at most \"100%\"";
    case FLEETPROF_RATE_TOO_SMALL:
        return "it is below one in a million, which is the finest rate; write at least "
               "\"0.0001%\", or \"0%\" for none";
    case FLEETPROF_RATE_OK:
    default:
        return "it is fine";
    }
}

size_t fleetprof_rate_format(uint32_t ppm, char text[FLEETPROF_RATE_TEXT_MAX])
{
    uint32_t unit = FLEETPROF_RATE_ONE / 10;
    size_t len = 0;

    text[len++] = (char)('0' + ppm / FLEETPROF_RATE_ONE);
    ppm %= FLEETPROF_RATE_ONE;
    if (ppm > 0) {
        text[len++] = '.';
    }
    while (ppm > 0) {
        text[len++] = (char)('0' + ppm / unit);
        ppm %= unit;
        unit /= 10;
    }
    return len;
}

bool fleetprof_sampled(uint64_t number, uint32_t ppm)
{
    /* The divisor is the range of numbers per part per million, rounded up: 999,999 is the largest
     * quotient. */
    return number / (UINT64_MAX / FLEETPROF_RATE_ONE + 1) < ppm;
}

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static uint64_t load_le64(const unsigned char *bytes, size_t len)
{
    uint64_t value = 0;
    size_t i;

    for (i = 0; i < len; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

static void sip_rounds(uint64_t v[4], unsigned rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void sip_absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

/* Computes SipHash-2-4 as published by Aumasson and Bernstein. */
static uint64_t siphash(const unsigned char key[16], struct fleetprof_slice text)
{
    /* An empty text may have no data, and null has no offsets. */
    const unsigned char *bytes = (const unsigned char *)(text.len > 0 ? text.data : "");
    uint64_t k0 = load_le64(key, 8);
    uint64_t k1 = load_le64(key + 8, 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
                     k1 ^ 0x7465646279746573u};
    size_t tail = text.len % 8;
    size_t i;

    for (i = 0; i < text.len - tail; i += 8) {
        sip_absorb(v, load_le64(bytes + i, 8));
    }
    sip_absorb(v, load_le64(bytes + i, tail) | (uint64_t)(text.len & 0xff) << 56);
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t fleetprof_key_number(struct fleetprof_slice key)
{
    static const unsigned char sample_key[16] = {'f', 'l', 'e', 'e', 't', 'p', 'r', 'o',
                                                 'f', ' ', 's', 'a', 'm', 'p', 'l', 'e'};

    return siphash(sample_key, key);
}

uint64_t fleetprof_arm_number(struct fleetprof_slice experiment, struct fleetprof_slice key)
{
    unsigned char arm_key[16] = {'a', 'r', 'm', ' ', 'd', 'r', 'a', 'w'};
    uint64_t name = fleetprof_key_number(experiment);
    size_t i;

    for (i = 0; i < 8; i++) {
        arm_key[8 + i] = (unsigned char)(name >> (8 * i) & 0xff);
    }
    return siphash(arm_key, key);
}

uint64_t fleetprof_random_number(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
