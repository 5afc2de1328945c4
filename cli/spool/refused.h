/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refused: what is kept for the operator: dead letters, and records that the database refused.
 *
 * They are in the directories of a collector's configuration, or in the one of --directory. A
 * running collector may add and drop some meanwhile. One thread.
 */
#ifndef FP_CLI_SPOOL_REFUSED_H
#define FP_CLI_SPOOL_REFUSED_H

#include "cli/kit/input_file.h"
#include "collector/config/config.h"
#include "collector/letters/letter_file.h"
#include "collector/rollup/record.h"

#include <argp.h>

struct fp_refused_options {
    const char *config_file; /* NULL: not given */
    const char *directory;   /* NULL: those of the configuration */
};

/* Reads -c/--config and --directory into a struct fp_refused_options. */
extern const struct argp fp_refused_argp;

#define FP_REFUSED_ID_SIZE 32

struct fp_refused_entry {
    char id[FP_REFUSED_ID_SIZE]; /* as people write it */
    bool is_record;
    uint64_t number; /* a letter's id, a record's sequence */
    size_t place;    /* index of its directory */
};

struct fp_refused_list {
    struct fp_config *config; /* owned; NULL when none was given or found */
    struct {
        const char *path;
        int dir; /* open */
    } places[2];
    size_t place_count;
    struct fp_refused_entry *entries; /* owned; letters first, the oldest first */
    size_t count;
    size_t cap;
};

/* Finds all of them. Prints an error and returns false on failure. The caller calls
 * fp_refused_release in any case. */
bool fp_refused_find(const struct fp_refused_options *options,
                     struct fp_refused_list *list) FP_MUST_CHECK;
void fp_refused_release(struct fp_refused_list *list);

/* Returns the entry with this id, or NULL. */
const struct fp_refused_entry *fp_refused_by_id(const struct fp_refused_list *list, const char *id);

/* A letter or a record that was read. */
struct fp_refused {
    struct fp_input_file file;
    struct fp_arena arena;
    bool is_whole;           /* false: only the problem's detail is set below */
    struct fp_letter letter; /* of a record: status 0, and what its first upload says */
    struct fp_str body;      /* as received; of a record its bytes */
    struct fp_record record; /* count 0: this is a letter */
};

/* Reads one. Prints an error and returns false on failure. The caller calls fp_refused_close on
 * success. */
bool fp_refused_open(const struct fp_refused_list *list, const struct fp_refused_entry *entry,
                     struct fp_refused *refused) FP_MUST_CHECK;
void fp_refused_close(struct fp_refused *refused);

/* Removes its files. Prints an error and returns false on failure. */
bool fp_refused_remove(const struct fp_refused_list *list,
                       const struct fp_refused_entry *entry) FP_MUST_CHECK;

/* Returns the open directory of an entry. */
int fp_refused_dir(const struct fp_refused_list *list, const struct fp_refused_entry *entry);

#endif
