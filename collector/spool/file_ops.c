/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File operations: the operating system's calls, and three habits on top of any table of them.
 */
#include "collector/spool/file_ops.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_LEN = 64 };

static int real_make_dir(void *context, const char *path)
{
    (void)context;
    return mkdir(path, 0700);
}

static int real_open_dir(void *context, const char *path)
{
    (void)context;
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int real_lock_dir(void *context, int dir)
{
    (void)context;
    return flock(dir, LOCK_EX | LOCK_NB);
}

static int real_list(void *context, int dir, fp_file_name_fn *each, void *each_context)
{
    (void)context;
    /* A handle of its own: the position of a listing belongs to the handle. */
    int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0)
        return -1;
    DIR *listing = fdopendir(own);
    if (listing == NULL) {
        close(own);
        return -1;
    }
    const struct dirent *entry;
    bool more = true;
    errno = 0;
    while (more && (entry = readdir(listing)) != NULL) {
        more = each(each_context, entry->d_name);
        errno = 0; /* only readdir's own is asked for */
    }
    int error = more ? errno : 0;
    closedir(listing);
    errno = error;
    return error == 0 ? 0 : -1;
}

static int real_open(void *context, int dir, const char *name, int flags)
{
    (void)context;
    /* Nobody may ever write into what turns out to be a pipe: it is not waited for. */
    return openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

static int real_close(void *context, int file)
{
    (void)context;
    return close(file);
}

static int64_t real_size(void *context, int file)
{
    (void)context;
    struct stat status;
    return fstat(file, &status) == 0 ? (int64_t)status.st_size : -1;
}

static ssize_t real_read_at(void *context, int file, void *bytes, size_t len, uint64_t offset)
{
    (void)context;
    return pread(file, bytes, len, (off_t)offset);
}

static ssize_t real_write_at(void *context, int file, const struct iovec *parts, int count,
                             uint64_t offset)
{
    (void)context;
    return pwritev(file, parts, count, (off_t)offset);
}

static int real_allocate(void *context, int file, uint64_t len)
{
    (void)context;
    int error;
    do {
        error = posix_fallocate(file, 0, (off_t)len);
    } while (error == EINTR);
    errno = error;
    return error == 0 ? 0 : -1;
}

static int real_truncate(void *context, int file, uint64_t len)
{
    (void)context;
    return ftruncate(file, (off_t)len);
}

static int real_sync_data(void *context, int file)
{
    (void)context;
    return fdatasync(file);
}

static int real_sync_dir(void *context, int dir)
{
    (void)context;
    return fsync(dir);
}

static int real_rename(void *context, int dir, const char *from, const char *to)
{
    (void)context;
    return renameat(dir, from, dir, to);
}

static int real_remove(void *context, int dir, const char *name)
{
    (void)context;
    return unlinkat(dir, name, 0);
}

const struct fp_file_ops *fp_file_ops_real(void)
{
    static const struct fp_file_ops real = {
        .make_dir = real_make_dir,
        .open_dir = real_open_dir,
        .lock_dir = real_lock_dir,
        .list = real_list,
        .open = real_open,
        .close = real_close,
        .size = real_size,
        .read_at = real_read_at,
        .write_at = real_write_at,
        .allocate = real_allocate,
        .truncate = real_truncate,
        .sync_data = real_sync_data,
        .sync_dir = real_sync_dir,
        .rename = real_rename,
        .remove = real_remove,
    };
    return &real;
}

bool fp_file_write(const struct fp_file_ops *ops, int file, struct iovec *parts, size_t count,
                   uint64_t offset)
{
    while (count > 0) {
        int now = count < IOV_MAX ? (int)count : IOV_MAX;
        ssize_t written = ops->write_at(ops->context, file, parts, now, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written < 0 ? errno : EIO; /* nothing written and no reason given */
            return false;
        }
        offset += (uint64_t)written;
        size_t left = (size_t)written;
        while (count > 0 && left >= parts->iov_len) {
            left -= parts->iov_len;
            parts++;
            count--;
        }
        if (left > 0) {
            parts->iov_base = (uint8_t *)parts->iov_base + left;
            parts->iov_len -= left;
        }
    }
    return true;
}

ssize_t fp_file_read(const struct fp_file_ops *ops, int file, void *bytes, size_t len,
                     uint64_t offset)
{
    size_t have = 0;
    while (have < len) {
        ssize_t got =
            ops->read_at(ops->context, file, (uint8_t *)bytes + have, len - have, offset + have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

/* Writes a new file and makes its bytes durable, not yet its name. */
static bool write_new(const struct fp_file_ops *ops, int dir, const char *name,
                      struct iovec content)
{
    int file = ops->open(ops->context, dir, name, O_WRONLY | O_CREAT | O_TRUNC);
    if (file < 0)
        return false;
    bool written = (content.iov_len == 0 || fp_file_write(ops, file, &content, 1, 0)) &&
                   ops->sync_data(ops->context, file) == 0;
    int error = errno;
    ops->close(ops->context, file);
    errno = error;
    return written;
}

bool fp_file_replace(const struct fp_file_ops *ops, int dir, const char *name, const void *bytes,
                     size_t len)
{
    char unfinished[NAME_MAX_LEN];
    snprintf(unfinished, sizeof(unfinished), "%s" FP_FILE_UNFINISHED, name);
    struct iovec content = {(void *)(uintptr_t)bytes, len};
    if (write_new(ops, dir, unfinished, content) &&
        ops->rename(ops->context, dir, unfinished, name) == 0)
        return ops->sync_dir(ops->context, dir) == 0;
    int error = errno;
    ops->remove(ops->context, dir, unfinished);
    errno = error;
    return false;
}
