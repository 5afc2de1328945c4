/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document-Policy: adds our members to the application's without harming them.
 *
 * `js-profiling` and `js-profiling-mode` belong together: a browser that knows the mode prefers it,
 * so adding one beside the application's other would override the application's choice.
 */
#ifndef FLEETPROF_DOCUMENT_POLICY_H
#define FLEETPROF_DOCUMENT_POLICY_H

#include "slice.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* The default members for a sampled page load, and for every other one. */
#define FLEETPROF_POLICY_YES "js-profiling, js-profiling-mode=lazy"
#define FLEETPROF_POLICY_NO "js-profiling=?0"

/* Decides who wins when the application already names a member that we want to send. */
enum fleetprof_conflict { FLEETPROF_CONFLICT_UPSTREAM, FLEETPROF_CONFLICT_LOCAL };

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

struct fleetprof_policy_result {
    enum fleetprof_outcome outcome;
    bool upstream_decides; /* the application names profiling, and its choice stands */
};

/*
 * Merges into `out` (emptied first; its size is the limit, normally FLEETPROF_FIELD_MAX). Foreign
 * members keep every byte. FLEETPROF_CONFLICT_LOCAL removes the application's profiling members and
 * those with our other keys; _UPSTREAM neither adds nor changes what the application names. Merging
 * the result again changes nothing. An empty result, after members were removed and none added,
 * means that the field must be removed. Several lines count as one, joined by ", " (RFC 9651 §4.2).
 * A value that is not a dictionary is FLEETPROF_UNPARSABLE: leave it unchanged.
 */
FLEETPROF_MUST_CHECK struct fleetprof_policy_result
fleetprof_document_policy_merge(const struct fleetprof_policy_request *request,
                                struct fleetprof_buffer *out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
