/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failing memory: preloaded into a program, it counts all allocations of the run, including those
 * of libraries, and makes some fail.
 *
 *   FLEETPROF_FAIL_ALLOCATION   N: the N-th fails; N+: that one and all behind it
 *   FLEETPROF_FAIL_ONE_IN       a file with a number of eight bytes, which may change while the
 *                               program runs: one in so many fails; 0: none
 *   FLEETPROF_ALLOCATIONS       a file that is given their count when the program ends
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
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

/* A sanitizer's, when there is one. */
void *__interceptor_malloc(size_t size) __attribute__((weak));
void *__interceptor_calloc(size_t count, size_t size) __attribute__((weak));
void *__interceptor_realloc(void *old, size_t size) __attribute__((weak));

static atomic_ulong count;
static unsigned long failing; /* 0: none */
static bool later_too;
static _Atomic uint64_t never;
static _Atomic uint64_t *one_in = &never;
static atomic_bool is_armed;

static void map_one_in(void)
{
    const char *path = getenv("FLEETPROF_FAIL_ONE_IN");
    int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof(*one_in), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        one_in = mapped;
}

/* Allocations of the loader, and of libraries before main(), are not ours. */
__attribute__((constructor)) static void arm(void)
{
    const char *wanted = getenv("FLEETPROF_FAIL_ALLOCATION");
    failing = wanted != NULL ? strtoul(wanted, NULL, 10) : 0;
    later_too = wanted != NULL && strchr(wanted, '+') != NULL;
    map_one_in();
    atomic_store(&is_armed, true);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FLEETPROF_ALLOCATIONS");
    atomic_store(&is_armed, false); /* a sanitizer's last words need memory */
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%lu\n", atomic_load(&count));
        fclose(file);
    }
}

/* True for one in so many, scattered: a repeated action must not always fail at the same place. */
static bool is_drawn(uint64_t now, uint64_t each)
{
    return each > 0 && (now * UINT64_C(0x9e3779b97f4a7c15) >> 32) % each == 0;
}

static bool fails(void)
{
    if (!atomic_load(&is_armed))
        return false;
    unsigned long now = atomic_fetch_add(&count, 1) + 1;
    bool failed = (failing > 0 && (now == failing || (now > failing && later_too))) ||
                  is_drawn(now, atomic_load(one_in));
    if (failed)
        errno = ENOMEM;
    return failed;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    if (fails())
        return NULL;
    return __interceptor_malloc != NULL ? __interceptor_malloc(size) : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t items, size_t size)
{
    if (fails())
        return NULL;
    return __interceptor_calloc != NULL ? __interceptor_calloc(items, size)
                                        : __libc_calloc(items, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
    if (fails())
        return NULL;
    return __interceptor_realloc != NULL ? __interceptor_realloc(old, size)
                                         : __libc_realloc(old, size);
}

__attribute__((visibility("default"))) void *reallocarray(void *old, size_t items, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(items, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, bytes);
}
