/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload report: the notes of a session, and the counts of User Timing.
 */
#include "cli/feed/upload_report.h"

#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "collector/profile/notes.h"

enum { JSON_MAX = 64 * 1024 };

/* ---- JSON ---- */

static bool is_refusal(const struct fp_profile_note *note)
{
    return note->reason != FP_RECORD_REFUSAL_NONE;
}

/* Texts are static and pointers consist of our names and numbers: nothing needs an escape. */
static void add_json(const struct fp_profile_note *note, struct fp_buf *json)
{
    fp_buf_addf(json, "%s{\"text\":\"%s\",\"refused\":%s,\"count\":%u,", json->len > 1 ? "," : "",
                note->text, is_refusal(note) ? "true" : "false", (unsigned)note->count);
    const struct fp_str pointer = note->first_pointer;
    if (pointer.len > 0)
        fp_buf_addf(json, "\"first\":\"%.*s\",\"unit\":\"pointer\"}", (int)pointer.len,
                    pointer.ptr);
    else if (note->first_offset >= 0)
        fp_buf_addf(json, "\"first\":%lld,\"unit\":\"%s\"}", (long long)note->first_offset,
                    note->is_index ? "element" : "byte");
    else
        fp_buf_addf(json, "\"first\":null,\"unit\":null}");
}

static void add_notes_cell(const struct fp_profile *profile, struct fp_grid *grid)
{
    struct fp_notes notes;
    struct fp_buf json;
    fp_notes_list(profile, &notes);
    fp_buf_init(&json, JSON_MAX);
    fp_buf_addf(&json, "[");
    for (uint32_t i = 0; i < notes.count; i++)
        add_json(&notes.list[i], &json);
    fp_buf_addf(&json, "]");
    fp_grid_add(grid, fp_memory_text(&json));
    fp_buf_release(&json);
}

void fp_upload_report_add_cells(const struct fp_profile *profile, struct fp_grid *grid)
{
    bool has_session = profile != NULL && profile->session.id != 0;
    fp_grid_add_optional(grid, has_session, has_session ? profile->session.id : 0);
    fp_grid_add(grid, profile == NULL ? NULL : profile->truncated ? "true" : "false");
    const struct fp_record_counts records = profile != NULL
                                                ? fp_notes_count_records(profile)
                                                : (struct fp_record_counts){NULL, 0, 0, 0};
    fp_grid_add_optional(grid, records.name != NULL, records.read);
    fp_grid_add_optional(grid, records.name != NULL, records.kept);
    fp_grid_add_optional(grid, records.name != NULL, records.refused);
    if (profile != NULL)
        add_notes_cell(profile, grid);
    else
        fp_grid_add(grid, NULL);
}

/* ---- text ---- */

void fp_upload_report_add_name(const struct fp_profile *profile, bool is_session, const char *name,
                               struct fp_buf *text)
{
    fp_buf_add(text, name, strlen(name));
    if (is_session)
        fp_buf_addf(text, ", session %u", (unsigned)profile->session.id);
}

/* Appends the name of an upload, without what would steer the terminal. */
static void add_safe_name(const struct fp_profile *profile, bool is_session, const char *name,
                          struct fp_buf *lines)
{
    char *plain = fp_message_make_plain(fp_memory_copy(name));
    fp_upload_report_add_name(profile, is_session, plain, lines);
    free(plain);
}

static void add_line(const struct fp_profile_note *note, struct fp_buf *lines)
{
    char place[FP_NOTE_PLACE_MAX];
    fp_note_place(note, place);
    fp_buf_addf(lines, "  %s: %s (%u%s%s)\n", is_refusal(note) ? "refused" : "noted", note->text,
                (unsigned)note->count, place[0] != '\0' ? ", the first at " : "", place);
}

static void add_upload(const struct fp_profile *profile, bool is_session, const char *name,
                       struct fp_buf *lines)
{
    struct fp_notes notes;
    fp_notes_list(profile, &notes);
    if (!profile->has_session && !profile->truncated && notes.count == 0)
        return;
    add_safe_name(profile, is_session, name, lines);
    fp_buf_addf(lines, ":");
    const struct fp_record_counts records = fp_notes_count_records(profile);
    if (records.name != NULL)
        fp_buf_addf(lines, " %u of %u %s kept", (unsigned)records.kept, (unsigned)records.read,
                    records.name);
    if (profile->truncated)
        fp_buf_addf(lines, "%s truncated: some of it is missing", records.name != NULL ? "," : "");
    fp_buf_addf(lines, "\n");
    for (uint32_t i = 0; i < notes.count; i++)
        add_line(&notes.list[i], lines);
}

static unsigned count_sessions(const struct fp_profile *profile)
{
    unsigned count = 0;
    for (; profile != NULL; profile = profile->next)
        count++;
    return count;
}

void fp_upload_report_add_lines(const struct fp_profile *profile, const char *name,
                                struct fp_buf *lines)
{
    unsigned count = count_sessions(profile);
    if (count > 1) {
        add_safe_name(profile, false, name, lines);
        fp_buf_addf(lines, ": %u sessions, each an upload\n", count);
    }
    for (; profile != NULL; profile = profile->next)
        add_upload(profile, count > 1, name, lines);
}
