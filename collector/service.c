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

bool fp_service_socket(const char *name, int *fd, struct fp_buf *detail)
{
    char **names = NULL;
    int count = sd_listen_fds_with_names(0, &names);
    int found = 0;
    *fd = -1;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0 && found++ == 0)
            *fd = SD_LISTEN_FDS_START + i;
    free_names(names, count);
    if (found > 1) {
        fp_buf_addf(detail,
                    "several sockets are named %s; in a drop-in of the service manager's unit, an "
                    "empty ListenStream= takes the earlier address away",
                    name);
        *fd = -1;
        return false;
    }
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
