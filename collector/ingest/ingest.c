/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ingest: admits, prepares and commits uploads.
 *
 * Preparing needs memory: an arena for everything a decoder makes, and a buffer for the request's
 * record. A workbench owns both. There is one bench per thread that prepares, so memory is at most
 * threads × limits.upload_memory, whatever clients send. A bench that grew is emptied before it is
 * put back, so that one large upload does not keep its memory forever.
 */
#include "collector/ingest/ingest.h"

#include "collector/base/buf.h"
#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/base/uuid.h"
#include "collector/ingest/metrics.h"
#include "collector/ingest/prepare.h"
#include "collector/profile/scrub/url.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BENCH_KEPT_MAX = 1024 * 1024, /* bytes of a buffer kept for the next upload */
};

struct fp_workbench {
    struct fp_workbench *next;
    struct fp_arena arena;
    struct fp_buf record;
};

struct fp_ingest {
    struct fp_spool *spool;
    struct fp_dead_letters *letters; /* NULL: drop refused bodies */
    struct fp_metric_set *metrics;
    struct fp_site_metrics *nowhere; /* counts requests whose site is unknown */
    struct fp_ceilings *ceilings;
    struct fp_kept *kept; /* of all sites */
    struct fp_loads *loads;
    struct fp_sources *sources;
    atomic_size_t body_bytes; /* held by bodies in flight */
    atomic_size_t committing; /* tickets between commit and the return of done */

    pthread_mutex_t lock; /* protects what follows */
    struct fp_rules *rules;
    struct fp_draw_key key;
    struct fp_workbench *idle; /* benches not in use */
    unsigned bench_count;
    unsigned bench_max;
};

/* ---- life ---- */

/* Draws a key for sample_keep, for the time until the database gives that of all collectors. */
static bool draw_key(struct fp_ingest *ingest)
{
    struct fp_uuid drawn;
    const bool is_drawn = fp_uuid_random(&drawn);
    memcpy(ingest->key.bytes, drawn.bytes, sizeof(drawn.bytes));
    return is_drawn;
}

struct fp_ingest *fp_ingest_create(struct fp_spool *spool, struct fp_metrics *metrics,
                                   struct fp_rules *rules, unsigned workers)
{
    struct fp_ingest *ingest = calloc(1, sizeof(*ingest));
    if (ingest == NULL)
        return NULL;
    ingest->ceilings = fp_ceilings_create(metrics);
    ingest->metrics = fp_metrics_join(metrics, &fp_ingest_metrics);
    ingest->nowhere = fp_site_metrics_create(FP_STR(""));
    ingest->kept = fp_kept_create();
    ingest->loads = fp_loads_create(ingest->metrics);
    ingest->sources = fp_sources_create();
    if (ingest->ceilings == NULL || ingest->metrics == NULL || ingest->loads == NULL ||
        ingest->sources == NULL || ingest->nowhere == NULL || ingest->kept == NULL ||
        !draw_key(ingest) || pthread_mutex_init(&ingest->lock, NULL) != 0) {
        fp_site_metrics_unref(ingest->nowhere);
        fp_ceilings_free(ingest->ceilings);
        fp_loads_free(ingest->loads);
        fp_sources_free(ingest->sources);
        fp_kept_unref(ingest->kept);
        free(ingest);
        return NULL;
    }
    ingest->spool = spool;
    ingest->rules = fp_rules_ref(rules);
    ingest->bench_max = workers;
    return ingest;
}

void fp_ingest_set_dead_letters(struct fp_ingest *ingest, struct fp_dead_letters *letters)
{
    ingest->letters = letters;
}

static void free_bench(struct fp_workbench *bench)
{
    fp_arena_release(&bench->arena);
    fp_buf_release(&bench->record);
    free(bench);
}

void fp_ingest_free(struct fp_ingest *ingest)
{
    if (ingest == NULL)
        return;
    while (ingest->idle != NULL) {
        struct fp_workbench *next = ingest->idle->next;
        free_bench(ingest->idle);
        ingest->idle = next;
    }
    fp_rules_unref(ingest->rules);
    fp_site_metrics_unref(ingest->nowhere);
    fp_ceilings_free(ingest->ceilings);
    fp_loads_free(ingest->loads);
    fp_sources_free(ingest->sources);
    fp_kept_unref(ingest->kept);
    pthread_mutex_destroy(&ingest->lock);
    free(ingest);
}

struct fp_rules *fp_ingest_rules(struct fp_ingest *ingest)
{
    pthread_mutex_lock(&ingest->lock);
    struct fp_rules *rules = fp_rules_ref(ingest->rules);
    pthread_mutex_unlock(&ingest->lock);
    return rules;
}

/* Logs each site whose key continues under another name. */
static void tell_renamed(const struct fp_rules *rules, const struct fp_rules *running)
{
    for (size_t i = 0; i < rules->site_count; i++) {
        const struct fp_site *site = &rules->sites[i];
        const struct fp_site *old = fp_rules_site(running, site->key);
        if (old != NULL && fp_rules_site_named(running, site->name) == NULL)
            fp_log(FP_LOG_WARN,
                   "site renamed: a new, empty site begins; the old name keeps what was counted",
                   "old=%.*s new=%.*s", FP_STR_ARG(old->name), FP_STR_ARG(site->name));
    }
}

void fp_ingest_reload(struct fp_ingest *ingest, struct fp_rules *rules)
{
    /* Only this function, on the main thread, changes ingest->rules. */
    fp_rules_carry_over(rules, ingest->rules);
    tell_renamed(rules, ingest->rules);
    fp_rules_ref(rules);
    pthread_mutex_lock(&ingest->lock);
    struct fp_rules *old = ingest->rules;
    ingest->rules = rules;
    pthread_mutex_unlock(&ingest->lock);
    fp_rules_unref(old);
}

const char *fp_ingest_trouble(struct fp_ingest *ingest)
{
    return fp_spool_trouble(ingest->spool);
}

/* ---- admission ---- */

/* Shows the beginning of an unknown key: enough to recognise one's own, without revealing somebody
 * else's. */
static void show_key(struct fp_problem *problem, struct fp_str key)
{
    enum { SHOWN_MAX = 8 };
    size_t half = key.len / 2;
    fp_problem_show(problem, key, half < SHOWN_MAX ? half : SHOWN_MAX);
}

/* Returns the last two labels of an origin's host, or all of a shorter one. */
static struct fp_str domain_of(struct fp_str origin)
{
    struct fp_str host = fp_url_parse(origin).host;
    if (host.len == 0)
        return host;
    const char *colon = memrchr(host.ptr, ':', host.len);
    if (colon != NULL)
        host.len = (size_t)(colon - host.ptr);
    size_t at = host.len;
    for (unsigned dots = 0; at > 0; at--)
        if (host.ptr[at - 1] == '.' && ++dots == 2)
            break;
    return (struct fp_str){host.ptr + at, host.len - at};
}

/*
 * Shows a refused origin in the log if it is of the domain of a listed one: a wrong scheme, port or
 * subdomain is a mistake in the configuration. Any other text is the sender's own, and not logged.
 */
static void show_origin(struct fp_problem *problem, const struct fp_site *site,
                        struct fp_str origin)
{
    const struct fp_str domain = domain_of(origin);
    for (size_t i = 0; i < site->origins.count && domain.len > 0; i++)
        if (fp_str_equal(domain, domain_of(site->origins.items[i]))) {
            fp_problem_show(problem, origin, FP_EVIDENCE_LEN);
            return;
        }
}

bool fp_ingest_admit(const struct fp_rules *rules, const struct fp_admission *admission,
                     const struct fp_site **site, const struct fp_str **admitted_origin,
                     struct fp_problem *problem)
{
    *admitted_origin = NULL;
    *site = fp_rules_site(rules, admission->key);
    if (*site == NULL) {
        fp_problem_refuse(problem, FP_REFUSAL_UNKNOWN_KEY, "the site key in the path is unknown");
        show_key(problem, admission->key);
        return false;
    }
    if (admission->has_origin) {
        *admitted_origin = fp_site_origin(*site, admission->origin);
        if (*admitted_origin == NULL) {
            fp_problem_refuse(
                problem, FP_REFUSAL_ORIGIN,
                "pages of this origin may not upload for this site; its configuration "
                "lists the origins that may");
            show_origin(problem, *site, admission->origin);
            return false;
        }
    }
    if (admission->gpc && rules->honour_gpc) {
        fp_problem_refuse(
            problem, FP_REFUSAL_GPC,
            "the browser asks not to share data (Sec-GPC: 1), and this collector honours that");
        return false;
    }
    return true;
}

bool fp_ingest_hold(struct fp_ingest *ingest, const struct fp_rules *rules,
                    const struct fp_site *site, size_t bytes)
{
    if (!fp_budget_hold(site->budget, bytes, fp_rules_body_share(rules)))
        return false;
    size_t before = atomic_fetch_add_explicit(&ingest->body_bytes, bytes, memory_order_relaxed);
    if (before + bytes <= rules->body_memory)
        return true;
    fp_ingest_let_go(ingest, site, bytes);
    return false;
}

void fp_ingest_let_go(struct fp_ingest *ingest, const struct fp_site *site, size_t bytes)
{
    atomic_fetch_sub_explicit(&ingest->body_bytes, bytes, memory_order_relaxed);
    fp_budget_let_go(site->budget, bytes);
}

/* ---- workbenches ---- */

/* Takes an idle bench or makes one; NULL if none is left. */
static struct fp_workbench *take_bench(struct fp_ingest *ingest, const struct fp_rules *rules)
{
    pthread_mutex_lock(&ingest->lock);
    struct fp_workbench *bench = ingest->idle;
    bool may_make = bench == NULL && ingest->bench_count < ingest->bench_max;
    if (bench != NULL)
        ingest->idle = bench->next;
    else if (may_make)
        ingest->bench_count++;
    pthread_mutex_unlock(&ingest->lock);

    if (may_make) {
        bench = calloc(1, sizeof(*bench));
        if (bench == NULL) {
            pthread_mutex_lock(&ingest->lock);
            ingest->bench_count--;
            pthread_mutex_unlock(&ingest->lock);
        }
    }
    if (bench != NULL) {
        bench->arena.max_bytes = rules->upload_memory;
        bench->record.max = rules->upload_memory;
    }
    return bench;
}

static void return_bench(struct fp_ingest *ingest, struct fp_workbench *bench)
{
    fp_arena_clear(&bench->arena);
    if (bench->record.cap > BENCH_KEPT_MAX)
        fp_buf_release(&bench->record);
    else
        fp_buf_clear(&bench->record);
    pthread_mutex_lock(&ingest->lock);
    bench->next = ingest->idle;
    ingest->idle = bench;
    pthread_mutex_unlock(&ingest->lock);
}

/* ---- preparing and committing ---- */

/* Maps a spool error to the reason of the refusal. */
static enum fp_refusal reason_of(enum fp_spool_error error)
{
    switch (error) {
    case FP_SPOOL_FULL:
        return FP_REFUSAL_SPOOL_FULL;
    case FP_SPOOL_STOPPING:
        return FP_REFUSAL_STOPPING;
    case FP_SPOOL_TOO_LONG:
        return FP_REFUSAL_LIMIT;
    case FP_SPOOL_MEMORY:
        return FP_REFUSAL_MEMORY;
    case FP_SPOOL_OK:
    case FP_SPOOL_IO:
    case FP_SPOOL_LOCKED:
    case FP_SPOOL_NO_PATH:
        break;
    }
    return FP_REFUSAL_SPOOL_FAILED;
}

static struct fp_backlog_place place_of(struct fp_spool *spool)
{
    return (struct fp_backlog_place){fp_spool_position(spool), fp_spool_tail(spool)};
}

/* True if the spool takes uploads of the site. */
static bool has_room(struct fp_ingest *ingest, const struct fp_upload *upload,
                     struct fp_ticket *ticket, struct fp_problem *problem)
{
    enum fp_spool_error error;
    const char *trouble = fp_spool_check(ingest->spool, &error);
    ticket->backlog = upload->site->backlog;
    ticket->spool_share = fp_rules_spool_share(upload->rules, fp_spool_max_bytes(ingest->spool));
    if (trouble == NULL && upload->rules->site_count > 1) {
        const struct fp_backlog_place place = place_of(ingest->spool);
        if (fp_backlog_is_full(ticket->backlog, &place, ticket->spool_share)) {
            error = FP_SPOOL_FULL;
            trouble = "the site's half of the spool is full";
        }
    }
    if (trouble == NULL)
        return true;
    fp_problem_refuse(problem, reason_of(error), "uploads are not accepted now: %s", trouble);
    problem->retry_s = FP_RETRY_FULL_S;
    return false;
}

bool fp_ingest_prepare(struct fp_ingest *ingest, const struct fp_upload *upload,
                       struct fp_ticket *ticket, struct fp_problem *problem)
{
    if (!has_room(ingest, upload, ticket, problem))
        return false;
    struct fp_workbench *bench = take_bench(ingest, upload->rules);
    if (bench == NULL) {
        fp_prepare_no_memory(problem);
        return false;
    }
    struct fp_preparation preparation = {
        .upload = upload,
        .ceilings = ingest->ceilings,
        .kept = upload->is_dry_run ? NULL : ingest->kept,
        .loads = upload->is_dry_run ? NULL : ingest->loads,
        .sources = upload->is_dry_run ? NULL : ingest->sources,
        .metrics = ingest->metrics,
        .arena = &bench->arena,
        .record = &bench->record,
        .problem = problem,
    };
    fp_ingest_draw_key(ingest, &preparation.key);
    if (!fp_prepare(&preparation)) {
        return_bench(ingest, bench);
        return false;
    }
    ticket->ingest = ingest;
    ticket->workbench = bench;
    ticket->upload_count = preparation.upload_count;
    ticket->token_trouble = preparation.trial.trouble;
    ticket->refused = preparation.refused;
    ticket->charge = preparation.charge;
    ticket->not_kept = preparation.not_kept;
    return true;
}

static void committed(void *context, enum fp_spool_error result)
{
    struct fp_ticket *ticket = context;
    struct fp_ingest *ingest = ticket->ingest;
    ticket->result = result;
    if (result != FP_SPOOL_OK) { /* before done: the rules may go with the request */
        fp_kept_refund(&ticket->charge);
        fp_backlog_return(ticket->backlog, ticket->record_len);
    }
    ticket->done(ticket->context);
    atomic_fetch_sub(&ingest->committing, 1);
}

void fp_ingest_commit(struct fp_ticket *ticket)
{
    struct fp_ingest *ingest = ticket->ingest;
    struct fp_workbench *bench = ticket->workbench;
    const struct fp_backlog_place place = place_of(ingest->spool);
    ticket->record_len = bench->record.len;
    fp_backlog_add(ticket->backlog, &place, ticket->spool_share, ticket->record_len);
    atomic_fetch_add(&ingest->committing, 1);
    enum fp_spool_error error =
        fp_spool_append(ingest->spool, bench->record.data, bench->record.len, committed, ticket);
    return_bench(ingest, bench);
    if (error != FP_SPOOL_OK)
        committed(ticket, error);
}

bool fp_ingest_end_dry_run(struct fp_ticket *ticket, struct fp_problem *problem)
{
    struct fp_ingest *ingest = ticket->ingest;
    ticket->result = fp_spool_check_record(ingest->spool, ticket->workbench->record.len);
    return_bench(ingest, ticket->workbench);
    return fp_ingest_outcome(ticket, problem);
}

size_t fp_ingest_committing(const struct fp_ingest *ingest)
{
    return atomic_load(&ingest->committing);
}

bool fp_ingest_outcome(const struct fp_ticket *ticket, struct fp_problem *problem)
{
    switch (ticket->result) {
    case FP_SPOOL_OK:
        return true;
    case FP_SPOOL_TOO_LONG:
        fp_problem_refuse(problem, FP_REFUSAL_LIMIT,
                          "the upload's data does not fit into one record (spool.segment_bytes)");
        return false;
    case FP_SPOOL_STOPPING:
        fp_problem_defer(problem, FP_REFUSAL_STOPPING, FP_RETRY_BUSY_S,
                         "the collector is stopping; retry");
        return false;
    case FP_SPOOL_FULL:
    case FP_SPOOL_IO:
    case FP_SPOOL_LOCKED:
    case FP_SPOOL_NO_PATH:
    case FP_SPOOL_MEMORY:
        break;
    }
    fp_problem_refuse(problem, reason_of(ticket->result), "the upload could not be stored: %s",
                      fp_spool_error_text(ticket->result));
    problem->retry_s = FP_RETRY_FULL_S;
    return false;
}

/* ---- what collectors share ---- */

void fp_ingest_draw_key(struct fp_ingest *ingest, struct fp_draw_key *key)
{
    pthread_mutex_lock(&ingest->lock);
    *key = ingest->key;
    pthread_mutex_unlock(&ingest->lock);
}

void fp_ingest_set_draw_key(struct fp_ingest *ingest, const struct fp_draw_key *key)
{
    pthread_mutex_lock(&ingest->lock);
    ingest->key = *key;
    pthread_mutex_unlock(&ingest->lock);
}

void fp_ingest_print_kept(struct fp_ingest *ingest, int64_t hour, struct fp_buf *out)
{
    struct fp_rules *rules = fp_ingest_rules(ingest);
    const char *separator = "{";
    for (size_t i = 0; i < rules->site_count; i++) {
        const struct fp_site *site = &rules->sites[i];
        const uint64_t bytes = site->kept != NULL ? fp_kept_own(site->kept, hour) : 0;
        if (bytes == 0)
            continue;
        /* A name has no character that JSON escapes. */
        fp_buf_addf(out, "%s\"%.*s\":%" PRIu64, separator, FP_STR_ARG(site->name), bytes);
        separator = ",";
    }
    fp_buf_addf(out, "%s}", separator[0] == '{' ? "{" : "");
    fp_rules_unref(rules);
}

void fp_ingest_learn_kept(struct fp_ingest *ingest, int64_t hour, struct fp_str name,
                          const struct fp_kept_shares *shares)
{
    struct fp_rules *rules = fp_ingest_rules(ingest);
    const struct fp_site *site = fp_rules_site_named(rules, name);
    struct fp_kept *kept = name.len == 0 ? ingest->kept : site != NULL ? site->kept : NULL;
    if (kept != NULL)
        fp_kept_learn(kept, hour, shares->own, shares->others);
    fp_rules_unref(rules);
}

/* ---- what became of requests ---- */

void fp_ingest_count_dry_run(struct fp_ingest *ingest, bool is_accepted)
{
    fp_metrics_add(ingest->metrics,
                   is_accepted ? FP_METRIC_DRY_RUNS_ACCEPTED : FP_METRIC_DRY_RUNS_REFUSED, 1);
}

void fp_ingest_count_decoding(const struct fp_site *site, int64_t processor_us)
{
    fp_site_metrics_decode(site->metrics, processor_us);
}

void fp_ingest_count_accepted(const struct fp_site *site, const struct fp_ticket *ticket)
{
    fp_site_metrics_accept(site->metrics, ticket->upload_count);
    fp_site_metrics_refuse_records(site->metrics, &ticket->refused);
    fp_site_metrics_keep(site->metrics, ticket->charge.bytes, ticket->not_kept.uploads);
}

void fp_ingest_count_refused(struct fp_ingest *ingest, const struct fp_site *site,
                             const struct fp_problem *problem)
{
    fp_site_metrics_refuse(site != NULL ? site->metrics : ingest->nowhere, problem,
                           fp_clock_monotonic_us());
}

void fp_ingest_log_refusals(struct fp_ingest *ingest, enum fp_pending pending)
{
    int64_t now_us = fp_clock_monotonic_us();
    struct fp_rules *rules = fp_ingest_rules(ingest);
    fp_site_metrics_log(ingest->nowhere, pending, now_us);
    for (size_t i = 0; i < rules->site_count; i++)
        fp_site_metrics_log(rules->sites[i].metrics, pending, now_us);
    fp_rules_unref(rules);
}

void fp_ingest_render_metrics(struct fp_ingest *ingest, struct fp_buf *out)
{
    static const struct fp_metric names[] = {FP_SITE_METRICS(FP_METRIC_ROW)};
    static void (*const render[])(const struct fp_site_metrics *, struct fp_buf *) = {
        [FP_METRIC_SITE_ACCEPTED] = fp_site_metrics_render_accepted,
        [FP_METRIC_SITE_REFUSED] = fp_site_metrics_render_refused,
        [FP_METRIC_SITE_RECORDS] = fp_site_metrics_render_records,
        [FP_METRIC_SITE_KEPT] = fp_site_metrics_render_kept,
        [FP_METRIC_SITE_NOT_KEPT] = fp_site_metrics_render_not_kept,
        [FP_METRIC_SITE_DECODING] = fp_site_metrics_render_decoding,
        [FP_METRIC_SITE_LATEST] = fp_site_metrics_render_latest,
    };
    struct fp_rules *rules = fp_ingest_rules(ingest);
    for (size_t metric = 0; metric < FP_SITE_METRIC_COUNT; metric++) {
        fp_metrics_render_heading(&names[metric], out);
        if (metric == FP_METRIC_SITE_REFUSED)
            render[metric](ingest->nowhere, out);
        for (size_t i = 0; i < rules->site_count; i++)
            render[metric](rules->sites[i].metrics, out);
    }
    fp_rules_unref(rules);
}

/* ---- refused bodies ---- */

bool fp_ingest_keeps_refused(const struct fp_ingest *ingest)
{
    return ingest->letters != NULL;
}

void fp_ingest_keep_refused(struct fp_ingest *ingest, const struct fp_upload *upload,
                            const struct fp_problem *problem, struct fp_buf *body)
{
    unsigned status = problem->status;
    bool is_kept = status == 400 || status == 413 || status == 415 || status == 422;
    if (ingest->letters == NULL || !is_kept) {
        fp_buf_release(body);
        return;
    }
    const struct fp_letter letter = {
        .received_us = fp_clock_real_us(),
        .site = upload->site->name,
        .problem = *problem,
        .origin = upload->origin,
        .content_type = upload->content_type,
        .encoding = upload->encoding,
        .format = upload->format,
        .has_key = upload->key != NULL,
        .key = upload->key != NULL ? *upload->key : (struct fp_uuid){{0}},
    };
    fp_dead_letters_add(ingest->letters, &letter, body);
}
