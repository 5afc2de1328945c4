/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows across the parts of a page load: whatever the order of arrival, each moment counts once
 * for each name whose window holds it, and the page load counts once.
 */
#include "tests/unit/profile/chance.h"
#include "tests/unit/profile/test.h"

#include "collector/base/buf.h"
#include "collector/rollup/rollup.h"

#include <stdlib.h>

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

static struct span_ms draw_span(uint32_t longest_ms)
{
    uint32_t start = below(SPAN_MS - 1);
    uint32_t length = 1 + below(longest_ms);
    return (struct span_ms){start, start + length < SPAN_MS ? start + length : SPAN_MS};
}

/* Draws samples in and around a window: bursts, steady ones and gaps. They ascend. */
static void draw_samples(struct page_part *part)
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

static void draw_part(struct page_part *part)
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

static void draw_page(struct page *page)
{
    page->part_count = 1 + below(PARTS_MAX);
    for (uint32_t i = 0; i < page->part_count; i++)
        draw_part(&page->parts[i]);
}

static void add_trace(const struct page_part *part, struct fp_buf *json)
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

static struct fp_str body_of(const struct page_part *part, struct fp_buf *json)
{
    fp_buf_clear(json);
    fp_buf_addf(json,
                "{\"version\":1,\"start\":%u,\"sampleInterval\":%d,\"load\":"
                "\"00000000-0000-4000-8000-000000000001\"",
                part->window.start, INTERVAL_MS);
    if (part->has_window)
        fp_buf_addf(json, ",\"duration\":%u", part->window.end - part->window.start);
    if (part->is_watched)
        add_trace(part, json);
    fp_buf_addf(json, ",\"measures\":[");
    for (uint32_t i = 0; i < part->measure_count; i++) {
        const struct page_measure *measure = &part->measures[i];
        fp_buf_addf(
            json, "%s{\"entryType\":\"measure\",\"name\":\"n%u\",\"startTime\":%u,\"duration\":%u}",
            i > 0 ? "," : "", measure->name, measure->span.start,
            measure->span.end - measure->span.start);
    }
    fp_buf_addf(json, "]}");
    assert_false(json->failed);
    return (struct fp_str){(const char *)json->data, json->len};
}

/* Sums of a name. */
struct name_sums {
    int64_t self_us[FUNCTIONS + 1]; /* by the function on top; FUNCTIONS: without any */
    int64_t window_us;
    uint32_t loads;
};
typedef struct name_sums sums[NAMES];

/* The slow way: each cell of time has one owner, the function whose span came first. */

/* Returns half of a gap in cells; the span of a sample reaches so far. */
static int64_t half_of(uint32_t gap_ms)
{
    return (gap_ms < GAP_MAX_MS ? gap_ms : GAP_MAX_MS) * 1000 / 2 / CELL_US;
}

static void own(const struct page_part *part, uint32_t index, uint32_t owners[CELLS])
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

static bool is_measured(const struct page *page, uint32_t name, uint32_t cell)
{
    for (uint32_t i = 0; i < page->part_count; i++)
        for (uint32_t k = 0; k < page->parts[i].measure_count; k++) {
            const struct page_measure *measure = &page->parts[i].measures[k];
            if (measure->name == name && cell >= measure->span.start * 1000 / CELL_US &&
                cell < measure->span.end * 1000 / CELL_US)
                return true;
        }
    return false;
}

static void expect(const struct page *page, const uint32_t *order, sums expected)
{
    uint32_t owners[CELLS];
    bool is_watched = false;
    memset(expected, 0, sizeof(sums));
    for (uint32_t i = 0; i < CELLS; i++)
        owners[i] = NOBODY;
    for (uint32_t i = 0; i < page->part_count; i++) {
        const struct page_part *part = &page->parts[order[i]];
        is_watched = is_watched || part->is_watched;
        for (uint32_t k = 0; k < part->sample_count; k++)
            own(part, k, owners);
    }
    for (uint32_t name = 0; name < NAMES; name++)
        for (uint32_t cell = 0; is_watched && cell < CELLS; cell++) {
            if (!is_measured(page, name, cell))
                continue;
            expected[name].window_us += CELL_US;
            if (owners[cell] == NOBODY)
                continue;
            expected[name].self_us[owners[cell]] += CELL_US;
            expected[name].loads = 1;
        }
}

static void add(const struct fp_delta *delta, sums actual)
{
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        const struct fp_str name = delta->timings[measured->timing].name;
        struct name_sums *row = &actual[name.ptr[1] - '0'];
        int64_t self_us = 0;
        row->self_us[FUNCTIONS] += measured->unattributed_us;
        row->window_us += measured->window_us;
        row->loads += measured->counts_load;
        for (uint32_t k = 0; k < measured->frame_count; k++) {
            const struct fp_delta_measured_frame *frame =
                &delta->measured_frames[measured->first_frame + k];
            const struct fp_str function = delta->frames[frame->frame].function;
            self_us += frame->self_us;
            assert_true(frame->total_us >= frame->self_us && frame->total_us > 0);
            if (function.ptr[0] == 'f')
                row->self_us[function.ptr[1] - '0'] += frame->self_us;
            else
                assert_int_equal(frame->self_us, 0);
        }
        assert_int_equal(self_us + measured->unattributed_us, measured->profiled_us);
    }
}

/* Adds the delta to a rollup, read back from its bytes. */
static void roll_up(struct fp_rollup *rollup, const struct fp_delta *delta, struct fp_arena *arena)
{
    struct fp_buf bytes;
    struct fp_delta read;
    fp_buf_init(&bytes, 1 << 20);
    fp_delta_encode(delta, &bytes);
    assert_int_equal(fp_delta_decode(bytes.data, bytes.len, arena, &read), FP_DELTA_OK);
    assert_int_equal(fp_rollup_add(rollup, &read), FP_ROLLUP_COUNTED);
    fp_buf_release(&bytes);
}

static void shuffle(uint32_t *order, uint32_t count)
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

/* Checks that facts of frames are of samples, and that every frame with facts has a name. */
static void assert_rolled_up(const struct fp_rollup *rollup)
{
    const struct fp_rows *facts = &rollup->tables[FP_ROLLUP_TABLE_FRAME_FACT];
    const struct fp_rows *inside = &rollup->tables[FP_ROLLUP_TABLE_MEASURE_FRAME_FACT];
    const struct fp_rows *timings = &rollup->tables[FP_ROLLUP_TABLE_TIMING_FACT];
    for (size_t i = 0; i < facts->count; i++)
        assert_true(((struct fp_frame_fact *)fp_rows_at(facts, i))->total_us > 0);
    for (size_t i = 0; i < timings->count; i++)
        assert_true(((struct fp_timing_fact *)fp_rows_at(timings, i))->count > 0);
    for (size_t i = 0; i < inside->count; i++) {
        const struct fp_measure_frame_fact *fact = fp_rows_at(inside, i);
        assert_non_null(fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_FRAME], &fact->key.frame_id));
        assert_non_null(fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_TIMING], &fact->key.fact.id));
    }
}

static void assert_sums(sums actual, sums expected)
{
    for (uint32_t name = 0; name < NAMES; name++) {
        for (uint32_t i = 0; i <= FUNCTIONS; i++)
            assert_int_equal(actual[name].self_us[i], expected[name].self_us[i]);
        assert_int_equal(actual[name].window_us, expected[name].window_us);
        assert_int_equal(actual[name].loads, expected[name].loads);
    }
}

static void each_moment_counts_once_per_name(void **state)
{
    (void)state;
    struct page page;
    struct fp_buf json;
    const struct fp_rollup_clock clock = {.now_us = 1000000};
    fp_buf_init(&json, 1 << 20);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fp_part *copies[PARTS_MAX];
        uint32_t order[PARTS_MAX];
        sums expected;
        sums actual;
        struct fp_arena arena;
        struct fp_rollup rollup;
        draw_page(&page);
        shuffle(order, page.part_count);
        expect(&page, order, expected);
        memset(actual, 0, sizeof(actual));
        fp_rollup_init(&rollup, 1 << 22, 1 << 24);
        fp_rollup_clear(&rollup, &clock);
        for (uint32_t i = 0; i < page.part_count; i++) {
            struct fp_part part;
            struct fp_delta delta;
            const struct fp_fold_context context = {.site = FP_STR("shop"),
                                                    .measures = 100,
                                                    .earlier =
                                                        (const struct fp_part *const *)copies,
                                                    .earlier_count = i,
                                                    .part = &part};
            fp_arena_init(&arena, TEST_ARENA_MAX);
            fold_body(&arena, body_of(&page.parts[order[i]], &json), &context, &delta);
            add(&delta, actual);
            roll_up(&rollup, &delta, &arena);
            copies[i] = fp_part_copy(&part);
            assert_non_null(copies[i]);
            fp_arena_release(&arena);
        }
        assert_sums(actual, expected);
        assert_rolled_up(&rollup);
        fp_rollup_release(&rollup);
        for (uint32_t i = 0; i < page.part_count; i++)
            free(copies[i]);
    }
    fp_buf_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_moment_counts_once_per_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
