/*
 * Content: an upload written anew from what of its document was taken, for uploads that are kept
 * whole. As yyjson writes JSON; not scrubbed yet. All do nothing for a decoder that keeps none.
 */
#ifndef FP_FORMAT_CONTENT_H
#define FP_FORMAT_CONTENT_H

#include "collector/format/decoder.h"

/* Appends text as it is; a value. What fails is remembered until fp_content_finish. */
void fp_content_add(struct fp_decoder *decoder, struct fp_str text);
void fp_content_add_value(struct fp_decoder *decoder, yyjson_val *value);

/* Gives the content to the profile's session. */
bool fp_content_finish(struct fp_decoder *decoder) FP_MUST_CHECK;

#endif
