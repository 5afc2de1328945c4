/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ingest: the only way in. It turns a request's body into a record in the spool, or into a refusal
 * with its reason.
 *
 * The steps of a request: fp_ingest_rules (a snapshot for its whole life) → fp_ingest_admit →
 * receive the body under fp_ingest_hold → its turn (turns.h) → fp_ingest_prepare (inflate, decode,
 * check the page token, fold, encode: all of the work) → fp_ingest_commit, which returns
 * at once; the spool's committer calls back later → fp_ingest_outcome. A dry run ends with
 * fp_ingest_end_dry_run instead of the last two. Nothing of an upload is stored before all of it is
 * valid. Any thread may call any function.
 */
#ifndef FP_INGEST_INGEST_H
#define FP_INGEST_INGEST_H

#include "collector/base/base.h"
#include "collector/base/metrics.h"
#include "collector/base/problem.h"
#include "collector/ingest/kept.h"
#include "collector/ingest/rules.h"
#include "collector/letters/letters.h"
#include "collector/spool/spool.h"

struct fp_ingest;

/*
 * Makes an ingest with its own reference to the rules. workers: the number of threads that prepare
 * at the same time. Returns NULL when out of memory. Spool and metrics must outlive it.
 */
struct fp_ingest *fp_ingest_create(struct fp_spool *spool, struct fp_metrics *metrics,
                                   struct fp_rules *rules, unsigned workers) FP_MUST_CHECK;

/* Sets where refused bodies go from now on; NULL (the default) drops them. Call it before the first
 * request. The letters must outlive the ingest. */
void fp_ingest_set_dead_letters(struct fp_ingest *ingest, struct fp_dead_letters *letters);

/* Frees the ingest. No request may be running. */
void fp_ingest_free(struct fp_ingest *ingest);

/* Returns a reference to the current rules; the caller drops it with fp_rules_unref. */
struct fp_rules *fp_ingest_rules(struct fp_ingest *ingest) FP_MUST_CHECK;

/* Gives these rules to new requests; running ones keep theirs. Takes a reference and carries over
 * the budgets spent so far. Main thread. */
void fp_ingest_reload(struct fp_ingest *ingest, struct fp_rules *rules);

/* The facts of a request before its body. */
struct fp_admission {
    struct fp_str key;
    bool has_origin;
    struct fp_str origin;
    bool gpc; /* `Sec-GPC: 1` */
};

/*
 * Finds the site and decides whether the request may upload. *admitted_origin is the listed origin,
 * or NULL. It is also set on a refusal, unless the origin was the reason.
 */
bool fp_ingest_admit(const struct fp_rules *rules, const struct fp_admission *admission,
                     const struct fp_site **site, const struct fp_str **admitted_origin,
                     struct fp_problem *problem) FP_MUST_CHECK;

/*
 * Reserves memory for a body in flight: of what all bodies share, and of what those of one site may
 * take of it. The caller returns it. False if that would exceed either; then nothing is reserved.
 */
bool fp_ingest_hold(struct fp_ingest *ingest, const struct fp_rules *rules,
                    const struct fp_site *site, size_t bytes) FP_MUST_CHECK;
void fp_ingest_let_go(struct fp_ingest *ingest, const struct fp_site *site, size_t bytes);

struct fp_captures;

/* Session and number of a part of a long session, from the upload's URL. */
struct fp_upload_part {
    struct fp_uuid session;
    uint32_t number;
    struct fp_captures *captures; /* in which the session runs */
};

/* A whole request. The caller owns the texts; they must live until fp_ingest_prepare returns. */
struct fp_upload {
    const struct fp_rules *rules;
    const struct fp_site *site;
    struct fp_str body;
    struct fp_str encoding;    /* `Content-Encoding`, "" for none */
    struct fp_str boundary;    /* of multipart/form-data, otherwise "" */
    struct fp_str format;      /* `?format=`; "": detected */
    const struct fp_uuid *key; /* `Idempotency-Key`, if an upload has no id; NULL: random */
    struct fp_str token;       /* `Fleetprof-Token`, overrides the envelope's; "" for none */
    const struct fp_upload_part *part; /* NULL: not a part */
    struct fp_str referer;
    struct fp_str user_agent;
    struct fp_str address;      /* of the browser, bytes; "" if not known. Never stored */
    struct fp_str origin;       /* the admitted one or ""; like the next field, for a dead letter */
    struct fp_str content_type; /* the header */
    bool is_dry_run;            /* prepare it without using its token or counting it */
};

struct fp_workbench;

/* One request between prepare and its outcome, in the caller's memory. */
struct fp_ticket {
    /* Called once, perhaps before fp_ingest_commit returns. Nothing touches the ticket
     * afterwards. */
    void (*done)(void *context);
    void *context;
    struct fp_ingest *ingest;
    struct fp_workbench *workbench; /* held from prepare to commit */
    size_t upload_count;
    struct fp_refused_records refused; /* of all uploads */
    struct fp_kept_charge charge;
    struct fp_backlog *backlog; /* of the site, in the rules that the request holds */
    uint64_t spool_share;       /* of the site, in bytes */
    size_t record_len;          /* that was added to the backlog */
    struct fp_not_kept not_kept;
    enum fp_spool_error result; /* set before done */
    const char *token_trouble;  /* of a dry run whose token is not valid, though not
                                 * required: the name of a reason; otherwise NULL */
};

/*
 * Inflates, decodes, folds and encodes all uploads of one request, or none. True: the ticket holds
 * their record and must be committed. False: *problem says why, and nothing is held.
 */
bool fp_ingest_prepare(struct fp_ingest *ingest, const struct fp_upload *upload,
                       struct fp_ticket *ticket, struct fp_problem *problem) FP_MUST_CHECK;

/* Hands the record to the spool. ticket->done is always called, also after a failure. */
void fp_ingest_commit(struct fp_ticket *ticket);

/* Call it after done. True if the record is durable; otherwise nothing is stored and *problem says
 * why. */
bool fp_ingest_outcome(const struct fp_ticket *ticket, struct fp_problem *problem) FP_MUST_CHECK;

/* Ends a prepared dry run: drops its record. True if the spool would have taken it now; otherwise
 * *problem says why not. */
bool fp_ingest_end_dry_run(struct fp_ticket *ticket, struct fp_problem *problem) FP_MUST_CHECK;

/*
 * State that the collectors of one database share; collector/shared.c exchanges it. Any thread.
 *
 * The key of the draw for sample_keep; random until it is set. Then the kept bytes of an hour
 * (epoch, in hours): printed, as a JSON object of those that this collector has kept by site, and
 * learned for a site, or for all sites (name ""). An unknown site is ignored.
 */
void fp_ingest_draw_key(struct fp_ingest *ingest, struct fp_draw_key *key);
void fp_ingest_set_draw_key(struct fp_ingest *ingest, const struct fp_draw_key *key);
struct fp_kept_shares {
    uint64_t own; /* this collector's, as the database knows it */
    uint64_t others;
};
void fp_ingest_print_kept(struct fp_ingest *ingest, int64_t hour, struct fp_buf *out);
void fp_ingest_learn_kept(struct fp_ingest *ingest, int64_t hour, struct fp_str name,
                          const struct fp_kept_shares *shares);

/* Counts the processor time that preparing an upload took. */
void fp_ingest_count_decoding(const struct fp_site *site, int64_t processor_us);

/* Counts a dry run by its result. */
void fp_ingest_count_dry_run(struct fp_ingest *ingest, bool is_accepted);

/* True if refused bodies are kept at all. */
bool fp_ingest_keeps_refused(const struct fp_ingest *ingest);

/*
 * Keeps the body of a request as a dead letter, if these are enabled. The request was admitted and
 * then refused for its content (400, 413, 415, 422). Takes the body's memory and leaves the buffer
 * empty; ignores upload->body.
 */
void fp_ingest_keep_refused(struct fp_ingest *ingest, const struct fp_upload *upload,
                            const struct fp_problem *problem, struct fp_buf *body);

/* Counts the uploads of a committed ticket, and their refused records. Any thread; so may all
 * functions below. */
void fp_ingest_count_accepted(const struct fp_site *site, const struct fp_ticket *ticket);

/* Counts a refused request, whoever refused it, and logs it as fp_site_metrics_refuse does. site
 * NULL: unknown. */
void fp_ingest_count_refused(struct fp_ingest *ingest, const struct fp_site *site,
                             const struct fp_problem *problem);

/* Logs refusals that were counted but not logged; call it every few seconds. */
void fp_ingest_log_refusals(struct fp_ingest *ingest, enum fp_pending pending);

/* Appends the metrics of each configured site as Prometheus text. */
void fp_ingest_render_metrics(struct fp_ingest *ingest, struct fp_buf *out);

/* Returns the number of tickets that wait for the spool. Once it is 0 after fp_spool_stop_appends,
 * done is no longer called. */
size_t fp_ingest_committing(const struct fp_ingest *ingest);

/* Returns NULL if uploads are accepted now, otherwise the reason why not, for /readyz. */
const char *fp_ingest_trouble(struct fp_ingest *ingest);

#endif
