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
    FP_MIGRATE_UNRELEASED, /* a version before 0.1.0 made it: there is no way to upgrade it */
    FP_MIGRATE_CHANGED,    /* a table file was applied in another form than this program has */
    FP_MIGRATE_RIGHTS,     /* the connecting role may not do what is needed */
    FP_MIGRATE_FAILED,     /* a statement failed; nothing but roles has changed */
};

/* Gets one line of text (no newline) for each thing done and for what went wrong. */
typedef void fp_migrate_report_fn(void *context, const char *line);

/*
 * Creates missing roles, applies the table files that the database lacks, then the files of
 * functions and views that it has in another form, and drops those that this version no longer has.
 * All but the roles happens in one transaction. Safe to run twice and by two at once. The role of
 * the connection string must be a superuser, or have CREATEROLE and own the database (or be a
 * member of fleetprof_owner when the roles exist).
 */
enum fp_migrate_result fp_migrate(const char *conninfo, fp_migrate_report_fn *report,
                                  void *context) FP_MUST_CHECK;

#endif
