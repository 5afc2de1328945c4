/*
 * Windows across the parts of a page load: whatever the order of arrival, each sample counts once
 * for each name whose window holds it.
 */
#include "chance.h"
#include "test.h"

#include "collector/base/buf.h"
#include "collector/rollup/rollup.h"

#include <stdlib.h>

enum { ROUNDS = 150, PARTS_MAX = 5, SAMPLES_MAX = 60, NAMES = 3, FUNCTIONS = 4, WINDOWS_MAX = 6 };
enum { STEP_MS = 10 };

/* One sample each 10 ms: the number of its function, or FUNCTIONS for none. */
struct page {
    uint32_t sample_count;
    uint32_t functions[SAMPLES_MAX];
    uint32_t part_count;
    uint32_t begins[PARTS_MAX + 1]; /* of the parts: sample numbers; a part may be empty */
    struct window {
        uint32_t name;
        uint32_t start; /* sample numbers */
        uint32_t end;
    } windows[PARTS_MAX][WINDOWS_MAX];
    uint32_t window_counts[PARTS_MAX];
};

static void draw_page(struct page *page)
{
    *page = (struct page){.sample_count = below(SAMPLES_MAX), .part_count = 1 + below(PARTS_MAX)};
    for (uint32_t i = 0; i < page->sample_count; i++)
        page->functions[i] = below(FUNCTIONS + 1);
    page->begins[page->part_count] = page->sample_count;
    for (uint32_t i = page->part_count; i-- > 1;)
        page->begins[i] = below(page->begins[i + 1] + 1);
    for (uint32_t i = 0; i < page->part_count; i++) {
        page->window_counts[i] = below(WINDOWS_MAX + 1);
        for (uint32_t k = 0; k < page->window_counts[i]; k++) {
            uint32_t start = below(SAMPLES_MAX);
            page->windows[i][k] =
                (struct window){below(NAMES), start, start + 1 + below(SAMPLES_MAX / 3)};
        }
    }
}

static struct fp_str body_of(const struct page *page, uint32_t part, struct fp_buf *json)
{
    const char *comma = "";
    fp_buf_clear(json);
    fp_buf_addf(json, "{\"version\":1,\"start\":0,\"sampleInterval\":%d,\"coverage\":\"quota\"",
                STEP_MS);
    if (page->begins[part] < page->begins[part + 1]) {
        fp_buf_addf(json, ",\"trace\":{\"resources\":[\"a.js\"],\"frames\":[{\"name\":\"top\"}");
        for (uint32_t i = 0; i < FUNCTIONS; i++)
            fp_buf_addf(json, ",{\"name\":\"f%u\",\"resourceId\":0,\"line\":1,\"column\":1}", i);
        fp_buf_addf(json, "],\"stacks\":[{\"frameId\":0}");
        for (uint32_t i = 0; i < FUNCTIONS; i++)
            fp_buf_addf(json, ",{\"frameId\":%u,\"parentId\":%u}", i + 1, i % 2 == 0 ? 0 : i);
        fp_buf_addf(json, "],\"samples\":[");
        for (uint32_t i = page->begins[part]; i < page->begins[part + 1]; i++, comma = ",") {
            fp_buf_addf(json, "%s{\"timestamp\":%u", comma, i * STEP_MS);
            if (page->functions[i] < FUNCTIONS)
                fp_buf_addf(json, ",\"stackId\":%u", page->functions[i] + 1);
            fp_buf_addf(json, "}");
        }
        fp_buf_addf(json, "]}");
    }
    fp_buf_addf(json, ",\"measures\":[");
    for (uint32_t i = 0; i < page->window_counts[part]; i++) {
        const struct window *window = &page->windows[part][i];
        fp_buf_addf(
            json, "%s{\"entryType\":\"measure\",\"name\":\"n%u\",\"startTime\":%u,\"duration\":%u}",
            i > 0 ? "," : "", window->name, window->start * STEP_MS,
            (window->end - window->start) * STEP_MS);
    }
    fp_buf_addf(json, "]}");
    assert_false(json->failed);
    return (struct fp_str){(const char *)json->data, json->len};
}

/* Profiled time of the samples of a name with a function on top; FUNCTIONS: without any. */
typedef int64_t sums[NAMES][FUNCTIONS + 1];

static void expect(const struct page *page, sums expected)
{
    memset(expected, 0, sizeof(sums));
    for (uint32_t name = 0; name < NAMES; name++)
        for (uint32_t i = 0; i < page->sample_count; i++) {
            bool is_inside = false;
            for (uint32_t part = 0; part < page->part_count; part++)
                for (uint32_t k = 0; k < page->window_counts[part]; k++) {
                    const struct window *window = &page->windows[part][k];
                    is_inside = is_inside ||
                                (window->name == name && i >= window->start && i < window->end);
                }
            expected[name][page->functions[i]] += is_inside ? STEP_MS * 1000 : 0;
        }
}

static void add(const struct fp_delta *delta, sums actual)
{
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        const struct fp_str name = delta->timings[measured->timing].name;
        int64_t *row = actual[name.ptr[1] - '0'];
        int64_t self_us = 0;
        row[FUNCTIONS] += measured->unattributed_us;
        for (uint32_t k = 0; k < measured->frame_count; k++) {
            const struct fp_delta_measured_frame *frame =
                &delta->measured_frames[measured->first_frame + k];
            const struct fp_str function = delta->frames[frame->frame].function;
            self_us += frame->self_us;
            assert_true(frame->total_us >= frame->self_us && frame->samples > 0);
            if (function.ptr[0] == 'f')
                row[function.ptr[1] - '0'] += frame->self_us;
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
        assert_true(((struct fp_frame_fact *)fp_rows_at(facts, i))->samples > 0);
    for (size_t i = 0; i < timings->count; i++)
        assert_true(((struct fp_timing_fact *)fp_rows_at(timings, i))->count > 0);
    for (size_t i = 0; i < inside->count; i++) {
        const struct fp_measure_frame_fact *fact = fp_rows_at(inside, i);
        assert_non_null(fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_FRAME], &fact->key.frame_id));
        assert_non_null(fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_TIMING], &fact->key.fact.id));
    }
}

static void each_sample_counts_once_per_name(void **state)
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
        sums actual = {{0}};
        struct fp_arena arena;
        struct fp_rollup rollup;
        draw_page(&page);
        expect(&page, expected);
        shuffle(order, page.part_count);
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
            fold_body(&arena, body_of(&page, order[i], &json), &context, &delta);
            add(&delta, actual);
            roll_up(&rollup, &delta, &arena);
            copies[i] = fp_part_copy(&part);
            assert_non_null(copies[i]);
            fp_arena_release(&arena);
        }
        assert_memory_equal(actual, expected, sizeof(sums));
        assert_rolled_up(&rollup);
        fp_rollup_release(&rollup);
        for (uint32_t i = 0; i < page.part_count; i++)
            free(copies[i]);
    }
    fp_buf_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_sample_counts_once_per_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
