/*
 * Opera Scope, session: beginning and ending one, and what is noted about it.
 */
#include "collector/format/opera_scope/parts.h"

enum { ROOM_MIN = 64 };

static const char *const note_texts[FP_SCOPE_NOTE_COUNT] = {
    [FP_SCOPE_NO_MESSAGE] = "an event that is neither a list nor an object",
    [FP_SCOPE_NO_TYPE] = "an event without a type that is a whole number from 0 to 2147483647",
    [FP_SCOPE_NO_TIME] = "an event without a time in milliseconds from 0",
    [FP_SCOPE_NO_OVERHEAD] = "an event without an overhead in milliseconds from 0",
    [FP_SCOPE_NO_HITS] = "an event without hits that are an unsigned 32-bit integer",
    [FP_SCOPE_LONG_TIME] = "an event with a time or overhead above limits.max_span",
    [FP_SCOPE_BAD_INTERVAL] = "an event with an interval that is not of times",
    [FP_SCOPE_BACKWARD_INTERVAL] = "an event that ends before it starts",
    [FP_SCOPE_BAD_OPTION] = "an event with an id, childCount or aggregate of a wrong type",
    [FP_SCOPE_DUPLICATE_ID] = "an event with the eventID of one before it",
    [FP_SCOPE_KNOWN_EVENT] = "an event that an earlier list of the timeline has",
    [FP_SCOPE_CYCLE] = "an event that is its own ancestor",
    [FP_SCOPE_KNOWN_LIST] = "an event of a list that was there before",
    [FP_SCOPE_OTHER_DETAIL] = "a detail of another kind than its event",
    [FP_SCOPE_BAD_DETAIL] = "a detail with a field missing or of a wrong type",
    [FP_SCOPE_OTHER_SERVICE] = "a frame of another service",
    [FP_SCOPE_STATUS] = "a frame with a status that is not OK",
    [FP_SCOPE_SERVICE_EVENT] = "a frame that is an event of the service, which has none",
    [FP_SCOPE_UNASKED] = "a reply without a request that is any good",
    [FP_SCOPE_CUT_OFF] = "a last line that was cut off",
    [FP_SCOPE_UNANSWERED] = "a request without its reply",
    [FP_SCOPE_REPEATED_ID] = "a reduced event with the eventID of one before it",
    [FP_SCOPE_UNKNOWN_TIMELINE] = "a timeline that the session does not list",
    [FP_SCOPE_AGGREGATE_BELOW_TIME] = "an aggregatedTime below the event's own time",
    [FP_SCOPE_AGGREGATE_SUM] = "an aggregatedTime that is not the sum of its parts",
    [FP_SCOPE_UNORDERED] = "a list that is not in the order of starts",
    [FP_SCOPE_SPAN] = "a list whose interval is not the span of its events",
};

_Static_assert((int)FP_SCOPE_NOTE_COUNT <= (int)FP_PROFILE_NOTES_MAX, "each kind of note has room");

/* Where an envelope's note is: an element of the list being read, or the list's reply. */
static struct fp_str pointer_of(const struct fp_scope *scope, size_t index)
{
    const struct fp_place element = {.parent = scope->list, .index = index};
    return fp_place_pointer(scope->decoder->arena,
                            index != FP_SCOPE_WHOLE_LIST ? &element : scope->list->parent);
}

/* The note of this kind that a session has, or gets, with a count of 0. */
static struct fp_profile_note *note_like(struct fp_profile_session *session,
                                         const struct fp_profile_note *note)
{
    for (uint32_t i = 0; i < session->note_count; i++)
        if (session->notes[i].text == note->text)
            return &session->notes[i];
    struct fp_profile_note *added = &session->notes[session->note_count++];
    *added = *note;
    added->count = 0;
    return added;
}

void fp_scope_add_note(struct fp_scope *scope, enum fp_scope_note note, uint32_t count,
                       size_t index)
{
    if (scope->first_refusal == FP_SCOPE_FINE && note <= FP_SCOPE_KNOWN_LIST)
        scope->first_refusal = note;
    const bool is_envelope = scope->line_offset < 0;
    const struct fp_profile_note like = {
        .text = note_texts[note],
        .is_refusal = note < FP_SCOPE_FLAGS,
        .first_offset = is_envelope ? (int64_t)index : scope->line_offset,
        .is_index = is_envelope,
        .first_pointer = FP_STR(""),
    };
    struct fp_profile_note *noted = note_like(&scope->decoder->profile->session, &like);
    if (is_envelope && noted->count == 0)
        noted->first_pointer = pointer_of(scope, index);
    noted->count += count;
}

void fp_scope_take_notes(struct fp_profile_session *session, const struct fp_profile_session *from)
{
    for (uint32_t i = 0; i < from->note_count; i++) {
        struct fp_profile_note *note = note_like(session, &from->notes[i]);
        note->count += from->notes[i].count;
        if (from->notes[i].first_offset < note->first_offset)
            note->first_offset = from->notes[i].first_offset;
    }
}

void *fp_scope_grow(struct fp_scope *scope, void *array, size_t size, uint32_t needed,
                    uint32_t *room)
{
    if (needed <= *room && array != NULL)
        return array;
    uint32_t wanted = *room < ROOM_MIN ? ROOM_MIN : *room;
    while (wanted < needed)
        wanted = wanted <= UINT32_MAX / 2 ? wanted * 2 : UINT32_MAX;
    void *longer = fp_arena_array(scope->decoder->arena, wanted, size);
    if (longer == NULL)
        return NULL;
    if (array != NULL)
        memcpy(longer, array, *room * size);
    *room = wanted;
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

/* Nothing is left of the events; the place is that of the first refusal. */
static bool fail_events(struct fp_scope *scope)
{
    const struct fp_profile_session *session = &scope->decoder->profile->session;
    struct fp_format_error *error = scope->decoder->error;
    const char *why = note_texts[scope->first_refusal];
    (void)fp_format_fail(error, FP_FORMAT_INVALID, "none of the %u events is valid; the first: %s",
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
        return fp_fail_at(scope->decoder, FP_FORMAT_INVALID, NULL,
                          "there is no session in this upload: neither a Session message nor a "
                          "reply to GetEvents");
    return session->records_read == 0 || session->records_kept > 0 || fail_events(scope);
}

void fp_scope_release(struct fp_scope *scope)
{
    fp_map_release(&scope->timelines);
    fp_map_release(&scope->lists);
    fp_map_release(&scope->seen);
    fp_map_release(&scope->resources);
    yyjson_alc_dyn_free(scope->details);
}
