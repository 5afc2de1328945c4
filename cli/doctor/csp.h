/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSP: whether a Content-Security-Policy lets the agent load and upload (CSP Level 3).
 *
 * Pure; one thread.
 */
#ifndef FP_CLI_DOCTOR_CSP_H
#define FP_CLI_DOCTOR_CSP_H

#include "collector/base/base.h"

/* A page's load of a script or an upload, which a policy allows or forbids. */
struct fp_csp_question {
    const char *page_url;
    const char *url;       /* that of the script or of the upload */
    const char *nonce;     /* of the script's tag; NULL: none */
    const char *integrity; /* of the script's tag; NULL: none */
};

/*
 * True if one policy (the value of one header line or meta element, whose commas separate policies)
 * lets the page run the external script. Otherwise *directive is the directive that forbids it.
 */
bool fp_csp_allows_script(const char *policy, const struct fp_csp_question *question,
                          struct fp_str *directive) FP_MUST_CHECK;

/* The same for a fetch or beacon. */
bool fp_csp_allows_connect(const char *policy, const struct fp_csp_question *question,
                           struct fp_str *directive) FP_MUST_CHECK;

/* True if the policy has `sandbox` without the flag, such as "allow-scripts". */
bool fp_csp_sandboxes(const char *policy, const char *flag) FP_MUST_CHECK;

#endif
