/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upload's whole road, from the socket to the database's rows: whichever allocation fails, the
 * upload is counted correctly or deferred with 503, and the next one succeeds.
 */
#include "house.h"

#include "collector/pack/pack.h"
#include "collector/profile/fold/metrics.h"
#include "collector/rollup/record.h"
#include "collector/rollup/rollup.h"
#include "collector/store/copy_binary.h"

#include <pthread.h>
#include <sched.h>

enum {
    BODY_MAX = 1 << 20,
    BYTES_MAX = 16 << 20,
    OWED_MAX = 8, /* records that are acknowledged and not yet read back */
};

static struct house house;
static struct {
    struct fp_ingest *ingest;
    struct fp_arena arena; /* of the records read back */
    struct fp_rollup rollup;
    struct fp_buf bytes;
} road;

/* A body and its expected rows. */
struct body {
    const char *file;
    const char *encoding;
    const char *boundary;
    char bytes[BODY_MAX];
    size_t len;
    struct fp_buf record; /* output of the first, undisturbed run, without times */
    size_t copied_len;    /* of its rows */
    size_t overflowed;    /* names, so far */
};

/* ---- the road ---- */

static int build(void **state)
{
    (void)state;
    house_build(&house);
    fp_buf_init(&road.bytes, BYTES_MAX);
    fp_arena_init(&road.arena, BYTES_MAX);
    fp_rollup_init(&road.rollup, BYTES_MAX / 2, BYTES_MAX);
    return 0;
}

static int demolish(void **state)
{
    (void)state;
    fp_rollup_release(&road.rollup);
    fp_arena_release(&road.arena);
    fp_buf_release(&road.bytes);
    return house_demolish(&house);
}

static int make_ingest(void **state)
{
    (void)state;
    road.ingest = fp_ingest_create(house.spool, house.metrics, house.rules, 1);
    return road.ingest == NULL;
}

static int free_ingest(void **state)
{
    (void)state;
    fp_ingest_free(road.ingest);
    road.ingest = NULL;
    return 0;
}

static void load_body(struct body *body)
{
    char name[512];
    bool is_own = strchr(body->file, '/') == NULL;
    snprintf(name, sizeof(name), "%s/%s", is_own ? FP_TEST_BODIES : FP_TEST_DATA, body->file);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    body->len = fread(body->bytes, 1, sizeof(body->bytes), file);
    assert_true(body->len > 0 && fclose(file) == 0);
    fp_buf_init(&body->record, BYTES_MAX);
}

/* ---- in ---- */

static size_t owed; /* records that are stored, and not brought out yet */

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool is_told;
};

static void tell(void *context)
{
    struct waiter *waiter = context;
    pthread_mutex_lock(&waiter->lock);
    waiter->is_told = true;
    pthread_cond_signal(&waiter->told);
    pthread_mutex_unlock(&waiter->lock);
}

static void commit(struct fp_ticket *ticket)
{
    struct waiter waiter = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += HOUSE_PATIENCE_US / FP_US_PER_S;
    ticket->done = tell;
    ticket->context = &waiter;
    fp_ingest_commit(ticket);
    int error = 0;
    pthread_mutex_lock(&waiter.lock);
    while (!waiter.is_told && error == 0)
        error = pthread_cond_timedwait(&waiter.told, &waiter.lock, &until);
    pthread_mutex_unlock(&waiter.lock);
    assert_int_equal(error, 0);
    while (fp_ingest_committing(road.ingest) > 0)
        sched_yield();
}

/* Sends the upload. False: deferred. */
static bool send_in(const struct body *body)
{
    struct fp_ticket ticket;
    struct fp_problem problem;
    const struct fp_upload upload = {
        .rules = house.rules,
        .site = &house.rules->sites[0],
        .body = {body->bytes, body->len},
        .encoding = fp_str_of(body->encoding),
        .boundary = fp_str_of(body->boundary),
        .user_agent = FP_STR("Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0.0.0 Safari/537.36"),
    };
    uint64_t tail = fp_spool_tail(house.spool);
    bool sent = fp_ingest_prepare(road.ingest, &upload, &ticket, &problem);
    if (sent) {
        commit(&ticket);
        sent = fp_ingest_outcome(&ticket, &problem);
    }
    if (sent) {
        assert_true(fp_spool_tail(house.spool) > tail);
        owed++;
        return true;
    }
    if (problem.status != 503 || problem.retry_s == 0)
        fail_msg("%s is answered with %u: %s", body->file, problem.status, problem.detail);
    assert_int_equal(fp_spool_tail(house.spool), tail);
    return false;
}

/* ---- in, over HTTP ---- */

static size_t make_request(const struct body *body, char *request, size_t size)
{
    int len = snprintf(request, size,
                       "POST /v1/ingest/pk HTTP/1.1\r\nHost: a\r\nOrigin: https://shop.example\r\n"
                       "Content-Length: %zu\r\n\r\n",
                       body->len);
    memcpy(request + len, body->bytes, body->len);
    return (size_t)len + body->len;
}

static unsigned exchange(struct fp_http *http, const struct body *body)
{
    static char request[BODY_MAX + 512];
    static char reply[HOUSE_REPLY_MAX + 1];
    return house_exchange(http, request, make_request(body, request, sizeof(request)), reply);
}

/* False: deferred, or there was no reply and the browser sends it again. */
static bool send_over_http(struct fp_http *http, const struct body *body)
{
    uint64_t tail = fp_spool_tail(house.spool);
    http->ingest = road.ingest;
    http->daemon = still_start(http);
    if (http->daemon == NULL)
        return false;
    unsigned status = exchange(http, body);
    while (fp_ingest_committing(road.ingest) > 0)
        sched_yield();
    MHD_stop_daemon(http->daemon);
    bool is_stored = fp_spool_tail(house.spool) > tail;
    owed += is_stored;
    if (status != 0 && status != 204 && status != 503)
        fail_msg("%s is answered with %u", body->file, status);
    assert_true(status != 204 || is_stored);
    assert_true(status != 503 || !is_stored);
    assert_int_equal(atomic_load(&http->in_flight), 0);
    return status == 204;
}

/* ---- out ---- */

static size_t count_overflowed(void)
{
    size_t count = 0;
    struct fp_metric_set *set = fp_metrics_join(house.metrics, &fp_profile_metrics);
    assert_non_null(set);
    for (enum fp_profile_metric kind = FP_METRIC_NAMES_OVERFLOWED_FRAME;
         kind <= FP_METRIC_NAMES_OVERFLOWED_ELEMENT; kind++)
        count += (size_t)fp_metrics_get(set, kind);
    return count;
}

/* Encodes the record again, without what differs from run to run. False: out of memory. */
static bool normalise(const struct fp_record *record)
{
    fp_buf_clear(&road.bytes);
    for (size_t i = 0; i < record->count; i++) {
        record->deltas[i].received_us = 0;
        record->deltas[i].id = (struct fp_uuid){{0}}; /* random, if the body has none */
        fp_record_add(&road.bytes, &record->deltas[i]);
    }
    return !road.bytes.failed;
}

/* If a table of known names could not grow, names count as (overflow). */
static void compare(struct body *body)
{
    size_t overflowed = count_overflowed();
    if (body->record.len == 0)
        fp_buf_add(&body->record, road.bytes.data, road.bytes.len);
    if (overflowed == body->overflowed) {
        assert_int_equal(road.bytes.len, body->record.len);
        assert_memory_equal(road.bytes.data, body->record.data, body->record.len);
    }
    body->overflowed = overflowed;
}

/* Packs the facts of a kind, merges them with themselves, and encodes both. */
static bool copy_facts(const struct fp_pack_shape *shape)
{
    struct fp_rows *rows = &road.rollup.tables[shape->source];
    struct fp_pack pack;
    struct fp_pack twice;
    fp_pack_init(&pack, shape);
    fp_pack_init(&twice, shape);
    bool is_done = fp_rows_sort(rows);
    for (size_t i = 0; is_done && i < rows->count; i++)
        is_done = fp_pack_append(&pack, fp_rows_sorted(rows, i));
    is_done = is_done && fp_pack_merge(&pack, &pack, &twice);
    if (is_done) {
        assert_int_equal(pack.count, rows->count);
        fp_pack_encode(&pack, &road.bytes);
        fp_pack_encode(&twice, &road.bytes);
    }
    fp_pack_release(&pack);
    fp_pack_release(&twice);
    return is_done;
}

static bool copy_rows(void)
{
    fp_buf_clear(&road.bytes);
    fp_copy_begin(&road.bytes);
    for (enum fp_store_table_id id = 0; id < FP_STORE_TABLE_COUNT; id++) {
        const struct fp_store_table *target = fp_store_table(id);
        struct fp_rows *rows = &road.rollup.tables[target->source];
        if (!fp_rows_sort(rows))
            return false;
        for (size_t i = 0; i < rows->count; i++)
            fp_copy_row(target, fp_rows_sorted(rows, i), &road.bytes);
    }
    fp_copy_end(&road.bytes);
    for (enum fp_pack_kind kind = 0; kind < FP_PACK_KIND_COUNT; kind++)
        if (!copy_facts(fp_pack_shape(kind)))
            return false;
    return !road.bytes.failed;
}

static bool roll_up(const struct fp_record *record)
{
    const struct fp_rollup_clock clock = {.now_us = fp_clock_real_us()};
    fp_rollup_clear(&road.rollup, &clock);
    for (size_t i = 0; i < record->count; i++) {
        enum fp_rollup_result result = fp_rollup_add(&road.rollup, &record->deltas[i]);
        if (result == FP_ROLLUP_NO_ROOM)
            return false;
        assert_int_equal(result, FP_ROLLUP_COUNTED);
    }
    return copy_rows();
}

/* Adds one record to the rows. False: out of memory, and it can be tried again. */
static bool bring_out(struct body *body, const struct fp_spool_record *read)
{
    struct fp_record record;
    fp_arena_clear(&road.arena);
    enum fp_delta_error error = fp_record_decode(read->bytes, read->len, &road.arena, &record);
    if (error != FP_DELTA_OK) {
        assert_int_equal(error, FP_DELTA_MEMORY);
        return false;
    }
    /* Before the time of receipt is removed. */
    if (!roll_up(&record))
        return false;
    if (body->copied_len == 0)
        body->copied_len = road.bytes.len;
    if (count_overflowed() == body->overflowed)
        assert_int_equal(road.bytes.len, body->copied_len);
    if (!normalise(&record))
        return false;
    compare(body);
    return true;
}

/* Reads and adds all acknowledged records. */
static bool bring_all_out(struct body *body, size_t *brought)
{
    struct fp_spool_batch batch;
    for (;;) {
        enum fp_spool_error error =
            fp_spool_read(house.spool, fp_spool_position(house.spool), BYTES_MAX, OWED_MAX, &batch);
        if (error != FP_SPOOL_OK) {
            assert_int_equal(error, FP_SPOOL_MEMORY);
            return false;
        }
        if (batch.count == 0)
            return true;
        for (size_t i = 0; i < batch.count; i++, (*brought)++) {
            if (!bring_out(body, &batch.records[i]))
                return false;
            assert_int_equal(fp_spool_trim(house.spool, batch.records[i].sequence), FP_SPOOL_OK);
        }
    }
}

/* ---- scenarios ---- */

static enum outcome finish(struct body *body, bool sent)
{
    size_t brought = 0;
    bool out = bring_all_out(body, &brought);
    assert_true(brought <= owed);
    owed -= brought;
    if (out)
        assert_int_equal(owed, 0);
    return sent && out ? DONE : REFUSED;
}

static enum outcome upload(void *context)
{
    struct body *body = context;
    bool sent = send_in(body);
    return finish(body, sent);
}

/* The first upload after a start, when no name is known. */
static enum outcome upload_first(void *context)
{
    struct body *body = context;
    if (make_ingest(NULL) != 0)
        return REFUSED;
    enum outcome outcome = upload(body);
    free_ingest(NULL);
    return outcome;
}

static enum outcome upload_over_http(void *context)
{
    static struct fp_http http;
    struct body *body = context;
    if (http.connections == NULL) {
        http.metrics = fp_metrics_join(house.metrics, &fp_http_metrics);
        assert_non_null(http.metrics);
        http.connections = fp_connections_start(1, FP_US_PER_HOUR, http.metrics);
        assert_non_null(http.connections);
        http.turns = fp_turns_create(1);
        assert_non_null(http.turns);
        http.waiting_max = 1;
    }
    bool sent = send_over_http(&http, body);
    return finish(body, sent);
}

static void check_body(struct scenario scenario, struct body *body)
{
    load_body(body);
    scenario.name = body->file;
    scenario.context = body;
    failing_each(&scenario);
    fp_buf_release(&body->record);
}

static void an_upload_is_counted_or_deferred(void **state)
{
    (void)state;
    static struct body bodies[] = {
        {.file = "envelope.json", .encoding = "", .boundary = ""},
        {.file = "envelope.gz", .encoding = "gzip", .boundary = ""},
        {.file = "envelope.zz", .encoding = "deflate", .boundary = ""},
        {.file = "envelope.br", .encoding = "br", .boundary = ""},
        {.file = "envelope.zst", .encoding = "zstd", .boundary = ""},
        {.file = "observed.json", .encoding = "", .boundary = ""},
        {.file = "form", .encoding = "", .boundary = "b"},
        {.file = "./fibonacci-recursion.json", .encoding = "", .boundary = ""},
        {.file = "speed-tracer/stream.ndjson", .encoding = "", .boundary = ""},
        {.file = "speed-tracer/saved-page.html", .encoding = "", .boundary = ""},
        {.file = "speed-tracer/v8.ndjson", .encoding = "", .boundary = ""},
        {.file = "opera-scope/manual.json", .encoding = "", .boundary = ""},
        {.file = "opera-scope/recording.jsonl", .encoding = "", .boundary = ""},
        {.file = "opera-scope/recording-stp.txt", .encoding = "", .boundary = ""},
        {.file = "opera-scope/recording-two.txt", .encoding = "", .boundary = ""},
    };
    for (size_t i = 0; i < FP_COUNT(bodies); i++)
        check_body((struct scenario){.run = upload, .allocations_min = 5}, &bodies[i]);
}

static void the_first_upload_is_counted_or_deferred(void **state)
{
    (void)state;
    static struct body body = {.file = "envelope.json", .encoding = "", .boundary = ""};
    check_body((struct scenario){.run = upload_first, .allocations_min = 20}, &body);
}

static void a_request_is_answered_or_sent_again(void **state)
{
    (void)state;
    static struct body body = {.file = "envelope.json", .encoding = "", .boundary = ""};
    check_body((struct scenario){.run = upload_over_http, .allocations_min = 20}, &body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_upload_is_counted_or_deferred, make_ingest, free_ingest),
        cmocka_unit_test(the_first_upload_is_counted_or_deferred),
        cmocka_unit_test_setup_teardown(a_request_is_answered_or_sent_again, make_ingest,
                                        free_ingest),
    };
    return cmocka_run_group_tests_name("allocation_road", tests, build, demolish);
}
