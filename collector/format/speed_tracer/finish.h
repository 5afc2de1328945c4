/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, finish: the steps that need all records.
 */
#ifndef FP_FORMAT_SPEED_TRACER_FINISH_H
#define FP_FORMAT_SPEED_TRACER_FINISH_H

#include "collector/format/speed_tracer/dump.h"

/* Sets the types of an early version, the page and the marks. False after the error is filled. */
bool fp_st_finish(struct fp_st_dump *dump) FP_MUST_CHECK;

#endif
