/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, scope: beginning and ending a session.
 */
#include "collector/format/opera_scope/scope.h"

#include "collector/format/opera_scope/event.h"

enum { CAP_MIN = 64 };

void *fp_scope_grow(struct fp_scope *scope, void *array, size_t size, uint32_t needed,
                    uint32_t *cap)
{
    if (needed <= *cap && array != NULL)
        return array;
    uint32_t wanted = *cap < CAP_MIN ? CAP_MIN : *cap;
    while (wanted < needed)
        wanted = wanted <= UINT32_MAX / 2 ? wanted * 2 : UINT32_MAX;
    void *longer = fp_arena_array(scope->decoder->arena, wanted, size);
    if (longer == NULL)
        return NULL;
    if (array != NULL)
        memcpy(longer, array, *cap * size);
    *cap = wanted;
    return longer;
}

bool fp_scope_begin(struct fp_scope *scope, struct fp_decoder *decoder)
{
    struct fp_profile *profile = decoder->profile;
    const struct fp_format_limits *limits = decoder->limits;
    *scope = (struct fp_scope){.decoder = decoder, .line_offset = -1};
    fp_map_init(&scope->timelines, limits->entries);
    fp_map_init(&scope->lists, limits->entries);
    fp_map_init(&scope->seen, limits->entries);
    fp_map_init(&scope->resources, limits->resources);
    profile->format = FP_UPLOAD_OPERA_SCOPE;
    profile->has_session = true;
    profile->session.version = FP_STR("");
    scope->details = yyjson_alc_dyn_new();
    profile->session.notes =
        fp_arena_array(decoder->arena, FP_PROFILE_NOTES_MAX, sizeof(*profile->session.notes));
    return (scope->details != NULL && profile->session.notes != NULL) || fp_fail_memory(decoder);
}

/* Refuses an upload without a valid event. Points at the first refusal. */
static bool fail_events(struct fp_scope *scope)
{
    const struct fp_profile_session *session = &scope->decoder->profile->session;
    struct fp_upload_error *error = scope->decoder->error;
    const char *why = fp_scope_note_text(scope->first_refusal);
    (void)fp_upload_fail(error, FP_VERDICT_INVALID, "none of the %u events is valid; the first: %s",
                         (unsigned)session->records_read, why);
    const struct fp_profile_note *first = session->notes;
    while (first->text != why)
        first++;
    error->has_pointer = first->is_index;
    snprintf(error->pointer, sizeof(error->pointer), "%.*s", (int)first->first_pointer.len,
             first->first_pointer.ptr);
    if (!first->is_index)
        error->offset = first->first_offset;
    return false;
}

bool fp_scope_finish(struct fp_scope *scope)
{
    const struct fp_profile_session *session = &scope->decoder->profile->session;
    if (session->id == 0)
        return fp_fail_at(scope->decoder, FP_VERDICT_INVALID, NULL,
                          "there is no session in this upload: neither a Session message nor a "
                          "reply to GetEvents");
    if (session->records_read > 0 && session->records_kept == 0)
        return fail_events(scope);
    return fp_scope_link_lists(scope);
}

void fp_scope_release(struct fp_scope *scope)
{
    fp_map_release(&scope->timelines);
    fp_map_release(&scope->lists);
    fp_map_release(&scope->seen);
    fp_map_release(&scope->resources);
    yyjson_alc_dyn_free(scope->details);
}
