/*
 * Speed Tracer: a dump of the retired tracing tool becomes one timeline of nested events, and the
 * V8 profiles in it become stacks and samples.
 *
 * What the tool wrote was never checked, so this decoder is lenient: a record that is no good is
 * left out and counted in profile->session.notes, and never takes a good one with it.
 * docs/formats.md has the rules.
 */
#ifndef FP_FORMAT_SPEED_TRACER_SPEED_TRACER_H
#define FP_FORMAT_SPEED_TRACER_SPEED_TRACER_H

#include "collector/format/decoder.h"

/* Whether a JSON value is a record (its `type` is a whole number) or the body that the headless
 * extension posts (`header` and `data`). An upload of another format is none of them. */
bool fp_speed_tracer_is_dump(yyjson_val *value);

/* Whether a body that is not one JSON value begins as a dump does: with a page, or with an object
 * that fp_speed_tracer_is_dump or is like a record. Parses the first objects only. */
bool fp_speed_tracer_sniff(const struct fp_decoder *decoder, struct fp_str body) FP_MUST_CHECK;

/* Decodes a dump in any of its containers into a cleared profile. body is not changed; texts of the
 * profile are statics or lie in the arena. */
bool fp_speed_tracer_decode(struct fp_decoder *decoder, struct fp_str body) FP_MUST_CHECK;

#endif
