/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failing: the executable's malloc and its relatives replace those of libc and of the sanitizer in
 * the whole process, and call them.
 */
#include "failing.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

/* The sanitizer's, if there is one. */
void *__interceptor_malloc(size_t size) __attribute__((weak));
void *__interceptor_calloc(size_t count, size_t size) __attribute__((weak));
void *__interceptor_realloc(void *old, size_t size) __attribute__((weak));

typedef int start_thread_fn(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*run)(void *), void *context);
start_thread_fn __real_pthread_create;
start_thread_fn __wrap_pthread_create;

static atomic_ulong count;
static atomic_ulong failing; /* 0: none */
static atomic_bool later_too;
static atomic_bool paused;

/* Starting a thread is the sanitizer's work, which must not fail: our allocator takes over at the
 * thread's first function. */
static _Thread_local bool is_ours;

static bool fails(void)
{
    unsigned long at = atomic_load(&failing);
    if (at == 0 || !is_ours || atomic_load(&paused))
        return false;
    unsigned long now = atomic_fetch_add(&count, 1) + 1;
    return now == at || (now > at && atomic_load(&later_too));
}

void failing_arm(unsigned long n, bool and_later)
{
    is_ours = true;
    atomic_store(&count, 0);
    atomic_store(&later_too, and_later);
    atomic_store(&paused, false);
    atomic_store(&failing, n);
}

void failing_pause(void)
{
    atomic_store(&paused, true);
}

bool failing_disarm(void)
{
    return atomic_load(&count) >= atomic_exchange(&failing, 0);
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    if (fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return __interceptor_malloc != NULL ? __interceptor_malloc(size) : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t items, size_t size)
{
    if (fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return __interceptor_calloc != NULL ? __interceptor_calloc(items, size)
                                        : __libc_calloc(items, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
    if (fails()) {
        errno = ENOMEM;
        return NULL;
    }
    return __interceptor_realloc != NULL ? __interceptor_realloc(old, size)
                                         : __libc_realloc(old, size);
}

/* A thread's function and argument. */
struct start {
    void *(*run)(void *context);
    void *context;
};

static void *run_ours(void *context)
{
    const struct start start = *(struct start *)context;
    free(context);
    is_ours = true;
    return start.run(start.context);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *context)
{
    if (fails())
        return EAGAIN;
    bool was_ours = is_ours;
    is_ours = false;
    struct start *start = malloc(sizeof(*start));
    int error = EAGAIN;
    if (start != NULL) {
        *start = (struct start){run, context};
        error = __real_pthread_create(thread, attributes, run_ours, start);
    }
    is_ours = was_ours;
    return error;
}

/* ---- scenarios ---- */

static void prepare(const struct scenario *scenario)
{
    if (scenario->prepare != NULL)
        scenario->prepare(scenario->context);
}

static void expect_done(const struct scenario *scenario, unsigned long n)
{
    prepare(scenario);
    if (scenario->run(scenario->context) != DONE)
        fail_msg("%s: refused without need, after allocation %lu had failed", scenario->name, n);
}

static unsigned long fail_each(const struct scenario *scenario, bool and_later)
{
    for (unsigned long n = 1;; n++) {
        prepare(scenario);
        failing_arm(n, and_later);
        enum outcome outcome = scenario->run(scenario->context);
        bool failed = failing_disarm();
        if (!failed && outcome != DONE)
            fail_msg("%s: refused, though no allocation failed", scenario->name);
        if (!failed)
            return n - 1;
        expect_done(scenario, n);
    }
}

void failing_each(const struct scenario *scenario)
{
    expect_done(scenario, 0);
    unsigned long single = fail_each(scenario, false);
    unsigned long all = fail_each(scenario, true);
    print_message("# %s: each of %lu allocations failed alone, and %lu times all from one on\n",
                  scenario->name, single, all);
    if (single < scenario->allocations_min || all < scenario->allocations_min)
        fail_msg("%s: only %lu allocations, expected %u", scenario->name, single,
                 scenario->allocations_min);
}
