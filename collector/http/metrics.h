/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of the public listener.
 */
#ifndef FP_HTTP_METRICS_H
#define FP_HTTP_METRICS_H

#include "collector/base/metrics.h"

#define FP_HTTP_METRICS(X)                                                                         \
    X(FP_METRIC_RESPONSES_2XX, COUNTER, "fleetprof_http_responses_total", "class=\"2xx\"",         \
      "Replies of the public listener by status class", "Preflights included")                     \
    X(FP_METRIC_RESPONSES_4XX, COUNTER, "fleetprof_http_responses_total", "class=\"4xx\"", "", "") \
    X(FP_METRIC_RESPONSES_5XX, COUNTER, "fleetprof_http_responses_total", "class=\"5xx\"", "", "") \
    X(FP_METRIC_BODY_BYTES, COUNTER, "fleetprof_body_bytes_total", "",                             \
      "Bytes of request bodies received", "")                                                      \
    X(FP_METRIC_ACK_SECONDS, HISTOGRAM, "fleetprof_ack_seconds", "",                               \
      "From the end of a body to its durable reply",                                               \
      "That is [its turn](configuration.md#turns), decoding and the disk")                         \
    X(FP_METRIC_CONNECTIONS, GAUGE, "fleetprof_connections", "",                                   \
      "Open connections of the public listener", "")                                               \
    X(FP_METRIC_CONNECTIONS_ENDED_SLOW, COUNTER, "fleetprof_connections_ended_total",              \
      "reason=\"slow\"", "Connections ended before their client did",                              \
      "Headers or a body took longer than `limits.request_timeout`")                               \
    X(FP_METRIC_CONNECTIONS_ENDED_CROWDED, COUNTER, "fleetprof_connections_ended_total",           \
      "reason=\"crowded\"", "", "They made room for new ones: there were `limits.connections`")

enum fp_http_metric { FP_HTTP_METRICS(FP_METRIC_ID) FP_HTTP_METRIC_COUNT };

extern const struct fp_metric_table fp_http_metrics;

#endif
