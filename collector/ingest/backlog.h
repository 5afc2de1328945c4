/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backlog: how many bytes of the spool one site fills with uploads that are not yet in the
 * database, so that it can be refused before it takes the room of the others.
 *
 * The spool knows no sites. So a site notes how much it had appended at some sequence numbers of
 * the spool; when the database has these, that much has left. The count is up to a sixteenth of a
 * share too large, and begins at 0 after a restart. Any thread.
 */
#ifndef FP_INGEST_BACKLOG_H
#define FP_INGEST_BACKLOG_H

#include "collector/base/base.h"

struct fp_backlog;

/* Makes an empty backlog with one reference. NULL when out of memory. */
struct fp_backlog *fp_backlog_create(void) FP_MUST_CHECK;

/* Add and drop a reference; dropping the last one frees the backlog. NULL is fine. */
struct fp_backlog *fp_backlog_ref(struct fp_backlog *backlog);
void fp_backlog_unref(struct fp_backlog *backlog);

/* Where the spool is: the last record that is in the database, and the last one that is durable. */
struct fp_backlog_place {
    uint64_t position;
    uint64_t tail;
};

/* True if the site fills its share, in bytes, or more. */
bool fp_backlog_is_full(struct fp_backlog *backlog, const struct fp_backlog_place *place,
                        uint64_t share) FP_MUST_CHECK;

/* Adds a record that is about to be appended. */
void fp_backlog_add(struct fp_backlog *backlog, const struct fp_backlog_place *place,
                    uint64_t share, uint64_t bytes);

/* Takes back a record that the spool did not take. */
void fp_backlog_return(struct fp_backlog *backlog, uint64_t bytes);

#endif
