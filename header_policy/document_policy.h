/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document-Policy: adds our members to the application's without harming them.
 *
 * `js-profiling` and `js-profiling-mode` belong together: a browser that knows the mode prefers it,
 * so adding one beside the application's other would override the application's choice.
 */
#ifndef FLEETPROF_DOCUMENT_POLICY_H
#define FLEETPROF_DOCUMENT_POLICY_H

#include "sf_merge.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* The default members for a sampled page load, and for every other one. */
#define FLEETPROF_POLICY_YES "js-profiling, js-profiling-mode=lazy"
#define FLEETPROF_POLICY_NO "js-profiling=?0"

/* Lets a browser put JavaScript stacks into its crash reports. */
#define FLEETPROF_POLICY_STACKS "include-js-call-stacks-in-crash-reports"

enum fleetprof_policy_error {
    FLEETPROF_POLICY_OK,
    FLEETPROF_POLICY_EMPTY,
    FLEETPROF_POLICY_SYNTAX,
    FLEETPROF_POLICY_DUPLICATE,
    FLEETPROF_POLICY_PROFILING_TYPE,
    FLEETPROF_POLICY_MODE_TYPE,
    FLEETPROF_POLICY_LONG
};

/*
 * Appends configured members to `dictionary`, which starts empty and whose size limits the
 * configuration. `members` must be a dictionary with at least one member, with keys that are not
 * there yet, and with the types that the profiling members need; otherwise `dictionary` is
 * unchanged.
 */
FLEETPROF_MUST_CHECK enum fleetprof_policy_error
fleetprof_document_policy_add(struct fleetprof_buffer *dictionary, struct fleetprof_slice members);

/* Returns what is wrong and what would be right, for an administrator: constant text, no full
 * stop. */
const char *fleetprof_policy_error_text(enum fleetprof_policy_error error);

/* True if a dictionary lets a browser profile, by the switch or by the mode. */
bool fleetprof_document_policy_says_yes(struct fleetprof_slice dictionary);

struct fleetprof_policy_request {
    struct fleetprof_lines upstream;
    struct fleetprof_slice
        members; /* the members to send: made by fleetprof_document_policy_add, or "" */
    enum fleetprof_conflict conflict;
};

/* Appends FLEETPROF_POLICY_STACKS, unless the dictionary already names it. False, with the
 * dictionary unchanged, when it does not fit. */
FLEETPROF_MUST_CHECK bool fleetprof_document_policy_add_stacks(struct fleetprof_buffer *dictionary);

/* Merges as fleetprof_sf_merge does; the profiling members are the matter. */
FLEETPROF_MUST_CHECK struct fleetprof_merge_result
fleetprof_document_policy_merge(const struct fleetprof_policy_request *request,
                                struct fleetprof_buffer *out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
