/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trial: real questions to the database and real uploads to a collector, before doctor and status
 * say that nothing is wrong. Private to cli/doctor.
 *
 * Nothing is stored: the questions run in a transaction that is rolled back, the uploads are dry
 * runs. One thread.
 */
#ifndef FP_CLI_DOCTOR_TRIAL_H
#define FP_CLI_DOCTOR_TRIAL_H

#include "cli/doctor/finding.h"
#include "collector/config/config.h"

#include <libpq-fe.h>

/*
 * Asks what the report and the command line ask, about the last hour, as fleetprof_reader: the
 * session's role, or one that it may set. Looks for functions and views that are missing, and for
 * time zones of sites that the server does not know: those in the database, and those of the
 * configuration, which may be NULL. Gives up at a time of the monotonic clock; the connection may
 * be unusable then. where: the database.
 */
void fp_trial_ask(PGconn *connection, const char *where, const struct fp_config *config,
                  int64_t end_us, struct fp_findings *findings);

/* Reports what profiling costs the visitors of each site of the configuration, if that can be said:
 * asks as fleetprof_reader about seven days. Leaves out the sites for which there is no time. */
void fp_trial_ask_cost(PGconn *connection, const struct fp_config *config, int64_t end_us,
                       struct fp_findings *findings);

/* The known state of the collector that listens at the configured address. */
enum fp_trial_collector {
    FP_TRIAL_UNKNOWN,
    FP_TRIAL_STOPPED,   /* its admin listener does not answer; no answer is not news */
    FP_TRIAL_NOT_READY, /* it says why; a 503 is not news */
};

/* Uploads to the configured listener once for each site, as a page of the site would. Gives up at
 * a time of the monotonic clock. */
void fp_trial_upload(const struct fp_config *config, enum fp_trial_collector state, int64_t end_us,
                     struct fp_findings *findings);

#endif
