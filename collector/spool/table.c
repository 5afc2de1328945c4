/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table: an array by number; searches are linear, since a spool has tens of files.
 */
#include "collector/spool/table.h"

#include "collector/base/assert.h"
#include "collector/spool/segment.h"

#include <stdlib.h>

/* True if the segments ascend by number, and their bytes add up. */
static bool is_consistent(const struct fp_spool_table *table)
{
    uint64_t file_bytes = 0;
    for (size_t i = 0; i < table->count; i++) {
        file_bytes += table->segments[i].file_bytes;
        if (i > 0 && table->segments[i].number <= table->segments[i - 1].number)
            return false;
    }
    return file_bytes == table->file_bytes;
}

bool fp_spool_table_add(struct fp_spool_table *table, const struct fp_spool_table_segment *segment)
{
    if (table->count == FP_SPOOL_TABLE_MAX)
        return false;
    if (table->count == table->cap) {
        size_t cap = table->cap > 0 ? table->cap * 2 : 16;
        struct fp_spool_table_segment *segments =
            realloc(table->segments, cap * sizeof(*table->segments));
        if (segments == NULL)
            return false;
        table->segments = segments;
        table->cap = cap;
    }
    FP_ASSERT(table->count == 0 || segment->number > table->segments[table->count - 1].number);
    table->segments[table->count] = *segment;
    table->segments[table->count++].trimmed_at_us = FP_SPOOL_TABLE_NOT_TRIMMED;
    table->file_bytes += segment->file_bytes;
    return true;
}

struct fp_spool_table_segment *fp_spool_table_newest(struct fp_spool_table *table)
{
    return table->count > 0 ? &table->segments[table->count - 1] : NULL;
}

struct fp_spool_table_segment *fp_spool_table_from(struct fp_spool_table *table, uint64_t number)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->segments[i].number >= number)
            return &table->segments[i];
    return NULL;
}

struct fp_spool_table_segment *fp_spool_table_after(struct fp_spool_table *table, uint64_t sequence)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->segments[i].last_sequence > sequence)
            return &table->segments[i];
    return NULL;
}

uint64_t fp_spool_table_last_sequence(const struct fp_spool_table *table)
{
    for (size_t i = table->count; i > 0; i--)
        if (table->segments[i - 1].last_sequence > 0)
            return table->segments[i - 1].last_sequence;
    return 0;
}

void fp_spool_table_resize(struct fp_spool_table *table, struct fp_spool_table_segment *segment,
                           uint64_t file_bytes)
{
    table->file_bytes = table->file_bytes - segment->file_bytes + file_bytes;
    segment->file_bytes = file_bytes;
    FP_ASSERT_COSTLY(is_consistent(table));
}

void fp_spool_table_trim(struct fp_spool_table *table, uint64_t position, int64_t now_us)
{
    /* Not the newest: it may still grow past position. */
    for (size_t i = 0; i + 1 < table->count; i++) {
        struct fp_spool_table_segment *segment = &table->segments[i];
        bool is_empty = segment->end <= FP_SPOOL_SEGMENT_HEADER_LEN;
        if (segment->kept || (is_empty && segment->ends_previous))
            continue;
        if (is_empty)
            segment->trimmed_at_us = FP_SPOOL_TABLE_EMPTY;
        else if (segment->last_sequence <= position && segment->trimmed_at_us > now_us)
            segment->trimmed_at_us = now_us;
    }
}

void fp_spool_table_untrim(struct fp_spool_table *table, uint64_t position)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->segments[i].last_sequence > position)
            table->segments[i].trimmed_at_us = FP_SPOOL_TABLE_NOT_TRIMMED;
}

struct fp_spool_table_segment *fp_spool_table_first_trimmed(struct fp_spool_table *table)
{
    struct fp_spool_table_segment *first = NULL;
    for (size_t i = 0; i + 1 < table->count; i++) {
        struct fp_spool_table_segment *segment = &table->segments[i];
        if (segment->trimmed_at_us != FP_SPOOL_TABLE_NOT_TRIMMED &&
            (first == NULL || segment->trimmed_at_us < first->trimmed_at_us))
            first = segment;
    }
    return first;
}

void fp_spool_table_remove(struct fp_spool_table *table, uint64_t number)
{
    struct fp_spool_table_segment *segment = fp_spool_table_from(table, number);
    if (segment == NULL || segment->number != number)
        return;
    table->file_bytes -= segment->file_bytes;
    size_t later = table->count - 1 - (size_t)(segment - table->segments);
    memmove(segment, segment + 1, later * sizeof(*segment));
    table->count--;
    FP_ASSERT_COSTLY(is_consistent(table));
}

void fp_spool_table_release(struct fp_spool_table *table)
{
    free(table->segments);
    *table = (struct fp_spool_table){0};
}
