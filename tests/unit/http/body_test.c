/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body: exactly the memory it has is held from the ingest, whatever arrives and whatever fails. The
 * test counts for itself.
 */
#include "tests/unit/unit.h"

#include "collector/http/body.c"

static struct {
    size_t held;
    size_t most;
} memory;

bool fp_ingest_hold(struct fp_ingest *ingest, const struct fp_rules *rules,
                    const struct fp_site *site, size_t bytes)
{
    (void)ingest;
    (void)rules;
    (void)site;
    if (bytes > memory.most - memory.held)
        return false;
    memory.held += bytes;
    return true;
}

void fp_ingest_let_go(struct fp_ingest *ingest, const struct fp_site *site, size_t bytes)
{
    (void)ingest;
    (void)site;
    assert_true(bytes <= memory.held);
    memory.held -= bytes;
}

enum { MAX_BODY = 1000 * 1000 };

static const struct fp_rules rules = {.max_body = MAX_BODY};
static const struct fp_site site;
static struct fp_body_buf body;
static const char bytes[MAX_BODY + 1];

static int set_up(void **state)
{
    (void)state;
    memory.most = SIZE_MAX;
    fp_body_buf_init(&body, NULL, &rules, &site);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fp_body_buf_release(&body);
    return memory.held != 0;
}

static enum fp_body_result add(size_t len, uint64_t announced_len)
{
    enum fp_body_result result = fp_body_buf_add(&body, (struct fp_str){bytes, len}, announced_len);
    assert_int_equal(memory.held, body.bytes.cap);
    return result;
}

static void an_announcement_reserves_little(void **state)
{
    (void)state;
    assert_int_equal(add(1, MAX_BODY), FP_BODY_FINE);
    assert_true(body.bytes.cap <= FIRST_CAP);
}

static void a_body_of_the_announced_length_is_no_larger(void **state)
{
    (void)state;
    assert_int_equal(add(3000, 3000), FP_BODY_FINE);
    assert_int_equal(body.bytes.cap, 3000);
}

static void at_most_twice_of_what_came_is_reserved(void **state)
{
    (void)state;
    for (size_t received = 0; received < 900 * 1000; received += 700) {
        assert_int_equal(add(700, 0), FP_BODY_FINE);
        assert_true(body.bytes.cap <= 2 * (received + 700) || body.bytes.cap == UNKNOWN_LEN_CAP);
    }
}

static void the_largest_body_fits_and_a_byte_more_does_not(void **state)
{
    (void)state;
    assert_int_equal(add(MAX_BODY - 1, 0), FP_BODY_FINE);
    assert_int_equal(add(2, 0), FP_BODY_LARGE);
    assert_int_equal(body.bytes.len, MAX_BODY - 1);
    assert_int_equal(add(1, 0), FP_BODY_FINE);
    assert_int_equal(body.bytes.cap, MAX_BODY);
    assert_int_equal(add(1, 0), FP_BODY_LARGE);
}

static void without_memory_nothing_is_added_and_nothing_held(void **state)
{
    (void)state;
    assert_int_equal(add(1000, 1000), FP_BODY_FINE);
    memory.most = 1500;
    assert_int_equal(add(1, 0), FP_BODY_NO_MEMORY);
    assert_int_equal(body.bytes.len, 1000);
}

static void taking_a_body_releases_its_charge(void **state)
{
    (void)state;
    assert_int_equal(add(5000, 0), FP_BODY_FINE);
    struct fp_buf taken = fp_body_buf_take(&body);
    assert_int_equal(taken.len, 5000);
    assert_int_equal(memory.held, 0);
    fp_buf_release(&taken);
    assert_int_equal(add(5, 5), FP_BODY_FINE);
}

static void one_of_zeros_can_be_released(void **state)
{
    (void)state;
    struct fp_body_buf none = {0};
    fp_body_buf_release(&none);
    assert_int_equal(memory.held, 0);
}

int main(void)
{
#define WITH_BODY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_BODY(an_announcement_reserves_little),
        WITH_BODY(a_body_of_the_announced_length_is_no_larger),
        WITH_BODY(at_most_twice_of_what_came_is_reserved),
        WITH_BODY(the_largest_body_fits_and_a_byte_more_does_not),
        WITH_BODY(without_memory_nothing_is_added_and_nothing_held),
        WITH_BODY(taking_a_body_releases_its_charge),
        WITH_BODY(one_of_zeros_can_be_released),
    };
    return cmocka_run_group_tests_name("body", tests, NULL, NULL);
}
