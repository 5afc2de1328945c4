/*
 * Document-Policy: puts our members beside the application's without harming them.
 *
 * `js-profiling` and `js-profiling-mode` are one matter: a browser that knows the mode prefers it,
 * so adding one to an application's other would overrule what it said.
 */
#ifndef FLEETPROF_DOCUMENT_POLICY_H
#define FLEETPROF_DOCUMENT_POLICY_H

#include "slice.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* What a sampled page load gets by default, and every other one. */
#define FLEETPROF_POLICY_YES "js-profiling, js-profiling-mode=lazy"
#define FLEETPROF_POLICY_NO "js-profiling=?0"

/* Who wins when the application already names a member that we want to send. */
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
 * Appends configured members to `dictionary`, which starts empty, and whose size limits what may be
 * configured. `members` has to be a dictionary with something in it, its keys not there yet, with
 * the types that the profiling members need; else `dictionary` stays as it was.
 */
FLEETPROF_MUST_CHECK enum fleetprof_policy_error
fleetprof_document_policy_add(struct fleetprof_buffer *dictionary, struct fleetprof_slice members);

/* What is wrong and what would be right, for an administrator: constant text, no full stop. */
const char *fleetprof_policy_error_text(enum fleetprof_policy_error error);

/* Does a dictionary let a browser profile, by the switch or by the mode? */
bool fleetprof_document_policy_says_yes(struct fleetprof_slice dictionary);

struct fleetprof_policy_request {
    struct fleetprof_lines upstream;
    struct fleetprof_slice members; /* what to say: made by fleetprof_document_policy_add, or "" */
    enum fleetprof_conflict conflict;
};

struct fleetprof_policy_result {
    enum fleetprof_outcome outcome;
    bool upstream_decides; /* the application names profiling, and its word stands */
};

/*
 * Merges into `out` (emptied first; its size is the cap, normally FLEETPROF_FIELD_MAX). Foreign
 * members keep every byte. Under FLEETPROF_CONFLICT_LOCAL the application's profiling members and
 * those of our other keys go; under _UPSTREAM what it names is neither added nor changed. Merging
 * the result again changes nothing. A result that is empty, since members were taken out and none
 * put in, says that there has to be no field at all. Several lines are read as one, joined by ", "
 * (RFC 9651 §4.2), and a value that is not a dictionary is FLEETPROF_UNPARSABLE: leave it as it is.
 */
FLEETPROF_MUST_CHECK struct fleetprof_policy_result
fleetprof_document_policy_merge(const struct fleetprof_policy_request *request,
                                struct fleetprof_buffer *out);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
