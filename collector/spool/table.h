/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table: the spool's segment files, in order. Touches no files.
 *
 * Not locked: the spool's lock guards its one table.
 */
#ifndef FP_SPOOL_TABLE_H
#define FP_SPOOL_TABLE_H

#include "collector/base/base.h"

struct fp_spool_table_segment {
    uint64_t number;
    struct fp_uuid id;
    uint64_t first_sequence; /* no record has a lower one */
    uint64_t tail_before;    /* the last committed record before this file, 0 if none */
    uint64_t last_sequence;  /* of the last committed record, 0 if none */
    uint64_t end;            /* where committed records end in the file */
    uint64_t file_bytes;     /* length of the file on disk */
    bool kept;               /* not all of it is readable: this process does not delete it */
    bool ends_previous;      /* refused bytes follow the records of the previous one, and only this
                                header says so: this process does not delete it while it is empty */
    int64_t trimmed_at_us;   /* when all its records were done, on the monotonic clock */
};

struct fp_spool_table {
    struct fp_spool_table_segment *segments; /* owned; by number, the newest last */
    size_t count;
    size_t cap;
    uint64_t file_bytes; /* of all of them */
};

/* Values of trimmed_at_us for a segment with records to read, and for an empty one. */
#define FP_SPOOL_TABLE_NOT_TRIMMED INT64_MAX
#define FP_SPOOL_TABLE_EMPTY INT64_MIN

/* With this many files the spool counts as full. */
#define FP_SPOOL_TABLE_MAX 65536

/* Adds the newest segment, not trimmed. Its number is the highest. False if there are too many, or
 * memory is out. */
bool fp_spool_table_add(struct fp_spool_table *table,
                        const struct fp_spool_table_segment *segment) FP_MUST_CHECK;

/* Returns the newest segment, NULL if none. The pointer is valid until the table changes. */
struct fp_spool_table_segment *fp_spool_table_newest(struct fp_spool_table *table);

/* Returns the segment with this number or the first one after it, NULL if none. */
struct fp_spool_table_segment *fp_spool_table_from(struct fp_spool_table *table, uint64_t number);

/* Returns the first segment with a record after `sequence`, NULL if none. */
struct fp_spool_table_segment *fp_spool_table_after(struct fp_spool_table *table,
                                                    uint64_t sequence);

/* Returns the sequence number of the last record in the files, 0 if none. */
uint64_t fp_spool_table_last_sequence(const struct fp_spool_table *table);

/* Sets the length of a segment's file. */
void fp_spool_table_resize(struct fp_spool_table *table, struct fp_spool_table_segment *segment,
                           uint64_t file_bytes);

/* Marks segments as trimmed whose records are all at or before position. Never the newest. */
void fp_spool_table_trim(struct fp_spool_table *table, uint64_t position, int64_t now_us);

/* Takes the mark off segments with records after position. */
void fp_spool_table_untrim(struct fp_spool_table *table, uint64_t position);

/*
 * Returns the segment that was trimmed first, NULL if none. Never the newest, whose header keeps
 * sequence numbers from repeating.
 */
struct fp_spool_table_segment *fp_spool_table_first_trimmed(struct fp_spool_table *table);

/* Removes the segment with this number. */
void fp_spool_table_remove(struct fp_spool_table *table, uint64_t number);

void fp_spool_table_release(struct fp_spool_table *table);

#endif
