/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns: a queue per site, a list of the sites that wait, and threads; all under one lock, which is
 * free while an upload is decoded.
 */
#include "collector/ingest/turns.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* By then clients and proxies have nearly given up. */
#define WAIT_MAX_US (30 * FP_US_PER_S)

struct fp_lane {
    atomic_uint references;
    /* Under the lock of the turns. */
    struct fp_lane *next; /* in the list of lanes that wait */
    struct fp_turn *first;
    struct fp_turn **end; /* where the next turn is linked */
    size_t waiting;
    unsigned running;
};

struct fp_turns {
    pthread_mutex_t lock; /* protects what follows, and the lanes */
    pthread_cond_t change;
    struct fp_lane *first; /* lanes with a turn that waits; the one served last is the last */
    struct fp_lane **end;
    unsigned idle;
    bool stopping;
    unsigned started;
    unsigned thread_count;
    pthread_t threads[];
};

/* ---- lanes ---- */

struct fp_lane *fp_lane_create(void)
{
    struct fp_lane *lane = calloc(1, sizeof(*lane));
    if (lane == NULL)
        return NULL;
    atomic_init(&lane->references, 1);
    lane->end = &lane->first;
    return lane;
}

struct fp_lane *fp_lane_ref(struct fp_lane *lane)
{
    if (lane != NULL)
        atomic_fetch_add_explicit(&lane->references, 1, memory_order_relaxed);
    return lane;
}

void fp_lane_unref(struct fp_lane *lane)
{
    if (lane == NULL || atomic_fetch_sub_explicit(&lane->references, 1, memory_order_acq_rel) > 1)
        return;
    FP_ASSERT(lane->waiting == 0 && lane->running == 0);
    free(lane);
}

static void append_lane(struct fp_turns *turns, struct fp_lane *lane)
{
    lane->next = NULL;
    *turns->end = lane;
    turns->end = &lane->next;
}

static void append_turn(struct fp_lane *lane, struct fp_turn *turn)
{
    turn->next = NULL;
    *lane->end = turn;
    lane->end = &turn->next;
    lane->waiting++;
}

static struct fp_turn *remove_first(struct fp_lane *lane)
{
    struct fp_turn *turn = lane->first;
    lane->first = turn->next;
    if (lane->first == NULL)
        lane->end = &lane->first;
    lane->waiting--;
    return turn;
}

/* ---- whose turn it is ---- */

/* With the lock held, as all of this section. */
static bool may_run(const struct fp_turns *turns, const struct fp_lane *lane)
{
    const bool leaves_one = lane->running > 0 && !turns->stopping;
    return turns->idle > (leaves_one ? 1 : 0);
}

/* Returns the link to the lane whose turn it is; to NULL if none may run. */
static struct fp_lane **find_next(struct fp_turns *turns)
{
    struct fp_lane **best = NULL;
    struct fp_lane **at = &turns->first;
    for (; *at != NULL && (best == NULL || (*best)->running > 0); at = &(*at)->next)
        if (may_run(turns, *at) && (best == NULL || (*at)->running < (*best)->running))
            best = at;
    return best != NULL ? best : turns->end;
}

/* Takes the next upload off its lane. Returns NULL if none may run. */
static struct fp_turn *take_next(struct fp_turns *turns)
{
    struct fp_lane **link = find_next(turns);
    struct fp_lane *lane = *link;
    if (lane == NULL)
        return NULL;
    *link = lane->next;
    if (turns->end == &lane->next)
        turns->end = link;
    struct fp_turn *turn = remove_first(lane);
    if (lane->waiting > 0)
        append_lane(turns, lane);
    return turn;
}

/* Runs a turn that was taken; the lock is free meanwhile. */
static void run(struct fp_turns *turns, const struct fp_turn *turn)
{
    struct fp_lane *lane = turn->lane; /* the turn may be gone after its run */
    const bool is_granted = fp_clock_monotonic_us() - turn->since_us <= WAIT_MAX_US;
    lane->running++;
    turns->idle--;
    pthread_mutex_unlock(&turns->lock);
    turn->run(turn->context, is_granted);
    pthread_mutex_lock(&turns->lock);
    turns->idle++;
    lane->running--;
    fp_lane_unref(lane);
}

bool fp_turns_take(struct fp_turns *turns)
{
    pthread_mutex_lock(&turns->lock);
    const struct fp_turn *turn = take_next(turns);
    if (turn != NULL)
        run(turns, turn);
    pthread_mutex_unlock(&turns->lock);
    return turn != NULL;
}

/* A thread that ends a turn looks for the next one itself: what becomes possible by that end is at
 * most one turn more. So only a new turn wakes another thread. */
static void *work(void *context)
{
    struct fp_turns *turns = context;
    (void)pthread_setname_np(pthread_self(), "decode");
    pthread_mutex_lock(&turns->lock);
    for (;;) {
        const struct fp_turn *turn = take_next(turns);
        if (turn != NULL)
            run(turns, turn);
        else if (turns->stopping)
            break;
        else
            pthread_cond_wait(&turns->change, &turns->lock);
    }
    pthread_mutex_unlock(&turns->lock);
    return NULL;
}

/* ---- adding ---- */

/* Appends the turn to its lane. False if it cannot wait. */
static bool append(struct fp_turns *turns, struct fp_turn *turn, size_t most, bool *is_crowded)
{
    struct fp_lane *lane = turn->lane;
    turn->since_us = fp_clock_monotonic_us();
    pthread_mutex_lock(&turns->lock);
    *is_crowded = lane->waiting >= most;
    const bool may_wait = !turns->stopping && !*is_crowded;
    if (may_wait) {
        (void)fp_lane_ref(lane);
        if (lane->waiting == 0)
            append_lane(turns, lane);
        append_turn(lane, turn);
        pthread_cond_signal(&turns->change);
    }
    pthread_mutex_unlock(&turns->lock);
    return may_wait;
}

void fp_turns_add(struct fp_turns *turns, struct fp_turn *turn, size_t most)
{
    bool is_crowded;
    FP_ASSERT(turn->lane != NULL);
    if (!append(turns, turn, most, &is_crowded))
        turn->run(turn->context, !is_crowded);
}

/* ---- life ---- */

unsigned fp_turns_threads(unsigned busy)
{
    return busy + 1;
}

struct fp_turns *fp_turns_create(unsigned threads)
{
    struct fp_turns *turns = calloc(1, sizeof(*turns) + threads * sizeof(turns->threads[0]));
    if (turns == NULL)
        return NULL;
    if (pthread_mutex_init(&turns->lock, NULL) != 0) {
        free(turns);
        return NULL;
    }
    if (pthread_cond_init(&turns->change, NULL) != 0) {
        pthread_mutex_destroy(&turns->lock);
        free(turns);
        return NULL;
    }
    turns->end = &turns->first;
    turns->idle = threads;
    turns->thread_count = threads;
    return turns;
}

bool fp_turns_start(struct fp_turns *turns)
{
    while (turns->started < turns->thread_count) {
        if (pthread_create(&turns->threads[turns->started], NULL, work, turns) != 0)
            return false;
        turns->started++;
    }
    return true;
}

void fp_turns_stop(struct fp_turns *turns)
{
    if (turns == NULL)
        return;
    pthread_mutex_lock(&turns->lock);
    turns->stopping = true;
    pthread_cond_broadcast(&turns->change);
    pthread_mutex_unlock(&turns->lock);
    while (turns->started > 0)
        pthread_join(turns->threads[--turns->started], NULL);
    while (fp_turns_take(turns))
        continue;
}

void fp_turns_free(struct fp_turns *turns)
{
    if (turns == NULL)
        return;
    FP_ASSERT(turns->first == NULL && turns->started == 0);
    pthread_cond_destroy(&turns->change);
    pthread_mutex_destroy(&turns->lock);
    free(turns);
}
