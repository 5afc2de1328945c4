/*
 * Problem: a refusal as application/problem+json (RFC 9457).
 */
#ifndef FP_HTTP_PROBLEM_JSON_H
#define FP_HTTP_PROBLEM_JSON_H

#include "collector/ingest/ingest.h"

/* The reason phrase of a status that the collector sends; "Error" for any other. */
const char *fp_http_title(unsigned status);

/*
 * The problem as JSON: type, title, status, detail and, where they apply, pointer and offset.
 * Everything is escaped. Returns malloc'd text that the caller frees, NULL when out of memory.
 */
char *fp_problem_json(const struct fp_problem *problem, size_t *len) FP_MUST_CHECK;

#endif
