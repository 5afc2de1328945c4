/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status: what collectors and their database say of themselves. Private to cli/doctor.
 *
 * status.c reads options and asks, status_database.c asks the database, status_page.c reads what
 * collectors answer, status_judge.c finds what is wrong, status_view.c prints. One thread.
 */
#ifndef FP_CLI_DOCTOR_STATUS_H
#define FP_CLI_DOCTOR_STATUS_H

#include "cli/doctor/finding.h"
#include "cli/doctor/scrape.h"
#include "cli/kit/query.h"

enum { FP_STATUS_COLLECTORS_MAX = 100 };

struct fp_status_collector {
    char *address; /* as given or configured */
    char *url;     /* of its metrics */
    char *unix_socket;
    int64_t late_us;          /* the oldest upload may wait so long */
    struct fp_scrape earlier; /* empty if there is none */
    struct fp_scrape latest;  /* empty if the collector does not answer */
    bool answers;
    char *error;     /* it does not answer, or not as a collector; NULL: it does */
    char *not_ready; /* what /readyz says; NULL: it is ready, or not asked */
    char *database;  /* what /readyz says of the database; NULL: nothing */
};

/* Columns of the database's answer. */
enum fp_status_column {
    FP_STATUS_SERVER_VERSION,
    FP_STATUS_SCHEMA_VERSION,
    FP_STATUS_BYTES,
    FP_STATUS_PARTITIONS,
    FP_STATUS_FIRST_DAY,
    FP_STATUS_LAST_DAY,
    FP_STATUS_RECENT_UPLOADS, /* counted in the last five minutes */
    FP_STATUS_COUNTED_S,      /* seconds since the latest one of a day was counted; null: none */
    FP_STATUS_REPLICA_S,      /* how far a replica is behind; null: it is the primary */
    FP_STATUS_TO_SEAL,        /* entries */
    FP_STATUS_MISSING,        /* tables without a partition for now; null: none */
    FP_STATUS_NATIVE,         /* version of the extension fleetprof_native; null: none */
    FP_STATUS_NATIVE_UNUSED,  /* why it is not used; null: it is, or none */
    FP_STATUS_REFUSED,        /* why retention destroys nothing; null: it works */
    FP_STATUS_NOW,            /* by the database's clock */
};

struct fp_config;

struct fp_status_database {
    char *conninfo;       /* NULL: no database is named */
    bool may_change_role; /* it is the collector's: read as fleetprof_reader first */
    char *place;
    char *psql;       /* a command that connects there, without a role */
    PGresult *answer; /* NULL if there is none */
    char *error;      /* why */
    enum fp_finding_id trouble;
    struct fp_findings *trial;      /* also of questions to ask; NULL: ask none */
    const struct fp_config *config; /* of the sites; NULL: unknown */
};

struct fp_status {
    struct fp_status_collector *collectors; /* owned */
    size_t collector_count;
    size_t collector_capacity;
    struct fp_status_database database;
    struct fp_config *config; /* owned; of the only collector, NULL: unknown */
    struct fp_findings trial; /* of the latest questions and uploads */
    int64_t tried_us;         /* when that was, by the monotonic clock; 0: never */
    struct fp_findings findings;
};

/* Asks the database, in `seconds` at most, and questions in as many. Replaces the answer. */
void fp_status_ask_database(struct fp_status_database *database, int seconds);

/* Connects as the reader if it may, or else as the connection string says; names the place. NULL:
 * the error is kept. The caller calls PQfinish. */
PGconn *fp_status_connect(struct fp_status_database *database, int64_t end_us);

/* Releases what was learned; the connection string stays. */
void fp_status_forget_database(struct fp_status_database *database);

/* Finds what is wrong. Replaces the findings. */
void fp_status_judge(struct fp_status *status);

/* Prints everything to standard output. */
void fp_status_print(struct fp_status *status, bool json);

/* Returns the state of the database that a collector names, such as "reachable"; "" if none. */
void fp_status_database_state(const struct fp_scrape *scrape, char *state, size_t size);

/* Returns a number per second since the earlier page; NaN: unknown. */
double fp_status_rate(const struct fp_status_collector *collector, const char *name);

#endif
