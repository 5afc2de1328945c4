/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration: the YAML file as a struct, checked completely before anything is opened.
 *
 * A configuration belongs to the main thread. `rules`, a snapshot of its own, holds the part that
 * running requests read. docs/configuration.md has an entry per setting.
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
    struct fp_arena arena;  /* owns the texts below */
    struct fp_rules *rules; /* one reference; sites, upload limits, privacy */
    struct fp_address listen;
    struct fp_address admin; /* all zero: no admin listener */
    struct fp_str database;  /* a libpq connection string */
    struct fp_str spool_path;
    uint64_t spool_max_bytes;
    uint64_t spool_segment_bytes;
    int64_t spool_keep_us;
    struct fp_str dead_letters_path; /* "": dead letters are off */
    uint64_t dead_letters_max_bytes;
    uint32_t http_threads;
    uint32_t http_proxies;
    uint32_t connections;
    uint32_t connections_per_address;
    int64_t timeout_us;
    int64_t request_timeout_us;
    int64_t flush_min_window_us;
    int64_t flush_max_window_us;
    int64_t retention_facts_us;
    int64_t retention_hours_us;
    int64_t retention_upload_log_us;
    int64_t retention_sessions_us;
    int64_t retention_upload_ids_us;
};

/*
 * Reads and checks a file. Returns NULL on failure; `errors` then holds one line per error:
 * `file:line:column: what is wrong, and what would be right`.
 */
struct fp_config *fp_config_load(const char *file, struct fp_buf *errors) FP_MUST_CHECK;

/* Frees the configuration and drops its reference to the rules. */
void fp_config_free(struct fp_config *config);

/*
 * Compares a freshly loaded configuration with the running one. For each setting that differs and
 * cannot change in a running process, copies the running value into `fresh` and calls `tell` with
 * the name. Returns false when out of memory.
 */
bool fp_config_keep_fixed(struct fp_config *fresh, const struct fp_config *running,
                          void (*tell)(const char *name)) FP_MUST_CHECK;

/* Appends what the database knows of sites, a JSON object by site: {"scripts": templates,
 * "ignore": patterns, "first_party": domains, those of its origins included,
 * "performance_budgets": objects, "source_link": template, "timezone": name}.
 * fp_sealer_settings takes it. */
enum { FP_CONFIG_SITES_MAX = 8 * 1024 * 1024 }; /* more than templates and domains take */
void fp_config_print_sites(const struct fp_config *config, struct fp_buf *out);

/* Appends a complete configuration, with every setting explained and at its default. The text is
 * valid as a configuration file. */
void fp_config_print_default(struct fp_buf *out);

#endif
