/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC32C (Castagnoli), as in RFC 3720 appendix B.4; with the processor's instruction where it has
 * one.
 */
#ifndef FP_BASE_CRC32C_H
#define FP_BASE_CRC32C_H

#include "collector/base/base.h"

/* Continues crc (0 to begin) over len more bytes. Any thread. */
uint32_t fp_crc32c(uint32_t crc, const void *bytes, size_t len);

#endif
