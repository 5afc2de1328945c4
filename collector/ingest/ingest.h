/*
 * Ingest: the one way in. A request's body becomes a record in the spool, or a refusal that says
 * why.
 *
 * A request goes: fp_ingest_rules (a snapshot for its whole life) → fp_ingest_admit → the body is
 * received under fp_ingest_charge → fp_ingest_prepare (inflate, decode, check the page token, fold,
 * encode: all of the work, on the caller's thread) → fp_ingest_commit, which returns at once and
 * later, from the spool's committer, calls back → fp_ingest_outcome. Nothing of an upload is stored
 * before all of it is found valid. All functions may be called from any thread.
 */
#ifndef FP_INGEST_INGEST_H
#define FP_INGEST_INGEST_H

#include "collector/base/base.h"
#include "collector/base/metrics.h"
#include "collector/base/problem.h"
#include "collector/ingest/rules.h"
#include "collector/letters/letters.h"
#include "collector/spool/spool.h"

struct fp_ingest;

/*
 * Makes the way in, with a reference of its own to the rules. workers: how many threads will
 * prepare at once. NULL when out of memory. Spool and metrics must outlive it.
 */
struct fp_ingest *fp_ingest_create(struct fp_spool *spool, struct fp_metrics *metrics,
                                   struct fp_rules *rules, unsigned workers) FP_MUST_CHECK;

/* From now on refused bodies go there; NULL (as at first): nowhere. Before the first request; the
 * letters must outlive it. */
void fp_ingest_set_dead_letters(struct fp_ingest *ingest, struct fp_dead_letters *letters);

/* Frees it. No request may be under way. */
void fp_ingest_free(struct fp_ingest *ingest);

/* The present rules; the caller gives the reference back with fp_rules_unref. */
struct fp_rules *fp_ingest_rules(struct fp_ingest *ingest) FP_MUST_CHECK;

/* From now on new requests get these rules (which are referenced, and go on with the budgets spent
 * so far), running ones keep theirs. Main thread. */
void fp_ingest_reload(struct fp_ingest *ingest, struct fp_rules *rules);

/* What a request says about itself before its body. */
struct fp_admission {
    struct fp_str key;
    bool has_origin;
    struct fp_str origin;
    bool gpc; /* `Sec-GPC: 1` */
};

/*
 * Finds the site and decides whether the request may upload. *admitted_origin is the listed origin,
 * or NULL; it is set on a refusal too, when the origin was not the reason.
 */
bool fp_ingest_admit(const struct fp_rules *rules, const struct fp_admission *admission,
                     const struct fp_site **site, const struct fp_str **admitted_origin,
                     struct fp_problem *problem) FP_MUST_CHECK;

/*
 * Takes bytes from what all bodies in flight may use together; the caller gives them back. False,
 * and nothing taken, when it would be too much.
 */
bool fp_ingest_charge(struct fp_ingest *ingest, const struct fp_rules *rules,
                      size_t bytes) FP_MUST_CHECK;
void fp_ingest_uncharge(struct fp_ingest *ingest, size_t bytes);

/* What the address says of an upload that is a part of a long session. */
struct fp_upload_part {
    struct fp_uuid session;
    uint32_t number;
};

/* A whole request. Texts are the caller's and need live for fp_ingest_prepare only. */
struct fp_upload {
    const struct fp_rules *rules;
    const struct fp_site *site;
    struct fp_str body;
    struct fp_str encoding;            /* `Content-Encoding`, "" for none */
    struct fp_str boundary;            /* of multipart/form-data, "" when it is not that */
    struct fp_str format;              /* `?format=`, "" when the shape decides */
    const struct fp_uuid *key;         /* `Idempotency-Key`, the id of an upload that has none of
                                          its own; NULL: such an upload gets a random one */
    struct fp_str token;               /* `Fleetprof-Token`, before the envelope's; "" for none */
    const struct fp_upload_part *part; /* NULL: it is none */
    struct fp_str referer;
    struct fp_str user_agent;
    struct fp_str origin;       /* the admitted one, "" for none; like the next for a letter only */
    struct fp_str content_type; /* the header */
};

struct fp_workbench;

/* One request between prepare and its outcome; lies in the caller's memory. */
struct fp_ticket {
    /* Called once, perhaps before fp_ingest_commit returns; nothing touches the ticket after. */
    void (*done)(void *context);
    void *context;
    struct fp_ingest *ingest;
    struct fp_workbench *workbench; /* held from prepare to commit */
    size_t upload_count;
    enum fp_spool_error result; /* set before done */
};

/*
 * Inflates, decodes, folds and encodes: the uploads of one request, all of them or none. True: the
 * ticket holds their record and must be committed. False: *problem says why, nothing is held.
 */
bool fp_ingest_prepare(struct fp_ingest *ingest, const struct fp_upload *upload,
                       struct fp_ticket *ticket, struct fp_problem *problem) FP_MUST_CHECK;

/* Hands the record to the spool. ticket->done will be called, whatever happens. */
void fp_ingest_commit(struct fp_ticket *ticket);

/* After done: true when the record is durable, else nothing is stored and *problem says why. */
bool fp_ingest_outcome(const struct fp_ticket *ticket, struct fp_problem *problem) FP_MUST_CHECK;

/* Whether refused bodies are kept at all. */
bool fp_ingest_keeps_refused(const struct fp_ingest *ingest);

/*
 * Keeps the body of a request that was admitted and then refused for what it holds (400, 413, 415,
 * 422) as a dead letter, if such are kept. Takes the body's memory and leaves the buffer empty;
 * upload->body is not looked at.
 */
void fp_ingest_keep_refused(struct fp_ingest *ingest, const struct fp_upload *upload,
                            const struct fp_problem *problem, struct fp_buf *body);

/* Counts the uploads of a committed ticket. Any thread, as with what follows. */
void fp_ingest_count_accepted(const struct fp_site *site, size_t uploads);

/* Counts a request that was refused, whoever refused it, and logs it as fp_site_metrics_refuse
 * does. site NULL: it is not known. */
void fp_ingest_count_refused(struct fp_ingest *ingest, const struct fp_site *site,
                             const struct fp_problem *problem);

/* Logs refusals that were counted and not logged; to be called every few seconds. */
void fp_ingest_log_refusals(struct fp_ingest *ingest, enum fp_pending pending);

/* Appends the metrics of each configured site as Prometheus text. */
void fp_ingest_render_metrics(struct fp_ingest *ingest, struct fp_buf *out);

/* How many tickets wait for the spool. Once 0 after fp_spool_stop_appends, done is called no more.
 */
size_t fp_ingest_committing(const struct fp_ingest *ingest);

/* NULL when uploads would be taken now, else why not, in words for /readyz. */
const char *fp_ingest_trouble(struct fp_ingest *ingest);

#endif
