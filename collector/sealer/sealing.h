/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing: merges what flushes appended into sorted rows per group and block of time
 * (docs/internals/schema.md), one bounded step after another, and keeps house.
 *
 * At most one collector does either at a time: each transaction of theirs is a turn
 * (fp_store_begin_turn). A step is one transaction, or a few whose rows nobody sees before the last
 * one commits; so a step that fails anywhere is done again from its start. Belongs to one thread.
 */
#ifndef FP_SEALER_SEALING_H
#define FP_SEALER_SEALING_H

#include "collector/store/store.h"

struct fp_sealing;

enum fp_seal_did {
    FP_SEAL_NOTHING, /* nothing is due */
    FP_SEAL_HOUR,    /* sealed some flushes of an hour */
    FP_SEAL_BLOCK,   /* built a longer block */
    FP_SEAL_BUSY,    /* something is due, but another collector is at work */
};

struct fp_seal_report {
    enum fp_seal_did did;
    bool is_unit;      /* of a failure: one hour or block failed, others may work */
    int64_t bucket_us; /* start of the hour or block */
    int span;          /* 0 hour, 1 four hours, 2 day, 3 eight days */
    size_t entries_read;
    size_t entries_written;
    /* With FP_SEAL_NOTHING and FP_SEAL_BUSY: */
    int64_t next_us;           /* when something will be due by time alone; INT64_MAX: nothing */
    int64_t waiting_entries;   /* unsealed, of all sites */
    int64_t oldest_waiting_us; /* the oldest hour with unsealed entries, 0: none */
};

/* Makes the state of sealing on a store's connection, which it opens as needed. The store outlives
 * it, and nobody else uses the store. Returns NULL when out of memory. */
struct fp_sealing *fp_sealing_create(struct fp_store *store) FP_MUST_CHECK;
void fp_sealing_free(struct fp_sealing *sealing);

/*
 * Does one due step. now_us is the epoch by the database's clock. After a failure nothing has
 * changed; a unit that fails alone is left out for a minute to an hour, so that others go on.
 */
enum fp_store_result fp_sealing_step(struct fp_sealing *sealing, int64_t now_us,
                                     struct fp_seal_report *report) FP_MUST_CHECK;

/* Does what fp_store_housekeep does. *busy: not done, another collector is at work. */
enum fp_store_result fp_sealing_keep_house(struct fp_sealing *sealing,
                                           struct fp_store_chores *chores,
                                           bool *busy) FP_MUST_CHECK;

/* Closes the connection and frees memory until the next step. */
void fp_sealing_rest(struct fp_sealing *sealing);

#endif
