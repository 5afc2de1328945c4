/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session bytes: the part of delta bytes that holds a session (docs/internals/delta.md).
 */
#ifndef FP_ROLLUP_SESSION_BYTES_H
#define FP_ROLLUP_SESSION_BYTES_H

#include "collector/rollup/delta.h"

struct fp_in;

void fp_session_encode(const struct fp_session *session, struct fp_buf *out);

/* Reads a session into the reader's arena. Trusts nothing. */
void fp_session_decode(struct fp_in *in, struct fp_delta *delta);

#endif
