/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrate: brings a database to the schema that this program was built with.
 */
#ifndef FP_STORE_MIGRATE_H
#define FP_STORE_MIGRATE_H

#include "collector/base/base.h"

enum fp_migrate_result {
    FP_MIGRATE_OK = 0,     /* the database is up to date now */
    FP_MIGRATE_DOWN,       /* no connection */
    FP_MIGRATE_NEWER,      /* a later version of fleetprof migrated the database */
    FP_MIGRATE_UNRELEASED, /* a version before 0.1.0 made it; it cannot be upgraded */
    FP_MIGRATE_CHANGED,    /* a table file differs from the one that was applied */
    FP_MIGRATE_RIGHTS,     /* the connecting role lacks a privilege */
    FP_MIGRATE_FAILED, /* a statement failed; only roles, or what is distributed, may have changed
                        */
};

/* Receives one line of text (without newline) for each thing done and for each error. */
typedef void fp_migrate_report_fn(void *context, const char *line);

/*
 * Creates missing roles. Applies the table files that the database lacks, then the function and
 * view files whose form in the database differs. Drops functions and views that this version no
 * longer has. `repairs`: makes all of them again, and the rights on tables, in case somebody has
 * changed them. Does all except the roles in one transaction. Then, if `distributes` or if a
 * previous migration did, places tables and functions on the nodes of Citus, each table in a
 * transaction of its own. Creates or updates the extension fleetprof_native if the server has it
 * and the role is a superuser; goes on without it otherwise. Safe to run twice, and from two
 * processes at once. The role of the connection string must be a superuser, or have CREATEROLE and
 * own the database (or be a member of fleetprof_owner when the roles exist).
 */
enum fp_migrate_result fp_migrate(const char *conninfo, bool distributes, bool repairs,
                                  fp_migrate_report_fn *report, void *context) FP_MUST_CHECK;

#endif
