/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detail: the `detail` of a mark or measure.
 */
#ifndef FP_FORMAT_WEB_USER_TIMING_DETAIL_H
#define FP_FORMAT_WEB_USER_TIMING_DETAIL_H

#include "collector/format/decoder.h"

/*
 * Reads the texts, numbers and booleans among the members in limits->detail_keys, in that order:
 * "{status=200,cached=true}"; "" if there are none. detail may be any value, or NULL.
 */
bool fp_timing_detail_read(struct fp_decoder *decoder, yyjson_val *detail,
                           struct fp_str *text) FP_MUST_CHECK;

#endif
