/*
 * Envelope: which of the accepted shapes a document has, and the members around trace and timings.
 */
#ifndef FP_FORMAT_WEB_ENVELOPE_H
#define FP_FORMAT_WEB_ENVELOPE_H

#include "collector/format/decoder.h"

/* Whether a document has the shape of that format, or of an envelope that may hold it; false for
 * formats of other decoders. */
bool fp_envelope_has_shape(yyjson_val *root, enum fp_upload_format format);

/* Decodes a whole document of any shape into decoder->profile, which is cleared first. */
bool fp_envelope_decode(struct fp_decoder *decoder, yyjson_val *root) FP_MUST_CHECK;

/*
 * Reads the members of an envelope that holds something else (`content`, for the error's sentence)
 * than a trace, marks, measures, entries or coverage, which it must not have.
 */
bool fp_envelope_read_around(struct fp_decoder *decoder, yyjson_val *root,
                             const char *content) FP_MUST_CHECK;

#endif
