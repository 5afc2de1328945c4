/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process metrics: the build, and the kernel's figures for this process, under the names that all
 * Prometheus client libraries use.
 */
#ifndef FP_BASE_PROCESS_METRICS_H
#define FP_BASE_PROCESS_METRICS_H

#include "collector/base/metrics.h"

#define FP_PROCESS_METRICS(X)                                                                      \
    X(FP_METRIC_BUILD_INFO, GAUGE, "fleetprof_build_info",                                         \
      "version=\"" FP_VERSION "\",compiler=\"" FP_COMPILER "\"", "Always 1; the labels tell", "")  \
    X(FP_METRIC_PROCESS_START, TIME_GAUGE, "process_start_time_seconds", "",                       \
      "When the process started", "")                                                              \
    X(FP_METRIC_PROCESS_CPU, TIME_COUNTER, "process_cpu_seconds_total", "",                        \
      "Processor time, user and system", "")                                                       \
    X(FP_METRIC_PROCESS_RESIDENT, GAUGE, "process_resident_memory_bytes", "",                      \
      "Memory in use, without what is swapped out", "")                                            \
    X(FP_METRIC_PROCESS_VIRTUAL, GAUGE, "process_virtual_memory_bytes", "",                        \
      "Size of the address space", "")                                                             \
    X(FP_METRIC_PROCESS_FDS, GAUGE, "process_open_fds", "", "Open file descriptors", "")           \
    X(FP_METRIC_PROCESS_FDS_MAX, GAUGE, "process_max_fds", "",                                     \
      "How many file descriptors may be open", "")

#if defined(__clang__)
#define FP_COMPILER "clang " __clang_version__
#else
#define FP_COMPILER "gcc " __VERSION__
#endif

enum fp_process_metric { FP_PROCESS_METRICS(FP_METRIC_ID) FP_PROCESS_METRIC_COUNT };

/* Adds the process metrics to a registry; values that /proc lacks stay 0. Returns false when out of
 * memory. */
bool fp_process_metrics_join(struct fp_metrics *metrics) FP_MUST_CHECK;

#endif
