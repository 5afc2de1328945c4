/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns: whose upload is decoded next, and that one site never has all threads.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/turns.c"

#include <sched.h>

enum { THREADS = 3, ALL = 100, TURNS_MAX = 64 };

static struct fp_turns *turns;
static struct fp_lane *lanes[4];
static char
    order[TURNS_MAX + 1]; /* what was run: the site's letter, in lower case if it was refused */
static atomic_size_t run_count;

static int make(void **state)
{
    (void)state;
    turns = fp_turns_create(THREADS);
    for (size_t i = 0; i < FP_COUNT(lanes); i++)
        lanes[i] = fp_lane_create();
    memset(order, 0, sizeof(order));
    atomic_store(&run_count, 0);
    return turns == NULL || lanes[0] == NULL || lanes[1] == NULL || lanes[2] == NULL ||
           lanes[3] == NULL;
}

static int drop(void **state)
{
    (void)state;
    fp_turns_stop(turns);
    fp_turns_free(turns);
    for (size_t i = 0; i < FP_COUNT(lanes); i++)
        fp_lane_unref(lanes[i]);
    return 0;
}

/* ---- without threads ---- */

/* An upload of a site, A to D. */
struct upload {
    struct fp_turn turn;
    char site;
};

static void note(void *context, bool is_granted)
{
    const struct upload *upload = context;
    char letter = is_granted ? upload->site : (char)(upload->site - 'A' + 'a');
    order[atomic_fetch_add(&run_count, 1)] = letter;
}

static void add_at_most(struct upload *upload, char site, size_t most)
{
    *upload = (struct upload){.turn = {.run = note, .context = upload, .lane = lanes[site - 'A']},
                              .site = site};
    fp_turns_add(turns, &upload->turn, most);
}

/* Adds an upload for each letter. */
static void add(struct upload *uploads, const char *sites)
{
    for (; *sites != '\0'; sites++)
        add_at_most(uploads++, *sites, ALL);
}

static void take_all(void)
{
    while (fp_turns_take(turns))
        continue;
}

static void sites_take_turns_however_many_uploads_one_has(void **state)
{
    (void)state;
    struct upload uploads[9];
    add(uploads, "AAAAABBCA");
    take_all();
    assert_string_equal(order, "ABCABAAAA");
}

/* Uploads that are being decoded: each adds others and takes the next one while it runs. */
struct nested {
    struct fp_turn turn;
    const char *adds; /* sites; NULL: none */
    struct upload added[TURNS_MAX];
    bool took; /* that one could be taken */
};

static void take_inside(void *context, bool is_granted)
{
    struct nested *nested = context;
    assert_true(is_granted);
    if (nested->adds != NULL)
        add(nested->added, nested->adds);
    nested->took = fp_turns_take(turns);
}

static void add_nested(struct nested *nested, char site, const char *adds)
{
    nested->turn =
        (struct fp_turn){.run = take_inside, .context = nested, .lane = lanes[site - 'A']};
    nested->adds = adds;
    fp_turns_add(turns, &nested->turn, ALL);
}

static void one_site_leaves_the_last_thread_to_others(void **state)
{
    (void)state;
    static struct nested loud[3];
    for (size_t i = 0; i < FP_COUNT(loud); i++)
        add_nested(&loud[i], 'A', NULL);
    assert_true(fp_turns_take(turns));
    assert_true(loud[0].took);
    assert_false(loud[1].took); /* the third waits, though a thread is idle */
    take_all();

    add_nested(&loud[0], 'A', NULL);
    add_nested(&loud[1], 'A', "AB");
    assert_true(fp_turns_take(turns));
    assert_true(loud[0].took && loud[1].took);
    assert_string_equal(order, "B");
}

static void the_last_thread_is_for_a_site_that_has_none(void **state)
{
    (void)state;
    static struct nested first;
    static struct nested second;
    add_nested(&first, 'A', NULL);
    add_nested(&second, 'B', "ABC");
    assert_true(fp_turns_take(turns));
    assert_true(first.took && second.took);
    assert_string_equal(order, "C");
    take_all();
    assert_string_equal(order, "CAB");
}

static void the_site_with_the_fewest_threads_is_next(void **state)
{
    (void)state;
    static struct nested loud;
    add_nested(&loud, 'A', "ABBA");
    assert_true(fp_turns_take(turns));
    assert_string_equal(order, "B"); /* while A has a thread */
    take_all();
    assert_string_equal(order, "BABA");
}

static void too_many_that_wait_are_refused_at_once_and_those_of_others_are_not(void **state)
{
    (void)state;
    struct upload uploads[5];
    add_at_most(&uploads[0], 'A', 2);
    add_at_most(&uploads[1], 'A', 2);
    add_at_most(&uploads[2], 'A', 2);
    assert_string_equal(order, "a");
    add_at_most(&uploads[3], 'B', 2);
    assert_true(fp_turns_take(turns));
    add_at_most(&uploads[4], 'A', 2);
    take_all();
    assert_string_equal(order, "aABAA");
}

static void one_that_waited_too_long_is_refused(void **state)
{
    (void)state;
    struct upload uploads[3];
    add(uploads, "ABA");
    uploads[0].turn.since_us -= WAIT_MAX_US + 1;
    uploads[1].turn.since_us -= WAIT_MAX_US - FP_US_PER_S;
    take_all();
    assert_string_equal(order, "aBA");
}

static void a_lane_outlives_its_site_while_uploads_wait(void **state)
{
    (void)state;
    struct upload uploads[2];
    add(uploads, "AA");
    fp_lane_unref(lanes[0]); /* a reload removed the site */
    lanes[0] = NULL;
    take_all();
    assert_string_equal(order, "AA");
}

static void an_end_runs_what_waits_and_then_lets_nothing_wait(void **state)
{
    (void)state;
    struct upload uploads[4];
    add(uploads, "ABA");
    fp_turns_stop(turns);
    assert_string_equal(order, "ABA");
    add(&uploads[3], "C");
    assert_string_equal(order, "ABAC");
}

/* ---- with threads ---- */

/* A gate that decoding waits at. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool is_open;
    size_t waiting;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static void wait_at_gate(void *context, bool is_granted)
{
    (void)context;
    assert_true(is_granted);
    pthread_mutex_lock(&gate.lock);
    gate.waiting++;
    pthread_cond_broadcast(&gate.change);
    while (!gate.is_open)
        pthread_cond_wait(&gate.change, &gate.lock);
    gate.waiting--;
    pthread_mutex_unlock(&gate.lock);
    atomic_fetch_add(&run_count, 1);
}

static void open_gate(bool is_open)
{
    pthread_mutex_lock(&gate.lock);
    gate.is_open = is_open;
    pthread_cond_broadcast(&gate.change);
    pthread_mutex_unlock(&gate.lock);
}

static void wait_for_waiting(size_t count)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.waiting < count)
        pthread_cond_wait(&gate.change, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void pass(void *context, bool is_granted)
{
    atomic_store((atomic_bool *)context, is_granted);
}

static void an_upload_of_another_site_passes_those_that_take_long(void **state)
{
    (void)state;
    struct fp_turn loud[10];
    assert_true(fp_turns_start(turns));
    for (size_t i = 0; i < FP_COUNT(loud); i++) {
        loud[i] = (struct fp_turn){.run = wait_at_gate, .lane = lanes[0]};
        fp_turns_add(turns, &loud[i], ALL);
    }
    wait_for_waiting(THREADS - 1);
    for (int i = 0; i < 100; i++) {
        atomic_bool passed = false;
        struct fp_turn quiet = {.run = pass, .context = &passed, .lane = lanes[1]};
        fp_turns_add(turns, &quiet, ALL);
        while (!atomic_load(&passed))
            sched_yield();
    }
    assert_int_equal(atomic_load(&run_count), 0);
    open_gate(true);
    fp_turns_stop(turns);
    assert_int_equal(atomic_load(&run_count), FP_COUNT(loud));
    open_gate(false);
}

enum { SENDERS = 4, SENT = 20000 };

struct sender {
    size_t lane;
    atomic_size_t running; /* of the lane */
    atomic_bool had_all;
};

static struct sender senders[SENDERS];

struct sent {
    struct fp_turn turn;
    struct sender *sender;
    atomic_bool is_done;
};

static void count_running(void *context, bool is_granted)
{
    struct sent *sent = context;
    struct sender *sender = sent->sender;
    assert_true(is_granted);
    if (atomic_fetch_add(&sender->running, 1) >= THREADS - 1)
        atomic_store(&sender->had_all, true);
    atomic_fetch_sub(&sender->running, 1);
    atomic_fetch_add(&run_count, 1);
    atomic_store(&sent->is_done, true);
}

/* Keeps some uploads waiting. */
static void *send_many(void *context)
{
    enum { AT_ONCE = 8 };
    struct sender *sender = context;
    static _Thread_local struct sent sent[AT_ONCE];
    for (size_t i = 0; i < SENT; i++) {
        struct sent *slot = &sent[i % AT_ONCE];
        while (i >= AT_ONCE && !atomic_load(&slot->is_done))
            sched_yield();
        atomic_store(&slot->is_done, false);
        slot->sender = sender;
        slot->turn =
            (struct fp_turn){.run = count_running, .context = slot, .lane = lanes[sender->lane]};
        fp_turns_add(turns, &slot->turn, ALL);
    }
    for (size_t i = 0; i < AT_ONCE; i++)
        while (!atomic_load(&sent[i].is_done))
            sched_yield();
    return NULL;
}

static void each_upload_runs_once_and_no_site_has_all_threads(void **state)
{
    (void)state;
    pthread_t threads[SENDERS];
    assert_true(fp_turns_start(turns));
    for (size_t i = 0; i < SENDERS; i++) {
        senders[i].lane = i;
        assert_int_equal(pthread_create(&threads[i], NULL, send_many, &senders[i]), 0);
    }
    for (size_t i = 0; i < SENDERS; i++)
        pthread_join(threads[i], NULL);
    fp_turns_stop(turns);
    assert_int_equal(atomic_load(&run_count), SENDERS * SENT);
    for (size_t i = 0; i < SENDERS; i++)
        assert_false(atomic_load(&senders[i].had_all));
    assert_int_equal(turns->idle, THREADS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sites_take_turns_however_many_uploads_one_has),
        TEST(one_site_leaves_the_last_thread_to_others),
        TEST(the_last_thread_is_for_a_site_that_has_none),
        TEST(the_site_with_the_fewest_threads_is_next),
        TEST(too_many_that_wait_are_refused_at_once_and_those_of_others_are_not),
        TEST(one_that_waited_too_long_is_refused),
        TEST(a_lane_outlives_its_site_while_uploads_wait),
        TEST(an_end_runs_what_waits_and_then_lets_nothing_wait),
        TEST(an_upload_of_another_site_passes_those_that_take_long),
        TEST(each_upload_runs_once_and_no_site_has_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
