/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: what a decoder refused or found odd in an upload, in the same form for all formats.
 *
 * A decoder with a session lists its notes there. Entries of User Timing and reports are counted in
 * the profile itself; their notes are made here. Pure functions; any thread.
 */
#ifndef FP_PROFILE_NOTES_H
#define FP_PROFILE_NOTES_H

#include "collector/base/buf.h"
#include "collector/profile/profile.h"

enum { FP_NOTES_MAX = FP_PROFILE_NOTES_MAX + 5, FP_NOTE_PLACE_MAX = 160 };

struct fp_notes {
    struct fp_profile_note list[FP_NOTES_MAX];
    uint32_t count;
};

/* Lists all notes of an upload. */
void fp_notes_list(const struct fp_profile *profile, struct fp_notes *notes);

/* Records can be refused one by one: those of dumps and sessions, the entries of User Timing, and
 * reports. */
struct fp_record_counts {
    const char *name; /* "records", "entries" or "reports"; NULL: the upload has none */
    uint32_t read;
    uint32_t kept;
    uint32_t refused; /* of all reasons: with parts of kept records, such as a detail */
};

/* Counts the records of an upload. */
struct fp_record_counts fp_notes_count_records(const struct fp_profile *profile);

/* Writes where a note was first found: a pointer, `byte 7` or `element 7`, cut to fit; "" if that
 * is unknown. Only our own words, names and numbers. */
void fp_note_place(const struct fp_profile_note *note, char place[FP_NOTE_PLACE_MAX]);

#endif
