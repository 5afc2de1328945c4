/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Survey: reads a spool by the rules of its recovery (collector/spool/recover.c); never writes.
 */
#include "cli/spool/survey.h"

#include "cli/kit/command.h"
#include "cli/kit/config_file.h"
#include "cli/kit/memory.h"
#include "cli/kit/options.h"
#include "collector/rollup/record.h"
#include "collector/spool/aside.h"
#include "collector/spool/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/* ---- listing ---- */

/* Returns the length of a file, 0 if it is gone: a collector may delete it at any time. */
static uint64_t file_len(const struct fp_survey *survey, const char *name)
{
    const struct fp_file_ops *ops = fp_file_ops_real();
    int file = ops->open(ops->context, survey->dir, name, O_RDONLY);
    if (file < 0)
        return 0;
    int64_t len = ops->size(ops->context, file);
    ops->close(ops->context, file);
    return len > 0 ? (uint64_t)len : 0;
}

static void add_segment(struct fp_survey *survey, uint64_t number)
{
    survey->segments = fp_memory_grow(survey->segments, survey->segment_count, &survey->segment_cap,
                                      sizeof(*survey->segments));
    survey->segments[survey->segment_count++] = (struct fp_survey_segment){.number = number};
}

static void add_aside(struct fp_survey *survey, const char *name)
{
    survey->asides = fp_memory_grow(survey->asides, survey->aside_count, &survey->aside_cap,
                                    sizeof(*survey->asides));
    struct fp_survey_aside *aside = &survey->asides[survey->aside_count++];
    (void)snprintf(aside->name, sizeof(aside->name), "%s", name);
    aside->bytes = file_len(survey, name);
}

static bool look_at_name(void *context, const char *name)
{
    struct fp_survey *survey = context;
    uint64_t number;
    if (fp_spool_segment_parse_name(name, &number))
        add_segment(survey, number);
    else if (fp_spool_aside_is_name(name))
        add_aside(survey, name);
    return true;
}

static void read_header(const struct fp_survey *survey, struct fp_survey_segment *segment)
{
    const struct fp_file_ops *ops = fp_file_ops_real();
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    fp_spool_segment_name(segment->number, name);
    segment->verdict = FP_SPOOL_SEGMENT_FOREIGN;
    segment->file_bytes = file_len(survey, name);
    int file = ops->open(ops->context, survey->dir, name, O_RDONLY);
    segment->is_closed = file < 0 && errno != ENOENT;
    if (file < 0)
        return;
    segment->verdict = fp_spool_segment_read_header(ops, file, &segment->header);
    ops->close(ops->context, file);
    /* A copy under another name is not replayed. */
    if (segment->verdict == FP_SPOOL_SEGMENT_VALID && segment->header.number != segment->number)
        segment->verdict = FP_SPOOL_SEGMENT_FOREIGN;
}

static int by_number(const void *a, const void *b)
{
    uint64_t left = ((const struct fp_survey_segment *)a)->number;
    uint64_t right = ((const struct fp_survey_segment *)b)->number;
    return (left > right) - (left < right);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct fp_survey_aside *)a)->name,
                  ((const struct fp_survey_aside *)b)->name);
}

static bool open_survey(const char *path, struct fp_survey *survey)
{
    const struct fp_file_ops *ops = fp_file_ops_real();
    *survey = (struct fp_survey){.dir = ops->open_dir(ops->context, path)};
    if (survey->dir < 0 || ops->list(ops->context, survey->dir, look_at_name, survey) != 0) {
        fp_message_error("could not read the directory %s: %s", path, strerror(errno));
        return false;
    }
    /* Read before the headers: an older position only makes more records count as waiting. */
    survey->state_found = fp_spool_state_look(ops, survey->dir, &survey->state);
    if (survey->segment_count == 0 && survey->aside_count == 0 &&
        survey->state_found == FP_STATE_ABSENT) {
        fp_message_error("%s is not the directory of a spool: none of its files belongs to one",
                         path);
        return false;
    }
    if (survey->segment_count > 0)
        qsort(survey->segments, survey->segment_count, sizeof(*survey->segments), by_number);
    if (survey->aside_count > 0)
        qsort(survey->asides, survey->aside_count, sizeof(*survey->asides), by_name);
    for (size_t i = 0; i < survey->segment_count; i++)
        read_header(survey, &survey->segments[i]);
    return true;
}

void fp_survey_release(struct fp_survey *survey)
{
    const struct fp_file_ops *ops = fp_file_ops_real();
    if (survey->dir >= 0)
        ops->close(ops->context, survey->dir);
    free(survey->segments);
    free(survey->asides);
}

/* ---- scanning ---- */

struct scanning {
    struct fp_survey *survey;
    struct fp_spool_scan scan;
    fp_survey_damage_fn *tell;
    void *context;
};

static void tell(const struct scanning *scanning, struct fp_survey_segment *segment,
                 uint64_t offset, uint64_t len, const char *what)
{
    const struct fp_survey_damage damage = {offset, len, what};
    segment->damaged_bytes += len;
    scanning->tell(scanning->context, segment, &damage);
}

/* Returns the header that says where a segment ends, or NULL. */
static const struct fp_spool_segment_header *successor_of(const struct fp_survey *survey, size_t at,
                                                          bool *is_newest)
{
    *is_newest = false;
    for (size_t i = at + 1; i < survey->segment_count; i++) {
        const struct fp_survey_segment *later = &survey->segments[i];
        if (later->verdict == FP_SPOOL_SEGMENT_VALID)
            return later->header.previous_number == survey->segments[at].number ? &later->header
                                                                                : NULL;
    }
    *is_newest = true;
    return NULL;
}

static void count_record(const struct fp_survey *survey, struct fp_survey_segment *segment,
                         const struct fp_spool_scan_item *item)
{
    if (segment->records++ == 0)
        segment->first_sequence = item->sequence;
    segment->last_sequence = item->sequence;
    segment->uploads += fp_record_count(item->bytes, item->bytes_len);
    segment->record_bytes += item->bytes_len;
    segment->waiting += item->sequence > survey->state.position;
}

/*
 * Reads the records of an open segment up to the scan's end; rest: the bytes after the last one.
 * Where a collector may be writing, reads damage twice: a record that was half written the first
 * time may be whole by then.
 */
static void scan_records(struct scanning *scanning, struct fp_survey_segment *segment,
                         bool is_newest, struct fp_spool_scan_item *rest)
{
    struct fp_spool_scan *scan = &scanning->scan;
    uint64_t doubted = 0;
    for (;;) {
        uint64_t sequence = scan->sequence;
        switch (fp_spool_scan_next(scan, rest)) {
        case FP_SPOOL_SCAN_RECORD:
            count_record(scanning->survey, segment, rest);
            break;
        case FP_SPOOL_SCAN_DAMAGED:
            if (!is_newest || rest->offset == doubted) {
                tell(scanning, segment, rest->offset, rest->len, "no valid record");
                break;
            }
            doubted = rest->offset;
            fp_spool_scan_begin(scan, scan->file, &segment->header.segment_id, doubted, sequence);
            break;
        case FP_SPOOL_SCAN_END:
            return;
        case FP_SPOOL_SCAN_MEMORY:
        default:
            fp_memory_end();
        }
    }
}

static void scan_open_segment(struct scanning *scanning, size_t at)
{
    struct fp_survey_segment *segment = &scanning->survey->segments[at];
    bool is_newest;
    const struct fp_spool_segment_header *successor =
        successor_of(scanning->survey, at, &is_newest);
    uint64_t end = segment->file_bytes;
    if (successor != NULL && successor->previous_end < end)
        end = successor->previous_end;
    scanning->scan.end = end;
    struct fp_spool_scan_item rest;
    scan_records(scanning, segment, is_newest, &rest);
    if (is_newest)
        segment->unfinished_bytes = rest.garbage_len;
    else if (successor != NULL && rest.len > 0)
        tell(scanning, segment, rest.offset, rest.len, "no valid record");
    else if (successor == NULL && rest.garbage_len > 0)
        tell(scanning, segment, rest.offset, rest.garbage_len, "no valid record");
    if (successor != NULL && successor->previous_end > segment->file_bytes)
        tell(scanning, segment, segment->file_bytes, successor->previous_end - segment->file_bytes,
             "missing: the file is too short");
}

/* Scans a segment. One that is gone was trimmed meanwhile. */
static void scan_segment(struct scanning *scanning, size_t at)
{
    const struct fp_file_ops *ops = fp_file_ops_real();
    struct fp_survey_segment *segment = &scanning->survey->segments[at];
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    fp_spool_segment_name(segment->number, name);
    int file = ops->open(ops->context, scanning->survey->dir, name, O_RDONLY);
    if (file < 0 && errno == ENOENT)
        return;
    if (file < 0) {
        tell(scanning, segment, 0, segment->file_bytes, strerror(errno));
        return;
    }
    if (segment->verdict == FP_SPOOL_SEGMENT_VALID) {
        fp_spool_scan_begin(&scanning->scan, file, &segment->header.segment_id,
                            FP_SPOOL_SEGMENT_HEADER_LEN, segment->header.first_sequence - 1);
        scan_open_segment(scanning, at);
    } else {
        tell(scanning, segment, 0, segment->file_bytes,
             segment->verdict == FP_SPOOL_SEGMENT_UNKNOWN_VERSION ? "of another version, not read"
                                                                  : "no valid header");
    }
    ops->close(ops->context, file);
}

void fp_survey_scan(struct fp_survey *survey, fp_survey_damage_fn *tell_damage, void *context)
{
    struct scanning scanning = {
        .survey = survey,
        .scan = {.ops = fp_file_ops_real()},
        .tell = tell_damage,
        .context = context,
    };
    for (size_t i = 0; i < survey->segment_count; i++)
        scan_segment(&scanning, i);
    fp_spool_scan_release(&scanning.scan);
}

/* ---- options ---- */

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0, "the spool of the collector's configuration (" FP_CONFIG_FILE ")",
     0},
    {0},
};

static error_t parse_options(int key, char *arg, struct argp_state *state)
{
    struct fp_survey_options *given = state->input;
    switch (key) {
    case 'c':
        given->config_file = arg;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->form;
        return 0;
    case ARGP_KEY_ARG:
        if (given->directory != NULL)
            argp_error(state, "one directory at a time");
        given->directory = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

const struct argp fp_survey_argp = {
    .options = options, .parser = parse_options, .children = children};

bool fp_survey_choose(const struct fp_survey_options *given, char *path, size_t size,
                      struct fp_survey *survey)
{
    *survey = (struct fp_survey){.dir = -1};
    struct fp_config *config = NULL;
    if (given->directory == NULL && !fp_config_file_load(given->config_file, &config))
        return false;
    bool is_known = given->directory != NULL || config != NULL;
    if (is_known)
        (void)snprintf(path, size, "%s",
                       given->directory != NULL ? given->directory : config->spool_path.ptr);
    fp_config_free(config);
    if (is_known)
        return open_survey(path, survey);
    fp_message_error("no spool was named");
    fp_message_hint("Give its directory, or --config FILE.");
    return false;
}
