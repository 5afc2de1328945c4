/*
 * Prepare: from bytes to deltas, for a single upload and for the parts of a form.
 */
#include "collector/ingest_prepare.h"

#include "collector/base/clock.h"
#include "collector/base/uuid.h"
#include "collector/ingest_keep.h"
#include "collector/ingest_multipart.h"
#include "collector/ingest_token.h"
#include "collector/profile/fold.h"
#include "collector/rollup/record.h"

#include <stdio.h>

void fp_prepare_no_memory(struct fp_problem *problem)
{
    fp_problem_defer(problem, FP_RETRY_BUSY_S, "there is no memory to decode the upload just now");
}

/* Either the maximum of one upload is reached, or the machine has no memory: that passes. */
static void set_memory_problem(struct fp_preparation *work)
{
    if (!work->arena->full && (!work->record->failed || work->record->starved)) {
        fp_prepare_no_memory(work->problem);
        return;
    }
    fp_problem_set(
        work->problem, 413,
        "the upload needs more working memory than is set aside for one (limits.upload_memory)");
}

/* What a decoder found wrong, as a status. */
static bool refuse_format(struct fp_preparation *work, const struct fp_format_error *error)
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

static bool inflate(struct fp_preparation *work, struct fp_str body, struct fp_str encoding,
                    struct fp_str *inflated)
{
    struct fp_inflate_input input = {body, encoding, work->inflated_left};
    struct fp_format_error error;
    if (fp_inflate(&input, work->arena, inflated, &error) != FP_FORMAT_OK)
        return refuse_format(work, &error);
    work->inflated_left -= inflated->len;
    return true;
}

/* Whether the upload's token lets it in; the sample rate that it verifies. */
static bool admit_token(struct fp_preparation *work, struct fp_str token, uint32_t *rate_ppm)
{
    const struct fp_token_claim claim = {
        .site = work->upload->site,
        .token = token,
        .now_us = work->received_us,
        .nonces = work->nonces,
        .metrics = work->metrics,
    };
    return fp_token_admit(&claim, rate_ppm, work->problem);
}

/* What the request says of an upload: an id, unless it has its own, and its place in a session. */
static void name_upload(const struct fp_preparation *work, struct fp_profile *profile)
{
    const struct fp_upload *upload = work->upload;
    if (upload->key != NULL && !profile->has_id) {
        bool is_form = upload->boundary.len > 0;
        profile->has_id = true;
        profile->id =
            is_form ? fp_uuid_of_part(upload->key, (uint32_t)work->upload_count) : *upload->key;
    }
    if (upload->part != NULL) {
        profile->has_load = true;
        profile->load = upload->part->session;
        profile->part = upload->part->number;
    }
}

/* Adds one upload to the bench's record. received_len: its bytes as they came. */
static bool fold(struct fp_preparation *work, struct fp_str inflated, size_t received_len)
{
    const struct fp_upload *upload = work->upload;
    struct fp_profile profile;
    struct fp_format_error error;
    uint32_t rate_ppm;
    struct fp_format_limits limits = upload->rules->format;
    limits.keep_ppm = upload->site->sample_keep_ppm;
    if (fp_format_decode(inflated, upload->format, &limits, work->arena, &profile, &error) !=
        FP_FORMAT_OK)
        return refuse_format(work, &error);
    name_upload(work, &profile);
    if (!admit_token(work, upload->token.len > 0 ? upload->token : profile.token, &rate_ppm))
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
        .ceilings = work->ceilings,
        .ceiling_limits = &upload->rules->ceilings,
    };
    struct fp_delta delta;
    const struct fp_str raw = upload->rules->keep_raw ? inflated : (struct fp_str){NULL, 0};
    if (!fp_fold(&profile, &context, work->arena, &delta) ||
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
    fp_metrics_add(work->metrics, FP_METRIC_INFLATED_BYTES, inflated.len);
    fp_metrics_add(work->metrics, FP_METRIC_ENTRIES_SKIPPED, delta.skipped_entries);
    fp_metrics_add(work->metrics, FP_METRIC_ENTRIES_UNORDERED, profile.unordered_entries);
    fp_metrics_add(work->metrics, FP_METRIC_MEASURES_UNJOINED, delta.unmeasured);
    return true;
}

/* Tells in which part of several the problem is. */
static void name_part(struct fp_preparation *work)
{
    char detail[sizeof(work->problem->detail)];
    memcpy(detail, work->problem->detail, sizeof(detail));
    snprintf(work->problem->detail, sizeof(work->problem->detail), "part %zu: %.*s",
             work->upload_count + 1, (int)sizeof(detail) - 32, detail);
}

static bool fold_parts(struct fp_preparation *work, struct fp_str body)
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

bool fp_prepare(struct fp_preparation *work)
{
    work->received_us = fp_clock_real_us();
    work->inflated_left = work->upload->rules->format.max_inflated;
    const struct fp_upload *upload = work->upload;
    struct fp_str inflated;
    if (!inflate(work, upload->body, upload->encoding, &inflated))
        return false;
    if (upload->boundary.len == 0)
        return fold(work, inflated, upload->body.len);
    work->inflated_left = upload->rules->format.max_inflated;
    return fold_parts(work, inflated);
}
