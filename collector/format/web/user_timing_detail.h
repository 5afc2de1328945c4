/*
 * Detail: what is kept of a mark's or measure's `detail`.
 */
#ifndef FP_FORMAT_WEB_USER_TIMING_DETAIL_H
#define FP_FORMAT_WEB_USER_TIMING_DETAIL_H

#include "collector/format/decoder.h"

/*
 * Reads the members that limits->detail_keys allow, in that order, and of these the texts, numbers
 * and booleans: "{status=200,cached=true}"; "" when there are none. detail may be anything, or
 * NULL.
 */
bool fp_timing_detail_read(struct fp_decoder *decoder, yyjson_val *detail,
                           struct fp_str *text) FP_MUST_CHECK;

#endif
