/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash whose results nobody can foresee without
 * the key. For draws that a sender must not be able to choose. Pure; any thread.
 */
#ifndef FP_BASE_SIPHASH_H
#define FP_BASE_SIPHASH_H

#include "collector/base/base.h"

#define FP_SIPHASH_KEY_LEN 16

/* Returns the hash of some bytes. key: FP_SIPHASH_KEY_LEN bytes. */
uint64_t fp_siphash(const uint8_t key[FP_SIPHASH_KEY_LEN], const void *bytes,
                    size_t len) FP_MUST_CHECK;

#endif
