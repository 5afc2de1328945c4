/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service: takes sockets from systemd and notifies it. Without systemd, every function here does
 * nothing.
 *
 * The protocols are sd_listen_fds(3), sd_notify(3) and sd_watchdog_enabled(3). Main thread only.
 */
#ifndef FP_SERVICE_H
#define FP_SERVICE_H

#include "collector/base/base.h"
#include "collector/base/buf.h"

/* Names of sockets, and of the settings that they replace. */
#define FP_SERVICE_INGEST "ingest"
#define FP_SERVICE_ADMIN "admin"

/*
 * True if each socket that systemd passed has one of these names, and no other has it. Clients
 * would wait for a reply at any other. Otherwise `detail` gets a sentence.
 */
bool fp_service_check_names(struct fp_buf *detail) FP_MUST_CHECK;

/*
 * Gets the listening socket that systemd passed under this name (FileDescriptorName=); the caller
 * then owns it. *fd is -1 when there is none. Returns false when the descriptor of that name is not
 * a listening stream socket; `detail` then gets a sentence.
 */
bool fp_service_socket(const char *name, int *fd, struct fp_buf *detail) FP_MUST_CHECK;

/* Notifies that the collector takes uploads, after a start or a reload. */
void fp_service_ready(size_t site_count);

/* Notifies that the configuration is being read again; fp_service_ready follows. */
void fp_service_reloading(void);

/* Notifies that the collector no longer takes uploads. */
void fp_service_stopping(void);

/* Returns the interval at which fp_service_alive must be called, in microseconds; 0: no
 * watchdog. */
int64_t fp_service_watchdog_us(void);

/* Notifies that the collector makes progress, or has nothing to do. */
void fp_service_alive(void);

#endif
