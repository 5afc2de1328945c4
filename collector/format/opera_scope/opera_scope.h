/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope: a session of Opera's Profiler service, 1.0 or 1.1, in fleetprof's own envelope or as
 * a recording of the service's frames.
 *
 * The service has no file format; docs/formats.md specifies these two.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_OPERA_SCOPE_H
#define FP_FORMAT_OPERA_SCOPE_OPERA_SCOPE_H

#include "collector/format/decoder.h"

/* True if a body is a recording: its first line begins with "STP/1 ", or is a list that begins with
 * a service's name. */
bool fp_opera_scope_is_recording(struct fp_str body);

/* Appends the member "opera-scope" of a decoded envelope to the content: the fields that
 * docs/formats.md lists. Does nothing for a decoder without content. */
void fp_opera_scope_add_content(struct fp_decoder *decoder, yyjson_val *value);

/*
 * Decodes a recording, one frame per line, into decoder->profile, which it clears first. Skips an
 * invalid event and notes it in profile->session.notes; fails if no event is valid. Each of several
 * sessions has a profile with its own content and raw lines; the content of a single one stays with
 * the decoder. Errors name the line and its offset in the body.
 */
bool fp_opera_scope_decode_recording(struct fp_decoder *decoder, struct fp_str body) FP_MUST_CHECK;

#endif
