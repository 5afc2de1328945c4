/*
 * Configuration: the YAML file as a struct, checked whole before anything is opened.
 *
 * A configuration belongs to the main thread; what running requests read of it is in `rules`, a
 * snapshot of its own. docs/configuration.md has an entry per setting.
 */
#ifndef FP_CONFIG_CONFIG_H
#define FP_CONFIG_CONFIG_H

#include "collector/base/address.h"
#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/base/buf.h"
#include "collector/ingest/rules.h"

/* All texts are followed by a NUL; an absent one is empty. */
struct fp_config {
    struct fp_arena arena;  /* of the texts below */
    struct fp_rules *rules; /* one reference; sites, limits of an upload, privacy */
    struct fp_address listen;
    struct fp_address admin; /* all zero: no admin listener */
    struct fp_str database;  /* a libpq connection string */
    struct fp_str spool_path;
    uint64_t spool_max_bytes;
    uint64_t spool_segment_bytes;
    int64_t spool_keep_us;
    struct fp_str dead_letters_path; /* "": none are kept */
    uint64_t dead_letters_max_bytes;
    uint32_t http_threads;
    uint32_t connections;
    uint32_t connections_per_address;
    int64_t timeout_us;
    int64_t request_timeout_us;
    int64_t flush_min_window_us;
    int64_t flush_max_window_us;
    int64_t retention_facts_us;
    int64_t retention_upload_log_us;
    int64_t retention_sessions_us;
    int64_t retention_upload_ids_us;
};

/*
 * Reads and checks a file. NULL on failure; `errors` then holds lines of the form
 * `file:line:column: what is wrong, and what would be right`, one for each error found.
 */
struct fp_config *fp_config_load(const char *file, struct fp_buf *errors) FP_MUST_CHECK;

/* Gives back everything and the reference to the rules. */
void fp_config_free(struct fp_config *config);

/*
 * Compares a freshly loaded configuration with the running one: a setting that cannot change in a
 * running process and differs takes the running value in `fresh`, and `tell` is called with its
 * name. False when out of memory.
 */
bool fp_config_keep_fixed(struct fp_config *fresh, const struct fp_config *running,
                          void (*tell)(const char *name)) FP_MUST_CHECK;

/* Appends a whole configuration with every setting at its default and explained; it loads. */
void fp_config_print_default(struct fp_buf *out);

#endif
