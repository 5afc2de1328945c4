/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log: one line per event on standard error, in logfmt: `level=warn msg="short fact" key=value …`.
 *
 * Under systemd (standard error is the journal) lines carry no time of their own. Any thread; a
 * line is written whole. Values are quoted and escaped; a line is at most 2 KiB. A line must not
 * hold text that an upload carried.
 */
#ifndef FP_BASE_LOG_H
#define FP_BASE_LOG_H

#include "collector/base/base.h"

enum fp_log_level { FP_LOG_INFO, FP_LOG_WARN, FP_LOG_ERROR };

/* Many events need no fields; gcc warns of an empty format. */
#pragma GCC diagnostic ignored "-Wformat-zero-length"

/*
 * Writes one line. fields: printf's format for what follows the message, as `key=%d other=%s` (may
 * be ""). Conversions: d i u x with l, ll, z; f and g; s and .*s, whose texts are quoted here
 * and need no quotes in the format.
 */
void fp_log(enum fp_log_level level, const char *message, const char *fields, ...) FP_PRINTF(3, 4);

#endif
