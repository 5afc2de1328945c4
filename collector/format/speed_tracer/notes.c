/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, notes: their texts, and counting them.
 */
#include "collector/format/speed_tracer/notes.h"

#include "collector/base/assert.h"
#include "collector/format/speed_tracer/dump.h"

static const char *const note_texts[FP_ST_NOTE_COUNT] = {
    [FP_ST_NOTE_NOT_JSON] = "a record that is not JSON",
    [FP_ST_NOTE_TRUNCATED] = "a truncated record",
    [FP_ST_NOTE_NO_OBJECT] = "a value among the records that is not an object",
    [FP_ST_NOTE_BAD_TYPE] = "a type that is not a 32-bit whole number",
    [FP_ST_NOTE_BAD_TIME] = "a time that is not a number, or beyond 2^53 microseconds",
    [FP_ST_NOTE_BAD_DURATION] = "a duration that is not a number, or above limits.max_span",
    [FP_ST_NOTE_NEGATIVE_DURATION] = "a duration below zero",
    [FP_ST_NOTE_BAD_CHILDREN] = "children that are not an array",
    [FP_ST_NOTE_BAD_DATA] = "data that is not an object",
    [FP_ST_NOTE_BAD_PROFILE_LINE] = "a line of a V8 profile that cannot be read",
    [FP_ST_NOTE_UNKNOWN_COMMAND] = "an unknown command or a lost alias in a V8 profile",
    [FP_ST_NOTE_JUNK] = "something between the records",
    [FP_ST_NOTE_BROKEN_POST] = "a posted body that is not JSON, whose records were read one by one",
    [FP_ST_NOTE_BAD_START] =
        "a header whose timeStamp is not a time since 1970, or that is not an object",
    [FP_ST_NOTE_NO_TYPE] = "a record without a type",
    [FP_ST_NOTE_UNKNOWN_TYPE] = "a type that is not known",
    [FP_ST_NOTE_NO_TYPE_NAME] = "a custom type without a name",
    [FP_ST_NOTE_NO_TIME] = "a record without a time, taken as 0",
    [FP_ST_NOTE_NEGATIVE_TIME] = "a time below zero",
    [FP_ST_NOTE_TIME_BACKWARDS] = "a record that begins before the one above it",
    [FP_ST_NOTE_NEGATIVE_SELF] = "children that take longer than their parent",
    [FP_ST_NOTE_UNPAIRED_CALLER] = "a caller's script or line without the other",
    [FP_ST_NOTE_UNPAIRED_HEAP] = "a used or total heap size without the other",
    [FP_ST_NOTE_ENTITIES] = "HTML entities decoded in a URL",
    [FP_ST_NOTE_UNKNOWN_PROFILE] = "a JavaScript profile in a format other than v8",
    [FP_ST_NOTE_UNKNOWN_CODE] = "code of an unknown kind, or of a lost alias, in a V8 profile",
    [FP_ST_NOTE_LONG_PROFILE] =
        "a V8 profile whose table would make those of the dump exceed 16 MiB",
};

static const enum fp_record_refusal reasons[FP_ST_NOTE_REFUSALS] = {
    [FP_ST_NOTE_NOT_JSON] = FP_RECORD_REFUSAL_NOT_JSON,
    [FP_ST_NOTE_TRUNCATED] = FP_RECORD_REFUSAL_TRUNCATED,
    [FP_ST_NOTE_NO_OBJECT] = FP_RECORD_REFUSAL_NOT_OBJECT,
    [FP_ST_NOTE_BAD_TYPE] = FP_RECORD_REFUSAL_BAD_TYPE,
    [FP_ST_NOTE_BAD_TIME] = FP_RECORD_REFUSAL_BAD_TIME,
    [FP_ST_NOTE_BAD_DURATION] = FP_RECORD_REFUSAL_BAD_DURATION,
    [FP_ST_NOTE_NEGATIVE_DURATION] = FP_RECORD_REFUSAL_NEGATIVE_DURATION,
    [FP_ST_NOTE_BAD_CHILDREN] = FP_RECORD_REFUSAL_BAD_CHILDREN,
    [FP_ST_NOTE_BAD_DATA] = FP_RECORD_REFUSAL_BAD_DATA,
    [FP_ST_NOTE_BAD_PROFILE_LINE] = FP_RECORD_REFUSAL_BAD_PROFILE_LINE,
    [FP_ST_NOTE_UNKNOWN_COMMAND] = FP_RECORD_REFUSAL_BAD_PROFILE_LINE,
};

_Static_assert((int)FP_ST_NOTE_COUNT <= (int)FP_PROFILE_NOTES_MAX,
               "a session has room for all kinds of notes");

const char *fp_st_note_text(enum fp_st_note note)
{
    return note_texts[note];
}

void fp_st_add_note(struct fp_st_dump *dump, enum fp_st_note note)
{
    FP_ASSERT((size_t)note < FP_ST_NOTE_COUNT);
    if (dump->notes[note].count++ > 0)
        return;
    dump->notes[note].first_offset = dump->offset;
    dump->notes[note].is_index = dump->is_index;
}

bool fp_st_list_notes(struct fp_st_dump *dump)
{
    struct fp_profile_session *session = &dump->decoder->profile->session;
    session->notes =
        fp_arena_array(dump->decoder->arena, FP_PROFILE_NOTES_MAX, sizeof(*session->notes));
    if (session->notes == NULL)
        return fp_fail_memory(dump->decoder);
    for (size_t i = 0; i < FP_ST_NOTE_COUNT; i++)
        if (dump->notes[i].count > 0)
            session->notes[session->note_count++] = (struct fp_profile_note){
                .text = note_texts[i],
                .reason = i < FP_ST_NOTE_REFUSALS ? reasons[i] : FP_RECORD_REFUSAL_NONE,
                .count = dump->notes[i].count,
                .first_offset = dump->notes[i].first_offset,
                .is_index = dump->notes[i].is_index,
            };
    return true;
}
