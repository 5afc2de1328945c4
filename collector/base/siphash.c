/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash: two rounds per word, four at the end.
 */
#include "collector/base/siphash.h"

struct siphash {
    uint64_t v[4];
};

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(struct siphash *state, unsigned rounds)
{
    uint64_t *v = state->v;
    for (unsigned i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

/* Returns up to eight bytes as a little-endian word. */
static uint64_t word_of(const uint8_t *bytes, size_t len)
{
    uint64_t word = 0;
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void absorb(struct siphash *state, uint64_t word)
{
    state->v[3] ^= word;
    mix(state, 2);
    state->v[0] ^= word;
}

uint64_t fp_siphash(const uint8_t key[FP_SIPHASH_KEY_LEN], const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    const uint64_t k0 = word_of(key, 8);
    const uint64_t k1 = word_of(key + 8, 8);
    struct siphash state = {{k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                             k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)}};
    size_t left = len;
    for (; left >= 8; left -= 8, at += 8)
        absorb(&state, word_of(at, 8));
    absorb(&state, word_of(at, left) | (uint64_t)len << 56);
    state.v[2] ^= 0xff;
    mix(&state, 4);
    return state.v[0] ^ state.v[1] ^ state.v[2] ^ state.v[3];
}
