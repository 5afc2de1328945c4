/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the spool with a model. Whatever is torn, lost or reordered when the power fails or the
 * process is killed, and however often: acknowledged records are there once, in order, and refused
 * ones are not.
 *
 * FLEETPROF_SPOOL_SEED repeats the case of that seed alone.
 */
#include "disk.h"

#include <stdlib.h>

#ifdef FP_SANITIZED
enum { CASES = 300 }; /* up to ten times as slow */
#else
enum { CASES = 3000 };
#endif

enum {
    CASES_LONG = 30000,
    LIVES = 4,         /* of a case: processes, one after the other */
    STEPS = 8,         /* of a life */
    GROUP_MAX = 6,     /* appends before a wait */
    RECORDS_MAX = 512, /* of a case */
    CHANGES_OF_A_LIFE = 70,
};

enum fate { OPEN, ACKNOWLEDGED, REFUSED };

/* The model's view of a record. */
struct model_record {
    _Atomic(enum fate) fate;
    uint64_t sequence; /* as it was read, 0: not yet */
    struct model *model;
};

struct model {
    uint64_t seed;
    uint64_t random;
    struct disk disk;
    struct fixture fixture;
    struct model_record records[RECORDS_MAX]; /* by number, from 1 */
    uint64_t last;                            /* number of the last one that was appended */
    uint64_t done;                            /* number of the last one in the database */
    uint64_t position;                        /* its sequence */
    uint64_t highest;                         /* sequence that was read */
    bool finished;
};

static struct model model;

static int say_seed(void **state)
{
    (void)state;
    if (!model.finished)
        print_message("# repeat with FLEETPROF_SPOOL_SEED=%" PRIu64 "\n", model.seed);
    return 0;
}

/* Shared by the waiters of a group. */
struct group {
    struct waiter waiter;
    struct group_member {
        struct group *group;
        struct model_record *record;
    } members[GROUP_MAX];
};

static void tell_model(void *context, enum fp_spool_error result)
{
    const struct group_member *member = context;
    /* Ignores refusals of a dead process: nobody receives them. */
    pthread_mutex_lock(&model.disk.lock);
    bool heard = !model.disk.crashed;
    pthread_mutex_unlock(&model.disk.lock);
    if (result == FP_SPOOL_OK)
        member->record->fate = ACKNOWLEDGED;
    else if (heard)
        member->record->fate = REFUSED;
    tell_waiter(&member->group->waiter, result);
}

/* Waits until the committer has taken the first append of a group and is about to write. */
static void wait_for_committer(struct group *group)
{
    int64_t until_us = fp_clock_monotonic_us() + PATIENCE_US;
    bool told = false;
    while (!told && !disk_has_waiting(&model.disk)) {
        assert_true(fp_clock_monotonic_us() < until_us);
        sched_yield();
        pthread_mutex_lock(&group->waiter.lock);
        told = group->waiter.told > 0;
        pthread_mutex_unlock(&group->waiter.lock);
    }
}

/* Appends some records: the first is written alone, the others together, in the same way in each
 * run. */
static void append_group(void)
{
    struct group group = {.waiter = WAITER_INIT};
    unsigned queued = 0;
    disk_hold(&model.disk, true);
    uint64_t count = draw(&model.random, GROUP_MAX) + 1;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t bytes[RECORD_MAX_LEN];
        struct model_record *record = &model.records[++model.last];
        struct group_member *member = &group.members[i];
        *member = (struct group_member){&group, record};
        assert_true(model.last < RECORDS_MAX - 1);
        size_t len = make_record(model.last, bytes);
        if (fp_spool_append(model.fixture.spool, bytes, len, tell_model, member) == FP_SPOOL_OK)
            queued++;
        else
            record->fate = REFUSED;
        if (i == 0 && queued > 0)
            wait_for_committer(&group);
    }
    disk_hold(&model.disk, false);
    wait_until_told(&group.waiter, queued);
}

/* Returns the next record that must be read, from a number on; RECORDS_MAX if none. */
static uint64_t next_due(uint64_t from)
{
    while (from <= model.last && model.records[from].fate != ACKNOWLEDGED)
        from++;
    return from <= model.last ? from : RECORDS_MAX;
}

static void check_record(const struct fp_spool_record *read, uint64_t *before)
{
    uint64_t n = record_number(read);
    if (n <= *before || n > model.last)
        fail_msg("record %d comes after %d of %d", (int)n, (int)*before, (int)model.last);
    if (next_due(*before + 1) < n)
        fail_msg("record %d is acknowledged and lost", (int)next_due(*before + 1));
    struct model_record *record = &model.records[n];
    if (record->fate == REFUSED)
        fail_msg("record %d is refused and there", (int)n);
    if (record->sequence == 0) {
        assert_true(read->sequence > model.highest); /* no number is given twice */
        model.highest = read->sequence;
    } else {
        assert_int_equal(record->sequence, read->sequence);
    }
    record->sequence = read->sequence;
    /* Recovery has synced what the reader returns, unless the disk refused. */
    if (model.disk.fault_at == 0)
        record->fate = ACKNOWLEDGED;
    *before = n;
}

/* Reads all records. True if the disk survived it. */
static bool check_content(void)
{
    struct fp_spool *spool = model.fixture.spool;
    uint64_t before = model.done;
    uint64_t after = model.position;
    struct fp_spool_batch batch;
    do {
        if (fp_spool_read(spool, after, 3000, 5, &batch) != FP_SPOOL_OK || model.disk.crashed)
            return false;
        for (size_t i = 0; i < batch.count; i++) {
            check_record(&batch.records[i], &before);
            after = batch.records[i].sequence;
        }
    } while (batch.count > 0);
    if (next_due(before + 1) != RECORDS_MAX)
        fail_msg("record %d is acknowledged and lost", (int)next_due(before + 1));
    assert_true(fp_spool_position(spool) <= model.position);
    return true;
}

/* The database stores the next few records. */
static void trim_some(void)
{
    uint64_t upto = model.done + draw(&model.random, 20);
    for (uint64_t n = model.done + 1; n <= upto && n <= model.last; n++) {
        if (model.records[n].sequence == 0)
            continue;
        model.done = n;
        model.position = model.records[n].sequence;
    }
    enum fp_spool_error error = fp_spool_trim(model.fixture.spool, model.position);
    (void)error;                                      /* the position is a hint */
    model.fixture.spool->reader.state_written_us = 0; /* the next trim writes it again */
}

static void live(void)
{
    for (unsigned step = 0; step < STEPS && !model.disk.crashed; step++) {
        switch (draw(&model.random, 6)) {
        case 0:
            trim_some();
            break;
        case 1:
            if (!check_content())
                return;
            break;
        default:
            append_group();
        }
    }
}

/* Runs one process, up to its crash. */
static void run_life(bool at_peace)
{
    static const int faults[] = {0, EIO, ENOSPC, EINTR};
    struct disk *disk = &model.disk;
    if (!at_peace) {
        disk->crash_at = (long)draw(&model.random, CHANGES_OF_A_LIFE) + 1;
        if (draw(&model.random, 3) == 0) {
            disk->fault_at = (long)draw(&model.random, CHANGES_OF_A_LIFE) + 1;
            disk->fault = faults[draw(&model.random, 4)];
        }
    }
    enum fp_spool_error opened = try_open(&model.fixture);
    if (opened == FP_SPOOL_OK) {
        if (check_content())
            live();
        if (draw(&model.random, 4) > 0)
            disk->crashed = true; /* the others are ended properly, and then crash */
        close_spool(&model.fixture);
    } else if (!disk->crashed && disk->changes < disk->fault_at) {
        fail_msg("the spool does not start: %s", fp_spool_error_text(opened));
    }
    if (draw(&model.random, 3) > 0)
        disk_lose_power(disk); /* else the process was killed and the machine lives on */
    disk_restart(disk);
}

static void run_case(uint64_t seed)
{
    struct fp_metrics *metrics = fp_metrics_create();
    model = (struct model){.seed = seed, .random = seed};
    disk_init(&model.disk, seed ^ 1);
    model.fixture = (struct fixture){
        .metrics = metrics,
        .ops = &model.disk.ops,
        .settings = {.path = "/spool",
                     .max_bytes = 1 << 20,
                     .segment_bytes = UINT64_C(2) * FP_SPOOL_SEGMENT_HEADER_LEN,
                     .keep_us = draw(&model.random, 2) == 0 ? 0 : FP_US_PER_HOUR},
    };
    for (unsigned life = 1; life < LIVES; life++)
        run_life(false);
    run_life(true);
    assert_int_equal(try_open(&model.fixture), FP_SPOOL_OK);
    assert_true(check_content());
    close_spool(&model.fixture);
    disk_release(&model.disk);
    fp_metrics_free(metrics);
    model.finished = true;
}

static void loses_repeats_and_invents_nothing_however_the_power_fails(void **state)
{
    (void)state;
    const char *only = getenv("FLEETPROF_SPOOL_SEED");
    if (only != NULL) {
        run_case(strtoull(only, NULL, 10));
        return;
    }
    uint64_t cases = getenv("FLEETPROF_LONG") != NULL ? CASES_LONG : CASES;
    for (uint64_t seed = 1; seed <= cases; seed++)
        run_case(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(loses_repeats_and_invents_nothing_however_the_power_fails,
                                  say_seed),
    };
    return cmocka_run_group_tests_name("spool_model", tests, NULL, NULL);
}
