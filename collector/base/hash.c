/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash: XXH3 over a kind's fields, in one flat buffer if they are short, streamed if not. The hash
 * is the same.
 */
#include "collector/base/hash.h"

#include <endian.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FLAT_MAX = 512 };

uint64_t fp_hash64(const void *bytes, size_t len)
{
    return XXH3_64bits(bytes, len);
}

static void put_little_endian(uint8_t *at, uint64_t number, size_t len)
{
    uint64_t little_endian = htole64(number);
    memcpy(at, &little_endian, len);
}

/*
 * XXH3 of 17 bytes as its specification defines it, computed in registers: bytes written to memory
 * and read back at other offsets stall, and each stack waits for its parent's id.
 */
uint64_t fp_hash_pair(char tag, uint64_t first, uint64_t second)
{
    enum { LEN = 1 + 2 * sizeof(uint64_t) };
    const uint64_t head = (uint8_t)tag | first << 8; /* bytes 0 to 7; 8 to 15; then 1 to 16 */
    const uint64_t middle = first >> 56 | second << 8;
    uint64_t hash = LEN * XXH_PRIME64_1;
    hash += XXH3_mul128_fold64(head ^ XXH_readLE64(XXH3_kSecret),
                               middle ^ XXH_readLE64(XXH3_kSecret + 8));
    hash += XXH3_mul128_fold64(first ^ XXH_readLE64(XXH3_kSecret + 16),
                               second ^ XXH_readLE64(XXH3_kSecret + 24));
    return XXH3_avalanche(hash);
}

/* Returns the number of hashed bytes; FLAT_MAX + 1 if they do not fit a flat buffer. */
static size_t flat_len(const struct fp_hash_input *input)
{
    size_t left = FLAT_MAX - 1;
    if (input->number_count > left / sizeof(uint64_t))
        return FLAT_MAX + 1;
    left -= input->number_count * sizeof(uint64_t);
    for (size_t i = 0; i < input->text_count; i++) {
        if (left < sizeof(uint32_t) || input->texts[i].len > left - sizeof(uint32_t))
            return FLAT_MAX + 1;
        left -= sizeof(uint32_t) + input->texts[i].len;
    }
    return FLAT_MAX - left;
}

static uint64_t hash_flat(const struct fp_hash_input *input)
{
    uint8_t flat[FLAT_MAX];
    size_t len = 0;
    flat[len++] = (uint8_t)input->tag;
    for (size_t i = 0; i < input->number_count; i++, len += sizeof(uint64_t))
        put_little_endian(flat + len, input->numbers[i], sizeof(uint64_t));
    for (size_t i = 0; i < input->text_count; i++) {
        put_little_endian(flat + len, input->texts[i].len, sizeof(uint32_t));
        len += sizeof(uint32_t);
        if (input->texts[i].len > 0)
            memcpy(flat + len, input->texts[i].ptr, input->texts[i].len);
        len += input->texts[i].len;
    }
    return XXH3_64bits(flat, len);
}

static uint64_t hash_streamed(const struct fp_hash_input *input)
{
    /* Not on the stack: AddressSanitizer's stacks are not aligned to its 64 bytes. */
    static _Thread_local XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, &input->tag, 1);
    uint8_t number[sizeof(uint64_t)];
    for (size_t i = 0; i < input->number_count; i++) {
        put_little_endian(number, input->numbers[i], sizeof(uint64_t));
        XXH3_64bits_update(&state, number, sizeof(uint64_t));
    }
    for (size_t i = 0; i < input->text_count; i++) {
        put_little_endian(number, input->texts[i].len, sizeof(uint32_t));
        XXH3_64bits_update(&state, number, sizeof(uint32_t));
        XXH3_64bits_update(&state, input->texts[i].ptr, input->texts[i].len);
    }
    return XXH3_64bits_digest(&state);
}

uint64_t fp_hash_fields(const struct fp_hash_input *input)
{
    return flat_len(input) <= FLAT_MAX ? hash_flat(input) : hash_streamed(input);
}
