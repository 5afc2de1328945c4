/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges members of ours into the application's structured-field dictionary (RFC 9651) without
 * harming the rest of it.
 */
#ifndef FLEETPROF_SF_MERGE_H
#define FLEETPROF_SF_MERGE_H

#include "slice.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* Decides who wins when the application already names a member that we want to send. */
enum fleetprof_conflict { FLEETPROF_CONFLICT_UPSTREAM, FLEETPROF_CONFLICT_LOCAL };

/* Keys that are one matter: who names one of them decides on all of them. */
struct fleetprof_keys {
    const struct fleetprof_slice *key;
    size_t count;
};

struct fleetprof_merge_request {
    struct fleetprof_lines upstream;
    struct fleetprof_slice members; /* ours: a valid dictionary, or "" */
    enum fleetprof_conflict conflict;
    struct fleetprof_keys matter;
};

struct fleetprof_merge_result {
    enum fleetprof_outcome outcome;
    bool upstream_decides; /* the application names a key of the matter, and its choice stands */
};

/*
 * Merges into `out` (emptied first; its size is the limit, normally FLEETPROF_FIELD_MAX). Foreign
 * members keep every byte. FLEETPROF_CONFLICT_LOCAL removes the application's members of the matter
 * and those with our other keys; _UPSTREAM neither adds nor changes what the application names.
 * Merging the result again changes nothing. An empty result, after members were removed and none
 * added, means that the field must be removed. Several lines count as one, joined by ", " (RFC 9651
 * §4.2). A value that is not a dictionary is FLEETPROF_UNPARSABLE: leave it unchanged.
 */
FLEETPROF_MUST_CHECK struct fleetprof_merge_result
fleetprof_sf_merge(const struct fleetprof_merge_request *request, struct fleetprof_buffer *out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
