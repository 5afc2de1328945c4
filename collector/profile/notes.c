/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: those of the session, and those of entries.
 */
#include "collector/profile/notes.h"

#include <stdio.h>

static void add(struct fp_notes *notes, const struct fp_profile_note *note)
{
    if (note->count > 0)
        notes->list[notes->count++] = *note;
}

void fp_notes_list(const struct fp_profile *profile, struct fp_notes *notes)
{
    notes->count = 0;
    for (uint32_t i = 0; profile->has_session && i < profile->session.note_count; i++)
        add(notes, &profile->session.notes[i]);
    add(notes, &(struct fp_profile_note){
                   .text = "an entry of a type that is not read",
                   .reason = FP_RECORD_REFUSAL_OTHER_ENTRY,
                   .count = profile->skipped_entries,
                   .first_offset = (int64_t)profile->first_skipped,
                   .is_index = true,
               });
    add(notes, &(struct fp_profile_note){
                   .text = "a report of a type that is not read",
                   .reason = FP_RECORD_REFUSAL_OTHER_REPORT,
                   .count = profile->other_reports,
                   .first_offset = (int64_t)profile->first_other,
                   .is_index = true,
               });
    add(notes, &(struct fp_profile_note){
                   .text = "a report that is not as the specification says",
                   .reason = FP_RECORD_REFUSAL_BAD_REPORT,
                   .count = profile->bad_reports,
                   .first_offset = (int64_t)profile->first_bad,
                   .is_index = true,
               });
    add(notes, &(struct fp_profile_note){
                   .text = "a mark that is earlier than the one before it",
                   .count = profile->unordered_entries,
                   .first_offset = (int64_t)profile->first_unordered,
                   .is_index = true,
               });
    add(notes, &(struct fp_profile_note){
                   .text = profile->is_since_first_epoch
                               ? "a time since 1970, taken as since the earliest of them"
                               : "a time since 1970, taken as since navigationStart",
                   .count = profile->epoch_times,
                   .first_offset = (int64_t)profile->first_epoch,
                   .is_index = true,
               });
}

struct fp_record_counts fp_notes_count_records(const struct fp_profile *profile)
{
    struct fp_record_counts records = {"records", profile->session.records_read,
                                       profile->session.records_kept, 0};
    /* A kept trace also has a session, but no records. */
    if (profile->format == FP_UPLOAD_REPORTS) {
        const uint32_t read = profile->report_count + profile->other_reports + profile->bad_reports;
        records = (struct fp_record_counts){"reports", read, profile->report_count, 0};
    } else if (profile->format != FP_UPLOAD_SPEED_TRACER &&
               profile->format != FP_UPLOAD_OPERA_SCOPE) {
        const uint32_t kept = profile->timing_count + profile->observed_entries;
        const uint32_t read = kept + profile->skipped_entries;
        records = (struct fp_record_counts){read > 0 ? "entries" : NULL, read, kept, 0};
    }
    struct fp_notes notes;
    fp_notes_list(profile, &notes);
    for (uint32_t i = 0; i < notes.count; i++)
        if (notes.list[i].reason != FP_RECORD_REFUSAL_NONE)
            records.refused += notes.list[i].count;
    return records;
}

void fp_note_place(const struct fp_profile_note *note, char place[FP_NOTE_PLACE_MAX])
{
    const struct fp_str pointer = note->first_pointer;
    place[0] = '\0';
    if (pointer.len > 0)
        snprintf(place, FP_NOTE_PLACE_MAX, "%.*s", FP_STR_ARG(pointer));
    else if (note->first_offset >= 0)
        snprintf(place, FP_NOTE_PLACE_MAX, "%s %lld", note->is_index ? "element" : "byte",
                 (long long)note->first_offset);
}
