/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealer internals: the state of the work on one connection, and its steps. All of it belongs to
 * one thread.
 *
 * Functions return what the store's connection returned. Any result except FP_STORE_OK: the open
 * transaction is rolled back, or will be when the connection closes.
 */
#ifndef FP_SEALER_INTERNAL_H
#define FP_SEALER_INTERNAL_H

#include "collector/base/clock.h"
#include "collector/pack/pack.h"
#include "collector/sealer/ladder.h"
#include "collector/sealer/sealing.h"
#include "collector/store/connection.h"

enum fp_span { FP_SPAN_HOUR, FP_SPAN_4_HOURS, FP_SPAN_DAY, FP_SPAN_8_DAYS, FP_SPAN_COUNT };

enum {
    /* Packs of a batch: the entries to add, or those to add up. A batch takes twice as much, its
     * sums included, and a single group may be larger. */
    FP_SEAL_BATCH_BYTES = 2 * 1024 * 1024,
    /* Sums of cohorts that wait to be added to the database. */
    FP_SEAL_COHORT_BYTES = 8 * 1024 * 1024,
    /* Groups of a batch, and flushes of a seal: both are lists in statements. */
    FP_SEAL_GROUPS_MAX = 4096,
    FP_SEAL_FLUSHES_MAX = 2048,
    /* Entries that an hour gathers before its end. */
    FP_SEAL_SIZE = 500000,
    /* Weight of a flush beside its entries: its rows cost readers as much as this many entries. */
    FP_SEAL_FLUSH_SIZE = 512,
    /* Time from the end of a block to its sealing: flushes of that hour may still be on their way,
     * and each that comes later is sealed on its own. Twelve times flush.max_window. */
    FP_SEAL_DELAY_S = 120,
};

/* A block of time. */
struct fp_block {
    enum fp_span span;
    int64_t bucket_us; /* its start, epoch */
};

int64_t fp_span_us(enum fp_span span);

/* Returns the block of this span that holds a moment. */
struct fp_block fp_block_of(enum fp_span span, int64_t moment_us);

/* Returns the name of the tables of a span's rows without the kind: hours or days. */
const char *fp_span_place(enum fp_span span);

/* The known facts of a query's groups before their entries are read. */
struct fp_plan_item {
    enum fp_pack_kind kind;
    int64_t group_id;
    size_t rows;
    size_t entries;
};

struct fp_plan {
    struct fp_plan_item *items; /* owned; by kind, then group */
    size_t count;
};

struct fp_group {
    int64_t id;
    struct fp_pack pack;
};

/* Groups of one kind, ascending by id. */
struct fp_groups {
    enum fp_pack_kind kind;
    struct fp_group *items; /* owned */
    size_t count;
    size_t cap;
    size_t rows; /* that were read */
};

/* ---- sql.c: statements are built in sealing->sql ---- */

/* Empties sealing->sql and returns it. */
struct fp_buf *fp_seal_sql(struct fp_sealing *sealing);

/* Append the columns of a kind, a moment as a literal, and the ids of plan items as one. */
void fp_sql_columns(struct fp_buf *sql, const struct fp_pack_shape *shape);
void fp_sql_time(struct fp_buf *sql, int64_t moment_us);
void fp_sql_ids(struct fp_buf *sql, const struct fp_plan_item *items, size_t count);

/* Runs the statement with parameters; on FP_STORE_OK the caller clears *rows. */
enum fp_store_result fp_seal_query(struct fp_sealing *sealing, const char *const *values, int count,
                                   PGresult **rows) FP_MUST_CHECK;

/* Runs the statement, which must change `expected` rows. */
enum fp_store_result fp_seal_change(struct fp_sealing *sealing, const char *const *values,
                                    int count, size_t expected) FP_MUST_CHECK;

/* Reads a number in a result. */
int64_t fp_seal_number(const PGresult *rows, int row, int column);

/* ---- groups.c ---- */

/* Runs a query of (kind, group_id, rows, entries), ordered by kind and group. */
enum fp_store_result fp_plan_read(struct fp_sealing *sealing, const char *const *values, int count,
                                  struct fp_plan *plan) FP_MUST_CHECK;
void fp_plan_release(struct fp_plan *plan);

/* Returns where the batch ends that begins with items[0]; not 0. A batch is of one kind. */
size_t fp_plan_batch(const struct fp_plan_item *items, size_t count);

/* Returns the bytes of an entry. */
size_t fp_seal_entry_bytes(const struct fp_pack_shape *shape);

/* Runs a query of (group_id, columns of the kind), ordered by group, and merges the rows of each
 * group. Reads as many rows as the items say, or refuses. */
enum fp_store_result fp_groups_read(struct fp_sealing *sealing, const struct fp_plan_item *items,
                                    size_t count, struct fp_groups *groups) FP_MUST_CHECK;

/* A group whose pack belongs to somebody else. */
struct fp_group_ref {
    int64_t id;
    const struct fp_pack *pack;
};

/* Writes a row per group into a block. */
enum fp_store_result fp_groups_write(struct fp_sealing *sealing, const struct fp_block *block,
                                     const struct fp_group_ref *groups, size_t count) FP_MUST_CHECK;

/* Adds a group at the end and takes the pack over. False: no memory; the pack is unchanged. */
bool fp_groups_add(struct fp_groups *groups, int64_t id, struct fp_pack *pack) FP_MUST_CHECK;
void fp_groups_release(struct fp_groups *groups);

/* ---- addition.c ---- */

/* Adds entries to the rows of a block: merges them with each group's row, if there is one. */
enum fp_store_result fp_groups_add_to(struct fp_sealing *sealing, const struct fp_block *block,
                                      const struct fp_groups *groups,
                                      struct fp_seal_report *report) FP_MUST_CHECK;

/* ---- cohorts.c ---- */

enum { FP_COHORT_LEVELS_MAX = 16 };

/* A cohort and the entries of its segments that wait for the database. */
struct fp_cohort {
    int64_t id;
    unsigned level;
    unsigned kept;      /* bits of dimensions */
    int64_t segment_id; /* of one of its segments */
    struct fp_ladder waiting;
};

/* The cohorts of some segments. */
struct fp_cohorts {
    struct fp_cohort *items; /* owned; ascending by id */
    size_t count;
    int64_t *segment_ids; /* owned; ascending */
    int64_t *cohort_ids;  /* owned; level_count of each segment */
    size_t segment_count;
    size_t level_count;
    size_t waiting; /* entries */
};

/* Reads the levels that sum this hour up and the segments of the plan, and touches the rows of
 * their cohorts. */
enum fp_store_result fp_cohorts_read(struct fp_sealing *sealing, int64_t hour_us,
                                     const struct fp_plan *plan,
                                     struct fp_cohorts *cohorts) FP_MUST_CHECK;
void fp_cohorts_release(struct fp_cohorts *cohorts);

/* Adds a segment's entries to those that wait in its cohorts. False: no memory. */
bool fp_cohorts_add(struct fp_cohorts *cohorts, const struct fp_group *segment) FP_MUST_CHECK;

/* Moves all that waits into groups. False: no memory. */
bool fp_cohorts_take(struct fp_cohorts *cohorts, struct fp_groups *groups) FP_MUST_CHECK;

/* ---- seal.c, block.c ---- */

/* The data that a step works on. */
struct fp_seal_unit {
    const char *site;
    struct fp_block block; /* an hour to seal, or a longer block to build */
    int64_t size;          /* of an hour: the most to take at once */
};

/* Seals whole flushes of an hour: as many as the size allows, and at least one. */
enum fp_store_result fp_seal_hour(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                  struct fp_seal_report *report) FP_MUST_CHECK;

/* Builds a block from the blocks of the next shorter span. */
enum fp_store_result fp_seal_block(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                   struct fp_seal_report *report) FP_MUST_CHECK;

/* ---- the state ---- */

enum { FP_SEAL_FAILED_MAX = 1024, FP_SEAL_SUMS_MAX = 1024 };

/* A unit that failed and has not worked since. */
struct fp_seal_failed {
    uint64_t key;
    unsigned times;
    int64_t until_us; /* left out until then, by the clock of fp_sealing_step */
};

/* The size of an hour's own sums. */
struct fp_seal_sum {
    uint64_t key; /* of the unit */
    int64_t entries;
};

struct fp_sealing {
    struct fp_store *store; /* not owned */
    struct fp_pg *pg;       /* the store's */
    struct fp_buf sql;
    struct fp_buf bytes; /* copy data on its way */
    int64_t now_us;      /* of the step */
    uint64_t connection; /* number of the connection that read the lists */
    PGresult *hours;     /* owned: what is or will be due, NULL: not read */
    PGresult *blocks;    /* owned: the same */
    int next_hour;       /* the first that was not looked at */
    int next_block;
    struct fp_seal_failed failed[FP_SEAL_FAILED_MAX]; /* a later one replaces the first due */
    size_t failed_count;
    struct fp_seal_sum sums[FP_SEAL_SUMS_MAX]; /* by key; a later one takes the place */
};

#endif
