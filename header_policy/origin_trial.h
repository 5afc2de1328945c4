/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Origin-Trial: checks the tokens of the configuration.
 *
 * The field is a comma list of tokens in base64. Browsers read all lines as one list, so ours gets
 * a line of its own, and the application's lines are not read.
 */
#ifndef FLEETPROF_ORIGIN_TRIAL_H
#define FLEETPROF_ORIGIN_TRIAL_H

#include "slice.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

enum fleetprof_trial_error {
    FLEETPROF_TRIAL_OK,
    FLEETPROF_TRIAL_CHARACTER,
    FLEETPROF_TRIAL_LENGTH,
    FLEETPROF_TRIAL_VERSION,
    FLEETPROF_TRIAL_TWICE,
    FLEETPROF_TRIAL_LIST_LENGTH
};

/*
 * Checks a token, and appends it to the comma list in `list`. A token is padded base64 of a version
 * (2 or 3), a signature of 64 bytes, a length of 4 bytes and a text of that length. The signature
 * is left to browsers. `list` is unchanged on failure.
 */
FLEETPROF_MUST_CHECK enum fleetprof_trial_error fleetprof_trial_add(struct fleetprof_buffer *list,
                                                                    struct fleetprof_slice token);

/* Returns what is wrong and what would be right, for an administrator: constant text, no full
 * stop. */
const char *fleetprof_trial_error_text(enum fleetprof_trial_error error);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
