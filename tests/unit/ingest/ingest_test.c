/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ingest: what a request's record holds, and what the client gets when the spool takes it or not.
 * The spool is replaced by one that the test controls; decoding and folding are real.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/captures.h"

#include "collector/ingest/ingest.c"

#include "collector/base/uuid.h"
#include "collector/rollup/record.h"

/* ---- a spool of the test's own ---- */

static struct {
    const char *trouble;
    size_t appended;       /* records */
    size_t uploads;        /* in the last of them */
    struct fp_uuid ids[4]; /* of the first of these */
    uint32_t body_bytes;   /* of all of these */
    struct fp_uuid load;   /* of the very first */
    uint32_t part;
    enum fp_spool_error refusal; /* of appends; OK: they are queued */
    bool calls_back_at_once;
    uint64_t position;
    uint64_t max_bytes;
    fp_spool_done_fn *done; /* of the last one queued */
    void *context;
} fake;

const char *fp_spool_trouble(struct fp_spool *spool)
{
    (void)spool;
    return fake.trouble;
}

const char *fp_spool_check(struct fp_spool *spool, enum fp_spool_error *error)
{
    *error = fake.trouble != NULL ? FP_SPOOL_FULL : FP_SPOOL_OK;
    return fp_spool_trouble(spool);
}

uint64_t fp_spool_position(struct fp_spool *spool)
{
    (void)spool;
    return fake.position;
}

uint64_t fp_spool_tail(struct fp_spool *spool)
{
    (void)spool;
    return fake.appended;
}

uint64_t fp_spool_max_bytes(const struct fp_spool *spool)
{
    (void)spool;
    return fake.max_bytes;
}

enum fp_spool_error fp_spool_check_record(struct fp_spool *spool, size_t len)
{
    enum fp_spool_error error;
    (void)len;
    (void)fp_spool_check(spool, &error);
    return error;
}

const char *fp_spool_error_text(enum fp_spool_error error)
{
    return error == FP_SPOOL_FULL ? "full" : "broken";
}

enum fp_spool_error fp_spool_append(struct fp_spool *spool, const void *record, size_t len,
                                    fp_spool_done_fn *done, void *context)
{
    (void)spool;
    struct fp_arena arena;
    struct fp_record uploads;
    fp_arena_init(&arena, 1 << 20);
    assert_int_equal(fp_record_decode(record, len, &arena, &uploads), FP_DELTA_OK);
    for (size_t i = 0; i < uploads.count && i < sizeof(fake.ids) / sizeof(fake.ids[0]); i++)
        fake.ids[i] = uploads.deltas[i].id;
    fake.body_bytes = 0;
    for (size_t i = 0; i < uploads.count; i++)
        fake.body_bytes += uploads.deltas[i].body_bytes;
    fake.load = uploads.deltas[0].load;
    fake.part = uploads.deltas[0].part;
    fp_arena_release(&arena);
    if (fake.refusal != FP_SPOOL_OK)
        return fake.refusal;
    fake.appended++;
    fake.uploads = uploads.count;
    fake.done = done;
    fake.context = context;
    if (fake.calls_back_at_once)
        done(context, FP_SPOOL_OK);
    return FP_SPOOL_OK;
}

/* ---- requests ---- */

static struct fp_metrics *metrics;
static struct fp_rules *rules;
static struct fp_ingest *ingest;
static unsigned done_count;

static void count_done(void *context)
{
    (void)context;
    done_count++;
}

static int set_up(void **state)
{
    (void)state;
    static struct fp_str origin = {"https://a.example", 17};
    static struct fp_site site = {.name = {"shop", 4}, .key = {"pk", 2}, .origins = {&origin, 1}};
    site.backlog = fp_backlog_create();
    assert_non_null(site.backlog);
    fake.trouble = NULL;
    fake.position = 0;
    fake.max_bytes = 1 << 20;
    fake.appended = 0;
    fake.refusal = FP_SPOOL_OK;
    fake.calls_back_at_once = false;
    done_count = 0;
    metrics = fp_metrics_create();
    rules = fp_rules_create(1 << 20);
    assert_non_null(metrics);
    assert_non_null(rules);
    rules->sites = &site;
    rules->site_count = 1;
    rules->max_body = 1 << 20;
    rules->upload_memory = 8 << 20;
    rules->body_memory = 1000;
    rules->format = (struct fp_format_limits){
        .max_inflated = 1 << 20,
        .samples = 100,
        .stacks = 100,
        .frames = 100,
        .resources = 100,
        .entries = 100,
        .stack_depth = 100,
        .json_depth = 32,
        .max_span_us = INT64_C(3600000000),
    };
    ingest = fp_ingest_create(NULL, metrics, rules, 1);
    assert_non_null(ingest);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fp_ingest_free(ingest);
    fp_rules_unref(rules);
    fp_metrics_free(metrics);
    return 0;
}

#define UPLOAD "{\"marks\":{\"m\":[1]}}"
#define PART "--b\r\n\r\n" UPLOAD "\r\n"
static const char two_parts[] = PART PART "--b--";

static bool prepare(const char *body, const char *boundary, struct fp_ticket *ticket,
                    struct fp_problem *problem)
{
    *ticket = (struct fp_ticket){.done = count_done};
    const struct fp_upload upload = {
        .rules = rules,
        .site = &rules->sites[0],
        .body = fp_str_of(body),
        .boundary = fp_str_of(boundary),
    };
    return fp_ingest_prepare(ingest, &upload, ticket, problem);
}

/* Has an upload stored and returns the ids of the first four in its record. */
static const struct fp_uuid *store(const struct fp_upload *upload)
{
    struct fp_ticket ticket = {.done = count_done};
    struct fp_problem problem;
    fake.calls_back_at_once = true;
    assert_true(fp_ingest_prepare(ingest, upload, &ticket, &problem));
    fp_ingest_commit(&ticket);
    return fake.ids;
}

/* ---- admission ---- */

static void admits_by_key_origin_and_privacy(void **state)
{
    (void)state;
    static const struct {
        struct fp_admission given;
        bool honour_gpc;
        bool admitted;
        bool has_origin;
    } cases[] = {
        {{.key = {"pk", 2}}, false, true, false},
        {{.key = {"p", 1}}, false, false, false},
        {{.key = {"pkx", 3}}, false, false, false},
        {{.key = {"pk", 2}, .has_origin = true, .origin = {"https://a.example", 17}},
         false,
         true,
         true},
        {{.key = {"pk", 2}, .has_origin = true, .origin = {"https://a.exampl", 16}},
         false,
         false,
         false},
        {{.key = {"pk", 2}, .has_origin = true, .origin = {"null", 4}}, false, false, false},
        {{.key = {"pk", 2}, .has_origin = true, .origin = {"", 0}}, false, false, false},
        {{.key = {"pk", 2}, .gpc = true}, false, true, false},
        {{.key = {"pk", 2}, .gpc = true}, true, false, false},
        {{.key = {"pk", 2}, .has_origin = true, .origin = {"https://a.example", 17}, .gpc = true},
         true,
         false,
         true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct fp_site *site;
        const struct fp_str *origin;
        struct fp_problem problem;
        rules->honour_gpc = cases[i].honour_gpc;
        bool admitted = fp_ingest_admit(rules, &cases[i].given, &site, &origin, &problem);
        assert_int_equal(admitted, cases[i].admitted);
        assert_int_equal(origin != NULL, cases[i].has_origin);
        if (!admitted)
            assert_int_equal(problem.status, 403);
    }
}

static void bodies_share_their_memory(void **state)
{
    (void)state;
    struct fp_site sites[] = {{.budget = fp_budget_create()}, {.budget = fp_budget_create()}};
    assert_non_null(sites[0].budget);
    assert_non_null(sites[1].budget);
    struct fp_site *old_sites = rules->sites;
    rules->sites = sites;
    rules->max_body = 100;
    for (rules->site_count = 1; rules->site_count <= 2; rules->site_count++) {
        /* Half of it is all that one of two sites may have. */
        size_t share = rules->site_count == 1 ? 1000 : 500;
        assert_true(fp_ingest_hold(ingest, rules, &sites[0], share - 100));
        assert_false(fp_ingest_hold(ingest, rules, &sites[0], 101));
        assert_true(fp_ingest_hold(ingest, rules, &sites[0], 100));
        assert_false(fp_ingest_hold(ingest, rules, &sites[0], 1));
        assert_int_equal(fp_ingest_hold(ingest, rules, &sites[1], 500), rules->site_count == 2);
        assert_false(fp_ingest_hold(ingest, rules, &sites[1], 1));
        fp_ingest_let_go(ingest, &sites[0], share);
        assert_true(fp_ingest_hold(ingest, rules, &sites[0], share));
        fp_ingest_let_go(ingest, &sites[0], share);
        if (rules->site_count == 2)
            fp_ingest_let_go(ingest, &sites[1], 500);
    }
    rules->sites = old_sites;
    rules->site_count = 1;
    fp_budget_unref(sites[0].budget);
    fp_budget_unref(sites[1].budget);
}

/* ---- preparing and committing ---- */

static void a_form_is_one_record(void **state)
{
    (void)state;
    struct fp_ticket ticket;
    struct fp_problem problem;
    assert_true(prepare(two_parts, "b", &ticket, &problem));
    assert_int_equal(ticket.upload_count, 2);
    assert_int_equal(fake.appended, 0);
    fp_ingest_commit(&ticket);
    assert_int_equal(fake.appended, 1);
    assert_int_equal(fake.uploads, 2);
    assert_int_equal(done_count, 0);
    assert_int_equal(fp_ingest_committing(ingest), 1);
    fake.done(fake.context, FP_SPOOL_OK);
    assert_int_equal(done_count, 1);
    assert_int_equal(fp_ingest_committing(ingest), 0);
    assert_true(fp_ingest_outcome(&ticket, &problem));
    /* The bench keeps nothing of it for the next request. */
    assert_true(prepare(UPLOAD, "", &ticket, &problem));
    fp_ingest_commit(&ticket);
    assert_int_equal(fake.uploads, 1);
    fake.done(fake.context, FP_SPOOL_OK);
}

/* ---- ids ---- */

#define OWN_ID "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"
#define WITH_ID "{\"id\":\"" OWN_ID "\",\"marks\":{\"m\":[1]}}"

static const struct fp_uuid key = {{1, 2, 3}};

static void an_upload_without_an_id_takes_that_of_its_request(void **state)
{
    (void)state;
    struct fp_upload upload = {
        .rules = rules, .site = &rules->sites[0], .body = FP_STR(UPLOAD), .key = &key};
    assert_true(fp_uuid_equal(store(&upload), &key));
    upload.key = NULL;
    assert_false(fp_uuid_equal(store(&upload), &key));
}

static void an_id_of_its_own_wins(void **state)
{
    (void)state;
    struct fp_uuid own;
    assert_true(fp_uuid_parse(FP_STR(OWN_ID), &own));
    const struct fp_upload upload = {
        .rules = rules, .site = &rules->sites[0], .body = FP_STR(WITH_ID), .key = &key};
    assert_true(fp_uuid_equal(store(&upload), &own));
}

static void parts_of_a_form_have_ids_that_follow_from_its_key(void **state)
{
    (void)state;
    struct fp_upload upload = {.rules = rules,
                               .site = &rules->sites[0],
                               .body = fp_str_of(two_parts),
                               .boundary = FP_STR("b"),
                               .key = &key};
    const struct fp_uuid *ids = store(&upload);
    const struct fp_uuid first = ids[0];
    assert_false(fp_uuid_equal(&ids[0], &ids[1]));
    /* By place: an id in the part before does not shift them. */
    upload.body = FP_STR("--b\r\n\r\n" WITH_ID "\r\n" PART "--b--");
    const struct fp_uuid second = ids[1];
    ids = store(&upload);
    assert_false(fp_uuid_equal(&ids[0], &first));
    assert_true(fp_uuid_equal(&ids[1], &second));
}

#define SESSION_OF(id) "[\"profiler\",3,0,2,[" id ",1]]\n[\"profiler\",3,0,2,[null,[[7,1,0,1]]]]\n"

static void sessions_of_a_recording_are_numbered_like_parts_of_a_form(void **state)
{
    (void)state;
    const struct fp_str recording = FP_STR(SESSION_OF("5") SESSION_OF("6") "[\"exec\",1,0,1]\n");
    struct fp_upload upload = {
        .rules = rules, .site = &rules->sites[0], .body = recording, .key = &key};
    const struct fp_uuid *ids = store(&upload);
    struct fp_uuid expected = fp_uuid_of_part(&key, 0);
    assert_int_equal(fake.appended, 1);
    assert_int_equal(fake.uploads, 2);
    assert_int_equal(fake.body_bytes, recording.len);
    assert_true(fp_uuid_equal(&ids[0], &expected));
    expected = fp_uuid_of_part(&key, 1);
    assert_true(fp_uuid_equal(&ids[1], &expected));

    upload.body = FP_STR("--b\r\n\r\n" SESSION_OF("5") SESSION_OF("6") "\r\n" PART "--b--");
    upload.boundary = FP_STR("b");
    ids = store(&upload);
    assert_int_equal(fake.uploads, 3);
    for (uint32_t i = 0; i < 3; i++) {
        expected = fp_uuid_of_part(&key, i);
        assert_true(fp_uuid_equal(&ids[i], &expected));
    }

    /* One session is an upload like any other. */
    upload.body = FP_STR(SESSION_OF("5"));
    upload.boundary = FP_STR("");
    assert_true(fp_uuid_equal(store(&upload), &key));
}

static void sessions_count_towards_what_a_request_may_hold(void **state)
{
    (void)state;
    enum { SIZE = 8192 };
    char body[SIZE] = "--b\r\n\r\n" UPLOAD "\r\n--b\r\n\r\n";
    for (unsigned i = 1; i <= FP_RECORD_DELTAS_MAX; i++)
        snprintf(body + strlen(body), SIZE - strlen(body),
                 "[\"profiler\",3,0,2,[%u,1]]\n[\"profiler\",3,0,2,[]]\n", i);
    snprintf(body + strlen(body), SIZE - strlen(body), "\r\n--b--");
    struct fp_ticket ticket;
    struct fp_problem problem;
    assert_false(prepare(body, "b", &ticket, &problem));
    assert_int_equal(problem.status, 413);
    assert_string_equal(problem.detail,
                        "part 2: a multipart body can have at most 64 parts; each session of a "
                        "recording and each view counts as one");
}

static void a_part_of_a_long_session_has_its_place_in_it(void **state)
{
    (void)state;
    struct fp_captures *captures = fp_captures_create();
    assert_non_null(captures);
    const struct fp_upload_part part = {.session = {{7}}, .number = 3, .captures = captures};
    const struct fp_upload upload = {.rules = rules,
                                     .site = &rules->sites[0],
                                     .body = FP_STR(UPLOAD),
                                     .key = &key,
                                     .part = &part};
    assert_true(fp_uuid_equal(store(&upload), &key));
    assert_true(fp_uuid_equal(&fake.load, &part.session));
    assert_int_equal(fake.part, 3);
    fp_captures_free(captures);
}

/* ---- the spool ---- */

static void done_may_come_before_commit_is_back(void **state)
{
    (void)state;
    struct fp_ticket ticket;
    struct fp_problem problem;
    fake.calls_back_at_once = true;
    assert_true(prepare(two_parts, "b", &ticket, &problem));
    fp_ingest_commit(&ticket);
    assert_int_equal(done_count, 1);
    assert_true(fp_ingest_outcome(&ticket, &problem));
}

static void a_record_that_fails_fails_the_request(void **state)
{
    (void)state;
    struct fp_ticket ticket;
    struct fp_problem problem;
    assert_true(prepare(two_parts, "b", &ticket, &problem));
    fp_ingest_commit(&ticket);
    fake.done(fake.context, FP_SPOOL_IO);
    assert_int_equal(done_count, 1);
    assert_false(fp_ingest_outcome(&ticket, &problem));
    assert_int_equal(problem.status, 503);
    assert_int_equal(problem.retry_s, FP_RETRY_FULL_S);
    assert_string_equal(problem.detail, "the upload could not be stored: broken");
}

static void every_refusal_of_the_spool_has_its_status(void **state)
{
    (void)state;
    static const struct {
        enum fp_spool_error error;
        unsigned status;
        unsigned retry_s;
    } cases[] = {
        {FP_SPOOL_FULL, 503, FP_RETRY_FULL_S},
        {FP_SPOOL_IO, 503, FP_RETRY_FULL_S},
        {FP_SPOOL_MEMORY, 503, FP_RETRY_FULL_S},
        {FP_SPOOL_STOPPING, 503, FP_RETRY_BUSY_S},
        {FP_SPOOL_TOO_LONG, 413, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fp_ticket ticket;
        struct fp_problem problem;
        fake.refusal = cases[i].error;
        assert_true(prepare(UPLOAD, "", &ticket, &problem));
        fp_ingest_commit(&ticket);
        assert_int_equal(done_count, i + 1);
        assert_false(fp_ingest_outcome(&ticket, &problem));
        assert_int_equal(problem.status, cases[i].status);
        assert_int_equal(problem.retry_s, cases[i].retry_s);
    }
}

static void one_bad_part_stores_none(void **state)
{
    (void)state;
    struct fp_ticket ticket;
    struct fp_problem problem;
    assert_false(prepare(PART "--b\r\n\r\n{\"marks\":5}\r\n" PART "--b--", "b", &ticket, &problem));
    assert_int_equal(problem.status, 422);
    assert_memory_equal(problem.detail, "part 2: ", 8);
    assert_string_equal(problem.pointer, "/marks");
    assert_int_equal(fake.appended, 0);
    /* The only workbench is free again. */
    assert_true(prepare(UPLOAD, "", &ticket, &problem));
    fp_ingest_commit(&ticket);
    assert_int_equal(fake.appended, 1);
    fake.done(fake.context, FP_SPOOL_OK);
}

static void a_spool_in_trouble_is_told_before_any_work(void **state)
{
    (void)state;
    struct fp_ticket ticket;
    struct fp_problem problem;
    fake.trouble = "it is full";
    assert_false(prepare("{", "", &ticket, &problem));
    assert_int_equal(problem.status, 503);
    assert_string_equal(problem.detail, "uploads are not accepted now: it is full");
    assert_string_equal(fp_ingest_trouble(ingest), "it is full");
}

static void a_site_fills_half_of_the_spool_if_there_are_others(void **state)
{
    (void)state;
    struct fp_site *all = rules->sites;
    struct fp_site sites[2] = {all[0]};
    struct fp_ticket ticket;
    struct fp_problem problem;
    rules->sites = sites;
    rules->site_count = 2;
    fake.max_bytes = 2; /* less than a record */
    fake.calls_back_at_once = true;
    assert_true(prepare(UPLOAD, "", &ticket, &problem));
    fp_ingest_commit(&ticket);
    assert_false(prepare("{", "", &ticket, &problem));
    assert_int_equal(problem.status, 503);
    assert_int_equal(problem.retry_s, FP_RETRY_FULL_S);
    assert_null(fp_ingest_trouble(ingest));
    fake.position = fake.appended;
    assert_true(prepare(UPLOAD, "", &ticket, &problem));
    fp_ingest_commit(&ticket);
    rules->site_count = 1;
    assert_true(prepare(UPLOAD, "", &ticket, &problem));
    fp_ingest_commit(&ticket);
    rules->sites = all;
}

static void more_workers_than_benches_are_deferred(void **state)
{
    (void)state;
    struct fp_ticket first;
    struct fp_ticket second;
    struct fp_problem problem;
    assert_true(prepare(UPLOAD, "", &first, &problem));
    assert_false(prepare(UPLOAD, "", &second, &problem));
    assert_int_equal(problem.status, 503);
    assert_int_equal(problem.retry_s, FP_RETRY_BUSY_S);
    fake.calls_back_at_once = true;
    fp_ingest_commit(&first);
}

static void working_memory_has_a_ceiling(void **state)
{
    (void)state;
    struct fp_ticket ticket;
    struct fp_problem problem;
    rules->upload_memory = 256;
    assert_false(prepare(UPLOAD, "", &ticket, &problem));
    assert_int_equal(problem.status, 413);
}

static void a_reload_leaves_running_requests_their_rules(void **state)
{
    (void)state;
    struct fp_rules *held = fp_ingest_rules(ingest);
    struct fp_rules *fresh = fp_rules_create(1024);
    assert_non_null(fresh);
    fp_ingest_reload(ingest, fresh);
    struct fp_rules *now = fp_ingest_rules(ingest);
    assert_ptr_equal(now, fresh);
    assert_int_equal(held->site_count, 1);
    fp_rules_unref(now);
    fp_rules_unref(fresh);
    fp_rules_unref(held);
}

int main(void)
{
#define WITH_INGEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_INGEST(admits_by_key_origin_and_privacy),
        WITH_INGEST(bodies_share_their_memory),
        WITH_INGEST(a_form_is_one_record),
        WITH_INGEST(an_upload_without_an_id_takes_that_of_its_request),
        WITH_INGEST(an_id_of_its_own_wins),
        WITH_INGEST(parts_of_a_form_have_ids_that_follow_from_its_key),
        WITH_INGEST(sessions_of_a_recording_are_numbered_like_parts_of_a_form),
        WITH_INGEST(sessions_count_towards_what_a_request_may_hold),
        WITH_INGEST(a_part_of_a_long_session_has_its_place_in_it),
        WITH_INGEST(done_may_come_before_commit_is_back),
        WITH_INGEST(a_record_that_fails_fails_the_request),
        WITH_INGEST(every_refusal_of_the_spool_has_its_status),
        WITH_INGEST(one_bad_part_stores_none),
        WITH_INGEST(a_spool_in_trouble_is_told_before_any_work),
        WITH_INGEST(a_site_fills_half_of_the_spool_if_there_are_others),
        WITH_INGEST(more_workers_than_benches_are_deferred),
        WITH_INGEST(working_memory_has_a_ceiling),
        WITH_INGEST(a_reload_leaves_running_requests_their_rules),
    };
    return cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
}
