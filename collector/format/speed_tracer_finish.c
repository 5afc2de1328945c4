/*
 * Speed Tracer, the end of a dump: what can be said when all records are known.
 */
#include "collector/format/speed_tracer_dump.h"

#define TIME_MAX_US (INT64_C(1) << 53) /* as in all formats */

/* A dump of an early version is known by records that may come last: events that were named by
 * today's numbers get their old names. */
static void rename_early(struct fp_speed_tracer_dump *dump)
{
    struct fp_profile *profile = dump->decoder->profile;
    for (uint32_t i = 0; dump->is_early && i < profile->event_count; i++) {
        struct fp_profile_event *event = &profile->events[i];
        bool was_unknown = event->type_number >= 22 && event->type_number <= 27;
        const char *name = fp_speed_tracer_early_name(&event->type_number);
        if (name != NULL)
            event->type = fp_str_of(name);
        dump->notes[FP_ST_UNKNOWN_TYPE].count -= was_unknown;
    }
    if (dump->is_early && profile->session.version.len == 0)
        profile->session.version = FP_STR("0.8");
}

/* Versions up to 0.8 noted a page's change when it was over: it began with the request. */
static bool move_early_tabs(struct fp_speed_tracer_dump *dump)
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
        if (event->type_number == FP_ST_RESOURCE_START)
            *request = i + 1;
        else if (event->type_number == FP_ST_TAB_CHANGED && *request > 0)
            event->start_us = profile->events[*request - 1].start_us;
    }
    return true;
}

static void find_page(struct fp_speed_tracer_dump *dump)
{
    struct fp_profile *profile = dump->decoder->profile;
    uint32_t page = FP_INDEX_NONE;
    for (uint32_t i = 0; page == FP_INDEX_NONE && i < profile->event_count; i++)
        if (profile->events[i].type_number == FP_ST_TAB_CHANGED)
            page = profile->events[i].resource;
    if (page == FP_INDEX_NONE)
        page = dump->main_resource;
    if (page != FP_INDEX_NONE)
        profile->page_url = profile->resources[page];
}

/* Records lie in the order in which they ended: what the last page did may stand behind the change
 * to the next one. */
struct transitions {
    int64_t last_us;
    int64_t before_us;
};

static int64_t since_transition(const struct transitions *transitions, int64_t time_us)
{
    if (time_us >= transitions->last_us)
        return time_us - transitions->last_us;
    return time_us >= transitions->before_us ? time_us - transitions->before_us : time_us;
}

static bool add_marks(struct fp_speed_tracer_dump *dump)
{
    struct fp_profile *profile = dump->decoder->profile;
    profile->timings =
        fp_arena_array(dump->decoder->arena, dump->mark_count, sizeof(*profile->timings));
    if (profile->timings == NULL)
        return fp_fail_memory(dump->decoder);
    struct transitions transitions = {0, 0};
    uint32_t next = 0;
    for (uint32_t i = 0; i < profile->event_count && next < dump->mark_count; i++) {
        const struct fp_profile_event *event = &profile->events[i];
        if (event->type_number == FP_ST_TAB_CHANGED)
            transitions = (struct transitions){event->start_us, transitions.last_us};
        if (dump->marks[next].event != i)
            continue;
        const struct fp_str name = dump->marks[next++].name;
        const int64_t value_us = since_transition(&transitions, event->start_us);
        /* What else has these numbers in an early dump is no mark. */
        bool is_mark = !dump->is_early || event->type_number == FP_ST_LOG_MESSAGE;
        if (!is_mark || value_us > TIME_MAX_US)
            continue;
        profile->timings[profile->timing_count++] = (struct fp_profile_timing){
            .name = name,
            .kind = FP_TIMING_MARK,
            .value_us = value_us,
        };
    }
    return true;
}

bool fp_speed_tracer_finish(struct fp_speed_tracer_dump *dump)
{
    rename_early(dump);
    if (dump->is_early && !move_early_tabs(dump))
        return false;
    find_page(dump);
    return add_marks(dump);
}
