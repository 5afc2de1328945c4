/*
 * Envelope: which of the accepted shapes a document has, and the members around trace and timings.
 */
#ifndef FP_FORMAT_ENVELOPE_H
#define FP_FORMAT_ENVELOPE_H

#include "collector/format/decoder.h"

/* Decodes a whole document of any shape into decoder->profile, which is cleared first. */
bool fp_envelope_decode(struct fp_decoder *decoder, yyjson_val *root) FP_MUST_CHECK;

#endif
