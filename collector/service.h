/*
 * Service: systemd's part in the collector's life: the sockets that it hands over, and what it is
 * told. Started without systemd, all of this does nothing.
 *
 * The protocols are sd_listen_fds(3), sd_notify(3) and sd_watchdog_enabled(3). Main thread only.
 */
#ifndef FP_SERVICE_H
#define FP_SERVICE_H

#include "collector/base/base.h"
#include "collector/base/buf.h"

/*
 * The listening socket handed over under this name (FileDescriptorName=), which the caller then
 * owns. *fd is -1 when there is none. False when there is one of the name and it is no listening
 * stream socket; `detail` then gets a sentence.
 */
bool fp_service_socket(const char *name, int *fd, struct fp_buf *detail) FP_MUST_CHECK;

/* Uploads are taken, after a start or a reload. */
void fp_service_ready(size_t site_count);

/* The configuration is being read again; fp_service_ready follows. */
void fp_service_reloading(void);

/* No uploads are taken any more. */
void fp_service_stopping(void);

/* How often fp_service_alive must be called, in microseconds; 0: nobody watches. */
int64_t fp_service_watchdog_us(void);

/* The collector makes progress, or has nothing to do. */
void fp_service_alive(void);

#endif
