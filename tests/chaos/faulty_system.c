/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faulty system: preloaded into fleetprofd, it gives the collector a disk that fails, writes short,
 * syncs slowly and loses what was not synced, and a clock that jumps.
 *
 * The test controls it through a file that is mapped here ($FLEETPROF_FAULTS_CONTROL). The kernel
 * keeps what a killed process wrote; a power cut does not. So what a write overwrites is kept in
 * $FLEETPROF_FAULTS_UNDO, a file per inode, until the file is synced; after a kill the test puts it
 * back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The order is faulty_system.mjs's. */
struct control {
    _Atomic int64_t clock_offset_us;
    _Atomic int64_t failing_writes; /* how many of the next ones fail */
    _Atomic int64_t failing_syncs;
    _Atomic int64_t short_writes;
    _Atomic int64_t error; /* errno of those that fail */
    _Atomic int64_t sync_delay_us;
    _Atomic int64_t monotonic_offset_us; /* forward alone: what waits for a moment does not wake */
    _Atomic int64_t past_us; /* how far back the clock lives, whatever its offset: uploads are late */
};

enum { PART_MAX = 64 * 1024 };

static struct control none;
static struct control *control = &none;
static const char *undo_dir;

__attribute__((constructor)) static void open_control(void)
{
    const char *path = getenv("FLEETPROF_FAULTS_CONTROL");
    int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        control = mapped;
    undo_dir = getenv("FLEETPROF_FAULTS_UNDO");
}

/* Takes one from the counter. */
static int take(_Atomic int64_t *counter)
{
    int64_t left = atomic_load(counter);
    while (left > 0)
        if (atomic_compare_exchange_weak(counter, &left, left - 1))
            return 1;
    return 0;
}

static int open_undo(int file, int flags)
{
    struct stat status;
    char path[4096];
    if (undo_dir == NULL || fstat(file, &status) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/%ju", undo_dir, (uintmax_t)status.st_ino);
    return open(path, flags | O_CLOEXEC, 0600);
}

/* Saves the bytes that the write replaces: offset, length, bytes. */
static void keep_old(int file, size_t len, off_t offset)
{
    /* A file open only for writing is new, and is not renamed into place before its sync. */
    bool is_new = (fcntl(file, F_GETFL) & O_ACCMODE) == O_WRONLY;
    int undo = is_new ? -1 : open_undo(file, O_WRONLY | O_CREAT | O_APPEND);
    if (undo < 0)
        return;
    for (size_t done = 0; done < len; done += PART_MAX) {
        struct {
            int64_t offset, len;
            char bytes[PART_MAX];
        } part = {.offset = offset + (off_t)done,
                  .len = (int64_t)(len - done < PART_MAX ? len - done : PART_MAX)};
        if (pread(file, part.bytes, (size_t)part.len, part.offset) < 0 ||
            write(undo, &part, 2 * sizeof(int64_t) + (size_t)part.len) < 0)
            abort();
    }
    close(undo);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset)
{
    if (take(&control->failing_writes)) {
        errno = (int)control->error;
        return -1;
    }
    struct iovec half;
    if (take(&control->short_writes)) {
        half = (struct iovec){parts[0].iov_base, (parts[0].iov_len + 1) / 2};
        parts = &half;
        count = 1;
    }
    size_t len = 0;
    for (int i = 0; i < count; i++)
        len += parts[i].iov_len;
    keep_old(file, len, offset);
    return syscall(SYS_pwritev, file, parts, count, offset, 0);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset)
    __attribute__((alias("pwritev")));

/* A new file's room. */
int posix_fallocate(int file, off_t offset, off_t len)
{
    if (take(&control->failing_writes))
        return (int)control->error;
    return syscall(SYS_fallocate, file, 0, offset, len) == 0 ? 0 : errno;
}

int posix_fallocate64(int file, off64_t offset, off64_t len)
    __attribute__((alias("posix_fallocate")));

static bool sync_fails(void)
{
    if (control->sync_delay_us > 0)
        usleep((useconds_t)control->sync_delay_us);
    if (!take(&control->failing_syncs))
        return false;
    errno = (int)control->error;
    return true;
}

/* A directory: names. */
int fsync(int file)
{
    return sync_fails() ? -1 : (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    if (sync_fails())
        return -1;
    int result = (int)syscall(SYS_fdatasync, file);
    int undo = result == 0 ? open_undo(file, O_WRONLY | O_TRUNC) : -1;
    if (undo >= 0)
        close(undo);
    return result;
}

/* True in threads that deal with the database. */
static bool is_way_out(void)
{
    char name[16] = "";
    (void)prctl(PR_GET_NAME, name);
    return strcmp(name, "writer") == 0 || strcmp(name, "sealer") == 0;
}

/* Uploads that are dated in the past are late, as if they had been in the spool since: whoever
 * compares the clock with the database's finds it right. */
static int64_t past_us(void)
{
    return control->past_us == 0 || is_way_out() ? 0 : control->past_us;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    int64_t offset_us = clock == CLOCK_REALTIME    ? control->clock_offset_us - past_us()
                        : clock == CLOCK_MONOTONIC ? control->monotonic_offset_us
                                                   : 0;
    if (result == 0 && offset_us != 0) {
        int64_t us = now->tv_nsec / 1000 + offset_us % 1000000;
        now->tv_sec += offset_us / 1000000 + (us >= 1000000) - (us < 0);
        now->tv_nsec = (us + 1000000) % 1000000 * 1000 + now->tv_nsec % 1000;
    }
    return result;
}
