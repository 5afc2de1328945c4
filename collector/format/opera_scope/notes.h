/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, notes: what the decoder skipped or found odd, counted per kind in the profile's
 * session.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_NOTES_H
#define FP_FORMAT_OPERA_SCOPE_NOTES_H

#include "collector/profile/profile.h"

enum fp_scope_note {
    FP_SCOPE_NOTE_NONE,
    /* Refusals of an event: */
    FP_SCOPE_NOTE_NO_MESSAGE,
    FP_SCOPE_NOTE_NO_TYPE,
    FP_SCOPE_NOTE_NO_TIME,
    FP_SCOPE_NOTE_NO_OVERHEAD,
    FP_SCOPE_NOTE_NO_HITS,
    FP_SCOPE_NOTE_LONG_TIME,
    FP_SCOPE_NOTE_BAD_INTERVAL,
    FP_SCOPE_NOTE_BACKWARD_INTERVAL,
    FP_SCOPE_NOTE_BAD_OPTION,
    FP_SCOPE_NOTE_DUPLICATE_ID,
    FP_SCOPE_NOTE_KNOWN_EVENT,
    FP_SCOPE_NOTE_CYCLE,
    FP_SCOPE_NOTE_KNOWN_LIST,
    /* Refusals of a detail, a frame or a line: */
    FP_SCOPE_NOTE_OTHER_DETAIL,
    FP_SCOPE_NOTE_BAD_DETAIL,
    FP_SCOPE_NOTE_OTHER_SERVICE,
    FP_SCOPE_NOTE_BAD_STATUS,
    FP_SCOPE_NOTE_SERVICE_EVENT,
    FP_SCOPE_NOTE_ORPHAN,
    FP_SCOPE_NOTE_TRUNCATED,
    FP_SCOPE_NOTE_REFUSALS_END,
    /* Remarks on what is kept: */
    FP_SCOPE_NOTE_UNANSWERED = FP_SCOPE_NOTE_REFUSALS_END,
    FP_SCOPE_NOTE_REPEATED_ID,
    FP_SCOPE_NOTE_UNKNOWN_TIMELINE,
    FP_SCOPE_NOTE_AGGREGATE_BELOW_TIME,
    FP_SCOPE_NOTE_AGGREGATE_SUM,
    FP_SCOPE_NOTE_UNORDERED,
    FP_SCOPE_NOTE_SPAN,
    FP_SCOPE_NOTE_COUNT
};

struct fp_scope;

/* Stands for the whole list instead of the index of an element. */
#define FP_SCOPE_WHOLE_LIST SIZE_MAX

/* Counts a note. index: of the element of scope->list that it is about, or FP_SCOPE_WHOLE_LIST. */
void fp_scope_add_note(struct fp_scope *scope, enum fp_scope_note note, uint32_t count,
                       size_t index);

/* Adds the notes of one session to those of another. */
void fp_scope_merge_notes(struct fp_profile_session *session,
                          const struct fp_profile_session *from);

/* Returns the text of a note; static. */
const char *fp_scope_note_text(enum fp_scope_note note);

#endif
