/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding: what doctor and status can find wrong, and a list of what they found.
 *
 * tools/reference.mjs writes docs/troubleshooting.md from it: a section for each, under its id. One
 * thread.
 */
#ifndef FP_CLI_DOCTOR_FINDING_H
#define FP_CLI_DOCTOR_FINDING_H

#include "collector/base/base.h"

/* The findings, by the sections of the manual: name, id, severity. A note is worth knowing and does
 * not change the exit code. */
#define FP_FINDINGS_OF_POLICIES(X)                                                                 \
    X(PAGE_STATUS, "page-status", WRONG)                                                           \
    X(PAGE_NOT_HTML, "page-not-html", WRONG)                                                       \
    X(PAGE_REDIRECTS, "page-redirects", WRONG)                                                     \
    X(PAGE_ELSEWHERE, "page-elsewhere", WRONG)                                                     \
    X(PAGE_UNSTEADY, "page-unsteady", WRONG)                                                       \
    X(POLICY_MISSING, "policy-missing", WRONG)                                                     \
    X(POLICY_BROKEN, "policy-broken", WRONG)                                                       \
    X(POLICY_PARAMETER, "policy-parameter", WRONG)                                                 \
    X(POLICY_TYPE, "policy-type", WRONG)                                                           \
    X(POLICY_MODE_ONLY, "policy-mode-only", WRONG)                                                 \
    X(POLICY_DROPPED, "policy-dropped", WRONG)                                                     \
    X(POLICY_OVERRIDDEN, "policy-overridden", WRONG)                                               \
    X(POLICY_CONFLICT, "policy-conflict", WRONG)                                                   \
    X(POLICY_IN_META, "policy-in-meta", WRONG)                                                     \
    X(POLICY_REPORT_ONLY, "policy-report-only", WRONG)                                             \
    X(POLICY_OMITTED, "policy-omitted", WRONG)                                                     \
    X(DECISION_MISSING, "decision-missing", WRONG)                                                 \
    X(DECISION_SOMETIMES, "decision-sometimes", WRONG)                                             \
    X(DECISION_UNKNOWN, "decision-unknown", WRONG)                                                 \
    X(CLOCK_SERVER, "clock-server", WRONG)

#define FP_FINDINGS_OF_CACHES(X)                                                                   \
    X(RATE_ZERO, "rate-zero", NOTE)                                                                \
    X(RATE_DIFFERS, "rate-differs", WRONG)                                                         \
    X(PAGE_CACHEABLE, "page-cacheable", WRONG)                                                     \
    X(PAGE_FROZEN, "page-frozen", WRONG)                                                           \
    X(PAGE_NO_STORE, "page-no-store", NOTE)                                                        \
    X(REVALIDATION_KEEPS_YES, "revalidation-keeps-yes", WRONG)                                     \
    X(DIRECT_DIFFERS, "direct-differs", WRONG)

#define FP_FINDINGS_OF_THE_AGENT(X)                                                                \
    X(AGENT_MISSING, "agent-missing", WRONG)                                                       \
    X(AGENT_TWICE, "agent-twice", WRONG)                                                           \
    X(AGENT_INERT, "agent-inert", WRONG)                                                           \
    X(AGENT_RENAMED, "agent-renamed", NOTE)                                                        \
    X(AGENT_LATE, "agent-late", WRONG)                                                             \
    X(AGENT_DEFERRED, "agent-deferred", WRONG)                                                     \
    X(AGENT_MODULE, "agent-module", WRONG)                                                         \
    X(AGENT_OPTION, "agent-option", WRONG)                                                         \
    X(AGENT_NO_ENDPOINT, "agent-no-endpoint", WRONG)                                               \
    X(AGENT_NOT_SERVED, "agent-not-served", WRONG)                                                 \
    X(AGENT_INTEGRITY, "agent-integrity", WRONG)                                                   \
    X(CSP_SCRIPT, "csp-script", WRONG)                                                             \
    X(CSP_CONNECT, "csp-connect", WRONG)                                                           \
    X(CSP_SANDBOX, "csp-sandbox", WRONG)

#define FP_FINDINGS_OF_SCRIPTS(X)                                                                  \
    X(SCRIPT_BLIND, "script-blind", WRONG)                                                         \
    X(SCRIPT_BLOCKED, "script-blocked", WRONG)                                                     \
    X(SCRIPT_MIXED, "script-mixed", WRONG)                                                         \
    X(SCRIPT_UNREACHABLE, "script-unreachable", WRONG)                                             \
    X(TIMING_HIDDEN, "timing-hidden", NOTE)                                                        \
    X(SOURCE_MAP_MISSING, "source-map-missing", NOTE)                                              \
    X(SOURCE_MAP_UNREACHABLE, "source-map-unreachable", NOTE)                                      \
    X(WORKER, "worker", NOTE)

#define FP_FINDINGS_OF_UPLOADS(X)                                                                  \
    X(ENDPOINT_MIXED, "endpoint-mixed", WRONG)                                                     \
    X(ENDPOINT_ELSEWHERE, "endpoint-elsewhere", NOTE)                                              \
    X(ENDPOINT_UNREACHABLE, "endpoint-unreachable", WRONG)                                         \
    X(ENDPOINT_NOT_COLLECTOR, "endpoint-not-collector", WRONG)                                     \
    X(ENDPOINT_PATH, "endpoint-path", WRONG)                                                       \
    X(ENDPOINT_CORS, "endpoint-cors", WRONG)                                                       \
    X(PREFLIGHT, "preflight", WRONG)                                                               \
    X(COLLECTOR_DOWN, "collector-down", WRONG)                                                     \
    X(COLLECTOR_BUSY, "collector-busy", WRONG)                                                     \
    X(COLLECTOR_OLD, "collector-old", WRONG)                                                       \
    X(KEY_UNKNOWN, "key-unknown", WRONG)                                                           \
    X(ORIGIN_REFUSED, "origin-refused", WRONG)                                                     \
    X(TOKEN_MISSING, "token-missing", WRONG)                                                       \
    X(TOKEN_REFUSED, "token-refused", WRONG)                                                       \
    X(TOKEN_UNSEEN, "token-unseen", NOTE)                                                          \
    X(BUDGET_SPENT, "budget-spent", NOTE)                                                          \
    X(UPLOAD_REFUSED, "upload-refused", WRONG)                                                     \
    X(BODY_LIMIT, "body-limit", WRONG)

#define FP_FINDINGS_OF_THE_MACHINE(X)                                                              \
    X(CONFIG_INVALID, "config-invalid", WRONG)                                                     \
    X(CONFIG_UNREADABLE, "config-unreadable", WRONG)                                               \
    X(DATABASE_UNREACHABLE, "database-unreachable", WRONG)                                         \
    X(DATABASE_POOLER, "database-pooler", WRONG)                                                   \
    X(DATABASE_LOGIN, "database-login", WRONG)                                                     \
    X(DATABASE_NOT_MIGRATED, "database-not-migrated", WRONG)                                       \
    X(DATABASE_OUTDATED, "database-outdated", WRONG)                                               \
    X(DATABASE_RIGHTS, "database-rights", WRONG)                                                   \
    X(DATABASE_PARTITIONS, "database-partitions", WRONG)                                           \
    X(EXTENSION_UNUSED, "extension-unused", NOTE)                                                  \
    X(CLOCK_DATABASE, "clock-database", WRONG)                                                     \
    X(RETENTION_REFUSED, "retention-refused", WRONG)                                               \
    X(SPOOL_PATH, "spool-path", WRONG)                                                             \
    X(SPOOL_SPACE, "spool-space", WRONG)                                                           \
    X(ADMIN_OFF, "admin-off", NOTE)                                                                \
    X(ADMIN_PUBLIC, "admin-public", WRONG)                                                         \
    X(COLLECTOR_STOPPED, "collector-stopped", WRONG)                                               \
    X(COLLECTOR_NOT_READY, "collector-not-ready", WRONG)                                           \
    X(COLLECTOR_DATABASE, "collector-database", WRONG)                                             \
    X(BACKLOG, "backlog", WRONG)                                                                   \
    X(PROFILING_COST, "profiling-cost", NOTE)                                                      \
    X(PROFILING_COSTLY, "profiling-costly", WRONG)

#define FP_FINDINGS_OF_COLLECTORS(X)                                                               \
    X(ADMIN_NOT_COLLECTOR, "admin-not-collector", WRONG)                                           \
    X(SPOOL_FILLING, "spool-filling", WRONG)                                                       \
    X(SPOOL_DAMAGED, "spool-damaged", NOTE)                                                        \
    X(UPLOADS_LOST, "uploads-lost", NOTE)                                                          \
    X(UPLOADS_REFUSED, "uploads-refused", WRONG)                                                   \
    X(UPLOADS_REFUSED_EARLIER, "uploads-refused-earlier", NOTE)                                    \
    X(UPLOADS_QUARANTINED, "uploads-quarantined", NOTE)                                            \
    X(SITE_SILENT, "site-silent", NOTE)                                                            \
    X(SEALING_LATE, "sealing-late", WRONG)                                                         \
    X(VERSIONS_DIFFER, "versions-differ", NOTE)                                                    \
    X(DATABASE_READING, "database-reading", WRONG)                                                 \
    X(QUESTION_FAILED, "question-failed", WRONG)                                                   \
    X(QUESTION_UNASKED, "question-unasked", NOTE)                                                  \
    X(SCHEMA_INCOMPLETE, "schema-incomplete", WRONG)                                               \
    X(TIMEZONE_UNKNOWN, "timezone-unknown", WRONG)                                                 \
    X(UPLOAD_FAILED, "upload-failed", WRONG)

#define FP_FINDINGS(X)                                                                             \
    FP_FINDINGS_OF_POLICIES(X)                                                                     \
    FP_FINDINGS_OF_CACHES(X)                                                                       \
    FP_FINDINGS_OF_THE_AGENT(X)                                                                    \
    FP_FINDINGS_OF_SCRIPTS(X)                                                                      \
    FP_FINDINGS_OF_UPLOADS(X)                                                                      \
    FP_FINDINGS_OF_THE_MACHINE(X)                                                                  \
    FP_FINDINGS_OF_COLLECTORS(X)

enum fp_finding_id {
#define FP_FINDING_ID(name, id, severity) FP_FINDING_##name,
    FP_FINDINGS(FP_FINDING_ID)
#undef FP_FINDING_ID
        FP_FINDING_COUNT
};

enum fp_severity {
    FP_SEVERITY_WRONG, /* changes the exit code */
    FP_SEVERITY_NOTE,
};

/* The words of a finding, for the terminal and the manual. NULL: nothing to add there. A path such
 * as docs/cli.md#doctor becomes a link in the manual. */
struct fp_finding_text {
    const char *what;
    const char *why;
    const char *fix;
    const char *nginx;
    const char *httpd;
    const char *express;
};

/* Returns the words of a finding. */
const struct fp_finding_text *fp_finding_text(enum fp_finding_id id);

const char *fp_finding_name(enum fp_finding_id id);

/* Finds a finding by its name. False: there is none. */
bool fp_finding_of(const char *name, enum fp_finding_id *id) FP_MUST_CHECK;

enum { FP_FINDINGS_EACH_MAX = 10 }; /* of one kind; further ones are only counted */

/* One finding: where and what was seen. Both texts are owned; where may be NULL. */
struct fp_finding {
    enum fp_finding_id id;
    char *where;
    char *seen;
};

struct fp_findings {
    struct fp_finding *items; /* owned */
    size_t count;
    size_t capacity;
    unsigned found[FP_FINDING_COUNT];
    bool is_ignored[FP_FINDING_COUNT];
};

/* Adds a finding, unless its kind is ignored, has its maximum, or has the same texts. where: a URL,
 * file or setting; NULL: none. seen: printf's format. */
void fp_finding_add(struct fp_findings *findings, enum fp_finding_id id, const char *where,
                    const char *seen, ...) FP_PRINTF(4, 5);
void fp_findings_release(struct fp_findings *findings);

/* True if one of them is wrong, and not only a note. */
bool fp_findings_are_wrong(const struct fp_findings *findings);

/* Prints all findings to standard output. */
void fp_findings_print(const struct fp_findings *findings, bool json);

/* Prints every kind of finding, with its words. */
void fp_findings_list(bool json);

#endif
