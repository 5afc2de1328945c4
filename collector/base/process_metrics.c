/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process metrics: read from /proc (proc(5)) on demand.
 */
#include "collector/base/process_metrics.h"

#include "collector/base/clock.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Members of /proc/self/stat. */
struct status {
    uint64_t cpu_ticks;
    uint64_t start_ticks; /* since boot */
    uint64_t virtual_bytes;
    uint64_t resident_pages;
};

/* Reads the members after the command's name. The name may contain any character, so the last
 * closing parenthesis ends it. */
static bool read_status(struct status *status)
{
    char text[2048];
    FILE *file = fopen("/proc/self/stat", "re");
    if (file == NULL)
        return false;
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[len] = '\0';
    const char *rest = strrchr(text, ')');
    uint64_t user;
    uint64_t system;
    // NOLINTNEXTLINE(cert-err34-c): the kernel writes these numbers
    if (rest == NULL || sscanf(rest + 1,
                               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                               " %*d %*d %*d %*d %*d %*d %" SCNu64 " %" SCNu64 " %" SCNu64,
                               &user, &system, &status->start_ticks, &status->virtual_bytes,
                               &status->resident_pages) != 5)
        return false;
    status->cpu_ticks = user + system;
    return true;
}

static int64_t us_of_ticks(uint64_t ticks)
{
    return (int64_t)(ticks * (uint64_t)FP_US_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Counts the entries of /proc/self/fd, except the descriptor that is open to read them. */
static int64_t count_fds(void)
{
    int64_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL)
        return 0;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count - 1;
}

static void refresh(struct fp_metric_set *set)
{
    struct status status;
    struct rlimit limit;
    if (read_status(&status)) {
        fp_metrics_set(set, FP_METRIC_PROCESS_CPU, us_of_ticks(status.cpu_ticks));
        fp_metrics_set(set, FP_METRIC_PROCESS_VIRTUAL, (int64_t)status.virtual_bytes);
        fp_metrics_set(set, FP_METRIC_PROCESS_RESIDENT,
                       (int64_t)(status.resident_pages * (uint64_t)sysconf(_SC_PAGESIZE)));
    }
    fp_metrics_set(set, FP_METRIC_PROCESS_FDS, count_fds());
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        fp_metrics_set(set, FP_METRIC_PROCESS_FDS_MAX, (int64_t)limit.rlim_cur);
}

static const struct fp_metric metrics_table[] = {FP_PROCESS_METRICS(FP_METRIC_ROW)};
static const struct fp_metric_table table = {metrics_table, FP_PROCESS_METRIC_COUNT, refresh};

/* Returns when the process started, by the current clock. Called once, so that the value never
 * changes. */
static int64_t start_us(void)
{
    struct status status;
    struct timespec up;
    if (!read_status(&status) || clock_gettime(CLOCK_BOOTTIME, &up) != 0)
        return 0;
    int64_t up_us = (int64_t)up.tv_sec * FP_US_PER_S + up.tv_nsec / 1000;
    return fp_clock_real_us() - (up_us - us_of_ticks(status.start_ticks));
}

bool fp_process_metrics_join(struct fp_metrics *metrics)
{
    struct fp_metric_set *set = fp_metrics_join(metrics, &table);
    if (set == NULL)
        return false;
    fp_metrics_set(set, FP_METRIC_BUILD_INFO, 1);
    fp_metrics_set(set, FP_METRIC_PROCESS_START, start_us());
    return true;
}
