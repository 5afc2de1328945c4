/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters: a queue, and the thread that writes from it.
 */
#include "collector/letters/letters.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/letters/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The memory for letters that wait for the disk, and the rate at which they are written: a flood of
 * refusals must not slow down the spool's disk. */
#define QUEUE_BYTES ((size_t)16 * 1024 * 1024)
#define BYTES_PER_S ((uint64_t)8 * 1024 * 1024)

struct queued {
    struct queued *next;
    int64_t received_us;
    struct fp_buf head;
    struct fp_buf body;
};

struct fp_dead_letters {
    char *path; /* owned */
    uint64_t max_bytes;
    struct fp_metric_set *metrics;
    pthread_t thread;

    pthread_mutex_t lock; /* protects what follows, up to the empty line */
    pthread_cond_t changed;
    struct queued *first;
    struct queued *last;
    size_t queued_bytes; /* bytes they hold, including the one being written */
    bool stopping;

    /* Used only by the thread. */
    int dir; /* -1: not open */
    uint64_t room;
    uint64_t last_id;
    bool failing; /* the loss of letters was logged */
};

static struct fp_str bytes_of(const struct fp_buf *buf)
{
    return (struct fp_str){(const char *)buf->data, buf->len};
}

static void free_queued(struct queued *queued)
{
    fp_buf_release(&queued->head);
    fp_buf_release(&queued->body);
    free(queued);
}

/* ---- the directory ---- */

static void count(struct fp_dead_letters *letters, enum fp_dead_letters_metric metric)
{
    fp_metrics_add(letters->metrics, metric, 1);
    fp_metrics_set(letters->metrics, FP_METRIC_DEAD_LETTERS_BYTES, (int64_t)letters->room);
}

/* Lists the directory and updates the room it takes. Others may remove letters at any time. */
static bool take_stock(struct fp_dead_letters *letters, struct fp_letter_list *list)
{
    if (!fp_letter_list(letters->dir, list))
        return false;
    letters->room = list->room;
    if (list->count > 0 && list->entries[list->count - 1].id > letters->last_id)
        letters->last_id = list->entries[list->count - 1].id;
    return true;
}

static bool open_directory(struct fp_dead_letters *letters)
{
    if (letters->dir >= 0)
        return true;
    letters->room = 0;
    if (mkdir(letters->path, 0700) != 0 && errno != EEXIST)
        return false;
    letters->dir = open(letters->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (letters->dir < 0)
        return false;
    struct fp_letter_list list = {0};
    /* Two collectors would use the same names. */
    if (flock(letters->dir, LOCK_EX | LOCK_NB) == 0 && take_stock(letters, &list)) {
        free(list.entries);
        fp_letter_sweep(letters->dir);
        fp_metrics_set(letters->metrics, FP_METRIC_DEAD_LETTERS_BYTES, (int64_t)letters->room);
        return true;
    }
    int error = errno;
    close(letters->dir);
    letters->dir = -1;
    errno = error;
    return false;
}

/*
 * Evicts the oldest letters if there is no room for another. Evicts an eighth of the maximum more
 * than necessary, so that the directory is not read for each letter.
 */
static bool make_room(struct fp_dead_letters *letters, uint64_t needed)
{
    uint64_t max = letters->max_bytes;
    if (needed > max) {
        errno = EFBIG;
        return false;
    }
    if (letters->room <= max - needed)
        return true;
    struct fp_letter_list list;
    if (!take_stock(letters, &list))
        return false;
    uint64_t target = max - needed < max / 8 ? 0 : max - needed - max / 8;
    for (size_t i = 0; i < list.count && letters->room > target; i++) {
        char name[FP_LETTER_NAME_SIZE];
        fp_letter_name(list.entries[i].id, name);
        if (unlinkat(letters->dir, name, 0) != 0 && errno != ENOENT)
            continue;
        FP_ASSERT(letters->room >= list.entries[i].room);
        letters->room -= list.entries[i].room;
        count(letters, FP_METRIC_DEAD_LETTERS_EVICTED);
    }
    free(list.entries);
    errno = ENOSPC;
    return letters->room <= max - needed;
}

static bool store(struct fp_dead_letters *letters, const struct queued *queued)
{
    uint64_t needed = fp_letter_room(queued->head.len + queued->body.len);
    if (!open_directory(letters) || !make_room(letters, needed))
        return false;
    /* The time, but always later than the last id: ids sort by age even if the clock is set
     * back. */
    uint64_t now = (uint64_t)queued->received_us;
    uint64_t id = now > letters->last_id ? now : letters->last_id + 1;
    FP_ASSERT(id > letters->last_id);
    if (!fp_letter_put(letters->dir, id, bytes_of(&queued->head), bytes_of(&queued->body)))
        return false;
    letters->last_id = id;
    letters->room += needed;
    count(letters, FP_METRIC_DEAD_LETTERS_STORED);
    return true;
}

/* Logs the first failure. Closes a directory that was removed, so that it is created again. */
static void note_failure(struct fp_dead_letters *letters)
{
    int error = errno;
    if (!letters->failing)
        fp_log(FP_LOG_WARN, "dead letters are dropped", "path=%s error=%s", letters->path,
               strerror(error));
    letters->failing = true;
    if (error == ENOENT && letters->dir >= 0) {
        close(letters->dir);
        letters->dir = -1;
    }
}

static void store_or_drop(struct fp_dead_letters *letters, const struct queued *queued)
{
    if (store(letters, queued)) {
        letters->failing = false;
        return;
    }
    note_failure(letters);
    count(letters, FP_METRIC_DEAD_LETTERS_DROPPED);
}

/* ---- the thread ---- */

/* Waits for the next letter and returns it; NULL at the end, once the queue is empty. With the lock
 * held. */
static struct queued *take(struct fp_dead_letters *letters)
{
    while (letters->first == NULL && !letters->stopping)
        pthread_cond_wait(&letters->changed, &letters->lock);
    struct queued *queued = letters->first;
    if (queued != NULL)
        letters->first = queued->next;
    return queued;
}

/* Waits as long as that many bytes take at the maximum rate, or until the thread must end. With
 * the lock held. */
static void keep_pace(struct fp_dead_letters *letters, size_t bytes)
{
    int64_t until_us =
        fp_clock_monotonic_us() + (int64_t)(bytes * (uint64_t)FP_US_PER_S / BYTES_PER_S);
    const struct timespec until = {until_us / FP_US_PER_S, until_us % FP_US_PER_S * 1000};
    int waited = 0;
    while (waited == 0 && !letters->stopping)
        waited = pthread_cond_clockwait(&letters->changed, &letters->lock, CLOCK_MONOTONIC, &until);
}

static void *run(void *context)
{
    struct fp_dead_letters *letters = context;
    if (!open_directory(letters))
        note_failure(letters);
    pthread_mutex_lock(&letters->lock);
    for (struct queued *queued; (queued = take(letters)) != NULL;) {
        pthread_mutex_unlock(&letters->lock);
        size_t held = queued->head.cap + queued->body.cap;
        size_t written = queued->head.len + queued->body.len;
        store_or_drop(letters, queued);
        free_queued(queued);
        pthread_mutex_lock(&letters->lock);
        FP_ASSERT(letters->queued_bytes >= held);
        letters->queued_bytes -= held;
        keep_pace(letters, written);
    }
    FP_ASSERT(letters->first == NULL && letters->queued_bytes == 0);
    pthread_mutex_unlock(&letters->lock);
    return NULL;
}

static const struct fp_metric metrics_table[] = {FP_DEAD_LETTERS_METRICS(FP_METRIC_ROW)};
const struct fp_metric_table fp_dead_letters_metrics = {metrics_table, FP_DEAD_LETTERS_METRIC_COUNT,
                                                        NULL};

struct fp_dead_letters *fp_dead_letters_start(const struct fp_dead_letters_settings *settings,
                                              struct fp_metrics *metrics)
{
    struct fp_metric_set *set = fp_metrics_join(metrics, &fp_dead_letters_metrics);
    struct fp_dead_letters *letters = set != NULL ? calloc(1, sizeof(*letters)) : NULL;
    if (letters == NULL)
        return NULL;
    letters->path = strdup(settings->path);
    letters->max_bytes = settings->max_bytes;
    letters->metrics = set;
    letters->dir = -1;
    if (letters->path == NULL || pthread_mutex_init(&letters->lock, NULL) != 0)
        goto no_lock;
    if (pthread_cond_init(&letters->changed, NULL) != 0)
        goto no_condition;
    if (pthread_create(&letters->thread, NULL, run, letters) != 0)
        goto no_thread;
    return letters;

no_thread:
    pthread_cond_destroy(&letters->changed);
no_condition:
    pthread_mutex_destroy(&letters->lock);
no_lock:
    free(letters->path);
    free(letters);
    return NULL;
}

void fp_dead_letters_stop(struct fp_dead_letters *letters)
{
    if (letters == NULL)
        return;
    pthread_mutex_lock(&letters->lock);
    letters->stopping = true;
    pthread_cond_broadcast(&letters->changed);
    pthread_mutex_unlock(&letters->lock);
    pthread_join(letters->thread, NULL);
    if (letters->dir >= 0)
        close(letters->dir);
    pthread_cond_destroy(&letters->changed);
    pthread_mutex_destroy(&letters->lock);
    free(letters->path);
    free(letters);
}

/* ---- adding ---- */

/* Adds a letter to the queue. False if there is no room. */
static bool enqueue(struct fp_dead_letters *letters, struct queued *queued)
{
    size_t held = queued->head.cap + queued->body.cap;
    pthread_mutex_lock(&letters->lock);
    bool fits = held <= QUEUE_BYTES && letters->queued_bytes <= QUEUE_BYTES - held;
    if (fits) {
        if (letters->first == NULL)
            letters->first = queued;
        else
            letters->last->next = queued;
        letters->last = queued;
        letters->queued_bytes += held;
        pthread_cond_broadcast(&letters->changed);
    }
    pthread_mutex_unlock(&letters->lock);
    return fits;
}

void fp_dead_letters_add(struct fp_dead_letters *letters, const struct fp_letter *letter,
                         struct fp_buf *body)
{
    struct queued *queued = calloc(1, sizeof(*queued));
    if (queued == NULL) {
        fp_buf_release(body);
        fp_metrics_add(letters->metrics, FP_METRIC_DEAD_LETTERS_DROPPED, 1);
        return;
    }
    queued->received_us = letter->received_us;
    queued->body = *body;
    *body = (struct fp_buf){.max = body->max};
    fp_buf_init(&queued->head, FP_LETTER_HEAD_MAX);
    fp_letter_add_head(letter, queued->body.len, &queued->head);
    if (!queued->head.failed && enqueue(letters, queued))
        return;
    free_queued(queued);
    fp_metrics_add(letters->metrics, FP_METRIC_DEAD_LETTERS_DROPPED, 1);
}
