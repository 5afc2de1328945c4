/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk in memory that can lose power: file operations for the model test.
 *
 * Changes that were not synced are a list, for each file and for the directory. A crash applies
 * each of them or not, sector by sector, and sometimes only those before a certain moment. It
 * happens before the n-th operation that changes something: from then on every operation fails, as
 * for a dead process. A kill keeps all changes; disk_lose_power does not. The disk can be held
 * before its next change, so that a test decides what waits for it.
 */
#ifndef FP_TESTS_SPOOL_DISK_H
#define FP_TESTS_SPOOL_DISK_H

#include "test.h"

enum {
    DISK_SECTOR = 512,
    DISK_FILES = 256,
    DISK_HANDLES = 32,
    DISK_DIR = 1000, /* the directory's handle */
};

struct disk_bytes {
    uint8_t *at;
    size_t len;
};

/* An unsynced change to a file: bytes at an offset, or another length. */
struct disk_change {
    uint64_t offset; /* or the length */
    struct disk_bytes bytes;
    bool is_length;
};

struct disk_file {
    struct disk_bytes now;
    struct disk_bytes durable;
    struct disk_change *changes;
    size_t change_count;
};

struct disk_entry {
    char name[64];
    int file;
};

struct disk_names {
    struct disk_entry entries[DISK_FILES];
    size_t count;
};

/* A change to the directory: `name` now is that file (-1: removed), and `from` is removed with
 * it. */
struct disk_rename {
    char name[64];
    char from[64];
    int file;
};

struct disk {
    struct fp_file_ops ops;
    pthread_mutex_t lock;
    uint64_t random;
    struct disk_file files[DISK_FILES];
    int file_count;
    struct disk_names now;
    struct disk_names durable;
    struct disk_rename renames[DISK_FILES];
    size_t rename_count;
    int handles[DISK_HANDLES]; /* files, -1: free */
    long changes;              /* operations that changed something since the restart */
    long crash_at;             /* of them, 0: never */
    long fault_at;             /* this one fails, 0: none */
    int fault;                 /* with this errno; 0: it is a short write */
    _Atomic bool crashed;
    bool held;        /* changes wait ... */
    bool has_waiting; /* ... and one does */
    pthread_cond_t released;
};

static inline uint64_t draw(uint64_t *random, uint64_t below)
{
    uint64_t mixed = (*random += UINT64_C(0x9e3779b97f4a7c15));
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (mixed ^ (mixed >> 31)) % below;
}

/* Bytes and changes */

static inline void disk_resize(struct disk_bytes *bytes, size_t len)
{
    bytes->at = realloc(bytes->at, len + 1);
    if (len > bytes->len)
        memset(bytes->at + bytes->len, 0, len - bytes->len);
    bytes->len = len;
}

static inline void disk_put(struct disk_bytes *to, uint64_t offset, const uint8_t *bytes,
                            size_t len)
{
    if (to->len < offset + len)
        disk_resize(to, (size_t)offset + len);
    if (len > 0)
        memcpy(to->at + offset, bytes, len);
}

static inline void disk_copy(struct disk_bytes *to, const struct disk_bytes *from)
{
    disk_resize(to, 0);
    disk_put(to, 0, from->at, from->len);
}

static inline void disk_forget_changes(struct disk_file *file)
{
    for (size_t i = 0; i < file->change_count; i++)
        free(file->changes[i].bytes.at);
    free(file->changes);
    file->changes = NULL;
    file->change_count = 0;
}

static inline void disk_note(struct disk_file *file, struct disk_change change)
{
    file->changes = realloc(file->changes, (file->change_count + 1) * sizeof(change));
    file->changes[file->change_count++] = change;
}

static inline void disk_write(struct disk_file *file, uint64_t offset, const uint8_t *bytes,
                              size_t len)
{
    struct disk_change change = {.offset = offset};
    disk_put(&change.bytes, 0, bytes, len);
    disk_note(file, change);
    disk_put(&file->now, offset, bytes, len);
}

static inline void disk_set_len(struct disk_file *file, uint64_t len)
{
    disk_note(file, (struct disk_change){.offset = len, .is_length = true});
    disk_resize(&file->now, (size_t)len);
}

/* Writes some of the unsynced changes to the disk: a sector is written whole or not at all. */
static inline void disk_tear(struct disk *disk, struct disk_file *file)
{
    uint64_t mode = draw(&disk->random, 4); /* 0: nothing, 1: all, else a part */
    for (size_t i = 0; i < file->change_count && mode > 0; i++) {
        const struct disk_change *change = &file->changes[i];
        if (change->is_length) {
            if (mode == 1 || draw(&disk->random, 2) == 0)
                disk_resize(&file->durable, (size_t)change->offset);
            continue;
        }
        for (size_t done = 0; done < change->bytes.len;) {
            uint64_t offset = change->offset + done;
            size_t len = DISK_SECTOR - (size_t)(offset % DISK_SECTOR);
            if (len > change->bytes.len - done)
                len = change->bytes.len - done;
            if (mode == 1 || draw(&disk->random, 2) == 0)
                disk_put(&file->durable, offset, change->bytes.at + done, len);
            done += len;
        }
    }
    disk_forget_changes(file);
}

/* Names */

static inline struct disk_entry *disk_find(struct disk_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->entries[i].name, name) == 0)
            return &names->entries[i];
    return NULL;
}

static inline void disk_drop_name(struct disk_names *names, const char *name)
{
    struct disk_entry *entry = disk_find(names, name);
    if (entry != NULL)
        *entry = names->entries[--names->count];
}

static inline void disk_apply_rename(struct disk_names *names, const struct disk_rename *change)
{
    disk_drop_name(names, change->from);
    disk_drop_name(names, change->name);
    if (change->file < 0)
        return;
    struct disk_entry *entry = &names->entries[names->count++];
    memcpy(entry->name, change->name, sizeof(entry->name));
    entry->file = change->file;
}

static inline void disk_rename_entry(struct disk *disk, const char *from, const char *name,
                                     int file)
{
    struct disk_rename *change = &disk->renames[disk->rename_count++];
    snprintf(change->from, sizeof(change->from), "%s", from);
    snprintf(change->name, sizeof(change->name), "%s", name);
    change->file = file;
    disk_apply_rename(&disk->now, change);
}

/* Begins an operation and locks the disk. False: it fails, with errno. */
static inline bool disk_enter(struct disk *disk, bool changes_something)
{
    pthread_mutex_lock(&disk->lock);
    while (changes_something && disk->held) {
        disk->has_waiting = true;
        pthread_cond_wait(&disk->released, &disk->lock);
    }
    if (changes_something && ++disk->changes == disk->crash_at)
        disk->crashed = true;
    bool fails = changes_something && disk->changes == disk->fault_at && disk->fault != 0;
    errno = disk->crashed ? EIO : disk->fault;
    if (!disk->crashed && !fails)
        return true;
    pthread_mutex_unlock(&disk->lock);
    return false;
}

static inline int disk_leave(struct disk *disk, int result, int error)
{
    pthread_mutex_unlock(&disk->lock);
    errno = error;
    return result;
}

static inline void disk_hold(struct disk *disk, bool hold)
{
    pthread_mutex_lock(&disk->lock);
    disk->held = hold;
    disk->has_waiting = false;
    pthread_cond_broadcast(&disk->released);
    pthread_mutex_unlock(&disk->lock);
}

static inline bool disk_has_waiting(struct disk *disk)
{
    pthread_mutex_lock(&disk->lock);
    bool has_waiting = disk->has_waiting;
    pthread_mutex_unlock(&disk->lock);
    return has_waiting;
}

/* The operations */

static int disk_make_dir(void *context, const char *path)
{
    (void)context;
    (void)path;
    errno = EEXIST;
    return -1;
}

static int disk_open_dir(void *context, const char *path)
{
    (void)path;
    return disk_enter(context, false) ? disk_leave(context, DISK_DIR, 0) : -1;
}

static int disk_lock_dir(void *context, int dir)
{
    (void)dir;
    return disk_enter(context, false) ? disk_leave(context, 0, 0) : -1;
}

static int disk_list(void *context, int dir, fp_file_name_fn *each, void *each_context)
{
    (void)dir;
    struct disk *disk = context;
    if (!disk_enter(disk, false))
        return -1;
    struct disk_names names = disk->now;
    disk_leave(disk, 0, 0);
    for (size_t i = 0; i < names.count && each(each_context, names.entries[i].name); i++) {
    }
    return 0;
}

static int disk_open(void *context, int dir, const char *name, int flags)
{
    (void)dir;
    struct disk *disk = context;
    if (!disk_enter(disk, (flags & (O_CREAT | O_TRUNC)) != 0))
        return -1;
    const struct disk_entry *entry = disk_find(&disk->now, name);
    if (entry == NULL && (flags & O_CREAT) == 0)
        return disk_leave(disk, -1, ENOENT);
    if (entry != NULL && (flags & O_EXCL) != 0)
        return disk_leave(disk, -1, EEXIST);
    int file = entry != NULL ? entry->file : disk->file_count++;
    if (entry == NULL)
        disk_rename_entry(disk, "", name, file);
    else if ((flags & O_TRUNC) != 0)
        disk_set_len(&disk->files[file], 0);
    int handle = 0;
    while (disk->handles[handle] >= 0)
        handle++;
    disk->handles[handle] = file;
    return disk_leave(disk, handle, 0);
}

static int disk_close(void *context, int handle)
{
    struct disk *disk = context;
    pthread_mutex_lock(&disk->lock);
    if (handle != DISK_DIR)
        disk->handles[handle] = -1;
    return disk_leave(disk, 0, 0);
}

static inline struct disk_file *disk_file_of(struct disk *disk, int handle)
{
    return &disk->files[disk->handles[handle]];
}

static int64_t disk_size(void *context, int handle)
{
    struct disk *disk = context;
    if (!disk_enter(disk, false))
        return -1;
    return disk_leave(disk, (int)disk_file_of(disk, handle)->now.len, 0);
}

static ssize_t disk_read_at(void *context, int handle, void *bytes, size_t len, uint64_t offset)
{
    struct disk *disk = context;
    if (!disk_enter(disk, false))
        return -1;
    const struct disk_bytes *now = &disk_file_of(disk, handle)->now;
    size_t got = offset < now->len ? now->len - (size_t)offset : 0;
    got = got < len ? got : len;
    if (got > 0)
        memcpy(bytes, now->at + offset, got);
    return disk_leave(disk, (int)got, 0);
}

static ssize_t disk_write_at(void *context, int handle, const struct iovec *parts, int count,
                             uint64_t offset)
{
    struct disk *disk = context;
    if (!disk_enter(disk, true))
        return -1;
    size_t most = SIZE_MAX;
    if (disk->changes == disk->fault_at)
        most = (size_t)draw(&disk->random, 600) + 1;
    size_t written = 0;
    for (int i = 0; i < count && written < most; i++) {
        size_t len = parts[i].iov_len < most - written ? parts[i].iov_len : most - written;
        disk_write(disk_file_of(disk, handle), offset + written, parts[i].iov_base, len);
        written += len;
    }
    return disk_leave(disk, (int)written, 0);
}

static int disk_allocate(void *context, int handle, uint64_t len)
{
    struct disk *disk = context;
    if (!disk_enter(disk, true))
        return -1;
    disk_set_len(disk_file_of(disk, handle), len);
    return disk_leave(disk, 0, 0);
}

static int disk_truncate(void *context, int handle, uint64_t len)
{
    return disk_allocate(context, handle, len);
}

static int disk_sync_data(void *context, int handle)
{
    struct disk *disk = context;
    if (!disk_enter(disk, true)) {
        int error = errno;
        /* A failed sync leaves the pages clean, on the disk or not: no later sync writes them. */
        if (!disk->crashed)
            disk_tear(disk, disk_file_of(disk, handle));
        errno = error;
        return -1;
    }
    struct disk_file *file = disk_file_of(disk, handle);
    disk_copy(&file->durable, &file->now);
    disk_forget_changes(file);
    return disk_leave(disk, 0, 0);
}

static int disk_sync_dir(void *context, int dir)
{
    (void)dir;
    struct disk *disk = context;
    if (!disk_enter(disk, true))
        return -1;
    disk->durable = disk->now;
    disk->rename_count = 0;
    return disk_leave(disk, 0, 0);
}

static int disk_rename(void *context, int dir, const char *from, const char *to)
{
    (void)dir;
    struct disk *disk = context;
    if (!disk_enter(disk, true))
        return -1;
    const struct disk_entry *entry = disk_find(&disk->now, from);
    if (entry == NULL)
        return disk_leave(disk, -1, ENOENT);
    disk_rename_entry(disk, from, to, entry->file);
    return disk_leave(disk, 0, 0);
}

static int disk_remove(void *context, int dir, const char *name)
{
    (void)dir;
    struct disk *disk = context;
    if (!disk_enter(disk, true))
        return -1;
    if (disk_find(&disk->now, name) == NULL)
        return disk_leave(disk, -1, ENOENT);
    disk_rename_entry(disk, "", name, -1);
    return disk_leave(disk, 0, 0);
}

/* Life */

static inline void disk_init(struct disk *disk, uint64_t seed)
{
    *disk = (struct disk){
        .ops =
            {
                .context = disk,
                .make_dir = disk_make_dir,
                .open_dir = disk_open_dir,
                .lock_dir = disk_lock_dir,
                .list = disk_list,
                .open = disk_open,
                .close = disk_close,
                .size = disk_size,
                .read_at = disk_read_at,
                .write_at = disk_write_at,
                .allocate = disk_allocate,
                .truncate = disk_truncate,
                .sync_data = disk_sync_data,
                .sync_dir = disk_sync_dir,
                .rename = disk_rename,
                .remove = disk_remove,
            },
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .released = PTHREAD_COND_INITIALIZER,
        .random = seed,
    };
    for (size_t i = 0; i < DISK_HANDLES; i++)
        disk->handles[i] = -1;
}

static inline void disk_release(struct disk *disk)
{
    for (int i = 0; i < disk->file_count; i++) {
        free(disk->files[i].now.at);
        free(disk->files[i].durable.at);
        disk_forget_changes(&disk->files[i]);
    }
    disk->file_count = 0;
}

/* Writes some of the unsynced changes to the disk and drops the rest. */
static inline void disk_lose_power(struct disk *disk)
{
    uint64_t mode = draw(&disk->random, 4); /* 0: no name, 1: all, 2: the first ones, 3: any */
    size_t most = mode == 2 ? draw(&disk->random, disk->rename_count + 1) : disk->rename_count;
    for (size_t i = 0; i < most && mode > 0; i++)
        if (mode < 3 || draw(&disk->random, 2) == 0)
            disk_apply_rename(&disk->durable, &disk->renames[i]);
    disk->rename_count = 0;
    disk->now = disk->durable;
    for (int i = 0; i < disk->file_count; i++) {
        disk_tear(disk, &disk->files[i]);
        disk_copy(&disk->files[i].now, &disk->files[i].durable);
    }
}

/* Starts another process. No spool is open. */
static inline void disk_restart(struct disk *disk)
{
    disk->changes = 0;
    disk->crash_at = 0;
    disk->fault_at = 0;
    disk->crashed = false;
}

#endif
