/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_tool: a spool and a writer under a test's command, fed with random deltas.
 *
 *     writer_tool CONNINFO SPOOL_DIR [SETTING=VALUE …]
 *
 * Settings: window_us, max_window_us, facts_us, hours_us, log_us, sessions_us, ids_us, stop_us,
 * segment_bytes, routes, values (of each dimension), sealing (1: with a sealer). Commands on
 * standard input, one a line; each is answered by one line of JSON:
 *
 *     append SEED COUNT [RECEIVED_US]   COUNT deltas of seeds SEED, SEED+1, …, each a record of its
 *                                       own; answers when durable
 *     form SEED COUNT                   the same deltas in one record
 *     form SEED COUNT RECEIVED_US STEP_US
 *                                       each STEP_US after the one before
 *     describe SEED [RECEIVED_US]       what such a delta holds
 *     damage [SEED]                     a record that no version could have written, behind a good
 *                                       delta if a seed is given
 *     position                          the spool's position and its end
 *     metrics                           Prometheus text as a JSON string
 *     quit                              stops the writer, closes the spool
 */
#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/rollup/record.h"
#include "collector/sealer/sealer.h"
#include "collector/writer/writer.h"

#include "tests/tools/describe_delta.h"
#include "tests/tools/random_delta.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define ARENA_MAX (64 * 1024 * 1024)

struct tool {
    struct fp_spool *spool;
    struct fp_writer *writer;
    struct fp_sealer *sealer; /* NULL: none */
    struct fp_metrics *metrics;
    struct fp_arena arena;
    struct fp_buf bytes;
    int done_fd; /* counts appends that are durable */
    uint64_t routes;
    uint64_t values;
};

static void die(const char *what)
{
    fprintf(stderr, "writer_tool: %s\n", what);
    exit(2);
}

static void draw(struct tool *tool, uint64_t seed, int64_t received_us, struct fp_delta *delta)
{
    const struct random_delta_settings settings = {
        .seed = seed,
        .received_us = received_us,
        .max_samples = 30,
        .functions = 40,
        .routes = (unsigned)tool->routes,
        .values = (unsigned)tool->values,
        .vitals = true,
        .left_out = true,
        .reasons = true,
    };
    fp_arena_clear(&tool->arena);
    random_delta(&settings, &tool->arena, delta);
}

static void when_done(void *context, enum fp_spool_error result)
{
    const struct tool *tool = context;
    const uint64_t one = 1;
    if (result != FP_SPOOL_OK)
        die(fp_spool_error_text(result));
    (void)!write(tool->done_fd, &one, sizeof(one));
}

static void append_bytes(struct tool *tool, const void *bytes, size_t len)
{
    enum fp_spool_error error = fp_spool_append(tool->spool, bytes, len, when_done, tool);
    if (error != FP_SPOOL_OK)
        die(fp_spool_error_text(error));
}

static void await_done(const struct tool *tool, uint64_t count)
{
    while (count > 0) {
        uint64_t more;
        if (read(tool->done_fd, &more, sizeof(more)) != (ssize_t)sizeof(more))
            die("eventfd");
        count -= more;
    }
}

static void answer_appended(const struct tool *tool, uint64_t count)
{
    printf("{\"appended\": %" PRIu64 ", \"tail\": %" PRIu64 "}\n", count,
           fp_spool_tail(tool->spool));
}

static void append(struct tool *tool, uint64_t seed, uint64_t count, int64_t received_us)
{
    for (uint64_t i = 0; i < count; i++) {
        struct fp_delta delta;
        draw(tool, seed + i, received_us, &delta);
        fp_buf_clear(&tool->bytes);
        fp_record_add(&tool->bytes, &delta);
        append_bytes(tool, tool->bytes.data, tool->bytes.len);
    }
    await_done(tool, count);
    answer_appended(tool, count);
}

static void append_form(struct tool *tool, uint64_t seed, uint64_t count, int64_t received_us,
                        int64_t step_us)
{
    fp_buf_clear(&tool->bytes);
    for (uint64_t i = 0; i < count; i++) {
        struct fp_delta delta;
        draw(tool, seed + i, received_us + (int64_t)i * step_us, &delta);
        fp_record_add(&tool->bytes, &delta);
    }
    append_bytes(tool, tool->bytes.data, tool->bytes.len);
    await_done(tool, 1);
    answer_appended(tool, count);
}

static void damage(struct tool *tool, uint64_t seed)
{
    static const char broken[] = "\7\0\0\0\1broken";
    fp_buf_clear(&tool->bytes);
    if (seed > 0) {
        struct fp_delta delta;
        draw(tool, seed, fp_clock_real_us(), &delta);
        fp_record_add(&tool->bytes, &delta);
    }
    fp_buf_add(&tool->bytes, broken, sizeof(broken) - 1);
    append_bytes(tool, tool->bytes.data, tool->bytes.len);
    await_done(tool, 1);
    printf("{}\n");
}

static void describe(struct tool *tool, uint64_t seed, int64_t received_us)
{
    struct fp_delta delta;
    draw(tool, seed, received_us, &delta);
    describe_delta(&delta);
}

static void print_metrics(struct tool *tool)
{
    fp_buf_clear(&tool->bytes);
    fp_metrics_render(tool->metrics, &tool->bytes);
    putchar('"');
    for (size_t i = 0; i < tool->bytes.len; i++) {
        int c = tool->bytes.data[i];
        if (c == '\n')
            fputs("\\n", stdout);
        else if (c == '"')
            fputs("\\\"", stdout);
        else
            putchar(c);
    }
    fputs("\"\n", stdout);
}

/* Executes one line. False if it was the last. */
static bool obey(struct tool *tool, const char *line)
{
    char word[32];
    uint64_t seed = 0;
    uint64_t count = 0;
    int64_t received_us = 0;
    int64_t step_us = 0;
    if (sscanf(line, "append %" SCNu64 " %" SCNu64 " %" SCNd64, &seed, &count, &received_us) >= 2)
        append(tool, seed, count, received_us > 0 ? received_us : fp_clock_real_us());
    else if (sscanf(line, "describe %" SCNu64 " %" SCNd64, &seed, &received_us) >= 1)
        describe(tool, seed, received_us);
    else if (sscanf(line, "form %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64, &seed, &count,
                    &received_us, &step_us) >= 2)
        append_form(tool, seed, count, received_us > 0 ? received_us : fp_clock_real_us(), step_us);
    else if (sscanf(line, "%31s %" SCNu64, word, &seed) >= 1 && strcmp(word, "damage") == 0)
        damage(tool, seed);
    else if (strcmp(word, "position") == 0)
        printf("{\"position\": %" PRIu64 ", \"tail\": %" PRIu64 "}\n",
               fp_spool_position(tool->spool), fp_spool_tail(tool->spool));
    else if (strcmp(word, "metrics") == 0)
        print_metrics(tool);
    else if (strcmp(word, "quit") == 0)
        return false;
    else
        die("unknown command");
    return true;
}

struct other_settings {
    int64_t segment_bytes;
    int64_t routes;
    int64_t values;
    int64_t sealing;
};

static void read_setting(const char *argument, struct fp_writer_settings *settings,
                         struct other_settings *other)
{
    const struct {
        const char *name;
        int64_t *value;
    } known[] = {
        {"window_us=", &settings->pace.min_window_us},
        {"max_window_us=", &settings->pace.max_window_us},
        {"facts_us=", &settings->pace.retention.facts_us},
        {"hours_us=", &settings->pace.retention.hours_us},
        {"log_us=", &settings->pace.retention.upload_log_us},
        {"sessions_us=", &settings->pace.retention.sessions_us},
        {"ids_us=", &settings->pace.retention.upload_ids_us},
        {"stop_us=", &settings->stop_timeout_us},
        {"segment_bytes=", &other->segment_bytes},
        {"routes=", &other->routes},
        {"values=", &other->values},
        {"sealing=", &other->sealing},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t len = strlen(known[i].name);
        if (strncmp(argument, known[i].name, len) == 0) {
            *known[i].value = strtoll(argument + len, NULL, 10);
            return;
        }
    }
    die("unknown setting");
}

static void note_flush(void *sealer, size_t entries, int64_t oldest_us)
{
    fp_sealer_wake(sealer, entries, oldest_us);
}

static void start_writer(struct tool *tool, struct fp_writer_settings *settings, bool sealing)
{
    const struct fp_sealer_settings sealer = {settings->database, settings->pace.retention, NULL};
    if (sealing) {
        tool->sealer = fp_sealer_start(&sealer, tool->metrics);
        settings->note_flush = note_flush;
        settings->sealer = tool->sealer;
    }
    tool->writer = fp_writer_start(settings, tool->spool, tool->metrics);
    if (tool->writer == NULL || (sealing && tool->sealer == NULL))
        die("threads");
}

static void open_spool(struct tool *tool, const char *path, uint64_t segment_bytes)
{
    const struct fp_spool_settings settings = {
        .path = path,
        .max_bytes = UINT64_C(256) * 1024 * 1024,
        .segment_bytes = segment_bytes,
        .keep_us = FP_US_PER_HOUR,
    };
    struct fp_buf detail;
    fp_buf_init(&detail, 1024);
    if (fp_spool_open(&settings, tool->metrics, &tool->spool, &detail) != FP_SPOOL_OK) {
        fp_buf_add(&detail, "", 1);
        die(detail.failed ? "spool" : (const char *)detail.data);
    }
    fp_buf_release(&detail);
}

int main(int argc, char **argv)
{
    struct tool tool = {.metrics = fp_metrics_create(), .done_fd = eventfd(0, EFD_CLOEXEC)};
    struct fp_writer_settings settings = {
        .pace = {.min_window_us = 20 * FP_US_PER_MS,
                 .max_window_us = 10 * FP_US_PER_S,
                 .retention = {.facts_us = 400 * FP_US_PER_DAY,
                               .hours_us = 14 * FP_US_PER_DAY,
                               .upload_log_us = 30 * FP_US_PER_DAY,
                               .sessions_us = 30 * FP_US_PER_DAY,
                               .upload_ids_us = 7 * FP_US_PER_DAY}},
        .stop_timeout_us = 5 * FP_US_PER_S,
    };
    struct other_settings other = {.segment_bytes = 4 * 1024 * 1024, .routes = 3};
    if (argc < 3 || tool.metrics == NULL || tool.done_fd < 0)
        die("usage: writer_tool CONNINFO SPOOL_DIR [SETTING=VALUE …]");
    settings.database = argv[1];
    for (int i = 3; i < argc; i++)
        read_setting(argv[i], &settings, &other);
    fp_arena_init(&tool.arena, ARENA_MAX);
    fp_buf_init(&tool.bytes, ARENA_MAX);
    tool.routes = (uint64_t)other.routes;
    tool.values = (uint64_t)other.values;
    open_spool(&tool, argv[2], (uint64_t)other.segment_bytes);
    start_writer(&tool, &settings, other.sealing != 0);
    char line[256];
    do
        fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL && obey(&tool, line));
    fp_spool_stop_appends(tool.spool);
    fp_writer_stop(tool.writer);
    fp_sealer_stop(tool.sealer);
    fp_spool_close(tool.spool);
    fp_metrics_free(tool.metrics);
    fp_arena_release(&tool.arena);
    fp_buf_release(&tool.bytes);
    printf("{\"stopped\": true}\n");
    return 0;
}
