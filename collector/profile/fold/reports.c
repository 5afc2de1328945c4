/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, reports: crashes and broken policies become timings of kinds of their own, without values.
 *
 * A crash is named after its reason; its source says whether anybody saw the document, and its
 * function is the stack: the ids of its frames, innermost first. These frames have names in the
 * delta and no time.
 */
#include "collector/base/assert.h"
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/name.h"
#include "collector/profile/text.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    POLICY_MAX = 64, /* code points of a policy's name */
    ID_MAX = 21,     /* bytes of an id's text, and a comma */
};

size_t fp_fold_calls(const struct fp_profile *profile)
{
    size_t count = 0;
    for (uint32_t i = 0; i < profile->report_count; i++)
        count += profile->reports[i].call_count;
    return count;
}

static bool name_call(struct fp_fold *fold, const struct fp_profile_call *call, uint32_t *frame)
{
    uint32_t resource = FP_INDEX_NONE;
    if (call->url.len > 0 && !fp_fold_url(fold, call->url, &resource))
        return false;
    const struct fp_frame_key key = {
        .function = fp_text_trim(call->function),
        .resource_id = resource != FP_INDEX_NONE ? fold->delta->resources[resource].id : 0,
        .line = call->line,
        .column = call->column,
        .kind = resource != FP_INDEX_NONE ? FP_FRAME_FUNCTION : FP_FRAME_BUILTIN,
    };
    return fp_fold_frame(fold, &key, resource, frame);
}

static bool name_all(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    uint32_t *frame = fold->call_of;
    for (uint32_t i = 0; i < profile->report_count; i++)
        for (uint32_t k = 0; k < profile->reports[i].call_count; k++)
            if (!name_call(fold, &profile->reports[i].calls[k], frame++))
                return false;
    return true;
}

bool fp_fold_name_calls(struct fp_fold *fold)
{
    struct fp_delta *delta = fold->delta;
    const size_t count = fp_fold_calls(fold->profile);
    if (count == 0)
        return true;
    FP_ASSERT(delta->frame_count == 0 && delta->stack_count == 0);
    delta->resources = fp_fold_array(fold, count, sizeof(*delta->resources));
    delta->frames = fp_fold_array(fold, count, sizeof(*delta->frames));
    fold->call_of = fp_fold_indexes(fold, count);
    uint32_t *frame_to = fp_fold_indexes(fold, count);
    if (delta->resources == NULL || delta->frames == NULL || fold->call_of == NULL ||
        frame_to == NULL || !name_all(fold) || !fp_fold_bound_frames(fold, frame_to))
        return false;
    for (size_t i = 0; i < count; i++)
        fold->call_of[i] = frame_to[fold->call_of[i]];
    return true;
}

/* Writes the ids of a report's frames. False: no memory. */
static bool write_stack(struct fp_fold *fold, const uint32_t *frames, uint32_t count,
                        struct fp_str *text)
{
    char *bytes = fp_fold_array(fold, count, ID_MAX);
    size_t len = 0;
    *text = FP_STR("");
    if (count == 0)
        return true;
    if (bytes == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        len += (size_t)snprintf(bytes + len, (size_t)count * ID_MAX - len, "%s%" PRId64,
                                i > 0 ? "," : "", (int64_t)fold->delta->frames[frames[i]].id);
    *text = (struct fp_str){bytes, len};
    return true;
}

static bool add_crash(struct fp_fold *fold, const struct fp_profile_report *report,
                      const uint32_t *frames)
{
    static const char *const seen[2][2] = {{"", "frame"}, {"hidden", "hidden frame"}};
    struct fp_timing_key key = {
        .kind = FP_TIMING_HANG,
        .name = fp_str_of(fp_crash_name(report->crash)),
        .source = fp_str_of(seen[report->is_hidden][report->is_in_frame]),
    };
    if (!write_stack(fold, frames, report->call_count, &key.function))
        return false;
    /* Over its ceiling a crash loses its stack. What is left has few values. */
    if (key.function.len > 0 && fp_fold_is_over(fold, key.kind, fp_timing_id(fold->site_id, &key)))
        key.function = FP_STR("");
    const uint32_t timing = fp_fold_timing(fold, &key);
    if (timing == FP_MAP_NONE)
        return false;
    fp_fold_sum_up(fold, timing, 1, 0);
    return true;
}

static bool add_violation(struct fp_fold *fold, const struct fp_profile_report *report)
{
    struct fp_timing_key key = {.kind = FP_TIMING_VIOLATION};
    uint32_t timing;
    if (!fp_scrub_name(&fold->context->rules, report->policy, fold->arena, &key.name))
        return false;
    key.name = fp_text_cut(key.name, POLICY_MAX);
    if (!fp_fold_bounded(fold, key, &timing))
        return false;
    fp_fold_sum_up(fold, timing, 1, 0);
    return true;
}

bool fp_fold_reports(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    const uint32_t *frames = fold->call_of;
    for (uint32_t i = 0; i < profile->report_count; i++) {
        const struct fp_profile_report *report = &profile->reports[i];
        if (report->policy.ptr != NULL ? !add_violation(fold, report)
                                       : !add_crash(fold, report, frames))
            return false;
        frames = report->call_count > 0 ? frames + report->call_count : frames;
    }
    return true;
}
