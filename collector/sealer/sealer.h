/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealer: the thread that seals (sealing.h) and keeps house, on a connection of its own.
 *
 * It works when something is due: a full hour, an hour or a block whose end has passed, late data,
 * and housekeeping once an hour while uploads come, else once a day. Without flushes it sends
 * nothing in between, and its connection is closed. A failure is logged and tried again with
 * back-off; flushes do not wait for it.
 */
#ifndef FP_SEALER_SEALER_H
#define FP_SEALER_SEALER_H

#include "collector/base/base.h"
#include "collector/base/metrics.h"
#include "collector/store/store.h"

struct fp_sealer_settings {
    const char *database; /* libpq connection string; copied */
    struct fp_retention retention;
    /* The configured sites for the database (fp_config_print_sites); NULL: none. Copied. */
    const char *sites;
};

struct fp_sealer;

/* Starts the thread; the database may be unreachable. The metrics outlive the sealer. Returns NULL
 * when memory, descriptors or threads run out. The caller stops it. */
struct fp_sealer *fp_sealer_start(const struct fp_sealer_settings *settings,
                                  struct fp_metrics *metrics) FP_MUST_CHECK;

/* Notes that a flush appended this many entries, to hours from oldest_us (epoch) on. Any thread;
 * does not wait. */
void fp_sealer_wake(struct fp_sealer *sealer, size_t entries, int64_t oldest_us);

/* Changes how long rows are kept and what the database knows of sites (copied), and keeps house.
 * Any thread. False when out of memory: nothing changed. */
bool fp_sealer_reload(struct fp_sealer *sealer, const struct fp_retention *retention,
                      const char *sites) FP_MUST_CHECK;

/* Ends the thread at once and frees the sealer; the server rolls an open transaction back. NULL is
 * fine. */
void fp_sealer_stop(struct fp_sealer *sealer);

#endif
