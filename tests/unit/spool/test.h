/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the unit tests of the spool: a directory per test, records with known content, and
 * waiting for a commit.
 */
#ifndef FP_TESTS_SPOOL_TEST_H
#define FP_TESTS_SPOOL_TEST_H

#include "tests/unit/unit.h"

#include "collector/base/clock.h"
#include "collector/spool/internal.h"
#include "collector/spool/segment.h"
#include "tests/unit/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

/* A longer wait counts as failed. */
#define PATIENCE_US (20 * FP_US_PER_S)

struct fixture {
    char path[64];
    struct fp_metrics *metrics;
    struct fp_spool *spool;
    const struct fp_file_ops *ops;
    struct fp_spool_settings settings;
};

static inline int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    make_test_directory(fixture->path, sizeof(fixture->path), "spool");
    fixture->metrics = fp_metrics_create();
    fixture->ops = fp_file_ops_real();
    fixture->settings = (struct fp_spool_settings){
        .path = fixture->path,
        .max_bytes = 64 << 20,
        .segment_bytes = 64 << 10,
        .keep_us = FP_US_PER_HOUR,
    };
    *state = fixture;
    return 0;
}

static inline void close_spool(struct fixture *fixture)
{
    fp_spool_close(fixture->spool);
    fixture->spool = NULL;
}

static inline int remove_entry(const char *path, const struct stat *status, int type,
                               struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline int tear_down(void **state)
{
    struct fixture *fixture = *state;
    close_spool(fixture);
    fp_metrics_free(fixture->metrics);
    nftw(fixture->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(fixture);
    return 0;
}

static inline enum fp_spool_error try_open(struct fixture *fixture)
{
    return fp_spool_open_on(fixture->ops, &fixture->settings, fixture->metrics, &fixture->spool,
                            NULL);
}

static inline void open_spool(struct fixture *fixture)
{
    assert_int_equal(try_open(fixture), FP_SPOOL_OK);
}

static inline void reopen_spool(struct fixture *fixture)
{
    close_spool(fixture);
    open_spool(fixture);
}

/* A waiter for some appends. */
struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned told;
    unsigned committed;
    enum fp_spool_error last;
};

#define WAITER_INIT {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER}

static inline void tell_waiter(void *context, enum fp_spool_error result)
{
    struct waiter *waiter = context;
    pthread_mutex_lock(&waiter->lock);
    waiter->told++;
    waiter->committed += result == FP_SPOOL_OK;
    waiter->last = result;
    pthread_cond_signal(&waiter->moved);
    pthread_mutex_unlock(&waiter->lock);
}

static inline void wait_until_told(struct waiter *waiter, unsigned told)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_US / FP_US_PER_S;
    int error = 0;
    pthread_mutex_lock(&waiter->lock);
    while (waiter->told < told && error == 0)
        error = pthread_cond_timedwait(&waiter->moved, &waiter->lock, &until);
    pthread_mutex_unlock(&waiter->lock);
    assert_int_equal(error, 0);
}

/* Makes the bytes of the test's n-th record: text that names n, and a filler that depends on it. */
enum { RECORD_MAX_LEN = 4096 };

static inline size_t make_record(uint64_t n, uint8_t bytes[RECORD_MAX_LEN])
{
    size_t len = (size_t)(n * 37 % 1000);
    snprintf((char *)bytes, RECORD_MAX_LEN, "%016" PRIx64, n);
    for (size_t i = 0; i < len; i++)
        bytes[16 + i] = (uint8_t)(n + i * 7);
    return 16 + len;
}

static inline uint64_t record_number(const struct fp_spool_record *record)
{
    uint8_t expected[RECORD_MAX_LEN];
    assert_true(record->len >= 16);
    char digits[17] = {0};
    memcpy(digits, record->bytes, 16);
    uint64_t n = strtoull(digits, NULL, 16);
    assert_int_equal(record->len, make_record(n, expected));
    assert_memory_equal(record->bytes, expected, record->len);
    return n;
}

/* Appends the n-th record and waits. Returns the result. */
static inline enum fp_spool_error append_record(struct fp_spool *spool, uint64_t n)
{
    uint8_t bytes[RECORD_MAX_LEN];
    struct waiter waiter = WAITER_INIT;
    enum fp_spool_error error =
        fp_spool_append(spool, bytes, make_record(n, bytes), tell_waiter, &waiter);
    if (error != FP_SPOOL_OK)
        return error;
    wait_until_told(&waiter, 1);
    return waiter.last;
}

/* Appends records first..last and waits until they are committed. */
static inline void append_range(struct fp_spool *spool, uint64_t first, uint64_t last)
{
    struct waiter waiter = WAITER_INIT;
    for (uint64_t n = first; n <= last; n++) {
        uint8_t bytes[RECORD_MAX_LEN];
        assert_int_equal(fp_spool_append(spool, bytes, make_record(n, bytes), tell_waiter, &waiter),
                         FP_SPOOL_OK);
    }
    wait_until_told(&waiter, (unsigned)(last - first + 1));
    assert_int_equal(waiter.committed, last - first + 1);
}

/* Reads all records after a position. Returns the test's numbers of them, in order. */
static inline size_t read_numbers(struct fp_spool *spool, uint64_t after, uint64_t *numbers,
                                  size_t max)
{
    size_t count = 0;
    struct fp_spool_batch batch;
    do {
        assert_int_equal(fp_spool_read(spool, after, 4000, 100, &batch), FP_SPOOL_OK);
        for (size_t i = 0; i < batch.count; i++) {
            assert_true(batch.records[i].sequence > after);
            assert_true(count < max);
            after = batch.records[i].sequence;
            numbers[count++] = record_number(&batch.records[i]);
        }
    } while (batch.count > 0);
    return count;
}

/* Fails unless the records after a position are exactly first..last, in order. */
static inline void expect_range(struct fp_spool *spool, uint64_t after, uint64_t first,
                                uint64_t last)
{
    static uint64_t numbers[20000];
    size_t count = read_numbers(spool, after, numbers, 20000);
    assert_int_equal(count, last + 1 - first);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(numbers[i], first + i);
}

/* Finds the path of the n-th file (from 0, by name) of the directory whose name has this beginning
 * and end. False if none. */
static inline bool find_file(const struct fixture *fixture, const char *prefix, const char *suffix,
                             size_t at, char path[512])
{
    struct dirent **entries;
    int count = scandir(fixture->path, &entries, NULL, alphasort);
    assert_true(count >= 0);
    bool found = false;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t len = strlen(name);
        bool matches = strncmp(name, prefix, strlen(prefix)) == 0 && len >= strlen(suffix) &&
                       strcmp(name + len - strlen(suffix), suffix) == 0;
        if (matches && at-- == 0) {
            snprintf(path, 512, "%s/%s", fixture->path, name);
            found = true;
        }
        free(entries[i]);
    }
    free(entries);
    return found;
}

static inline size_t count_files(const struct fixture *fixture, const char *prefix,
                                 const char *suffix)
{
    char path[512];
    size_t count = 0;
    while (find_file(fixture, prefix, suffix, count, path))
        count++;
    return count;
}

static inline size_t known_segments(const struct fixture *fixture)
{
    pthread_mutex_lock(&fixture->spool->lock);
    size_t count = fixture->spool->table.count;
    pthread_mutex_unlock(&fixture->spool->lock);
    return count;
}

/* Waits until the spool has that many segments, and checks that there are as many files. */
static inline void wait_for_segments(const struct fixture *fixture, size_t count)
{
    int64_t until_us = fp_clock_monotonic_us() + PATIENCE_US;
    /* A segment leaves the table before its file goes. */
    while (known_segments(fixture) != count || count_files(fixture, "", ".seg") != count) {
        if (fp_clock_monotonic_us() > until_us) {
            assert_int_equal(known_segments(fixture), count);
            assert_int_equal(count_files(fixture, "", ".seg"), count);
        }
        sched_yield();
    }
}

static inline int64_t metric(const struct fixture *fixture, enum fp_spool_metric metric)
{
    const struct fp_metric_set *set = fp_metrics_join(fixture->metrics, &fp_spool_metrics);
    assert_non_null(set);
    return fp_metrics_get(set, metric);
}

#endif
