/*
 * Problem: why a request is refused, for the code that writes the reply.
 */
#ifndef FP_BASE_PROBLEM_H
#define FP_BASE_PROBLEM_H

#include "collector/base/base.h"

/*
 * Every reason for refusing a request: id, HTTP status, name (a metric's label, the log's
 * `reason=`). docs/metrics.md has an entry for each.
 */
#define FP_REFUSALS(X)                                                                             \
    X(MALFORMED, 400, "malformed")                                                                 \
    X(PATH, 404, "path")                                                                           \
    X(METHOD, 405, "method")                                                                       \
    X(LENGTH, 411, "length")                                                                       \
    X(HEADER, 400, "header")                                                                       \
    X(UNKNOWN_KEY, 403, "unknown_key")                                                             \
    X(ORIGIN, 403, "origin")                                                                       \
    X(GPC, 403, "gpc")                                                                             \
    X(TOKEN_MISSING, 403, "token_missing")                                                         \
    X(TOKEN_FORGED, 403, "token_forged")                                                           \
    X(TOKEN_EXPIRED, 403, "token_expired")                                                         \
    X(TOKEN_EARLY, 403, "token_early")                                                             \
    X(TOKEN_USED_UP, 403, "token_used_up")                                                         \
    X(TOKEN_FORGOTTEN, 403, "token_forgotten")                                                     \
    X(TOKEN_UNCHECKED, 503, "token_unchecked")                                                     \
    X(BUDGET_REQUESTS, 429, "budget_requests")                                                     \
    X(BUDGET_BYTES, 429, "budget_bytes")                                                           \
    X(TYPE, 415, "type")                                                                           \
    X(ENCODING, 415, "encoding")                                                                   \
    X(FORMAT, 415, "format")                                                                       \
    X(SIZE, 413, "size")                                                                           \
    X(INFLATED_SIZE, 413, "inflated_size")                                                         \
    X(LIMIT, 413, "limit")                                                                         \
    X(NOT_JSON, 400, "not_json")                                                                   \
    X(COMPRESSION, 400, "compression")                                                             \
    X(COMPRESSED_TWICE, 400, "compressed_twice")                                                   \
    X(FORM, 400, "form")                                                                           \
    X(INVALID, 422, "invalid")                                                                     \
    X(VERSION, 422, "version")                                                                     \
    X(SESSION, 400, "session")                                                                     \
    X(SESSIONS, 429, "sessions")                                                                   \
    X(SESSIONS_FULL, 503, "sessions_full")                                                         \
    X(SPOOL_FULL, 503, "spool_full")                                                               \
    X(SPOOL_FAILED, 503, "spool_failed")                                                           \
    X(STOPPING, 503, "stopping")                                                                   \
    X(MEMORY, 503, "memory")                                                                       \
    X(UNREADABLE, 500, "unreadable")

enum fp_refusal {
#define FP_REFUSAL_ID(id, status, name) FP_REFUSAL_##id,
    FP_REFUSALS(FP_REFUSAL_ID)
#undef FP_REFUSAL_ID
        FP_REFUSAL_COUNT
};

/* Returns a reason's name. */
const char *fp_refusal_name(enum fp_refusal reason);

#define FP_EVIDENCE_LEN 64

/* Why a request is not answered with 204. */
struct fp_problem {
    enum fp_refusal reason;             /* set if this process refuses the request */
    unsigned status;                    /* HTTP */
    unsigned retry_s;                   /* `Retry-After`, 0: none */
    bool has_pointer;                   /* pointer applies (it may be "", the whole document) */
    int64_t offset;                     /* in the inflated body (of the part); -1: does not apply */
    char detail[320];                   /* a sentence; not escaped */
    char pointer[256];                  /* RFC 6901; not escaped */
    char evidence[FP_EVIDENCE_LEN + 1]; /* excerpt of the request, for the log only; not escaped */
};

/* Fills a problem that another process reported; detail is a printf format. */
void fp_problem_set(struct fp_problem *problem, unsigned status, const char *detail, ...)
    FP_PRINTF(3, 4);

/* Fills a problem without a place, with the status of its reason; detail is a printf format. */
void fp_problem_refuse(struct fp_problem *problem, enum fp_refusal reason, const char *detail, ...)
    FP_PRINTF(3, 4);

/* Records at most `len` bytes of the request; dots replace the rest. */
void fp_problem_show(struct fp_problem *problem, struct fp_str text, size_t len);

/* Seconds for `Retry-After`. */
enum {
    FP_RETRY_BUSY_S = 5,  /* until other requests free their memory */
    FP_RETRY_FULL_S = 30, /* a full spool drains at the database's pace */
};

/* Fills a temporary problem, with a reason of status 503: the client may send the same request
 * again. */
void fp_problem_defer(struct fp_problem *problem, enum fp_refusal reason, unsigned retry_s,
                      const char *detail);

#endif
