/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reporting-Endpoints: adds the endpoint of crash reports to those of the application.
 *
 * A browser sends crash reports to the endpoint `crash-reporting`, else to `default` (Crash
 * Reporting). So both are one matter: adding ours beside the application's `default` would take its
 * crash reports away.
 */
#ifndef FLEETPROF_REPORTING_ENDPOINTS_H
#define FLEETPROF_REPORTING_ENDPOINTS_H

#include "sf_merge.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* Maximum length of an endpoint's URL, in bytes. */
#define FLEETPROF_ENDPOINT_MAX 1024

enum fleetprof_endpoint_error {
    FLEETPROF_ENDPOINT_OK,
    FLEETPROF_ENDPOINT_SCHEME,
    FLEETPROF_ENDPOINT_INSECURE,
    FLEETPROF_ENDPOINT_CHARACTER,
    FLEETPROF_ENDPOINT_LONG
};

/* Checks an endpoint for the configuration: a URL to which browsers send reports, or a path. */
FLEETPROF_MUST_CHECK enum fleetprof_endpoint_error
fleetprof_endpoint_check(struct fleetprof_slice url);

/* Returns what is wrong and what would be right, for an administrator: constant text, no full
 * stop. */
const char *fleetprof_endpoint_error_text(enum fleetprof_endpoint_error error);

struct fleetprof_endpoint_request {
    struct fleetprof_lines upstream;
    struct fleetprof_slice url; /* one that fleetprof_endpoint_check accepts */
    enum fleetprof_conflict conflict;
};

/*
 * Merges as fleetprof_sf_merge does. FLEETPROF_CONFLICT_UPSTREAM adds nothing where the application
 * names `crash-reporting` or `default`; _LOCAL replaces the application's `crash-reporting` and
 * leaves its `default` for other reports.
 */
FLEETPROF_MUST_CHECK struct fleetprof_merge_result
fleetprof_reporting_endpoints_merge(const struct fleetprof_endpoint_request *request,
                                    struct fleetprof_buffer *out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
