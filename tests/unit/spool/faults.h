/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations that fail on demand: the system's, with a rule before each.
 */
#ifndef FP_TESTS_SPOOL_FAULTS_H
#define FP_TESTS_SPOOL_FAULTS_H

#include "test.h"

#include <stdatomic.h>

enum op {
    OP_MAKE_DIR,
    OP_OPEN_DIR,
    OP_LOCK_DIR,
    OP_LIST,
    OP_OPEN,
    OP_CLOSE,
    OP_SIZE,
    OP_READ_AT,
    OP_WRITE_AT,
    OP_ALLOCATE,
    OP_TRUNCATE,
    OP_SYNC_DATA,
    OP_SYNC_DIR,
    OP_RENAME,
    OP_REMOVE,
    OP_COUNT,
};

struct faults {
    struct fp_file_ops ops;
    _Atomic int error[OP_COUNT]; /* errno of each of its calls; 0: they work */
    _Atomic long calls;          /* of all operations */
    _Atomic long failing_call;   /* number of the one that fails; 0: none */
    _Atomic int call_error;      /* with this errno */
    _Atomic uint64_t bad_offset; /* reads of this byte of any file fail; 0: none */
    _Atomic bool short_writes;   /* a write takes at most 7 bytes, and is interrupted at times */
};

static inline bool is_failing(void *context, enum op op)
{
    struct faults *faults = context;
    long call = atomic_fetch_add(&faults->calls, 1) + 1;
    int error = atomic_load(&faults->error[op]);
    if (call == atomic_load(&faults->failing_call))
        error = atomic_load(&faults->call_error);
    errno = error;
    return error != 0;
}

static inline const struct fp_file_ops *real(void)
{
    return fp_file_ops_real();
}

static int faulty_make_dir(void *context, const char *path)
{
    return is_failing(context, OP_MAKE_DIR) ? -1 : real()->make_dir(NULL, path);
}

static int faulty_open_dir(void *context, const char *path)
{
    return is_failing(context, OP_OPEN_DIR) ? -1 : real()->open_dir(NULL, path);
}

static int faulty_lock_dir(void *context, int dir)
{
    return is_failing(context, OP_LOCK_DIR) ? -1 : real()->lock_dir(NULL, dir);
}

static int faulty_list(void *context, int dir, fp_file_name_fn *each, void *each_context)
{
    return is_failing(context, OP_LIST) ? -1 : real()->list(NULL, dir, each, each_context);
}

static int faulty_open(void *context, int dir, const char *name, int flags)
{
    return is_failing(context, OP_OPEN) ? -1 : real()->open(NULL, dir, name, flags);
}

static int faulty_close(void *context, int file)
{
    real()->close(NULL, file); /* a failed close closes all the same */
    return is_failing(context, OP_CLOSE) ? -1 : 0;
}

static int64_t faulty_size(void *context, int file)
{
    return is_failing(context, OP_SIZE) ? -1 : real()->size(NULL, file);
}

static ssize_t faulty_read_at(void *context, int file, void *bytes, size_t len, uint64_t offset)
{
    struct faults *faults = context;
    uint64_t bad_offset = atomic_load(&faults->bad_offset);
    if (is_failing(context, OP_READ_AT))
        return -1;
    if (bad_offset > 0 && offset <= bad_offset && bad_offset < offset + len) {
        errno = EIO;
        return -1;
    }
    return real()->read_at(NULL, file, bytes, len, offset);
}

static ssize_t faulty_write_at(void *context, int file, const struct iovec *parts, int count,
                               uint64_t offset)
{
    struct faults *faults = context;
    if (is_failing(context, OP_WRITE_AT))
        return -1;
    if (!atomic_load(&faults->short_writes))
        return real()->write_at(NULL, file, parts, count, offset);
    if (atomic_load(&faults->calls) % 5 == 0) {
        errno = EINTR;
        return -1;
    }
    struct iovec part = {parts->iov_base, parts->iov_len < 7 ? parts->iov_len : 7};
    return real()->write_at(NULL, file, &part, 1, offset);
}

static int faulty_allocate(void *context, int file, uint64_t len)
{
    return is_failing(context, OP_ALLOCATE) ? -1 : real()->allocate(NULL, file, len);
}

static int faulty_truncate(void *context, int file, uint64_t len)
{
    return is_failing(context, OP_TRUNCATE) ? -1 : real()->truncate(NULL, file, len);
}

static int faulty_sync_data(void *context, int file)
{
    return is_failing(context, OP_SYNC_DATA) ? -1 : real()->sync_data(NULL, file);
}

static int faulty_sync_dir(void *context, int dir)
{
    return is_failing(context, OP_SYNC_DIR) ? -1 : real()->sync_dir(NULL, dir);
}

static int faulty_rename(void *context, int dir, const char *from, const char *to)
{
    return is_failing(context, OP_RENAME) ? -1 : real()->rename(NULL, dir, from, to);
}

static int faulty_remove(void *context, int dir, const char *name)
{
    return is_failing(context, OP_REMOVE) ? -1 : real()->remove(NULL, dir, name);
}

/* Installs the operations; without a rule they do what the system does. */
static inline void init_faults(struct faults *faults)
{
    *faults = (struct faults){
        .ops =
            {
                .context = faults,
                .make_dir = faulty_make_dir,
                .open_dir = faulty_open_dir,
                .lock_dir = faulty_lock_dir,
                .list = faulty_list,
                .open = faulty_open,
                .close = faulty_close,
                .size = faulty_size,
                .read_at = faulty_read_at,
                .write_at = faulty_write_at,
                .allocate = faulty_allocate,
                .truncate = faulty_truncate,
                .sync_data = faulty_sync_data,
                .sync_dir = faulty_sync_dir,
                .rename = faulty_rename,
                .remove = faulty_remove,
            },
    };
}

#endif
