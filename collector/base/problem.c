/* Problem: filled in one place, so that none carries what an earlier one left. */
#include "collector/base/problem.h"

#include <stdarg.h>

void fp_problem_set(struct fp_problem *problem, unsigned status, const char *detail, ...)
{
    *problem = (struct fp_problem){.status = status, .offset = -1};
    va_list args;
    va_start(args, detail);
    vsnprintf(problem->detail, sizeof(problem->detail), detail, args);
    va_end(args);
}

void fp_problem_defer(struct fp_problem *problem, unsigned retry_s, const char *detail)
{
    fp_problem_set(problem, 503, "%s", detail);
    problem->retry_s = retry_s;
}
