/* SPDX-License-Identifier: Apache-2.0 */
/* Problem: filled in one place, so that none keeps values of an earlier one. */
#include "collector/base/problem.h"

#include <stdarg.h>

static const struct {
    unsigned status;
    const char *name;
} refusals[FP_REFUSAL_COUNT] = {
#define REFUSAL(id, status, name, text) {status, name},
    FP_REFUSALS(REFUSAL)
#undef REFUSAL
};

const char *fp_refusal_name(enum fp_refusal reason)
{
    return refusals[reason].name;
}

void fp_problem_set(struct fp_problem *problem, unsigned status, const char *detail, ...)
{
    *problem = (struct fp_problem){.status = status, .offset = -1};
    va_list args;
    va_start(args, detail);
    vsnprintf(problem->detail, sizeof(problem->detail), detail, args);
    va_end(args);
}

void fp_problem_refuse(struct fp_problem *problem, enum fp_refusal reason, const char *detail, ...)
{
    *problem =
        (struct fp_problem){.reason = reason, .status = refusals[reason].status, .offset = -1};
    va_list args;
    va_start(args, detail);
    vsnprintf(problem->detail, sizeof(problem->detail), detail, args);
    va_end(args);
}

void fp_problem_show(struct fp_problem *problem, struct fp_str text, size_t len)
{
    static const char dots[] = "...";
    size_t most = sizeof(problem->evidence) - sizeof(dots);
    len = len < most ? len : most;
    bool is_cut = text.len > len;
    snprintf(problem->evidence, sizeof(problem->evidence), "%.*s%s", (int)(is_cut ? len : text.len),
             text.ptr, is_cut ? dots : "");
}

void fp_problem_defer(struct fp_problem *problem, enum fp_refusal reason, unsigned retry_s,
                      const char *detail)
{
    fp_problem_refuse(problem, reason, "%s", detail);
    problem->retry_s = retry_s;
}
