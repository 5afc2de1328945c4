/*
 * A directory of a test's own, which the test removes. In memory, if that is there: thousands of
 * syncs need not wait for a disk.
 */
#ifndef FP_TESTS_DIRECTORY_H
#define FP_TESTS_DIRECTORY_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void make_test_directory(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/fleetprof-%s-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", name);
    assert_non_null(mkdtemp(path));
}

#endif
