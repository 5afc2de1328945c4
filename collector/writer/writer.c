/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer: a loop of connect, wait for a window, flush it, trim the spool.
 *
 * The database's position is the authority. The writer reads it again after anything that left a
 * commit in doubt, so a window is either wholly counted or wholly retried.
 *
 * When no commit of this process is in doubt, as at the start, the position does not show which
 * records were counted: they may be those of a copy of this spool. Then the spool's own note of the
 * position, at most a second old, gives the place to continue, and upload ids show what was
 * counted.
 */
#include "collector/writer/internal.h"

#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/base/uuid.h"
#include "collector/rollup/record.h"

#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define IDLE_US FP_US_PER_S
#define BUSY_US (100 * FP_US_PER_MS)
#define BACKOFF_FIRST_US (100 * FP_US_PER_MS)
#define BACKOFF_MAX_US (5 * FP_US_PER_S)
#define LOG_AGAIN_US (60 * FP_US_PER_S)

enum {
    HINT_MAX = 1024,
    BUSY_RECORDS = 25, /* in BUSY_US: the records of a busy collector */
    FULL_RECORDS = 10000
};

_Static_assert(FP_METRIC_DATABASE_STATE_FAILING - FP_METRIC_DATABASE_STATE_CONNECTING ==
                   FP_DATABASE_FAILING - FP_DATABASE_CONNECTING,
               "the metrics of the states are in their order");

static bool is_stopping(const struct fp_writer *writer)
{
    return atomic_load(&writer->stopping);
}

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof(one));
    (void)written; /* a counter of 1 cannot overflow */
}

/* Sleeps for the duration; wakes early when the writer is stopping or a new pace is set. */
static void pause_us(const struct fp_writer *writer, int64_t duration_us)
{
    struct pollfd ends[] = {{.fd = writer->stop_fd, .events = POLLIN},
                            {.fd = writer->reload_fd, .events = POLLIN}};
    if (duration_us > 0)
        (void)poll(ends, 2, (int)(duration_us / FP_US_PER_MS) + 1);
}

/* Adopts the wanted pace, if a new one was set. */
static void adopt_pace(struct fp_writer *writer)
{
    uint64_t signals;
    if (read(writer->reload_fd, &signals, sizeof(signals)) != sizeof(signals))
        return;
    pthread_mutex_lock(&writer->lock);
    writer->settings.pace = writer->wanted;
    pthread_mutex_unlock(&writer->lock);
    fp_store_set_retention(writer->store, &writer->settings.pace.retention);
}

/* ---- the backlog ---- */

/* Returns when the first waiting upload was received; 0 when it cannot be read. */
static int64_t read_oldest_us(struct fp_writer *writer)
{
    struct fp_spool_batch batch;
    struct fp_record uploads;
    if (fp_spool_read(writer->spool, writer->position, FP_READ_BYTES, 1, &batch) != FP_SPOOL_OK ||
        batch.count == 0)
        return 0;
    fp_arena_clear(&writer->arena);
    if (fp_record_decode(batch.records[0].bytes, batch.records[0].len, &writer->arena, &uploads) !=
        FP_DELTA_OK)
        return 0;
    return uploads.deltas[0].received_us;
}

/* Publishes the age of the backlog. Called before and after each flush, so the age keeps growing
 * while the database hangs. */
static void show_backlog_age(struct fp_writer *writer)
{
    bool is_waiting = fp_spool_tail(writer->spool) > writer->position;
    if (is_waiting && (writer->oldest_us == 0 || writer->oldest_after != writer->position)) {
        writer->oldest_us = read_oldest_us(writer);
        writer->oldest_after = writer->position;
    }
    fp_metrics_set_since(writer->metrics, FP_METRIC_SPOOL_BACKLOG_AGE_SECONDS,
                         is_waiting ? writer->oldest_us : 0);
}

/* Waits until min_window has passed since the last flush began. */
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

/* True if waiting would make the next window no larger. Records that the last flush left behind
 * have waited already. */
static bool is_full(const struct fp_writer *writer)
{
    uint64_t waiting = fp_spool_tail(writer->spool) - writer->position;
    return waiting >= FULL_RECORDS || waiting >= writer->window_records ||
           writer->position < writer->flush_tail;
}

/*
 * Waits for a larger window while many records arrive: the more uploads share a packed row, the
 * cheaper each is. Ends when the window is full, when fewer than BUSY_RECORDS have arrived in
 * BUSY_US, and when half of max_window has passed since the last flush began.
 */
static void await_larger(struct fp_writer *writer)
{
    uint64_t seen = writer->flush_tail;
    int64_t left_us = 1;
    while (left_us > 0 && !is_stopping(writer) && !is_full(writer) &&
           fp_spool_tail(writer->spool) - seen >= BUSY_RECORDS) {
        seen = fp_spool_tail(writer->spool);
        adopt_pace(writer);
        left_us = writer->flush_began_us + writer->settings.pace.max_window_us / 2 -
                  fp_clock_monotonic_us();
        if (left_us > 0)
            (void)fp_spool_wait(writer->spool, writer->position + FULL_RECORDS - 1,
                                left_us < BUSY_US ? left_us : BUSY_US);
    }
}

/* Waits for a window. False: nothing arrived for a while. */
static bool await_window(struct fp_writer *writer)
{
    if (!fp_spool_wait(writer->spool, writer->position, is_stopping(writer) ? 0 : IDLE_US))
        return false;
    uint64_t waiting = fp_spool_tail(writer->spool) - writer->position;
    if (waiting < writer->window_records)
        await_turn(writer);
    await_larger(writer);
    return true;
}

/* ---- the loop ---- */

/*
 * Goes back to the database's position, which is before ours. Either the database has lost what it
 * had counted: it is a standby that was promoted before it had everything, or was restored from a
 * backup. Or, at position 0, it is another one. Segments that were trimmed lately are still there.
 */
static void step_back(struct fp_writer *writer, uint64_t position)
{
    uint64_t gone = fp_spool_rewind(writer->spool, position);
    if (writer->has_new_id)
        gone = 0; /* counted under the former one */
    writer->position = position;
    writer->refused_end = writer->witness_sequence = 0; /* they are ahead now */
    if (position >= writer->counted)
        return;
    fp_metrics_add(writer->metrics, FP_METRIC_RECORDS_OUT_OF_REACH, gone);
    if (position > 0) {
        fp_log(gone > 0 ? FP_LOG_ERROR : FP_LOG_WARN,
               "database has lost uploads, they are counted again from the spool",
               "position=%" PRIu64 " counted=%" PRIu64 " out_of_reach=%" PRIu64, position,
               writer->counted, gone);
    } else {
        fp_log(gone > 0 ? FP_LOG_ERROR : FP_LOG_WARN,
               "database has nothing of this spool, what is kept is counted",
               "counted=%" PRIu64 " out_of_reach=%" PRIu64, writer->counted, gone);
    }
    if (writer->counted > writer->recount_until)
        writer->recount_until = writer->counted;
    writer->counted = position;
}

/* Continues from the database's position. If it equals the end of the commit in doubt, that commit
 * happened. */
static void go_on_from(struct fp_writer *writer, uint64_t position)
{
    bool committed = position == writer->doubted_end && position > writer->database_position;
    if (committed)
        writer->position = writer->counted = position;
    else if (position < writer->position)
        step_back(writer, position);
    if (position > 0)
        writer->has_new_id = false;
    writer->database_position = position;
    writer->doubted_end = 0;
    writer->position_known = true;
}

/*
 * Reads the position. If it is beyond the end that the spool had at the start, it comes from
 * another copy of this spool: this copy draws a new id, and upload ids show what was counted.
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
        writer->is_own_spool = writer->has_new_id = true;
        return read_position(writer);
    }
    writer->is_own_spool = true;
    go_on_from(writer, position);
    fp_writer_trim(writer);
    return FP_STORE_OK;
}

/* Publishes the database's state in the metrics and in the shared status. */
static void show_state(struct fp_writer *writer, enum fp_database_state state, bool is_up)
{
    struct fp_database_status *status = writer->settings.status;
    fp_metrics_set(writer->metrics, FP_METRIC_DATABASE_UP, is_up);
    fp_metrics_set(writer->metrics, FP_METRIC_DATABASE_STATE_CONNECTING + (size_t)writer->state, 0);
    fp_metrics_set(writer->metrics, FP_METRIC_DATABASE_STATE_CONNECTING + (size_t)state, 1);
    writer->state = state;
    if (status == NULL)
        return;
    fp_database_status_set(status, state, is_up);
    if (is_up)
        (void)fp_database_status_accuse(status, NULL, NULL);
}

/* Publishes a new connection. After failures only a flush proves that the database works: a
 * database that refuses flushes still accepts connections. */
static void note_connection(struct fp_writer *writer)
{
    if (writer->tries > 0)
        return;
    enum fp_database_state state = fp_store_state(writer->store);
    show_state(writer, state, true);
    fp_log(FP_LOG_INFO, "connected to the database", "position=%" PRIu64, writer->position);
    if (state != FP_DATABASE_REACHABLE)
        fp_log(FP_LOG_WARN, "the database has another schema than this collector knows",
               "state=%s hint=%s", fp_database_state_name(state), fp_database_state_text(state));
}

static enum fp_store_result get_ready(struct fp_writer *writer)
{
    fp_store_drop_cut(writer->store);
    bool was_connected = fp_store_connected(writer->store);
    enum fp_store_result result = fp_store_connect(writer->store);
    if (result == FP_STORE_OK && (!was_connected || !writer->position_known))
        result = read_position(writer);
    if (result == FP_STORE_OK && !was_connected) {
        writer->sessions_told = false; /* this may be a different database */
        note_connection(writer);
    }
    return result;
}

/* Without the schema of this program, what collectors share may not be there. */
static enum fp_store_result share(struct fp_writer *writer)
{
    const struct fp_writer_settings *settings = &writer->settings;
    if (settings->share == NULL || fp_store_state(writer->store) != FP_DATABASE_REACHABLE)
        return FP_STORE_OK;
    const struct fp_uuid spool_id = fp_spool_id(writer->spool);
    return settings->share(settings->shared, writer->store, &spool_id);
}

static enum fp_store_result work(struct fp_writer *writer, bool *idle)
{
    enum fp_store_result result = get_ready(writer);
    if (result == FP_STORE_OK)
        result = share(writer);
    if (result != FP_STORE_OK)
        return result;
    *idle = !await_window(writer);
    result = get_ready(writer); /* the server may have closed the connection meanwhile */
    if (result != FP_STORE_OK)
        return result;
    show_backlog_age(writer);
    if (*idle) {
        fp_writer_trim(writer); /* updates its note of the position, which may be a second old */
        result = fp_writer_tell_sessions(writer, NULL);
    } else {
        result = fp_writer_flush(writer);
    }
    if (result == FP_STORE_OK && fp_store_state(writer->store) != FP_DATABASE_REACHABLE)
        result = fp_store_check_schema(writer->store); /* a migration may have run since */
    return result;
}

/* Ends a period of failures after a success. */
static void note_success(struct fp_writer *writer)
{
    if (writer->tries > 0)
        fp_log(FP_LOG_INFO, "flushes work again", "failed_s=%lld tries=%llu",
               (long long)((fp_clock_monotonic_us() - writer->failing_us) / FP_US_PER_S),
               (unsigned long long)writer->tries);
    writer->tries = 0;
    writer->backoff_us = 0;
    writer->cuts = 0;
    show_state(writer, fp_store_state(writer->store), true);
}

static void log_trouble(const struct fp_writer *writer, enum fp_store_result result)
{
    struct fp_buf hint;
    fp_buf_init(&hint, HINT_MAX);
    bool is_memory = result == FP_STORE_MEMORY;
    if (!is_memory)
        fp_store_hint(writer->store, &hint);
    const char *message = is_memory ? "out of memory, or the spool cannot be read or written"
                                    : fp_store_message(writer->store);
    bool is_lasting = result == FP_STORE_TROUBLE || result == FP_STORE_REFUSED;
    fp_log(is_lasting ? FP_LOG_ERROR : FP_LOG_WARN,
           "flush failed, tried again until it works; the spool keeps uploads",
           hint.len > 0 ? "state=%s failing_s=%lld tries=%llu detail=%s hint=%.*s"
                        : "state=%s failing_s=%lld tries=%llu detail=%s",
           fp_database_state_name(writer->state),
           (long long)((fp_clock_monotonic_us() - writer->failing_us) / FP_US_PER_S),
           (unsigned long long)writer->tries, message, (int)hint.len, (const char *)hint.data);
    fp_buf_release(&hint);
}

/* Publishes what of the schema refuses uploads. True: it is not what did so before. */
static bool accuse(struct fp_writer *writer, enum fp_store_result result)
{
    struct fp_buf hint;
    bool is_news = false;
    if (result != FP_STORE_REFUSED && result != FP_STORE_TROUBLE)
        return false;
    enum fp_store_result looked = fp_store_find_culprit(writer->store);
    (void)looked; /* the next try looks again */
    if (writer->settings.status == NULL)
        return false;
    fp_buf_init(&hint, HINT_MAX);
    fp_store_hint(writer->store, &hint);
    fp_buf_add(&hint, "", 1);
    if (!hint.failed)
        is_news = fp_database_status_accuse(writer->settings.status,
                                            fp_store_culprit(writer->store), (char *)hint.data);
    fp_buf_release(&hint);
    return is_news;
}

/* Publishes a failure and logs it: at once when it is the first or differs from the last, then once
 * per minute while it lasts. */
static void note_trouble(struct fp_writer *writer, enum fp_store_result result)
{
    int64_t now_us = fp_clock_monotonic_us();
    bool is_other = accuse(writer, result);
    enum fp_database_state state =
        result == FP_STORE_MEMORY ? FP_DATABASE_FAILING : fp_store_failure(writer->store);
    bool is_news = writer->tries == 0 || is_other || state != writer->state ||
                   now_us - writer->logged_us >= LOG_AGAIN_US;
    if (writer->tries++ == 0)
        writer->failing_us = now_us;
    show_state(writer, state, false);
    if (!is_news)
        return;
    writer->logged_us = now_us;
    log_trouble(writer, result);
}

/* Waits longer after every failure, plus a random part so that collectors do not reconnect at the
 * same time. */
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
    if (result == FP_STORE_STOPPED)
        return;
    fp_metrics_add(writer->metrics, FP_METRIC_FLUSH_ERRORS, 1);
    note_trouble(writer, result);
}

static void *run(void *argument)
{
    struct fp_writer *writer = argument;
    (void)pthread_setname_np(pthread_self(), "writer");
    for (;;) {
        adopt_pace(writer);
        bool stopping = is_stopping(writer);
        bool idle = false;
        enum fp_store_result result = work(writer, &idle);
        show_backlog_age(writer);
        if (result == FP_STORE_OK) {
            note_success(writer);
            if (stopping && idle)
                break;
            continue;
        }
        /* A commit whose reply was lost may have moved the position. */
        writer->position_known = false;
        if (fp_store_was_cut(result, &writer->cuts) || result == FP_STORE_MOVED)
            continue;
        note_failure(writer, result);
        if (result == FP_STORE_STOPPED || stopping)
            break;
        back_off(writer);
    }
    show_state(writer, FP_DATABASE_UNREACHABLE, false);
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
    fp_buf_release(&writer->sample);
    fp_buf_release(&writer->committed);
    pthread_mutex_destroy(&writer->lock);
    free(writer->database);
    free(writer);
}

/* Makes what the thread needs besides its own memory. */
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
    const struct fp_store_settings settings = {
        .database = writer->database,
        .retention = writer->settings.pace.retention,
        .interrupt_fd = writer->interrupt_fd,
    };
    writer->store = fp_store_create(&settings);
    if (writer->store == NULL)
        return false;
    writer->rollup.known = fp_store_touched(writer->store);
    return true;
}

static const struct fp_metric metrics_table[] = {FP_WRITER_METRICS(FP_METRIC_ROW)};
const struct fp_metric_table fp_writer_metrics = {metrics_table, FP_WRITER_METRIC_COUNT, NULL};

struct fp_writer *fp_writer_start(const struct fp_writer_settings *settings, struct fp_spool *spool,
                                  struct fp_metrics *metrics)
{
    struct fp_metric_set *set = fp_metrics_join(metrics, &fp_writer_metrics);
    struct fp_writer *writer = set != NULL ? calloc(1, sizeof(*writer)) : NULL;
    if (writer == NULL)
        return NULL;
    if (pthread_mutex_init(&writer->lock, NULL) != 0) {
        free(writer);
        return NULL;
    }
    writer->settings = *settings;
    writer->spool = spool;
    writer->metrics = set;
    show_state(writer, FP_DATABASE_CONNECTING, false);
    writer->first_tail = fp_spool_tail(spool);
    writer->position = writer->counted = fp_spool_position(spool);
    writer->window_records = FP_ROLLUP_MAX_UPLOADS;
    fp_metrics_set(set, FP_METRIC_FLUSH_WINDOW_RECORDS, FP_ROLLUP_MAX_UPLOADS);
    writer->flush_began_us = fp_clock_monotonic_us() - settings->pace.min_window_us;
    fp_rollup_init(&writer->rollup, FP_WINDOW_BYTES, FP_UPLOAD_MAX_BYTES);
    fp_arena_init(&writer->arena, FP_UPLOAD_MAX_BYTES);
    fp_buf_init(&writer->sample, FP_SAMPLE_MAX);
    fp_buf_init(&writer->committed, FP_SAMPLE_MAX);
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
