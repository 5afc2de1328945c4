/*
 * Speed Tracer bench: makes a dump of 8,439 lines out of the lines of the given ones, decodes,
 * folds and encodes it again and again on one core, and prints the speed beside that of yyjson
 * alone over the same bytes in the same run.
 *
 * usage: speed_tracer_bench SECONDS DUMP…
 */
#include "collector/format/format.h"
#include "collector/profile/fold.h"

#include <yyjson.h>

enum {
    LINES = 8439,
    BODY_MAX = 64 * 1024 * 1024,
    ARENA_MAX = 256 * 1024 * 1024,
    FIRST_LINES = 500, /* at most so many of one dump in a row */
};

static const struct fp_format_limits limits = {
    .max_inflated = BODY_MAX,
    .samples = 200000,
    .stacks = 500000,
    .frames = 100000,
    .resources = 10000,
    .entries = 50000,
    .stack_depth = 2000,
    .json_depth = 64,
    .max_span_us = INT64_C(3600) * 1000000,
};

struct bench {
    char *body;
    size_t len;
    uint32_t records; /* of the last decoding */
    struct fp_arena arena;
    struct fp_buf delta;
};

/* Appends lines from one dump, going on after the last time. */
static size_t append_lines(struct bench *bench, FILE *dump, size_t lines)
{
    size_t taken = 0;
    while (taken < lines && bench->len < BODY_MAX / 2) {
        if (fgets(bench->body + bench->len, BODY_MAX / 2, dump) == NULL) {
            rewind(dump);
            break;
        }
        bench->len += strlen(bench->body + bench->len);
        taken++;
    }
    return taken;
}

static bool make_body(struct bench *bench, char **paths, size_t path_count)
{
    for (size_t lines = 0, i = 0; lines < LINES; i++) {
        FILE *dump = fopen(paths[i % path_count], "rb");
        if (dump == NULL) {
            fprintf(stderr, "speed_tracer_bench: cannot read %s\n", paths[i % path_count]);
            return false;
        }
        const size_t left = LINES - lines;
        size_t taken = append_lines(bench, dump, left < FIRST_LINES ? left : FIRST_LINES);
        fclose(dump);
        if (taken == 0)
            return false;
        lines += taken;
    }
    return true;
}

/* Each line for itself, for that is how much of a dump is one JSON value. */
static bool parse(struct bench *bench)
{
    for (size_t at = 0; at < bench->len;) {
        const char *end = memchr(bench->body + at, '\n', bench->len - at);
        const size_t len = (end != NULL ? (size_t)(end - bench->body) : bench->len) - at;
        yyjson_doc_free(yyjson_read(bench->body + at, len, YYJSON_READ_NOFLAG));
        at += len + 1;
    }
    return true;
}

static bool decode_into(struct bench *bench, struct fp_profile *profile)
{
    fp_arena_clear(&bench->arena);
    struct fp_format_error error;
    const struct fp_str body = {bench->body, bench->len};
    if (fp_format_decode(body, FP_STR(""), &limits, &bench->arena, profile, &error) !=
        FP_FORMAT_OK) {
        fprintf(stderr, "speed_tracer_bench: %s\n", error.detail);
        return false;
    }
    bench->records = profile->event_count;
    return true;
}

static bool decode(struct bench *bench)
{
    struct fp_profile profile;
    return decode_into(bench, &profile);
}

static bool decode_fold_encode(struct bench *bench)
{
    struct fp_profile profile;
    const struct fp_fold_context context = {.site = FP_STR("bench")};
    struct fp_delta delta;
    if (!decode_into(bench, &profile) || !fp_fold(&profile, &context, &bench->arena, &delta))
        return false;
    fp_buf_clear(&bench->delta);
    fp_delta_encode(&delta, &bench->delta);
    return !bench->delta.failed;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Megabytes a second of processor time: of the fastest round, for the machine is not ours alone. */
static double measure(struct bench *bench, bool (*work)(struct bench *), double seconds)
{
    double best = 0;
    for (const double until = cpu_seconds() + seconds; cpu_seconds() < until;) {
        const double began = cpu_seconds();
        if (!work(bench))
            return 0;
        const double speed = (double)bench->len / 1e6 / (cpu_seconds() - began);
        best = speed > best ? speed : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    bench.body = malloc(BODY_MAX);
    if (argc < 3 || bench.body == NULL || !make_body(&bench, argv + 2, (size_t)argc - 2)) {
        fprintf(stderr, "usage: speed_tracer_bench SECONDS DUMP…\n");
        return 2;
    }
    fp_arena_init(&bench.arena, ARENA_MAX);
    fp_buf_init(&bench.delta, ARENA_MAX);
    const double seconds = strtod(argv[1], NULL) / 3;
    const double yyjson = measure(&bench, parse, seconds);
    const double decoder = measure(&bench, decode, seconds);
    const double whole = measure(&bench, decode_fold_encode, seconds);
    printf("%zu bytes, %d lines, %u records\n", bench.len, LINES, (unsigned)bench.records);
    printf("yyjson alone        %8.1f MB/s\n", yyjson);
    printf("decode              %8.1f MB/s, %.2f times the time of yyjson\n", decoder,
           yyjson / decoder);
    printf("decode, fold, encode%8.1f MB/s, %.2f times\n", whole, yyjson / whole);
    fp_buf_release(&bench.delta);
    fp_arena_release(&bench.arena);
    free(bench.body);
    return decoder > 0 && whole > 0 ? 0 : 1;
}
