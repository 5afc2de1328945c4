/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures: a table with linear search, because starting and stopping is rare.
 */
#include "collector/ingest/captures.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"

#include <pthread.h>
#include <stdlib.h>

enum { CARRIES = 2 /* a part that is sent again needs that of the part before it */ };

/* State that a part left for the next one. */
struct left {
    struct fp_carry *carry; /* NULL: this place is free */
    uint32_t part;
};

struct capture {
    struct fp_uuid id;
    uint64_t site_id;
    int64_t used_us; /* when it started or its last part arrived */
    uint32_t window;
    struct left left[CARRIES];
};

struct fp_captures {
    pthread_mutex_t lock; /* protects what follows */
    struct capture running[FP_CAPTURES_MAX];
    size_t count;
    size_t carried_bytes; /* of all carries that are kept */
};

struct fp_captures *fp_captures_create(void)
{
    struct fp_captures *captures = calloc(1, sizeof(*captures));
    if (captures != NULL && pthread_mutex_init(&captures->lock, NULL) != 0) {
        free(captures);
        return NULL;
    }
    return captures;
}

static void drop(struct fp_captures *captures, struct left *left)
{
    if (left->carry == NULL)
        return;
    FP_ASSERT(captures->carried_bytes >= left->carry->arena.used_bytes);
    captures->carried_bytes -= left->carry->arena.used_bytes;
    fp_carry_unref(left->carry);
    left->carry = NULL;
}

static void drop_all(struct fp_captures *captures, struct capture *capture)
{
    for (size_t i = 0; i < CARRIES; i++)
        drop(captures, &capture->left[i]);
}

void fp_captures_free(struct fp_captures *captures)
{
    if (captures == NULL)
        return;
    fp_captures_stop_all(captures);
    FP_ASSERT(captures->count == 0 && captures->carried_bytes == 0);
    pthread_mutex_destroy(&captures->lock);
    free(captures);
}

static void forget(struct fp_captures *captures, struct capture *capture)
{
    FP_ASSERT(capture < captures->running + captures->count);
    drop_all(captures, capture);
    *capture = captures->running[--captures->count];
}

static void forget_idle(struct fp_captures *captures, int64_t now_us)
{
    for (size_t i = captures->count; i-- > 0;)
        if (now_us - captures->running[i].used_us > FP_CAPTURE_IDLE_S * FP_US_PER_S)
            forget(captures, &captures->running[i]);
}

/* Finds a running capture; NULL if it is not running. With the lock held. */
static struct capture *find(struct fp_captures *captures, uint64_t site_id,
                            const struct fp_uuid *id, int64_t now_us)
{
    forget_idle(captures, now_us);
    for (size_t i = 0; i < captures->count; i++) {
        struct capture *capture = &captures->running[i];
        if (capture->site_id == site_id && fp_uuid_equal(&capture->id, id))
            return capture;
    }
    return NULL;
}

static enum fp_capture_result start(struct fp_captures *captures, const struct capture *capture)
{
    size_t of_site = 0;
    forget_idle(captures, capture->used_us);
    for (size_t i = 0; i < captures->count; i++) {
        if (captures->running[i].site_id != capture->site_id)
            continue;
        if (captures->running[i].window == capture->window)
            return FP_CAPTURE_RUNS;
        of_site++;
    }
    if (of_site >= FP_CAPTURES_SITE_MAX)
        return FP_CAPTURE_MANY;
    if (captures->count == FP_CAPTURES_MAX)
        return FP_CAPTURE_FULL;
    captures->running[captures->count++] = *capture;
    return FP_CAPTURE_OK;
}

enum fp_capture_result fp_captures_start(struct fp_captures *captures, uint64_t site_id,
                                         uint32_t window, int64_t now_us, struct fp_uuid *id)
{
    if (!fp_uuid_timed(id))
        return FP_CAPTURE_FULL;
    const struct capture capture = {
        .id = *id, .site_id = site_id, .used_us = now_us, .window = window};
    pthread_mutex_lock(&captures->lock);
    enum fp_capture_result result = start(captures, &capture);
    pthread_mutex_unlock(&captures->lock);
    return result;
}

enum fp_capture_result fp_captures_touch(struct fp_captures *captures, uint64_t site_id,
                                         const struct fp_uuid *id, int64_t now_us)
{
    pthread_mutex_lock(&captures->lock);
    struct capture *capture = find(captures, site_id, id, now_us);
    if (capture != NULL)
        capture->used_us = now_us;
    pthread_mutex_unlock(&captures->lock);
    return capture != NULL ? FP_CAPTURE_OK : FP_CAPTURE_UNKNOWN;
}

enum fp_capture_result fp_captures_stop(struct fp_captures *captures, uint64_t site_id,
                                        const struct fp_uuid *id, int64_t now_us)
{
    pthread_mutex_lock(&captures->lock);
    struct capture *capture = find(captures, site_id, id, now_us);
    if (capture != NULL)
        forget(captures, capture);
    pthread_mutex_unlock(&captures->lock);
    return capture != NULL ? FP_CAPTURE_OK : FP_CAPTURE_UNKNOWN;
}

/* Finds a running capture. NULL if it is not running. With the lock held. */
static struct capture *find_running(struct fp_captures *captures, uint64_t site_id,
                                    const struct fp_uuid *id)
{
    return find(captures, site_id, id, fp_clock_monotonic_us());
}

void fp_captures_continue(struct fp_captures *captures, uint64_t site_id, const struct fp_uuid *id,
                          uint32_t part, struct fp_continuation *continuation)
{
    *continuation = (struct fp_continuation){.is_next = part == 0};
    pthread_mutex_lock(&captures->lock);
    const struct capture *capture = find_running(captures, site_id, id);
    const struct left *nearest = NULL;
    for (size_t i = 0; capture != NULL && i < CARRIES; i++) {
        const struct left *left = &capture->left[i];
        if (left->carry != NULL && left->part < part &&
            (nearest == NULL || left->part > nearest->part))
            nearest = left;
    }
    if (nearest != NULL) {
        continuation->before = fp_carry_ref(nearest->carry);
        continuation->is_next = nearest->part + 1 == part;
    }
    pthread_mutex_unlock(&captures->lock);
}

/* Returns the place for what a part leaves: a free one, or that of the earliest part. NULL if that
 * of this part is kept already, or only later ones. */
static struct left *place_for(struct capture *capture, uint32_t part)
{
    struct left *place = &capture->left[0];
    for (size_t i = 0; i < CARRIES; i++) {
        struct left *left = &capture->left[i];
        if (left->carry != NULL && left->part == part)
            return NULL;
        if (place->carry != NULL && (left->carry == NULL || left->part < place->part))
            place = left;
    }
    return place->carry == NULL || place->part < part ? place : NULL;
}

/* Drops carries of captures that are idle for longest, until there is room. False if there is none.
 */
static bool make_room(struct fp_captures *captures, const struct capture *capture, size_t bytes)
{
    while (captures->carried_bytes + bytes > FP_CAPTURES_CARRIED_BYTES_MAX) {
        struct capture *idle = NULL;
        for (size_t i = 0; i < captures->count; i++) {
            struct capture *each = &captures->running[i];
            bool has_any = each->left[0].carry != NULL || each->left[1].carry != NULL;
            if (each != capture && has_any && (idle == NULL || each->used_us < idle->used_us))
                idle = each;
        }
        if (idle == NULL)
            return false;
        drop_all(captures, idle);
    }
    return true;
}

void fp_captures_keep(struct fp_captures *captures, uint64_t site_id, const struct fp_uuid *id,
                      uint32_t part, struct fp_carry *carry)
{
    if (carry == NULL)
        return;
    pthread_mutex_lock(&captures->lock);
    struct capture *capture = find_running(captures, site_id, id);
    struct left *place = capture != NULL ? place_for(capture, part) : NULL;
    if (place != NULL)
        drop(captures, place);
    if (place != NULL && make_room(captures, capture, carry->arena.used_bytes)) {
        *place = (struct left){carry, part};
        captures->carried_bytes += carry->arena.used_bytes;
        carry = NULL;
    }
    pthread_mutex_unlock(&captures->lock);
    fp_carry_unref(carry);
}

void fp_captures_stop_all(struct fp_captures *captures)
{
    pthread_mutex_lock(&captures->lock);
    while (captures->count > 0)
        forget(captures, &captures->running[captures->count - 1]);
    pthread_mutex_unlock(&captures->lock);
}

size_t fp_captures_list(struct fp_captures *captures, int64_t now_us,
                        struct fp_uuid ids[FP_CAPTURES_MAX])
{
    pthread_mutex_lock(&captures->lock);
    forget_idle(captures, now_us);
    size_t count = captures->count;
    for (size_t i = 0; i < count; i++)
        ids[i] = captures->running[i].id;
    pthread_mutex_unlock(&captures->lock);
    return count;
}
