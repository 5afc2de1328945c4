/*
 * Envelope: which of the accepted shapes a document has, and the members around trace and timings.
 */
#ifndef FP_FORMAT_WEB_ENVELOPE_H
#define FP_FORMAT_WEB_ENVELOPE_H

#include "collector/format/decoder.h"

/*
 * Reads the members of an envelope that holds something else (`content`, for the error's sentence)
 * than a trace, marks, measures, entries or coverage, which it must not have.
 */
bool fp_envelope_read_around(struct fp_decoder *decoder, yyjson_val *root,
                             const char *content) FP_MUST_CHECK;

#endif
