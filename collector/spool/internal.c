/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that several files of the spool call.
 */
#include "collector/spool/internal.h"

static const char *const error_texts[] = {
    [FP_SPOOL_OK] = "no error",
    [FP_SPOOL_FULL] = "the spool is full",
    [FP_SPOOL_IO] = "the spool cannot be written",
    [FP_SPOOL_STOPPING] = "the spool is closing",
    [FP_SPOOL_TOO_LONG] = "the record is too long for the spool",
    [FP_SPOOL_LOCKED] = "another process has this spool open",
    [FP_SPOOL_NO_PATH] = "the spool's directory cannot be used",
    [FP_SPOOL_MEMORY] = "out of memory",
};

const char *fp_spool_error_text(enum fp_spool_error error)
{
    return error_texts[error];
}

void fp_spool_note_backlog(struct fp_spool *spool)
{
    uint64_t backlog = spool->tail > spool->position ? spool->tail - spool->position : 0;
    fp_metrics_set(spool->metrics, FP_METRIC_SPOOL_BACKLOG_RECORDS, (int64_t)backlog);
}
