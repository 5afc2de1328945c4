/*
 * Writer: a loop of connect, wait for a window, flush it, trim the spool.
 *
 * The database's position is the authority: it is read again after whatever left a commit in doubt,
 * so a window is either wholly counted or wholly tried again. Where nothing of ours is in doubt, as
 * at the start, it does not say which records were counted: they may be those of a copy of this
 * spool. Then this spool's own note of the position, at most a second old, says where to go on, and
 * upload ids say what was counted.
 */
#include "collector/writer.h"

#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/base/uuid.h"
#include "collector/rollup/record.h"
#include "collector/rollup/rollup.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    /* A window: the larger, the fewer rows an upload costs. These keep the collector within its
     * 64 MiB; only a single upload that is larger by itself may take more. */
    WINDOW_BYTES = 16 * 1024 * 1024,
    UPLOAD_MAX_BYTES = 256 * 1024 * 1024,
    READ_BYTES = 1024 * 1024,
    READ_RECORDS = 1024,
};

#define IDLE_US FP_US_PER_S
#define BACKOFF_FIRST_US (100 * FP_US_PER_MS)
#define BACKOFF_MAX_US (5 * FP_US_PER_S)
#define HOUSEKEEPING_US FP_US_PER_HOUR
#define HOUSEKEEPING_RETRY_US (60 * FP_US_PER_S)

struct fp_writer {
    struct fp_writer_settings settings;
    char *database; /* owned, as is all below but spool and metrics */
    struct fp_spool *spool;
    struct fp_metrics *metrics;
    struct fp_store *store;
    struct fp_rollup rollup;
    struct fp_arena arena; /* of the record that is being added */
    pthread_t thread;

    _Atomic bool stopping;
    int stop_fd;      /* readable once stopping: ends pauses */
    int interrupt_fd; /* readable once the last flush has had its time */
    int done_fd;      /* readable once the thread is at its end */
    int reload_fd;    /* readable once another pace is wanted: ends pauses */

    pthread_mutex_t lock; /* of wanted alone */
    struct fp_writer_pace wanted;

    uint64_t first_tail; /* the spool's end when the writer started */
    bool is_own_spool;   /* not an old copy, or a new id was drawn */
    bool position_known; /* `database_position` is up to date */
    uint64_t database_position;
    uint64_t doubted_end;    /* where a commit moves it whose answer is not known; 0: none */
    uint64_t position;       /* all up to this record is done with */
    uint64_t aside_sequence; /* unreadable records up to this one are set aside */
    uint64_t skip_sequence;  /* this record was refused by the database and set aside; 0: none */
    size_t window_records;   /* at most so many in the next window */

    int64_t flush_began_us;  /* monotonic */
    int64_t housekeeping_us; /* monotonic: when it is next due */
    int64_t backoff_us;
    uint64_t oldest_after; /* the position for which oldest_us holds */
    int64_t oldest_us;     /* when the oldest waiting upload was received; 0: not known */
    char last_trouble[512];
};

/* What was found in a window. */
struct window {
    uint64_t end; /* sequence number of its last record */
    size_t records;
    size_t counted;
    size_t duplicates;
    size_t misdated; /* of those counted */
};

static bool is_stopping(const struct fp_writer *writer)
{
    return atomic_load(&writer->stopping);
}

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof(one));
    (void)written; /* a counter of one cannot overflow */
}

/* Sleeps, until the writer is stopping or another pace is wanted. */
static void pause_us(const struct fp_writer *writer, int64_t duration_us)
{
    struct pollfd ends[] = {{.fd = writer->stop_fd, .events = POLLIN},
                            {.fd = writer->reload_fd, .events = POLLIN}};
    if (duration_us > 0)
        (void)poll(ends, 2, (int)(duration_us / FP_US_PER_MS) + 1);
}

/* Takes over the pace that is wanted, if it is another. */
static void adopt_pace(struct fp_writer *writer)
{
    uint64_t signals;
    if (read(writer->reload_fd, &signals, sizeof(signals)) != sizeof(signals))
        return;
    pthread_mutex_lock(&writer->lock);
    writer->settings.pace = writer->wanted;
    pthread_mutex_unlock(&writer->lock);
    fp_store_set_retention(writer->store, &writer->settings.pace.retention);
    writer->housekeeping_us = fp_clock_monotonic_us();
}

/* ---- building a window ---- */

/* Moves a record that will never be counted to a file of its own. */
static bool set_aside(struct fp_writer *writer, const struct fp_spool_record *record,
                      const char *reason, const char *detail)
{
    if (fp_spool_quarantine(writer->spool, record) != FP_SPOOL_OK)
        return false;
    size_t uploads = fp_record_count(record->bytes, record->len);
    fp_metrics_add(writer->metrics, FP_METRIC_UPLOADS_QUARANTINED, uploads > 0 ? uploads : 1);
    fp_log(FP_LOG_ERROR, "upload set aside", "reason=%s sequence=%" PRIu64 " uploads=%zu detail=%s",
           reason, record->sequence, uploads, detail);
    return true;
}

/* Sets a record aside that no version of ours could have written, or that a later one did. */
static bool set_unreadable_aside(struct fp_writer *writer, const struct fp_spool_record *record,
                                 enum fp_delta_error error)
{
    if (record->sequence <= writer->aside_sequence)
        return true;
    bool is_later = error == FP_DELTA_VERSION;
    if (!set_aside(writer, record, is_later ? "unknown-version" : "damaged",
                   is_later ? "a later version wrote it" : "no version writes such bytes"))
        return false;
    writer->aside_sequence = record->sequence;
    return true;
}

/* Adds an upload to the rollup; false when there is no room. */
static bool add_upload(struct fp_writer *writer, const struct fp_delta *delta,
                       struct window *window)
{
    switch (fp_rollup_add(&writer->rollup, delta)) {
    case FP_ROLLUP_COUNTED:
        window->counted++;
        return true;
    case FP_ROLLUP_DUPLICATE:
        window->duplicates++;
        return true;
    case FP_ROLLUP_MISDATED:
        window->counted++;
        window->misdated++;
        return true;
    case FP_ROLLUP_NO_ROOM:
    default:
        return false;
    }
}

/* Adds a record's uploads to the rollup: all are readable, or none is added. */
static enum fp_store_result add_record(struct fp_writer *writer,
                                       const struct fp_spool_record *record, struct window *window)
{
    struct fp_record uploads;
    if (record->sequence == writer->skip_sequence)
        return FP_STORE_OK;
    fp_arena_clear(&writer->arena);
    enum fp_delta_error error =
        fp_record_decode(record->bytes, record->len, &writer->arena, &uploads);
    if (error == FP_DELTA_MEMORY)
        return FP_STORE_REFUSED;
    if (error != FP_DELTA_OK)
        return set_unreadable_aside(writer, record, error) ? FP_STORE_OK : FP_STORE_MEMORY;
    for (size_t i = 0; i < uploads.count; i++) {
        if (!add_upload(writer, &uploads.deltas[i], window))
            return FP_STORE_REFUSED;
    }
    return FP_STORE_OK;
}

/*
 * Adds the records after the position up to `until`, at most max_records of them, to the rollup.
 * FP_STORE_REFUSED: one of them does not fit into memory; it is the window's last one.
 */
static enum fp_store_result add_records(struct fp_writer *writer, uint64_t until,
                                        size_t max_records, struct window *window)
{
    enum fp_store_result result = FP_STORE_OK;
    *window = (struct window){.end = writer->position};
    while (window->end < until && window->records < max_records) {
        size_t left = max_records - window->records;
        struct fp_spool_batch batch;
        if (fp_spool_read(writer->spool, window->end, READ_BYTES,
                          left < READ_RECORDS ? left : READ_RECORDS, &batch) != FP_SPOOL_OK)
            return FP_STORE_MEMORY;
        if (batch.count == 0)
            break;
        for (size_t i = 0; i < batch.count && batch.records[i].sequence <= until; i++) {
            result = add_record(writer, &batch.records[i], window);
            window->records++;
            window->end = batch.records[i].sequence;
            if (result != FP_STORE_OK)
                return result;
            if (until == UINT64_MAX && fp_rollup_is_full(&writer->rollup))
                return FP_STORE_OK;
        }
        if (batch.records[batch.count - 1].sequence > until)
            break;
    }
    return result;
}

/* ---- flushing it ---- */

/* Sets the one record of a refused window aside; the next window goes over it. */
static enum fp_store_result set_refused_aside(struct fp_writer *writer)
{
    struct fp_spool_batch batch;
    if (fp_spool_read(writer->spool, writer->position, READ_BYTES, 1, &batch) != FP_SPOOL_OK ||
        batch.count == 0 ||
        !set_aside(writer, &batch.records[0], "refused", fp_store_message(writer->store)))
        return FP_STORE_MEMORY;
    writer->skip_sequence = batch.records[0].sequence;
    return FP_STORE_OK;
}

/* Of a refused window, tries half; of a single record, none. */
static enum fp_store_result halve(struct fp_writer *writer, const struct window *window)
{
    if (window->records > 1) {
        writer->window_records = window->records / 2;
        return FP_STORE_OK;
    }
    writer->window_records = 1;
    return set_refused_aside(writer);
}

static enum fp_store_result write_window(struct fp_writer *writer, struct window *window,
                                         size_t *rows)
{
    uint64_t end = window->end;
    uint64_t start = writer->database_position;
    const struct fp_store_window moves = {fp_spool_id(writer->spool), start,
                                          end > start ? end : start};
    size_t known;
    enum fp_store_result result = fp_store_claim(writer->store, &moves, &writer->rollup, &known);
    if (result != FP_STORE_OK)
        return result;
    if (known > 0) {
        fp_rollup_recount(&writer->rollup);
        result = add_records(writer, end, SIZE_MAX, window);
        if (result != FP_STORE_OK) {
            fp_store_abandon(writer->store);
            return result;
        }
    }
    writer->doubted_end = moves.end;
    result = fp_store_commit(writer->store, &writer->rollup, rows);
    if (result == FP_STORE_OK)
        writer->database_position = moves.end;
    if (result == FP_STORE_OK || result == FP_STORE_REFUSED)
        writer->doubted_end = 0;
    return result;
}

static void count_flush(struct fp_writer *writer, const struct window *window, size_t rows,
                        int64_t took_us)
{
    struct fp_metrics *metrics = writer->metrics;
    fp_metrics_add(metrics, FP_METRIC_FLUSHES, 1);
    fp_metrics_add(metrics, FP_METRIC_FLUSH_ROWS, rows);
    fp_metrics_add(metrics, FP_METRIC_UPLOADS_FLUSHED, window->counted);
    fp_metrics_add(metrics, FP_METRIC_UPLOADS_DUPLICATE, window->duplicates);
    fp_metrics_add(metrics, FP_METRIC_UPLOADS_MISDATED, window->misdated);
    fp_metrics_observe_us(metrics, FP_METRIC_FLUSH_SECONDS, took_us);
}

/* A flush that took too long makes the next window smaller; else windows may grow again. */
static void adapt_window(struct fp_writer *writer, const struct window *window, int64_t took_us)
{
    if (took_us > writer->settings.pace.max_window_us && window->records > 1)
        writer->window_records = window->records / 2;
    else if (writer->window_records < FP_ROLLUP_MAX_UPLOADS)
        writer->window_records *= 2;
}

static void trim_spool(struct fp_writer *writer)
{
    enum fp_spool_error error = fp_spool_trim(writer->spool, writer->position);
    if (error != FP_SPOOL_OK) /* the database has the position; the next trim tries again */
        fp_log(FP_LOG_WARN, "spool was not trimmed", "reason=%s", fp_spool_error_text(error));
}

static enum fp_store_result flush(struct fp_writer *writer)
{
    struct fp_rollup_clock clock;
    struct window window;
    size_t rows = 0;
    writer->flush_began_us = fp_clock_monotonic_us();
    enum fp_store_result result = fp_store_read_clock(writer->store, &clock);
    if (result != FP_STORE_OK)
        return result;
    fp_rollup_clear(&writer->rollup, &clock);
    uint64_t tail = fp_spool_tail(writer->spool);
    result = add_records(writer, UINT64_MAX, writer->window_records, &window);
    if (result == FP_STORE_OK && window.records == 0)
        writer->position = tail; /* what was there is gone: trimmed before the start, or damaged */
    else if (result == FP_STORE_OK)
        result = write_window(writer, &window, &rows);
    if (result == FP_STORE_REFUSED)
        return halve(writer, &window);
    if (result != FP_STORE_OK || window.records == 0)
        return result;
    int64_t took_us = fp_clock_monotonic_us() - writer->flush_began_us;
    writer->position = window.end;
    count_flush(writer, &window, rows, took_us);
    adapt_window(writer, &window, took_us);
    trim_spool(writer);
    return FP_STORE_OK;
}

/* ---- what is waiting ---- */

/* When the first waiting upload was received; 0 when it can't be read. */
static int64_t read_oldest_us(struct fp_writer *writer)
{
    struct fp_spool_batch batch;
    struct fp_record uploads;
    if (fp_spool_read(writer->spool, writer->position, READ_BYTES, 1, &batch) != FP_SPOOL_OK ||
        batch.count == 0)
        return 0;
    fp_arena_clear(&writer->arena);
    if (fp_record_decode(batch.records[0].bytes, batch.records[0].len, &writer->arena, &uploads) !=
        FP_DELTA_OK)
        return 0;
    return uploads.deltas[0].received_us;
}

static void show_backlog_age(struct fp_writer *writer)
{
    int64_t age_us = 0;
    if (fp_spool_tail(writer->spool) > writer->position) {
        if (writer->oldest_us == 0 || writer->oldest_after != writer->position)
            writer->oldest_us = read_oldest_us(writer);
        writer->oldest_after = writer->position;
        age_us = writer->oldest_us > 0 ? fp_clock_real_us() - writer->oldest_us : 0;
    }
    fp_metrics_set(writer->metrics, FP_METRIC_SPOOL_BACKLOG_AGE_SECONDS,
                   age_us > 0 ? age_us / FP_US_PER_S : 0);
}

/* Waits until the next flush may begin. */
static void await_turn(struct fp_writer *writer)
{
    int64_t left_us = 1;
    while (left_us > 0 && !is_stopping(writer)) {
        adopt_pace(writer);
        left_us =
            writer->flush_began_us + writer->settings.pace.min_window_us - fp_clock_monotonic_us();
        pause_us(writer, left_us);
    }
}

/* Waits for a window. False: nothing came for a while. */
static bool await_window(struct fp_writer *writer)
{
    if (!fp_spool_wait(writer->spool, writer->position, is_stopping(writer) ? 0 : IDLE_US))
        return false;
    uint64_t waiting = fp_spool_tail(writer->spool) - writer->position;
    if (waiting < writer->window_records)
        await_turn(writer);
    return true;
}

/* ---- the loop ---- */

/* A position that moved to where a commit in doubt moves it says that this was committed; one
 * behind ours is that of a database restored from a backup. */
static void go_on_from(struct fp_writer *writer, uint64_t position)
{
    bool committed = position == writer->doubted_end && position > writer->database_position;
    if (committed || position < writer->position)
        writer->position = position;
    writer->database_position = position;
    writer->doubted_end = 0;
    writer->position_known = true;
}

/*
 * Reads the position. One beyond the end that the spool had at the start is another copy's of this
 * spool: this one takes a new id, and what was counted is known by its upload ids.
 */
static enum fp_store_result read_position(struct fp_writer *writer)
{
    uint64_t position;
    struct fp_uuid id = fp_spool_id(writer->spool);
    enum fp_store_result result = fp_store_read_position(writer->store, &id, &position);
    if (result != FP_STORE_OK)
        return result;
    if (!writer->is_own_spool && position > writer->first_tail) {
        if (fp_spool_renew_id(writer->spool) != FP_SPOOL_OK)
            return FP_STORE_MEMORY;
        fp_log(FP_LOG_WARN, "spool is an old copy, it goes on under a new id",
               "position=%" PRIu64 " end=%" PRIu64, position, writer->first_tail);
        writer->is_own_spool = true;
        return read_position(writer);
    }
    writer->is_own_spool = true;
    go_on_from(writer, position);
    trim_spool(writer);
    return FP_STORE_OK;
}

static enum fp_store_result get_ready(struct fp_writer *writer)
{
    bool was_connected = fp_store_connected(writer->store);
    enum fp_store_result result = fp_store_connect(writer->store);
    if (result == FP_STORE_OK && (!was_connected || !writer->position_known))
        result = read_position(writer);
    if (result == FP_STORE_OK && !was_connected) {
        fp_metrics_set(writer->metrics, FP_METRIC_DATABASE_UP, 1);
        fp_log(FP_LOG_INFO, "connected to the database", "position=%" PRIu64, writer->position);
    }
    return result;
}

static enum fp_store_result keep_house(struct fp_writer *writer)
{
    int64_t now_us = fp_clock_monotonic_us();
    if (now_us < writer->housekeeping_us || is_stopping(writer))
        return FP_STORE_OK;
    writer->housekeeping_us = now_us + HOUSEKEEPING_RETRY_US;
    enum fp_store_result result = fp_store_housekeep(writer->store);
    if (result == FP_STORE_OK)
        writer->housekeeping_us = now_us + HOUSEKEEPING_US;
    return result;
}

static enum fp_store_result work(struct fp_writer *writer, bool *idle)
{
    enum fp_store_result result = get_ready(writer);
    if (result != FP_STORE_OK)
        return result;
    *idle = !await_window(writer);
    if (*idle)
        trim_spool(writer); /* its note of the position may be a second old */
    else
        result = flush(writer);
    return result == FP_STORE_OK ? keep_house(writer) : result;
}

/* Logs a trouble once, not at every try. */
static void log_trouble(struct fp_writer *writer, enum fp_store_result result)
{
    const char *message = result == FP_STORE_MEMORY
                              ? "out of memory, or the spool cannot be read or written"
                              : fp_store_message(writer->store);
    if (strcmp(message, writer->last_trouble) == 0)
        return;
    snprintf(writer->last_trouble, sizeof(writer->last_trouble), "%s", message);
    if (result == FP_STORE_TROUBLE)
        fp_log(FP_LOG_ERROR, "flush failed, tried again until it works", "detail=%s hint=%s",
               message, "if the schema is missing or old, run fleetprof migrate");
    else
        fp_log(FP_LOG_WARN, "flush put off, the spool keeps uploads", "detail=%s", message);
}

/* Waits longer after every failure, by a random part so that collectors do not come back at once.
 */
static void back_off(struct fp_writer *writer)
{
    struct fp_uuid drawn = {{128}};
    (void)!fp_uuid_random(&drawn);
    writer->backoff_us = writer->backoff_us == 0 ? BACKOFF_FIRST_US : writer->backoff_us * 2;
    if (writer->backoff_us > BACKOFF_MAX_US)
        writer->backoff_us = BACKOFF_MAX_US;
    pause_us(writer, writer->backoff_us / 2 + writer->backoff_us / 2 * drawn.bytes[0] / 255);
}

static void note_failure(struct fp_writer *writer, enum fp_store_result result)
{
    /* A commit whose reply was lost may have moved it. */
    writer->position_known = false;
    if (result == FP_STORE_MOVED || result == FP_STORE_STOPPED)
        return;
    fp_metrics_add(writer->metrics, FP_METRIC_FLUSH_ERRORS, 1);
    if (!fp_store_connected(writer->store))
        fp_metrics_set(writer->metrics, FP_METRIC_DATABASE_UP, 0);
    log_trouble(writer, result);
}

static void *run(void *argument)
{
    struct fp_writer *writer = argument;
    for (;;) {
        adopt_pace(writer);
        bool stopping = is_stopping(writer);
        bool idle = false;
        enum fp_store_result result = work(writer, &idle);
        show_backlog_age(writer);
        if (result == FP_STORE_OK) {
            writer->backoff_us = 0;
            writer->last_trouble[0] = '\0';
            if (stopping && idle)
                break;
            continue;
        }
        note_failure(writer, result);
        if (result == FP_STORE_STOPPED || (stopping && result != FP_STORE_MOVED))
            break;
        if (result != FP_STORE_MOVED)
            back_off(writer);
    }
    fp_metrics_set(writer->metrics, FP_METRIC_DATABASE_UP, 0);
    signal_fd(writer->done_fd);
    return NULL;
}

/* ---- starting and stopping ---- */

static void free_writer(struct fp_writer *writer)
{
    const int fds[] = {writer->stop_fd, writer->interrupt_fd, writer->done_fd, writer->reload_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    fp_store_close(writer->store);
    fp_rollup_release(&writer->rollup);
    fp_arena_release(&writer->arena);
    pthread_mutex_destroy(&writer->lock);
    free(writer->database);
    free(writer);
}

/* What the thread needs beside memory of its own. */
static bool equip(struct fp_writer *writer)
{
    writer->stop_fd = eventfd(0, EFD_CLOEXEC);
    writer->interrupt_fd = eventfd(0, EFD_CLOEXEC);
    writer->done_fd = eventfd(0, EFD_CLOEXEC);
    writer->reload_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    writer->database = strdup(writer->settings.database);
    if (writer->stop_fd < 0 || writer->interrupt_fd < 0 || writer->done_fd < 0 ||
        writer->reload_fd < 0 || writer->database == NULL)
        return false;
    const struct fp_store_settings settings = {writer->database, writer->settings.pace.retention,
                                               writer->interrupt_fd};
    writer->store = fp_store_create(&settings);
    return writer->store != NULL;
}

struct fp_writer *fp_writer_start(const struct fp_writer_settings *settings, struct fp_spool *spool,
                                  struct fp_metrics *metrics)
{
    struct fp_writer *writer = calloc(1, sizeof(*writer));
    if (writer == NULL)
        return NULL;
    if (pthread_mutex_init(&writer->lock, NULL) != 0) {
        free(writer);
        return NULL;
    }
    writer->settings = *settings;
    writer->spool = spool;
    writer->metrics = metrics;
    writer->first_tail = fp_spool_tail(spool);
    writer->position = fp_spool_position(spool);
    writer->window_records = FP_ROLLUP_MAX_UPLOADS;
    writer->flush_began_us = fp_clock_monotonic_us() - settings->pace.min_window_us;
    fp_rollup_init(&writer->rollup, WINDOW_BYTES, UPLOAD_MAX_BYTES);
    fp_arena_init(&writer->arena, UPLOAD_MAX_BYTES);
    if (!equip(writer) || pthread_create(&writer->thread, NULL, run, writer) != 0) {
        free_writer(writer);
        return NULL;
    }
    return writer;
}

void fp_writer_reload(struct fp_writer *writer, const struct fp_writer_pace *pace)
{
    pthread_mutex_lock(&writer->lock);
    writer->wanted = *pace;
    pthread_mutex_unlock(&writer->lock);
    signal_fd(writer->reload_fd);
}

void fp_writer_stop(struct fp_writer *writer)
{
    if (writer == NULL)
        return;
    atomic_store(&writer->stopping, true);
    signal_fd(writer->stop_fd);
    fp_spool_wake(writer->spool);
    struct pollfd done = {.fd = writer->done_fd, .events = POLLIN};
    if (poll(&done, 1, (int)(writer->settings.stop_timeout_us / FP_US_PER_MS)) <= 0)
        signal_fd(writer->interrupt_fd);
    pthread_join(writer->thread, NULL);
    free_writer(writer);
}
