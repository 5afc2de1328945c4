/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thresholds: from where on `fleetprof status` finds the numbers of collectors wrong.
 *
 * tools/reference.mjs writes them into config/prometheus/fleetprof_alerts.yml, where a comment
 * names them behind a comparison: the alerts ask the same of Prometheus.
 */
#ifndef FP_CLI_DOCTOR_THRESHOLDS_H
#define FP_CLI_DOCTOR_THRESHOLDS_H

/* X(NAME, value) */
#define FP_THRESHOLDS(X)                                                                           \
    X(SITE_SILENT_S, 3600)      /* without an upload */                                            \
    X(SEALING_LATE_S, 7200)     /* since the start of the oldest hour that waits */                \
    X(SPOOL_FILLING_SHARE, 0.8) /* of spool.max_bytes */                                           \
    X(REFUSED_SHARE, 0.1)       /* of a site's uploads */                                          \
    X(REFUSED_COUNT, 10)        /* fewer refusals are not worth a word */

#define FP_THRESHOLD(name, value) static const double FP_##name __attribute__((unused)) = (value);
FP_THRESHOLDS(FP_THRESHOLD)
#undef FP_THRESHOLD

#endif
