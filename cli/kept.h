/*
 * Kept: what was refused and is kept for the operator: dead letters, and records that the database
 * refused.
 *
 * They lie in the directories of a collector's configuration, or in one that is named. A running
 * collector may add and drop some meanwhile. One thread.
 */
#ifndef FP_CLI_KEPT_H
#define FP_CLI_KEPT_H

#include "cli/body.h"
#include "collector/config/config.h"
#include "collector/letters/letter_file.h"
#include "collector/rollup/record.h"

#include <argp.h>

struct fp_kept_options {
    const char *config_file; /* NULL: not given */
    const char *directory;   /* NULL: those of the configuration */
};

/* Reads -c/--config and --directory into a struct fp_kept_options. */
extern const struct argp fp_kept_argp;

#define FP_KEPT_ID_SIZE 32

struct fp_kept_entry {
    char id[FP_KEPT_ID_SIZE]; /* as people write it */
    bool is_record;
    uint64_t number; /* a letter's id, a record's sequence */
    size_t place;    /* index of its directory */
};

struct fp_kept_list {
    struct fp_config *config; /* owned; NULL when none was given or found */
    struct {
        const char *path;
        int dir; /* open */
    } places[2];
    size_t place_count;
    struct fp_kept_entry *entries; /* owned; letters first, the oldest first */
    size_t count;
    size_t cap;
};

/* Finds them. False after having said why not; to be released in any case. */
bool fp_kept_find(const struct fp_kept_options *options, struct fp_kept_list *list) FP_MUST_CHECK;
void fp_kept_release(struct fp_kept_list *list);

/* The one of this id, NULL when there is none. */
const struct fp_kept_entry *fp_kept_by_id(const struct fp_kept_list *list, const char *id);

/* One of them, read. */
struct fp_kept {
    struct fp_body file;
    struct fp_arena arena;
    bool is_whole;           /* false: what follows is empty, but for the problem's detail */
    struct fp_letter letter; /* of a record: status 0, and what its first upload says */
    struct fp_str body;      /* as received; of a record its bytes */
    struct fp_record record; /* count 0: this is a letter */
};

/* Reads one. False after having said why not. The caller calls fp_kept_close on success. */
bool fp_kept_open(const struct fp_kept_list *list, const struct fp_kept_entry *entry,
                  struct fp_kept *kept) FP_MUST_CHECK;
void fp_kept_close(struct fp_kept *kept);

/* Removes its files; false after having said why not. */
bool fp_kept_remove(const struct fp_kept_list *list,
                    const struct fp_kept_entry *entry) FP_MUST_CHECK;

/* The directory that an entry lies in, open. */
int fp_kept_dir(const struct fp_kept_list *list, const struct fp_kept_entry *entry);

#endif
