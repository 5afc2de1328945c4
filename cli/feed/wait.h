/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait: watches the database until it has counted uploads that a collector has accepted.
 *
 * The collector answers as soon as an upload is safe in its spool; it is in the database after the
 * next flush. One thread.
 */
#ifndef FP_CLI_FEED_WAIT_H
#define FP_CLI_FEED_WAIT_H

#include "collector/base/buf.h"

#include <stdint.h>

/* The ids of accepted uploads. */
struct fp_wait {
    struct fp_buf ids; /* "{ID,ID", an unfinished array of PostgreSQL */
    size_t count;
};

void fp_wait_init(struct fp_wait *wait);
void fp_wait_release(struct fp_wait *wait);

/* Adds an upload; the same id may be added several times. */
void fp_wait_add(struct fp_wait *wait, const struct fp_uuid *id);

/* Which database to watch, and how long. */
struct fp_wait_place {
    const char *conninfo;
    const char *site; /* NULL: unknown, then an id of any site counts */
    int seconds;      /* 0: looks once */
};

/*
 * Returns when all uploads are counted, or the time limit is reached. In that case, or if the
 * database cannot be queried, prints a notice: the uploads are safe, so it is not an error.
 */
void fp_wait_until_counted(struct fp_wait *wait, const struct fp_wait_place *place);

#endif
