/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of a test's own, which the test removes. In memory if that is large enough, so that
 * thousands of syncs need not wait for a disk. Containers often have 64 MiB, less than a spool.
 */
#ifndef FP_TESTS_DIRECTORY_H
#define FP_TESTS_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define TEST_MEMORY_MIN ((uint64_t)1 << 30)

static inline bool has_test_memory(const char *path)
{
    struct statvfs room;
    return access(path, W_OK) == 0 && statvfs(path, &room) == 0 &&
           (uint64_t)room.f_bavail * room.f_frsize >= TEST_MEMORY_MIN;
}

static inline void make_test_directory(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/fleetprof-%s-XXXXXX",
             has_test_memory("/dev/shm") ? "/dev/shm" : "/tmp", name);
    assert_non_null(mkdtemp(path));
}

#endif
