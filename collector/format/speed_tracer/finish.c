/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, finish: early types, the page and the marks, once all records are read.
 */
#include "collector/format/speed_tracer/finish.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/format/speed_tracer/types.h"

#include <stdlib.h>

/* Renames the events of an early version by its own numbers. The record that gives the version away
 * may be the last one. */
static void rename_early(struct fp_st_dump *dump)
{
    struct fp_profile *profile = dump->decoder->profile;
    for (uint32_t i = 0; dump->is_early && i < profile->event_count; i++) {
        struct fp_profile_event *event = &profile->events[i];
        bool was_unknown = event->type_number >= 22 && event->type_number <= 27;
        const char *name = fp_st_early_type_name(&event->type_number);
        if (name != NULL)
            event->type = fp_str_of(name);
        FP_ASSERT(!was_unknown || dump->notes[FP_ST_NOTE_UNKNOWN_TYPE].count > 0);
        dump->notes[FP_ST_NOTE_UNKNOWN_TYPE].count -= was_unknown;
    }
    if (dump->is_early && profile->session.version.len == 0)
        profile->session.version = FP_STR("0.8");
}

/* Moves a change of page to the request of the page in a part before. */
static void move_to_part_before(const struct fp_st_dump *dump, struct fp_profile_event *tab)
{
    const struct fp_str url = dump->decoder->profile->resources[tab->resource];
    for (uint32_t i = 0; i < dump->start_count; i++) {
        if (!fp_str_equal(dump->starts[i].url, url))
            continue;
        tab->start_us = dump->starts[i].start_us;
        return;
    }
}

/* Moves changes of page to the request of the page: versions up to 0.8 recorded them at the end. */
static bool move_early_tabs(struct fp_st_dump *dump)
{
    struct fp_profile *profile = dump->decoder->profile;
    uint32_t *requests =
        fp_arena_array(dump->decoder->arena, profile->resource_count, sizeof(*requests));
    if (requests == NULL)
        return fp_fail_memory(dump->decoder);
    for (uint32_t i = 0; i < profile->event_count; i++) {
        struct fp_profile_event *event = &profile->events[i];
        if (event->resource == FP_INDEX_NONE)
            continue;
        uint32_t *request = &requests[event->resource]; /* index + 1, 0: none */
        if (event->type_number == FP_ST_TYPE_RESOURCE_START)
            *request = i + 1;
        else if (event->type_number == FP_ST_TYPE_TAB_CHANGED && *request > 0)
            event->start_us = profile->events[*request - 1].start_us;
        else if (event->type_number == FP_ST_TYPE_TAB_CHANGED)
            move_to_part_before(dump, event);
    }
    return true;
}

static void find_page(struct fp_st_dump *dump)
{
    struct fp_profile *profile = dump->decoder->profile;
    uint32_t page = FP_INDEX_NONE;
    profile->page_url = dump->session_page;
    if (profile->page_url.len > 0)
        return;
    for (uint32_t i = 0; page == FP_INDEX_NONE && i < profile->event_count; i++)
        if (profile->events[i].type_number == FP_ST_TYPE_TAB_CHANGED)
            page = profile->events[i].resource;
    if (page == FP_INDEX_NONE)
        page = dump->main_resource;
    if (page != FP_INDEX_NONE)
        profile->page_url = profile->resources[page];
}

/* When pages began, sorted. Records are in the order of their ends: a record of one page may come
 * after the change to the next. */
struct page_begins {
    int64_t *times_us;
    uint32_t count;
};

static int compare_times(const void *left, const void *right)
{
    const int64_t left_us = *(const int64_t *)left;
    const int64_t right_us = *(const int64_t *)right;
    return (left_us > right_us) - (left_us < right_us);
}

static bool find_page_begins(struct fp_st_dump *dump, struct page_begins *begins)
{
    const struct fp_profile *profile = dump->decoder->profile;
    *begins = (struct page_begins){0};
    for (uint32_t i = 0; i < profile->event_count; i++)
        begins->count += profile->events[i].type_number == FP_ST_TYPE_TAB_CHANGED;
    begins->count += dump->has_page_begin;
    begins->times_us =
        fp_arena_array(dump->decoder->arena, begins->count, sizeof(*begins->times_us));
    if (begins->times_us == NULL)
        return fp_fail_memory(dump->decoder);
    uint32_t next = 0;
    if (dump->has_page_begin)
        begins->times_us[next++] = dump->page_begin_us;
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (profile->events[i].type_number == FP_ST_TYPE_TAB_CHANGED)
            begins->times_us[next++] = profile->events[i].start_us;
    FP_ASSERT(next == begins->count);
    qsort(begins->times_us, begins->count, sizeof(*begins->times_us), compare_times);
    return true;
}

/* Returns the time since the begin of the page that was shown then, or else since that of the
 * session. */
static int64_t since_page(const struct page_begins *begins, int64_t time_us)
{
    uint32_t before = 0; /* pages that began before it or with it */
    for (uint32_t after = begins->count; before < after;) {
        const uint32_t middle = before + (after - before) / 2;
        if (begins->times_us[middle] <= time_us)
            before = middle + 1;
        else
            after = middle;
    }
    return before > 0 ? time_us - begins->times_us[before - 1] : time_us;
}

static bool add_marks(struct fp_st_dump *dump)
{
    struct fp_profile *profile = dump->decoder->profile;
    profile->timings =
        fp_arena_array(dump->decoder->arena, dump->mark_count, sizeof(*profile->timings));
    if (profile->timings == NULL)
        return fp_fail_memory(dump->decoder);
    struct page_begins begins;
    if (!find_page_begins(dump, &begins))
        return false;
    for (uint32_t i = 0; i < dump->mark_count; i++) {
        const struct fp_profile_event *event = &profile->events[dump->marks[i].event];
        const int64_t value_us = since_page(&begins, event->start_us);
        /* In an early dump other types have the numbers of marks. */
        bool is_mark = !dump->is_early || event->type_number == FP_ST_TYPE_LOG_MESSAGE;
        if (!is_mark || value_us > FP_TIME_MAX_US)
            continue;
        profile->timings[profile->timing_count++] = (struct fp_profile_timing){
            .name = dump->marks[i].name,
            .kind = FP_TIMING_MARK,
            .value_us = value_us,
        };
    }
    return true;
}

bool fp_st_finish(struct fp_st_dump *dump)
{
    rename_early(dump);
    if (dump->is_early && !move_early_tabs(dump))
        return false;
    find_page(dump);
    return add_marks(dump);
}
