/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problem: why a request is refused, for the code that writes the reply.
 */
#ifndef FP_BASE_PROBLEM_H
#define FP_BASE_PROBLEM_H

#include "collector/base/base.h"

/*
 * Every reason for refusing a request: id, HTTP status, name (a metric's label, the log's
 * `reason=`), and what is wrong, in Markdown with links as from docs/. tools/reference.mjs writes
 * the list into docs/metrics.md.
 */
#define FP_REFUSALS(X)                                                                             \
    X(MALFORMED, 400, "malformed",                                                                 \
      "Not HTTP, headers too large, or [malformed](http.md#malformed-requests); sometimes "        \
      "another status. Site `\"\"`")                                                               \
    X(PATH, 404, "path", "No such address, site `\"\"`; often a proxy that cuts the path")         \
    X(METHOD, 405, "method", "Not POST")                                                           \
    X(LENGTH, 411, "length", "Neither `Content-Length` nor chunks")                                \
    X(HEADER, 400, "header",                                                                       \
      "`Idempotency-Key` is not a UUID, or a form has no valid boundary; also `?dry_run` with a "  \
      "value")                                                                                     \
    X(UNKNOWN_KEY, 403, "unknown_key", "No site has this key; site `\"\"`")                        \
    X(ORIGIN, 403, "origin",                                                                       \
      "The page's origin is not on the site's list: another host, port, or http instead of https") \
    X(GPC, 403, "gpc", "`Sec-GPC: 1`, under `privacy.honour_gpc`")                                 \
    X(TOKEN_MISSING, 403, "token_missing",                                                         \
      "The site demands a page token and there is none: the web server has no key, or a proxy "    \
      "drops `Server-Timing`")                                                                     \
    X(TOKEN_FORGED, 403, "token_forged",                                                           \
      "No server of the site signed the token: another key, another site's name, or changed")      \
    X(TOKEN_EXPIRED, 403, "token_expired", "Older than `token_max_age`: a page from a cache")      \
    X(TOKEN_EARLY, 403, "token_early", "From the future: clocks differ")                           \
    X(TOKEN_USED_UP, 403, "token_used_up", "The page load has had its `token_uploads`")            \
    X(TOKEN_FORGOTTEN, 403, "token_forgotten", "Older than the table of uses reaches")             \
    X(TOKEN_UNCHECKED, 503, "token_unchecked", "libcrypto failed")                                 \
    X(BUDGET_REQUESTS, 429, "budget_requests", "`budgets.requests_per_second` is spent")           \
    X(BUDGET_BYTES, 429, "budget_bytes", "`budgets.bytes_per_second` is spent")                    \
    X(BUDGET_DECODING, 429, "budget_decoding",                                                     \
      "More of the site's uploads wait to be decoded than [its share](configuration.md#turns), "   \
      "or this one waited for 30 s")                                                               \
    X(TYPE, 415, "type", "`Content-Type` is not supported")                                        \
    X(ENCODING, 415, "encoding", "`Content-Encoding` is not supported")                            \
    X(FORMAT, 415, "format",                                                                       \
      "`?format=` is not known, or [the content's format](http.md#statuses) is not read")          \
    X(SIZE, 413, "size", "Larger than `limits.max_body`")                                          \
    X(INFLATED_SIZE, 413, "inflated_size", "Larger than `limits.max_inflated` when inflated")      \
    X(LIMIT, 413, "limit", "Over another limit, such as `limits.samples`")                         \
    X(NOT_JSON, 400, "not_json", "Not JSON, empty, or cut off")                                    \
    X(COMPRESSION, 400, "compression", "Compressed data is damaged or cut off")                    \
    X(COMPRESSED_TWICE, 400, "compressed_twice", "Still compressed after it was inflated once")    \
    X(FORM, 400, "form", "The multipart body is cut off")                                          \
    X(INVALID, 422, "invalid", "JSON, but not a valid upload")                                     \
    X(VERSION, 422, "version",                                                                     \
      "An envelope of another version: the agent is newer than the collector")                     \
    X(SESSION, 400, "session",                                                                     \
      "A long session that does not run, runs already, or has a wrong part number")                \
    X(SESSIONS, 429, "sessions", "The site runs as many long sessions as it may")                  \
    X(SESSIONS_FULL, 503, "sessions_full", "All sites together do")                                \
    X(SPOOL_FULL, 503, "spool_full",                                                               \
      "The spool is at `spool.max_bytes`, the site at half of it, or the disk is full or too "     \
      "slow")                                                                                      \
    X(SPOOL_FAILED, 503, "spool_failed", "The spool cannot be written")                            \
    X(STOPPING, 503, "stopping", "The collector is stopping")                                      \
    X(MEMORY, 503, "memory", "No memory just now")                                                 \
    X(UNREADABLE, 500, "unreadable",                                                               \
      "The collector cannot read back what it made of the upload: a defect of fleetprof")

enum fp_refusal {
#define FP_REFUSAL_ID(id, status, name, text) FP_REFUSAL_##id,
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
