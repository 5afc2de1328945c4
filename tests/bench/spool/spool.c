/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durable records of 20 kB: the spool beside SQLite (WAL, synchronous=FULL), with the same group
 * size, in the same directory, in turn.
 *
 *   spool_bench DIRECTORY
 *
 * A round appends groups of one size, each durable before the next begins, for a fixed time.
 * Medians of five rounds, in records per second.
 */
#include "collector/spool/spool.h"
#include "collector/base/clock.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { RECORD_LEN = 20000, ROUNDS = 5, ROUND_MS = 400 };

static uint8_t record[RECORD_LEN];

static void die(const char *what, const char *why)
{
    fprintf(stderr, "spool_bench: %s: %s\n", what, why);
    exit(2);
}

/* How many appends of a group are done. */
struct group {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned told;
};

static void tell(void *context, enum fp_spool_error result)
{
    struct group *group = context;
    if (result != FP_SPOOL_OK)
        die("append", fp_spool_error_text(result));
    pthread_mutex_lock(&group->lock);
    group->told++;
    pthread_cond_signal(&group->moved);
    pthread_mutex_unlock(&group->lock);
}

static void append_group(struct fp_spool *spool, unsigned size)
{
    struct group group = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    for (unsigned i = 0; i < size; i++) {
        enum fp_spool_error error = fp_spool_append(spool, record, RECORD_LEN, tell, &group);
        if (error != FP_SPOOL_OK)
            die("append", fp_spool_error_text(error));
    }
    pthread_mutex_lock(&group.lock);
    while (group.told < size)
        pthread_cond_wait(&group.moved, &group.lock);
    pthread_mutex_unlock(&group.lock);
}

static double run_spool(const char *path, unsigned size)
{
    const struct fp_spool_settings settings = {
        .path = path,
        .max_bytes = UINT64_C(4) << 30,
        .segment_bytes = UINT64_C(16) << 20,
        .keep_us = 0,
    };
    struct fp_metrics *metrics = fp_metrics_create();
    struct fp_spool *spool = NULL;
    if (metrics == NULL || fp_spool_open(&settings, metrics, &spool, NULL) != FP_SPOOL_OK)
        die(path, "the spool cannot be opened");
    uint64_t count = 0;
    int64_t start_us = fp_clock_monotonic_us();
    int64_t spent_us;
    do {
        append_group(spool, size);
        count += size;
        spent_us = fp_clock_monotonic_us() - start_us;
    } while (spent_us < ROUND_MS * FP_US_PER_MS);
    fp_spool_close(spool);
    fp_metrics_free(metrics);
    return (double)count * 1e6 / (double)spent_us;
}

static void execute(sqlite3 *database, const char *statement)
{
    if (sqlite3_exec(database, statement, NULL, NULL, NULL) != SQLITE_OK)
        die(statement, sqlite3_errmsg(database));
}

static void insert_group(sqlite3 *database, sqlite3_stmt *insert, unsigned size)
{
    execute(database, "begin immediate");
    for (unsigned i = 0; i < size; i++) {
        if (sqlite3_bind_blob(insert, 1, record, RECORD_LEN, SQLITE_STATIC) != SQLITE_OK ||
            sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
            die("insert", sqlite3_errmsg(database));
    }
    execute(database, "commit");
}

static double run_sqlite(const char *path, unsigned size)
{
    char name[512];
    sqlite3 *database;
    sqlite3_stmt *insert;
    if (mkdir(path, 0700) != 0)
        die(path, strerror(errno));
    snprintf(name, sizeof(name), "%s/records.db", path);
    if (sqlite3_open(name, &database) != SQLITE_OK)
        die(name, sqlite3_errmsg(database));
    execute(database, "pragma journal_mode=wal");
    execute(database, "pragma synchronous=full");
    execute(database, "create table record (sequence integer primary key, bytes blob)");
    if (sqlite3_prepare_v2(database, "insert into record (bytes) values (?)", -1, &insert, NULL) !=
        SQLITE_OK)
        die("insert", sqlite3_errmsg(database));
    uint64_t count = 0;
    int64_t start_us = fp_clock_monotonic_us();
    int64_t spent_us;
    do {
        insert_group(database, insert, size);
        count += size;
        spent_us = fp_clock_monotonic_us() - start_us;
    } while (spent_us < ROUND_MS * FP_US_PER_MS);
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return (double)count * 1e6 / (double)spent_us;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

/* One round in a directory of its own, which is removed. */
static double run(double (*round)(const char *path, unsigned size), const char *directory,
                  unsigned size)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/spool-bench", directory);
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS); /* of a run that was broken off */
    double rate = round(path, size);
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return rate;
}

static int by_rate(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    static const unsigned sizes[] = {1, 16, 128};
    if (argc != 2)
        die("usage", "spool_bench DIRECTORY");
    for (size_t i = 0; i < RECORD_LEN; i++)
        record[i] = (uint8_t)(i * 2654435761U >> 13);
    printf("%5s %12s %12s %6s\n", "group", "spool", "SQLite", "ratio");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        double ours[ROUNDS];
        double theirs[ROUNDS];
        for (size_t at = 0; at < ROUNDS; at++) {
            ours[at] = run(run_spool, argv[1], sizes[i]);
            theirs[at] = run(run_sqlite, argv[1], sizes[i]);
        }
        qsort(ours, ROUNDS, sizeof(ours[0]), by_rate);
        qsort(theirs, ROUNDS, sizeof(theirs[0]), by_rate);
        printf("%5u %12.0f %12.0f %6.2f\n", sizes[i], ours[ROUNDS / 2], theirs[ROUNDS / 2],
               ours[ROUNDS / 2] / theirs[ROUNDS / 2]);
    }
    return 0;
}
