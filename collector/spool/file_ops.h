/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations: everything that the spool needs from a file system, as a table that tests
 * replace by one that fails or crashes.
 *
 * Each function is a system call: -1 and errno on failure. `dir` is the handle of the spool's
 * directory; names are relative to it. The committer's and the reader's thread call them
 * concurrently.
 */
#ifndef FP_SPOOL_FILE_OPS_H
#define FP_SPOOL_FILE_OPS_H

#include "collector/base/base.h"

#include <sys/types.h>
#include <sys/uio.h>

/* Called with each name in a directory. False ends the listing. */
typedef bool fp_file_name_fn(void *context, const char *name);

struct fp_file_ops {
    void *context; /* first argument of all others */
    int (*make_dir)(void *context, const char *path);
    int (*open_dir)(void *context, const char *path);
    int (*lock_dir)(void *context, int dir); /* EWOULDBLOCK: another process holds it */
    int (*list)(void *context, int dir, fp_file_name_fn *each, void *each_context);
    int (*open)(void *context, int dir, const char *name, int flags);
    int (*close)(void *context, int file);
    int64_t (*size)(void *context, int file);
    ssize_t (*read_at)(void *context, int file, void *bytes, size_t len, uint64_t offset);
    ssize_t (*write_at)(void *context, int file, const struct iovec *parts, int count,
                        uint64_t offset);
    int (*allocate)(void *context, int file, uint64_t len);
    int (*truncate)(void *context, int file, uint64_t len);
    int (*sync_data)(void *context, int file); /* fdatasync */
    int (*sync_dir)(void *context, int dir);
    int (*rename)(void *context, int dir, const char *from, const char *to);
    int (*remove)(void *context, int dir, const char *name);
};

/* Returns the operating system's. */
const struct fp_file_ops *fp_file_ops_real(void);

/* Writes all parts, in as many calls as the system needs. Changes `parts`. False with errno. */
bool fp_file_write(const struct fp_file_ops *ops, int file, struct iovec *parts, size_t count,
                   uint64_t offset) FP_MUST_CHECK;

/* Reads until len bytes or the end of the file. Returns how many bytes it read, -1 with errno. */
ssize_t fp_file_read(const struct fp_file_ops *ops, int file, void *bytes, size_t len,
                     uint64_t offset) FP_MUST_CHECK;

/* Replaces a small file atomically and durably. False with errno: the previous one is still there,
 * or the new one may not be durable. */
bool fp_file_replace(const struct fp_file_ops *ops, int dir, const char *name, const void *bytes,
                     size_t len) FP_MUST_CHECK;

/* The suffix of a file that is not in place yet. Recovery removes these. */
#define FP_FILE_UNFINISHED ".tmp"

#endif
