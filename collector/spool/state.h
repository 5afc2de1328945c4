/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State: the small file with the spool's id and the reader's position.
 */
#ifndef FP_SPOOL_STATE_H
#define FP_SPOOL_STATE_H

#include "collector/base/base.h"
#include "collector/spool/file_ops.h"

struct fp_spool_state {
    struct fp_uuid spool_id;
    uint64_t position;      /* of the reader */
    uint64_t tail;          /* the last committed record when the file was written */
    uint64_t next_sequence; /* not used by any record yet */
};

enum fp_spool_state_found {
    FP_STATE_GOOD,
    FP_STATE_ABSENT,
    FP_STATE_UNUSABLE, /* damaged, of another version, or unreadable */
};

/* Reads the file without changing it. Sets *state only if the file is good. */
enum fp_spool_state_found fp_spool_state_look(const struct fp_file_ops *ops, int dir,
                                              struct fp_spool_state *state) FP_MUST_CHECK;

/*
 * Reads the file. False if it is absent or unusable; an unusable one is renamed to `damaged-state`,
 * with a warning, so that the next write does not destroy it.
 */
bool fp_spool_state_read(const struct fp_file_ops *ops, int dir,
                         struct fp_spool_state *state) FP_MUST_CHECK;

/* Replaces the file durably. False with errno; the old one is then still there. */
bool fp_spool_state_write(const struct fp_file_ops *ops, int dir,
                          const struct fp_spool_state *state) FP_MUST_CHECK;

#endif
