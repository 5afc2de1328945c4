/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits: each moment of a response counts once, so that the shares add up to its windows, in
 * whichever order the parts of the page load arrive.
 */
#include "page_test.h"
#include "site_test.h"

#include <stdlib.h>

enum { TARGETS = 2, HOSTS = 3, EXTRAS_MAX = 4 };
enum share { CODE, LAYOUT, HIDDEN, UNSEEN, IDLE, WAITING, SHARES = WAITING + HOSTS };

/* The facts of a part beside its samples. */
struct waits_part {
    uint32_t response_count;
    uint32_t frame_count;
    struct response {
        uint32_t target; /* TARGETS for none */
        struct span_ms span;
        uint32_t request_count;
        struct span_ms requests[EXTRAS_MAX];
    } responses[EXTRAS_MAX];
    struct frame {
        struct span_ms span;
        uint32_t render_ms; /* 0 for none */
    } frames[EXTRAS_MAX];
};

/* Requests with the same span have the same host: nothing tells which is first. */
static uint32_t host_of(struct span_ms span)
{
    return (span.start + span.end) % HOSTS;
}

static void draw_waits(struct waits_part *part)
{
    part->response_count = below(EXTRAS_MAX + 1);
    part->frame_count = below(EXTRAS_MAX + 1);
    for (uint32_t i = 0; i < part->response_count; i++) {
        struct response *response = &part->responses[i];
        *response = (struct response){.target = below(TARGETS + 1),
                                      .span = draw_span(SPAN_MS / 3),
                                      .request_count = below(EXTRAS_MAX + 1)};
        for (uint32_t k = 0; k < response->request_count; k++)
            response->requests[k] = draw_span(SPAN_MS / 4);
    }
    for (uint32_t i = 0; i < part->frame_count; i++) {
        struct frame *frame = &part->frames[i];
        *frame = (struct frame){.span = draw_span(SPAN_MS / 4)};
        if (below(2) == 0)
            frame->render_ms = frame->span.start + below(frame->span.end - frame->span.start + 1);
    }
}

static void add_responses(const struct waits_part *part, struct fp_buf *json)
{
    fp_buf_addf(json, ",\"responses\":[");
    for (uint32_t i = 0; i < part->response_count; i++) {
        const struct response *response = &part->responses[i];
        fp_buf_addf(json, "%s{\"type\":\"pointer\",\"start\":%u,\"duration\":%u,\"requests\":[",
                    i > 0 ? "," : "", response->span.start,
                    response->span.end - response->span.start);
        for (uint32_t k = 0; k < response->request_count; k++) {
            const struct span_ms span = response->requests[k];
            fp_buf_addf(json, "%s{\"host\":\"%c.example\",\"start\":%u,\"duration\":%u}",
                        k > 0 ? "," : "", (char)('a' + host_of(span)), span.start,
                        span.end - span.start);
        }
        fp_buf_addf(json, "]");
        if (response->target < TARGETS)
            fp_buf_addf(json, ",\"target\":\"#%c\"", (char)('a' + response->target));
        fp_buf_addf(json, "}");
    }
    fp_buf_addf(json, "]");
}

static struct fp_str body_of(const struct page_part *part, const struct waits_part *waits,
                             struct fp_buf *json)
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
    add_responses(waits, json);
    fp_buf_addf(json, ",\"frames\":[");
    for (uint32_t i = 0; i < waits->frame_count; i++) {
        const struct frame *frame = &waits->frames[i];
        fp_buf_addf(json, "%s{\"start\":%u,\"duration\":%u,\"styleAndLayoutStart\":%u}",
                    i > 0 ? "," : "", frame->span.start, frame->span.end - frame->span.start,
                    frame->render_ms);
    }
    fp_buf_addf(json, "]}");
    assert_false(json->failed);
    return (struct fp_str){(const char *)json->data, json->len};
}

/* Sums of a target, or last of all responses. */
struct sums {
    int64_t us[SHARES];
    int64_t windows;
};

/* The slow way: cell by cell. */

struct page_load {
    struct page page;
    struct waits_part waits[PARTS_MAX];
    uint32_t owners[CELLS];
    bool is_watched;
};

static bool holds(struct span_ms span, uint32_t cell)
{
    return cell >= span.start * 1000 / CELL_US && cell < span.end * 1000 / CELL_US;
}

static bool is_of(const struct response *response, uint32_t target)
{
    return target == TARGETS || response->target == target;
}

static bool is_in_window(const struct page_load *load, uint32_t target, uint32_t cell)
{
    for (uint32_t i = 0; i < load->page.part_count; i++)
        for (uint32_t k = 0; k < load->waits[i].response_count; k++)
            if (is_of(&load->waits[i].responses[k], target) &&
                holds(load->waits[i].responses[k].span, cell))
                return true;
    return false;
}

/* Returns the host of the request that began first of those at a cell, HOSTS if there is none.
 * is_before: only requests that began before their response; otherwise only the others. */
static uint32_t request_at(const struct page_load *load, uint32_t target, uint32_t cell,
                           bool is_before)
{
    struct span_ms first = {UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < load->page.part_count; i++)
        for (uint32_t k = 0; k < load->waits[i].response_count; k++) {
            const struct response *response = &load->waits[i].responses[k];
            for (uint32_t r = 0; is_of(response, target) && r < response->request_count; r++) {
                const struct span_ms span = response->requests[r];
                if (holds(span, cell) && (span.start < response->span.start) == is_before &&
                    (span.start < first.start ||
                     (span.start == first.start && span.end < first.end)))
                    first = span;
            }
        }
    return first.start == UINT32_MAX ? HOSTS : host_of(first);
}

static enum share share_at(const struct page_load *load, uint32_t target, uint32_t cell)
{
    const uint32_t owner = load->owners[cell];
    uint32_t host = request_at(load, target, cell, false);
    bool is_running = false;
    bool is_layout = false;
    for (uint32_t i = 0; i < load->page.part_count; i++)
        for (uint32_t k = 0; k < load->waits[i].frame_count; k++) {
            const struct frame *frame = &load->waits[i].frames[k];
            const bool is_inside = holds(frame->span, cell);
            is_running = is_running || is_inside;
            is_layout = is_layout || (is_inside && frame->render_ms > 0 &&
                                      cell >= frame->render_ms * 1000 / CELL_US);
        }
    if (host == HOSTS)
        host = request_at(load, target, cell, true);
    if (owner < FUNCTIONS)
        return CODE;
    if (is_layout)
        return LAYOUT;
    if (is_running)
        return owner == NOBODY ? UNSEEN : HIDDEN;
    if (host < HOSTS)
        return (enum share)(WAITING + host);
    return owner == NOBODY ? UNSEEN : IDLE;
}

/* Adds the window that begins at a cell, if it has a sample. Returns the cell after it. */
static uint32_t expect_window(const struct page_load *load, uint32_t target, uint32_t first,
                              struct sums *expected)
{
    bool has_sample = false;
    uint32_t end = first;
    for (; end < CELLS && is_in_window(load, target, end); end++)
        has_sample = has_sample || load->owners[end] != NOBODY;
    if (!has_sample)
        return end + 1;
    expected->windows++;
    for (uint32_t cell = first; cell < end; cell++)
        expected->us[share_at(load, target, cell)] += CELL_US;
    return end + 1;
}

static void expect(struct page_load *load, const uint32_t *order, struct sums *expected)
{
    memset(expected, 0, (TARGETS + 1) * sizeof(*expected));
    load->is_watched = false;
    for (uint32_t i = 0; i < CELLS; i++)
        load->owners[i] = NOBODY;
    for (uint32_t i = 0; i < load->page.part_count; i++) {
        const struct page_part *part = &load->page.parts[order[i]];
        for (uint32_t k = 0; k < part->sample_count; k++)
            own(part, k, load->owners);
        load->is_watched = load->is_watched || part->is_watched;
    }
    for (uint32_t target = 0; load->is_watched && target <= TARGETS; target++)
        for (uint32_t cell = 0; cell < CELLS;)
            cell = is_in_window(load, target, cell)
                       ? expect_window(load, target, cell, &expected[target])
                       : cell + 1;
}

/* Sums of deltas. */

static struct sums *sums_of(struct fp_str window, struct sums *sums)
{
    return fp_str_equal(window, FP_STR("(response)"))      ? &sums[TARGETS]
           : fp_str_equal(window, FP_STR("(response) #a")) ? &sums[0]
           : fp_str_equal(window, FP_STR("(response) #b")) ? &sums[1]
                                                           : NULL;
}

static void add_wait(const struct fp_delta_timing *timing, struct sums *sums)
{
    static const char *const names[] = {
        [LAYOUT] = "rendering", [HIDDEN] = "hidden", [UNSEEN] = "unseen", [IDLE] = "idle"};
    assert_true(timing->count > 0 && timing->bin_count == 0);
    if (timing->source.len == 0) {
        assert_int_equal(timing->sum_us, 0);
        sums->windows += timing->count;
        return;
    }
    if (fp_str_equal(timing->source, FP_STR("waiting"))) {
        sums->us[WAITING + timing->function.ptr[0] - 'a'] += timing->sum_us;
        return;
    }
    size_t share = LAYOUT;
    while (share < FP_COUNT(names) && !fp_str_equal(timing->source, fp_str_of(names[share])))
        share++;
    assert_true(share < FP_COUNT(names));
    sums->us[share] += timing->sum_us;
}

static void add(const struct fp_delta *delta, struct sums *actual)
{
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        struct sums *sums = sums_of(delta->timings[measured->timing].name, actual);
        if (sums != NULL)
            sums->us[CODE] += measured->profiled_us - measured->unattributed_us;
    }
    for (uint32_t i = 0; i < delta->timing_count; i++)
        if (delta->timings[i].kind == FP_TIMING_WAIT)
            add_wait(&delta->timings[i], sums_of(delta->timings[i].name, actual));
}

static void assert_sums(const struct sums *actual, const struct sums *expected)
{
    for (uint32_t target = 0; target <= TARGETS; target++) {
        for (uint32_t share = 0; share < SHARES; share++)
            assert_int_equal(actual[target].us[share], expected[target].us[share]);
        /* A later part's window may join two that were counted. */
        assert_true(actual[target].windows >= expected[target].windows);
    }
}

static void fold_in_order(const struct page_load *load, const uint32_t *order, struct sums *actual)
{
    struct fp_part *copies[PARTS_MAX];
    struct fp_buf json;
    memset(actual, 0, (TARGETS + 1) * sizeof(*actual));
    fp_buf_init(&json, 1 << 20);
    for (uint32_t i = 0; i < load->page.part_count; i++) {
        struct fp_part part;
        struct fp_delta delta;
        struct fp_arena arena;
        const struct fp_fold_context context = {.site = FP_STR("shop"),
                                                .measures = 100,
                                                .earlier = (const struct fp_part *const *)copies,
                                                .earlier_count = i,
                                                .part = &part};
        fp_arena_init(&arena, TEST_ARENA_MAX);
        fold_body(&arena, body_of(&load->page.parts[order[i]], &load->waits[order[i]], &json),
                  &context, &delta);
        add(&delta, actual);
        copies[i] = fp_part_copy(&part);
        assert_non_null(copies[i]);
        fp_arena_release(&arena);
    }
    for (uint32_t i = 0; i < load->page.part_count; i++)
        free(copies[i]);
    fp_buf_release(&json);
}

static void each_moment_of_a_response_counts_once(void **state)
{
    (void)state;
    struct page_load load;
    struct sums expected[TARGETS + 1];
    struct sums actual[TARGETS + 1];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t order[PARTS_MAX];
        draw_page(&load.page);
        for (uint32_t i = 0; i < load.page.part_count; i++)
            draw_waits(&load.waits[i]);
        shuffle(order, load.page.part_count);
        expect(&load, order, expected);
        fold_in_order(&load, order, actual);
        assert_sums(actual, expected);
        for (uint32_t i = 0; load.page.part_count == 1 && i <= TARGETS; i++)
            assert_int_equal(actual[i].windows, expected[i].windows);
    }
}

/* Ten thousand hosts do not grow the names, and no time gets lost. */
static void hosts_past_the_ceiling_are_one(void **state)
{
    enum { REQUESTS = 10000, CEILING = 20 };
    struct site *site = *state;
    struct fp_fold_context context = context_of(site);
    struct fp_delta delta;
    struct fp_buf json;
    uint32_t hosts = 0;
    int64_t waiting_us = 0;
    context.measures = 10;
    site->limits.names[FP_NAME_TIMING] = CEILING;
    fp_buf_init(&json, 1 << 20);
    fp_buf_addf(&json, "{\"version\":1,\"sampleInterval\":10,\"trace\":{\"resources\":[],"
                       "\"frames\":[],\"stacks\":[],\"samples\":[{\"timestamp\":10}]},"
                       "\"responses\":[{\"type\":\"pointer\",\"start\":0,\"duration\":20000,"
                       "\"requests\":[");
    for (uint32_t i = 0; i < REQUESTS; i++)
        fp_buf_addf(&json, "%s{\"host\":\"h%u.example\",\"start\":%u,\"duration\":1}",
                    i > 0 ? "," : "", i, i);
    fp_buf_addf(&json, "]}]}");
    fold_body(&site->arena, (struct fp_str){(const char *)json.data, json.len}, &context, &delta);
    for (uint32_t i = 0; i < delta.timing_count; i++) {
        const struct fp_delta_timing *timing = &delta.timings[i];
        if (timing->kind != FP_TIMING_WAIT || timing->function.len == 0)
            continue;
        hosts++;
        waiting_us += timing->sum_us;
        assert_true(fp_str_equal(timing->name, FP_STR("(response)")));
        assert_true(fp_str_equal(timing->source, FP_STR("waiting")));
    }
    assert_true(hosts <= CEILING + 1);
    assert_int_equal(waiting_us, REQUESTS * 1000);
    fp_buf_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_moment_of_a_response_counts_once),
                                       TEST(hosts_past_the_ceiling_are_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
