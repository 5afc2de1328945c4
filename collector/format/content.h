/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content: the JSON of an upload that is kept whole, written from what the decoder read. Formatted
 * as yyjson does; not yet scrubbed. All functions do nothing for a decoder without content.
 */
#ifndef FP_FORMAT_CONTENT_H
#define FP_FORMAT_CONTENT_H

#include "collector/format/decoder.h"

/* Append a text as it is, and a value. A failure is reported by fp_content_finish. */
void fp_content_add(struct fp_decoder *decoder, struct fp_str text);
void fp_content_add_value(struct fp_decoder *decoder, yyjson_val *value);

/* Moves the content to the profile's session. False after the error is filled. */
bool fp_content_finish(struct fp_decoder *decoder) FP_MUST_CHECK;

#endif
