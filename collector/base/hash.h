/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash: the 64-bit content hashes that are ids in the database (XXH3, seed 0).
 *
 * docs/internals/ids.md specifies the hashed bytes of each kind; a test pins them. They never
 * change: a tag byte, then the fields; numbers little-endian, texts as 32-bit length and bytes. Any
 * thread.
 */
#ifndef FP_BASE_HASH_H
#define FP_BASE_HASH_H

#include "collector/base/base.h"

/* XXH3_64bits of the bytes. */
uint64_t fp_hash64(const void *bytes, size_t len);

/* XXH3_64bits over the concatenation of: tag, numbers (each 8 bytes little-endian), texts (each u32
 * little-endian length, then its bytes). */
struct fp_hash_input {
    char tag;
    const uint64_t *numbers;
    size_t number_count;
    const struct fp_str *texts;
    size_t text_count;
};
uint64_t fp_hash_fields(const struct fp_hash_input *input);

/* As fp_hash_fields, for a tag and two numbers: a stack's id, and there are many stacks. */
uint64_t fp_hash_pair(char tag, uint64_t first, uint64_t second);

#endif
