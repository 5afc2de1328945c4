/*
 * Writer: telling the database which long sessions run.
 *
 * Told before a window is written, after it was read: so the database knows of each session before
 * it gets one of its parts. Of one that stopped it is told where the spool ended then, after all
 * parts that were answered: so it knows when the last of them is there. One may have run and
 * stopped while nothing could be told, even before a restart: what tells of it are its parts.
 */
#include "collector/writer/internal.h"

#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/rollup/record.h"

#define TOLD_FOR_US FP_US_PER_HOUR /* a collector that is silent for longer is taken for gone */
#define TELL_AGAIN_US (TOLD_FOR_US / 6)

static bool is_told(const struct fp_writer *writer, const struct fp_uuid *running, size_t count)
{
    return writer->sessions_told && count == writer->told_count &&
           memcmp(running, writer->told, count * sizeof(*running)) == 0 &&
           fp_clock_monotonic_us() - writer->told_us < TELL_AGAIN_US;
}

/* A part's id is made of its session's and its number; if it is a recording of several sessions,
 * their ids are made of that. Other uploads of a page load have ids that tell nothing. */
static bool is_part(const struct fp_session_row *session)
{
    if (!session->has_load)
        return false;
    const struct fp_uuid part = fp_uuid_of_part(&session->load, (uint32_t)session->part);
    if (fp_uuid_equal(&part, &session->upload))
        return true;
    for (uint32_t number = 0; number < FP_RECORD_DELTAS_MAX; number++) {
        const struct fp_uuid recorded = fp_uuid_of_part(&part, number);
        if (fp_uuid_equal(&recorded, &session->upload))
            return true;
    }
    return false;
}

static bool is_among(const struct fp_uuid *id, const struct fp_uuid *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fp_uuid_equal(id, &ids[i]))
            return true;
    return false;
}

/* The ids of long sessions with parts in the window that do not run any more; some may be there
 * several times. */
static void list_stopped(const struct fp_rows *sessions, const struct fp_uuid *running,
                         size_t running_count, struct fp_buf *stopped)
{
    for (size_t i = 0; i < sessions->count; i++) {
        const struct fp_session_row *session = fp_rows_at(sessions, i);
        if (is_part(session) && !is_among(&session->load, running, running_count))
            fp_buf_add(stopped, &session->load, sizeof(session->load));
    }
}

static enum fp_store_result tell(struct fp_writer *writer, const struct fp_uuid *running,
                                 size_t count, const struct fp_buf *stopped)
{
    const struct fp_store_sessions sessions = {
        .spool_id = fp_spool_id(writer->spool),
        .position = writer->position,
        .tail = fp_spool_tail(writer->spool), /* read after the list */
        .running = {running, count},
        .stopped = {(const struct fp_uuid *)stopped->data, stopped->len / sizeof(*running)},
        .told_for_us = TOLD_FOR_US,
    };
    enum fp_store_result result = fp_store_tell_sessions(writer->store, &sessions);
    writer->sessions_told = result == FP_STORE_OK;
    if (result != FP_STORE_OK)
        return result;
    memcpy(writer->told, running, count * sizeof(*running));
    writer->told_count = count;
    writer->told_us = fp_clock_monotonic_us();
    return FP_STORE_OK;
}

enum fp_store_result fp_writer_tell_sessions(struct fp_writer *writer,
                                             const struct fp_rollup *window)
{
    struct fp_uuid running[FP_WRITER_SESSIONS_MAX];
    size_t count = 0;
    if (writer->settings.list_sessions != NULL)
        count = writer->settings.list_sessions(writer->settings.sessions, running);
    struct fp_buf stopped;
    const struct fp_rows *sessions =
        window != NULL ? &window->tables[FP_ROLLUP_TABLE_SESSION] : NULL;
    fp_buf_init(&stopped, sessions != NULL ? sessions->count * sizeof(struct fp_uuid) : 0);
    if (sessions != NULL)
        list_stopped(sessions, running, count, &stopped);
    enum fp_store_result result = FP_STORE_MEMORY;
    if (!stopped.failed)
        result = stopped.len == 0 && is_told(writer, running, count)
                     ? FP_STORE_OK
                     : tell(writer, running, count, &stopped);
    fp_buf_release(&stopped);
    return result;
}
