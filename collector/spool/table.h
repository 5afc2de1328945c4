/*
 * Table: what the spool knows of its segment files, in their order. No files are touched here.
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
    uint64_t last_sequence;  /* of the last committed record, 0 when it holds none */
    uint64_t end;            /* where committed records end in the file */
    uint64_t file_bytes;     /* what the file takes on disk */
    bool kept;               /* the disk did not show all of it: not deleted by this process */
    bool ends_previous;    /* refused bytes follow the records of the one before: this header alone
                              says so, so this process does not delete it while it is empty */
    int64_t trimmed_at_us; /* all its records are done with since then, on the monotonic clock */
};

struct fp_spool_table {
    struct fp_spool_table_segment *segments; /* owned; by number, the newest last */
    size_t count;
    size_t cap;
    uint64_t file_bytes; /* of all of them */
};

/* Values of trimmed_at_us for a segment with records to read, and for one that never had any. */
#define FP_SPOOL_TABLE_NOT_TRIMMED INT64_MAX
#define FP_SPOOL_TABLE_EMPTY INT64_MIN

/* Past so many files the spool counts as full. */
#define FP_SPOOL_TABLE_MAX 65536

/* Adds the newest segment, not trimmed. False when there are too many or no memory. */
bool fp_spool_table_add(struct fp_spool_table *table,
                        const struct fp_spool_table_segment *segment) FP_MUST_CHECK;

/* The newest segment, NULL when there is none. The pointer lives until the table changes. */
struct fp_spool_table_segment *fp_spool_table_newest(struct fp_spool_table *table);

/* The segment of that number or the first after it, NULL when there is none. */
struct fp_spool_table_segment *fp_spool_table_from(struct fp_spool_table *table, uint64_t number);

/* The first segment with a record after `sequence`, NULL when there is none. */
struct fp_spool_table_segment *fp_spool_table_after(struct fp_spool_table *table,
                                                    uint64_t sequence);

/* The sequence of the last record in any file, 0 when there is none. */
uint64_t fp_spool_table_last_sequence(const struct fp_spool_table *table);

/* Sets what a segment's file takes on disk. */
void fp_spool_table_resize(struct fp_spool_table *table, struct fp_spool_table_segment *segment,
                           uint64_t file_bytes);

/* Notes which segments lie wholly at or before position, the newest left out. */
void fp_spool_table_trim(struct fp_spool_table *table, uint64_t position, int64_t now_us);

/*
 * The segment that was trimmed first, NULL when none was; never the newest, whose header keeps
 * sequence numbers from repeating.
 */
struct fp_spool_table_segment *fp_spool_table_first_trimmed(struct fp_spool_table *table);

/* Forgets the segment of that number. */
void fp_spool_table_remove(struct fp_spool_table *table, uint64_t number);

void fp_spool_table_release(struct fp_spool_table *table);

#endif
