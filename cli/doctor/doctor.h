/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doctor: what the checks of a page share. Private to cli/doctor.
 *
 * The checks run in the order of this header, each on what the ones before it found. One thread.
 */
#ifndef FP_CLI_DOCTOR_DOCTOR_H
#define FP_CLI_DOCTOR_DOCTOR_H

#include "cli/doctor/fetch.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/page.h"
#include "cli/doctor/policy.h"

/* SQL: the partitioned tables that have no partition for now, as one text; null: none. Names of
 * partitions end in the first day. */
#define FP_MISSING_PARTITIONS                                                                      \
    "select string_agg(c.oid::regclass::text, ', ' order by 1) "                                   \
    "from pg_class as c join pg_namespace as n on n.oid = c.relnamespace "                         \
    "where n.nspname = 'fleetprof_data' and c.relkind = 'p' and not exists ("                      \
    "select from pg_inherits as i join pg_class as p on p.oid = i.inhrelid "                       \
    "where i.inhparent = c.oid and p.relname ~ '[0-9]{8}$' "                                       \
    "and to_date(right(p.relname, 8), 'YYYYMMDD') <= (now() at time zone 'UTC')::date "            \
    "and to_date(right(p.relname, 8), 'YYYYMMDD') + "                                              \
    "case when c.relname like '%\\_days' then 8 else 1 end > (now() at time zone 'UTC')::date)"

/* SQL: why the extension fleetprof_native is there and not used, as one text; null: it is used, or
 * not there. */
#define FP_NATIVE_UNUSED                                                                           \
    "select format('version %s; this schema uses %s', extversion, wanted) "                        \
    "from pg_extension, fleetprof_data.native_version() as wanted "                                \
    "where extname = 'fleetprof_native' and extversion <> wanted"

struct fp_doctor_options {
    const char *url;      /* of the page; NULL: check this machine */
    const char *endpoint; /* instead of the tag's; NULL: the tag's */
    const char *direct;   /* HOST:PORT of the server behind the proxy; NULL: unknown */
    bool follows;         /* redirects to other origins, without a question */
    const char *ca_file;
    const char *config_file;
    unsigned repeat;
    unsigned timeout_s;
    bool has_rate;
    uint32_t rate_ppm; /* expected */
    bool json;
    bool list;
    bool is_ignored[FP_FINDING_COUNT];
};

/* How often the page was asked for, and what it said. */
struct fp_doctor_tally {
    unsigned asked;
    unsigned answered;
    unsigned with_policy; /* about profiling */
    unsigned with_decision;
    unsigned sampled; /* the decision says yes */
};

struct fp_doctor {
    const struct fp_doctor_options *options;
    struct fp_fetcher *fetcher;
    struct fp_findings findings;
    struct fp_arena arena;
    struct fp_doctor_tally tally;
    char *url;                          /* of the page, after redirects */
    bool is_elsewhere;                  /* a redirect to another origin was not followed */
    char *origin;                       /* the page's */
    struct fp_client_reply reply;       /* a sampled one, if there was one */
    char *timing;                       /* its Server-Timing, NULL: none */
    struct fp_decision decision;        /* points into `timing` */
    struct fp_page page;                /* the reply's HTML */
    char *base;                         /* what its addresses are relative to */
    const struct fp_page_script *agent; /* its tag; NULL: none */
};

/* True if a check may send another request. */
bool fp_doctor_has_time(const struct fp_doctor *doctor);

/* Fetches the page as a browser navigates, `repeat` times, and judges policy, decision, rate and
 * caching. False: there was no reply at all, which was reported as an error. */
bool fp_doctor_check_page(struct fp_doctor *doctor) FP_MUST_CHECK;

/* Compares the page with that of --direct. */
void fp_doctor_check_direct(struct fp_doctor *doctor);

/* Judges what the HTML says about the agent, and whether the Content-Security-Policy allows it. */
void fp_doctor_check_tag(struct fp_doctor *doctor);

/* Returns the absolute URL of the endpoint, NULL if it is not known. The caller frees it. */
char *fp_doctor_endpoint(const struct fp_doctor *doctor) FP_MUST_CHECK;

/* Fetches the page's scripts as the browser would, and judges whether profiles can show them. */
void fp_doctor_check_scripts(struct fp_doctor *doctor);

/* Sends dry runs to the endpoint. */
void fp_doctor_check_endpoint(struct fp_doctor *doctor);

/* Checks the collector's configuration, database, spool and admin listener on this machine. False:
 * it could not be checked at all, which was reported as an error. */
bool fp_doctor_check_machine(struct fp_doctor *doctor) FP_MUST_CHECK;

#endif
