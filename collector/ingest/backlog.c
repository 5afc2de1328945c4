/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backlog: a ring of marks, the oldest first.
 */
#include "collector/ingest/backlog.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MARKS_PER_SHARE = 16, MARKS = 2 * MARKS_PER_SHARE };

/* Once the database has the record of this number, so much of what was appended has left. */
struct mark {
    uint64_t sequence;
    uint64_t appended;
};

struct fp_backlog {
    atomic_uint references;
    pthread_mutex_t lock; /* protects what follows */
    uint64_t appended;    /* bytes, ever */
    uint64_t left;        /* of them */
    struct mark marks[MARKS];
    size_t first;
    size_t count;
};

struct fp_backlog *fp_backlog_create(void)
{
    struct fp_backlog *backlog = calloc(1, sizeof(*backlog));
    if (backlog == NULL || pthread_mutex_init(&backlog->lock, NULL) != 0) {
        free(backlog);
        return NULL;
    }
    atomic_init(&backlog->references, 1);
    return backlog;
}

struct fp_backlog *fp_backlog_ref(struct fp_backlog *backlog)
{
    if (backlog != NULL)
        atomic_fetch_add_explicit(&backlog->references, 1, memory_order_relaxed);
    return backlog;
}

void fp_backlog_unref(struct fp_backlog *backlog)
{
    if (backlog == NULL ||
        atomic_fetch_sub_explicit(&backlog->references, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_destroy(&backlog->lock);
    free(backlog);
}

/* With the lock held, as all that follow. */
static void drop_marks(struct fp_backlog *backlog, uint64_t position)
{
    while (backlog->count > 0 && backlog->marks[backlog->first].sequence <= position) {
        backlog->left = backlog->marks[backlog->first].appended;
        backlog->first = (backlog->first + 1) % MARKS;
        backlog->count--;
    }
}

/* Returns what the newest mark covers. */
static uint64_t marked(const struct fp_backlog *backlog)
{
    const size_t newest = (backlog->first + backlog->count + MARKS - 1) % MARKS;
    return backlog->count > 0 ? backlog->marks[newest].appended : backlog->left;
}

/* Notes what was appended, unless the newest mark is near: there are enough marks for a share. */
static void mark(struct fp_backlog *backlog, uint64_t tail, uint64_t share)
{
    const uint64_t unmarked = backlog->appended - marked(backlog);
    const bool is_near = backlog->count > 0 && unmarked < share / MARKS_PER_SHARE;
    if (unmarked == 0 || is_near || backlog->count == MARKS)
        return;
    backlog->marks[(backlog->first + backlog->count) % MARKS] =
        (struct mark){tail, backlog->appended};
    backlog->count++;
}

bool fp_backlog_is_full(struct fp_backlog *backlog, const struct fp_backlog_place *place,
                        uint64_t share)
{
    pthread_mutex_lock(&backlog->lock);
    drop_marks(backlog, place->position);
    mark(backlog, place->tail, share);
    const bool is_full = backlog->appended - backlog->left >= share;
    pthread_mutex_unlock(&backlog->lock);
    return is_full;
}

void fp_backlog_add(struct fp_backlog *backlog, const struct fp_backlog_place *place,
                    uint64_t share, uint64_t bytes)
{
    pthread_mutex_lock(&backlog->lock);
    drop_marks(backlog, place->position);
    mark(backlog, place->tail, share);
    backlog->appended += bytes;
    pthread_mutex_unlock(&backlog->lock);
}

void fp_backlog_return(struct fp_backlog *backlog, uint64_t bytes)
{
    pthread_mutex_lock(&backlog->lock);
    const uint64_t unmarked = backlog->appended - marked(backlog);
    backlog->appended -= bytes < unmarked ? bytes : unmarked;
    pthread_mutex_unlock(&backlog->lock);
}
