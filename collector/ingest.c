/*
 * Ingest: admits, prepares and commits uploads.
 *
 * Preparing needs memory: an arena for everything a decoder makes, and a buffer for the request's
 * record. Both lie on a workbench; there are as many benches as threads prepare at once, so that
 * memory is bounded by threads × limits.upload_memory whatever is sent. A bench that grew is
 * emptied before it is put back, so that one large upload does not keep its memory for ever.
 */
#include "collector/ingest.h"

#include "collector/base/buf.h"
#include "collector/base/clock.h"
#include "collector/ingest_keep.h"
#include "collector/ingest_multipart.h"
#include "collector/ingest_token.h"
#include "collector/profile/fold.h"
#include "collector/rollup/record.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BENCH_KEPT_MAX = 1024 * 1024, /* bytes of a buffer that is kept for the next upload */
    RETRY_FULL_S = 30,            /* a full spool drains at the database's pace */
    RETRY_BUSY_S = 5,
    NONCES = 256 * 1024, /* page loads whose tokens are remembered: 8 MiB once they are all there */
};

static const char no_memory[] = "there is no memory to decode the upload just now";

struct fp_workbench {
    struct fp_workbench *next;
    struct fp_arena arena;
    struct fp_buf record;
};

struct fp_ingest {
    struct fp_spool *spool;
    struct fp_dead_letters *letters; /* NULL: refused bodies are not kept */
    struct fp_metrics *metrics;
    struct fp_nonce_table *nonces;
    struct fp_ceilings *ceilings;
    atomic_size_t body_bytes; /* held by bodies in flight */
    atomic_size_t committing; /* tickets between commit and the end of done */

    pthread_mutex_t lock; /* of what follows */
    struct fp_rules *rules;
    struct fp_workbench *idle; /* benches nobody works at */
    unsigned bench_count;
    unsigned bench_max;
};

/* A problem that passes: the same request may be sent again. */
static void set_deferred(struct fp_problem *problem, unsigned retry_s, const char *detail)
{
    fp_problem_set(problem, 503, "%s", detail);
    problem->retry_s = retry_s;
}

/* ---- life ---- */

struct fp_ingest *fp_ingest_create(struct fp_spool *spool, struct fp_metrics *metrics,
                                   struct fp_rules *rules, unsigned workers)
{
    struct fp_ingest *ingest = calloc(1, sizeof(*ingest));
    if (ingest == NULL)
        return NULL;
    ingest->nonces = fp_nonce_table_create(NONCES);
    ingest->ceilings = fp_ceilings_create(metrics);
    if (ingest->nonces == NULL || ingest->ceilings == NULL ||
        pthread_mutex_init(&ingest->lock, NULL) != 0) {
        fp_nonce_table_free(ingest->nonces);
        fp_ceilings_free(ingest->ceilings);
        free(ingest);
        return NULL;
    }
    ingest->spool = spool;
    ingest->metrics = metrics;
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
    fp_nonce_table_free(ingest->nonces);
    fp_ceilings_free(ingest->ceilings);
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

void fp_ingest_reload(struct fp_ingest *ingest, struct fp_rules *rules)
{
    /* Only this function, on the main thread, changes ingest->rules. */
    fp_rules_keep_budgets(rules, ingest->rules);
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

bool fp_ingest_admit(const struct fp_rules *rules, const struct fp_admission *admission,
                     const struct fp_site **site, const struct fp_str **admitted_origin,
                     struct fp_problem *problem)
{
    *admitted_origin = NULL;
    *site = fp_rules_site(rules, admission->key);
    if (*site == NULL) {
        fp_problem_set(problem, 403, "the site key in the path is not known here");
        return false;
    }
    if (admission->has_origin) {
        *admitted_origin = fp_site_origin(*site, admission->origin);
        if (*admitted_origin == NULL) {
            fp_problem_set(problem, 403,
                           "pages of this origin may not upload for this site; its configuration "
                           "lists the origins that may");
            return false;
        }
    }
    if (admission->gpc && rules->honour_gpc) {
        fp_problem_set(
            problem, 403,
            "the browser asks not to share data (Sec-GPC: 1), and that is honoured here");
        return false;
    }
    return true;
}

bool fp_ingest_charge(struct fp_ingest *ingest, const struct fp_rules *rules, size_t bytes)
{
    size_t before = atomic_fetch_add_explicit(&ingest->body_bytes, bytes, memory_order_relaxed);
    if (before + bytes <= rules->body_memory)
        return true;
    fp_ingest_uncharge(ingest, bytes);
    return false;
}

void fp_ingest_uncharge(struct fp_ingest *ingest, size_t bytes)
{
    atomic_fetch_sub_explicit(&ingest->body_bytes, bytes, memory_order_relaxed);
}

/* ---- workbenches ---- */

/* NULL when there are none to spare. */
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

/* ---- preparing ---- */

/* What is known while the uploads of one request are prepared. */
struct work {
    struct fp_ingest *ingest;
    const struct fp_upload *upload;
    struct fp_workbench *bench;
    struct fp_problem *problem;
    int64_t received_us;
    size_t inflated_left; /* of limits.max_inflated, for all parts together */
    size_t upload_count;
};

/* Either the maximum of one upload is reached, or the machine has no memory: that passes. */
static void set_memory_problem(struct work *work)
{
    const struct fp_buf *record = &work->bench->record;
    if (!work->bench->arena.full && (!record->failed || record->starved)) {
        set_deferred(work->problem, RETRY_BUSY_S, no_memory);
        return;
    }
    fp_problem_set(
        work->problem, 413,
        "the upload needs more working memory than is set aside for one (limits.upload_memory)");
}

/* What a decoder found wrong, as a status. */
static bool refuse_format(struct work *work, const struct fp_format_error *error)
{
    static const unsigned statuses[] = {
        [FP_FORMAT_MALFORMED] = 400,
        [FP_FORMAT_TOO_LARGE] = 413,
        [FP_FORMAT_UNSUPPORTED] = 415,
        [FP_FORMAT_INVALID] = 422,
    };
    if (error->verdict == FP_FORMAT_MEMORY) {
        set_memory_problem(work);
        return false;
    }
    fp_problem_set(work->problem, statuses[error->verdict], "%s", error->detail);
    work->problem->has_pointer = error->has_pointer;
    memcpy(work->problem->pointer, error->pointer, sizeof(work->problem->pointer));
    work->problem->offset = error->offset;
    return false;
}

static bool inflate(struct work *work, struct fp_str body, struct fp_str encoding,
                    struct fp_str *inflated)
{
    struct fp_inflate_input input = {body, encoding, work->inflated_left};
    struct fp_format_error error;
    if (fp_inflate(&input, &work->bench->arena, inflated, &error) != FP_FORMAT_OK)
        return refuse_format(work, &error);
    work->inflated_left -= inflated->len;
    return true;
}

/* Whether the upload's token lets it in; the sample rate that it verifies. */
static bool admit_token(struct work *work, struct fp_str token, uint32_t *rate_ppm)
{
    const struct fp_token_claim claim = {
        .site = work->upload->site,
        .token = token,
        .now_us = work->received_us,
        .nonces = work->ingest->nonces,
        .metrics = work->ingest->metrics,
    };
    return fp_token_admit(&claim, rate_ppm, work->problem);
}

static void name_session_part(const struct fp_upload_part *part, struct fp_profile *profile)
{
    if (part == NULL)
        return;
    if (!profile->has_id)
        profile->id = part->id;
    profile->has_id = true;
    profile->has_load = true;
    profile->load = part->session;
    profile->part = part->number;
}

/* Adds one upload to the bench's record. received_len: its bytes as they came. */
static bool fold(struct work *work, struct fp_str inflated, size_t received_len)
{
    const struct fp_upload *upload = work->upload;
    struct fp_workbench *bench = work->bench;
    struct fp_profile profile;
    struct fp_format_error error;
    uint32_t rate_ppm;
    struct fp_format_limits limits = upload->rules->format;
    limits.keep_content = fp_keep_draw(upload->site->sample_keep_ppm);
    if (fp_format_decode(inflated, upload->format, &limits, &bench->arena, &profile, &error) !=
        FP_FORMAT_OK)
        return refuse_format(work, &error);
    name_session_part(upload->part, &profile);
    if (!admit_token(work, profile.token, &rate_ppm))
        return false;

    const struct fp_fold_context context = {
        .site = upload->site->name,
        .rules = {upload->rules->keep_query, upload->site->routes.items, upload->site->routes.count,
                  upload->site->timing_names.items, upload->site->timing_names.count},
        .referer = upload->referer,
        .user_agent = upload->user_agent,
        .rate_ppm = rate_ppm,
        .measures = upload->rules->measures,
        .received_us = work->received_us,
        .body_bytes = (uint32_t)received_len, /* at most limits.max_body, 1 GiB */
        .ceilings = work->ingest->ceilings,
        .ceiling_limits = &upload->rules->ceilings,
    };
    struct fp_delta delta;
    const struct fp_str raw = upload->rules->keep_raw ? inflated : (struct fp_str){NULL, 0};
    if (!fp_fold(&profile, &context, &bench->arena, &delta) ||
        !fp_keep_pack(&delta, raw, &bench->arena)) {
        set_memory_problem(work);
        return false;
    }
    fp_record_add(&bench->record, &delta);
    if (bench->record.failed) {
        set_memory_problem(work);
        return false;
    }
    work->upload_count++;
    fp_metrics_add(work->ingest->metrics, FP_METRIC_INFLATED_BYTES, inflated.len);
    fp_metrics_add(work->ingest->metrics, FP_METRIC_ENTRIES_SKIPPED, delta.skipped_entries);
    fp_metrics_add(work->ingest->metrics, FP_METRIC_ENTRIES_UNORDERED, profile.unordered_entries);
    fp_metrics_add(work->ingest->metrics, FP_METRIC_MEASURES_UNJOINED, delta.unmeasured);
    return true;
}

/* Tells in which part of several the problem is. */
static void name_part(struct work *work)
{
    char detail[sizeof(work->problem->detail)];
    memcpy(detail, work->problem->detail, sizeof(detail));
    snprintf(work->problem->detail, sizeof(work->problem->detail), "part %zu: %.*s",
             work->upload_count + 1, (int)sizeof(detail) - 32, detail);
}

static bool fold_parts(struct work *work, struct fp_str body)
{
    struct fp_multipart multipart = {.body = body, .boundary = work->upload->boundary};
    /* The whole was charged when it was inflated; parts that are compressed in themselves add. */
    for (;;) {
        struct fp_str part;
        enum fp_multipart_step step = fp_multipart_next(&multipart, &part);
        if (step == FP_MULTIPART_BROKEN) {
            fp_problem_set(work->problem, 400,
                           "the multipart body ends before its closing boundary, or a part has no "
                           "empty line behind its headers");
            work->problem->offset = (int64_t)multipart.at;
            return false;
        }
        if (step == FP_MULTIPART_END)
            break;
        if (work->upload_count == FP_RECORD_DELTAS_MAX) {
            fp_problem_set(work->problem, 413, "a multipart body can have %d parts at most",
                           FP_RECORD_DELTAS_MAX);
            return false;
        }
        struct fp_str inflated;
        if (!inflate(work, part, FP_STR(""), &inflated) || !fold(work, inflated, part.len)) {
            name_part(work);
            return false;
        }
    }
    if (work->upload_count > 0)
        return true;
    fp_problem_set(work->problem, 422, "the multipart body has no part");
    return false;
}

static bool prepare_at(struct work *work)
{
    const struct fp_upload *upload = work->upload;
    struct fp_str inflated;
    if (!inflate(work, upload->body, upload->encoding, &inflated))
        return false;
    if (upload->boundary.len == 0)
        return fold(work, inflated, upload->body.len);
    work->inflated_left = upload->rules->format.max_inflated;
    return fold_parts(work, inflated);
}

bool fp_ingest_prepare(struct fp_ingest *ingest, const struct fp_upload *upload,
                       struct fp_ticket *ticket, struct fp_problem *problem)
{
    const char *trouble = fp_spool_trouble(ingest->spool);
    if (trouble != NULL) {
        fp_problem_set(problem, 503, "uploads are not taken just now: %s", trouble);
        problem->retry_s = RETRY_FULL_S;
        return false;
    }
    struct fp_workbench *bench = take_bench(ingest, upload->rules);
    if (bench == NULL) {
        set_deferred(problem, RETRY_BUSY_S, no_memory);
        return false;
    }
    struct work work = {
        .ingest = ingest,
        .upload = upload,
        .bench = bench,
        .problem = problem,
        .received_us = fp_clock_real_us(),
        .inflated_left = upload->rules->format.max_inflated,
    };
    if (!prepare_at(&work)) {
        return_bench(ingest, bench);
        return false;
    }
    ticket->ingest = ingest;
    ticket->workbench = bench;
    ticket->upload_count = work.upload_count;
    return true;
}

/* ---- committing ---- */

static void committed(void *context, enum fp_spool_error result)
{
    struct fp_ticket *ticket = context;
    struct fp_ingest *ingest = ticket->ingest;
    ticket->result = result;
    ticket->done(ticket->context);
    atomic_fetch_sub(&ingest->committing, 1);
}

void fp_ingest_commit(struct fp_ticket *ticket)
{
    struct fp_ingest *ingest = ticket->ingest;
    struct fp_workbench *bench = ticket->workbench;
    atomic_fetch_add(&ingest->committing, 1);
    enum fp_spool_error error =
        fp_spool_append(ingest->spool, bench->record.data, bench->record.len, committed, ticket);
    return_bench(ingest, bench);
    if (error != FP_SPOOL_OK)
        committed(ticket, error);
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
        fp_problem_set(problem, 413,
                       "what the upload comes to does not fit a record (spool.segment_bytes)");
        return false;
    case FP_SPOOL_STOPPING:
        set_deferred(problem, RETRY_BUSY_S, "the collector is stopping; send it again");
        return false;
    case FP_SPOOL_FULL:
    case FP_SPOOL_IO:
    case FP_SPOOL_LOCKED:
    case FP_SPOOL_NO_PATH:
    case FP_SPOOL_MEMORY:
        break;
    }
    fp_problem_set(problem, 503, "the upload could not be stored: %s",
                   fp_spool_error_text(ticket->result));
    problem->retry_s = RETRY_FULL_S;
    return false;
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
    };
    fp_dead_letters_add(ingest->letters, &letter, body);
}
