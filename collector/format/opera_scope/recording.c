/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, recording: one frame of the service per line, requests and replies as they went over
 * the wire.
 *
 * Most frames do not say whether they are a request or a reply. The two of GetEvents look
 * different. For other commands, a frame with the command and tag of an open request is its reply,
 * and closes the request.
 *
 * A request and its reply form a pair. The pair belongs to the session that the reply names, or
 * else the request, or else to the one that was named last. A frame without a partner names no
 * session and is in no session's content: reading a session's content again finds the same pairs.
 */
#include "collector/format/content.h"
#include "collector/format/opera_scope/event.h"
#include "collector/format/opera_scope/frame.h"
#include "collector/format/opera_scope/opera_scope.h"
#include "collector/format/opera_scope/sessions.h"

enum scope_command { COMMAND_START = 1, COMMAND_STOP, COMMAND_GET_EVENTS, COMMAND_RELEASE };

enum { START_MODE, START_WINDOW };

/* The last request with its command and tag. */
struct scope_request {
    bool is_open;
    bool is_valid; /* false: a GetEventsArg that is refused */
    size_t at;     /* of its line */
    uint32_t command;
    uint32_t run;
    uint32_t session_id; /* that it names, 0: none */
    uint32_t session;    /* index of the current session when it came */
    struct fp_scope_query query;
    uint32_t window_id; /* of StartProfiler */
};

struct recording {
    struct fp_scope_sessions sessions;
    struct fp_decoder *decoder;
    struct fp_str body;
    size_t at;     /* of the line being read */
    uint32_t line; /* from 1 */
    struct scope_request *requests;
    uint32_t request_count;
    uint32_t request_cap;
    struct fp_map request_of; /* command and tag: index into requests */
    uint32_t orphan_line;     /* the first reply without its request, 0: none */
    size_t orphan_at;
    bool is_truncated; /* in its last line */
};

/* Returns the scope of a session, with its place at the line being read. */
static struct fp_scope *scope_of(struct recording *recording, uint32_t session)
{
    struct fp_scope *scope = &recording->sessions.items[session]->scope;
    scope->line_offset = (int64_t)recording->at;
    return scope;
}

static void add_note(struct recording *recording, uint32_t session, enum fp_scope_note note)
{
    fp_scope_add_note(scope_of(recording, session), note, 1, 0);
}

/* Returns the session that a request belongs to, as far as is known. */
static uint32_t session_of(const struct recording *recording, const struct scope_request *request)
{
    return fp_scope_sessions_find(&recording->sessions, request->session_id, request->session);
}

/* Messages. */

/* Returns the type of a frame's message; NULL for a message that is not read, such as an
 * error's. */
static const struct fp_scope_type *type_of(const struct fp_scope_frame *frame, bool is_reply)
{
    if (frame->status != 0)
        return NULL;
    switch (frame->command) {
    case COMMAND_START:
        return is_reply ? &fp_scope_session_id_type : &fp_scope_start_type;
    case COMMAND_STOP:
        return is_reply ? &fp_scope_session_type : &fp_scope_session_id_type;
    case COMMAND_RELEASE:
        return is_reply ? NULL : &fp_scope_session_id_type;
    case COMMAND_GET_EVENTS:
        return is_reply ? &fp_scope_events_type : &fp_scope_request_type;
    default:
        return NULL;
    }
}

/* Returns the id of the session that a frame names, 0 if none. */
static uint32_t named_session(const struct fp_scope_frame *frame, bool is_reply)
{
    const struct fp_scope_type *type = type_of(frame, is_reply);
    struct fp_scope_message message;
    uint32_t id;
    if (type == NULL || type == &fp_scope_start_type || type == &fp_scope_events_type ||
        !fp_scope_read_message(frame->message, type, &message) ||
        !fp_scope_get_uint(message.fields[FP_SCOPE_SESSION_ID], &id))
        return 0;
    return id;
}

/* True if two frames of StopProfiler can be a pair: they do not name different sessions. */
static bool stops_same_session(const struct fp_scope_frame *frame,
                               const struct scope_request *request)
{
    uint32_t id = named_session(frame, true);
    return id == 0 || request->session_id == 0 || id == request->session_id;
}

/* True if a frame is a reply, whether or not the request with its command and tag is open. */
static bool looks_like_reply(const struct fp_scope_frame *frame,
                             const struct scope_request *request)
{
    if (frame->kind != FP_SCOPE_KIND_UNKNOWN)
        return frame->kind != FP_SCOPE_KIND_REQUEST;
    if (frame->command == COMMAND_GET_EVENTS)
        return !fp_scope_is_request(frame->message);
    return request->is_open &&
           (frame->command != COMMAND_STOP || stops_same_session(frame, request));
}

/* Requests. */

/* Finds or adds the request with a frame's command and tag. NULL after the error is filled. */
static struct scope_request *find_request(struct recording *recording,
                                          const struct fp_scope_frame *frame)
{
    struct fp_decoder *decoder = recording->decoder;
    uint32_t count = recording->request_count;
    uint32_t at = fp_map_get(&recording->request_of, (uint64_t)frame->command << 32 | frame->tag);
    if (at != FP_MAP_NONE)
        return &recording->requests[at];
    if (count == decoder->limits->entries) {
        (void)fp_fail_at(decoder, FP_VERDICT_TOO_LARGE, NULL,
                         "more than %u different requests (limits.entries)", (unsigned)count);
        return NULL;
    }
    struct scope_request *requests =
        fp_scope_grow(scope_of(recording, 0), recording->requests, sizeof(*requests), count + 1,
                      &recording->request_cap);
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

/* A bad request spoils only its own pair: its reply counts as an orphan. */
static bool open_request(struct recording *recording, const struct fp_scope_frame *frame,
                         struct scope_request *request, uint32_t run)
{
    struct fp_scope_message start;
    *request = (struct scope_request){
        .is_open = true,
        .is_valid = true,
        .at = recording->at,
        .command = frame->command,
        .run = run,
        .session_id = named_session(frame, false),
        .session = recording->sessions.current,
    };
    if (frame->command == COMMAND_GET_EVENTS)
        request->is_valid = fp_scope_read_query(scope_of(recording, request->session),
                                                &frame->place, frame->message, &request->query);
    if (frame->command == COMMAND_START &&
        fp_scope_read_message(frame->message, &fp_scope_start_type, &start) &&
        !fp_scope_get_uint(start.fields[START_WINDOW], &request->window_id))
        request->window_id = 0;
    return request->is_valid || recording->decoder->error->verdict != FP_VERDICT_MEMORY;
}

static void note_unanswered(struct recording *recording, const struct scope_request *request)
{
    struct fp_scope *scope = scope_of(recording, session_of(recording, request));
    scope->line_offset = (int64_t)request->at;
    fp_scope_add_note(scope, FP_SCOPE_NOTE_UNANSWERED, 1, 0);
}

/* Replies. */

/* Skips a reply whose request is missing or bad: nothing says whose events these are. */
static void skip_orphan(struct recording *recording, const struct scope_request *request)
{
    add_note(recording, session_of(recording, request), FP_SCOPE_NOTE_ORPHAN);
    if (recording->orphan_line != 0)
        return;
    recording->orphan_line = recording->line;
    recording->orphan_at = recording->at;
}

static bool read_events(struct recording *recording, const struct fp_scope_frame *frame,
                        struct scope_request *request)
{
    struct fp_scope_sessions *sessions = &recording->sessions;
    if (request->session_id == 0)
        sessions->current = request->session;
    if (!fp_scope_sessions_select(sessions, request->session_id))
        return false;
    request->query.session_id = sessions->items[sessions->current]->id;
    struct fp_scope *scope = scope_of(recording, sessions->current);
    return fp_scope_set_query_session(scope, &frame->place, &request->query) &&
           fp_scope_read_events(scope, &frame->place, frame->message, &request->query);
}

/* Reads a reply to StartProfiler or StopProfiler, which names a session. */
static bool read_named(struct recording *recording, const struct fp_scope_frame *frame,
                       const struct scope_request *request)
{
    struct fp_scope_sessions *sessions = &recording->sessions;
    uint32_t id = named_session(frame, true);
    bool is_stop = frame->command == COMMAND_STOP;
    if (is_stop ? !fp_scope_sessions_select(sessions, id) : !fp_scope_sessions_start(sessions, id))
        return false;
    if (is_stop)
        return fp_scope_read_session(scope_of(recording, sessions->current), &frame->place,
                                     frame->message);
    if (id != 0)
        sessions->items[sessions->current]->window_id = request->window_id;
    return true;
}

/* Reads a reply. Sets *session, the session of the pair, if the reply names another. */
static bool read_reply(struct recording *recording, const struct fp_scope_frame *frame,
                       struct scope_request *request, uint32_t *session)
{
    bool read;
    switch (frame->command) {
    case COMMAND_START:
    case COMMAND_STOP:
        read = read_named(recording, frame, request);
        break;
    case COMMAND_GET_EVENTS:
        if (!request->is_valid) {
            skip_orphan(recording, request);
            *session = FP_SCOPE_NO_SESSION;
            return true;
        }
        read = read_events(recording, frame, request);
        break;
    default:
        return true;
    }
    *session = recording->sessions.current;
    return read;
}

/* Appends a frame to the content, in the form in which it came. */
static void add_content(struct recording *recording, const struct fp_scope_frame *frame,
                        bool is_reply)
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
    const struct fp_scope_type *type = type_of(frame, is_reply);
    if (type != NULL && frame->message != NULL)
        fp_scope_add_content(decoder, frame->message, type);
    else
        fp_content_add(decoder, FP_STR("null"));
    fp_content_add(decoder, is_plain ? FP_STR("]\n") : FP_STR("\n"));
}

/* Opens a request, or pairs a reply with its request. */
static bool pair_frame(struct recording *recording, const struct fp_scope_frame *frame,
                       struct scope_request *request, uint32_t run)
{
    const struct scope_request asked = *request;
    if (frame->status == 0 && !looks_like_reply(frame, &asked)) {
        if (asked.is_open)
            note_unanswered(recording, &asked);
        return open_request(recording, frame, request, run);
    }
    if (!asked.is_open)
        *request = (struct scope_request){.session = recording->sessions.current};
    request->is_open = false;
    uint32_t session = session_of(recording, request);
    if (frame->status != 0)
        add_note(recording, session, FP_SCOPE_NOTE_BAD_STATUS);
    else if (!read_reply(recording, frame, request, &session))
        return false;
    if (asked.is_open)
        fp_scope_sessions_assign_run(&recording->sessions, asked.run, session);
    fp_scope_sessions_assign_run(&recording->sessions, run, session);
    return true;
}

static bool read_frame(struct recording *recording, const struct fp_scope_frame *frame)
{
    struct fp_scope_sessions *sessions = &recording->sessions;
    uint32_t run;
    if (frame->status == 0 &&
        !fp_scope_check_draft(recording->decoder, &frame->place, frame->message))
        return false;
    if (!fp_scope_sessions_add_run(sessions, recording->at, &run))
        return false;
    if (!frame->is_of_service || frame->kind == FP_SCOPE_KIND_EVENT) {
        add_note(recording, sessions->current,
                 frame->is_of_service ? FP_SCOPE_NOTE_SERVICE_EVENT : FP_SCOPE_NOTE_OTHER_SERVICE);
        fp_scope_sessions_assign_run(sessions, run, sessions->current);
        return true;
    }
    struct scope_request *request = find_request(recording, frame);
    if (request == NULL)
        return false;
    add_content(recording, frame, looks_like_reply(frame, request));
    return pair_frame(recording, frame, request, run);
}

/* Lines. */

/* Skips a truncated last line, so that the lines before it count. False if it is not one. */
static bool skip_truncated(struct recording *recording)
{
    struct fp_scope_sessions *sessions = &recording->sessions;
    uint32_t run;
    if (recording->decoder->error->verdict != FP_VERDICT_MALFORMED || recording->line == 1)
        return false;
    if (!fp_scope_sessions_add_run(sessions, recording->at, &run))
        return false;
    recording->is_truncated = true;
    add_note(recording, sessions->current, FP_SCOPE_NOTE_TRUNCATED);
    fp_scope_sessions_assign_run(sessions, run, sessions->current);
    return true;
}

/* has_newline: false for a last line without a line break, which may be truncated. */
static bool read_line(struct recording *recording, struct fp_str line, bool has_newline)
{
    while (line.len > 0 && fp_json_is_space(line.ptr[line.len - 1]))
        line.len--;
    if (fp_scope_skip_space(line).len == 0)
        return true;
    struct fp_scope_frame frame;
    bool is_read = fp_scope_frame_read(recording->decoder, line, &frame);
    bool is_done = is_read && read_frame(recording, &frame);
    fp_scope_frame_release(&frame);
    return is_done || (!is_read && !has_newline && skip_truncated(recording));
}

/* Adds the line to an error that was filled. Returns false. */
static bool fail_line(struct recording *recording)
{
    struct fp_upload_error *error = recording->decoder->error;
    const struct fp_upload_error why = *error;
    if (why.verdict == FP_VERDICT_MEMORY)
        return false;
    (void)fp_upload_fail(error, why.verdict, "line %u%s%s: %s", (unsigned)recording->line,
                         why.pointer[0] != '\0' ? ", at " : "", why.pointer, why.detail);
    error->offset = (int64_t)recording->at + (why.offset > 0 ? why.offset : 0);
    return false;
}

static bool read_lines(struct recording *recording)
{
    const struct fp_str body = recording->body;
    while (recording->at < body.len) {
        const char *begin = body.ptr + recording->at;
        const char *end = memchr(begin, '\n', body.len - recording->at);
        size_t len = end != NULL ? (size_t)(end - begin) : body.len - recording->at;
        recording->line++;
        if (!read_line(recording, (struct fp_str){begin, len}, end != NULL))
            return fail_line(recording);
        recording->at += len + 1;
    }
    return true;
}

/* Assigns requests that are still open to the session that they name, but not one of StartProfiler:
 * a session begins with its reply. */
static void close_requests(struct recording *recording)
{
    for (uint32_t i = 0; i < recording->request_count; i++) {
        const struct scope_request *request = &recording->requests[i];
        if (!request->is_open)
            continue;
        note_unanswered(recording, request);
        if (request->command != COMMAND_START)
            fp_scope_sessions_assign_run(&recording->sessions, request->run,
                                         session_of(recording, request));
    }
}

static bool has_timelines(const struct fp_scope_sessions *sessions)
{
    for (uint32_t i = 0; i < sessions->count; i++)
        if (sessions->items[i]->profile.timeline_count > 0)
            return true;
    return false;
}

/* Refuses a recording whose only replies are orphans: nothing says whose events they are. */
static bool check_orphans(struct recording *recording)
{
    if (recording->orphan_line == 0 || has_timelines(&recording->sessions))
        return true;
    recording->line = recording->orphan_line;
    recording->at = recording->orphan_at;
    (void)fp_fail_at(recording->decoder, FP_VERDICT_INVALID, NULL,
                     "this is neither a GetEvents request nor the reply to one before it, so "
                     "nothing says whose events these are");
    return fail_line(recording);
}

static bool finish(struct recording *recording)
{
    close_requests(recording);
    for (uint32_t i = 0; i < recording->sessions.count; i++)
        recording->sessions.items[i]->profile.truncated = recording->is_truncated;
    return check_orphans(recording) &&
           fp_scope_sessions_finish(&recording->sessions, recording->body);
}

bool fp_opera_scope_decode_recording(struct fp_decoder *decoder, struct fp_str body)
{
    struct recording recording = {.decoder = decoder, .body = body};
    *decoder->profile = (struct fp_profile){0};
    fp_map_init(&recording.request_of, decoder->limits->entries);
    bool decoded = fp_scope_sessions_begin(&recording.sessions, decoder) &&
                   read_lines(&recording) && finish(&recording);
    fp_map_release(&recording.request_of);
    fp_scope_sessions_release(&recording.sessions);
    return decoded;
}
