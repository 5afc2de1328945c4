/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, carry: what one part of a dump leaves to the next one: the version, the page, and
 * the state of the V8 profiles.
 */
#ifndef FP_FORMAT_SPEED_TRACER_CARRY_H
#define FP_FORMAT_SPEED_TRACER_CARRY_H

#include "collector/format/speed_tracer/dump.h"

/* Takes over what the parts before this one left, if it is a part. Call it once the container is
 * open. False after the error is filled. */
bool fp_st_carry_restore(struct fp_st_dump *dump) FP_MUST_CHECK;

/* Leaves the state of a dump that was decoded, if it is a part. Without memory for it the next part
 * is detached. */
void fp_st_carry_save(const struct fp_st_dump *dump);

#endif
