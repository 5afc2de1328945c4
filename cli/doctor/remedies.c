/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies: three tables, in which the first row that fits holds.
 */
#include "cli/doctor/remedies.h"

#include <string.h>

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The collector's reasons, and the findings that they are. */
static const struct {
    const char *reason; /* or the start of some */
    enum fp_finding_id id;
} reasons[] = {
    {"unknown_key", FP_FINDING_KEY_UNKNOWN},
    {"origin", FP_FINDING_ORIGIN_REFUSED},
    {"token_missing", FP_FINDING_TOKEN_MISSING},
    {"token_unchecked", FP_FINDING_COLLECTOR_BUSY},
    {"token_", FP_FINDING_TOKEN_REFUSED},
    {"budget_", FP_FINDING_BUDGET_SPENT},
    {"spool_", FP_FINDING_COLLECTOR_BUSY},
    {"stopping", FP_FINDING_COLLECTOR_BUSY},
    {"memory", FP_FINDING_COLLECTOR_BUSY},
    {"path", FP_FINDING_ENDPOINT_PATH},
    {"size", FP_FINDING_BODY_LIMIT},
    {"inflated_size", FP_FINDING_BODY_LIMIT},
};

enum fp_finding_id fp_doctor_finding_of(const char *reason)
{
    for (size_t i = 0; i < FP_COUNT(reasons); i++)
        if (begins(reason, reasons[i].reason))
            return reasons[i].id;
    return FP_FINDING_UPLOAD_REFUSED;
}

/* By the start of a reason. The last row fits all. */
static const struct {
    const char *reason;
    const char *remedy;
} remedies_of_reasons[] = {
    {"unknown_key", "it runs with another configuration: systemctl reload fleetprofd"},
    {"origin", "it runs with another configuration: systemctl reload fleetprofd"},
    {"format", "it runs with another configuration: systemctl reload fleetprofd"},
    {"token_", "it has other token keys, or another clock: systemctl reload fleetprofd"},
    {"spool_", "its spool or disk is full"},
    {"", "docs/metrics.md#reasons-of-refusals"},
};

const char *fp_doctor_remedy_of_reason(const char *reason)
{
    size_t i = 0;
    while (!begins(reason, remedies_of_reasons[i].reason))
        i++;
    return remedies_of_reasons[i].remedy;
}

/* By the start of an SQLSTATE. The last row fits all. */
static const struct {
    const char *sqlstate;
    const char *remedy;
} remedies_of_sqlstates[] = {
    {"42501", "a right was taken away: fleetprof migrate --repair gives it back"},
    {"42", "what it needs is not there as migrate made it: fleetprof migrate --repair"},
    {"3F", "what it needs is not there as migrate made it: fleetprof migrate --repair"},
    {"53", "PostgreSQL has run out of memory, disk or connections; its log says more"},
    {"57P", "PostgreSQL is stopping or starting"},
    {"55P03", "something holds a lock: look at pg_stat_activity"},
    {"", "PostgreSQL's log says more; fleetprof migrate --repair makes functions and views again"},
};

const char *fp_doctor_remedy_of_sqlstate(const char *sqlstate)
{
    size_t i = 0;
    while (!begins(sqlstate, remedies_of_sqlstates[i].sqlstate))
        i++;
    return remedies_of_sqlstates[i].remedy;
}
