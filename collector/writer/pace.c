/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pace: how many records a window may have.
 *
 * A flush costs a fixed time (a commit on a slow disk or a synchronous standby) and a time per
 * record. Only the latter is a reason for smaller windows: they would pay the fixed time more
 * often. A line through the latest flushes tells the two apart. It needs windows of different
 * sizes, so now and then a window is larger than it allows.
 */
#include "collector/writer/internal.h"

#include "collector/base/clock.h"

/* The weight of a flush after the next one. */
#define FADING 0.8

/* A window of twice the size would take no longer than a statement may. */
#define PROBE_MAX_US (25 * FP_US_PER_S)

enum {
    PROBE_FLUSHES = 6,     /* full and slow ones of one size before a larger window is tried */
    TOO_LARGE_FLUSHES = 16 /* for which a size that ran out of time is not tried again */
};

static void note_costs(struct fp_writer_costs *costs, double records, double us)
{
    costs->weight = costs->weight * FADING + 1;
    costs->records = costs->records * FADING + records;
    costs->us = costs->us * FADING + us;
    costs->records_squared = costs->records_squared * FADING + records * records;
    costs->records_us = costs->records_us * FADING + records * us;
}

/* Returns the time that one more record takes: the slope of the line. While windows had about the
 * same size, nothing is known of a fixed time: the mean. */
static double record_us(const struct fp_writer_costs *costs)
{
    double mean = costs->us / costs->records;
    double spread = costs->weight * costs->records_squared - costs->records * costs->records;
    double slope = (costs->weight * costs->records_us - costs->records * costs->us) /
                   (spread > 0 ? spread : 1);
    if (spread < costs->records * costs->records / 100 || slope > mean)
        return mean;
    return slope > 0 ? slope : 0;
}

static void set_window(struct fp_writer *writer, size_t records)
{
    if (records > FP_ROLLUP_MAX_UPLOADS)
        records = FP_ROLLUP_MAX_UPLOADS;
    if (writer->too_large > 0 && records >= writer->too_large)
        records = writer->too_large / 2;
    writer->window_records = records > 0 ? records : 1;
    fp_metrics_set(writer->metrics, FP_METRIC_FLUSH_WINDOW_RECORDS,
                   (int64_t)writer->window_records);
}

/* True if this flush was slow and full, as were the ones before it, which had the same size:
 * nothing tells whether larger ones would take longer. */
static bool is_to_probe(struct fp_writer *writer, size_t records, int64_t took_us)
{
    bool is_slow = took_us > writer->settings.pace.max_window_us;
    bool is_same = records == writer->window_records && records == writer->slow_records;
    writer->slow_records = is_slow ? records : 0;
    writer->same_flushes = is_slow && is_same ? writer->same_flushes + 1 : 1;
    return writer->same_flushes >= PROBE_FLUSHES && took_us <= PROBE_MAX_US;
}

/* Tries a window of twice the size. The line begins with this flush: an earlier one, before the
 * database became slow, would make each record look expensive. */
static void probe(struct fp_writer *writer, size_t records, int64_t took_us)
{
    writer->costs = (struct fp_writer_costs){0};
    note_costs(&writer->costs, (double)records, (double)took_us);
    set_window(writer, records * 2);
}

void fp_writer_adapt_window(struct fp_writer *writer, size_t records, int64_t took_us)
{
    if (writer->too_large_flushes > 0)
        writer->too_large_flushes--;
    if (writer->too_large_flushes == 0)
        writer->too_large = 0;
    if (is_to_probe(writer, records, took_us)) {
        probe(writer, records, took_us);
        return;
    }
    double max_us = (double)writer->settings.pace.max_window_us;
    size_t most = writer->window_records * 2;
    size_t least = records / 2 > FP_WINDOW_RECORDS_MIN ? records / 2 : FP_WINDOW_RECORDS_MIN;
    note_costs(&writer->costs, (double)records, (double)took_us);
    double each_us = record_us(&writer->costs);
    if ((double)took_us <= max_us || each_us * (double)most <= max_us) {
        set_window(writer, most);
        return;
    }
    size_t wanted = (size_t)(max_us / each_us);
    set_window(writer, wanted > least ? wanted : least);
}

void fp_writer_shrink_window(struct fp_writer *writer, size_t records)
{
    set_window(writer, records / 2);
}

void fp_writer_note_timeout(struct fp_writer *writer, size_t records)
{
    if (records <= 1)
        return;
    writer->too_large = records;
    writer->too_large_flushes = TOO_LARGE_FLUSHES;
    fp_writer_shrink_window(writer, records);
}
