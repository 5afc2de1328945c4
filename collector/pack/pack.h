/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack: the entries of one packed row. A packed row holds the facts of a group in a bucket as
 * parallel arrays, sorted by key: one array per column (docs/internals/schema.md). Flushes append
 * such rows, the sealer merges them.
 *
 * Keys may repeat, and all readers add entries up: a count that does not fit its column goes on in
 * a further entry with the same key. Any thread; a pack belongs to one.
 */
#ifndef FP_PACK_PACK_H
#define FP_PACK_PACK_H

#include "collector/base/buf.h"
#include "collector/rollup/rollup.h"

/* The kinds of facts, each with its tables KIND_recent, KIND_hours and KIND_days. */
enum fp_pack_kind {
    FP_PACK_TOTAL,
    FP_PACK_FRAME,
    FP_PACK_FRAME_MARKER,
    FP_PACK_STACK,
    FP_PACK_TIMING,
    FP_PACK_TIMING_BIN,
    FP_PACK_MEASURE,
    FP_PACK_MEASURE_FRAME,
    FP_PACK_KIND_COUNT
};

enum {
    FP_PACK_COLUMNS_MAX = 10,
    /* Entries of a pack. PostgreSQL stores no row of 1 GiB; an entry has at most 56 bytes. */
    FP_PACK_ENTRIES_MAX = 16 * 1024 * 1024
};

/* A column's type, and what merging does with two entries of one key. */
enum fp_pack_type {
    FP_PACK_KEY_ID,     /* bigint[]; part of the key */
    FP_PACK_KEY_NUMBER, /* smallint[]; part of the key */
    FP_PACK_COUNT,      /* integer[], from int64_t; added as far as the sum fits */
    FP_PACK_SUM,        /* bigint[]; added as far as the sum fits */
    FP_PACK_SQUARES,    /* real[], from double; added, at most FLT_MAX */
    FP_PACK_DOUBLE,     /* double precision[]; added */
    FP_PACK_LEAST,      /* bigint[]; the smaller */
    FP_PACK_GREATEST,   /* bigint[]; the greater */
    FP_PACK_TYPE_COUNT
};

struct fp_pack_column {
    const char *name;
    enum fp_pack_type type;
    size_t offset; /* of the member in the rollup's row */
    /* Where an earlier version wrote a row, it has null here. This is the name of the column,
     * before this one and of the same size, whose values stand for the missing ones; "": zeros do.
     * NULL: no version lacks the column. */
    const char *like;
};

/* Key columns come first. */
struct fp_pack_shape {
    const char *name; /* of the kind: frame, … */
    const struct fp_pack_column *columns;
    size_t column_count;
    size_t key_count;
    enum fp_rollup_table source;
    bool may_vanish; /* an entry whose counts and sums are all 0 says nothing: merging drops it */
};

const struct fp_pack_shape *fp_pack_shape(enum fp_pack_kind kind);

/* Returns the size of an element in bytes, in memory as in the database. */
size_t fp_pack_type_size(enum fp_pack_type type);

struct fp_pack {
    const struct fp_pack_shape *shape;
    size_t count; /* entries */
    size_t cap;
    /* Owned arrays in the host's byte order. They hold an element more than cap: merging puts there
     * what stands for an absent entry. */
    void *columns[FP_PACK_COLUMNS_MAX];
};

/* Initialises an empty pack. Release it with fp_pack_release. */
void fp_pack_init(struct fp_pack *pack, const struct fp_pack_shape *shape);
void fp_pack_release(struct fp_pack *pack);

/* Drops all entries and keeps the memory. */
void fp_pack_clear(struct fp_pack *pack);

/* Makes room for `more` further entries. False: no memory or too many; the pack is unchanged. */
bool fp_pack_reserve(struct fp_pack *pack, size_t more) FP_MUST_CHECK;

/* Appends the entry of a row of the rollup table shape->source; rows come ascending by key. False:
 * no memory or too many entries; the pack is unchanged. */
bool fp_pack_append(struct fp_pack *pack, const void *row) FP_MUST_CHECK;

/* Sets out to the entries of both, ascending by key, merging entries of one key, without those that
 * vanish. out is neither of
 * them. False: no memory or too many entries; out is then empty. */
bool fp_pack_merge(const struct fp_pack *left, const struct fp_pack *right,
                   struct fp_pack *out) FP_MUST_CHECK;

/* Returns the sum of a column of counts or sums, modulo 2^64; 0 for other columns. No step from the
 * rollup to the database changes it. */
uint64_t fp_pack_sum(const struct fp_pack *pack, size_t column);

/* Appends the columns, or one of them, as fields of a COPY BINARY tuple: one array each. The caller
 * checks out->failed. */
void fp_pack_encode(const struct fp_pack *pack, struct fp_buf *out);
void fp_pack_encode_column(const struct fp_pack *pack, size_t column, struct fp_buf *out);

/*
 * Appends the entries of a tuple's fields, which begin at *bytes: one array per column, all of one
 * length. Moves *bytes behind them. False: not what fp_pack_encode writes, or no memory; the pack
 * is then unchanged.
 */
bool fp_pack_decode(struct fp_pack *pack, const uint8_t **bytes, const uint8_t *end) FP_MUST_CHECK;

#endif
