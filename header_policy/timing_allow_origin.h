/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing-Allow-Origin: the union of the application's origins and the configured ones.
 *
 * The value is a comma list of serialised origins, `null` or `*`. Browsers compare the strings
 * exactly (Fetch, "TAO check"), so an origin in any other spelling than the browser's never
 * matches.
 */
#ifndef FLEETPROF_TIMING_ALLOW_ORIGIN_H
#define FLEETPROF_TIMING_ALLOW_ORIGIN_H

#include "slice.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

enum fleetprof_origin_error {
    FLEETPROF_ORIGIN_OK,
    FLEETPROF_ORIGIN_NO_SCHEME,
    FLEETPROF_ORIGIN_UPPER_CASE,
    FLEETPROF_ORIGIN_PATH,
    FLEETPROF_ORIGIN_USER,
    FLEETPROF_ORIGIN_WILDCARD,
    FLEETPROF_ORIGIN_HOST,
    FLEETPROF_ORIGIN_PORT,
    FLEETPROF_ORIGIN_DEFAULT_PORT,
    FLEETPROF_ORIGIN_LIST
};

/*
 * Checks an origin for the configuration. Accepts `null`, `*` and scheme://host[:port] as a browser
 * writes it: lower-case, no path, no default port (HTML, "ASCII serialisation of an origin").
 */
FLEETPROF_MUST_CHECK enum fleetprof_origin_error
fleetprof_origin_check(struct fleetprof_slice origin);

/* Returns what is wrong and what would be right, for an administrator: constant text, no full
 * stop. */
const char *fleetprof_origin_error_text(enum fleetprof_origin_error error);

/*
 * Appends the entries of `list` to the comma list in `out`, except those already there. False when
 * they do not fit; `out` then holds some of them.
 */
FLEETPROF_MUST_CHECK bool fleetprof_timing_allow_origin_add(struct fleetprof_buffer *out,
                                                            struct fleetprof_slice list);

/*
 * Merges `ours`, a comma list, with the application's lines into `out` (emptied first; its size is
 * the limit, normally FLEETPROF_FIELD_MAX). The application's entries come first and keep their
 * bytes; ours follow unless they are there already. `*` anywhere makes the whole value `*`. Never
 * returns _UNPARSABLE.
 */
FLEETPROF_MUST_CHECK enum fleetprof_outcome
fleetprof_timing_allow_origin_merge(struct fleetprof_lines upstream, struct fleetprof_slice ours,
                                    struct fleetprof_buffer *out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
