/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: parses and checks the text of one setting. Pure functions; any thread.
 *
 * Each reader stores the value and returns NULL, or stores nothing and returns what is wrong and
 * what would be right, as a phrase for an error message.
 */
#ifndef FP_CONFIG_VALUE_H
#define FP_CONFIG_VALUE_H

#include "collector/base/base.h"
#include "collector/base/buf.h"

/* Parses a whole number without sign, at most INT64_MAX. */
const char *fp_value_count(struct fp_str text, int64_t *value) FP_MUST_CHECK;

/* Parses bytes: a number and B, KiB, MiB, GiB or TiB; a bare number is bytes. */
const char *fp_value_bytes(struct fp_str text, int64_t *bytes) FP_MUST_CHECK;

/* Parses a duration: a number and ms, s, m, h or d. */
const char *fp_value_duration(struct fp_str text, int64_t *duration_us) FP_MUST_CHECK;

/* Parses a share: a number from 0 to 100 with at most four decimals and %; stores parts per
 * million. */
const char *fp_value_share(struct fp_str text, int64_t *ppm) FP_MUST_CHECK;

/* Parses `true` or `false`. */
const char *fp_value_flag(struct fp_str text, bool *value) FP_MUST_CHECK;

/* Checks a text: 1 to 1,024 bytes without control characters. */
const char *fp_value_check_text(struct fp_str text) FP_MUST_CHECK;

/* Checks a connection string or URI: a valid text that libpq can parse. */
const char *fp_value_check_connection(struct fp_str text) FP_MUST_CHECK;

/* Writes ": " and what libpq says is wrong with a connection string; "" if that could show a
 * password, or there is nothing to say. */
void fp_value_explain_connection(struct fp_str text, char *detail, size_t size);

/* Checks a path: a valid text, and absolute. */
const char *fp_value_check_path(struct fp_str text) FP_MUST_CHECK;

/* Checks a site's name or key: 1 to 64 of A–Z a–z 0–9 . _ - */
const char *fp_value_check_name(struct fp_str text) FP_MUST_CHECK;

/*
 * Checks an origin as browsers send it (RFC 6454, serialised): scheme://host[:port] in lower case,
 * without the scheme's own port and without a path; or `null`.
 */
const char *fp_value_check_origin(struct fp_str text) FP_MUST_CHECK;

/* Checks a host of sites[].first_party: lower case, without port. */
const char *fp_value_check_host(struct fp_str text) FP_MUST_CHECK;

/* Append bytes or a duration in the largest unit that divides it, or a share. */
void fp_value_print_bytes(int64_t bytes, struct fp_buf *out);
void fp_value_print_duration(int64_t duration_us, struct fp_buf *out);
void fp_value_print_share(int64_t ppm, struct fp_buf *out);

#endif
