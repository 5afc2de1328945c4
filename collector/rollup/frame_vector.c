/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame vector: picks the frames and windows of an upload that have the most time.
 */
#include "collector/rollup/frame_vector.h"

#include "collector/base/assert.h"

struct ranked {
    uint32_t frame; /* index */
    int64_t us;
};

/* The frames with the most time, the most first; of equal ones the first. */
struct ranking {
    struct ranked *items;
    uint32_t count;
    uint32_t most;
};

static void rank(struct ranking *ranking, uint32_t frame, int64_t us)
{
    const bool is_full = ranking->count == ranking->most;
    if (us <= 0 || (is_full && us <= ranking->items[ranking->count - 1].us))
        return;
    uint32_t place = is_full ? ranking->count - 1 : ranking->count++;
    for (; place > 0 && ranking->items[place - 1].us < us; place--)
        ranking->items[place] = ranking->items[place - 1];
    ranking->items[place] = (struct ranked){frame, us};
}

/* Adds the entries of a window, or of the whole upload; all of them or none. */
static void add_entries(const struct fp_delta *delta, uint64_t timing_id,
                        const struct ranking *ranking, struct fp_frame_vector *vector)
{
    if (ranking->count > FP_VECTOR_ENTRIES_MAX - vector->entry_count)
        return;
    for (uint32_t i = 0; i < ranking->count; i++) {
        const struct ranked *item = &ranking->items[i];
        FP_ASSERT(item->frame < delta->frame_count);
        vector->entries[vector->entry_count++] =
            (struct fp_frame_vector_entry){timing_id, delta->frames[item->frame].id, item->us};
    }
}

static void add_whole(const struct fp_delta *delta, struct fp_frame_vector *vector)
{
    struct ranked items[FP_VECTOR_TOP];
    struct ranked longest[FP_VECTOR_FRAMES_MAX];
    struct ranking by_self = {items, 0, FP_VECTOR_TOP};
    struct ranking by_total = {longest, 0, FP_VECTOR_FRAMES_MAX};
    for (uint32_t i = 0; i < delta->frame_count; i++) {
        rank(&by_self, i, delta->frames[i].self_us);
        rank(&by_total, i, delta->frames[i].total_us);
    }
    add_entries(delta, 0, &by_self, vector);
    for (uint32_t i = 0; i < by_total.count; i++)
        vector->frame_ids[vector->frame_count++] = delta->frames[longest[i].frame].id;
}

static void add_window(const struct fp_delta *delta, const struct fp_delta_measured *measured,
                       struct fp_frame_vector *vector)
{
    struct ranked items[FP_VECTOR_TOP];
    struct ranking ranking = {items, 0, FP_VECTOR_TOP};
    const struct fp_delta_measured_frame *frames = delta->measured_frames + measured->first_frame;
    int64_t self_us = 0;
    for (uint32_t i = 0; i < measured->frame_count; i++) {
        const uint32_t frame = frames[i].frame;
        self_us += frames[i].self_us;
        /* A frame has an entry per marker. */
        if (i + 1 < measured->frame_count && frames[i + 1].frame == frame)
            continue;
        if (delta->frames[frame].total_us > 0)
            rank(&ranking, frame, self_us);
        self_us = 0;
    }
    add_entries(delta, delta->timings[measured->timing].id, &ranking, vector);
}

/* True for the window of a rated vital, such as `(INP) poor`. */
static bool is_rated(const struct fp_delta_timing *timing)
{
    static const char *const ratings[] = {") poor", ") good"};
    enum { RATING_LEN = 6 };
    if (timing->kind != FP_TIMING_WINDOW || timing->name.len <= RATING_LEN)
        return false;
    const char *end = timing->name.ptr + timing->name.len - RATING_LEN;
    return memcmp(end, ratings[0], RATING_LEN) == 0 || memcmp(end, ratings[1], RATING_LEN) == 0;
}

void fp_frame_vector_fill(const struct fp_delta *delta, struct fp_frame_vector *vector)
{
    vector->entry_count = 0;
    vector->frame_count = 0;
    add_whole(delta, vector);
    /* Rated vitals first: they are few, and what people ask for. */
    for (int rated = 1; rated >= 0; rated--) {
        for (uint32_t i = 0; i < delta->measured_count; i++) {
            const struct fp_delta_timing *timing = &delta->timings[delta->measured[i].timing];
            const bool has_window =
                timing->kind == FP_TIMING_WINDOW || timing->kind == FP_TIMING_MEASURE;
            if (has_window && is_rated(timing) == (rated == 1))
                add_window(delta, &delta->measured[i], vector);
        }
    }
}

uint64_t fp_frame_vector_bytes(const struct fp_frame_vector *vector)
{
    return (uint64_t)vector->entry_count * sizeof(struct fp_frame_vector_entry) +
           (uint64_t)vector->frame_count * sizeof(uint64_t);
}
