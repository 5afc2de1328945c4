/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelope: the shapes that a JSON document may have, and the members around trace and timings.
 */
#ifndef FP_FORMAT_WEB_ENVELOPE_H
#define FP_FORMAT_WEB_ENVELOPE_H

#include "collector/format/decoder.h"

/*
 * Reads the members of an envelope around another format. Refuses one with a trace, marks,
 * measures, entries or coverage. content: names the other format in the error.
 */
bool fp_envelope_read_around(struct fp_decoder *decoder, yyjson_val *root,
                             const char *content) FP_MUST_CHECK;

#endif
