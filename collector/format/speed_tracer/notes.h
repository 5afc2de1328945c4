/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, notes: what the decoder skipped or found odd, counted per kind.
 */
#ifndef FP_FORMAT_SPEED_TRACER_NOTES_H
#define FP_FORMAT_SPEED_TRACER_NOTES_H

#include "collector/base/base.h"

/* The decoder's notes. Notes before FP_ST_NOTE_REFUSALS drop a record or a line of a profile;
 * later ones only annotate data that is kept. */
enum fp_st_note {
    FP_ST_NOTE_NOT_JSON,
    FP_ST_NOTE_TRUNCATED,
    FP_ST_NOTE_NO_OBJECT,
    FP_ST_NOTE_BAD_TYPE,
    FP_ST_NOTE_BAD_TIME,
    FP_ST_NOTE_BAD_DURATION,
    FP_ST_NOTE_NEGATIVE_DURATION,
    FP_ST_NOTE_BAD_CHILDREN,
    FP_ST_NOTE_BAD_DATA,
    FP_ST_NOTE_BAD_PROFILE_LINE,
    FP_ST_NOTE_UNKNOWN_COMMAND,
    FP_ST_NOTE_REFUSALS, /* the number of refusals */
    FP_ST_NOTE_JUNK = FP_ST_NOTE_REFUSALS,
    FP_ST_NOTE_BROKEN_POST,
    FP_ST_NOTE_BAD_START,
    FP_ST_NOTE_NO_TYPE,
    FP_ST_NOTE_UNKNOWN_TYPE,
    FP_ST_NOTE_NO_TYPE_NAME,
    FP_ST_NOTE_NO_TIME,
    FP_ST_NOTE_NEGATIVE_TIME,
    FP_ST_NOTE_TIME_BACKWARDS,
    FP_ST_NOTE_NEGATIVE_SELF,
    FP_ST_NOTE_UNPAIRED_CALLER,
    FP_ST_NOTE_UNPAIRED_HEAP,
    FP_ST_NOTE_ENTITIES,
    FP_ST_NOTE_UNKNOWN_PROFILE,
    FP_ST_NOTE_UNKNOWN_CODE,
    FP_ST_NOTE_LONG_PROFILE,
    FP_ST_NOTE_COUNT,
};

/* How often a note was added, and where first. */
struct fp_st_note_count {
    uint32_t count;
    int64_t first_offset; /* as fp_st_dump.offset */
    bool is_index;
};

struct fp_st_dump;

/* Counts a note at the current record. */
void fp_st_add_note(struct fp_st_dump *dump, enum fp_st_note note);

/* Returns the text of a note; static. */
const char *fp_st_note_text(enum fp_st_note note);

/* Lists the notes in the profile's session. False after the error is filled. */
bool fp_st_list_notes(struct fp_st_dump *dump) FP_MUST_CHECK;

#endif
