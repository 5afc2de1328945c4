/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scan: iterates over the records of one segment, past damaged bytes between them.
 *
 * Recovery and the reader use it. Memory: a window of 256 KiB, more only for a record that is
 * longer. Belongs to one thread at a time.
 */
#ifndef FP_SPOOL_SCAN_H
#define FP_SPOOL_SCAN_H

#include "collector/base/base.h"
#include "collector/spool/file_ops.h"

struct fp_spool_scan {
    const struct fp_file_ops *ops;
    int file;                  /* not owned */
    struct fp_uuid segment_id; /* of the file */
    uint64_t offset;           /* of the next item */
    uint64_t end;              /* the scan reads nothing from here on; the owner may raise it */
    uint64_t sequence;         /* of the last record; the next one must be higher */
    uint64_t unreadable_bytes; /* that the disk did not return; they count as damaged */

    uint8_t *window; /* owned: bytes of the file from window_offset */
    size_t window_cap;
    size_t window_len;
    uint64_t window_offset;
};

enum fp_spool_scan_found {
    FP_SPOOL_SCAN_RECORD,  /* a valid record */
    FP_SPOOL_SCAN_DAMAGED, /* invalid bytes before a valid record */
    FP_SPOOL_SCAN_END,     /* no record up to the end */
    FP_SPOOL_SCAN_MEMORY,  /* no memory for the window */
};

/* A record, a damaged range, or the bytes between the last record and the end. */
struct fp_spool_scan_item {
    uint64_t offset;
    uint64_t len;         /* in the file */
    uint64_t sequence;    /* a record's */
    const uint8_t *bytes; /* a record's payload; until the next call */
    size_t bytes_len;
    uint64_t garbage_len; /* at the end: up to the last byte that is not zero */
};

/* Begins at `offset` of a file, after record `sequence` (0: none). Before the first time the scan
 * is all zero except `ops`; its window is kept from file to file. The owner sets `end`. */
void fp_spool_scan_begin(struct fp_spool_scan *scan, int file, const struct fp_uuid *segment_id,
                         uint64_t offset, uint64_t sequence);

/* Finds the next item and moves past it. At the end it stays after the last record. */
enum fp_spool_scan_found fp_spool_scan_next(struct fp_spool_scan *scan,
                                            struct fp_spool_scan_item *item) FP_MUST_CHECK;

/* Frees the window. */
void fp_spool_scan_release(struct fp_spool_scan *scan);

#endif
