/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-profile: a ProfilerTrace of the JS Self-Profiling API becomes resources, frames, stacks and
 * samples.
 */
#ifndef FP_FORMAT_WEB_SELF_PROFILE_H
#define FP_FORMAT_WEB_SELF_PROFILE_H

#include "collector/format/decoder.h"

/* True if an object has a member that only a bare ProfilerTrace has at its top level. */
bool fp_self_profile_is_trace(yyjson_val *object);

/* Returns the marker of a ProfilerMarker word; a word of a newer browser counts as `other`. */
enum fp_marker fp_self_profile_marker(struct fp_str word);

/* Decodes and validates a trace, or takes the one in decoder->trace instead. place: where it is,
 * NULL for the whole document. */
bool fp_self_profile_decode(struct fp_decoder *decoder, const struct fp_place *place,
                            yyjson_val *trace) FP_MUST_CHECK;

#endif
