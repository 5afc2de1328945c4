/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: who repeats page loads, and who only shares an address.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/sources.c"

#include <stdatomic.h>

enum { SITE = 1, OTHER_SITE = 2 };

static int set_up(void **state)
{
    *state = fp_sources_create();
    return *state == NULL;
}

static int tear_down(void **state)
{
    fp_sources_free(*state);
    return 0;
}

/* The nth page load of an address, one with a number. */
static struct fp_source_load load_of(const uint32_t *address, const char *agent, uint32_t n)
{
    struct fp_source_load load = {
        .site_id = SITE,
        .address = {(const char *)address, sizeof(*address)},
        .user_agent = fp_str_of(agent),
        .is_page = true,
        .now_us = 20000 * FP_US_PER_DAY,
    };
    memcpy(load.load.bytes, address, sizeof(*address));
    memcpy(load.load.bytes + sizeof(*address), &n, sizeof(n));
    return load;
}

static bool is_nth_repeated(struct fp_sources *sources, uint32_t address, uint32_t n)
{
    const struct fp_source_load load = load_of(&address, "agent", n);
    return fp_sources_is_repeated(sources, &load);
}

/* Loads pages until the next one is repeated. */
static void exhaust(struct fp_sources *sources, uint32_t address)
{
    for (uint32_t n = 0; n < FP_SOURCES_USUAL_MAX; n++)
        assert_false(is_nth_repeated(sources, address, n));
}

static void the_first_page_loads_of_a_source_are_usual_and_later_ones_repeated(void **state)
{
    exhaust(*state, 1);
    for (uint32_t n = FP_SOURCES_USUAL_MAX; n < 300; n++)
        assert_true(is_nth_repeated(*state, 1, n));
    assert_false(is_nth_repeated(*state, 2, 0));
}

static void a_page_load_counts_once_and_keeps_its_class(void **state)
{
    for (int i = 0; i < 100; i++)
        assert_false(is_nth_repeated(*state, 1, 0));
    exhaust(*state, 1);
    assert_true(is_nth_repeated(*state, 1, 100));
    assert_false(is_nth_repeated(*state, 1, 0));
    assert_true(is_nth_repeated(*state, 1, 100));
}

static void frames_and_workers_of_a_page_do_not_count(void **state)
{
    const uint32_t address = 1;
    for (uint32_t n = 1000; n < 1100; n++) {
        struct fp_source_load load = load_of(&address, "agent", n);
        load.is_page = false;
        assert_false(fp_sources_is_repeated(*state, &load));
    }
    exhaust(*state, 1);
    assert_true(is_nth_repeated(*state, 1, 100));
    struct fp_source_load frame = load_of(&address, "agent", 2000);
    frame.is_page = false;
    assert_true(fp_sources_is_repeated(*state, &frame));
}

static void sites_and_agents_count_apart(void **state)
{
    const uint32_t address = 1;
    exhaust(*state, address);
    struct fp_source_load load = load_of(&address, "agent", 100);
    load.site_id = OTHER_SITE;
    assert_false(fp_sources_is_repeated(*state, &load));
    load = load_of(&address, "another agent", 101);
    assert_false(fp_sources_is_repeated(*state, &load));
    assert_true(is_nth_repeated(*state, address, 102));
}

/* A load balancer that says nothing, an office, a provider's gateway. */
static void an_address_with_many_agents_is_no_source(void **state)
{
    const uint32_t address = 1;
    char agent[32];
    for (uint32_t n = 0; n < 64; n++) {
        snprintf(agent, sizeof(agent), "agent %u", n);
        const struct fp_source_load load = load_of(&address, agent, n);
        assert_false(fp_sources_is_repeated(*state, &load));
    }
    for (uint32_t n = 100; n < 1000; n++)
        assert_false(is_nth_repeated(*state, address, n));
}

/* Another day, another key: nothing of the day before is left. */
static void a_day_begins_with_nothing(void **state)
{
    struct fp_sources *sources = *state;
    const uint32_t address = 1;
    exhaust(sources, address);
    assert_true(is_nth_repeated(sources, address, 100));
    uint8_t key[FP_SIPHASH_KEY_LEN];
    memcpy(key, sources->key, sizeof(key));
    struct fp_source_load load = load_of(&address, "agent", 101);
    load.now_us += FP_US_PER_DAY;
    assert_false(fp_sources_is_repeated(sources, &load));
    assert_memory_not_equal(key, sources->key, sizeof(key));
    size_t used = 0;
    for (size_t i = 0; i < FP_SOURCES_MAX; i++)
        used += sources->tables[SOURCES].slots[i].key != 0;
    assert_int_equal(used, 1);
}

static void an_unknown_address_is_not_counted(void **state)
{
    struct fp_sources *sources = *state;
    const uint32_t address = 1;
    for (uint32_t n = 0; n < 100; n++) {
        struct fp_source_load load = load_of(&address, "agent", n);
        load.address = FP_STR("");
        assert_false(fp_sources_is_repeated(sources, &load));
    }
    assert_false(sources->has_key);
}

/* Ten times as many visitors as there is room for, each with one page load. */
static void frequent_senders_outlive_crowds(void **state)
{
    enum { CROWD = 10 * FP_SOURCES_MAX, EACH = CROWD / 300, MONITOR = 1 };
    size_t repeated = 0;
    for (uint32_t n = 0; n < CROWD; n++) {
        assert_false(is_nth_repeated(*state, 1000 + n, 0));
        if (n % EACH == 0)
            repeated += is_nth_repeated(*state, MONITOR, n);
    }
    assert_in_range(repeated, 280, 300 - FP_SOURCES_USUAL_MAX + 1);
}

enum { THREADS = 4, LOADS_OF_EACH = 1000 };

static atomic_uint next_load;

static void *load_pages(void *sources)
{
    size_t *usual = calloc(1, sizeof(*usual));
    for (uint32_t n = 0; n < LOADS_OF_EACH; n++)
        *usual += !is_nth_repeated(sources, 1, atomic_fetch_add(&next_load, 1));
    return usual;
}

static void threads_count_together(void **state)
{
    pthread_t threads[THREADS];
    size_t usual = 0;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load_pages, *state), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *own;
        assert_int_equal(pthread_join(threads[i], &own), 0);
        usual += *(size_t *)own;
        free(own);
    }
    assert_int_equal(usual, FP_SOURCES_USUAL_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_page_loads_of_a_source_are_usual_and_later_ones_repeated),
        TEST(a_page_load_counts_once_and_keeps_its_class),
        TEST(frames_and_workers_of_a_page_do_not_count),
        TEST(sites_and_agents_count_apart),
        TEST(an_address_with_many_agents_is_no_source),
        TEST(a_day_begins_with_nothing),
        TEST(an_unknown_address_is_not_counted),
        TEST(frequent_senders_outlive_crowds),
        TEST(threads_count_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
