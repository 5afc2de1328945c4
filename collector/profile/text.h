/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: lengths in code points of valid UTF-8. Pure functions; any thread.
 */
#ifndef FP_PROFILE_TEXT_H
#define FP_PROFILE_TEXT_H

#include "collector/base/base.h"

/* Most code points of a stored name. */
#define FP_TEXT_NAME_MAX 1024
/* Most code points of a dimension (release, environment, variant, route, agent): few values, short
 * ones. */
#define FP_TEXT_DIMENSION_MAX 200

/* Returns the longest prefix of text, which is valid UTF-8, with at most max_points code points. */
struct fp_str fp_text_cut(struct fp_str text, size_t max_points);

/* Returns the text, valid UTF-8, without the characters at its ends that have no width: U+200B to
 * U+200D, U+2060, U+FEFF. A text of nothing else stays. */
struct fp_str fp_text_trim(struct fp_str text);

#endif
