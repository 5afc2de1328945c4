/*
 * Migrate: brings a database to the schema this program was built with.
 */
#ifndef FP_STORE_MIGRATE_H
#define FP_STORE_MIGRATE_H

#include "collector/base/base.h"

enum fp_migrate_result {
    FP_MIGRATE_OK = 0,  /* the database is up to date now */
    FP_MIGRATE_DOWN,    /* no connection */
    FP_MIGRATE_NEWER,   /* the database has migrations that this program does not know */
    FP_MIGRATE_CHANGED, /* a migration was applied in another form than this program has */
    FP_MIGRATE_RIGHTS,  /* the connecting role may not do what is needed */
    FP_MIGRATE_FAILED,  /* a statement failed; its transaction is rolled back */
};

/* Gets one line of text (no newline) for each thing done and for what went wrong. */
typedef void fp_migrate_report_fn(void *context, const char *line);

/*
 * Makes the roles where they are absent and applies the migrations that the database lacks, each in
 * a transaction of its own. Safe to run twice and by two at once. The role of the connection string
 * must be a superuser, or have CREATEROLE and own the database (or be a member of fleetprof_owner
 * when the roles exist).
 */
enum fp_migrate_result fp_migrate(const char *conninfo, fp_migrate_report_fn *report,
                                  void *context) FP_MUST_CHECK;

#endif
