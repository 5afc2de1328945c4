/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Left out: what an agent says that it did not send, an envelope's `leftOut`.
 */
#ifndef FP_FORMAT_WEB_LEFT_OUT_H
#define FP_FORMAT_WEB_LEFT_OUT_H

#include "collector/format/decoder.h"

/* Decodes the member, if it is there, into profile->left_outs. */
bool fp_left_out_decode(struct fp_decoder *decoder, const struct fp_field *field) FP_MUST_CHECK;

#endif
