/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Survey: lists the contents of a spool's directory, as a starting collector would find them. Takes
 * no lock and changes nothing, because a collector may be using the directory. One thread.
 */
#ifndef FP_CLI_SPOOL_SURVEY_H
#define FP_CLI_SPOOL_SURVEY_H

#include "cli/kit/grid.h"
#include "collector/spool/segment.h"
#include "collector/spool/state.h"

#include <argp.h>

/* A segment's file. The scan fills all but the first five members. */
struct fp_survey_segment {
    uint64_t number;
    uint64_t file_bytes;
    bool is_closed; /* the file cannot be opened; usually it is another user's */
    enum fp_spool_segment_verdict verdict;
    struct fp_spool_segment_header header; /* of a valid one */
    uint64_t records;
    uint64_t uploads;
    uint64_t waiting; /* records after the position */
    uint64_t first_sequence;
    uint64_t last_sequence; /* 0: there is no record */
    uint64_t record_bytes;  /* payloads */
    uint64_t damaged_bytes;
    uint64_t unfinished_bytes; /* after the newest segment's last record: being written, or torn */
};

/* A file with bytes that were set aside. */
struct fp_survey_aside {
    char name[64];
    uint64_t bytes;
};

struct fp_survey {
    int dir;
    enum fp_spool_state_found state_found;
    struct fp_spool_state state;
    struct fp_survey_segment *segments; /* owned; by number */
    size_t segment_count;
    size_t segment_cap;
    struct fp_survey_aside *asides; /* owned */
    size_t aside_count;
    size_t aside_cap;
};

void fp_survey_release(struct fp_survey *survey);

/* A range of a segment whose bytes should be records, but are not. */
struct fp_survey_damage {
    uint64_t offset;
    uint64_t len;
    const char *what;
};
typedef void fp_survey_damage_fn(void *context, const struct fp_survey_segment *segment,
                                 const struct fp_survey_damage *damage);

/* Reads every record of every segment and reports all damage. */
void fp_survey_scan(struct fp_survey *survey, fp_survey_damage_fn *tell, void *context);

/* Which spool, and how to print: options of both commands. */
struct fp_survey_options {
    const char *directory; /* NULL: the configuration's */
    const char *config_file;
    enum fp_form form;
};
extern const struct argp fp_survey_argp;

/* Surveys the chosen directory, whose path is copied to `path`: lists it, and reads headers and
 * state. Prints an error and returns false if it does not exist or is not a spool. The caller calls
 * fp_survey_release in any case. */
bool fp_survey_choose(const struct fp_survey_options *options, char *path, size_t size,
                      struct fp_survey *survey) FP_MUST_CHECK;

#endif
