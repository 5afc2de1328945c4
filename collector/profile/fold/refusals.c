/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, refusals: what the decoder refused, by reason.
 */
#include "collector/profile/fold/internal.h"
#include "collector/profile/notes.h"

/* records: of all notes with its reason. */
static bool add_refusal(struct fp_fold *fold, const struct fp_profile_note *note, uint32_t records)
{
    struct fp_delta *delta = fold->delta;
    struct fp_delta_refusal *refusal = &delta->refusals[delta->refusal_count++];
    char place[FP_NOTE_PLACE_MAX];
    fp_note_place(note, place);
    *refusal = (struct fp_delta_refusal){.reason = note->reason, .records = records};
    return fp_arena_copy(fold->arena, fp_str_of(place), &refusal->place);
}

/* Returns the note of a reason whose place is first, NULL if there is none. *records: of all of
 * them. Several notes may have one reason; their order is that of the decoder's own list. */
static const struct fp_profile_note *find(const struct fp_notes *notes,
                                          enum fp_record_refusal reason, uint32_t *records)
{
    const struct fp_profile_note *first = NULL;
    *records = 0;
    for (uint32_t i = 0; i < notes->count; i++) {
        const struct fp_profile_note *note = &notes->list[i];
        if (note->reason != reason)
            continue;
        *records += note->count;
        if (first == NULL || note->first_offset < first->first_offset)
            first = note;
    }
    return first;
}

bool fp_fold_refusals(struct fp_fold *fold)
{
    struct fp_delta *delta = fold->delta;
    const struct fp_record_counts records = fp_notes_count_records(fold->profile);
    struct fp_notes notes;
    delta->records_read = records.read;
    delta->records_refused = records.refused;
    if (records.refused == 0)
        return true;
    fp_notes_list(fold->profile, &notes);
    delta->refusals = fp_fold_array(fold, notes.count, sizeof(*delta->refusals));
    if (delta->refusals == NULL)
        return false;
    for (unsigned reason = FP_RECORD_REFUSAL_NONE + 1; reason < FP_RECORD_REFUSAL_COUNT; reason++) {
        uint32_t count;
        const struct fp_profile_note *note = find(&notes, (enum fp_record_refusal)reason, &count);
        if (note != NULL && !add_refusal(fold, note, count))
            return false;
    }
    return true;
}
