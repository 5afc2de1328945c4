/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, observed: vitals, interactions and their results, long animation frames, resources and
 * coverage become timings of their own kinds, and windows that samples are joined with.
 */
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/name.h"
#include "collector/profile/scrub/selector.h"
#include "collector/profile/scrub/url.h"
#include "collector/profile/text.h"

#include <stdlib.h>

enum {
    WORD_MAX = 64, /* code points of an interaction's type and a resource's kind */
    /* Maximum of additions per entry: timings, values with bins, or windows. */
    ADDED_BY_ONE = 7,
    ADDED_BY_VITAL = ADDED_BY_ONE + 2 + FP_VITAL_PARTS_MAX, /* also its element and its parts */
    ADDED_BY_NONE = 10,
};

/* True if the host of its page tells the site's own scripts and responses from others. */
static bool needs_page_host(const struct fp_profile *profile)
{
    return profile->sample_count > 0 || profile->responses_count > 0;
}

size_t fp_fold_observed_max(const struct fp_profile *profile)
{
    size_t count = (size_t)profile->interaction_count + profile->result_count +
                   profile->long_frame_count + profile->script_count + profile->responses_count +
                   profile->response_duration_count;
    bool has_any = count > 0 || profile->vital_count > 0 || profile->has_first_paint ||
                   profile->coverage != FP_COVERAGE_NONE || needs_page_host(profile);
    return has_any ? count * ADDED_BY_ONE + (size_t)profile->vital_count * ADDED_BY_VITAL +
                         ADDED_BY_NONE
                   : 0;
}

/* Names. */

/* Joins texts in the arena. */
static bool join(const struct fp_fold *fold, const struct fp_str *parts, size_t count,
                 struct fp_str *joined)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += parts[i].len;
    char *bytes = fp_arena_alloc(fold->arena, len);
    if (bytes == NULL)
        return false;
    *joined = (struct fp_str){bytes, len};
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(bytes, parts[i].ptr, parts[i].len);
        bytes += parts[i].len;
    }
    return true;
}

static bool scrub_word(const struct fp_fold *fold, struct fp_str word, struct fp_str *scrubbed)
{
    if (!fp_scrub_name(&fold->context->rules, word, fold->arena, scrubbed))
        return false;
    *scrubbed = fp_text_cut(*scrubbed, WORD_MAX);
    return true;
}

/* Returns the timing of another kind with the texts of the timing `like`. FP_MAP_NONE: no memory.
 */
static uint32_t sister(struct fp_fold *fold, uint32_t like, enum fp_timing_kind kind)
{
    const struct fp_delta_timing *from = &fold->delta->timings[like];
    const struct fp_timing_key key = {kind, from->name, from->source, from->function,
                                      from->navigation};
    return fp_fold_timing(fold, &key);
}

/* Adds a value without a bin to the timing of another kind. */
static bool add_sum(struct fp_fold *fold, uint32_t like, enum fp_timing_kind kind, uint32_t count,
                    int64_t value_us)
{
    uint32_t timing = sister(fold, like, kind);
    if (timing == FP_MAP_NONE)
        return false;
    fp_fold_sum_up(fold, timing, count, value_us);
    return true;
}

/* Counts one of a timing that has no values. */
static bool count_one(struct fp_fold *fold, const struct fp_timing_key *key)
{
    uint32_t timing = fp_fold_timing(fold, key);
    if (timing == FP_MAP_NONE)
        return false;
    fp_fold_sum_up(fold, timing, 1, 0);
    return true;
}

struct span {
    int64_t start_us;
    int64_t duration_us;
};

static bool add_window_of(struct fp_fold *fold, struct fp_str name, enum fp_navigation navigation,
                          struct span span)
{
    const struct fp_timing_key key = {
        .kind = FP_TIMING_WINDOW, .name = name, .navigation = navigation};
    uint32_t timing = fp_fold_timing(fold, &key);
    if (timing == FP_MAP_NONE)
        return false;
    fp_fold_value(fold, timing, span.duration_us);
    fp_fold_window(fold, timing, span.start_us, span.duration_us);
    return true;
}

static bool add_window(struct fp_fold *fold, struct fp_str name, struct span span)
{
    return add_window_of(fold, name, FP_NAVIGATION_UNKNOWN, span);
}

/* Vitals. */

/* Finds the interaction that the INP is of: the longest of its events takes as long. */
static bool find_interaction(const struct fp_profile *profile, int64_t inp_us, struct span *span)
{
    for (uint32_t i = 0; i < profile->interaction_count; i++) {
        const struct fp_profile_interaction *interaction = &profile->interactions[i];
        if (interaction->longest_us != inp_us)
            continue;
        *span = (struct span){interaction->start_us, interaction->duration_us};
        return true;
    }
    return false;
}

/* Finds the time in which a vital came about: as the sender says, else from the page's start, or
 * that of an interaction. */
static bool find_window(const struct fp_profile *profile, const struct fp_profile_vital *vital,
                        struct span *span)
{
    *span = (struct span){vital->start_us, vital->duration_us};
    if (vital->has_window)
        return true;
    if (vital->vital == FP_VITAL_INP)
        return find_interaction(profile, vital->value_us, span);
    *span = (struct span){0, vital->value_us};
    return fp_navigation_is_since_start(vital->navigation) && vital->vital != FP_VITAL_CLS;
}

static struct fp_timing_key key_of(const struct fp_profile_vital *vital, enum fp_timing_kind kind)
{
    return (struct fp_timing_key){.kind = kind,
                                  .name = fp_str_of(fp_vital_name(vital->vital)),
                                  .navigation = vital->navigation};
}

/* Finds the timing of the element that a vital is of, FP_INDEX_NONE if that is not known. */
static bool find_element(struct fp_fold *fold, const struct fp_profile_vital *vital,
                         uint32_t *element)
{
    struct fp_timing_key key = key_of(vital, FP_TIMING_VITAL_ELEMENT);
    *element = FP_INDEX_NONE;
    if (vital->target.len == 0 && vital->url.len == 0)
        return true;
    return fp_scrub_selector(vital->target, false, fold->arena, &key.source) &&
           fp_scrub_resource(&fold->context->rules, vital->url, fold->page_url, fold->arena,
                             &key.function) &&
           fp_fold_bounded(fold, key, element);
}

/* Counts a vital that may be sent again. Its timings get their values in the rollup. */
static bool count_replaceable(struct fp_fold *fold, const struct fp_profile_vital *vital)
{
    uint32_t element;
    struct fp_delta *delta = fold->delta;
    if (delta->vitals == NULL)
        delta->vitals = fp_fold_array(fold, FP_FOLD_VITALS_MAX, sizeof(*delta->vitals));
    if (delta->vitals == NULL || !find_element(fold, vital, &element))
        return false;
    delta->vitals[delta->vital_count++] = (struct fp_delta_vital){.metric = vital->metric,
                                                                  .vital = vital->vital,
                                                                  .navigation = vital->navigation,
                                                                  .element = element,
                                                                  .value_us = vital->value_us,
                                                                  .parts = vital->parts};
    return true;
}

/* Adds the parts of a value. */
static bool add_parts(struct fp_fold *fold, const struct fp_profile_vital *vital)
{
    const size_t count = vital->parts.known > 0 ? fp_vital_part_count(vital->vital) : 0;
    for (size_t i = 0; i < count; i++) {
        struct fp_timing_key key = key_of(vital, FP_TIMING_VITAL_PART);
        key.source = fp_str_of(fp_vital_part_of(vital->vital, i)->name);
        const uint32_t timing = fp_fold_timing(fold, &key);
        if (timing == FP_MAP_NONE)
            return false;
        fp_fold_sum_up(fold, timing, 1,
                       fp_vital_part_us(vital->vital, i, &vital->parts, vital->value_us));
    }
    return true;
}

/* Adds the element and the parts of a value. */
static bool add_attribution(struct fp_fold *fold, const struct fp_profile_vital *vital)
{
    uint32_t element;
    if (!find_element(fold, vital, &element))
        return false;
    if (element != FP_INDEX_NONE)
        fp_fold_value(fold, element, vital->value_us);
    return add_parts(fold, vital);
}

static bool count_for_good(struct fp_fold *fold, const struct fp_profile_vital *vital)
{
    const enum fp_vital_rating rating = fp_vital_rate(vital->vital, vital->value_us);
    struct fp_timing_key key = key_of(vital, FP_TIMING_VITAL_FLAGGED);
    if (rating == FP_VITAL_FLAGGED)
        return count_one(fold, &key);
    key.kind = FP_TIMING_VITAL;
    uint32_t timing = fp_fold_timing(fold, &key);
    if (timing == FP_MAP_NONE)
        return false;
    fp_fold_value(fold, timing, vital->value_us);
    if (!add_attribution(fold, vital))
        return false;
    switch (rating) {
    case FP_VITAL_GOOD:
        key.kind = FP_TIMING_VITAL_GOOD;
        return count_one(fold, &key);
    case FP_VITAL_POOR:
        key.kind = FP_TIMING_VITAL_POOR;
        return count_one(fold, &key);
    case FP_VITAL_NEEDS_IMPROVEMENT:
    case FP_VITAL_FLAGGED:
    default:
        return true;
    }
}

static bool count_vital(struct fp_fold *fold, const struct fp_profile_vital *vital)
{
    const bool is_replaceable = vital->has_id && fold->profile->has_load &&
                                vital->value_us <= FP_DELTA_TIME_MAX_US &&
                                fold->delta->vital_count < FP_FOLD_VITALS_MAX;
    return is_replaceable && fp_fold_may_replace(fold) ? count_replaceable(fold, vital)
                                                       : count_for_good(fold, vital);
}

/* Adds the window of a good or poor value. It stays when the value is replaced. */
static bool add_rated_window(struct fp_fold *fold, const struct fp_profile_vital *vital,
                             const struct span *span)
{
    const char *name = fp_vital_name(vital->vital);
    enum fp_vital_rating rating = fp_vital_rate(vital->vital, vital->value_us);
    bool is_good = rating == FP_VITAL_GOOD;
    if (rating == FP_VITAL_NEEDS_IMPROVEMENT || rating == FP_VITAL_FLAGGED)
        return true;
    const struct fp_str parts[] = {FP_STR("("), fp_str_of(name),
                                   is_good ? FP_STR(") good") : FP_STR(") poor")};
    struct fp_str joined;
    return join(fold, parts, FP_COUNT(parts), &joined) &&
           add_window_of(fold, joined, vital->navigation, *span);
}

/* True for a share that is of an earlier response, as Firefox has it after a 304. The visitor of a
 * page that was rendered in advance waits for less than the server took. */
static bool is_earlier_share(const struct fp_profile_vital *vital)
{
    enum { ROUNDING_US = 50000 };
    return vital->navigation != FP_NAVIGATION_PRERENDER &&
           vital->server_us - vital->value_us >= ROUNDING_US;
}

/* Adds a time to first byte, and the server's share of it, by the word of the server's cache.
 * Clocks differ: a share is at most the whole. */
static bool add_ttfb(struct fp_fold *fold, const struct fp_profile_vital *vital)
{
    const int64_t whole_us = vital->value_us;
    struct fp_timing_key key = {.kind = FP_TIMING_TTFB};
    uint32_t timing;
    if (!vital->has_server || vital->navigation == FP_NAVIGATION_SOFT || is_earlier_share(vital))
        return true;
    if (!scrub_word(fold, vital->cache, &key.name) || !fp_fold_bounded(fold, key, &timing))
        return false;
    fp_fold_value(fold, timing, whole_us);
    return add_sum(fold, timing, FP_TIMING_TTFB_SERVER, 1,
                   vital->server_us < whole_us ? vital->server_us : whole_us);
}

static bool add_vital(struct fp_fold *fold, const struct fp_profile_vital *vital)
{
    struct span span;
    bool has_window = find_window(fold->profile, vital, &span);
    if (!count_vital(fold, vital) || !add_ttfb(fold, vital) ||
        (has_window && !add_rated_window(fold, vital, &span)))
        return false;
    /* The other windows are of page loads. */
    if (vital->navigation == FP_NAVIGATION_SOFT ||
        vital->navigation == FP_NAVIGATION_BACK_FORWARD_CACHE)
        return true;
    if (has_window && vital->vital == FP_VITAL_LCP)
        return add_window(fold, FP_STR("(lcp)"), span);
    bool is_first_paint = vital->vital == FP_VITAL_FCP && !fold->profile->has_first_paint;
    return !is_first_paint || !has_window || add_window(fold, FP_STR("(blocking)"), span);
}

/* Adds the time to the first paint, from when the visitor waits for it. */
static bool add_first_paint(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    struct span span = {profile->shown_us, profile->first_paint_us - profile->shown_us};
    if (span.duration_us < 0)
        span.duration_us = 0;
    return !profile->has_first_paint || add_window(fold, FP_STR("(blocking)"), span);
}

static bool add_vitals(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    for (uint32_t i = 0; i < profile->vital_count; i++)
        if (!add_vital(fold, &profile->vitals[i]))
            return false;
    return add_first_paint(fold);
}

/* Interactions. */

/* Returns the window's name, `(interaction) pointer button.add-to-cart`. */
static bool name_window(const struct fp_fold *fold, const struct fp_delta_timing *interaction,
                        struct fp_str *name)
{
    const bool has_target = interaction->source.len > 0;
    const struct fp_str parts[] = {FP_STR("(interaction) "), interaction->name, FP_STR(" "),
                                   interaction->source};
    return join(fold, parts, has_target ? FP_COUNT(parts) : 2, name);
}

static bool add_interaction(struct fp_fold *fold, const struct fp_profile_interaction *from)
{
    const struct span span = {from->start_us, from->duration_us};
    const bool is_flagged = from->longest_us >= FP_INTERACTION_FLAGGED_US;
    struct fp_timing_key key = {.kind = is_flagged ? FP_TIMING_INTERACTION_FLAGGED
                                                   : FP_TIMING_INTERACTION,
                                .navigation = from->navigation};
    struct fp_str name;
    uint32_t timing;
    if (!scrub_word(fold, from->type, &key.name) ||
        !fp_scrub_selector(from->target, false, fold->arena, &key.source) ||
        !fp_fold_bounded(fold, key, &timing))
        return false;
    if (is_flagged) {
        fp_fold_sum_up(fold, timing, 1, 0);
        return true;
    }
    fp_fold_value(fold, timing, from->duration_us);
    return add_sum(fold, timing, FP_TIMING_INPUT_DELAY, 1, from->delay_us) &&
           add_sum(fold, timing, FP_TIMING_PROCESSING, 1, from->processing_us) &&
           add_window(fold, FP_STR("(interaction)"), span) &&
           name_window(fold, &fold->delta->timings[timing], &name) && add_window(fold, name, span);
}

/* Adds the wait for a result. Windows have the target only: `(response) button.search`. */
static bool add_result(struct fp_fold *fold, const struct fp_profile_result *from)
{
    const struct span span = {from->start_us, from->duration_us};
    const bool is_flagged = from->duration_us >= FP_INTERACTION_FLAGGED_US;
    struct fp_timing_key key = {.kind =
                                    is_flagged ? FP_TIMING_RESPONSE_FLAGGED : FP_TIMING_RESPONSE,
                                .navigation = from->navigation};
    uint32_t timing;
    if (!scrub_word(fold, from->type, &key.name) ||
        !fp_scrub_selector(from->target, false, fold->arena, &key.source) ||
        !fp_fold_bounded(fold, key, &timing))
        return false;
    if (is_flagged) {
        fp_fold_sum_up(fold, timing, 1, 0);
        return true;
    }
    fp_fold_value(fold, timing, from->duration_us);
    const struct fp_str parts[] = {FP_STR("(response) "), fold->delta->timings[timing].source};
    struct fp_str name = FP_FOLD_RESPONSE;
    return add_window(fold, name, span) &&
           (parts[1].len == 0 ||
            (join(fold, parts, FP_COUNT(parts), &name) && add_window(fold, name, span))) &&
           fp_fold_add_response(fold, from, fp_text_cut(name, FP_TEXT_NAME_MAX));
}

/* Long animation frames. */

/* A script's part of a time of its frame. */
struct frame_part {
    uint64_t remainder;
    uint32_t script; /* of the frame */
    int64_t part_us;
};

static int compare_remainders(const void *a, const void *b)
{
    const struct frame_part *left = a;
    const struct frame_part *right = b;
    if (left->remainder != right->remainder)
        return left->remainder > right->remainder ? -1 : 1;
    return left->script < right->script ? -1 : 1;
}

static int compare_scripts(const void *a, const void *b)
{
    const struct frame_part *left = a;
    const struct frame_part *right = b;
    return left->script < right->script ? -1 : 1;
}

/* Divides a time of a frame among its scripts by their durations, to the microsecond: what rounding
 * leaves goes to the largest remainders. */
static void divide(int64_t time_us, const struct fp_profile_script *scripts, uint32_t count,
                   struct frame_part *parts)
{
    uint64_t total_us = 0;
    for (uint32_t i = 0; i < count; i++)
        total_us += (uint64_t)scripts[i].duration_us;
    int64_t left_us = time_us;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t weight = total_us > 0 ? (uint64_t)scripts[i].duration_us : 1;
        uint64_t whole = total_us > 0 ? total_us : count;
        __extension__ unsigned __int128 product = (unsigned __int128)(uint64_t)time_us * weight;
        parts[i] = (struct frame_part){(uint64_t)(product % whole), i, (int64_t)(product / whole)};
        left_us -= parts[i].part_us;
    }
    qsort(parts, count, sizeof(*parts), compare_remainders);
    for (int64_t i = 0; i < left_us; i++)
        parts[i].part_us++;
    qsort(parts, count, sizeof(*parts), compare_scripts);
}

static bool scrub_invoker(const struct fp_fold *fold, struct fp_str invoker,
                          struct fp_str *scrubbed)
{
    if (fp_invoker_is_url(invoker))
        return fp_scrub_resource(&fold->context->rules, invoker, fold->page_url, fold->arena,
                                 scrubbed);
    return fp_scrub_selector(invoker, true, fold->arena, scrubbed);
}

/* Adds a sum that may be missing. Where a browser says 0, that counts. */
static bool add_said(struct fp_fold *fold, uint32_t timing, enum fp_timing_kind kind,
                     int64_t value_us)
{
    return value_us == FP_DURATION_NONE || add_sum(fold, timing, kind, 1, value_us);
}

/* Adds a script's run, or a frame without scripts. */
static bool add_script(struct fp_fold *fold, const struct fp_profile_script *from, uint32_t *timing)
{
    const struct fp_scrub_rules *rules = &fold->context->rules;
    struct fp_timing_key key = {.kind = FP_TIMING_FRAME_SCRIPT};
    if (!scrub_invoker(fold, from->invoker, &key.name) ||
        !fp_scrub_resource(rules, from->url, fold->page_url, fold->arena, &key.source) ||
        !fp_scrub_name(rules, from->function, fold->arena, &key.function) ||
        !fp_fold_bounded(fold, key, timing))
        return false;
    fp_fold_value(fold, *timing, from->duration_us);
    return (from->forced_us == 0 ||
            add_sum(fold, *timing, FP_TIMING_FORCED_LAYOUT, 1, from->forced_us)) &&
           add_said(fold, *timing, FP_TIMING_FORCED_STYLE, from->forced_style_us) &&
           add_said(fold, *timing, FP_TIMING_FORCED_REFLOW, from->forced_layout_us);
}

/* Room for the scripts of one frame. */
struct frame_room {
    struct frame_part *parts;
    uint32_t *timings; /* of the scripts, or of the frame without any */
};

/* Adds a time of a frame to its scripts, each with its part. */
static bool add_divided(struct fp_fold *fold, const struct fp_profile_long_frame *frame,
                        const struct frame_room *room, enum fp_timing_kind kind, int64_t time_us)
{
    if (time_us == FP_DURATION_NONE)
        return true;
    if (frame->script_count == 0)
        return add_sum(fold, room->timings[0], kind, 1, time_us);
    divide(time_us, &fold->profile->scripts[frame->first_script], frame->script_count, room->parts);
    for (uint32_t i = 0; i < frame->script_count; i++)
        if (!add_sum(fold, room->timings[i], kind, 1, room->parts[i].part_us))
            return false;
    return true;
}

static bool add_scripts(struct fp_fold *fold, const struct fp_profile_long_frame *frame,
                        const struct frame_room *room)
{
    const struct fp_profile_script none = {.duration_us = frame->duration_us,
                                           .forced_style_us = FP_DURATION_NONE,
                                           .forced_layout_us = FP_DURATION_NONE};
    if (frame->script_count == 0)
        return add_script(fold, &none, &room->timings[0]);
    for (uint32_t i = 0; i < frame->script_count; i++)
        if (!add_script(fold, &fold->profile->scripts[frame->first_script + i], &room->timings[i]))
            return false;
    return true;
}

static bool add_long_frame(struct fp_fold *fold, const struct fp_profile_long_frame *frame,
                           const struct frame_room *room)
{
    const struct span span = {frame->start_us, frame->duration_us};
    return add_window(fold, FP_STR("(long frame)"), span) && add_scripts(fold, frame, room) &&
           (frame->blocking_us == 0 ||
            add_divided(fold, frame, room, FP_TIMING_BLOCKING, frame->blocking_us)) &&
           add_divided(fold, frame, room, FP_TIMING_STYLE, frame->style_us) &&
           add_divided(fold, frame, room, FP_TIMING_LAYOUT, frame->layout_us);
}

static bool add_long_frames(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    const uint32_t most = profile->script_count + 1;
    const struct frame_room room = {.parts = fp_fold_array(fold, most, sizeof(*room.parts)),
                                    .timings = fp_fold_array(fold, most, sizeof(*room.timings))};
    if (room.parts == NULL || room.timings == NULL)
        return false;
    for (uint32_t i = 0; i < profile->long_frame_count; i++)
        if (!add_long_frame(fold, &profile->long_frames[i], &room))
            return false;
    return true;
}

/* Resources. */

static bool add_responses(struct fp_fold *fold, const struct fp_profile_responses *from)
{
    struct fp_timing_key key = {.kind = FP_TIMING_RESOURCE_BYTES};
    uint32_t bytes;
    if (!fp_scrub_host(from->host, fold->arena, &key.name) ||
        !scrub_word(fold, from->kind, &key.source) || !fp_fold_bounded(fold, key, &bytes))
        return false;
    fp_fold_sum_up(fold, bytes, from->duration_count + from->opaque, from->bytes);
    if (from->opaque > 0 && !add_sum(fold, bytes, FP_TIMING_RESOURCE_OPAQUE, from->opaque, 0))
        return false;
    if (from->duration_count == 0)
        return true;
    uint32_t timing = sister(fold, bytes, FP_TIMING_RESOURCE);
    if (timing == FP_MAP_NONE)
        return false;
    for (uint32_t i = 0; i < from->duration_count; i++)
        fp_fold_value(fold, timing, fold->profile->response_durations_us[from->first_duration + i]);
    return true;
}

/* Counts the host that the page is on. */
static bool add_page_host(struct fp_fold *fold)
{
    struct fp_timing_key key = {.kind = FP_TIMING_PAGE_HOST};
    uint32_t timing;
    const struct fp_url page = fp_url_parse(fold->page_url);
    if (!needs_page_host(fold->profile) || !fp_url_is_http(&page))
        return true;
    if (!fp_scrub_host(fold->page_url, fold->arena, &key.name) ||
        !fp_fold_bounded(fold, key, &timing))
        return false;
    fp_fold_sum_up(fold, timing, 1, 0);
    return true;
}

bool fp_fold_observed(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    const struct fp_timing_key coverage = {.kind = FP_TIMING_COVERAGE,
                                           .name = fp_str_of(fp_coverage_name(profile->coverage))};
    /* One upload of a page load says why it has no trace: the first, or the last with a trace. */
    if (profile->coverage != FP_COVERAGE_NONE &&
        (profile->part == 0 || profile->coverage == FP_COVERAGE_OVERLOAD) &&
        !count_one(fold, &coverage))
        return false;
    if (!fp_fold_list_spans(fold) || !add_vitals(fold) || !add_long_frames(fold))
        return false;
    for (uint32_t i = 0; i < profile->interaction_count; i++)
        if (!add_interaction(fold, &profile->interactions[i]))
            return false;
    for (uint32_t i = 0; i < profile->result_count; i++)
        if (!add_result(fold, &profile->results[i]))
            return false;
    for (uint32_t i = 0; i < profile->responses_count; i++)
        if (!add_responses(fold, &profile->responses[i]))
            return false;
    return fp_fold_hidden(fold) && add_page_host(fold);
}
