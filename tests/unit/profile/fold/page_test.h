/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random page loads in parts, for tests: their samples, and who owns each moment of them.
 */
#ifndef FP_TESTS_PAGE_TEST_H
#define FP_TESTS_PAGE_TEST_H

#include "tests/unit/profile/chance.h"
#include "tests/unit/profile/test.h"

#include "collector/base/buf.h"

enum { ROUNDS = 300, PARTS_MAX = 5, SAMPLES_MAX = 20, NAMES = 3, FUNCTIONS = 4, WINDOWS_MAX = 6 };
enum {
    INTERVAL_MS = 10,
    GAP_MAX_MS = 250,
    SPAN_MS = 1500, /* of the page load */
    CELL_US = 500,  /* halves of whole milliseconds are whole cells */
    CELLS = SPAN_MS * 1000 / CELL_US,
    NOBODY = FUNCTIONS + 1
};

struct span_ms {
    uint32_t start;
    uint32_t end;
};

/* A part of a page load. Parts may overlap, or leave gaps. */
struct page_part {
    bool is_watched; /* it has a trace */
    bool has_window;
    struct span_ms window;
    uint32_t sample_count;
    struct page_sample {
        uint32_t time_ms;
        uint32_t function; /* FUNCTIONS for none */
    } samples[SAMPLES_MAX];
    uint32_t measure_count;
    struct page_measure {
        uint32_t name;
        struct span_ms span;
    } measures[WINDOWS_MAX];
};

struct page {
    uint32_t part_count;
    struct page_part parts[PARTS_MAX];
};

static inline struct span_ms draw_span(uint32_t longest_ms)
{
    uint32_t start = below(SPAN_MS - 1);
    uint32_t length = 1 + below(longest_ms);
    return (struct span_ms){start, start + length < SPAN_MS ? start + length : SPAN_MS};
}

/* Draws samples in and around a window: bursts, steady ones and gaps. They ascend. */
static inline void draw_samples(struct page_part *part)
{
    uint32_t time_ms = part->window.start + below(40);
    part->sample_count = below(SAMPLES_MAX + 1);
    for (uint32_t i = 0; i < part->sample_count; i++) {
        part->samples[i] = (struct page_sample){time_ms, below(FUNCTIONS + 1)};
        uint32_t kind = below(8);
        time_ms += kind == 0 ? 0 : kind == 1 ? below(400) : 1 + below(30);
        if (time_ms >= SPAN_MS)
            part->sample_count = i + 1;
    }
}

static inline void draw_part(struct page_part *part)
{
    *part = (struct page_part){.is_watched = below(4) > 0,
                               .has_window = below(3) > 0,
                               .window = draw_span(SPAN_MS / 2),
                               .measure_count = below(WINDOWS_MAX + 1)};
    if (part->is_watched)
        draw_samples(part);
    for (uint32_t i = 0; i < part->measure_count; i++)
        part->measures[i] = (struct page_measure){below(NAMES), draw_span(SPAN_MS / 3)};
}

static inline void draw_page(struct page *page)
{
    page->part_count = 1 + below(PARTS_MAX);
    for (uint32_t i = 0; i < page->part_count; i++)
        draw_part(&page->parts[i]);
}

static inline void add_trace(const struct page_part *part, struct fp_buf *json)
{
    fp_buf_addf(json, ",\"trace\":{\"resources\":[\"a.js\"],\"frames\":[{\"name\":\"top\"}");
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        fp_buf_addf(json, ",{\"name\":\"f%u\",\"resourceId\":0,\"line\":1,\"column\":1}", i);
    fp_buf_addf(json, "],\"stacks\":[{\"frameId\":0}");
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        fp_buf_addf(json, ",{\"frameId\":%u,\"parentId\":%u}", i + 1, i % 2 == 0 ? 0 : i);
    fp_buf_addf(json, "],\"samples\":[");
    for (uint32_t i = 0; i < part->sample_count; i++) {
        fp_buf_addf(json, "%s{\"timestamp\":%u", i > 0 ? "," : "", part->samples[i].time_ms);
        if (part->samples[i].function < FUNCTIONS)
            fp_buf_addf(json, ",\"stackId\":%u", part->samples[i].function + 1);
        fp_buf_addf(json, "}");
    }
    fp_buf_addf(json, "]}");
}

/* Returns half of a gap in cells; the span of a sample reaches so far. */
static inline int64_t half_of(uint32_t gap_ms)
{
    return (gap_ms < GAP_MAX_MS ? gap_ms : GAP_MAX_MS) * 1000 / 2 / CELL_US;
}

static inline void own(const struct page_part *part, uint32_t index, uint32_t owners[CELLS])
{
    const struct page_sample *sample = &part->samples[index];
    const uint32_t end_gap_ms = part->has_window ? GAP_MAX_MS : INTERVAL_MS;
    bool is_last = index + 1 == part->sample_count;
    uint32_t before_ms = index > 0 ? sample->time_ms - sample[-1].time_ms : end_gap_ms;
    uint32_t after_ms = is_last ? end_gap_ms : sample[1].time_ms - sample->time_ms;
    const int64_t at = (int64_t)sample->time_ms * 1000 / CELL_US;
    for (int64_t cell = at - half_of(before_ms); cell < at + half_of(after_ms); cell++) {
        bool is_outside = cell < (int64_t)part->window.start * 1000 / CELL_US ||
                          cell >= (int64_t)part->window.end * 1000 / CELL_US;
        if (cell >= 0 && cell < CELLS && owners[cell] == NOBODY &&
            !(part->has_window && is_outside))
            owners[cell] = sample->function;
    }
}

static inline void shuffle(uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i-- > 1;) {
        uint32_t other = below(i + 1);
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

#endif
