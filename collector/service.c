/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service: a thin layer over libsystemd.
 *
 * Ignores notifications that fail: the collector keeps taking uploads when the service manager is
 * gone.
 */
#include "collector/service.h"

#include "collector/base/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

static void free_names(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free((void *)names);
}

static bool is_known(const char *name)
{
    return strcmp(name, FP_SERVICE_INGEST) == 0 || strcmp(name, FP_SERVICE_ADMIN) == 0;
}

static bool is_repeated(char *const *names, int place)
{
    for (int i = 0; i < place; i++)
        if (strcmp(names[i], names[place]) == 0)
            return true;
    return false;
}

bool fp_service_check_names(struct fp_buf *detail)
{
    char **names = NULL;
    int count = sd_listen_fds_with_names(0, &names);
    bool is_fine = true;
    for (int i = 0; is_fine && i < count; i++) {
        if (!is_known(names[i]))
            fp_buf_addf(detail, "a socket is named %s; FileDescriptorName= must be %s or %s",
                        names[i], FP_SERVICE_INGEST, FP_SERVICE_ADMIN);
        else if (is_repeated(names, i))
            fp_buf_addf(detail,
                        "several sockets are named %s; in a drop-in of the service manager's "
                        "unit, an empty ListenStream= takes the earlier address away",
                        names[i]);
        is_fine = detail->len == 0;
    }
    free_names(names, count);
    return is_fine;
}

bool fp_service_socket(const char *name, int *fd, struct fp_buf *detail)
{
    char **names = NULL;
    int count = sd_listen_fds_with_names(0, &names);
    *fd = -1;
    for (int i = 0; i < count && *fd < 0; i++)
        if (strcmp(names[i], name) == 0)
            *fd = SD_LISTEN_FDS_START + i;
    free_names(names, count);
    if (*fd < 0 || sd_is_socket(*fd, AF_UNSPEC, SOCK_STREAM, 1) > 0)
        return true;
    fp_buf_addf(detail, "the service manager's socket %s is not a listening stream socket", name);
    *fd = -1;
    return false;
}

void fp_service_ready(size_t site_count)
{
    (void)sd_notifyf(0, "READY=1\nSTATUS=Taking uploads (sites: %zu)", site_count);
}

void fp_service_reloading(void)
{
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, fp_clock_monotonic_us());
}

void fp_service_stopping(void)
{
    (void)sd_notify(0, "STOPPING=1\nSTATUS=Finishing requests and flushing");
}

int64_t fp_service_watchdog_us(void)
{
    uint64_t timeout_us = 0;
    if (sd_watchdog_enabled(0, &timeout_us) <= 0 || timeout_us > INT64_MAX)
        return 0;
    return (int64_t)timeout_us / 2;
}

void fp_service_alive(void)
{
    (void)sd_notify(0, "WATCHDOG=1");
}
