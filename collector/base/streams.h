/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: keeps output off files and sockets that take a closed stream's number.
 */
#ifndef FP_BASE_STREAMS_H
#define FP_BASE_STREAMS_H

#include "collector/base/base.h"

/*
 * Replaces any of stdin, stdout and stderr that the parent closed by an unusable descriptor;
 * otherwise the next file or socket would get its number and our output. Writing to it fails, as it
 * would have. Call it first, from the only thread. False, with errno, if no descriptor can be
 * opened.
 */
bool fp_streams_hold(void) FP_MUST_CHECK;

#endif
