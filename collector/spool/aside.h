/*
 * Aside: files that keep, for inspection, what cannot be used: `damaged-…` ranges of segments and
 * `refused-…` records.
 *
 * All of them together stay below a ceiling, past which nothing more is kept. Belongs to one thread
 * at a time: recovery's, then the reader's.
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
    uint64_t bytes; /* of the files that are there */
};

/* Whether a file of the spool's directory is one of these. */
bool fp_spool_aside_is_name(const char *name);

/* Where damage was met. */
struct fp_spool_aside_range {
    int file; /* open segment */
    uint64_t number;
    uint64_t offset;
    uint64_t len;
};

/*
 * Copies a damaged range to a file of its own and counts it; a range that has its file already is
 * not counted again. What cannot be copied is counted all the same.
 */
void fp_spool_aside_damaged(struct fp_spool_aside *aside, const struct fp_spool_aside_range *range);

/* What follows the name of a refused record in the name of the file that says why. */
#define FP_ASIDE_REASON ".reason"

/* The sequence in the name of a refused record. False when the file is another. */
bool fp_spool_aside_parse_refused(const char *name, uint64_t *sequence) FP_MUST_CHECK;

/* Keeps a record under its sequence number, and the reason beside it. False with errno (ENOSPC: the
 * ceiling). */
bool fp_spool_aside_refused(struct fp_spool_aside *aside, uint64_t sequence, struct fp_str record,
                            struct fp_str reason) FP_MUST_CHECK;

#endif
