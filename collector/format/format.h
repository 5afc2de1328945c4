/*
 * Format: an inflated body becomes a profile: name its format, decode and validate it.
 */
#ifndef FP_FORMAT_FORMAT_H
#define FP_FORMAT_FORMAT_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/base/upload_error.h"
#include "collector/format/limits.h"
#include "collector/profile/profile.h"

/*
 * Decodes. format_hint: the `?format=` value, "" when the shape decides. body is not changed. On
 * failure *error says where and why, and profile is undefined. The profile lives in the arena, as
 * do those that follow it (profile->next): each is an upload of its own. Any thread.
 */
enum fp_verdict fp_format_decode(struct fp_str body, struct fp_str format_hint,
                                 const struct fp_format_limits *limits, struct fp_arena *arena,
                                 struct fp_profile *profile,
                                 struct fp_upload_error *error) FP_MUST_CHECK;

#endif
