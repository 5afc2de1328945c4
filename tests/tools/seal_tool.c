/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_tool: sealing and housekeeping under a test's command, which says what time it is.
 *
 *     seal_tool CONNINFO [SETTING=VALUE …]
 *
 * Settings: facts_us, hours_us, log_us, sessions_us, ids_us. Commands on standard input, one a
 * line; each is answered by one line of JSON:
 *
 *     step NOW_US    one step: {"did": "nothing"|"hour"|"block"|"busy", …}
 *     all NOW_US     steps until nothing is due: {"hours": …, "blocks": …}
 *     house          housekeeping, by the database's clock
 *     memory         the most memory that this process has had, KiB
 *     quit
 *
 * A failure is answered by {"error": MESSAGE}; the next command goes on.
 */
#include "collector/base/clock.h"
#include "collector/sealer/sealing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct tool {
    struct fp_store *store;
    struct fp_sealing *sealing;
};

static void die(const char *what)
{
    fprintf(stderr, "seal_tool: %s\n", what);
    exit(2);
}

static void answer_failure(const struct tool *tool, enum fp_store_result result)
{
    printf("{\"error\": \"");
    for (const char *at = fp_store_message(tool->store); *at != '\0'; at++)
        if (*at != '"' && *at != '\\' && (unsigned char)*at >= ' ')
            putchar(*at);
    printf("\", \"result\": %d}\n", (int)result);
}

static void answer_step(const struct fp_seal_report *report)
{
    static const char *const names[] = {"nothing", "hour", "block", "busy"};
    printf("{\"did\": \"%s\", \"bucket_us\": %" PRId64 ", \"span\": %d, \"read\": %zu, "
           "\"written\": %zu, \"waiting\": %" PRId64 ", \"next_us\": %" PRId64 "}\n",
           names[report->did], report->bucket_us, report->span, report->entries_read,
           report->entries_written, report->waiting_entries,
           report->next_us == INT64_MAX ? -1 : report->next_us);
}

static void step(struct tool *tool, int64_t now_us)
{
    struct fp_seal_report report;
    enum fp_store_result result = fp_sealing_step(tool->sealing, now_us, &report);
    if (result == FP_STORE_OK)
        answer_step(&report);
    else
        answer_failure(tool, result);
}

static void step_all(struct tool *tool, int64_t now_us)
{
    struct fp_seal_report report;
    size_t hours = 0;
    size_t blocks = 0;
    for (;;) {
        enum fp_store_result result = fp_sealing_step(tool->sealing, now_us, &report);
        if (result != FP_STORE_OK) {
            answer_failure(tool, result);
            return;
        }
        hours += report.did == FP_SEAL_HOUR;
        blocks += report.did == FP_SEAL_BLOCK;
        if (report.did == FP_SEAL_NOTHING || report.did == FP_SEAL_BUSY)
            break;
    }
    printf("{\"hours\": %zu, \"blocks\": %zu, \"busy\": %s, \"waiting\": %" PRId64
           ", \"next_us\": %" PRId64 "}\n",
           hours, blocks, report.did == FP_SEAL_BUSY ? "true" : "false", report.waiting_entries,
           report.next_us == INT64_MAX ? -1 : report.next_us);
}

static void keep_house(struct tool *tool)
{
    struct fp_store_chores chores;
    bool busy;
    enum fp_store_result result = fp_sealing_keep_house(tool->sealing, &chores, &busy);
    if (result != FP_STORE_OK)
        answer_failure(tool, result);
    else
        printf("{\"made\": %zu, \"dropped\": %zu, \"pruned\": %zu, \"busy\": %s}\n",
               chores.partitions_made, chores.partitions_dropped, chores.rows_pruned,
               busy ? "true" : "false");
}

static void print_memory(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        die("getrusage");
    printf("{\"peak_kib\": %ld}\n", usage.ru_maxrss);
}

/* Executes one line. False if it was the last. */
static bool obey(struct tool *tool, const char *line)
{
    char word[16] = "";
    int64_t now_us = 0;
    int found = sscanf(line, "%15s %" SCNd64, word, &now_us);
    if (found == 2 && strcmp(word, "step") == 0)
        step(tool, now_us);
    else if (found == 2 && strcmp(word, "all") == 0)
        step_all(tool, now_us);
    else if (strcmp(word, "house") == 0)
        keep_house(tool);
    else if (strcmp(word, "memory") == 0)
        print_memory();
    else if (strcmp(word, "quit") == 0)
        return false;
    else
        die("unknown command");
    return true;
}

static void read_setting(const char *argument, struct fp_retention *retention)
{
    const struct {
        const char *name;
        int64_t *value;
    } known[] = {
        {"facts_us=", &retention->facts_us},    {"hours_us=", &retention->hours_us},
        {"log_us=", &retention->upload_log_us}, {"sessions_us=", &retention->sessions_us},
        {"ids_us=", &retention->upload_ids_us},
    };
    for (size_t i = 0; i < FP_COUNT(known); i++) {
        size_t len = strlen(known[i].name);
        if (strncmp(argument, known[i].name, len) == 0) {
            *known[i].value = strtoll(argument + len, NULL, 10);
            return;
        }
    }
    die("unknown setting");
}

int main(int argc, char **argv)
{
    struct fp_store_settings settings = {
        .retention = {.facts_us = 400 * FP_US_PER_DAY,
                      .hours_us = 14 * FP_US_PER_DAY,
                      .upload_log_us = 30 * FP_US_PER_DAY,
                      .sessions_us = 30 * FP_US_PER_DAY,
                      .upload_ids_us = 7 * FP_US_PER_DAY},
        .interrupt_fd = -1,
    };
    if (argc < 2)
        die("usage: seal_tool CONNINFO [SETTING=VALUE …]");
    settings.database = argv[1];
    for (int i = 2; i < argc; i++)
        read_setting(argv[i], &settings.retention);
    struct tool tool = {.store = fp_store_create(&settings)};
    tool.sealing = tool.store != NULL ? fp_sealing_create(tool.store) : NULL;
    if (tool.sealing == NULL)
        die("out of memory");
    char line[256];
    do
        fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL && obey(&tool, line));
    fp_sealing_free(tool.sealing);
    fp_store_close(tool.store);
    return 0;
}
