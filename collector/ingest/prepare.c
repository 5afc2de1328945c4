/*
 * Prepare: turns bytes into deltas, for a single upload and for the parts of a form.
 */
#include "collector/ingest/prepare.h"

#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/format/format.h"
#include "collector/inflate/inflate.h"
#include "collector/ingest/multipart.h"
#include "collector/ingest/pack.h"
#include "collector/ingest/token.h"
#include "collector/profile/fold.h"
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

/* True if the upload's token admits it; sets the sample rate that the token verifies. */
static bool admit_token(struct fp_preparation *work, struct fp_str token, uint32_t *rate_ppm)
{
    const struct fp_token_claim claim = {
        .site = work->upload->site,
        .token = token,
        .now_us = work->received_us,
        .nonces = work->nonces,
        .metrics = work->metrics,
        .trial = work->upload->is_dry_run ? &work->trial : NULL,
    };
    return fp_token_admit(&claim, rate_ppm, work->problem);
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

/* An upload being prepared: a body, or one session in it. */
struct piece {
    struct fp_profile *profile;
    struct fp_str raw; /* as received, inflated */
    size_t body_bytes; /* its share of the body as received */
    bool is_single;    /* the only one in the request */
};

/* Folds one upload into the record. */
static bool fold(struct fp_preparation *work, const struct piece *piece)
{
    const struct fp_upload *upload = work->upload;
    struct fp_profile *profile = piece->profile;
    uint32_t rate_ppm;
    if (work->upload_count == FP_RECORD_DELTAS_MAX) {
        fp_problem_refuse(
            work->problem, FP_REFUSAL_LIMIT,
            "a multipart body can have at most %d parts; each session of a recording counts as one",
            FP_RECORD_DELTAS_MAX);
        return false;
    }
    name_upload(work, piece->is_single, profile);
    if (!admit_token(work, upload->token.len > 0 ? upload->token : profile->token, &rate_ppm))
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
        .body_bytes = (uint32_t)piece->body_bytes,              /* at most limits.max_body, 1 GiB */
        .ceilings = upload->is_dry_run ? NULL : work->ceilings, /* they refuse no upload */
        .ceiling_limits = &upload->rules->ceilings,
    };
    struct fp_delta delta;
    const struct fp_str raw = upload->rules->keep_raw ? piece->raw : (struct fp_str){NULL, 0};
    if (!fp_fold(profile, &context, work->arena, &delta) ||
        !fp_keep_pack(&delta, raw, work->arena)) {
        set_memory_problem(work);
        return false;
    }
    fp_record_add(work->record, &delta);
    if (work->record->failed) {
        set_memory_problem(work);
        return false;
    }
    work->upload_count++;
    count(work, FP_METRIC_ENTRIES_SKIPPED, delta.skipped_entries);
    count(work, FP_METRIC_ENTRIES_UNORDERED, profile->unordered_entries);
    count(work, FP_METRIC_MEASURES_UNJOINED, delta.unmeasured);
    return true;
}

/* Returns a session's share of the received bytes, in proportion to its lines. */
static size_t share_of(struct fp_str raw, struct fp_str inflated, size_t received_len)
{
    return (size_t)((uint64_t)received_len * raw.len / inflated.len);
}

/* Folds a body into the record: one upload, or one per session. The last session is charged the
 * bytes that belong to none. received_len: bytes of the body as received. */
static bool fold_body(struct fp_preparation *work, struct fp_str inflated, size_t received_len)
{
    const struct fp_upload *upload = work->upload;
    struct fp_profile profile;
    struct fp_upload_error error;
    struct fp_format_limits limits = upload->rules->format;
    limits.keep_ppm = upload->site->sample_keep_ppm;
    if (fp_format_decode(inflated, upload->format, &limits, work->arena, &profile, &error) !=
        FP_VERDICT_OK)
        return refuse_format(work, &error, DECODER);

    struct piece piece = {.raw = inflated,
                          .is_single = upload->boundary.len == 0 && profile.next == NULL};
    size_t left_len = received_len;
    for (piece.profile = &profile; piece.profile != NULL; piece.profile = piece.profile->next) {
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
        if (!inflate(work, part, FP_STR(""), &inflated) || !fold_body(work, inflated, part.len)) {
            name_part(work, number);
            return false;
        }
    }
    if (work->upload_count > 0)
        return true;
    fp_problem_refuse(work->problem, FP_REFUSAL_INVALID, "the multipart body has no part");
    return false;
}

bool fp_prepare(struct fp_preparation *work)
{
    work->received_us = fp_clock_real_us();
    work->inflated_left = work->upload->rules->format.max_inflated;
    const struct fp_upload *upload = work->upload;
    struct fp_str inflated;
    if (!inflate(work, upload->body, upload->encoding, &inflated))
        return false;
    if (upload->boundary.len == 0)
        return fold_body(work, inflated, upload->body.len);
    work->inflated_left = upload->rules->format.max_inflated;
    return fold_parts(work, inflated);
}
