/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests that read or change the spool's files directly: whole files in memory.
 */
#ifndef FP_TESTS_SPOOL_FILES_H
#define FP_TESTS_SPOOL_FILES_H

#include "test.h"

struct file_copy {
    char path[512];
    uint8_t *bytes;
    size_t len;
};

static inline struct file_copy load_file(const char *path)
{
    struct file_copy copy = {.len = 0};
    snprintf(copy.path, sizeof(copy.path), "%s", path);
    int file = open(path, O_RDONLY);
    struct stat status;
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &status), 0);
    copy.len = (size_t)status.st_size;
    copy.bytes = malloc(copy.len + 1);
    assert_int_equal(read(file, copy.bytes, copy.len), copy.len);
    close(file);
    return copy;
}

static inline void store_bytes(const char *path, const uint8_t *bytes, size_t len)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, len), len);
    close(file);
}

/* The whole directory, to start several times from the same files. */
enum { SNAPSHOT_MAX = 64 };

struct snapshot {
    struct file_copy files[SNAPSHOT_MAX];
    size_t count;
};

static inline void take_snapshot(const struct fixture *fixture, struct snapshot *snapshot)
{
    snapshot->count = 0;
    char path[512];
    while (find_file(fixture, "", "", snapshot->count + 2, path)) { /* past . and .. */
        assert_true(snapshot->count < SNAPSHOT_MAX);
        snapshot->files[snapshot->count++] = load_file(path);
    }
}

static inline void restore_snapshot(const struct fixture *fixture, const struct snapshot *snapshot)
{
    char path[512];
    while (find_file(fixture, "", "", 2, path))
        assert_int_equal(unlink(path), 0);
    for (size_t i = 0; i < snapshot->count; i++)
        store_bytes(snapshot->files[i].path, snapshot->files[i].bytes, snapshot->files[i].len);
}

static inline void free_snapshot(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++)
        free(snapshot->files[i].bytes);
}

/* Returns the n-th segment of a snapshot, from 0. */
static inline struct file_copy *segment_of(struct snapshot *snapshot, size_t at)
{
    for (size_t i = 0; i < snapshot->count; i++)
        if (strstr(snapshot->files[i].path, ".seg") != NULL && at-- == 0)
            return &snapshot->files[i];
    fail_msg("no such segment");
    abort();
}

/* Returns the offset of the n-th record of a segment, from 0; computed from the records' lengths
 * alone. */
static inline size_t offset_of(uint64_t first_number, uint64_t number)
{
    uint8_t bytes[RECORD_MAX_LEN];
    size_t offset = FP_SPOOL_SEGMENT_HEADER_LEN;
    for (uint64_t n = first_number; n < number; n++)
        offset += (size_t)fp_spool_frame_len(make_record(n, bytes));
    return offset;
}

#endif
