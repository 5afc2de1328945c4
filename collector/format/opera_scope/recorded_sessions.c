/*
 * Opera Scope, sessions: a recording may show several, one after another or interleaved.
 */
#include "collector/format/opera_scope/recorded_sessions.h"

/* Making and finding them. */

static bool add_session(struct fp_scope_sessions *sessions, uint32_t id)
{
    struct fp_scope_part *part = fp_arena_array(sessions->decoder->arena, 1, sizeof(*part));
    if (part == NULL)
        return fp_fail_memory(sessions->decoder);
    part->id = id;
    part->decoder = *sessions->decoder;
    part->decoder.profile = &part->profile;
    sessions->parts[sessions->count++] = part;
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
        fp_scope_release(&sessions->parts[i]->scope);
}

uint32_t fp_scope_sessions_find(const struct fp_scope_sessions *sessions, uint32_t id,
                                uint32_t otherwise)
{
    for (uint32_t i = sessions->count; id != 0 && i-- > 0;)
        if (sessions->parts[i]->id == id)
            return i;
    return otherwise;
}

static bool add_another(struct fp_scope_sessions *sessions, uint32_t id)
{
    if (sessions->count == FP_PROFILE_SESSIONS_MAX)
        return fp_fail_at(sessions->decoder, FP_FORMAT_TOO_LARGE, NULL,
                          "session %u is one too many: a recording can have %d sessions at most",
                          (unsigned)id, FP_PROFILE_SESSIONS_MAX);
    sessions->named = sessions->count;
    return add_session(sessions, id);
}

bool fp_scope_sessions_name(struct fp_scope_sessions *sessions, uint32_t id)
{
    if (id == 0)
        return true;
    if (sessions->parts[0]->id == 0)
        sessions->parts[0]->id = id;
    uint32_t found = fp_scope_sessions_find(sessions, id, FP_SCOPE_NOBODY);
    if (found != FP_SCOPE_NOBODY) {
        sessions->named = found;
        return true;
    }
    return add_another(sessions, id);
}

/* Whether there is a Session message or a reply to GetEvents. */
static bool is_real(const struct fp_scope_part *part)
{
    return part->profile.session.id != 0;
}

bool fp_scope_sessions_start(struct fp_scope_sessions *sessions, uint32_t id)
{
    uint32_t found = fp_scope_sessions_find(sessions, id, FP_SCOPE_NOBODY);
    bool is_another = found != FP_SCOPE_NOBODY && is_real(sessions->parts[found]);
    return is_another ? add_another(sessions, id) : fp_scope_sessions_name(sessions, id);
}

/* Runs. */

bool fp_scope_sessions_add_run(struct fp_scope_sessions *sessions, size_t at, uint32_t *run)
{
    struct fp_scope_run *runs =
        fp_scope_grow(&sessions->parts[0]->scope, sessions->runs, sizeof(*runs),
                      sessions->run_count + 1, &sessions->run_room);
    if (runs == NULL)
        return fp_fail_memory(sessions->decoder);
    *run = sessions->run_count++;
    runs[*run] = (struct fp_scope_run){at, sessions->decoder->content->len, FP_SCOPE_NOBODY};
    sessions->runs = runs;
    return true;
}

/* Where the last runs are of one session, they become one: most recordings have but one. */
void fp_scope_sessions_give(struct fp_scope_sessions *sessions, uint32_t run, uint32_t session)
{
    struct fp_scope_run *runs = sessions->runs;
    runs[run].session = session;
    while (sessions->run_count > 1) {
        const struct fp_scope_run *last = &runs[sessions->run_count - 1];
        if (last->session == FP_SCOPE_NOBODY || last->session != last[-1].session)
            return;
        sessions->run_count--;
    }
}

/* Sharing out. */

/* A run's text: from where it begins to where the next one does. */
static struct fp_str cut(struct fp_str text, size_t from, size_t to)
{
    return (struct fp_str){text.ptr + from, to - from};
}

/* Appends a run to a session's text; while that has no room yet, its length alone. */
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
        if (run->session == FP_SCOPE_NOBODY)
            continue;
        struct fp_profile_session *session = &sessions->parts[run->session]->profile.session;
        append(&session->raw, cut(body, run->at, is_last ? body.len : run[1].at));
        append(&session->content,
               cut(content, run->kept_at, is_last ? content.len : run[1].kept_at));
    }
}

/* Makes room for the length that a text will have. */
static bool reserve(struct fp_arena *arena, struct fp_str *text)
{
    text->ptr = fp_arena_alloc(arena, text->len);
    text->len = 0;
    return text->ptr != NULL;
}

/* Each session gets its own lines, as they came and as they are kept. */
static bool share_out(struct fp_scope_sessions *sessions, struct fp_str body)
{
    struct fp_decoder *decoder = sessions->decoder;
    const struct fp_str content = {(const char *)decoder->content->data, decoder->content->len};
    if (decoder->content->failed)
        return fp_fail_memory(decoder);
    append_runs(sessions, body, content);
    for (uint32_t i = 0; i < sessions->count; i++) {
        struct fp_profile_session *session = &sessions->parts[i]->profile.session;
        if (!reserve(decoder->arena, &session->raw) || !reserve(decoder->arena, &session->content))
            return fp_fail_memory(decoder);
    }
    append_runs(sessions, body, content);
    fp_buf_clear(decoder->content);
    return true;
}

/* The end. */

/* Hangs the sessions one behind the other; the first, NULL: there is none. */
static struct fp_profile *chain(struct fp_scope_sessions *sessions)
{
    struct fp_profile *first = NULL;
    for (uint32_t i = sessions->count; i-- > 0;) {
        if (!is_real(sessions->parts[i]))
            continue;
        sessions->parts[i]->profile.next = first;
        first = &sessions->parts[i]->profile;
    }
    return first;
}

/* A Session need not name its window; StartProfiler did. */
static bool finish_session(struct fp_scope_part *part, bool is_only)
{
    struct fp_profile_session *session = &part->profile.session;
    struct fp_format_error *error = part->decoder.error;
    if (session->window_id == 0)
        session->window_id = part->window_id;
    if (fp_scope_finish(&part->scope))
        return true;
    const struct fp_format_error why = *error;
    if (!is_only)
        (void)fp_format_fail(error, why.verdict, "session %u: %.200s", (unsigned)part->id,
                             why.detail);
    error->offset = why.offset;
    return false;
}

bool fp_scope_sessions_finish(struct fp_scope_sessions *sessions, struct fp_str body)
{
    struct fp_profile *first = chain(sessions);
    if (first == NULL)
        return fp_scope_finish(&sessions->parts[0]->scope);
    bool is_only = first->next == NULL;
    for (uint32_t i = 0; i < sessions->count; i++) {
        struct fp_scope_part *part = sessions->parts[i];
        if (!is_real(part))
            fp_scope_take_notes(&first->session, &part->profile.session);
        else if (!finish_session(part, is_only))
            return false;
    }
    if (!is_only && !share_out(sessions, body))
        return false;
    *sessions->decoder->profile = *first;
    return true;
}
