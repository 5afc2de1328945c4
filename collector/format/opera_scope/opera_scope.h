/*
 * Opera Scope: a session of Opera's Profiler service, 1.0 or 1.1, as our envelope carries it or as
 * a recording of the service's frames.
 *
 * The service has no file format; docs/formats.md writes down the two shapes taken here.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_OPERA_SCOPE_H
#define FP_FORMAT_OPERA_SCOPE_OPERA_SCOPE_H

#include "collector/format/decoder.h"

/*
 * Whether a body is a recording: its first line is a list that begins with a service's name, or
 * begins with "STP/1 ".
 */
bool fp_opera_scope_is_recording(struct fp_str body);

/* Adds the member "opera-scope" of an envelope that has been decoded to the content: what
 * docs/formats.md names of it. Does nothing for a decoder that keeps none. */
void fp_opera_scope_keep(struct fp_decoder *decoder, yyjson_val *value);

/*
 * Decodes a recording, one frame on each line, into decoder->profile, which is cleared first. An
 * event that is invalid is skipped and noted in profile->session.notes; if nothing is left it is an
 * error. Of several sessions each has a profile, its content and its raw lines; one leaves its
 * content to the decoder. Errors say the line, and where it begins in the body.
 */
bool fp_opera_scope_decode_recording(struct fp_decoder *decoder, struct fp_str body) FP_MUST_CHECK;

#endif
