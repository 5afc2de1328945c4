/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format: finds the format of an inflated body, and decodes and validates it.
 */
#ifndef FP_FORMAT_FORMAT_H
#define FP_FORMAT_FORMAT_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/base/upload_error.h"
#include "collector/format/limits.h"
#include "collector/profile/profile.h"

/*
 * Decodes a body, which stays unchanged. format_hint: the `?format=` value, "" if the shape
 * decides. On failure *error says where and why, and the profile is undefined. The profile is in
 * the arena, and so are those that follow it (profile->next): each is an upload of its own. Their
 * texts are in the arena or in the body. Any thread.
 */
enum fp_verdict fp_format_decode(struct fp_str body, struct fp_str format_hint,
                                 const struct fp_format_limits *limits, struct fp_arena *arena,
                                 struct fp_profile *profile,
                                 struct fp_upload_error *error) FP_MUST_CHECK;

/* Returns the formats that an entry of sites[].formats stands for, as bits 1 << enum
 * fp_upload_format; 0 if there is no such entry. */
uint32_t fp_formats_named(struct fp_str name) FP_MUST_CHECK;

#endif
