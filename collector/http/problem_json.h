/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problem: a refusal as application/problem+json (RFC 9457).
 */
#ifndef FP_HTTP_PROBLEM_JSON_H
#define FP_HTTP_PROBLEM_JSON_H

#include "collector/ingest/ingest.h"

/*
 * Returns the problem as JSON: type, title, status, detail and, where they apply, pointer and
 * offset. Escapes everything. The text is malloc'd and the caller frees it; NULL when out of
 * memory.
 */
char *fp_problem_json(const struct fp_problem *problem, size_t *len) FP_MUST_CHECK;

#endif
