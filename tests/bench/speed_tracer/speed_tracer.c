/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer bench: makes a dump of 8,439 lines out of those of the given dumps, and takes it
 * from the inflated body to the spool's record again and again, as the collector does before the
 * database. Prints the fastest round, step by step, beside yyjson alone over the same bytes.
 *
 * usage: speed_tracer_bench SECONDS DUMP…
 */
#include "collector/format/format.h"
#include "collector/ingest/pack.h"
#include "collector/profile/fold/fold.h"
#include "collector/rollup/record.h"
#include "tests/tools/default_limits.h"

#include <yyjson.h>

enum {
    LINES = 8439,
    BODY_MAX = 64 * 1024 * 1024,
    ARENA_MAX = 256 * 1024 * 1024,
};

enum step { PARSE, DECODE, FOLD, PACK, ENCODE, STEP_COUNT };

static const char *const step_names[STEP_COUNT] = {
    [PARSE] = "yyjson alone", [DECODE] = "decode", [FOLD] = "fold and scrub",
    [PACK] = "pack",          [ENCODE] = "encode",
};

struct bench {
    char *body;
    size_t len;
    uint32_t records; /* of the last decoding */
    double began_s;
    double spent_s[STEP_COUNT]; /* of this round */
    struct fp_arena arena;
    struct fp_buf record;
};

/* Appends lines of a dump. Returns their number, 0 if it cannot be read. */
static size_t append_lines(struct bench *bench, const char *path, size_t lines)
{
    size_t taken = 0;
    FILE *dump = fopen(path, "rb");
    if (dump == NULL)
        return 0;
    while (taken < lines && bench->len < BODY_MAX / 2 &&
           fgets(bench->body + bench->len, BODY_MAX / 2, dump) != NULL) {
        bench->len += strlen(bench->body + bench->len);
        taken++;
    }
    fclose(dump);
    return taken;
}

/* One dump after the other, from the first again until there are enough lines. */
static bool make_body(struct bench *bench, char **paths, size_t path_count)
{
    for (size_t lines = 0, i = 0; lines < LINES; i++) {
        const size_t taken = append_lines(bench, paths[i % path_count], LINES - lines);
        if (taken == 0) {
            fprintf(stderr, "speed_tracer_bench: no lines in %s\n", paths[i % path_count]);
            return false;
        }
        lines += taken;
    }
    return true;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Charges the time since the last call to this step. */
static void note(struct bench *bench, enum step step)
{
    const double now_s = cpu_seconds();
    bench->spent_s[step] = now_s - bench->began_s;
    bench->began_s = now_s;
}

/* Line by line, because each line of a dump is one JSON value. */
static void parse(struct bench *bench)
{
    for (size_t at = 0; at < bench->len;) {
        const char *end = memchr(bench->body + at, '\n', bench->len - at);
        const size_t len = (end != NULL ? (size_t)(end - bench->body) : bench->len) - at;
        yyjson_doc_free(yyjson_read(bench->body + at, len, YYJSON_READ_NOFLAG));
        at += len + 1;
    }
    note(bench, PARSE);
}

/* The collector's road. */
static bool ingest(struct bench *bench)
{
    const struct fp_str body = {bench->body, bench->len};
    struct fp_profile profile;
    struct fp_upload_error error;
    if (fp_format_decode(body, FP_STR(""), &default_limits, &bench->arena, &profile, &error) !=
        FP_VERDICT_OK) {
        fprintf(stderr, "speed_tracer_bench: %s\n", error.detail);
        return false;
    }
    bench->records = profile.event_count;
    note(bench, DECODE);
    const struct fp_fold_context context = {.site = FP_STR("bench")};
    struct fp_delta delta;
    if (!fp_fold(&profile, &context, &bench->arena, &delta))
        return false;
    note(bench, FOLD);
    if (!fp_keep_pack(&delta, (struct fp_str){NULL, 0}, &bench->arena))
        return false;
    note(bench, PACK);
    fp_record_add(&bench->record, &delta);
    note(bench, ENCODE);
    fp_arena_clear(&bench->arena);
    bool encoded = !bench->record.failed;
    fp_buf_clear(&bench->record);
    return encoded;
}

static double ingest_seconds(const double spent_s[STEP_COUNT])
{
    return spent_s[DECODE] + spent_s[FOLD] + spent_s[PACK] + spent_s[ENCODE];
}

/* Rounds for so many seconds of processor time. The machine is not ours alone: best_s has the
 * steps of the fastest round, and yyjson's fastest. */
static bool run(struct bench *bench, double seconds, double best_s[STEP_COUNT])
{
    for (const double until_s = cpu_seconds() + seconds; cpu_seconds() < until_s;) {
        bench->began_s = cpu_seconds();
        parse(bench);
        if (!ingest(bench))
            return false;
        const double *spent_s = bench->spent_s;
        if (best_s[ENCODE] <= 0 || ingest_seconds(spent_s) < ingest_seconds(best_s))
            memcpy(best_s + DECODE, spent_s + DECODE, (STEP_COUNT - DECODE) * sizeof(double));
        if (best_s[PARSE] <= 0 || spent_s[PARSE] < best_s[PARSE])
            best_s[PARSE] = spent_s[PARSE];
    }
    return true;
}

static void print_speed(const struct bench *bench, const char *name, double seconds, double yyjson)
{
    printf("%-16s%8.2f ms %8.1f MB/s %6.2f times yyjson\n", name, seconds * 1e3,
           (double)bench->len / 1e6 / seconds, seconds / yyjson);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    double best_s[STEP_COUNT] = {0};
    bench.body = malloc(BODY_MAX);
    if (argc < 3 || bench.body == NULL || !make_body(&bench, argv + 2, (size_t)argc - 2)) {
        fprintf(stderr, "usage: speed_tracer_bench SECONDS DUMP…\n");
        return 2;
    }
    fp_arena_init(&bench.arena, ARENA_MAX);
    fp_buf_init(&bench.record, ARENA_MAX);
    bool done = run(&bench, strtod(argv[1], NULL), best_s);
    if (done) {
        printf("%zu bytes, %d lines, %u records\n", bench.len, LINES, (unsigned)bench.records);
        for (size_t i = 0; i < STEP_COUNT; i++)
            print_speed(&bench, step_names[i], best_s[i], best_s[PARSE]);
        print_speed(&bench, "all but yyjson", ingest_seconds(best_s), best_s[PARSE]);
    }
    fp_buf_release(&bench.record);
    fp_arena_release(&bench.arena);
    free(bench.body);
    return done ? 0 : 1;
}
