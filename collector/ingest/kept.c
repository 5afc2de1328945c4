/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept: a level is an hour and two counts under a lock; the first use in a new hour empties it.
 */
#include "collector/ingest/kept.h"

#include "collector/base/log.h"
#include "collector/rollup/frame_vector.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Bytes of a row in the database without its texts, with its part of the indexes; measured. */
enum { SESSION_BYTES = 512, EVENT_BYTES = 256 };

struct fp_kept {
    atomic_uint references;
    pthread_mutex_t lock; /* protects what follows */
    int64_t hour;
    uint64_t own;
    uint64_t others;
    bool is_logged; /* in this hour */
};

struct fp_kept *fp_kept_create(void)
{
    struct fp_kept *kept = calloc(1, sizeof(*kept));
    if (kept == NULL || pthread_mutex_init(&kept->lock, NULL) != 0) {
        free(kept);
        return NULL;
    }
    atomic_init(&kept->references, 1);
    return kept;
}

struct fp_kept *fp_kept_ref(struct fp_kept *kept)
{
    if (kept != NULL)
        atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
    return kept;
}

void fp_kept_unref(struct fp_kept *kept)
{
    if (kept == NULL || atomic_fetch_sub_explicit(&kept->references, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_destroy(&kept->lock);
    free(kept);
}

uint64_t fp_kept_size(const struct fp_delta *delta)
{
    const struct fp_session *session = delta->session;
    struct fp_frame_vector vector;
    fp_frame_vector_fill(delta, &vector);
    uint64_t bytes = SESSION_BYTES + session->content.len + fp_frame_vector_bytes(&vector);
    for (uint32_t i = 0; i < session->event_count; i++) {
        const struct fp_session_event *event = &session->events[i];
        bytes += EVENT_BYTES + event->detail.len;
        if (event->resource != FP_INDEX_NONE)
            bytes += session->resources[event->resource].len;
    }
    return bytes;
}

/* Empties the level in a new hour. A clock that was set back also begins a new one: else a wrong
 * clock would close the level until that hour comes. With the lock held. */
static void turn(struct fp_kept *kept, int64_t hour)
{
    if (hour == kept->hour)
        return;
    kept->hour = hour;
    kept->own = 0;
    kept->others = 0;
    kept->is_logged = false;
}

static void lock_at(struct fp_kept *kept, int64_t hour)
{
    pthread_mutex_lock(&kept->lock);
    turn(kept, hour);
}

bool fp_kept_is_full(const struct fp_kept_ceiling *ceiling, int64_t hour)
{
    struct fp_kept *kept = ceiling->kept;
    lock_at(kept, hour);
    const bool is_full = kept->own + kept->others >= ceiling->most;
    pthread_mutex_unlock(&kept->lock);
    return is_full;
}

bool fp_kept_take(const struct fp_kept_ceiling *ceiling, int64_t hour, uint64_t bytes)
{
    struct fp_kept *kept = ceiling->kept;
    lock_at(kept, hour);
    const bool fits = kept->own + kept->others + bytes <= ceiling->most;
    kept->own += fits ? bytes : 0;
    pthread_mutex_unlock(&kept->lock);
    return fits;
}

void fp_kept_log(const struct fp_kept_ceiling *ceiling, int64_t hour)
{
    struct fp_kept *kept = ceiling->kept;
    lock_at(kept, hour);
    const bool is_first = !kept->is_logged;
    kept->is_logged = true;
    pthread_mutex_unlock(&kept->lock);
    if (is_first)
        fp_log(FP_LOG_WARN,
               "ceiling reached, uploads count but are not kept whole until the next hour",
               "site=%.*s setting=%s bytes=%" PRIu64, FP_STR_ARG(ceiling->site), ceiling->setting,
               ceiling->most);
}

void fp_kept_return(struct fp_kept *kept, int64_t hour, uint64_t bytes)
{
    pthread_mutex_lock(&kept->lock);
    if (kept->hour == hour)
        kept->own -= bytes < kept->own ? bytes : kept->own;
    pthread_mutex_unlock(&kept->lock);
}

uint64_t fp_kept_own(struct fp_kept *kept, int64_t hour)
{
    pthread_mutex_lock(&kept->lock);
    const uint64_t own = kept->hour == hour ? kept->own : 0;
    pthread_mutex_unlock(&kept->lock);
    return own;
}

void fp_kept_learn(struct fp_kept *kept, int64_t hour, uint64_t own, uint64_t others)
{
    lock_at(kept, hour);
    if (own > kept->own)
        kept->own = own;
    kept->others = others;
    pthread_mutex_unlock(&kept->lock);
}

void fp_kept_refund(struct fp_kept_charge *charge)
{
    if (charge->bytes == 0)
        return;
    fp_kept_return(charge->site, charge->hour, charge->bytes);
    fp_kept_return(charge->all, charge->hour, charge->bytes);
    charge->bytes = 0;
}
