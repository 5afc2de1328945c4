/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's configuration, as far as commands take defaults from it (-c/--config).
 */
#ifndef FP_CLI_KIT_CONFIG_FILE_H
#define FP_CLI_KIT_CONFIG_FILE_H

#include "collector/config/config.h"

#define FP_CONFIG_FILE "/etc/fleetprof/fleetprof.yaml"

/*
 * Loads a configuration. With file NULL, loads the usual one; *config is NULL if that does not
 * exist. Prints an error and returns false on failure. The caller calls fp_config_free, also for
 * NULL.
 */
bool fp_config_file_load(const char *file, struct fp_config **config) FP_MUST_CHECK;

/* Returns what a collector with this configuration allows an upload; NULL stands for the defaults.
 * The caller calls fp_rules_unref. */
struct fp_rules *fp_config_file_rules(const struct fp_config *config) FP_MUST_CHECK;

#endif
