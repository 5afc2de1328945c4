/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads: what is remembered of page loads, in which order, and how much of it.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/loads.c"

static const struct fp_metric metrics_table[] = {FP_INGEST_METRICS(FP_METRIC_ROW)};
const struct fp_metric_table fp_ingest_metrics = {metrics_table, FP_INGEST_METRIC_COUNT, NULL};

struct room {
    struct fp_metrics *metrics;
    struct fp_metric_set *set;
    struct fp_loads *loads;
};

static int set_up(void **state)
{
    struct room *room = calloc(1, sizeof(*room));
    room->metrics = fp_metrics_create();
    room->set = fp_metrics_join(room->metrics, &fp_ingest_metrics);
    room->loads = fp_loads_create(room->set);
    assert_non_null(room->loads);
    *state = room;
    return 0;
}

/* The sums are those of the parts that are there. */
static void check_sums(const struct fp_loads *loads)
{
    size_t all = 0;
    for (size_t i = 0; i < SHELVES; i++) {
        for (const struct load *load = loads->shelves[i].loads; load != NULL; load = load->next) {
            size_t bytes = 0;
            size_t count = 0;
            for (const struct load_part *part = load->parts; part != NULL; part = part->next) {
                bytes += part->bytes;
                count++;
            }
            assert_int_equal(load->bytes, bytes);
            assert_int_equal(load->part_count, count);
            all += bytes;
        }
    }
    assert_int_equal(atomic_load(&loads->bytes), all);
}

static int tear_down(void **state)
{
    struct room *room = *state;
    check_sums(room->loads);
    assert_int_equal(atomic_load(&room->loads->bytes) > FP_LOADS_BYTES_MAX, 0);
    fp_loads_free(room->loads);
    fp_metrics_free(room->metrics);
    free(room);
    return 0;
}

static struct fp_loads_key key_of(uint32_t load, uint8_t upload, int64_t now_s)
{
    struct fp_loads_key key = {.site_id = 7, .now_us = now_s * FP_US_PER_S};
    memcpy(key.load.bytes, &load, sizeof(load));
    key.upload.bytes[0] = upload;
    return key;
}

/* Visits with a part that has one window per sample count. Returns how many parts came before. */
static size_t visit(struct room *room, const struct fp_loads_key *key, uint32_t samples)
{
    static const struct fp_delta_timing timing = {.id = 1, .name = {"w", 1}};
    const struct fp_fold_window window = {0, key->upload.bytes[0], key->upload.bytes[0] + 1};
    struct fp_fold_sample *made = calloc(samples + 1, sizeof(*made));
    const struct fp_part part = {.samples = made,
                                 .sample_count = samples,
                                 .timings = &timing,
                                 .timing_count = 1,
                                 .windows = &window,
                                 .window_count = 1};
    struct fp_loads_visit visit;
    fp_loads_begin(room->loads, key, &visit);
    size_t count = visit.earlier_count;
    for (size_t i = 0; i < count; i++) {
        assert_true(fp_str_equal(visit.earlier[i]->timings[0].name, FP_STR("w")));
        assert_int_equal(visit.earlier[i]->windows[0].start_us, i + 1);
    }
    fp_loads_end(&visit, &part);
    free(made);
    return count;
}

static size_t come(struct room *room, uint32_t load, uint8_t upload, int64_t now_s)
{
    const struct fp_loads_key key = key_of(load, upload, now_s);
    return visit(room, &key, 3);
}

static void parts_see_those_before_them(void **state)
{
    struct room *room = *state;
    assert_int_equal(come(room, 1, 1, 0), 0);
    assert_int_equal(come(room, 2, 1, 0), 0);
    assert_int_equal(come(room, 1, 2, 1), 1);
    assert_int_equal(come(room, 1, 3, 2), 2);
    struct fp_loads_key other = key_of(1, 4, 2);
    other.site_id = 8;
    assert_int_equal(visit(room, &other, 1), 0);
}

static void one_that_comes_again_sees_what_it_saw(void **state)
{
    struct room *room = *state;
    assert_int_equal(come(room, 1, 1, 0), 0);
    assert_int_equal(come(room, 1, 2, 0), 1);
    assert_int_equal(come(room, 1, 3, 0), 2);
    assert_int_equal(come(room, 1, 2, 0), 1);
    assert_int_equal(come(room, 1, 1, 0), 0);
    assert_int_equal(come(room, 1, 4, 0), 3);
}

static void old_ones_go(void **state)
{
    struct room *room = *state;
    assert_int_equal(come(room, 1, 1, 0), 0);
    assert_int_equal(come(room, 1, 2, FP_LOADS_AGE_MAX_S), 1);
    assert_int_equal(come(room, 1, 1, 3 * FP_LOADS_AGE_MAX_S), 0);
}

static void forgets_a_refused_part(void **state)
{
    struct room *room = *state;
    const struct fp_loads_key key = key_of(1, 1, 0);
    assert_int_equal(visit(room, &key, 3), 0);
    fp_loads_forget(room->loads, &key);
    assert_int_equal(atomic_load(&room->loads->bytes), 0);
    assert_int_equal(come(room, 1, 1, 0), 0);
    fp_loads_forget(room->loads, &key);
    fp_loads_forget(room->loads, &key);
    for (size_t i = 0; i < SHELVES; i++)
        assert_null(room->loads->shelves[i].loads);
}

static void a_refused_part_frees_its_share_of_the_page_load(void **state)
{
    struct room *room = *state;
    const struct fp_loads_key refused = key_of(1, 2, 0);
    assert_int_equal(come(room, 1, 1, 0), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            visit(room, &refused, FP_LOADS_BYTES_OF_ONE_MAX / 2 / sizeof(struct fp_fold_sample)),
            1);
        fp_loads_forget(room->loads, &refused);
        check_sums(room->loads);
    }
    assert_int_equal(come(room, 1, 2, 0), 1);
    assert_int_equal(come(room, 1, 3, 0), 2);
}

static void a_page_load_has_its_maximum(void **state)
{
    struct room *room = *state;
    for (uint8_t i = 1; i <= FP_LOADS_PARTS_MAX + 5; i++)
        assert_int_equal(come(room, 1, i, 0), i <= FP_LOADS_PARTS_MAX ? i - 1 : FP_LOADS_PARTS_MAX);
    struct fp_loads_key key = key_of(2, 1, 0);
    assert_int_equal(visit(room, &key, FP_LOADS_BYTES_OF_ONE_MAX / sizeof(struct fp_fold_sample)),
                     0);
    assert_int_equal(come(room, 2, 1, 0), 0);
    assert_int_equal(come(room, 2, 2, 0), 1);
}

/* Enough for three times the memory. */
static void all_together_have_theirs(void **state)
{
    struct room *room = *state;
    const uint32_t samples = FP_LOADS_BYTES_OF_ONE_MAX / sizeof(struct fp_fold_sample) - 100;
    const uint32_t loads = 3 * FP_LOADS_BYTES_MAX / FP_LOADS_BYTES_OF_ONE_MAX;
    size_t found = 0;
    for (uint32_t i = 0; i < loads; i++) {
        const struct fp_loads_key key = key_of(i, 1, i / 10);
        assert_int_equal(visit(room, &key, samples), 0);
        assert_true(atomic_load(&room->loads->bytes) <= FP_LOADS_BYTES_MAX);
    }
    for (uint32_t i = 0; i < loads; i++)
        found += come(room, i, 2, loads);
    assert_in_range(found, 10, loads / 3);
    for (size_t i = 0; i < SHELVES; i++)
        for (const struct load *load = room->loads->shelves[i].loads; load != NULL;
             load = load->next)
            assert_true(load->part_count > 0);
}

struct comer {
    struct room *room;
    uint8_t first;
    size_t seen;
};

enum { COMERS = 4, VISITS = 16 };

static void *come_often(void *context)
{
    struct comer *comer = context;
    for (uint8_t i = 0; i < VISITS; i++) {
        const struct fp_loads_key key = key_of(9, (uint8_t)(comer->first + i), 0);
        struct fp_loads_visit visit;
        const struct fp_part part = {.window_count = 1,
                                     .windows = &(struct fp_fold_window){0, 1, 2},
                                     .timing_count = 1,
                                     .timings = &(struct fp_delta_timing){.id = 1}};
        fp_loads_begin(comer->room->loads, &key, &visit);
        comer->seen += visit.earlier_count;
        fp_loads_end(&visit, &part);
    }
    return NULL;
}

/* Each pair of parts meets exactly once. */
static void parts_that_come_at_once_wait_for_each_other(void **state)
{
    struct comer comers[COMERS];
    pthread_t threads[COMERS];
    size_t seen = 0;
    for (uint8_t i = 0; i < COMERS; i++) {
        comers[i] = (struct comer){*state, (uint8_t)(1 + i * VISITS), 0};
        assert_int_equal(pthread_create(&threads[i], NULL, come_often, &comers[i]), 0);
    }
    for (size_t i = 0; i < COMERS; i++) {
        pthread_join(threads[i], NULL);
        seen += comers[i].seen;
    }
    assert_int_equal(seen, COMERS * VISITS * (COMERS * VISITS - 1) / 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parts_see_those_before_them),
        TEST(one_that_comes_again_sees_what_it_saw),
        TEST(old_ones_go),
        TEST(forgets_a_refused_part),
        TEST(a_refused_part_frees_its_share_of_the_page_load),
        TEST(a_page_load_has_its_maximum),
        TEST(all_together_have_theirs),
        TEST(parts_that_come_at_once_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
