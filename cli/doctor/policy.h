/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy: what the fields of one document say about profiling: Document-Policy to the browser, and
 * Server-Timing to the agent.
 *
 * Pure; any thread.
 */
#ifndef FP_CLI_DOCTOR_POLICY_H
#define FP_CLI_DOCTOR_POLICY_H

#include "collector/base/base.h"

enum fp_policy_state {
    FP_POLICY_ABSENT, /* no field, or none of its members is about profiling */
    FP_POLICY_YES,
    FP_POLICY_NO,
    FP_POLICY_BROKEN,    /* not a dictionary: browsers drop all of it */
    FP_POLICY_PARAMETER, /* js-profiling is a parameter of another member */
    FP_POLICY_TYPE,      /* js-profiling is not a Boolean: browsers drop the member */
    FP_POLICY_MODE_ONLY, /* the mode without the switch: off in today's browsers */
};

struct fp_policy {
    enum fp_policy_state state;
    size_t at; /* FP_POLICY_BROKEN: offset of the first byte that is wrong */
};

/* Judges the value of all lines, joined by ", "; NULL: no line. */
struct fp_policy fp_policy_judge(const char *value);

enum fp_decision_state {
    FP_DECISION_ABSENT,
    FP_DECISION_NO,
    FP_DECISION_YES,    /* unsigned */
    FP_DECISION_SIGNED, /* yes, with a page token */
    FP_DECISION_UNKNOWN,
};

/* The decision in Server-Timing. Texts point into the judged value. */
struct fp_decision {
    enum fp_decision_state state;
    struct fp_str text;  /* the whole description */
    struct fp_str site;  /* of a signed decision */
    struct fp_str nonce; /* of a yes, signed or not */
    uint32_t ppm;        /* of a signed decision */
    int64_t time_s;      /* of a yes: when the page was sent, by the web server's clock */
};

/* Finds and judges our metric in the value of all lines, joined by ", "; NULL: no line. */
struct fp_decision fp_decision_judge(const char *value);

/* True for a yes of either form. */
bool fp_decision_is_yes(const struct fp_decision *decision);

#endif
