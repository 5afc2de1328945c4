/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepare: turns bytes into deltas, for a single upload and for the parts of a form.
 */
#include "collector/ingest/prepare.h"

#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/format/format.h"
#include "collector/inflate/inflate.h"
#include "collector/ingest/captures.h"
#include "collector/ingest/multipart.h"
#include "collector/ingest/pack.h"
#include "collector/ingest/token.h"
#include "collector/ingest/variant.h"
#include "collector/profile/fold/fold.h"
#include "collector/rollup/ids.h"
#include "collector/rollup/record.h"

#include <stdio.h>

_Static_assert(FP_PROFILE_SESSIONS_MAX <= FP_RECORD_DELTAS_MAX, "a recording fits into a record");

void fp_prepare_no_memory(struct fp_problem *problem)
{
    fp_problem_defer(problem, FP_REFUSAL_MEMORY, FP_RETRY_BUSY_S,
                     "there is not enough memory to decode the upload now");
}

/* Reports that memory ran out: either the upload reached its maximum, or the machine is out of
 * memory, which is temporary. */
static void set_memory_problem(struct fp_preparation *work)
{
    if (!work->arena->full && (!work->record->failed || work->record->starved)) {
        fp_prepare_no_memory(work->problem);
        return;
    }
    fp_problem_refuse(
        work->problem, FP_REFUSAL_LIMIT,
        "the upload needs more working memory than one upload may use (limits.upload_memory)");
}

/* Which step found the error in an upload. */
enum finder { INFLATER, DECODER };

static enum fp_refusal reason_of(const struct fp_upload_error *error, enum finder finder)
{
    static const enum fp_refusal reasons[][2] = {
        [FP_VERDICT_MALFORMED] = {FP_REFUSAL_COMPRESSION, FP_REFUSAL_NOT_JSON},
        [FP_VERDICT_TOO_LARGE] = {FP_REFUSAL_INFLATED_SIZE, FP_REFUSAL_LIMIT},
        [FP_VERDICT_UNSUPPORTED] = {FP_REFUSAL_ENCODING, FP_REFUSAL_FORMAT},
        [FP_VERDICT_INVALID] = {FP_REFUSAL_INVALID, FP_REFUSAL_INVALID},
    };
    bool is_version = error->verdict == FP_VERDICT_INVALID && error->has_pointer &&
                      strcmp(error->pointer, "/version") == 0;
    return is_version ? FP_REFUSAL_VERSION : reasons[error->verdict][finder];
}

static bool refuse_format(struct fp_preparation *work, const struct fp_upload_error *error,
                          enum finder finder)
{
    if (error->verdict == FP_VERDICT_MEMORY) {
        set_memory_problem(work);
        return false;
    }
    fp_problem_refuse(work->problem, reason_of(error, finder), "%s", error->detail);
    work->problem->has_pointer = error->has_pointer;
    memcpy(work->problem->pointer, error->pointer, sizeof(work->problem->pointer));
    work->problem->offset = error->offset;
    return false;
}

/* True if it begins like gzip or zstd. (Text may begin with zlib's two bytes, and brotli has no
 * signature.) */
static bool is_compressed(struct fp_str body)
{
    static const char gzip[] = {'\x1f', '\x8b'};
    static const char zstd[] = {'\x28', '\xb5', '\x2f', '\xfd'};
    return (body.len >= sizeof(gzip) && memcmp(body.ptr, gzip, sizeof(gzip)) == 0) ||
           (body.len >= sizeof(zstd) && memcmp(body.ptr, zstd, sizeof(zstd)) == 0);
}

static bool inflate(struct fp_preparation *work, struct fp_str body, struct fp_str encoding,
                    struct fp_str *inflated)
{
    struct fp_inflate_input input = {body, encoding, work->inflated_left};
    struct fp_upload_error error;
    if (fp_inflate(&input, work->arena, inflated, &error) != FP_VERDICT_OK)
        return refuse_format(work, &error, INFLATER);
    work->inflated_left -= inflated->len;
    if (inflated->ptr == body.ptr || !is_compressed(*inflated))
        return true;
    fp_problem_refuse(work->problem, FP_REFUSAL_COMPRESSED_TWICE,
                      "the body is compressed twice: it is still compressed after it was inflated "
                      "once; compress it in one place only");
    return false;
}

/* True if the upload, with all its views, has samples. */
static bool has_samples(const struct fp_profile *profile)
{
    bool has = profile->sample_count > 0;
    for (profile = profile->next; profile != NULL && profile->is_view; profile = profile->next)
        has |= profile->sample_count > 0;
    return has;
}

/* Makes the proven arms part of the variant. */
static bool join_variant(struct fp_preparation *work, struct fp_profile *profile)
{
    if (work->upload->site->token_key_files.count == 0 ||
        fp_variant_join(work->proof.arms, profile->said.variant, work->arena,
                        &profile->said.variant))
        return true;
    set_memory_problem(work);
    return false;
}

/* True if the upload's token admits it; keeps what the token proves. */
static bool admit_token(struct fp_preparation *work, const struct fp_profile *profile)
{
    const struct fp_upload *upload = work->upload;
    const struct fp_token_claim claim = {
        .site = upload->site,
        .token = upload->token.len > 0 ? upload->token : profile->token,
        .has_samples = has_samples(profile),
        .now_us = work->received_us,
        .metrics = work->metrics,
        .trial = upload->is_dry_run ? &work->trial : NULL,
    };
    return fp_token_admit(&claim, &work->proof, work->problem);
}

/* Copies what the request says about an upload: an id, unless the upload has its own, and its place
 * in a session. */
static void name_upload(const struct fp_preparation *work, bool is_single,
                        struct fp_profile *profile)
{
    const struct fp_upload *upload = work->upload;
    if (upload->key != NULL && !profile->has_id) {
        profile->has_id = true;
        profile->id =
            is_single ? *upload->key : fp_uuid_of_part(upload->key, (uint32_t)work->upload_count);
    }
    if (upload->part != NULL) {
        profile->has_load = true;
        profile->load = upload->part->session;
        profile->part = upload->part->number;
    }
}

/* Counts, unless this is a dry run. */
static void count(const struct fp_preparation *work, enum fp_ingest_metric metric, uint64_t amount)
{
    if (!work->upload->is_dry_run)
        fp_metrics_add(work->metrics, metric, amount);
}

/* True if the delta whose bytes are the record's from `begin` on can be decoded. What is
 * acknowledged must be readable: later nobody can send it again. Needs memory of its own, because
 * the upload may have used all that it may. */
static bool check_readable(struct fp_preparation *work, size_t begin)
{
    struct fp_arena arena;
    struct fp_record record;
    fp_arena_init(&arena, work->arena->max_bytes);
    const enum fp_delta_error error =
        fp_record_decode(work->record->data + begin, work->record->len - begin, &arena, &record);
    fp_arena_release(&arena);
    if (error == FP_DELTA_OK)
        return true;
    if (error == FP_DELTA_MEMORY)
        fp_prepare_no_memory(work->problem);
    else
        fp_problem_refuse(work->problem, FP_REFUSAL_UNREADABLE,
                          "fleetprof cannot read back what it made of this upload, so it was not "
                          "stored; this is a defect of fleetprof, please report it");
    return false;
}

static void count_refused(const struct fp_delta *delta, struct fp_refused_records *refused)
{
    if (delta->refusal_count == 0)
        return;
    refused->count += delta->records_refused;
    for (uint32_t i = 0; i < delta->refusal_count; i++)
        refused->by_reason[delta->refusals[i].reason] += delta->refusals[i].records;
    const struct fp_delta_refusal *first = &delta->refusals[0];
    refused->format = delta->format;
    refused->reason = first->reason;
    snprintf(refused->place, sizeof(refused->place), "%.*s", FP_STR_ARG(first->place));
}

/* An upload being prepared: a body, or one session in it. */
struct piece {
    struct fp_profile *profile;
    struct fp_str raw; /* as received, inflated */
    size_t body_bytes; /* its share of the body as received */
    bool is_single;    /* the only one in the request */
};

/* Drops the session of an upload that is over a ceiling. All else of the upload counts. */
static void drop_session(struct fp_preparation *work, struct fp_delta *delta,
                         const struct fp_kept_ceiling *ceiling)
{
    fp_kept_log(ceiling, work->charge.hour);
    delta->session = NULL;
    work->not_kept.uploads++;
    work->not_kept.sessions +=
        delta->format == FP_UPLOAD_SPEED_TRACER || delta->format == FP_UPLOAD_OPERA_SCOPE;
}

/* Takes the session from both ceilings, or drops it. */
static void take_kept(struct fp_preparation *work, struct fp_delta *delta,
                      const struct fp_kept_ceiling *own, const struct fp_kept_ceiling *all)
{
    struct fp_kept_charge *charge = &work->charge;
    const uint64_t bytes = fp_kept_size(delta);
    if (!fp_kept_take(own, charge->hour, bytes)) {
        drop_session(work, delta, own);
    } else if (!fp_kept_take(all, charge->hour, bytes)) {
        fp_kept_return(own->kept, charge->hour, bytes);
        drop_session(work, delta, all);
    } else {
        charge->bytes += bytes;
    }
}

/* Compresses what is kept of an upload, or drops all of it if a ceiling is reached. False if memory
 * is out. */
static bool keep_session(struct fp_preparation *work, struct fp_delta *delta, struct fp_str raw)
{
    const struct fp_kept_charge *charge = &work->charge;
    if (delta->session == NULL || charge->site == NULL)
        return fp_keep_pack(delta, raw, work->arena);
    const struct fp_site *site = work->upload->site;
    const struct fp_rules *rules = work->upload->rules;
    const struct fp_kept_ceiling own = {charge->site, fp_rules_kept_share(rules, site), site->name,
                                        "sites[].kept"};
    const struct fp_kept_ceiling all = {charge->all, rules->kept_per_hour, FP_STR(""),
                                        "limits.kept"};
    const bool is_own_full = fp_kept_is_full(&own, charge->hour);
    if (is_own_full || fp_kept_is_full(&all, charge->hour)) {
        drop_session(work, delta, is_own_full ? &own : &all);
        return true;
    }
    if (!fp_keep_pack(delta, raw, work->arena))
        return false;
    take_kept(work, delta, &own, &all);
    return true;
}

/* Folds an upload and adds it to the record. */
static bool add_to_record(struct fp_preparation *work, const struct piece *piece,
                          const struct fp_fold_context *context)
{
    struct fp_delta delta;
    const struct fp_str raw = work->upload->rules->keep_raw ? piece->raw : (struct fp_str){NULL, 0};
    if (!fp_fold(piece->profile, context, work->arena, &delta) ||
        !keep_session(work, &delta, raw)) {
        set_memory_problem(work);
        return false;
    }
    const size_t begin = work->record->len;
    fp_record_add(work->record, &delta);
    if (work->record->failed) {
        set_memory_problem(work);
        return false;
    }
    if (!check_readable(work, begin))
        return false;
    work->upload_count++;
    count_refused(&delta, &work->refused);
    count(work, FP_METRIC_ENTRIES_SKIPPED, delta.skipped_entries);
    count(work, FP_METRIC_ENTRIES_UNORDERED, piece->profile->unordered_entries);
    count(work, FP_METRIC_MEASURES_UNJOINED, delta.unmeasured);
    count(work, FP_METRIC_CUSTOM_DROPPED, delta.dropped_custom);
    return true;
}

/* True for an upload that says which part of its page load it covers. */
static bool is_part(const struct fp_preparation *work, const struct fp_profile *profile)
{
    return work->loads != NULL && profile->has_load && profile->has_id && profile->has_start &&
           profile->event_count == 0;
}

/* Does the same for a part of a page load, together with the parts before it. Other parts of the
 * page load wait. */
static bool add_part(struct fp_preparation *work, const struct piece *piece,
                     const struct fp_fold_context *context)
{
    struct fp_fold_context joining = *context;
    struct fp_loads_key *key = &work->remembered[work->remembered_count];
    struct fp_loads_visit visit;
    struct fp_part part;
    *key = (struct fp_loads_key){
        .site_id = fp_site_id(context->site),
        .load = piece->profile->load,
        .upload = piece->profile->id,
        .now_us = fp_clock_monotonic_us(),
    };
    fp_loads_begin(work->loads, key, &visit);
    joining.earlier = visit.earlier;
    joining.earlier_count = visit.earlier_count;
    joining.part = &part;
    bool is_added = add_to_record(work, piece, &joining);
    /* A part that came before keeps its place if it comes again, even when the repetition is
     * refused. */
    work->remembered_count += is_added && !visit.is_known;
    fp_metrics_add(work->metrics, FP_METRIC_LOAD_PARTS_JOINED, is_added && visit.earlier_count > 0);
    fp_loads_end(&visit, is_added ? &part : NULL);
    return is_added;
}

/* Returns the kind of traffic of an upload. */
static struct fp_str traffic_of(const struct fp_preparation *work, const struct fp_profile *profile)
{
    const struct fp_upload *upload = work->upload;
    if (work->sources == NULL || !profile->has_load)
        return FP_STR("");
    const struct fp_source_load load = {
        .site_id = fp_site_id(upload->site->name),
        .address = upload->address,
        .user_agent = upload->user_agent,
        .load = profile->load,
        .is_page =
            profile->said.frame.len == 0 && !fp_str_equal(profile->said.thread, FP_STR("worker")),
        .now_us = work->received_us,
    };
    return fp_sources_is_repeated(work->sources, &load) ? FP_STR("repeated") : FP_STR("");
}

/* Folds one upload into the record. */
static bool fold(struct fp_preparation *work, const struct piece *piece)
{
    const struct fp_upload *upload = work->upload;
    struct fp_profile *profile = piece->profile;
    if (work->upload_count == FP_RECORD_DELTAS_MAX) {
        fp_problem_refuse(
            work->problem, FP_REFUSAL_LIMIT,
            "a multipart body can have at most %d parts; each session of a recording and each view "
            "counts as one",
            FP_RECORD_DELTAS_MAX);
        return false;
    }
    name_upload(work, piece->is_single, profile);
    if ((!profile->is_view && !admit_token(work, profile)) || !join_variant(work, profile))
        return false;

    const struct fp_fold_context context = {
        .site = upload->site->name,
        .rules = {.keep_query = upload->rules->keep_query,
                  .kept = upload->rules->kept,
                  .routes = upload->site->routes.items,
                  .route_count = upload->site->routes.count,
                  .timing_names = upload->site->timing_names.items,
                  .timing_name_count = upload->site->timing_names.count},
        .custom = upload->site->custom.items,
        .custom_count = upload->site->custom.count,
        .referer = upload->referer,
        .user_agent = upload->user_agent,
        .traffic = traffic_of(work, profile),
        .rate_ppm = work->proof.rate_ppm,
        .measures = upload->rules->measures,
        .received_us = work->received_us,
        .body_bytes = (uint32_t)piece->body_bytes,              /* at most limits.max_body, 1 GiB */
        .ceilings = upload->is_dry_run ? NULL : work->ceilings, /* they refuse no upload */
        .ceiling_limits = &upload->rules->ceilings,
    };
    return is_part(work, profile) ? add_part(work, piece, &context)
                                  : add_to_record(work, piece, &context);
}

/* Returns a session's share of the received bytes, in proportion to its lines. */
static size_t share_of(struct fp_str raw, struct fp_str inflated, size_t received_len)
{
    return (size_t)((uint64_t)received_len * raw.len / inflated.len);
}

/* Folds a decoded body into the record: one upload, or one per session. The last session is charged
 * the bytes that belong to none. received_len: bytes of the body as received. */
static bool fold_profiles(struct fp_preparation *work, struct fp_profile *profile,
                          struct fp_str inflated, size_t received_len)
{
    const struct fp_upload *upload = work->upload;
    struct piece piece = {.raw = inflated,
                          .is_single = upload->boundary.len == 0 && profile->next == NULL};
    size_t left_len = received_len;
    for (piece.profile = profile; piece.profile != NULL; piece.profile = piece.profile->next) {
        if (piece.profile->session.raw.ptr != NULL)
            piece.raw = piece.profile->session.raw;
        piece.body_bytes =
            piece.profile->next != NULL ? share_of(piece.raw, inflated, received_len) : left_len;
        left_len -= piece.body_bytes;
        if (!fold(work, &piece))
            return false;
    }
    count(work, FP_METRIC_INFLATED_BYTES, inflated.len);
    return true;
}

static bool fold_body(struct fp_preparation *work, struct fp_str inflated, size_t received_len,
                      struct fp_continuation *continuation)
{
    struct fp_profile profile;
    struct fp_upload_error error;
    struct fp_format_limits limits = work->upload->rules->format;
    limits.closed_formats = work->upload->site->closed_formats;
    limits.keep_ppm = work->upload->site->sample_keep_ppm;
    limits.keep_key = work->key;
    limits.keep_site_id = fp_site_id(work->upload->site->name);
    limits.continuation = continuation;
    if (fp_format_decode(inflated, work->upload->format, &limits, work->arena, &profile, &error) !=
        FP_VERDICT_OK)
        return refuse_format(work, &error, DECODER);
    return fold_profiles(work, &profile, inflated, received_len);
}

/* Folds a part of a long session with what the part before it left, and keeps what it leaves. */
static bool fold_session_part(struct fp_preparation *work, struct fp_str inflated)
{
    const struct fp_upload *upload = work->upload;
    const struct fp_upload_part *part = upload->part;
    const uint64_t site_id = fp_site_id(upload->site->name);
    struct fp_continuation continuation;
    fp_captures_continue(part->captures, site_id, &part->session, part->number, &continuation);
    bool is_folded = fold_body(work, inflated, upload->body.len, &continuation);
    fp_carry_unref(continuation.before);
    if (is_folded)
        fp_captures_keep(part->captures, site_id, &part->session, part->number, continuation.after);
    else
        fp_carry_unref(continuation.after);
    return is_folded;
}

/* Adds the part's number to the problem. */
static void name_part(struct fp_preparation *work, size_t number)
{
    char detail[sizeof(work->problem->detail)];
    memcpy(detail, work->problem->detail, sizeof(detail));
    snprintf(work->problem->detail, sizeof(work->problem->detail), "part %zu: %.*s", number,
             (int)sizeof(detail) - 32, detail);
}

static bool fold_parts(struct fp_preparation *work, struct fp_str body)
{
    struct fp_multipart multipart = {.body = body, .boundary = work->upload->boundary};
    /* The whole body was charged when it was inflated; only parts that are compressed themselves
     * add to that. */
    for (size_t number = 1;; number++) {
        struct fp_str part;
        enum fp_multipart_step step = fp_multipart_next(&multipart, &part);
        if (step == FP_MULTIPART_BROKEN) {
            fp_problem_refuse(work->problem, FP_REFUSAL_FORM,
                              "the multipart body ends before its closing boundary, or a part has "
                              "no empty line after its headers");
            work->problem->offset = (int64_t)multipart.at;
            return false;
        }
        if (step == FP_MULTIPART_END)
            break;
        struct fp_str inflated;
        if (!inflate(work, part, FP_STR(""), &inflated) ||
            !fold_body(work, inflated, part.len, NULL)) {
            name_part(work, number);
            return false;
        }
    }
    if (work->upload_count > 0)
        return true;
    fp_problem_refuse(work->problem, FP_REFUSAL_INVALID, "the multipart body has no part");
    return false;
}

static bool prepare(struct fp_preparation *work)
{
    work->received_us = fp_clock_real_us();
    work->inflated_left = work->upload->rules->format.max_inflated;
    work->charge = (struct fp_kept_charge){
        .site = work->kept != NULL ? work->upload->site->kept : NULL,
        .all = work->kept,
        .hour = work->received_us / FP_US_PER_HOUR,
    };
    const struct fp_upload *upload = work->upload;
    struct fp_str inflated;
    if (!inflate(work, upload->body, upload->encoding, &inflated))
        return false;
    if (upload->part != NULL)
        return fold_session_part(work, inflated);
    if (upload->boundary.len == 0)
        return fold_body(work, inflated, upload->body.len, NULL);
    work->inflated_left = upload->rules->format.max_inflated;
    return fold_parts(work, inflated);
}

bool fp_prepare(struct fp_preparation *work)
{
    if (prepare(work))
        return true;
    /* Nothing of the request counts. */
    fp_kept_refund(&work->charge);
    for (size_t i = 0; i < work->remembered_count; i++)
        fp_loads_forget(work->loads, &work->remembered[i]);
    return false;
}
