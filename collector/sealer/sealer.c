/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealer: a loop of wait, look, work.
 *
 * Moments are by the monotonic clock; `ahead_us` converts those of the database.
 */
#include "collector/sealer/sealer.h"

#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/base/uuid.h"
#include "collector/sealer/metrics.h"
#include "collector/sealer/sealing.h"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* From the end of an hour to its sealing, and a bit: FP_SEAL_DELAY_S of internal.h. */
#define HOUR_DUE_US (FP_US_PER_HOUR + 120 * FP_US_PER_S)

/* Flushed entries after which an open hour may be full: a quarter of what fills it, because other
 * collectors also flush into it. */
#define LOOK_ENTRIES 125000

#define LOOK_PAUSE_US (5 * FP_US_PER_S) /* the least time between looks at late data */
#define BUSY_US (10 * FP_US_PER_S)      /* until another look while another collector works */
#define IDLE_CLOSE_US (60 * FP_US_PER_S)
#define HOUSE_US FP_US_PER_HOUR
/* Until clocks in doubt are looked at again: somebody may have set them, or called trust_clock. */
#define REFUSED_AGAIN_US (INT64_C(600) * FP_US_PER_S)
/* Until housekeeping is tried again, doubled each time: at a restart the lock of the process before
 * is gone in a moment. */
#define HOUSE_RETRY_FIRST_US FP_US_PER_S
#define HOUSE_RETRY_MAX_US (60 * FP_US_PER_S)
#define BACKOFF_FIRST_US (100 * FP_US_PER_MS)
#define BACKOFF_MAX_US (5 * FP_US_PER_S)
#define LOG_AGAIN_US (60 * FP_US_PER_S)
#define NEVER INT64_MAX

/* Entries of a step after which its memory is given back: a flush may need as much at that time. */
#define TRIM_ENTRIES 100000

enum { HINT_MAX = 1024, UTC_MAX = 32 };

struct fp_sealer {
    struct fp_store *store; /* owned, as are all below except metrics */
    struct fp_sealing *sealing;
    struct fp_metric_set *metrics;
    char *database;
    char *sites; /* the store reads them */
    pthread_t thread;
    int stop_fd; /* readable once stopping: ends every wait */
    int wake_fd; /* readable when `news` has changed */

    pthread_mutex_t lock; /* protects only news */
    struct {
        size_t entries;
        int64_t oldest_us;
        bool is_reloaded;
        struct fp_retention retention;
        char *sites; /* owned */
    } news;

    /* The thread's own. */
    int64_t ahead_us;       /* the database's clock less the monotonic one */
    int64_t look_us;        /* when to look for what is due */
    int64_t looked_us;      /* the last look */
    size_t fresh;           /* entries flushed here since then */
    int64_t house_us;       /* when housekeeping is due */
    int64_t house_retry_us; /* the pause before the latest try; 0 after success */
    int64_t house_kept_us;
    enum fp_retention_refusal refusal; /* of the last housekeeping */
    bool is_due;                       /* the last look found something that is not done */
    int64_t worked_us;                 /* when something was last due */
    int64_t backoff_us;
    bool is_unit;   /* the last failure was that of one hour or block, which is now left out */
    uint64_t tries; /* failures since the last success */
    unsigned cuts;  /* see fp_store_was_cut */
    int64_t logged_us;
};

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof(one));
    (void)written; /* a counter of 1 cannot overflow */
}

static bool is_stopping(const struct fp_sealer *sealer)
{
    struct pollfd end = {.fd = sealer->stop_fd, .events = POLLIN};
    return poll(&end, 1, 0) > 0;
}

static void note_earlier(int64_t *moment_us, int64_t other_us)
{
    if (other_us < *moment_us)
        *moment_us = other_us;
}

/* ---- waiting ---- */

/* Waits until a moment, news, or the stop. */
static void wait_until(const struct fp_sealer *sealer, int64_t moment_us)
{
    struct pollfd ends[] = {{.fd = sealer->stop_fd, .events = POLLIN},
                            {.fd = sealer->wake_fd, .events = POLLIN}};
    int64_t left_us = moment_us - fp_clock_monotonic_us();
    if (left_us > FP_US_PER_HOUR)
        left_us = FP_US_PER_HOUR; /* poll's limit is 24 days */
    if (left_us > 0)
        (void)poll(ends, 2, (int)(left_us / FP_US_PER_MS) + 1);
}

/* Plans a look after a flush: at once when an hour may be full or is over, else when it is due. */
static void plan_look(struct fp_sealer *sealer, size_t entries, int64_t oldest_us)
{
    int64_t due_us = oldest_us + HOUR_DUE_US - sealer->ahead_us;
    int64_t soonest_us = sealer->looked_us + LOOK_PAUSE_US;
    sealer->fresh += entries;
    fp_metrics_shift(sealer->metrics, FP_METRIC_UNSEALED_ENTRIES, (int64_t)entries);
    note_earlier(&sealer->house_us, sealer->house_kept_us + HOUSE_US);
    if (sealer->fresh >= LOOK_ENTRIES)
        note_earlier(&sealer->look_us, soonest_us);
    note_earlier(&sealer->look_us, due_us > soonest_us ? due_us : soonest_us);
}

/* Takes what other threads told. */
static void hear(struct fp_sealer *sealer)
{
    uint64_t signals;
    if (read(sealer->wake_fd, &signals, sizeof(signals)) != sizeof(signals))
        return;
    pthread_mutex_lock(&sealer->lock);
    size_t entries = sealer->news.entries;
    int64_t oldest_us = sealer->news.oldest_us;
    bool is_reloaded = sealer->news.is_reloaded;
    struct fp_retention retention = sealer->news.retention;
    char *sites = sealer->news.sites;
    sealer->news.sites = NULL;
    sealer->news.entries = 0;
    sealer->news.oldest_us = NEVER;
    sealer->news.is_reloaded = false;
    pthread_mutex_unlock(&sealer->lock);
    if (is_reloaded) {
        fp_store_set_retention(sealer->store, &retention);
        fp_store_set_sites(sealer->store, sites);
        free(sealer->sites);
        sealer->sites = sites;
        sealer->house_us = fp_clock_monotonic_us();
    }
    if (entries > 0)
        plan_look(sealer, entries, oldest_us);
}

/* ---- work ---- */

/* Learns how far the database's clock is ahead. */
static enum fp_store_result read_clock(struct fp_sealer *sealer)
{
    struct fp_rollup_clock clock;
    enum fp_store_result result = fp_store_connect(sealer->store);
    if (result == FP_STORE_OK)
        result = fp_store_read_clock(sealer->store, &clock);
    if (result == FP_STORE_OK)
        sealer->ahead_us = clock.now_us - fp_clock_monotonic_us();
    return result;
}

static void count_step(struct fp_sealer *sealer, const struct fp_seal_report *report,
                       int64_t took_us)
{
    struct fp_metric_set *metrics = sealer->metrics;
    fp_metrics_add(metrics, report->did == FP_SEAL_HOUR ? FP_METRIC_SEALS : FP_METRIC_SEALED_BLOCKS,
                   1);
    fp_metrics_add(metrics, FP_METRIC_SEAL_ENTRIES_READ, report->entries_read);
    fp_metrics_add(metrics, FP_METRIC_SEAL_ENTRIES_WRITTEN, report->entries_written);
    fp_metrics_observe_us(metrics, FP_METRIC_SEAL_SECONDS, took_us);
}

/* Notes what a look found. */
static void note_look(struct fp_sealer *sealer, const struct fp_seal_report *report)
{
    int64_t now_us = fp_clock_monotonic_us();
    sealer->looked_us = now_us;
    sealer->fresh = 0;
    sealer->is_due = report->did == FP_SEAL_BUSY;
    sealer->look_us = report->next_us == INT64_MAX ? NEVER : report->next_us - sealer->ahead_us;
    if (sealer->is_due)
        note_earlier(&sealer->look_us, now_us + BUSY_US);
    fp_metrics_set(sealer->metrics, FP_METRIC_UNSEALED_ENTRIES, report->waiting_entries);
    /* The collector's own clock may be wrong. */
    const int64_t age_us = now_us + sealer->ahead_us - report->oldest_waiting_us;
    fp_metrics_set_since(sealer->metrics, FP_METRIC_UNSEALED_AGE_SECONDS,
                         report->oldest_waiting_us != 0 ? fp_clock_real_us() - age_us : 0);
}

/* Does one step, if one is due. Between two steps the thread adopts settings and keeps house. A
 * stop interrupts the store's connection. */
static enum fp_store_result seal(struct fp_sealer *sealer)
{
    struct fp_seal_report report = {0};
    enum fp_store_result result = read_clock(sealer);
    int64_t began_us = fp_clock_monotonic_us();
    if (result == FP_STORE_OK)
        result = fp_sealing_step(sealer->sealing, began_us + sealer->ahead_us, &report);
    sealer->is_unit = report.is_unit;
    if (result != FP_STORE_OK)
        return result;
    if (report.did == FP_SEAL_NOTHING || report.did == FP_SEAL_BUSY) {
        note_look(sealer, &report);
    } else {
        sealer->worked_us = fp_clock_monotonic_us();
        count_step(sealer, &report, sealer->worked_us - began_us);
        if (report.entries_read > TRIM_ENTRIES)
            (void)malloc_trim(0);
    }
    return FP_STORE_OK;
}

/* Returns when housekeeping is due if nothing is flushed before: after midnight, when days end. */
static int64_t after_midnight_us(const struct fp_sealer *sealer, int64_t now_us)
{
    int64_t database_us = now_us + sealer->ahead_us;
    int64_t left_us = FP_US_PER_DAY - database_us % FP_US_PER_DAY;
    return now_us + left_us + FP_US_PER_S;
}

/* Writes a moment as text; 0: never. */
static void write_utc(int64_t moment_us, char text[UTC_MAX])
{
    time_t moment = (time_t)(moment_us / FP_US_PER_S);
    struct tm utc = {0};
    gmtime_r(&moment, &utc);
    if (moment_us == 0 || strftime(text, UTC_MAX, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(text, UTC_MAX, "never");
}

/* Publishes whether retention works, and logs it when that has changed. */
static void note_refusal(struct fp_sealer *sealer, const struct fp_store_chores *chores)
{
    static const char *const names[] = FP_RETENTION_REFUSAL_NAMES;
    char database[UTC_MAX];
    char collector[UTC_MAX];
    char trusted[UTC_MAX];
    for (size_t i = 1; i < FP_COUNT(names); i++)
        fp_metrics_set(sealer->metrics, FP_METRIC_RETENTION_CLOCKS_DIFFER + i - 1,
                       (size_t)chores->refusal == i);
    if (chores->refusal == sealer->refusal)
        return;
    sealer->refusal = chores->refusal;
    write_utc(chores->database_us, database);
    write_utc(chores->collector_us, collector);
    write_utc(chores->trusted_us, trusted);
    if (chores->refusal == FP_RETENTION_WORKS)
        fp_log(FP_LOG_INFO, "retention believes the clocks again", "database=%s collector=%s",
               database, collector);
    else
        fp_log(FP_LOG_WARN, "retention does not believe the clocks and destroys nothing",
               "reason=%s database=%s collector=%s trusted=%s hint=%s", names[chores->refusal],
               database, collector, trusted,
               "set the wrong clock; fleetprof status has the command if they are right");
}

/* Plans the next housekeeping after one that succeeded. */
static void plan_house(struct fp_sealer *sealer, const struct fp_store_chores *chores)
{
    sealer->house_retry_us = 0;
    sealer->house_kept_us = fp_clock_monotonic_us();
    sealer->house_us = after_midnight_us(sealer, sealer->house_kept_us);
    if (chores->has_more)
        note_earlier(&sealer->house_us, sealer->house_kept_us + HOUSE_US);
    if (chores->refusal != FP_RETENTION_WORKS)
        note_earlier(&sealer->house_us, sealer->house_kept_us + REFUSED_AGAIN_US);
}

static enum fp_store_result keep_house(struct fp_sealer *sealer)
{
    struct fp_store_chores chores;
    bool is_busy;
    int64_t now_us = fp_clock_monotonic_us();
    if (now_us < sealer->house_us)
        return FP_STORE_OK;
    sealer->house_retry_us =
        sealer->house_retry_us == 0 ? HOUSE_RETRY_FIRST_US : sealer->house_retry_us * 2;
    note_earlier(&sealer->house_retry_us, HOUSE_RETRY_MAX_US);
    sealer->house_us = now_us + sealer->house_retry_us;
    sealer->worked_us = now_us;
    enum fp_store_result result = read_clock(sealer);
    if (result == FP_STORE_OK)
        result = fp_sealing_keep_house(sealer->sealing, &chores, &is_busy);
    if (result != FP_STORE_OK || is_busy)
        return result;
    plan_house(sealer, &chores);
    note_refusal(sealer, &chores);
    if (chores.has_more)
        fp_log(FP_LOG_WARN, "retention drops more in an hour", "dropped=%zu",
               chores.partitions_dropped);
    fp_metrics_add(sealer->metrics, FP_METRIC_PARTITIONS_MADE, chores.partitions_made);
    fp_metrics_add(sealer->metrics, FP_METRIC_PARTITIONS_DROPPED, chores.partitions_dropped);
    fp_metrics_add(sealer->metrics, FP_METRIC_ROWS_PRUNED, chores.rows_pruned);
    fp_metrics_set(sealer->metrics, FP_METRIC_LAST_HOUSEKEEPING, fp_clock_real_us());
    return FP_STORE_OK;
}

static enum fp_store_result work(struct fp_sealer *sealer)
{
    enum fp_store_result result = FP_STORE_OK;
    sealer->is_unit = false;
    if (fp_clock_monotonic_us() >= sealer->look_us)
        result = seal(sealer);
    return result == FP_STORE_OK ? keep_house(sealer) : result;
}

/* Closes a connection that had nothing to do for a while, and gives its memory back. */
static void rest(struct fp_sealer *sealer)
{
    if (!fp_store_connected(sealer->store) || sealer->is_due ||
        fp_clock_monotonic_us() < sealer->worked_us + IDLE_CLOSE_US)
        return;
    fp_sealing_rest(sealer->sealing);
    (void)malloc_trim(0);
}

/* ---- the loop ---- */

static void log_failure(const struct fp_sealer *sealer, enum fp_store_result result)
{
    struct fp_buf hint;
    fp_buf_init(&hint, HINT_MAX);
    bool is_memory = result == FP_STORE_MEMORY;
    if (!is_memory)
        fp_store_hint(sealer->store, &hint);
    fp_log(result == FP_STORE_TROUBLE ? FP_LOG_ERROR : FP_LOG_WARN,
           "sealing or housekeeping failed, tried again until it works",
           hint.len > 0 ? "tries=%llu detail=%s hint=%.*s" : "tries=%llu detail=%s",
           (unsigned long long)sealer->tries,
           is_memory ? "out of memory" : fp_store_message(sealer->store), (int)hint.len,
           (const char *)hint.data);
    fp_buf_release(&hint);
}

/* Logs the first failure, and then one per minute while failures last. */
static void note_failure(struct fp_sealer *sealer, enum fp_store_result result)
{
    int64_t now_us = fp_clock_monotonic_us();
    fp_metrics_add(sealer->metrics, FP_METRIC_SEAL_ERRORS, 1);
    if (sealer->tries++ > 0 && now_us - sealer->logged_us < LOG_AGAIN_US)
        return;
    sealer->logged_us = now_us;
    if (result == FP_STORE_REFUSED || result == FP_STORE_TROUBLE) {
        enum fp_store_result looked = fp_store_find_culprit(sealer->store);
        (void)looked; /* without it the line says less */
    }
    log_failure(sealer, result);
}

static void note_success(struct fp_sealer *sealer)
{
    if (sealer->tries > 0)
        fp_log(FP_LOG_INFO, "sealing works again", "tries=%llu", (unsigned long long)sealer->tries);
    sealer->tries = 0;
    sealer->backoff_us = 0;
    sealer->cuts = 0;
}

/* Waits longer after every failure, plus a random part. */
static void back_off(struct fp_sealer *sealer)
{
    struct fp_uuid drawn = {{128}};
    (void)!fp_uuid_random(&drawn);
    sealer->backoff_us = sealer->backoff_us == 0 ? BACKOFF_FIRST_US : sealer->backoff_us * 2;
    note_earlier(&sealer->backoff_us, BACKOFF_MAX_US);
    struct pollfd end = {.fd = sealer->stop_fd, .events = POLLIN};
    int64_t pause_us = sealer->backoff_us / 2 + sealer->backoff_us / 2 * drawn.bytes[0] / 255;
    (void)poll(&end, 1, (int)(pause_us / FP_US_PER_MS) + 1);
}

/* Returns when the thread has something to do by itself. */
static int64_t next_moment(const struct fp_sealer *sealer)
{
    int64_t moment_us = sealer->look_us;
    note_earlier(&moment_us, sealer->house_us);
    if (fp_store_connected(sealer->store) && !sealer->is_due)
        note_earlier(&moment_us, sealer->worked_us + IDLE_CLOSE_US);
    return moment_us;
}

static void *run(void *argument)
{
    struct fp_sealer *sealer = argument;
    (void)pthread_setname_np(pthread_self(), "sealer");
    while (!is_stopping(sealer)) {
        hear(sealer);
        bool is_due = next_moment(sealer) <= fp_clock_monotonic_us();
        enum fp_store_result result = work(sealer);
        if (result == FP_STORE_OK) {
            if (is_due)
                note_success(sealer);
            rest(sealer);
            wait_until(sealer, next_moment(sealer));
        } else if (result != FP_STORE_STOPPED && !fp_store_was_cut(result, &sealer->cuts)) {
            note_failure(sealer, result);
            if (!sealer->is_unit)
                back_off(sealer);
        }
    }
    return NULL;
}

/* ---- starting and stopping ---- */

static void free_sealer(struct fp_sealer *sealer)
{
    if (sealer->stop_fd >= 0)
        close(sealer->stop_fd);
    if (sealer->wake_fd >= 0)
        close(sealer->wake_fd);
    fp_sealing_free(sealer->sealing);
    fp_store_close(sealer->store);
    pthread_mutex_destroy(&sealer->lock);
    free(sealer->database);
    free(sealer->sites);
    free(sealer->news.sites);
    free(sealer);
}

/* Makes what the thread needs besides its own memory. */
static bool equip(struct fp_sealer *sealer, const struct fp_sealer_settings *settings)
{
    sealer->stop_fd = eventfd(0, EFD_CLOEXEC);
    sealer->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sealer->database = strdup(settings->database);
    sealer->sites = settings->sites != NULL ? strdup(settings->sites) : NULL;
    if (sealer->stop_fd < 0 || sealer->wake_fd < 0 || sealer->database == NULL ||
        (settings->sites != NULL && sealer->sites == NULL))
        return false;
    const struct fp_store_settings store = {
        .database = sealer->database,
        .retention = settings->retention,
        .interrupt_fd = sealer->stop_fd,
    };
    sealer->store = fp_store_create(&store);
    if (sealer->store == NULL)
        return false;
    fp_store_set_sites(sealer->store, sealer->sites);
    sealer->sealing = fp_sealing_create(sealer->store);
    return sealer->sealing != NULL;
}

static const struct fp_metric metrics_table[] = {FP_SEALER_METRICS(FP_METRIC_ROW)};
static const struct fp_metric_table sealer_metrics = {metrics_table, FP_SEALER_METRIC_COUNT, NULL};

struct fp_sealer *fp_sealer_start(const struct fp_sealer_settings *settings,
                                  struct fp_metrics *metrics)
{
    struct fp_metric_set *set = fp_metrics_join(metrics, &sealer_metrics);
    struct fp_sealer *sealer = set != NULL ? calloc(1, sizeof(*sealer)) : NULL;
    if (sealer == NULL)
        return NULL;
    if (pthread_mutex_init(&sealer->lock, NULL) != 0) {
        free(sealer);
        return NULL;
    }
    sealer->metrics = set;
    sealer->news.oldest_us = NEVER;
    sealer->ahead_us = fp_clock_real_us() - fp_clock_monotonic_us();
    sealer->house_kept_us = -HOUSE_US;
    if (!equip(sealer, settings) || pthread_create(&sealer->thread, NULL, run, sealer) != 0) {
        free_sealer(sealer);
        return NULL;
    }
    return sealer;
}

void fp_sealer_wake(struct fp_sealer *sealer, size_t entries, int64_t oldest_us)
{
    pthread_mutex_lock(&sealer->lock);
    sealer->news.entries += entries;
    note_earlier(&sealer->news.oldest_us, oldest_us);
    pthread_mutex_unlock(&sealer->lock);
    signal_fd(sealer->wake_fd);
}

bool fp_sealer_reload(struct fp_sealer *sealer, const struct fp_retention *retention,
                      const char *sites)
{
    char *copy = strdup(sites);
    if (copy == NULL)
        return false;
    pthread_mutex_lock(&sealer->lock);
    sealer->news.is_reloaded = true;
    sealer->news.retention = *retention;
    free(sealer->news.sites); /* of an earlier reload that the thread has not heard of */
    sealer->news.sites = copy;
    pthread_mutex_unlock(&sealer->lock);
    signal_fd(sealer->wake_fd);
    return true;
}

void fp_sealer_stop(struct fp_sealer *sealer)
{
    if (sealer == NULL)
        return;
    signal_fd(sealer->stop_fd);
    pthread_join(sealer->thread, NULL);
    free_sealer(sealer);
}
