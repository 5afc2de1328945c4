/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refused requests, and those of a long session, whichever allocation fails: a refusal is the same
 * or comes later, its letter is whole or counted as dropped, and no session runs without its client
 * knowing.
 */
#include "house.h"

#include "collector/letters/letters.h"
#include "collector/letters/metrics.h"

#include <sched.h>

enum { REQUEST_MAX = 4096 };

static struct house house;
static struct fp_http http;

static int build(void **state)
{
    (void)state;
    house_build(&house);
    http.metrics = fp_metrics_join(house.metrics, &fp_http_metrics);
    assert_non_null(http.metrics);
    http.connections = fp_connections_start(1, FP_US_PER_HOUR, http.metrics);
    http.ingest = fp_ingest_create(house.spool, house.metrics, house.rules, 1);
    http.turns = fp_turns_create(1);
    http.waiting_max = 1;
    return http.connections == NULL || http.ingest == NULL || http.turns == NULL;
}

static int demolish(void **state)
{
    (void)state;
    fp_connections_stop(http.connections);
    fp_turns_free(http.turns);
    fp_ingest_free(http.ingest);
    return house_demolish(&house);
}

/* Sends a request to …/pk plus a path. Returns the reply's status, 0 if none. */
static unsigned post(const char *path, const char *body, char reply[HOUSE_REPLY_MAX + 1])
{
    char request[REQUEST_MAX];
    int len = snprintf(request, sizeof(request),
                       "POST /v1/ingest/pk%s HTTP/1.1\r\nHost: a\r\n"
                       "Origin: https://shop.example\r\nContent-Length: %zu\r\n\r\n%s",
                       path, strlen(body), body);
    assert_in_range(len, 1, sizeof(request) - 1);
    reply[0] = '\0';
    http.daemon = still_start(&http);
    if (http.daemon == NULL)
        return 0;
    unsigned status = house_exchange(&http, request, (size_t)len, reply);
    while (fp_ingest_committing(http.ingest) > 0)
        sched_yield();
    MHD_stop_daemon(http.daemon);
    assert_int_equal(atomic_load(&http.in_flight), 0);
    return status;
}

/* ---- refused uploads ---- */

static const char invalid[] = "{\"version\":1,\"marks\":[{\"name\":5}]}";

static struct fp_metric_set *letters_metrics(void)
{
    struct fp_metric_set *set = fp_metrics_join(house.metrics, &fp_dead_letters_metrics);
    assert_non_null(set);
    return set;
}

static uint64_t counted(enum fp_dead_letters_metric metric)
{
    return (uint64_t)fp_metrics_get(letters_metrics(), metric);
}

/* Checks the number of letters in the directory, and removes them. */
static void take_letters(const char *path, uint64_t expected)
{
    struct fp_letter_list list = {0};
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir >= 0 || expected == 0);
    assert_true(dir < 0 || fp_letter_list(dir, &list));
    assert_int_equal(list.count, expected);
    for (size_t i = 0; i < list.count; i++) {
        char name[FP_LETTER_NAME_SIZE];
        char bytes[FP_LETTER_HEAD_MAX];
        struct fp_arena arena;
        struct fp_letter letter;
        struct fp_str body;
        fp_arena_init(&arena, sizeof(bytes));
        fp_letter_name(list.entries[i].id, name);
        int file = openat(dir, name, O_RDONLY | O_CLOEXEC);
        ssize_t len = read(file, bytes, sizeof(bytes));
        assert_true(len > 0);
        assert_int_equal(
            fp_letter_read((struct fp_str){bytes, (size_t)len}, &arena, &letter, &body),
            FP_LETTER_OK);
        assert_true(fp_str_equal(body, fp_str_of(invalid)));
        assert_int_equal(letter.problem.status, 422);
        close(file);
        assert_int_equal(unlinkat(dir, name, 0), 0);
        fp_arena_release(&arena);
    }
    free(list.entries);
    if (dir >= 0)
        close(dir);
    assert_true(dir < 0 || rmdir(path) == 0); /* nothing half written is left */
}

static enum outcome refuse(void *context)
{
    (void)context;
    static char reply[HOUSE_REPLY_MAX + 1];
    char path[128];
    snprintf(path, sizeof(path), "%s/letters", house.directory);
    const struct fp_dead_letters_settings settings = {.path = path, .max_bytes = 1 << 20};
    uint64_t stored = counted(FP_METRIC_DEAD_LETTERS_STORED);
    uint64_t dropped = counted(FP_METRIC_DEAD_LETTERS_DROPPED);
    uint64_t tail = fp_spool_tail(house.spool);
    struct fp_dead_letters *letters = fp_dead_letters_start(&settings, house.metrics);
    if (letters == NULL)
        return REFUSED;
    fp_ingest_set_dead_letters(http.ingest, letters);
    unsigned status = post("", invalid, reply);
    fp_dead_letters_stop(letters);
    failing_pause();
    fp_ingest_set_dead_letters(http.ingest, NULL);
    stored = counted(FP_METRIC_DEAD_LETTERS_STORED) - stored;
    dropped = counted(FP_METRIC_DEAD_LETTERS_DROPPED) - dropped;
    take_letters(path, stored);
    assert_int_equal(fp_spool_tail(house.spool), tail);
    switch (status) {
    case 422:
        assert_int_equal(stored + dropped, 1);
        return stored == 1 ? DONE : REFUSED;
    case 503:
        assert_int_equal(stored + dropped, 0);
        return REFUSED;
    default:
        assert_int_equal(status, 0);
        return REFUSED;
    }
}

static void a_refusal_is_the_same_and_its_letter_whole_or_counted(void **state)
{
    (void)state;
    failing_each(
        &(struct scenario){.name = "refused upload", .run = refuse, .allocations_min = 20});
}

/* ---- letters that make room ---- */

enum { OLD_LETTERS = 3, BLOCK_LEN = 4096 };

static char letters_path[128];

static const struct fp_letter sample = {
    .received_us = 1, .site = {"shop", 4}, .problem = {.status = 422, .offset = -1}};

/* Fills the directory. */
static void fill(void *context)
{
    (void)context;
    struct fp_buf head;
    fp_buf_init(&head, FP_LETTER_HEAD_MAX);
    fp_letter_add_head(&sample, strlen(invalid), &head);
    snprintf(letters_path, sizeof(letters_path), "%s/letters", house.directory);
    assert_int_equal(mkdir(letters_path, 0700), 0);
    int dir = open(letters_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir >= 0);
    for (uint64_t id = 1; id <= OLD_LETTERS; id++)
        assert_true(fp_letter_put(dir, id, (struct fp_str){(const char *)head.data, head.len},
                                  fp_str_of(invalid)));
    close(dir);
    fp_buf_release(&head);
}

static void add_letter(struct fp_dead_letters *letters)
{
    struct fp_buf body;
    fp_buf_init(&body, REQUEST_MAX);
    fp_buf_add(&body, invalid, strlen(invalid));
    if (body.failed)
        fp_metrics_add(letters_metrics(), FP_METRIC_DEAD_LETTERS_DROPPED, 1);
    else
        fp_dead_letters_add(letters, &sample, &body);
}

static enum outcome make_room(void *context)
{
    (void)context;
    const struct fp_dead_letters_settings settings = {.path = letters_path,
                                                      .max_bytes = OLD_LETTERS * BLOCK_LEN};
    uint64_t stored = counted(FP_METRIC_DEAD_LETTERS_STORED);
    uint64_t dropped = counted(FP_METRIC_DEAD_LETTERS_DROPPED);
    uint64_t evicted = counted(FP_METRIC_DEAD_LETTERS_EVICTED);
    struct fp_dead_letters *letters = fp_dead_letters_start(&settings, house.metrics);
    if (letters != NULL)
        add_letter(letters);
    fp_dead_letters_stop(letters);
    failing_pause();
    stored = counted(FP_METRIC_DEAD_LETTERS_STORED) - stored;
    dropped = counted(FP_METRIC_DEAD_LETTERS_DROPPED) - dropped;
    evicted = counted(FP_METRIC_DEAD_LETTERS_EVICTED) - evicted;
    take_letters(letters_path, OLD_LETTERS - evicted + stored);
    assert_int_equal(stored + dropped, letters != NULL);
    assert_true(evicted == 0 || stored == 1);
    assert_true(stored <= evicted); /* never more than there is room for */
    return stored == 1 ? DONE : REFUSED;
}

static void old_letters_go_only_for_one_that_comes(void **state)
{
    (void)state;
    failing_each(&(struct scenario){.name = "letters that make room",
                                    .run = make_room,
                                    .prepare = fill,
                                    .allocations_min = 10});
}

static enum outcome read_letter(void *context)
{
    const struct fp_buf *file = context;
    struct fp_arena arena;
    struct fp_letter letter;
    struct fp_str body;
    fp_arena_init(&arena, REQUEST_MAX);
    enum fp_letter_error error = fp_letter_read(
        (struct fp_str){(const char *)file->data, file->len}, &arena, &letter, &body);
    fp_arena_release(&arena);
    failing_pause();
    assert_true(error == FP_LETTER_OK || error == FP_LETTER_MEMORY);
    return error == FP_LETTER_OK ? DONE : REFUSED;
}

static void a_letter_without_memory_for_it_is_not_called_broken(void **state)
{
    (void)state;
    struct fp_buf file;
    fp_buf_init(&file, FP_LETTER_HEAD_MAX);
    fp_letter_add_head(&sample, 0, &file);
    assert_false(file.failed);
    failing_each(&(struct scenario){
        .name = "letter", .run = read_letter, .context = &file, .allocations_min = 2});
    fp_buf_release(&file);
}

/* ---- long sessions ---- */

static size_t running(void)
{
    static struct fp_uuid ids[FP_CAPTURES_MAX];
    return fp_captures_list(http.captures, fp_clock_monotonic_us(), ids);
}

/* Starts a session. Returns its path after the site's, "" if it was not started. */
static void start(char path[64])
{
    static char reply[HOUSE_REPLY_MAX + 1];
    unsigned status = post("/sessions?window=1", "", reply);
    const char *address = strstr(reply, "\r\nLocation: sessions/");
    path[0] = '\0';
    if (status == 201) {
        assert_int_equal(running(), 1);
        assert_non_null(address);
        snprintf(path, 64, "/%.*s", (int)strlen("sessions/") + FP_UUID_TEXT_LEN,
                 strchr(address, ':') + 2);
    } else {
        assert_true(status == 0 || status == 503);
        assert_int_equal(running(), 0);
    }
}

static bool send_part(const char *session)
{
    static char reply[HOUSE_REPLY_MAX + 1];
    char path[96];
    snprintf(path, sizeof(path), "%s?part=0", session);
    uint64_t tail = fp_spool_tail(house.spool);
    unsigned status = post(
        path, "{\"version\":1,\"marks\":[{\"name\":\"a\",\"entryType\":\"mark\",\"startTime\":1}]}",
        reply);
    bool is_stored = fp_spool_tail(house.spool) > tail;
    assert_true(status == 0 || status == 204 || status == 503);
    assert_true(status == 0 || is_stored == (status == 204));
    assert_int_equal(running(), 1);
    return status == 204;
}

static bool stop(const char *session)
{
    static char reply[HOUSE_REPLY_MAX + 1];
    char path[96];
    snprintf(path, sizeof(path), "%s/stop", session);
    unsigned status = post(path, "", reply);
    assert_true(status == 0 || (status == 204 && running() == 0) ||
                (status == 503 && running() == 1));
    return status == 204;
}

static enum outcome run_session(void *context)
{
    (void)context;
    char path[64];
    http.captures = fp_captures_create();
    if (http.captures == NULL)
        return REFUSED;
    start(path);
    bool started = path[0] != '\0';
    bool sent = started && send_part(path);
    bool stopped = started && stop(path);
    failing_pause();
    fp_captures_free(http.captures);
    return sent && stopped ? DONE : REFUSED;
}

static void a_session_runs_when_its_client_was_told(void **state)
{
    (void)state;
    failing_each(
        &(struct scenario){.name = "long session", .run = run_session, .allocations_min = 30});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_is_the_same_and_its_letter_whole_or_counted),
        cmocka_unit_test(old_letters_go_only_for_one_that_comes),
        cmocka_unit_test(a_letter_without_memory_for_it_is_not_called_broken),
        cmocka_unit_test(a_session_runs_when_its_client_was_told),
    };
    return cmocka_run_group_tests_name("allocation_requests", tests, build, demolish);
}
