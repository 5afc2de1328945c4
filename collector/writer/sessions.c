/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer: reports the running long sessions to the database.
 *
 * It reports after it has read a window and before it writes it, so the database knows each session
 * before it gets one of its parts. For a stopped session the database also gets the spool's end at
 * that moment; once the writer has passed it, the last part is in. A session may start and stop
 * while no report is possible, even before a restart. Only its parts show that it existed.
 */
#include "collector/writer/internal.h"

#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/rollup/record.h"

#define TOLD_FOR_US FP_US_PER_HOUR /* a collector without a report for longer counts as gone */
#define TELL_AGAIN_US (TOLD_FOR_US / 6)

static bool is_told(const struct fp_writer *writer, const struct fp_uuid *running, size_t count)
{
    return writer->sessions_told && count == writer->told_count &&
           memcmp(running, writer->told, count * sizeof(*running)) == 0 &&
           fp_clock_monotonic_us() - writer->told_us < TELL_AGAIN_US;
}

/* True if the row is a part of a long session. A part's id is derived from its session's id and its
 * number. If the part is a recording of several sessions, their ids are derived from the part's id.
 * Ids of other uploads of a page load carry no such information. */
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

/* Lists the ids of long sessions that have parts in the window and no longer run. An id may appear
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
