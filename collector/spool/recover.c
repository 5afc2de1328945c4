/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery: takes over what an earlier process left, however it ended.
 *
 * It lists the files, reads their headers, and scans each up to where the next file's header says
 * that its committed records end. Only the newest has no such mark: it ends at its last valid
 * record, and the rest is cut. Nothing on disk keeps the spool from starting.
 */
#include "collector/base/clock.h"
#include "collector/base/log.h"
#include "collector/base/uuid.h"
#include "collector/spool/internal.h"
#include "collector/spool/segment.h"
#include "collector/spool/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

/* A segment file that was found. */
struct found {
    uint64_t number;
    uint64_t file_bytes;
    bool valid; /* its header is */
    struct fp_spool_segment_header header;
};

struct survey {
    struct fp_spool *spool;
    struct found *found; /* by number */
    size_t count;
    size_t cap;
    bool out_of_memory;
    struct fp_spool_scan scan;
    bool has_refused;    /* the previous segment still contains refused records */
    uint64_t lost_bytes; /* that may contain records with unknown sequence numbers */
};

static void close_file(const struct fp_spool *spool, int file)
{
    spool->ops->close(spool->ops->context, file);
}

/* Opens a file and returns its length in *len; -1 on failure. */
static int open_file(const struct fp_spool *spool, const char *name, int flags, uint64_t *len)
{
    int file = spool->ops->open(spool->ops->context, spool->dir, name, flags);
    if (file < 0)
        return -1;
    int64_t size = spool->ops->size(spool->ops->context, file);
    if (size < 0) {
        int error = errno;
        close_file(spool, file);
        errno = error;
        return -1;
    }
    *len = (uint64_t)size;
    return file;
}

static bool add_found(struct survey *survey, uint64_t number)
{
    if (survey->count == survey->cap) {
        size_t cap = survey->cap > 0 ? survey->cap * 2 : 64;
        struct found *found = realloc(survey->found, cap * sizeof(*found));
        if (found == NULL) {
            survey->out_of_memory = true;
            return false;
        }
        survey->found = found;
        survey->cap = cap;
    }
    survey->found[survey->count++] = (struct found){.number = number};
    return true;
}

static bool is_unfinished(const char *name)
{
    size_t len = strlen(name);
    size_t suffix_len = sizeof(FP_FILE_UNFINISHED) - 1;
    return len > suffix_len && strcmp(name + len - suffix_len, FP_FILE_UNFINISHED) == 0;
}

static bool classify_name(void *context, const char *name)
{
    struct survey *survey = context;
    struct fp_spool *spool = survey->spool;
    uint64_t number;
    uint64_t len;
    if (is_unfinished(name)) {
        spool->ops->remove(spool->ops->context, spool->dir, name);
    } else if (fp_spool_aside_is_name(name)) {
        int file = open_file(spool, name, O_RDONLY, &len);
        if (file >= 0) {
            spool->aside.bytes += len;
            close_file(spool, file);
        }
    } else if (fp_spool_segment_parse_name(name, &number)) {
        return add_found(survey, number);
    }
    return true;
}

/* Reads a header. An unusable file stays where it is, for a person or a newer version. */
static void read_header(struct survey *survey, struct found *found)
{
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    fp_spool_segment_name(found->number, name);
    int file = open_file(survey->spool, name, O_RDONLY, &found->file_bytes);
    enum fp_spool_segment_verdict verdict = FP_SPOOL_SEGMENT_FOREIGN;
    if (file >= 0) {
        verdict = fp_spool_segment_read_header(survey->spool->ops, file, &found->header);
        close_file(survey->spool, file);
    }
    /* A copy under another name would replay its records. */
    found->valid = verdict == FP_SPOOL_SEGMENT_VALID && found->header.number == found->number;
    if (found->valid)
        return;
    survey->lost_bytes += found->file_bytes;
    if (verdict == FP_SPOOL_SEGMENT_UNKNOWN_VERSION) {
        fp_log(FP_LOG_WARN, "spool segment of another version, kept and skipped",
               "file=%s bytes=%" PRIu64, name, found->file_bytes);
        return;
    }
    fp_metrics_add(survey->spool->metrics, FP_METRIC_SPOOL_DAMAGED_BYTES, found->file_bytes);
    fp_log(FP_LOG_WARN, "spool segment without a valid header, kept and skipped",
           "file=%s bytes=%" PRIu64, name, found->file_bytes);
}

/* Returns the header of the file that was begun after this one, NULL if none. */
static const struct fp_spool_segment_header *successor_of(const struct survey *survey, size_t at)
{
    for (size_t i = at + 1; i < survey->count; i++) {
        const struct found *later = &survey->found[i];
        if (later->valid)
            return later->header.previous_number == survey->found[at].number ? &later->header
                                                                             : NULL;
    }
    return NULL;
}

static bool is_newest(const struct survey *survey, size_t at)
{
    for (size_t i = at + 1; i < survey->count; i++)
        if (survey->found[i].valid)
            return false;
    return true;
}

/* Visits all records of an open segment and quarantines damage between them. rest: what follows the
 * last one. False: out of memory. */
static bool scan_records(struct survey *survey, uint64_t number, uint64_t *last_sequence,
                         struct fp_spool_scan_item *rest)
{
    for (;;) {
        switch (fp_spool_scan_next(&survey->scan, rest)) {
        case FP_SPOOL_SCAN_RECORD:
            *last_sequence = rest->sequence;
            break;
        case FP_SPOOL_SCAN_DAMAGED: {
            const struct fp_spool_aside_range range = {survey->scan.file, number, rest->offset,
                                                       rest->len};
            fp_spool_aside_damaged(&survey->spool->aside, &range);
            break;
        }
        case FP_SPOOL_SCAN_END:
            return true;
        case FP_SPOOL_SCAN_MEMORY:
            return false;
        }
    }
}

/* Cuts what follows the last record of the newest file and syncs its records: a killed process may
 * have left them in memory only, and the reader now gets them. */
static void finalize_newest(struct survey *survey, struct fp_spool_table_segment *segment,
                            const struct fp_spool_scan_item *rest)
{
    const struct fp_file_ops *ops = survey->spool->ops;
    int file = survey->scan.file;
    if (ops->truncate(ops->context, file, segment->end) == 0)
        segment->file_bytes = segment->end;
    if (rest->garbage_len > 0) {
        survey->lost_bytes += rest->garbage_len;
        fp_log(FP_LOG_WARN, "torn tail of the spool cut", "segment=%" PRIu64 " bytes=%" PRIu64,
               segment->number, rest->garbage_len);
    }
    if (ops->sync_data(ops->context, file) != 0) {
        fp_metrics_add(survey->spool->metrics, FP_METRIC_SPOOL_ERRORS, 1);
        fp_log(FP_LOG_ERROR, "spool segment was not synced at start",
               "segment=%" PRIu64 " error=%s", segment->number, strerror(errno));
    }
}

/* Sets the segment's end to what its successor's header says. */
static void end_at_successor(struct fp_spool_table_segment *segment,
                             const struct fp_spool_segment_header *successor)
{
    if (successor->previous_end < segment->end)
        segment->end = successor->previous_end;
    segment->last_sequence = successor->tail >= segment->first_sequence ? successor->tail : 0;
}

/* Cuts the refused bytes after an older segment's records: its successor's header marks them only
 * while that file exists. */
static void cut_refused(struct survey *survey, struct fp_spool_table_segment *segment, int file)
{
    const struct fp_file_ops *ops = survey->spool->ops;
    bool is_cut = segment->file_bytes <= segment->end;
    if (!is_cut && ops->truncate(ops->context, file, segment->end) == 0) {
        segment->file_bytes = segment->end;
        is_cut = true;
    }
    /* A process that was killed may have cut it in memory only. */
    survey->has_refused = !is_cut || ops->sync_data(ops->context, file) != 0;
}

/* Quarantines what is invalid before the successor's mark: everything up to there was committed. */
static void finalize_older(struct survey *survey, struct fp_spool_table_segment *segment,
                           const struct fp_spool_scan_item *rest,
                           const struct fp_spool_segment_header *successor)
{
    cut_refused(survey, segment, survey->scan.file);
    const struct fp_spool_aside_range range = {survey->scan.file, segment->number, rest->offset,
                                               rest->len};
    if (rest->len > 0)
        fp_spool_aside_damaged(&survey->spool->aside, &range);
    if (successor->previous_end <= segment->file_bytes)
        return;
    uint64_t missing = successor->previous_end - segment->file_bytes;
    fp_metrics_add(survey->spool->metrics, FP_METRIC_SPOOL_DAMAGED_BYTES, missing);
    fp_log(FP_LOG_WARN, "spool segment is shorter than it was",
           "segment=%" PRIu64 " missing_bytes=%" PRIu64, segment->number, missing);
}

/* The evidence for the end of a segment's committed records. */
enum segment_ending {
    ENDING_SUCCESSOR,  /* the header of the next file */
    ENDING_UNREADABLE, /* nothing now: the disk does not return all of it */
    ENDING_NEWEST,     /* its last valid record: nothing was written after this file */
    ENDING_EMPTY,      /* its last valid record: the next file is lost, and only zeros follow */
    ENDING_DAMAGED,    /* nothing: the next file is lost, and what follows is not a record */
};

static enum segment_ending ending_of(const struct survey *survey, size_t at,
                                     const struct fp_spool_segment_header *successor,
                                     const struct fp_spool_scan_item *rest)
{
    if (successor != NULL)
        return ENDING_SUCCESSOR;
    if (survey->scan.unreadable_bytes > 0)
        return ENDING_UNREADABLE;
    if (is_newest(survey, at))
        return ENDING_NEWEST;
    return rest->garbage_len == 0 ? ENDING_EMPTY : ENDING_DAMAGED;
}

/* Keeps a whole segment: the reader, or the next start, may be able to read it. */
static void keep_unreadable(struct survey *survey, struct fp_spool_table_segment *segment)
{
    segment->end = segment->file_bytes;
    segment->kept = true;
    survey->lost_bytes += segment->file_bytes;
    fp_log(FP_LOG_ERROR, "spool segment cannot be read in full, kept",
           "segment=%" PRIu64 " unreadable_bytes=%" PRIu64, segment->number,
           survey->scan.unreadable_bytes);
}

static void quarantine_garbage(struct survey *survey, const struct fp_spool_table_segment *segment,
                               const struct fp_spool_scan_item *rest)
{
    const struct fp_spool_aside_range range = {survey->scan.file, segment->number, rest->offset,
                                               rest->garbage_len};
    fp_spool_aside_damaged(&survey->spool->aside, &range);
}

/* Scans an open segment and finds where it ends. False: out of memory. */
static bool scan_segment(struct survey *survey, size_t at, struct fp_spool_table_segment *segment,
                         const struct fp_spool_segment_header *successor)
{
    struct fp_spool_scan_item rest;
    uint64_t last_sequence = 0;
    if (successor != NULL)
        end_at_successor(segment, successor);
    survey->scan.end = segment->end;
    if (!scan_records(survey, segment->number, &last_sequence, &rest))
        return false;
    if (successor == NULL) {
        segment->last_sequence = last_sequence;
        segment->end = rest.offset;
    }
    switch (ending_of(survey, at, successor, &rest)) {
    case ENDING_SUCCESSOR:
        finalize_older(survey, segment, &rest, successor);
        break;
    case ENDING_UNREADABLE:
        keep_unreadable(survey, segment);
        break;
    case ENDING_NEWEST:
        finalize_newest(survey, segment, &rest);
        break;
    case ENDING_EMPTY:
        break;
    case ENDING_DAMAGED:
        quarantine_garbage(survey, segment, &rest);
        break;
    }
    return true;
}

/* Adds a segment to the table. False: out of memory. */
static bool recover_segment(struct survey *survey, size_t at)
{
    struct fp_spool *spool = survey->spool;
    const struct found *found = &survey->found[at];
    struct fp_spool_table_segment segment = {
        .number = found->number,
        .id = found->header.segment_id,
        .first_sequence = found->header.first_sequence,
        .tail_before = found->header.tail,
        .end = found->file_bytes,
        .file_bytes = found->file_bytes,
        .ends_previous = survey->has_refused,
    };
    survey->has_refused = false;
    const struct fp_spool_segment_header *successor = successor_of(survey, at);
    char name[FP_SPOOL_SEGMENT_NAME_SIZE];
    uint64_t len;
    fp_spool_segment_name(found->number, name);
    int file = open_file(spool, name, O_RDWR, &len);
    if (file < 0)
        file = open_file(spool, name, O_RDONLY, &len);
    if (file < 0) {
        survey->lost_bytes += found->file_bytes;
        fp_log(FP_LOG_ERROR, "spool segment cannot be opened, skipped", "file=%s error=%s", name,
               strerror(errno));
        return true;
    }
    fp_spool_scan_begin(&survey->scan, file, &segment.id, FP_SPOOL_SEGMENT_HEADER_LEN,
                        segment.first_sequence - 1);
    bool scanned = true;
    if (successor != NULL && successor->tail <= spool->position) {
        end_at_successor(&segment, successor); /* all done with: no need to read it */
        cut_refused(survey, &segment, file);
    } else {
        scanned = scan_segment(survey, at, &segment, successor);
    }
    close_file(spool, file);
    return scanned && fp_spool_table_add(&spool->table, &segment);
}

static void raise_to(uint64_t *number, uint64_t least)
{
    if (*number < least)
        *number = least;
}

/* Sets the next record, file and mark numbers. */
static void continue_from(const struct survey *survey, const struct fp_spool_state *state)
{
    struct fp_spool *spool = survey->spool;
    spool->tail = fp_spool_table_last_sequence(&spool->table);
    raise_to(&spool->tail, state->tail);
    spool->next_sequence = state->next_sequence;
    for (size_t i = 0; i < survey->count; i++) {
        const struct found *found = &survey->found[i];
        spool->active.next_number = found->number + 1;
        if (!found->valid)
            continue;
        raise_to(&spool->tail, found->header.tail);
        raise_to(&spool->next_sequence, found->header.first_sequence);
    }
    raise_to(&spool->next_sequence, spool->tail + 1);
    /* As many as the unread bytes can have held. */
    spool->next_sequence += survey->lost_bytes / FP_SPOOL_FRAME_HEADER_LEN;

    const struct fp_spool_table_segment *newest = fp_spool_table_newest(&spool->table);
    if (newest != NULL && !newest->kept) {
        spool->active.number = newest->number;
        spool->active.end = newest->end;
    }
}

/* Finds the spool's id: the state file's, else the newest segment's, else a new one. */
static bool identify(const struct survey *survey, const struct fp_spool_state *state,
                     bool has_state)
{
    struct fp_uuid *id = &survey->spool->id;
    if (has_state) {
        *id = state->spool_id;
        return true;
    }
    for (size_t i = survey->count; i > 0; i--) {
        if (survey->found[i - 1].valid) {
            *id = survey->found[i - 1].header.spool_id;
            return true;
        }
    }
    return fp_uuid_random(id);
}

static int by_number(const void *a, const void *b)
{
    uint64_t left = ((const struct found *)a)->number;
    uint64_t right = ((const struct found *)b)->number;
    return (left > right) - (left < right);
}

static enum fp_spool_error survey_directory(struct survey *survey)
{
    struct fp_spool *spool = survey->spool;
    if (spool->ops->list(spool->ops->context, spool->dir, classify_name, survey) != 0)
        return FP_SPOOL_NO_PATH;
    if (survey->out_of_memory)
        return FP_SPOOL_MEMORY;
    if (survey->count > 0)
        qsort(survey->found, survey->count, sizeof(*survey->found), by_number);
    for (size_t i = 0; i < survey->count; i++)
        read_header(survey, &survey->found[i]);

    struct fp_spool_state state = {.next_sequence = 1};
    bool has_state = fp_spool_state_read(spool->ops, spool->dir, &state);
    spool->position = state.position;
    spool->reader.state_due = !has_state;
    if (!identify(survey, &state, has_state))
        return FP_SPOOL_IO;
    for (size_t i = 0; i < survey->count; i++)
        if (survey->found[i].valid && !recover_segment(survey, i))
            return FP_SPOOL_MEMORY;
    continue_from(survey, &state);
    fp_spool_table_trim(&spool->table, spool->position, fp_clock_monotonic_us());
    fp_spool_note_backlog(spool);
    return FP_SPOOL_OK;
}

enum fp_spool_error fp_spool_recover(struct fp_spool *spool)
{
    struct survey survey = {.spool = spool, .scan = {.ops = spool->ops}};
    spool->active.next_number = 1;
    enum fp_spool_error error = survey_directory(&survey);
    fp_spool_scan_release(&survey.scan);
    free(survey.found);
    return error;
}
