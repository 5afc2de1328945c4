/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding texts: the tables of words. Each is indexed from its first finding on, and has the next
 * ones of enum fp_finding_id.
 */
#ifndef FP_CLI_DOCTOR_FINDING_TEXTS_H
#define FP_CLI_DOCTOR_FINDING_TEXTS_H

#include "cli/doctor/finding.h"

#define FP_TEXTS_ONE(...) +1 // NOLINT(bugprone-macro-parentheses): one of several summands

enum {
    FP_TEXTS_OF_PAGES = FP_FINDINGS_OF_POLICIES(FP_TEXTS_ONE) FP_FINDINGS_OF_CACHES(FP_TEXTS_ONE),
    FP_TEXTS_OF_SCRIPTS =
        FP_FINDINGS_OF_THE_AGENT(FP_TEXTS_ONE) FP_FINDINGS_OF_SCRIPTS(FP_TEXTS_ONE),
    FP_TEXTS_OF_UPLOADS = FP_FINDINGS_OF_UPLOADS(FP_TEXTS_ONE),
    FP_TEXTS_OF_MACHINES =
        FP_FINDINGS_OF_THE_MACHINE(FP_TEXTS_ONE) FP_FINDINGS_OF_COLLECTORS(FP_TEXTS_ONE),
};

extern const struct fp_finding_text fp_texts_of_pages[FP_TEXTS_OF_PAGES];
extern const struct fp_finding_text fp_texts_of_scripts[FP_TEXTS_OF_SCRIPTS];
extern const struct fp_finding_text fp_texts_of_uploads[FP_TEXTS_OF_UPLOADS];
extern const struct fp_finding_text fp_texts_of_machines[FP_TEXTS_OF_MACHINES];

#endif
