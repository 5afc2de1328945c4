/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, notes: their texts, and counting them.
 */
#include "collector/format/opera_scope/notes.h"

#include "collector/base/assert.h"
#include "collector/format/opera_scope/scope.h"

static const char *const note_texts[FP_SCOPE_NOTE_COUNT] = {
    [FP_SCOPE_NOTE_NO_MESSAGE] = "an event that is neither a list nor an object",
    [FP_SCOPE_NOTE_NO_TYPE] = "an event whose type is not a whole number from 0 to 2147483647",
    [FP_SCOPE_NOTE_NO_TIME] = "an event whose time is not a number of milliseconds from 0",
    [FP_SCOPE_NOTE_NO_OVERHEAD] = "an event whose overhead is not a number of milliseconds from 0",
    [FP_SCOPE_NOTE_NO_HITS] = "an event whose hits are not an unsigned 32-bit integer",
    [FP_SCOPE_NOTE_LONG_TIME] = "an event with a time or overhead above limits.max_span",
    [FP_SCOPE_NOTE_BAD_INTERVAL] = "an event with an interval whose bounds are not times",
    [FP_SCOPE_NOTE_BACKWARD_INTERVAL] = "an event that ends before it starts",
    [FP_SCOPE_NOTE_BAD_OPTION] = "an event with an id, childCount or aggregate of a wrong type",
    [FP_SCOPE_NOTE_DUPLICATE_ID] = "an event with the eventID of one before it",
    [FP_SCOPE_NOTE_KNOWN_EVENT] = "an event that is already in an earlier list of the timeline",
    [FP_SCOPE_NOTE_CYCLE] = "an event that is its own ancestor",
    [FP_SCOPE_NOTE_KNOWN_LIST] = "an event of a list that was already read",
    [FP_SCOPE_NOTE_OTHER_DETAIL] = "a detail of another kind than its event",
    [FP_SCOPE_NOTE_BAD_DETAIL] = "a detail with a field missing or of a wrong type",
    [FP_SCOPE_NOTE_OTHER_SERVICE] = "a frame of another service",
    [FP_SCOPE_NOTE_BAD_STATUS] = "a frame with a status that is not OK",
    [FP_SCOPE_NOTE_SERVICE_EVENT] = "a frame that is an event of the service, which has none",
    [FP_SCOPE_NOTE_ORPHAN] = "a reply without a valid request",
    [FP_SCOPE_NOTE_TRUNCATED] = "a truncated last line",
    [FP_SCOPE_NOTE_UNANSWERED] = "a request without a reply",
    [FP_SCOPE_NOTE_REPEATED_ID] = "a reduced event with the eventID of one before it",
    [FP_SCOPE_NOTE_UNKNOWN_TIMELINE] = "a timeline that the session does not list",
    [FP_SCOPE_NOTE_AGGREGATE_BELOW_TIME] = "an aggregatedTime below the event's own time",
    [FP_SCOPE_NOTE_AGGREGATE_SUM] = "an aggregatedTime that is not the sum of its parts",
    [FP_SCOPE_NOTE_UNORDERED] = "a list that is not sorted by start",
    [FP_SCOPE_NOTE_SPAN] = "a list whose interval is not the span of its events",
};

static const enum fp_record_refusal reasons[FP_SCOPE_NOTE_REFUSALS_END] = {
    [FP_SCOPE_NOTE_NO_MESSAGE] = FP_RECORD_REFUSAL_NO_MESSAGE,
    [FP_SCOPE_NOTE_NO_TYPE] = FP_RECORD_REFUSAL_NO_TYPE,
    [FP_SCOPE_NOTE_NO_TIME] = FP_RECORD_REFUSAL_NO_TIME,
    [FP_SCOPE_NOTE_NO_OVERHEAD] = FP_RECORD_REFUSAL_NO_OVERHEAD,
    [FP_SCOPE_NOTE_NO_HITS] = FP_RECORD_REFUSAL_NO_HITS,
    [FP_SCOPE_NOTE_LONG_TIME] = FP_RECORD_REFUSAL_LONG_TIME,
    [FP_SCOPE_NOTE_BAD_INTERVAL] = FP_RECORD_REFUSAL_BAD_INTERVAL,
    [FP_SCOPE_NOTE_BACKWARD_INTERVAL] = FP_RECORD_REFUSAL_BACKWARD_INTERVAL,
    [FP_SCOPE_NOTE_BAD_OPTION] = FP_RECORD_REFUSAL_BAD_OPTION,
    [FP_SCOPE_NOTE_DUPLICATE_ID] = FP_RECORD_REFUSAL_DUPLICATE_ID,
    [FP_SCOPE_NOTE_KNOWN_EVENT] = FP_RECORD_REFUSAL_KNOWN_EVENT,
    [FP_SCOPE_NOTE_CYCLE] = FP_RECORD_REFUSAL_CYCLE,
    [FP_SCOPE_NOTE_KNOWN_LIST] = FP_RECORD_REFUSAL_KNOWN_LIST,
    [FP_SCOPE_NOTE_OTHER_DETAIL] = FP_RECORD_REFUSAL_OTHER_DETAIL,
    [FP_SCOPE_NOTE_BAD_DETAIL] = FP_RECORD_REFUSAL_BAD_DETAIL,
    [FP_SCOPE_NOTE_OTHER_SERVICE] = FP_RECORD_REFUSAL_OTHER_SERVICE,
    [FP_SCOPE_NOTE_BAD_STATUS] = FP_RECORD_REFUSAL_BAD_STATUS,
    [FP_SCOPE_NOTE_SERVICE_EVENT] = FP_RECORD_REFUSAL_SERVICE_EVENT,
    [FP_SCOPE_NOTE_ORPHAN] = FP_RECORD_REFUSAL_ORPHAN,
    [FP_SCOPE_NOTE_TRUNCATED] = FP_RECORD_REFUSAL_TRUNCATED,
};

_Static_assert((int)FP_SCOPE_NOTE_COUNT <= (int)FP_PROFILE_NOTES_MAX,
               "a session has room for all kinds of notes");

const char *fp_scope_note_text(enum fp_scope_note note)
{
    return note_texts[note];
}

/* Returns the pointer of an envelope's note: to an element of the list being read, or to the reply
 * that has the list. */
static struct fp_str pointer_of(const struct fp_scope *scope, size_t index)
{
    const struct fp_place element = {.parent = scope->list, .index = index};
    return fp_place_pointer(scope->decoder->arena,
                            index != FP_SCOPE_WHOLE_LIST ? &element : scope->list->parent);
}

/* Returns the session's note of the same kind. Adds it with a count of 0 if there is none. */
static struct fp_profile_note *find_or_add(struct fp_profile_session *session,
                                           const struct fp_profile_note *note)
{
    for (uint32_t i = 0; i < session->note_count; i++)
        if (session->notes[i].text == note->text)
            return &session->notes[i];
    FP_ASSERT(session->note_count < FP_SCOPE_NOTE_COUNT);
    struct fp_profile_note *added = &session->notes[session->note_count++];
    *added = *note;
    added->count = 0;
    return added;
}

void fp_scope_add_note(struct fp_scope *scope, enum fp_scope_note note, uint32_t count,
                       size_t index)
{
    if (scope->first_refusal == FP_SCOPE_NOTE_NONE && note <= FP_SCOPE_NOTE_KNOWN_LIST)
        scope->first_refusal = note;
    const bool is_envelope = scope->line_offset < 0;
    const struct fp_profile_note like = {
        .text = note_texts[note],
        .reason = note < FP_SCOPE_NOTE_REFUSALS_END ? reasons[note] : FP_RECORD_REFUSAL_NONE,
        .first_offset = is_envelope ? (int64_t)index : scope->line_offset,
        .is_index = is_envelope,
        .first_pointer = FP_STR(""),
    };
    struct fp_profile_note *noted = find_or_add(&scope->decoder->profile->session, &like);
    if (is_envelope && noted->count == 0)
        noted->first_pointer = pointer_of(scope, index);
    noted->count += count;
}

void fp_scope_merge_notes(struct fp_profile_session *session, const struct fp_profile_session *from)
{
    for (uint32_t i = 0; i < from->note_count; i++) {
        struct fp_profile_note *note = find_or_add(session, &from->notes[i]);
        note->count += from->notes[i].count;
        if (from->notes[i].first_offset < note->first_offset)
            note->first_offset = from->notes[i].first_offset;
    }
}
