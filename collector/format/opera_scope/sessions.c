/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, sessions: a recording may have several, one after another or interleaved.
 */
#include "collector/format/opera_scope/sessions.h"

#include "collector/base/assert.h"

/* Adding and finding sessions. */

static bool add_session(struct fp_scope_sessions *sessions, uint32_t id)
{
    struct fp_scope_session *part = fp_arena_array(sessions->decoder->arena, 1, sizeof(*part));
    if (part == NULL)
        return fp_fail_memory(sessions->decoder);
    part->id = id;
    part->decoder = *sessions->decoder;
    part->decoder.profile = &part->profile;
    sessions->items[sessions->count++] = part;
    return fp_scope_begin(&part->scope, &part->decoder);
}

bool fp_scope_sessions_begin(struct fp_scope_sessions *sessions, struct fp_decoder *decoder)
{
    *sessions = (struct fp_scope_sessions){.decoder = decoder};
    return add_session(sessions, 0);
}

void fp_scope_sessions_release(struct fp_scope_sessions *sessions)
{
    for (uint32_t i = 0; i < sessions->count; i++)
        fp_scope_release(&sessions->items[i]->scope);
}

uint32_t fp_scope_sessions_find(const struct fp_scope_sessions *sessions, uint32_t id,
                                uint32_t otherwise)
{
    for (uint32_t i = sessions->count; id != 0 && i-- > 0;)
        if (sessions->items[i]->id == id)
            return i;
    return otherwise;
}

static bool add_current(struct fp_scope_sessions *sessions, uint32_t id)
{
    if (sessions->count == FP_PROFILE_SESSIONS_MAX)
        return fp_fail_at(sessions->decoder, FP_VERDICT_TOO_LARGE, NULL,
                          "session %u is one too many: a recording can have %d sessions at most",
                          (unsigned)id, FP_PROFILE_SESSIONS_MAX);
    sessions->current = sessions->count;
    return add_session(sessions, id);
}

bool fp_scope_sessions_select(struct fp_scope_sessions *sessions, uint32_t id)
{
    if (id == 0)
        return true;
    if (sessions->items[0]->id == 0)
        sessions->items[0]->id = id;
    uint32_t found = fp_scope_sessions_find(sessions, id, FP_SCOPE_NO_SESSION);
    if (found != FP_SCOPE_NO_SESSION) {
        sessions->current = found;
        return true;
    }
    return add_current(sessions, id);
}

/* True if the session has a Session message or a reply to GetEvents. */
static bool has_content(const struct fp_scope_session *part)
{
    return part->profile.session.id != 0;
}

bool fp_scope_sessions_start(struct fp_scope_sessions *sessions, uint32_t id)
{
    uint32_t found = fp_scope_sessions_find(sessions, id, FP_SCOPE_NO_SESSION);
    bool is_another = found != FP_SCOPE_NO_SESSION && has_content(sessions->items[found]);
    return is_another ? add_current(sessions, id) : fp_scope_sessions_select(sessions, id);
}

/* Runs. */

bool fp_scope_sessions_add_run(struct fp_scope_sessions *sessions, size_t at, uint32_t *run)
{
    struct fp_scope_run *runs =
        fp_scope_grow(&sessions->items[0]->scope, sessions->runs, sizeof(*runs),
                      sessions->run_count + 1, &sessions->run_cap);
    if (runs == NULL)
        return fp_fail_memory(sessions->decoder);
    *run = sessions->run_count++;
    runs[*run] = (struct fp_scope_run){at, sessions->decoder->content->len, FP_SCOPE_NO_SESSION};
    sessions->runs = runs;
    return true;
}

/* Merges the last runs if they are of one session: most recordings have only one. */
void fp_scope_sessions_assign_run(struct fp_scope_sessions *sessions, uint32_t run,
                                  uint32_t session)
{
    struct fp_scope_run *runs = sessions->runs;
    runs[run].session = session;
    while (sessions->run_count > 1) {
        const struct fp_scope_run *last = &runs[sessions->run_count - 1];
        if (last->session == FP_SCOPE_NO_SESSION || last->session != last[-1].session)
            return;
        sessions->run_count--;
    }
}

/* Each session's own lines. */

static struct fp_str slice(struct fp_str text, size_t from, size_t to)
{
    FP_ASSERT(from <= to && to <= text.len);
    return (struct fp_str){text.ptr + from, to - from};
}

/* Appends a run to a session's text. Adds only its length while the text has no memory yet. */
static void append(struct fp_str *text, struct fp_str run)
{
    if (text->ptr != NULL)
        memcpy((char *)(uintptr_t)text->ptr + text->len, run.ptr, run.len);
    text->len += run.len;
}

static void append_runs(struct fp_scope_sessions *sessions, struct fp_str body,
                        struct fp_str content)
{
    for (uint32_t i = 0; i < sessions->run_count; i++) {
        const struct fp_scope_run *run = &sessions->runs[i];
        bool is_last = i + 1 == sessions->run_count;
        if (run->session == FP_SCOPE_NO_SESSION)
            continue;
        struct fp_profile_session *session = &sessions->items[run->session]->profile.session;
        append(&session->raw, slice(body, run->at, is_last ? body.len : run[1].at));
        append(&session->content,
               slice(content, run->content_at, is_last ? content.len : run[1].content_at));
    }
}

/* Allocates the length that was added up, and empties the text. */
static bool allocate(struct fp_arena *arena, struct fp_str *text)
{
    text->ptr = fp_arena_alloc(arena, text->len);
    text->len = 0;
    return text->ptr != NULL;
}

/* Gives each session its own lines: the raw ones and their content. */
static bool split_lines(struct fp_scope_sessions *sessions, struct fp_str body)
{
    struct fp_decoder *decoder = sessions->decoder;
    const struct fp_str content = {(const char *)decoder->content->data, decoder->content->len};
    if (decoder->content->failed)
        return fp_fail_memory(decoder);
    append_runs(sessions, body, content);
    for (uint32_t i = 0; i < sessions->count; i++) {
        struct fp_profile_session *session = &sessions->items[i]->profile.session;
        if (!allocate(decoder->arena, &session->raw) ||
            !allocate(decoder->arena, &session->content))
            return fp_fail_memory(decoder);
    }
    append_runs(sessions, body, content);
    fp_buf_clear(decoder->content);
    return true;
}

/* Finishing. */

/* Links the sessions in their order. Returns the first, NULL if there is none. */
static struct fp_profile *link_profiles(struct fp_scope_sessions *sessions)
{
    struct fp_profile *first = NULL;
    for (uint32_t i = sessions->count; i-- > 0;) {
        if (!has_content(sessions->items[i]))
            continue;
        sessions->items[i]->profile.next = first;
        first = &sessions->items[i]->profile;
    }
    return first;
}

/* A Session without a window has that of StartProfiler. */
static bool finish_session(struct fp_scope_session *part, bool is_only)
{
    struct fp_profile_session *session = &part->profile.session;
    struct fp_upload_error *error = part->decoder.error;
    if (session->window_id == 0)
        session->window_id = part->window_id;
    if (fp_scope_finish(&part->scope))
        return true;
    const struct fp_upload_error why = *error;
    if (!is_only)
        (void)fp_upload_fail(error, why.verdict, "session %u: %.200s", (unsigned)part->id,
                             why.detail);
    error->offset = why.offset;
    return false;
}

bool fp_scope_sessions_finish(struct fp_scope_sessions *sessions, struct fp_str body)
{
    struct fp_profile *first = link_profiles(sessions);
    if (first == NULL)
        return fp_scope_finish(&sessions->items[0]->scope);
    bool is_only = first->next == NULL;
    for (uint32_t i = 0; i < sessions->count; i++) {
        struct fp_scope_session *part = sessions->items[i];
        if (!has_content(part))
            fp_scope_merge_notes(&first->session, &part->profile.session);
        else if (!finish_session(part, is_only))
            return false;
    }
    if (!is_only && !split_lines(sessions, body))
        return false;
    *sessions->decoder->profile = *first;
    return true;
}
