/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record replay: one transaction per record.
 *
 * Each transaction of the store moves the position of a spool. A replayed record belongs to no
 * spool: it uses the position of the nil id, which stays at 0.
 */
#include "cli/spool/record_replay.h"

#include "cli/kit/memory.h"

#include <stdlib.h>

enum { ROLLUP_BYTES = 256 * 1024 * 1024 };

struct fp_record_replay {
    struct fp_store *store;
    struct fp_rollup rollup;
};

struct fp_record_replay *fp_record_replay_create(const struct fp_config *config)
{
    const struct fp_store_settings settings = {
        .database = config->database.ptr,
        .retention = {.facts_us = config->retention_facts_us,
                      .upload_log_us = config->retention_upload_log_us,
                      .sessions_us = config->retention_sessions_us,
                      .upload_ids_us = config->retention_upload_ids_us},
        .interrupt_fd = -1,
    };
    struct fp_record_replay *replay = fp_memory_need(calloc(1, sizeof(*replay)));
    fp_rollup_init(&replay->rollup, ROLLUP_BYTES, ROLLUP_BYTES);
    replay->store = fp_memory_need(fp_store_create(&settings));
    return replay;
}

void fp_record_replay_free(struct fp_record_replay *replay)
{
    fp_store_close(replay->store);
    fp_rollup_release(&replay->rollup);
    free(replay);
}

const char *fp_record_replay_message(const struct fp_record_replay *replay)
{
    return fp_store_message(replay->store);
}

static enum fp_store_result add_uploads(struct fp_rollup *rollup, const struct fp_record *record)
{
    for (size_t i = 0; i < record->count; i++) {
        if (fp_rollup_add(rollup, &record->deltas[i]) == FP_ROLLUP_NO_ROOM)
            return FP_STORE_MEMORY;
    }
    return FP_STORE_OK;
}

static enum fp_store_result write_rollup(struct fp_record_replay *replay,
                                         const struct fp_record *record)
{
    struct fp_store *store = replay->store;
    struct fp_store_window nowhere = {0};
    size_t known;
    size_t rows;
    enum fp_store_result result = fp_store_read_position(store, &nowhere.spool_id, &nowhere.start);
    nowhere.end = nowhere.start;
    if (result == FP_STORE_OK)
        result = fp_store_claim(store, &nowhere, &replay->rollup, &known);
    if (result != FP_STORE_OK)
        return result;
    if (known > 0) {
        fp_rollup_recount(&replay->rollup);
        result = add_uploads(&replay->rollup, record);
        if (result != FP_STORE_OK) {
            fp_store_abandon(store);
            return result;
        }
    }
    return fp_store_commit(store, &replay->rollup, &rows);
}

enum fp_store_result fp_record_replay_run(struct fp_record_replay *replay,
                                          const struct fp_record *record)
{
    struct fp_rollup_clock clock;
    enum fp_store_result result = fp_store_connect(replay->store);
    if (result == FP_STORE_OK)
        result = fp_store_read_clock(replay->store, &clock);
    if (result != FP_STORE_OK)
        return result;
    fp_rollup_clear(&replay->rollup, &clock);
    result = add_uploads(&replay->rollup, record);
    return result == FP_STORE_OK ? write_rollup(replay, record) : result;
}
