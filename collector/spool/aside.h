/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aside: quarantine files for inspection: `damaged-…` ranges of segments and `refused-…` records.
 *
 * Together they stay below a ceiling; past it nothing more is kept. Belongs to one thread at a
 * time: recovery's, then the reader's.
 */
#ifndef FP_SPOOL_ASIDE_H
#define FP_SPOOL_ASIDE_H

#include "collector/base/base.h"
#include "collector/spool/file_ops.h"
#include "collector/spool/metrics.h"

struct fp_spool_aside {
    const struct fp_file_ops *ops;
    int dir;                       /* not owned */
    struct fp_metric_set *metrics; /* the spool's; not owned */
    uint64_t max_bytes;
    uint64_t bytes; /* of the existing files */
};

/* True if a file of the spool's directory is one of these. */
bool fp_spool_aside_is_name(const char *name);

/* A damaged range. */
struct fp_spool_aside_range {
    int file; /* open segment */
    uint64_t number;
    uint64_t offset;
    uint64_t len;
};

/*
 * Copies a damaged range to a file of its own and counts it. Does nothing for a range that already
 * has its file. Counts a range even if copying it fails.
 */
void fp_spool_aside_damaged(struct fp_spool_aside *aside, const struct fp_spool_aside_range *range);

/* The suffix of the file that says why a record was refused. */
#define FP_ASIDE_REASON ".reason"

/* Parses the sequence number from the name of a refused record's file. False for any other file. */
bool fp_spool_aside_parse_refused(const char *name, uint64_t *sequence) FP_MUST_CHECK;

/* Writes a record to a file named by its sequence number, and the reason to one next to it. False
 * with errno (ENOSPC: the ceiling). */
bool fp_spool_aside_refused(struct fp_spool_aside *aside, uint64_t sequence, struct fp_str record,
                            struct fp_str reason) FP_MUST_CHECK;

#endif
