/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: web vitals and budgets of the last day in Prometheus' text format, for people's own
 * alerts. Any thread.
 */
#ifndef FP_CLI_SERVE_METRICS_H
#define FP_CLI_SERVE_METRICS_H

#include "cli/serve/reader.h"
#include "collector/base/buf.h"

/* Bytes: what 100 sites have with 50 routes of about a kilobyte each. */
enum { FP_METRICS_MAX = 64 * 1024 * 1024 };

/*
 * Asks, and appends the metrics: per site those of the routes with the most values. client_fd as in
 * struct fp_reader_query. On failure *trouble is filled, unless nobody waits any more.
 */
enum fp_reader_result fp_metrics_write(struct fp_readers *readers, int client_fd,
                                       struct fp_buf *out,
                                       struct fp_trouble *trouble) FP_MUST_CHECK;

#endif
