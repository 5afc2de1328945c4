/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, session: builds the scrubbed session that is kept of an upload with events.
 */
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/json.h"
#include "collector/profile/scrub/text.h"
#include "collector/profile/text.h"

#include "collector/base/hash.h"

/* A session that is being built. */
struct keeping {
    struct fp_fold *fold;
    struct fp_scrub_rules rules;
    struct fp_session *session;
    struct fp_map types;   /* from a hash of number and name to an index */
    uint32_t *resource_of; /* from the profile's to the session's, FP_INDEX_NONE: not met yet */
    struct fp_buf text;
};

static bool find_type(struct keeping *keeping, const struct fp_profile_event *event, uint32_t *type)
{
    struct fp_session *session = keeping->session;
    struct fp_str name;
    if (!fp_fold_event_type(keeping->fold, event, &name))
        return false;
    name = fp_text_cut(name, FP_TEXT_NAME_MAX);
    uint64_t key = fp_hash64(name.ptr, name.len) + (uint64_t)(int64_t)event->type_number;
    *type = fp_map_put(&keeping->types, key, session->type_count);
    if (*type == session->type_count)
        session->types[session->type_count++] = (struct fp_event_type){event->type_number, name};
    return *type != FP_MAP_NONE;
}

/* Scrubs a script's path as a text, because a kept session belongs to one person. */
static bool scrub_url(struct keeping *keeping, struct fp_str raw, struct fp_str *url)
{
    struct fp_fold *fold = keeping->fold;
    const struct fp_scrub_rules *rules = &keeping->rules;
    if (!fp_scrub_resource(rules, raw, rules->page_url, fold->arena, url))
        return false;
    fp_buf_clear(&keeping->text);
    if (!fp_scrub_text(rules, *url, FP_STR(""), &keeping->text))
        return true;
    return !keeping->text.failed &&
           fp_arena_copy(fold->arena,
                         (struct fp_str){(const char *)keeping->text.data, keeping->text.len}, url);
}

static bool find_resource(struct keeping *keeping, uint32_t raw, uint32_t *resource)
{
    struct fp_session *session = keeping->session;
    *resource = FP_INDEX_NONE;
    if (raw == FP_INDEX_NONE)
        return true;
    if (keeping->resource_of[raw] == FP_INDEX_NONE) {
        struct fp_str url;
        if (!scrub_url(keeping, keeping->fold->profile->resources[raw], &url))
            return false;
        session->resources[session->resource_count] = fp_text_cut(url, FP_TEXT_NAME_MAX);
        keeping->resource_of[raw] = session->resource_count++;
    }
    *resource = keeping->resource_of[raw];
    return true;
}

static bool scrub_detail(struct keeping *keeping, struct fp_str detail, struct fp_str *scrubbed)
{
    struct fp_fold *fold = keeping->fold;
    struct fp_buf *text = &keeping->text;
    *scrubbed = detail;
    fp_buf_clear(text);
    if (!fp_scrub_json(&keeping->rules, detail, fold->arena, text) || text->failed)
        return false;
    return text->len == 0 ||
           fp_arena_copy(fold->arena, (struct fp_str){(const char *)text->data, text->len},
                         scrubbed);
}

/* Scrubs in place where nothing changes: the content is long, so it is not copied. */
static bool scrub_content(struct keeping *keeping, struct fp_str content, struct fp_str *scrubbed)
{
    struct fp_fold *fold = keeping->fold;
    struct fp_buf *text = &keeping->text;
    *scrubbed = content;
    fp_buf_clear(text);
    if (content.len < text->max)
        (void)fp_buf_reserve(text, content.len);
    if (!fp_scrub_json(&keeping->rules, content, fold->arena, text) || text->failed)
        return false;
    return text->len == 0 || fp_buf_give(text, fold->arena, scrubbed);
}

static bool keep_event(struct keeping *keeping, uint32_t index)
{
    const struct fp_profile_event *event = &keeping->fold->profile->events[index];
    struct fp_session_event *kept = &keeping->session->events[index];
    *kept = (struct fp_session_event){
        .id = event->id,
        .parent = event->parent,
        .parent_id = event->parent_id,
        .start_us = event->start_us,
        .duration_us = event->duration_us,
        .self_us = event->self_us,
        .overhead_us = event->overhead_us,
        .hits = event->hits,
        .child_count = event->child_count,
        .line = event->line,
    };
    return find_type(keeping, event, &kept->type) &&
           find_resource(keeping, event->resource, &kept->resource) &&
           (event->detail.len == 0 || scrub_detail(keeping, event->detail, &kept->detail));
}

static bool keep_events(struct keeping *keeping)
{
    const struct fp_profile *profile = keeping->fold->profile;
    for (uint32_t i = 0; i < profile->timeline_count; i++) {
        const struct fp_profile_timeline *timeline = &profile->timelines[i];
        keeping->session->timelines[i] = (struct fp_session_timeline){
            .id = timeline->id,
            .frame_id = timeline->frame_id,
            .mode = timeline->mode,
            .first_event = timeline->first_event,
            .event_count = timeline->event_count,
        };
    }
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (!keep_event(keeping, i))
            return false;
    return true;
}

static bool prepare(struct keeping *keeping)
{
    struct fp_fold *fold = keeping->fold;
    const struct fp_profile *profile = fold->profile;
    struct fp_session *session = fp_arena_array(fold->arena, 1, sizeof(*session));
    if (session == NULL)
        return false;
    fold->delta->session = keeping->session = session;
    *session = (struct fp_session){
        .source_id = profile->session.id,
        .window_id = profile->session.window_id,
        .version = fp_text_cut(profile->session.version, FP_TEXT_DIMENSION_MAX),
        .started_us = profile->session.started_us,
        .is_detached = profile->session.is_detached,
        .types = fp_fold_array(fold, profile->event_count, sizeof(*session->types)),
        .resources = fp_fold_array(fold, profile->resource_count, sizeof(*session->resources)),
        .timelines = fp_fold_array(fold, profile->timeline_count, sizeof(*session->timelines)),
        .events = fp_fold_array(fold, profile->event_count, sizeof(*session->events)),
        .timeline_count = profile->timeline_count,
        .event_count = profile->event_count,
    };
    keeping->resource_of = fp_fold_indexes(fold, profile->resource_count);
    return session->types != NULL && session->resources != NULL && session->timelines != NULL &&
           session->events != NULL && keeping->resource_of != NULL &&
           scrub_url(keeping, fold->page_url, &session->page_url);
}

bool fp_fold_session(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    if (!profile->has_session)
        return true;
    struct keeping keeping = {.fold = fold, .rules = fold->context->rules};
    /* The addresses in a dump of the older formats are part of its reports: they stay. */
    if (profile->format != FP_UPLOAD_SPEED_TRACER && profile->format != FP_UPLOAD_OPERA_SCOPE)
        keeping.rules.page_url = fold->page_url;
    fp_map_init(&keeping.types, profile->event_count);
    fp_buf_init(&keeping.text, fold->arena->max_bytes);
    bool kept = prepare(&keeping) && keep_events(&keeping) &&
                scrub_content(&keeping, profile->session.content, &keeping.session->content);
    fp_map_release(&keeping.types);
    fp_buf_release(&keeping.text);
    return kept;
}
