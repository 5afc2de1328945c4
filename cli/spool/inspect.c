/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof spool inspect, verify: what is in a spool, and whether all of it can be read.
 */
#include "cli/kit/grid.h"
#include "cli/kit/note.h"
#include "cli/spool/spool.h"
#include "cli/spool/survey.h"
#include "collector/base/uuid.h"
#include "collector/spool/aside.h"

#include <inttypes.h>
#include <limits.h>

#define BESIDE_A_COLLECTOR                                                                         \
    "Only reads, and takes no lock: it works beside a running collector, whose latest records it " \
    "may not see."

/* ---- inspect ---- */

static const struct fp_grid_column file_columns[] = {
    {"file", "FILE", FP_CELL_WORD},
    {"kind", "KIND", FP_CELL_WORD},
    {"version", "VERSION", FP_CELL_INTEGER},
    {"id", "ID", FP_CELL_TEXT},
    {"first_sequence", "FIRST", FP_CELL_INTEGER},
    {"last_sequence", "LAST", FP_CELL_INTEGER},
    {"position", NULL, FP_CELL_INTEGER},
    {"records", "RECORDS", FP_CELL_INTEGER},
    {"uploads", "UPLOADS", FP_CELL_INTEGER},
    {"waiting", "WAITING", FP_CELL_INTEGER},
    {"record_bytes", "RECORD BYTES", FP_CELL_INTEGER},
    {"file_bytes", "FILE BYTES", FP_CELL_INTEGER},
    {"damaged_bytes", "DAMAGED", FP_CELL_INTEGER},
    {"unfinished_bytes", "UNFINISHED", FP_CELL_INTEGER},
};

static void add_count(struct fp_grid *grid, uint64_t count)
{
    fp_grid_add_integer(grid, (int64_t)count);
}

static void add_id(struct fp_grid *grid, const struct fp_uuid *id)
{
    char text[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(id, text);
    fp_grid_add(grid, text);
}

static void add_state(struct fp_grid *grid, const struct fp_survey *survey)
{
    if (survey->state_found == FP_STATE_ABSENT)
        return;
    bool is_good = survey->state_found == FP_STATE_GOOD;
    fp_grid_add(grid, "state");
    fp_grid_add(grid, is_good ? "state" : "unusable");
    fp_grid_add_nothing(grid, 1);
    if (!is_good) {
        fp_grid_add_nothing(grid, 11);
        return;
    }
    add_id(grid, &survey->state.spool_id);
    fp_grid_add_nothing(grid, 1);
    add_count(grid, survey->state.tail);
    add_count(grid, survey->state.position);
    fp_grid_add_nothing(grid, 7);
}

static void add_segment(struct fp_grid *grid, const struct fp_survey_segment *segment)
{
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    fp_spool_segment_name(segment->number, name);
    fp_grid_add(grid, name);
    if (segment->verdict != FP_SPOOL_SEGMENT_VALID) {
        bool is_other = segment->verdict == FP_SPOOL_SEGMENT_UNKNOWN_VERSION;
        fp_grid_add(grid, segment->is_closed ? "cannot be opened"
                          : is_other         ? "other version"
                                             : "no header");
        fp_grid_add_nothing(grid, 9);
    } else {
        fp_grid_add(grid, "segment");
        add_count(grid, FP_SPOOL_SEGMENT_VERSION);
        add_id(grid, &segment->header.segment_id);
        if (segment->records > 0) {
            add_count(grid, segment->first_sequence);
            add_count(grid, segment->last_sequence);
        } else {
            fp_grid_add_nothing(grid, 2);
        }
        fp_grid_add_nothing(grid, 1);
        add_count(grid, segment->records);
        add_count(grid, segment->uploads);
        add_count(grid, segment->waiting);
        add_count(grid, segment->record_bytes);
    }
    add_count(grid, segment->file_bytes);
    add_count(grid, segment->damaged_bytes);
    add_count(grid, segment->unfinished_bytes);
}

static void add_aside(struct fp_grid *grid, const struct fp_survey_aside *aside)
{
    uint64_t sequence;
    bool is_refused = fp_spool_aside_parse_refused(aside->name, &sequence);
    fp_grid_add(grid, aside->name);
    fp_grid_add(grid, is_refused ? "refused" : "set aside");
    fp_grid_add_nothing(grid, 2);
    if (is_refused) {
        add_count(grid, sequence);
        add_count(grid, sequence);
    } else {
        fp_grid_add_nothing(grid, 2);
    }
    fp_grid_add_nothing(grid, 5);
    add_count(grid, aside->bytes);
    fp_grid_add_nothing(grid, 2);
}

static void print_summary(const char *path, const struct fp_survey *survey)
{
    uint64_t records = 0;
    uint64_t waiting = 0;
    for (size_t i = 0; i < survey->segment_count; i++) {
        records += survey->segments[i].records;
        waiting += survey->segments[i].waiting;
    }
    fp_note_print("%s: %" PRIu64 " records, %" PRIu64 " of them after position %" PRIu64, path,
                  records, waiting, survey->state.position);
}

static void ignore_damage(void *context, const struct fp_survey_segment *segment,
                          const struct fp_survey_damage *damage)
{
    (void)context;
    (void)segment;
    (void)damage;
}

static void print_files(const char *path, const struct fp_survey *survey, enum fp_form form)
{
    struct fp_grid grid;
    fp_grid_init(&grid, file_columns, sizeof(file_columns) / sizeof(file_columns[0]));
    add_state(&grid, survey);
    for (size_t i = 0; i < survey->segment_count; i++)
        add_segment(&grid, &survey->segments[i]);
    for (size_t i = 0; i < survey->aside_count; i++)
        add_aside(&grid, &survey->asides[i]);
    fp_grid_print(&grid, form);
    if (form == FP_FORM_PEOPLE)
        print_summary(path, survey);
    fp_grid_release(&grid);
}

static const struct argp_child children[] = {
    {&fp_survey_argp, 0, NULL, 0},
    {0},
};

static error_t parse_none(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

static const struct argp inspect_argp = {
    .parser = parse_none,
    .children = children,
    .args_doc = "[DIR]",
    .doc = "Shows the files of a spool: which records each segment holds, how many of them wait to "
           "be written to the database, and what was set aside.\v" BESIDE_A_COLLECTOR,
};

enum fp_exit fp_spool_inspect_command(int argc, char **argv)
{
    struct fp_survey_options given = {0};
    struct fp_survey survey;
    char path[PATH_MAX];
    fp_command_parse(&inspect_argp, argc, argv, &given);
    bool fine = fp_survey_choose(&given, path, sizeof(path), &survey);
    if (fine) {
        fp_survey_scan(&survey, ignore_damage, NULL);
        print_files(path, &survey, given.form);
    }
    fp_survey_release(&survey);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

/* ---- verify ---- */

static const struct fp_grid_column damage_columns[] = {
    {"file", "FILE", FP_CELL_WORD},
    {"offset", "OFFSET", FP_CELL_INTEGER},
    {"bytes", "BYTES", FP_CELL_INTEGER},
    {"what", "WHAT", FP_CELL_SENTENCE},
};

static void add_damage(void *context, const struct fp_survey_segment *segment,
                       const struct fp_survey_damage *damage)
{
    struct fp_grid *grid = context;
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    fp_spool_segment_name(segment->number, name);
    fp_grid_add(grid, name);
    add_count(grid, damage->offset);
    add_count(grid, damage->len);
    fp_grid_add(grid, damage->what);
}

static const struct argp verify_argp = {
    .parser = parse_none,
    .children = children,
    .args_doc = "[DIR]",
    .doc = "Reads every record of a spool and checks it against its checksum. Exit code 1, and the "
           "place of all damage, when there is some.\v" BESIDE_A_COLLECTOR,
};

static void print_verdict(const struct fp_survey *survey)
{
    uint64_t records = 0;
    uint64_t damaged_bytes = 0;
    uint64_t unfinished_bytes = 0;
    for (size_t i = 0; i < survey->segment_count; i++) {
        records += survey->segments[i].records;
        damaged_bytes += survey->segments[i].damaged_bytes;
        unfinished_bytes += survey->segments[i].unfinished_bytes;
    }
    (void)printf("%zu segments, %" PRIu64 " good records, %" PRIu64 " damaged bytes\n",
                 survey->segment_count, records, damaged_bytes);
    if (unfinished_bytes > 0)
        (void)printf("%" PRIu64 " bytes after the last record are being written, or are a torn end "
                     "that the next start cuts\n",
                     unfinished_bytes);
}

enum fp_exit fp_spool_verify_command(int argc, char **argv)
{
    struct fp_survey_options given = {0};
    struct fp_survey survey;
    struct fp_grid damages;
    char path[PATH_MAX];
    fp_command_parse(&verify_argp, argc, argv, &given);
    fp_grid_init(&damages, damage_columns, sizeof(damage_columns) / sizeof(damage_columns[0]));
    bool fine = fp_survey_choose(&given, path, sizeof(path), &survey);
    if (fine) {
        fp_survey_scan(&survey, add_damage, &damages);
        fp_grid_print(&damages, given.form);
    }
    if (fine && given.form == FP_FORM_PEOPLE)
        print_verdict(&survey);
    enum fp_exit code = fp_grid_rows(&damages) > 0 ? FP_EXIT_NO : FP_EXIT_FINE;
    fp_grid_release(&damages);
    fp_survey_release(&survey);
    return fine ? code : FP_EXIT_TROUBLE;
}
