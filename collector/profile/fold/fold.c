/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold: the steps in their order, and the dimensions an upload belongs to.
 */
#include "collector/profile/fold/fold.h"

#include "collector/base/uuid.h"
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/path.h"
#include "collector/profile/scrub/url.h"
#include "collector/profile/text.h"
#include "collector/rollup/ids.h"

/* Larger numbers are made up, and would make segments. */
enum { BROWSER_VERSION_MAX = 999, BROWSER_VERSION_DIGITS = 3 };

/* Returns the header, or "" if it has bytes that no browser sends (URLs are ASCII). */
static struct fp_str clean_referer(struct fp_str referer)
{
    for (size_t i = 0; i < referer.len; i++)
        if ((unsigned char)referer.ptr[i] <= ' ' || (unsigned char)referer.ptr[i] >= 0x7F)
            return FP_STR("");
    return referer;
}

/* Cleans a route that the page sent. If the page sent its URL instead, that may hold secrets. */
static bool clean_route(const struct fp_fold *fold, struct fp_str *route)
{
    const struct fp_scrub_rules *rules = &fold->context->rules;
    const struct fp_str sent = fold->profile->page_route;
    const struct fp_url url = fp_url_parse(sent);
    struct fp_str path = url.host.len > 0 || url.scheme.len > 0 ? url.path : sent;
    size_t len = 0;
    while (len < path.len && path.ptr[len] != '#' && (rules->keep_query || path.ptr[len] != '?'))
        len++;
    if (!fp_scrub_path(rules, (struct fp_str){path.ptr, len}, fold->arena, &path))
        return false;
    *route = fp_text_cut(path, FP_TEXT_DIMENSION_MAX);
    return true;
}

/* True for a cross-origin Referer: the origin and a slash. It says nothing about the page. */
static bool is_bare_origin(struct fp_str referer)
{
    const struct fp_url url = fp_url_parse(referer);
    return fp_str_equal(url.path, FP_STR("/")) && url.query.len == 0;
}

static bool find_route(struct fp_fold *fold, struct fp_str *route)
{
    const struct fp_profile *profile = fold->profile;
    const struct fp_scrub_rules *rules = &fold->context->rules;
    if (profile->has_page_route)
        return clean_route(fold, route);
    if (profile->page_url.len == 0 && is_bare_origin(fold->page_url)) {
        *route = FP_STR("");
        return true;
    }
    return fp_scrub_route(rules, fold->page_url, fold->arena, route);
}

static bool describe_agent(struct fp_fold *fold, struct fp_str *agent)
{
    const struct fp_str name = fold->profile->agent_name;
    const struct fp_str version = fold->profile->agent_version;
    *agent = name;
    if (version.len == 0)
        return true;
    char *bytes = fp_fold_array(fold, name.len + 1 + version.len, 1);
    if (bytes == NULL)
        return false;
    if (name.len > 0)
        memcpy(bytes, name.ptr, name.len);
    bytes[name.len] = '/';
    memcpy(bytes + name.len + 1, version.ptr, version.len);
    *agent = (struct fp_str){bytes, name.len + 1 + version.len};
    return true;
}

/* Writes the version of a known browser as a text; "" for one that no browser has reached. */
static bool describe_version(struct fp_fold *fold, const struct fp_user_agent *user_agent,
                             struct fp_str *version)
{
    *version = FP_STR("");
    if (user_agent->version == 0 || user_agent->version > BROWSER_VERSION_MAX)
        return true;
    char *digits = fp_fold_array(fold, BROWSER_VERSION_DIGITS + 1, 1);
    if (digits == NULL)
        return false;
    int len = snprintf(digits, BROWSER_VERSION_DIGITS + 1, "%u", user_agent->version);
    *version = (struct fp_str){digits, (size_t)len};
    return true;
}

static bool describe(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    const struct fp_user_agent user_agent = fp_user_agent_parse(
        profile->user_agent.len > 0 ? profile->user_agent : fold->context->user_agent);
    struct fp_delta *delta = fold->delta;
    *delta = (struct fp_delta){
        .id = profile->id,
        .has_load = profile->has_load,
        .load = profile->load,
        .part = profile->part,
        .received_us = fold->context->received_us,
        .segment = {.site = fold->context->site,
                    .release = profile->release,
                    .environment = profile->said.environment,
                    .variant = profile->said.variant,
                    .browser = user_agent.browser,
                    .os = user_agent.os,
                    .device = user_agent.device,
                    .thread = profile->said.thread,
                    .frame = profile->said.frame,
                    .traffic = fold->context->traffic,
                    .machine = profile->said.machine,
                    .network = profile->said.network,
                    .drawn = profile->said.drawn,
                    .rate_ppm = fold->context->rate_ppm},
        .format = profile->format,
        .coverage = profile->coverage,
        .truncated = profile->truncated,
        .browser_version = user_agent.version,
        .body_bytes = fold->context->body_bytes,
        .skipped_entries = profile->skipped_entries,
    };
    if (!profile->has_id && !fp_uuid_timed(&delta->id))
        return false;
    if (!find_route(fold, &delta->segment.route) || !describe_agent(fold, &delta->agent) ||
        !describe_version(fold, &user_agent, &delta->segment.browser_version) ||
        !fp_fold_custom(fold, &delta->segment.custom))
        return false;
    fp_fold_bound_segment(fold);
    return true;
}

/* In the order in which each needs those before it. */
static bool (*const steps[])(struct fp_fold *fold) = {
    describe,
    fp_fold_weigh,
    fp_fold_attribute,
    fp_fold_events,
    fp_fold_bound_stacks,
    fp_fold_sum,
    fp_fold_name_calls,
    fp_fold_timings,
    fp_fold_claim,
    fp_fold_remember,
    fp_fold_join,
    fp_fold_without,
    fp_fold_measures,
    fp_fold_scripts,
    fp_fold_waits,
    fp_fold_remember_counted,
    fp_fold_session,
    fp_fold_refusals,
};

bool fp_fold(const struct fp_profile *profile, const struct fp_fold_context *context,
             struct fp_arena *arena, struct fp_delta *delta)
{
    struct fp_fold fold = {
        .profile = profile,
        .context = context,
        .arena = arena,
        .delta = delta,
        .site_id = fp_site_id(context->site),
        .made_max = FP_MARKER_COUNT + fp_fold_event_samples(profile),
        .is_watched = profile->has_trace && profile->event_count == 0,
        .page_url = profile->page_url.len > 0 ? profile->page_url : clean_referer(context->referer),
    };
    const size_t calls = fp_fold_calls(profile);
    fp_map_init(&fold.resources, profile->resource_count + calls);
    fp_map_init(&fold.frames, profile->frame_count + fold.made_max + calls);
    fp_map_init(&fold.stacks, profile->stack_count + fold.made_max);
    bool folded = true;
    for (size_t i = 0; folded && i < FP_COUNT(steps); i++)
        folded = steps[i](&fold);
    fp_map_release(&fold.resources);
    fp_map_release(&fold.frames);
    fp_map_release(&fold.stacks);
    fp_map_release(&fold.timings);
    fp_map_release(&fold.counted);
    if (folded)
        fp_fold_check(delta);
    return folded;
}
