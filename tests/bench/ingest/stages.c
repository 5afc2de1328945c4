/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: processor time of each step of an upload, on one thread, with nothing else in between.
 *
 *   stages BODIES SECONDS
 *
 * Runs the collector's own functions over the bodies and reads the thread's processor clock between
 * the steps. Prints microseconds per upload; `merge` is the writer's step, the others are ingest's.
 * `general` is not a step: it decodes the same body again, without the fast reader of traces.
 * `keys` are the rows an upload comes to when the first 1,000 are merged.
 */
#include "collector/base/clock.h"
#include "collector/format/format.h"
#include "collector/inflate/inflate.h"
#include "collector/profile/fold/ceilings.h"
#include "collector/profile/fold/fold.h"
#include "collector/rollup/record.h"
#include "collector/rollup/rollup.h"
#include "tests/bench/ingest/bodies.h"
#include "tests/tools/default_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum stage {
    STAGE_INFLATE,
    STAGE_GENERAL,
    STAGE_DECODE,
    STAGE_FOLD,
    STAGE_ENCODE,
    STAGE_CHECK,
    STAGE_MERGE,
    STAGE_COUNT
};

enum { ARENA_MAX = 256 * 1024 * 1024, WINDOW = 1000 };

struct bench {
    struct fp_arena arena;
    struct fp_arena writer_arena;
    struct fp_buf record;
    struct fp_rollup rollup;
    struct fp_rollup_clock clock;
    struct fp_ceilings *ceilings;
    double spent_us[STAGE_COUNT];
    double last_us;
    size_t count;
    size_t record_bytes;
    double keys; /* per upload of the first window */
};

/* Ceilings that are never reached: every name is looked up, none is refused. */
static const struct fp_ceiling_limits ceilings = {
    .names = {[FP_NAME_FRAME] = 10000000,
              [FP_NAME_STACK] = 10000000,
              [FP_NAME_TIMING] = 10000000,
              [FP_NAME_ROUTE] = 10000000,
              [FP_NAME_RELEASE] = 10000000,
              [FP_NAME_SEGMENT] = 10000000},
    .memory = 64u << 20,
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "stages: %s\n", what);
    exit(1);
}

static double thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Charges the time since the last call to this stage. */
static void note(struct bench *bench, enum stage stage)
{
    bench->spent_us[stage] += thread_us() - bench->last_us;
    bench->last_us = thread_us();
}

static void run_decode(struct bench *bench, struct fp_str body, enum stage stage,
                       struct fp_profile *profile)
{
    struct fp_upload_error error;
    bench->last_us = thread_us();
    if (fp_format_decode(body, FP_STR(""), &default_limits, &bench->arena, profile, &error) !=
        FP_VERDICT_OK)
        die(error.detail);
    note(bench, stage);
}

/* Decodes a body with a space before its trace, which the fast reader does not take. */
static void run_general(struct bench *bench, struct fp_str body)
{
    const struct fp_arena_mark mark = fp_arena_mark(&bench->arena);
    const char *frames = memmem(body.ptr, body.len, "{\"frames\":", 10);
    char *spaced = fp_arena_alloc(&bench->arena, body.len + 1);
    struct fp_profile profile;
    if (frames == NULL || spaced == NULL)
        die("a body lacks a trace, or memory is out");
    size_t before = (size_t)(frames - body.ptr);
    memcpy(spaced, body.ptr, before);
    spaced[before] = ' ';
    memcpy(spaced + before + 1, frames, body.len - before);
    run_decode(bench, (struct fp_str){spaced, body.len + 1}, STAGE_GENERAL, &profile);
    fp_arena_rewind(&bench->arena, &mark);
}

/* The two decoders take turns at being first: the second finds more in the caches. */
static void run_format(struct bench *bench, struct fp_str body, struct fp_profile *profile)
{
    const struct fp_inflate_input input = {body, FP_STR(""), default_limits.max_inflated};
    bool general_first = bench->count % 2 == 0;
    struct fp_upload_error error;
    struct fp_str inflated;
    if (fp_inflate(&input, &bench->arena, &inflated, &error) != FP_VERDICT_OK)
        die(error.detail);
    note(bench, STAGE_INFLATE);
    if (general_first)
        run_general(bench, inflated);
    run_decode(bench, inflated, STAGE_DECODE, profile);
    if (!general_first)
        run_general(bench, inflated);
    bench->last_us = thread_us();
}

static void run_check(struct bench *bench)
{
    struct fp_record uploads;
    fp_arena_clear(&bench->writer_arena);
    if (fp_record_decode(bench->record.data, bench->record.len, &bench->writer_arena, &uploads) !=
        FP_DELTA_OK)
        die("check");
    note(bench, STAGE_CHECK);
}

static void run_merge(struct bench *bench)
{
    struct fp_record uploads;
    fp_arena_clear(&bench->writer_arena);
    if (fp_record_decode(bench->record.data, bench->record.len, &bench->writer_arena, &uploads) !=
            FP_DELTA_OK ||
        fp_rollup_add(&bench->rollup, &uploads.deltas[0]) == FP_ROLLUP_NO_ROOM)
        die("merge");
    note(bench, STAGE_MERGE);
}

static void end_window(struct bench *bench)
{
    size_t keys = 0;
    for (size_t i = 0; i < FP_ROLLUP_TABLE_COUNT; i++)
        keys += bench->rollup.tables[i].count;
    if (bench->keys <= 0)
        bench->keys = (double)keys / (double)WINDOW;
    fp_rollup_clear(&bench->rollup, &bench->clock);
    bench->last_us = thread_us();
}

/* The header's value; bodies.mjs always writes it. */
static struct fp_str header(struct fp_str head, const char *name)
{
    const char *found = memmem(head.ptr, head.len, name, strlen(name));
    if (found == NULL)
        die("a head lacks a header");
    found += strlen(name);
    return (struct fp_str){found, strcspn(found, "\r")};
}

static void run_upload(struct bench *bench, const struct bodies *bodies)
{
    /* A prime: each body meets all the heads. */
    struct fp_str head = bodies->heads[bench->count * 7919 % bodies->head_count];
    struct fp_str body = bodies->items[bench->count % bodies->count];
    const struct fp_fold_context context = {
        .site = FP_STR("demo"),
        .referer = header(head, "Referer: "),
        .user_agent = header(head, "User-Agent: "),
        .received_us = fp_clock_real_us(),
        .body_bytes = (uint32_t)body.len,
        .ceilings = bench->ceilings,
        .ceiling_limits = &ceilings,
    };
    struct fp_profile profile;
    struct fp_delta delta;
    bench->last_us = thread_us();
    run_format(bench, body, &profile);
    if (!fp_fold(&profile, &context, &bench->arena, &delta))
        die("fold");
    note(bench, STAGE_FOLD);
    fp_record_add(&bench->record, &delta);
    note(bench, STAGE_ENCODE);
    run_check(bench);
    run_merge(bench);
    bench->record_bytes += bench->record.len;
    fp_arena_clear(&bench->arena);
    fp_buf_clear(&bench->record);
    if (++bench->count % WINDOW == 0)
        end_window(bench);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct bodies bodies;
    if (argc != 3)
        die("usage: stages BODIES SECONDS");
    if (!bodies_open(argv[1], &bodies))
        return 1;
    fp_arena_init(&bench.arena, ARENA_MAX);
    fp_arena_init(&bench.writer_arena, ARENA_MAX);
    fp_buf_init(&bench.record, ARENA_MAX);
    fp_rollup_init(&bench.rollup, ARENA_MAX, ARENA_MAX);
    struct fp_metrics *metrics = fp_metrics_create();
    bench.ceilings = metrics != NULL ? fp_ceilings_create(metrics) : NULL;
    if (bench.ceilings == NULL)
        die("out of memory");
    bench.clock.now_us = fp_clock_real_us();
    fp_rollup_clear(&bench.rollup, &bench.clock);
    double until_us = thread_us() + strtod(argv[2], NULL) * 1e6;
    while (thread_us() < until_us || bench.count < WINDOW)
        run_upload(&bench, &bodies);

    static const char *const names[STAGE_COUNT] = {"inflate", "general", "decode", "fold",
                                                   "encode",  "check",   "merge"};
    for (size_t i = 0; i < STAGE_COUNT; i++)
        printf("%s\"%s\":%.2f", i == 0 ? "{" : ",", names[i],
               bench.spent_us[i] / (double)bench.count);
    printf(",\"record_bytes\":%zu,\"keys\":%.0f}\n", bench.record_bytes / bench.count, bench.keys);
    fp_ceilings_free(bench.ceilings);
    fp_metrics_free(metrics);
    fp_rollup_release(&bench.rollup);
    fp_buf_release(&bench.record);
    fp_arena_release(&bench.writer_arena);
    fp_arena_release(&bench.arena);
    return 0;
}
