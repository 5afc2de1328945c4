/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ceilings: which names are new, which are known, what a new hour changes, and bounded memory.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/fold/ceilings.c"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CEILING = 10, MANY = 5000 };

#define MIB (UINT64_C(1) << 20)
#define HOUR INT64_C(500000) /* some hour, UTC */

static struct fp_metrics *metrics;
static struct fp_ceilings *ceilings;
static struct fp_ceiling_limits limits;

static int set_up(void **state)
{
    (void)state;
    limits = (struct fp_ceiling_limits){.memory = 64 * MIB};
    for (size_t i = 0; i < FP_NAME_KINDS; i++)
        limits.names[i] = CEILING;
    metrics = fp_metrics_create();
    assert_non_null(metrics);
    ceilings = fp_ceilings_create(metrics);
    assert_non_null(ceilings);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fp_ceilings_free(ceilings);
    fp_metrics_free(metrics);
    return 0;
}

static struct fp_ceilings_visit visit_of(uint64_t site_id, int64_t hour)
{
    return (struct fp_ceilings_visit){
        .ceilings = ceilings,
        .limits = &limits,
        .site = FP_STR("shop"),
        .site_id = site_id,
        .received_us = hour * FP_US_PER_HOUR + 1,
    };
}

/* Returns how many of the ids first, first + 1, … are admitted. */
static size_t use(uint64_t site_id, int64_t hour, uint64_t first, size_t count)
{
    static uint64_t ids[MANY];
    static bool refused[MANY];
    assert_true(count <= MANY);
    for (size_t i = 0; i < count; i++)
        ids[i] = first + i;
    const struct fp_ceilings_visit visit = visit_of(site_id, hour);
    size_t refusals = fp_ceilings_admit(&visit, FP_NAME_FRAME, ids, count, refused);
    size_t flags = 0;
    for (size_t i = 0; i < count; i++)
        flags += refused[i];
    assert_int_equal(flags, refusals);
    return count - refusals;
}

static void new_names_are_admitted_up_to_the_ceiling(void **state)
{
    (void)state;
    assert_int_equal(use(1, HOUR, 100, CEILING - 1), CEILING - 1);
    assert_int_equal(use(1, HOUR, 200, 3), 1);
    assert_int_equal(use(1, HOUR, 300, 3), 0);
}

static void a_name_admitted_once_costs_nothing_again(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(use(1, HOUR, 100, CEILING), CEILING);
    assert_int_equal(use(1, HOUR, 100, CEILING + 5), CEILING);
}

static void one_call_decides_as_many_small_ones_would(void **state)
{
    (void)state;
    limits.names[FP_NAME_FRAME] = MANY - 7;
    assert_true(MANY > 2 * NAMES_AT_ONCE);
    assert_int_equal(use(1, HOUR, 1, MANY), MANY - 7);
    assert_int_equal(use(1, HOUR, 1, MANY - 7), MANY - 7);
}

static void sites_and_kinds_have_ceilings_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(use(1, HOUR, 100, 2 * CEILING), CEILING);
    assert_int_equal(use(2, HOUR, 100, CEILING), CEILING);
    assert_int_equal(use(1 + SITE_LISTS, HOUR, 100, CEILING), CEILING);
    const struct fp_ceilings_visit visit = visit_of(1, HOUR);
    for (enum fp_name_kind kind = FP_NAME_STACK; kind < FP_NAME_KINDS; kind++) {
        const uint64_t id = 7;
        bool refused;
        assert_int_equal(fp_ceilings_admit(&visit, kind, &id, 1, &refused), 0);
        assert_false(refused);
    }
}

static void collapsed_segments_have_a_tenth_of_the_ceiling_each(void **state)
{
    (void)state;
    const struct fp_ceilings_visit visit = visit_of(1, HOUR);
    for (enum fp_name_kind kind = FP_NAME_KINDS; kind < FP_NAME_TABLES; kind++) {
        const uint64_t ids[] = {1, 2, 3};
        bool refused[3];
        assert_int_equal(fp_ceilings_admit(&visit, kind, ids, 3, refused), 2);
        assert_false(refused[0]);
    }
}

/* ---- hours ---- */

static size_t use_vitals(int64_t hour, size_t count)
{
    uint64_t ids[2 * CEILING] = {0};
    bool refused[2 * CEILING];
    const struct fp_ceilings_visit visit = visit_of(1, hour);
    assert_true(count <= FP_COUNT(ids));
    return count - fp_ceilings_admit(&visit, FP_NAME_VITAL, ids, count, refused);
}

static void vitals_are_counted_by_the_hour_and_take_no_memory(void **state)
{
    (void)state;
    assert_int_equal(use_vitals(HOUR, CEILING - 1), CEILING - 1);
    assert_int_equal(use_vitals(HOUR, 5), 1);
    assert_int_equal(ceilings->memory, 0);
    assert_int_equal(use_vitals(HOUR + 1, 5), 5);
}

static void knows_names_used_in_the_hour_before(void **state)
{
    (void)state;
    assert_int_equal(use(1, HOUR, 100, CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 1, 200, 2 * CEILING), CEILING); /* the ceiling is whole again */
    assert_int_equal(use(1, HOUR + 1, 100, CEILING), CEILING);     /* and these outlive the flood */
    assert_int_equal(use(1, HOUR + 2, 300, 2 * CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 2, 100, CEILING), CEILING);
}

static void forgets_names_not_used_in_the_hour_before(void **state)
{
    (void)state;
    assert_int_equal(use(1, HOUR, 100, CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 1, 100, 1), 1);
    assert_int_equal(use(1, HOUR + 2, 200, CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 2, 100, CEILING), 1);
}

static void a_site_that_was_quiet_for_an_hour_begins_anew(void **state)
{
    (void)state;
    assert_int_equal(use(1, HOUR, 100, CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 2, 200, CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 2, 100, CEILING), 0);
}

static void a_refused_name_is_not_known_in_the_next_hour(void **state)
{
    (void)state;
    assert_int_equal(use(1, HOUR, 100, 2 * CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 1, 200, CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 1, 100 + CEILING, CEILING), 0);
}

static void an_upload_that_is_late_for_its_hour_renews_nothing(void **state)
{
    (void)state;
    assert_int_equal(use(1, HOUR + 1, 100, CEILING), CEILING);
    assert_int_equal(use(1, HOUR, 200, 1), 0);
    assert_int_equal(use(2, HOUR, 200, CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 1, 300, 1), 0);
    assert_int_equal(use(2, HOUR + 1, 300, 1), 0);
}

static void a_clock_that_was_a_year_ahead_leaves_no_spent_ceiling(void **state)
{
    (void)state;
    const int64_t year = INT64_C(365) * 24;
    assert_int_equal(use(1, HOUR + year, 100, CEILING), CEILING);
    assert_int_equal(use(1, HOUR, 200, 2 * CEILING), CEILING);
    assert_int_equal(use(1, HOUR, 300, 1), 0);
}

static void a_ceiling_changes_at_once(void **state)
{
    (void)state;
    assert_int_equal(use(1, HOUR, 100, CEILING), CEILING);
    limits.names[FP_NAME_FRAME] = CEILING + 5;
    assert_int_equal(use(1, HOUR, 200, CEILING), 5);
    limits.names[FP_NAME_FRAME] = 1;
    assert_int_equal(use(1, HOUR, 300, 1), 0);
    assert_int_equal(use(1, HOUR, 100, CEILING), CEILING);
}

/* ---- memory ---- */

static void without_uploads_there_is_no_table(void **state)
{
    (void)state;
    assert_int_equal(ceilings->memory, 0);
    assert_int_equal(use(1, HOUR, 100, 1), 1);
    assert_int_equal(ceilings->memory, FIRST_SLOTS * sizeof(uint64_t));
}

static const struct table *table_of(uint64_t site_id)
{
    const struct site *site = ceilings->sites[site_id % SITE_LISTS];
    while (site->id != site_id)
        site = site->next;
    return &site->tables[FP_NAME_FRAME];
}

/* A page that keeps all old names in use and adds new ones each hour uses at most this. */
static void a_table_holds_three_ceilings(void **state)
{
    (void)state;
    limits.names[FP_NAME_FRAME] = MANY / 5;
    size_t in_use = 0;
    for (int64_t hour = HOUR; hour < HOUR + 8; hour++) {
        assert_int_equal(use(1, hour, 1, in_use), in_use);
        in_use += use(1, hour, 1 + in_use, MANY / 5);
        assert_true(table_of(1)->names <= 3 * (size_t)MANY / 5);
    }
    assert_int_equal(in_use, 3 * (size_t)MANY / 5);
    assert_true(ceilings->memory <= 4096 * sizeof(uint64_t));
}

/* Each hour's flood leaves room for the next hour's, at the full ceiling. */
static void a_flood_of_new_names_for_hours_needs_no_more_memory(void **state)
{
    (void)state;
    limits.names[FP_NAME_FRAME] = MANY / 5;
    size_t most = 0;
    for (int64_t hour = HOUR; hour < HOUR + 8; hour++) {
        assert_int_equal(use(1, hour, (uint64_t)hour * MANY, MANY), MANY / 5);
        most = ceilings->memory > most ? ceilings->memory : most;
    }
    assert_true(most <= 4096 * sizeof(uint64_t));
}

/* Stacks take nearly all of the memory; docs/configuration.md says what the other five add. */
static void at_the_default_ceilings_a_site_needs_16_mib_for_stacks(void **state)
{
    (void)state;
    const size_t ceiling = 500000;
    limits.names[FP_NAME_FRAME] = (uint32_t)ceiling;
    for (int64_t hour = 0; hour < 5; hour++) {
        size_t in_use = 0;
        for (size_t first = 1; first <= 4 * ceiling; first += MANY)
            in_use += use(1, HOUR + hour, first, MANY);
        size_t expected = (size_t)(hour + 1) * ceiling;
        assert_int_equal(in_use, expected < 3 * ceiling ? expected : 3 * ceiling);
        assert_true(ceilings->memory <= 16 * MIB);
    }
}

static void full_memory_keeps_known_names_and_refuses_new_ones(void **state)
{
    (void)state;
    limits.names[FP_NAME_FRAME] = MANY;
    assert_int_equal(use(1, HOUR, 1, 20), 20);
    limits.memory = 8192;
    size_t admitted = use(2, HOUR, 1, MANY);
    assert_true(admitted > 100 && admitted < 1000);
    assert_true(ceilings->memory <= limits.memory);
    assert_int_equal(use(1, HOUR, 1, 20), 20);
    assert_int_equal(use(2, HOUR, 1, admitted), admitted);
    assert_true(use(3, HOUR, 1, MANY) < admitted);
    assert_true(ceilings->memory <= limits.memory);
    /* The turn of the hour does not need more either. */
    assert_int_equal(use(2, HOUR + 1, 1, admitted), admitted);
    assert_true(ceilings->memory <= limits.memory);
}

static void sites_that_are_gone_give_their_memory_back(void **state)
{
    (void)state;
    for (uint64_t site = 0; site < 1000; site++)
        assert_int_equal(use(site, HOUR, site, CEILING), CEILING);
    assert_int_equal(use(1, HOUR + 1, 1, 1), 1);
    assert_int_equal(use(1, HOUR + 2, 1, 1), 1);
    assert_int_equal(ceilings->memory, FIRST_SLOTS * sizeof(uint64_t));
    for (size_t i = 0; i < SITE_LISTS; i++)
        assert_true(ceilings->sites[i] == NULL || ceilings->sites[i]->next == NULL);
}

static void a_table_shrinks_to_what_was_used(void **state)
{
    (void)state;
    limits.names[FP_NAME_FRAME] = MANY;
    assert_int_equal(use(1, HOUR, 1, MANY), MANY);
    assert_int_equal(use(1, HOUR + 1, 1, 3), 3);
    assert_int_equal(use(1, HOUR + 2, 1, 3), 3);
    assert_int_equal(ceilings->memory, FIRST_SLOTS * sizeof(uint64_t));
}

/* ---- telling ---- */

/* Redirects standard error to a file, until it is read. */
struct capture {
    int file;
    int was;
    char text[4096];
};

static void capture(struct capture *capture)
{
    *capture = (struct capture){.file = memfd_create("log", MFD_CLOEXEC)};
    capture->was = dup(STDERR_FILENO);
    assert_true(capture->file >= 0 && capture->was >= 0);
    assert_true(dup2(capture->file, STDERR_FILENO) >= 0);
}

static void captured(struct capture *capture)
{
    assert_true(dup2(capture->was, STDERR_FILENO) >= 0);
    assert_true(pread(capture->file, capture->text, sizeof(capture->text) - 1, 0) >= 0);
    close(capture->was);
    close(capture->file);
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text++)
        count++;
    return count;
}

static void refusals_are_counted_each_and_logged_once_an_hour(void **state)
{
    (void)state;
    struct capture log;
    capture(&log);
    size_t admitted = use(1, HOUR, 1, 2 * CEILING) + use(1, HOUR, 1, 2 * CEILING);
    admitted += use(2, HOUR, 1, CEILING); /* nothing refused */
    admitted += use(1, HOUR + 1, 100, CEILING + 1) + use(1, HOUR + 1, 200, 1);
    captured(&log);
    assert_int_equal(admitted, 4 * CEILING);
    assert_int_equal(fp_metrics_get(fp_metrics_join(metrics, &fp_profile_metrics),
                                    FP_METRIC_NAMES_OVERFLOWED_FRAME),
                     2 * CEILING + 2);
    assert_int_equal(fp_metrics_get(fp_metrics_join(metrics, &fp_profile_metrics),
                                    FP_METRIC_NAMES_OVERFLOWED_STACK),
                     0);
    assert_int_equal(occurrences(log.text, "\n"), 2);
    assert_int_equal(occurrences(log.text, "site=shop kind=frame setting=ceilings.frames"), 2);
}

/* One row per kind: what its refusals say and where they count. */
static void each_kind_has_its_own_name_setting_and_metric(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum fp_profile_metric metric;
    } expected[] = {
        [FP_NAME_FRAME] = {"kind=frame setting=ceilings.frames", FP_METRIC_NAMES_OVERFLOWED_FRAME},
        [FP_NAME_STACK] = {"kind=stack setting=ceilings.stacks", FP_METRIC_NAMES_OVERFLOWED_STACK},
        [FP_NAME_TIMING] = {"kind=timing setting=ceilings.timing_names",
                            FP_METRIC_NAMES_OVERFLOWED_TIMING},
        [FP_NAME_ROUTE] = {"kind=route setting=ceilings.routes", FP_METRIC_NAMES_OVERFLOWED_ROUTE},
        [FP_NAME_RELEASE] = {"kind=release setting=ceilings.releases",
                             FP_METRIC_NAMES_OVERFLOWED_RELEASE},
        [FP_NAME_SEGMENT] = {"kind=segment setting=ceilings.segments",
                             FP_METRIC_NAMES_OVERFLOWED_SEGMENT},
        [FP_NAME_BROWSER_VERSION] = {"kind=browser_version setting=ceilings.browser_versions",
                                     FP_METRIC_NAMES_OVERFLOWED_BROWSER_VERSION},
        [FP_NAME_CUSTOM] = {"kind=custom setting=ceilings.custom",
                            FP_METRIC_NAMES_OVERFLOWED_CUSTOM},
        [FP_NAME_CUSTOM_VALUE] = {"kind=custom_value setting=ceilings.custom_values",
                                  FP_METRIC_NAMES_OVERFLOWED_CUSTOM_VALUE},
        [FP_NAME_ELEMENT] = {"kind=element setting=ceilings.elements",
                             FP_METRIC_NAMES_OVERFLOWED_ELEMENT},
        [FP_NAME_VITAL] = {"kind=vital setting=ceilings.vitals", FP_METRIC_NAMES_OVERFLOWED_VITAL},
    };
    assert_int_equal(FP_COUNT(expected), FP_NAME_KINDS);
    const struct fp_ceilings_visit visit = visit_of(1, HOUR);
    uint64_t ids[CEILING + 3];
    bool refused[CEILING + 3];
    for (size_t i = 0; i < FP_COUNT(ids); i++)
        ids[i] = i + 1;
    for (size_t i = 0; i < FP_NAME_KINDS; i++) {
        struct fp_metric_set *block = fp_metrics_join(metrics, &fp_profile_metrics);
        const int64_t before = fp_metrics_get(block, expected[i].metric);
        struct capture log;
        capture(&log);
        assert_int_equal(
            fp_ceilings_admit(&visit, (enum fp_name_kind)i, ids, FP_COUNT(ids), refused), 3);
        captured(&log);
        assert_int_equal(occurrences(log.text, expected[i].line), 1);
        assert_int_equal(fp_metrics_get(block, expected[i].metric), before + 3);
    }
}

static void the_log_names_the_setting_that_is_spent(void **state)
{
    (void)state;
    struct capture log;
    limits.memory = 8192;
    limits.names[FP_NAME_FRAME] = MANY;
    capture(&log);
    size_t admitted = use(1, HOUR, 1, MANY);
    captured(&log);
    assert_true(admitted < MANY);
    assert_int_equal(occurrences(log.text, "setting=ceilings.memory"), 1);
    assert_int_equal(occurrences(log.text, "setting=ceilings.frames"), 0);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 200, AT_ONCE = 50 };

struct worker {
    pthread_t thread;
    uint64_t first;
    size_t admitted;
};

static void *work(void *context)
{
    struct worker *worker = context;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t ids[AT_ONCE];
        bool refused[AT_ONCE];
        for (uint64_t i = 0; i < AT_ONCE; i++)
            ids[i] = worker->first + round * AT_ONCE + i;
        const struct fp_ceilings_visit visit = visit_of(round % 3, HOUR);
        worker->admitted +=
            AT_ONCE - fp_ceilings_admit(&visit, FP_NAME_ROUTE, ids, AT_ONCE, refused);
    }
    return NULL;
}

static void threads_share_the_ceilings(void **state)
{
    (void)state;
    struct worker workers[THREADS] = {0};
    limits.names[FP_NAME_ROUTE] = 5000;
    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i].first = i << 32;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    size_t admitted = 0;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        admitted += workers[i].admitted;
    }
    assert_int_equal(admitted, 3 * 5000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(new_names_are_admitted_up_to_the_ceiling),
        TEST(a_name_admitted_once_costs_nothing_again),
        TEST(one_call_decides_as_many_small_ones_would),
        TEST(sites_and_kinds_have_ceilings_of_their_own),
        TEST(collapsed_segments_have_a_tenth_of_the_ceiling_each),
        TEST(vitals_are_counted_by_the_hour_and_take_no_memory),
        TEST(knows_names_used_in_the_hour_before),
        TEST(forgets_names_not_used_in_the_hour_before),
        TEST(a_site_that_was_quiet_for_an_hour_begins_anew),
        TEST(a_refused_name_is_not_known_in_the_next_hour),
        TEST(an_upload_that_is_late_for_its_hour_renews_nothing),
        TEST(a_clock_that_was_a_year_ahead_leaves_no_spent_ceiling),
        TEST(a_ceiling_changes_at_once),
        TEST(without_uploads_there_is_no_table),
        TEST(a_table_holds_three_ceilings),
        TEST(a_flood_of_new_names_for_hours_needs_no_more_memory),
        TEST(at_the_default_ceilings_a_site_needs_16_mib_for_stacks),
        TEST(full_memory_keeps_known_names_and_refuses_new_ones),
        TEST(sites_that_are_gone_give_their_memory_back),
        TEST(a_table_shrinks_to_what_was_used),
        TEST(each_kind_has_its_own_name_setting_and_metric),
        TEST(refusals_are_counted_each_and_logged_once_an_hour),
        TEST(the_log_names_the_setting_that_is_spent),
        TEST(threads_share_the_ceilings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
