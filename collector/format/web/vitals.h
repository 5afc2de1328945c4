/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vitals: an envelope's `vitals`, which may also be the Metric objects of Google's web-vitals.
 */
#ifndef FP_FORMAT_WEB_VITALS_H
#define FP_FORMAT_WEB_VITALS_H

#include "collector/format/decoder.h"

/* Decodes the member, if it is there, into profile->vitals. */
bool fp_vitals_decode(struct fp_decoder *decoder, const struct fp_field *field) FP_MUST_CHECK;

#endif
