/*
 * Target: where a collector with a given configuration takes uploads of a site.
 *
 * One thread.
 */
#ifndef FP_CLI_TARGET_H
#define FP_CLI_TARGET_H

#include "collector/config/config.h"

struct fp_target {
    char url[512];
    char unix_socket[128];      /* "" for TCP */
    const struct fp_site *site; /* in the configuration */
};

/* site: a name, NULL for the only one. False after having said why there is no such target. */
bool fp_target_find(const struct fp_config *config, const char *site,
                    struct fp_target *target) FP_MUST_CHECK;

#endif
