/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies: what the collector's and the server's words mean to doctor. Private to cli/doctor. Any
 * thread.
 */
#ifndef FP_CLI_DOCTOR_REMEDIES_H
#define FP_CLI_DOCTOR_REMEDIES_H

#include "cli/doctor/finding.h"

/* Returns the finding that a collector's reason for a refusal is. */
enum fp_finding_id fp_doctor_finding_of(const char *reason);

/* Returns what helps if the collector on this machine refuses an upload for this reason; static. */
const char *fp_doctor_remedy_of_reason(const char *reason);

/* Returns what helps if a question fails with this SQLSTATE; static. */
const char *fp_doctor_remedy_of_sqlstate(const char *sqlstate);

#endif
