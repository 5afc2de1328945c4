/*
 * Writer: telling the database which long sessions run.
 *
 * Told before a window is written, after it was read: so the database knows of each session before
 * it gets one of its parts. Of one that stopped it is told where the spool ended then, after all
 * parts that were answered: so it knows when the last of them is there.
 */
#include "collector/writer_internal.h"

#include "collector/base/clock.h"

#define TOLD_FOR_US FP_US_PER_HOUR /* a collector that is silent for longer is taken for gone */
#define TELL_AGAIN_US (TOLD_FOR_US / 6)

static bool is_told(const struct fp_writer *writer, const struct fp_uuid *running, size_t count)
{
    return writer->sessions_told && count == writer->told_count &&
           memcmp(running, writer->told, count * sizeof(*running)) == 0 &&
           (count == 0 || fp_clock_monotonic_us() - writer->told_us < TELL_AGAIN_US);
}

enum fp_store_result fp_writer_tell_sessions(struct fp_writer *writer)
{
    struct fp_uuid running[FP_WRITER_SESSIONS_MAX];
    size_t count = 0;
    if (writer->settings.list_sessions != NULL)
        count = writer->settings.list_sessions(writer->settings.sessions, running);
    if (is_told(writer, running, count))
        return FP_STORE_OK;
    const struct fp_store_sessions sessions = {
        .spool_id = fp_spool_id(writer->spool),
        .tail = fp_spool_tail(writer->spool), /* read after the list */
        .running = running,
        .count = count,
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
