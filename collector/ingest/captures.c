/*
 * Captures: a table with linear search, because starting and stopping is rare.
 */
#include "collector/ingest/captures.h"

#include "collector/base/clock.h"

#include <pthread.h>
#include <stdlib.h>

struct capture {
    struct fp_uuid id;
    uint64_t site_id;
    int64_t used_us; /* when it started or its last part arrived */
    uint32_t window;
};

struct fp_captures {
    pthread_mutex_t lock; /* protects what follows */
    struct capture running[FP_CAPTURES_MAX];
    size_t count;
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

void fp_captures_free(struct fp_captures *captures)
{
    if (captures == NULL)
        return;
    pthread_mutex_destroy(&captures->lock);
    free(captures);
}

static void forget(struct fp_captures *captures, struct capture *capture)
{
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
    const struct capture capture = {*id, site_id, now_us, window};
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

void fp_captures_stop_all(struct fp_captures *captures)
{
    pthread_mutex_lock(&captures->lock);
    captures->count = 0;
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
