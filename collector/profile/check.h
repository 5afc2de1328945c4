/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile, check: the border between decoders and folding.
 */
#ifndef FP_PROFILE_CHECK_H
#define FP_PROFILE_CHECK_H

#include "collector/profile/profile.h"

/* Asserts that indexes are within their arrays, parents precede, and parts add up. Any thread. */
void fp_profile_check(const struct fp_profile *profile);

#endif
