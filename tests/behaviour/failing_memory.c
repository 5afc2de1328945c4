/*
 * Failing memory: preloaded into a program, it counts the allocations of its run, those of the
 * libraries too, and lets one fail.
 *
 *   FLEETPROF_FAIL_ALLOCATION   N: the N-th fails; N+: that one and all behind it
 *   FLEETPROF_ALLOCATIONS       a file that is given their count when the program ends
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static atomic_bool is_armed;

/* The loader and what libraries do before main() are not ours. */
__attribute__((constructor)) static void arm(void)
{
    const char *wanted = getenv("FLEETPROF_FAIL_ALLOCATION");
    failing = wanted != NULL ? strtoul(wanted, NULL, 10) : 0;
    later_too = wanted != NULL && strchr(wanted, '+') != NULL;
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

static bool fails(void)
{
    if (!atomic_load(&is_armed))
        return false;
    unsigned long now = atomic_fetch_add(&count, 1) + 1;
    bool failed = failing > 0 && (now == failing || (now > failing && later_too));
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
