/*
 * Opera Scope, recording: one frame of the service on each line, requests and replies as they went
 * over the wire.
 *
 * Most frames do not say which way they went. Of GetEvents, requests and replies look different; of
 * the others, one whose command and tag are those of an open request is its reply. Then the tag is
 * free again.
 */
#include "collector/format/content.h"
#include "collector/format/opera_scope.h"
#include "collector/format/opera_scope_frame.h"
#include "collector/format/opera_scope_parts.h"

enum command { COMMAND_START = 1, COMMAND_STOP, COMMAND_GET_EVENTS, COMMAND_RELEASE };

enum { START_MODE, START_WINDOW };

/* A request; one slot serves all that have its command and tag, one after another. */
struct request {
    bool is_open;
    bool is_valid; /* a GetEventsArg in order */
    size_t at;     /* of its line */
    struct fp_scope_query query;
    uint32_t window_id; /* of StartProfiler */
};

struct recording {
    struct fp_scope scope;
    struct fp_decoder *decoder;
    struct fp_str body;
    size_t at;     /* of the line being read */
    uint32_t line; /* from 1 */
    struct request *requests;
    uint32_t request_count;
    uint32_t request_room;
    struct fp_map request_of; /* command and tag: index into requests */
    uint32_t started_session; /* by the reply to StartProfiler */
    uint32_t started_window;
    uint32_t unasked_line; /* the first reply without its request, 0: none */
    size_t unasked_at;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip(struct recording *recording, enum fp_scope_note note)
{
    fp_scope_add_note(&recording->scope, note, 1, 0);
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
        fp_scope_grow(&recording->scope, recording->requests, sizeof(*requests), count + 1,
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

/* A request that is no good matters only when it is of a draft: a reply to it is as one without. */
static bool open_request(struct recording *recording, const struct fp_scope_frame *frame,
                         struct request *request)
{
    struct fp_scope_message start;
    *request = (struct request){.is_open = true, .is_valid = true, .at = recording->at};
    if (frame->command == COMMAND_GET_EVENTS)
        request->is_valid =
            fp_scope_read_query(&recording->scope, &frame->place, frame->message, &request->query);
    if (frame->command == COMMAND_START && fp_scope_read(frame->message, &fp_scope_start, &start) &&
        !fp_scope_get_uint(start.fields[START_WINDOW], &request->window_id))
        request->window_id = 0;
    return request->is_valid || (recording->decoder->error->verdict != FP_FORMAT_MEMORY &&
                                 !fp_scope_is_draft(frame->message));
}

/* Nothing says whose events these are. */
static void leave_out_unasked(struct recording *recording)
{
    skip(recording, FP_SCOPE_UNASKED);
    if (recording->unasked_line != 0)
        return;
    recording->unasked_line = recording->line;
    recording->unasked_at = recording->at;
}

static void note_unanswered(struct recording *recording, const struct request *request)
{
    recording->scope.line_offset = (int64_t)request->at;
    skip(recording, FP_SCOPE_UNANSWERED);
    recording->scope.line_offset = (int64_t)recording->at;
}

static void note_started(struct recording *recording, const struct fp_scope_frame *frame,
                         const struct request *request)
{
    struct fp_scope_message reply;
    if (!fp_scope_read(frame->message, &fp_scope_session, &reply) ||
        !fp_scope_get_uint(reply.fields[FP_SCOPE_SESSION_ID], &recording->started_session))
        return;
    recording->started_window = request->window_id;
}

static bool take_reply(struct recording *recording, const struct fp_scope_frame *frame,
                       const struct request *request)
{
    switch (frame->command) {
    case COMMAND_START:
        note_started(recording, frame, request);
        return true;
    case COMMAND_STOP:
        return fp_scope_take_session(&recording->scope, &frame->place, frame->message);
    case COMMAND_GET_EVENTS:
        if (request->is_valid)
            return fp_scope_take_events(&recording->scope, &frame->place, frame->message,
                                        &request->query);
        leave_out_unasked(recording);
        return true;
    default:
        return true;
    }
}

/* Whether a frame is a reply; was_open: there is a request with its command and tag. */
static bool is_reply(const struct fp_scope_frame *frame, bool was_open)
{
    if (frame->kind != FP_SCOPE_KIND_UNKNOWN)
        return frame->kind != FP_SCOPE_KIND_REQUEST;
    if (frame->command == COMMAND_GET_EVENTS)
        return !fp_scope_is_query(frame->message);
    return was_open;
}

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
                       struct request *request)
{
    bool was_open = request->is_open;
    if (frame->status != 0) {
        request->is_open = false;
        skip(recording, FP_SCOPE_STATUS);
        return true;
    }
    if (!is_reply(frame, was_open)) {
        if (was_open)
            note_unanswered(recording, request);
        return open_request(recording, frame, request);
    }
    if (!was_open)
        *request = (struct request){.is_valid = false};
    request->is_open = false;
    return take_reply(recording, frame, request);
}

static bool take_frame(struct recording *recording, const struct fp_scope_frame *frame)
{
    if (!frame->is_of_service || frame->kind == FP_SCOPE_KIND_EVENT) {
        skip(recording, frame->is_of_service ? FP_SCOPE_SERVICE_EVENT : FP_SCOPE_OTHER_SERVICE);
        return true;
    }
    struct request *request = find_request(recording, frame);
    if (request == NULL)
        return false;
    keep_frame(recording, frame, is_reply(frame, request->is_open));
    return join_frame(recording, frame, request);
}

/* Lines. */

static bool take_line(struct recording *recording, struct fp_str line)
{
    while (line.len > 0 && is_space(line.ptr[line.len - 1]))
        line.len--;
    if (line.len == 0)
        return true;
    recording->scope.line_offset = (int64_t)recording->at;
    struct fp_scope_frame frame;
    bool taken =
        fp_scope_frame_read(recording->decoder, line, &frame) && take_frame(recording, &frame);
    fp_scope_frame_release(&frame);
    return taken;
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
        if (!take_line(recording, (struct fp_str){begin, len}))
            return fail_line(recording);
        recording->at += len + 1;
    }
    return true;
}

/* What is still open at the end. */
static void note_open(struct recording *recording)
{
    for (uint32_t i = 0; i < recording->request_count; i++)
        if (recording->requests[i].is_open)
            note_unanswered(recording, &recording->requests[i]);
}

/* Replies of which nothing says whose events they are must not be all that there is. */
static bool check_unasked(struct recording *recording)
{
    if (recording->unasked_line == 0 || recording->decoder->profile->timeline_count > 0)
        return true;
    recording->line = recording->unasked_line;
    recording->at = recording->unasked_at;
    (void)fp_fail_at(recording->decoder, FP_FORMAT_INVALID, NULL,
                     "this is neither a GetEvents request nor the reply to one before it, so "
                     "nothing says whose events these are");
    return fail_line(recording);
}

/* A Session need not name its window; StartProfiler did. */
static bool finish(struct recording *recording)
{
    struct fp_profile_session *session = &recording->decoder->profile->session;
    note_open(recording);
    if (session->window_id == 0 && session->id == recording->started_session)
        session->window_id = recording->started_window;
    return check_unasked(recording) && fp_scope_finish(&recording->scope);
}

bool fp_opera_scope_decode_recording(struct fp_decoder *decoder, struct fp_str body)
{
    struct recording recording = {.decoder = decoder, .body = body};
    *decoder->profile = (struct fp_profile){0};
    fp_map_init(&recording.request_of, decoder->limits->entries);
    bool taken =
        fp_scope_begin(&recording.scope, decoder) && take_lines(&recording) && finish(&recording);
    fp_map_release(&recording.request_of);
    fp_scope_release(&recording.scope);
    return taken;
}
