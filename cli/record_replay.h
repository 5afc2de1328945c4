/*
 * Recount: counts a record that the database refused once, now that whatever was wrong is put
 * right: as the collector's writer does, in one transaction, its uploads once by their ids.
 *
 * One thread.
 */
#ifndef FP_CLI_RECORD_REPLAY_H
#define FP_CLI_RECORD_REPLAY_H

#include "collector/config/config.h"
#include "collector/rollup/record.h"
#include "collector/store/store.h"

struct fp_record_replay;

/* Makes one, without a connection, for the configuration's database; the configuration must outlive
 * it. NULL when out of memory. */
struct fp_record_replay *fp_record_replay_create(const struct fp_config *config) FP_MUST_CHECK;
void fp_record_replay_free(struct fp_record_replay *replay);

/* Counts a record's uploads, those that are not counted yet. FP_STORE_REFUSED: the database still
 * refuses them; anything else but OK: it cannot be asked now. */
enum fp_store_result fp_record_replay_run(struct fp_record_replay *replay,
                                          const struct fp_record *record) FP_MUST_CHECK;

/* What the last failure was. */
const char *fp_record_replay_message(const struct fp_record_replay *replay);

#endif
