/*
 * Recount: one record, one transaction.
 *
 * The store wants the position of a spool to move with each transaction. Records that are counted
 * by hand belong to no spool: they use the nil id's, which stays at 0.
 */
#include "cli/recount.h"

#include <stdlib.h>

enum { ROLLUP_BYTES = 256 * 1024 * 1024 };

struct fp_recounter {
    struct fp_store *store;
    struct fp_rollup rollup;
};

struct fp_recounter *fp_recounter_create(const struct fp_config *config)
{
    const struct fp_store_settings settings = {
        .database = config->database.ptr,
        .retention = {.facts_us = config->retention_facts_us,
                      .upload_log_us = config->retention_upload_log_us,
                      .sessions_us = config->retention_sessions_us,
                      .upload_ids_us = config->retention_upload_ids_us},
        .interrupt_fd = -1,
    };
    struct fp_recounter *recounter = calloc(1, sizeof(*recounter));
    if (recounter == NULL)
        return NULL;
    fp_rollup_init(&recounter->rollup, ROLLUP_BYTES, ROLLUP_BYTES);
    recounter->store = fp_store_create(&settings);
    if (recounter->store != NULL)
        return recounter;
    fp_recounter_free(recounter);
    return NULL;
}

void fp_recounter_free(struct fp_recounter *recounter)
{
    if (recounter == NULL)
        return;
    if (recounter->store != NULL)
        fp_store_close(recounter->store);
    fp_rollup_release(&recounter->rollup);
    free(recounter);
}

const char *fp_recounter_message(const struct fp_recounter *recounter)
{
    return fp_store_message(recounter->store);
}

static enum fp_store_result add_uploads(struct fp_rollup *rollup, const struct fp_record *record)
{
    for (size_t i = 0; i < record->count; i++) {
        if (fp_rollup_add(rollup, &record->deltas[i]) == FP_ROLLUP_NO_ROOM)
            return FP_STORE_MEMORY;
    }
    return FP_STORE_OK;
}

static enum fp_store_result write_rollup(struct fp_recounter *recounter,
                                         const struct fp_record *record)
{
    struct fp_store *store = recounter->store;
    struct fp_store_window nowhere = {0};
    size_t known;
    size_t rows;
    enum fp_store_result result = fp_store_read_position(store, &nowhere.spool_id, &nowhere.start);
    nowhere.end = nowhere.start;
    if (result == FP_STORE_OK)
        result = fp_store_claim(store, &nowhere, &recounter->rollup, &known);
    if (result != FP_STORE_OK)
        return result;
    if (known > 0) {
        fp_rollup_recount(&recounter->rollup);
        result = add_uploads(&recounter->rollup, record);
        if (result != FP_STORE_OK) {
            fp_store_abandon(store);
            return result;
        }
    }
    return fp_store_commit(store, &recounter->rollup, &rows);
}

enum fp_store_result fp_recount(struct fp_recounter *recounter, const struct fp_record *record)
{
    struct fp_rollup_clock clock;
    enum fp_store_result result = fp_store_connect(recounter->store);
    if (result == FP_STORE_OK)
        result = fp_store_read_clock(recounter->store, &clock);
    if (result != FP_STORE_OK)
        return result;
    fp_rollup_clear(&recounter->rollup, &clock);
    result = add_uploads(&recounter->rollup, record);
    return result == FP_STORE_OK ? write_rollup(recounter, record) : result;
}
