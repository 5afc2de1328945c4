/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long sessions: parses their queries and starts, continues or stops them.
 */
#include "collector/http/long_session.h"

#include "collector/base/clock.h"
#include "collector/rollup/ids.h"

enum { RETRY_S = 60 };

/* A number in the query, and its bounds. */
struct query_number {
    const char *name;
    int64_t max;
    int64_t missing; /* used if absent; below 0: it is required */
};

static const struct query_number part_number = {"part", INT32_MAX, -1};
static const struct query_number window_number = {"window", UINT32_MAX, 0}; /* like Opera's */

/* Parses a whole number from 0 to the maximum. */
static bool read_number(const struct fp_long_session *session, const struct query_number *wanted,
                        int64_t *number)
{
    const char *text =
        MHD_lookup_connection_value(session->connection, MHD_GET_ARGUMENT_KIND, wanted->name);
    *number = wanted->missing;
    if (text == NULL)
        return wanted->missing >= 0;
    *number = 0;
    for (const char *digit = text; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        *number = *number * 10 + (*digit - '0');
        if (*number > wanted->max)
            return false;
    }
    return text[0] != '\0';
}

static uint64_t site_id(const struct fp_long_session *session)
{
    return fp_site_id(session->site->name);
}

static bool set_problem(enum fp_capture_result result, struct fp_problem *problem)
{
    switch (result) {
    case FP_CAPTURE_OK:
        return true;
    case FP_CAPTURE_RUNS:
        fp_problem_refuse(problem, FP_REFUSAL_SESSION,
                          "a session is already running for this window; stop it first");
        return false;
    case FP_CAPTURE_UNKNOWN:
        fp_problem_refuse(problem, FP_REFUSAL_SESSION,
                          "no such session is running here: it was stopped, had no part for an "
                          "hour, or the collector was restarted; start a new one");
        return false;
    case FP_CAPTURE_MANY:
        fp_problem_refuse(problem, FP_REFUSAL_SESSIONS,
                          "at most %d sessions of a site can run at once", FP_CAPTURES_SITE_MAX);
        break;
    case FP_CAPTURE_FULL:
        fp_problem_refuse(problem, FP_REFUSAL_SESSIONS_FULL, "at most %d sessions can run at once",
                          FP_CAPTURES_MAX);
        break;
    }
    problem->retry_s = RETRY_S;
    return false;
}

bool fp_long_session_admit_part(const struct fp_long_session *session, uint32_t *part,
                                struct fp_problem *problem)
{
    int64_t number;
    if (!read_number(session, &part_number, &number)) {
        fp_problem_refuse(problem, FP_REFUSAL_SESSION,
                          "the number of the part is missing or invalid: ?part= must be a whole "
                          "number from 0 to %d",
                          INT32_MAX);
        return false;
    }
    *part = (uint32_t)number;
    return set_problem(fp_captures_touch(session->captures, site_id(session),
                                         &session->target->session, fp_clock_monotonic_us()),
                       problem);
}

bool fp_long_session_turn(const struct fp_long_session *session, struct fp_uuid *id,
                          struct fp_problem *problem)
{
    int64_t now_us = fp_clock_monotonic_us();
    int64_t window;
    if (session->target->kind == FP_HTTP_STOP)
        return set_problem(fp_captures_stop(session->captures, site_id(session),
                                            &session->target->session, now_us),
                           problem);
    if (!read_number(session, &window_number, &window)) {
        fp_problem_refuse(problem, FP_REFUSAL_SESSION, "window must be a whole number from 0 to %u",
                          UINT32_MAX);
        return false;
    }
    return set_problem(
        fp_captures_start(session->captures, site_id(session), (uint32_t)window, now_us, id),
        problem);
}

void fp_long_session_abandon(const struct fp_long_session *session, const struct fp_uuid *id)
{
    /* Nobody else knows its id; it may have ended with all others by now. */
    (void)!fp_captures_stop(session->captures, site_id(session), id, fp_clock_monotonic_us());
}
