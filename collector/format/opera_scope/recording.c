/*
 * Opera Scope, recording: one frame of the service on each line, requests and replies as they went
 * over the wire.
 *
 * Most frames do not say which way they went. Of GetEvents, requests and replies look different; of
 * the others, one whose command and tag are those of an open request is its reply. Then the tag is
 * free again.
 *
 * A pair of request and reply is of the session that the reply names, else the request, else of the
 * one that was named last. What has no partner names no session and is in none's content: so the
 * pairs that are read again from a session's content are the same ones.
 */
#include "collector/format/content.h"
#include "collector/format/opera_scope/frame.h"
#include "collector/format/opera_scope/opera_scope.h"
#include "collector/format/opera_scope/parts.h"
#include "collector/format/opera_scope/recorded_sessions.h"

enum command { COMMAND_START = 1, COMMAND_STOP, COMMAND_GET_EVENTS, COMMAND_RELEASE };

enum { START_MODE, START_WINDOW };

/* A request; one slot serves all that have its command and tag, one after another. */
struct request {
    bool is_open;
    bool is_valid; /* a GetEventsArg in order */
    size_t at;     /* of its line */
    uint32_t command;
    uint32_t run;
    uint32_t session_id; /* that it names, 0: none */
    uint32_t session;    /* index of the one that was named last before it */
    struct fp_scope_query query;
    uint32_t window_id; /* of StartProfiler */
};

struct recording {
    struct fp_scope_sessions sessions;
    struct fp_decoder *decoder;
    struct fp_str body;
    size_t at;     /* of the line being read */
    uint32_t line; /* from 1 */
    struct request *requests;
    uint32_t request_count;
    uint32_t request_room;
    struct fp_map request_of; /* command and tag: index into requests */
    uint32_t unasked_line;    /* the first reply without its request, 0: none */
    size_t unasked_at;
    bool is_cut_off; /* in its last line */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A session, to take something of the line that is being read. */
static struct fp_scope *scope_of(struct recording *recording, uint32_t session)
{
    struct fp_scope *scope = &recording->sessions.parts[session]->scope;
    scope->line_offset = (int64_t)recording->at;
    return scope;
}

static void skip(struct recording *recording, uint32_t session, enum fp_scope_note note)
{
    fp_scope_add_note(scope_of(recording, session), note, 1, 0);
}

/* The session that a request is of, as far as is known. */
static uint32_t session_of(const struct recording *recording, const struct request *request)
{
    return fp_scope_sessions_find(&recording->sessions, request->session_id, request->session);
}

/* What a frame's message is. */

/* The type of a frame's message; NULL: of none that matters, such as an error's. */
static const struct fp_scope_type *type_of(const struct fp_scope_frame *frame, bool replies)
{
    if (frame->status != 0)
        return NULL;
    switch (frame->command) {
    case COMMAND_START:
        return replies ? &fp_scope_session_id : &fp_scope_start;
    case COMMAND_STOP:
        return replies ? &fp_scope_session : &fp_scope_session_id;
    case COMMAND_RELEASE:
        return replies ? NULL : &fp_scope_session_id;
    case COMMAND_GET_EVENTS:
        return replies ? &fp_scope_events : &fp_scope_request;
    default:
        return NULL;
    }
}

/* The session that a frame names, 0: none. */
static uint32_t named_by(const struct fp_scope_frame *frame, bool replies)
{
    const struct fp_scope_type *type = type_of(frame, replies);
    struct fp_scope_message message;
    uint32_t id;
    if (type == NULL || type == &fp_scope_start || type == &fp_scope_events ||
        !fp_scope_read(frame->message, type, &message) ||
        !fp_scope_get_uint(message.fields[FP_SCOPE_SESSION_ID], &id))
        return 0;
    return id;
}

/* Whether two frames of StopProfiler can be of one pair: neither names another session. */
static bool stops_same(const struct fp_scope_frame *frame, const struct request *request)
{
    uint32_t id = named_by(frame, true);
    return id == 0 || request->session_id == 0 || id == request->session_id;
}

/* Whether a frame is a reply to the request with its command and tag, or to none. */
static bool is_reply(const struct fp_scope_frame *frame, const struct request *request)
{
    if (frame->kind != FP_SCOPE_KIND_UNKNOWN)
        return frame->kind != FP_SCOPE_KIND_REQUEST;
    if (frame->command == COMMAND_GET_EVENTS)
        return !fp_scope_is_query(frame->message);
    return request->is_open && (frame->command != COMMAND_STOP || stops_same(frame, request));
}

/* Requests. */

/* The slot for a frame's command and tag; NULL after the error is filled. */
static struct request *find_request(struct recording *recording, const struct fp_scope_frame *frame)
{
    struct fp_decoder *decoder = recording->decoder;
    uint32_t count = recording->request_count;
    uint32_t at = fp_map_get(&recording->request_of, (uint64_t)frame->command << 32 | frame->tag);
    if (at != FP_MAP_NONE)
        return &recording->requests[at];
    if (count == decoder->limits->entries) {
        (void)fp_fail_at(decoder, FP_FORMAT_TOO_LARGE, NULL,
                         "more than %u different requests (limits.entries)", (unsigned)count);
        return NULL;
    }
    struct request *requests =
        fp_scope_grow(scope_of(recording, 0), recording->requests, sizeof(*requests), count + 1,
                      &recording->request_room);
    if (requests == NULL ||
        fp_map_put(&recording->request_of, (uint64_t)frame->command << 32 | frame->tag, count) ==
            FP_MAP_NONE) {
        (void)fp_fail_memory(decoder);
        return NULL;
    }
    recording->requests = requests;
    recording->request_count++;
    return &requests[count];
}

/* A request that is no good matters to no other: a reply to it is as one without. */
static bool open_request(struct recording *recording, const struct fp_scope_frame *frame,
                         struct request *request, uint32_t run)
{
    struct fp_scope_message start;
    *request = (struct request){
        .is_open = true,
        .is_valid = true,
        .at = recording->at,
        .command = frame->command,
        .run = run,
        .session_id = named_by(frame, false),
        .session = recording->sessions.named,
    };
    if (frame->command == COMMAND_GET_EVENTS)
        request->is_valid = fp_scope_read_query(scope_of(recording, request->session),
                                                &frame->place, frame->message, &request->query);
    if (frame->command == COMMAND_START && fp_scope_read(frame->message, &fp_scope_start, &start) &&
        !fp_scope_get_uint(start.fields[START_WINDOW], &request->window_id))
        request->window_id = 0;
    return request->is_valid || recording->decoder->error->verdict != FP_FORMAT_MEMORY;
}

static void note_unanswered(struct recording *recording, const struct request *request)
{
    struct fp_scope *scope = scope_of(recording, session_of(recording, request));
    scope->line_offset = (int64_t)request->at;
    fp_scope_add_note(scope, FP_SCOPE_UNANSWERED, 1, 0);
}

/* Replies. */

/* Nothing says whose events these are. */
static void leave_out_unasked(struct recording *recording, const struct request *request)
{
    skip(recording, session_of(recording, request), FP_SCOPE_UNASKED);
    if (recording->unasked_line != 0)
        return;
    recording->unasked_line = recording->line;
    recording->unasked_at = recording->at;
}

static bool take_events(struct recording *recording, const struct fp_scope_frame *frame,
                        struct request *request)
{
    struct fp_scope_sessions *sessions = &recording->sessions;
    if (request->session_id == 0)
        sessions->named = request->session;
    if (!fp_scope_sessions_name(sessions, request->session_id))
        return false;
    request->query.session_id = sessions->parts[sessions->named]->id;
    struct fp_scope *scope = scope_of(recording, sessions->named);
    return fp_scope_take_query_session(scope, &frame->place, &request->query) &&
           fp_scope_take_events(scope, &frame->place, frame->message, &request->query);
}

/* Takes a reply to StartProfiler or StopProfiler, which names a session. */
static bool take_named(struct recording *recording, const struct fp_scope_frame *frame,
                       const struct request *request)
{
    struct fp_scope_sessions *sessions = &recording->sessions;
    uint32_t id = named_by(frame, true);
    bool is_stop = frame->command == COMMAND_STOP;
    if (is_stop ? !fp_scope_sessions_name(sessions, id) : !fp_scope_sessions_start(sessions, id))
        return false;
    if (is_stop)
        return fp_scope_take_session(scope_of(recording, sessions->named), &frame->place,
                                     frame->message);
    if (id != 0)
        sessions->parts[sessions->named]->window_id = request->window_id;
    return true;
}

/* Takes a reply; *session, whose the pair is, changes when the reply says so. */
static bool take_reply(struct recording *recording, const struct fp_scope_frame *frame,
                       struct request *request, uint32_t *session)
{
    bool taken;
    switch (frame->command) {
    case COMMAND_START:
    case COMMAND_STOP:
        taken = take_named(recording, frame, request);
        break;
    case COMMAND_GET_EVENTS:
        if (!request->is_valid) {
            leave_out_unasked(recording, request);
            *session = FP_SCOPE_NOBODY;
            return true;
        }
        taken = take_events(recording, frame, request);
        break;
    default:
        return true;
    }
    *session = recording->sessions.named;
    return taken;
}

/* Keeps a frame in the form in which it came. */
static void keep_frame(struct recording *recording, const struct fp_scope_frame *frame,
                       bool replies)
{
    struct fp_decoder *decoder = recording->decoder;
    bool is_plain = frame->kind == FP_SCOPE_KIND_UNKNOWN;
    unsigned command = (unsigned)frame->command;
    unsigned tag = (unsigned)frame->tag;
    unsigned status = (unsigned)frame->status;
    char list[96];
    char head[32] = "";
    int len = is_plain
                  ? snprintf(list, sizeof(list), "[\"profiler\",%u,%u,%u,", command, status, tag)
                  : snprintf(list, sizeof(list), "[\"profiler\",%u,%u,1,%u,%u]",
                             (unsigned)frame->kind, command, tag, status);
    if (!is_plain)
        snprintf(head, sizeof(head), "STP/1 %d ", len);
    fp_content_add(decoder, fp_str_of(head));
    fp_content_add(decoder, fp_str_of(list));
    const struct fp_scope_type *type = type_of(frame, replies);
    if (type != NULL && frame->message != NULL)
        fp_scope_keep(decoder, frame->message, type);
    else
        fp_content_add(decoder, FP_STR("null"));
    fp_content_add(decoder, is_plain ? FP_STR("]\n") : FP_STR("\n"));
}

/* Joins a frame with the request of its command and tag. */
static bool join_frame(struct recording *recording, const struct fp_scope_frame *frame,
                       struct request *request, uint32_t run)
{
    const struct request asked = *request;
    if (frame->status == 0 && !is_reply(frame, &asked)) {
        if (asked.is_open)
            note_unanswered(recording, &asked);
        return open_request(recording, frame, request, run);
    }
    if (!asked.is_open)
        *request = (struct request){.session = recording->sessions.named};
    request->is_open = false;
    uint32_t session = session_of(recording, request);
    if (frame->status != 0)
        skip(recording, session, FP_SCOPE_STATUS);
    else if (!take_reply(recording, frame, request, &session))
        return false;
    if (asked.is_open)
        fp_scope_sessions_give(&recording->sessions, asked.run, session);
    fp_scope_sessions_give(&recording->sessions, run, session);
    return true;
}

static bool take_frame(struct recording *recording, const struct fp_scope_frame *frame)
{
    struct fp_scope_sessions *sessions = &recording->sessions;
    uint32_t run;
    if (frame->status == 0 &&
        !fp_scope_check_draft(recording->decoder, &frame->place, frame->message))
        return false;
    if (!fp_scope_sessions_add_run(sessions, recording->at, &run))
        return false;
    if (!frame->is_of_service || frame->kind == FP_SCOPE_KIND_EVENT) {
        skip(recording, sessions->named,
             frame->is_of_service ? FP_SCOPE_SERVICE_EVENT : FP_SCOPE_OTHER_SERVICE);
        fp_scope_sessions_give(sessions, run, sessions->named);
        return true;
    }
    struct request *request = find_request(recording, frame);
    if (request == NULL)
        return false;
    keep_frame(recording, frame, is_reply(frame, request));
    return join_frame(recording, frame, request, run);
}

/* Lines. */

/* What was cut off is no reason to refuse the lines before it. */
static bool leave_out_tail(struct recording *recording)
{
    struct fp_scope_sessions *sessions = &recording->sessions;
    uint32_t run;
    if (recording->decoder->error->verdict != FP_FORMAT_MALFORMED || recording->line == 1)
        return false;
    if (!fp_scope_sessions_add_run(sessions, recording->at, &run))
        return false;
    recording->is_cut_off = true;
    skip(recording, sessions->named, FP_SCOPE_CUT_OFF);
    fp_scope_sessions_give(sessions, run, sessions->named);
    return true;
}

/* is_ended: by a line break. */
static bool take_line(struct recording *recording, struct fp_str line, bool is_ended)
{
    while (line.len > 0 && is_space(line.ptr[line.len - 1]))
        line.len--;
    if (fp_scope_skip_space(line).len == 0)
        return true;
    struct fp_scope_frame frame;
    bool is_read = fp_scope_frame_read(recording->decoder, line, &frame);
    bool taken = is_read && take_frame(recording, &frame);
    fp_scope_frame_release(&frame);
    return taken || (!is_read && !is_ended && leave_out_tail(recording));
}

/* Says where the line is that is no good. */
static bool fail_line(struct recording *recording)
{
    struct fp_format_error *error = recording->decoder->error;
    const struct fp_format_error why = *error;
    if (why.verdict == FP_FORMAT_MEMORY)
        return false;
    (void)fp_format_fail(error, why.verdict, "line %u%s%s: %s", (unsigned)recording->line,
                         why.pointer[0] != '\0' ? ", at " : "", why.pointer, why.detail);
    error->offset = (int64_t)recording->at + (why.offset > 0 ? why.offset : 0);
    return false;
}

static bool take_lines(struct recording *recording)
{
    const struct fp_str body = recording->body;
    while (recording->at < body.len) {
        const char *begin = body.ptr + recording->at;
        const char *end = memchr(begin, '\n', body.len - recording->at);
        size_t len = end != NULL ? (size_t)(end - begin) : body.len - recording->at;
        recording->line++;
        if (!take_line(recording, (struct fp_str){begin, len}, end != NULL))
            return fail_line(recording);
        recording->at += len + 1;
    }
    return true;
}

/* What is still open at the end is of the session that it names. A session does not begin with
 * StartProfiler's request, but with the reply. */
static void end_open(struct recording *recording)
{
    for (uint32_t i = 0; i < recording->request_count; i++) {
        const struct request *request = &recording->requests[i];
        if (!request->is_open)
            continue;
        note_unanswered(recording, request);
        if (request->command != COMMAND_START)
            fp_scope_sessions_give(&recording->sessions, request->run,
                                   session_of(recording, request));
    }
}

static bool has_timelines(const struct fp_scope_sessions *sessions)
{
    for (uint32_t i = 0; i < sessions->count; i++)
        if (sessions->parts[i]->profile.timeline_count > 0)
            return true;
    return false;
}

/* Replies of which nothing says whose events they are must not be all that there is. */
static bool check_unasked(struct recording *recording)
{
    if (recording->unasked_line == 0 || has_timelines(&recording->sessions))
        return true;
    recording->line = recording->unasked_line;
    recording->at = recording->unasked_at;
    (void)fp_fail_at(recording->decoder, FP_FORMAT_INVALID, NULL,
                     "this is neither a GetEvents request nor the reply to one before it, so "
                     "nothing says whose events these are");
    return fail_line(recording);
}

static bool finish(struct recording *recording)
{
    end_open(recording);
    for (uint32_t i = 0; i < recording->sessions.count; i++)
        recording->sessions.parts[i]->profile.truncated = recording->is_cut_off;
    return check_unasked(recording) &&
           fp_scope_sessions_finish(&recording->sessions, recording->body);
}

bool fp_opera_scope_decode_recording(struct fp_decoder *decoder, struct fp_str body)
{
    struct recording recording = {.decoder = decoder, .body = body};
    *decoder->profile = (struct fp_profile){0};
    fp_map_init(&recording.request_of, decoder->limits->entries);
    bool taken = fp_scope_sessions_begin(&recording.sessions, decoder) && take_lines(&recording) &&
                 finish(&recording);
    fp_map_release(&recording.request_of);
    fp_scope_sessions_release(&recording.sessions);
    return taken;
}
