/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record replay: counts a record that the database once refused, as the collector's writer does: in
 * one transaction, and each upload once by its id.
 *
 * One thread.
 */
#ifndef FP_CLI_SPOOL_RECORD_REPLAY_H
#define FP_CLI_SPOOL_RECORD_REPLAY_H

#include "collector/config/config.h"
#include "collector/rollup/record.h"
#include "collector/store/store.h"

struct fp_record_replay;

/* Returns a replay into the configuration's database, without connecting; the configuration must
 * outlive it. The caller calls fp_record_replay_free. */
struct fp_record_replay *fp_record_replay_create(const struct fp_config *config) FP_MUST_CHECK;
void fp_record_replay_free(struct fp_record_replay *replay);

/* Counts the uploads of a record that are not counted yet. FP_STORE_REFUSED: the database still
 * refuses them; another error: it cannot be asked now. */
enum fp_store_result fp_record_replay_run(struct fp_record_replay *replay,
                                          const struct fp_record *record) FP_MUST_CHECK;

/* Returns the message of the last failure. */
const char *fp_record_replay_message(const struct fp_record_replay *replay);

#endif
