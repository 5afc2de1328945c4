/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows across the parts of a page load: whatever the order of arrival, each moment counts once
 * for each name whose window holds it, and the page load counts once.
 */
#include "page_test.h"

#include "collector/rollup/rollup.h"

#include <stdlib.h>

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
