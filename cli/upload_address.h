/*
 * Target: where a collector with a given configuration takes uploads of a site.
 *
 * One thread.
 */
#ifndef FP_CLI_UPLOAD_ADDRESS_H
#define FP_CLI_UPLOAD_ADDRESS_H

#include "collector/config/config.h"

struct fp_upload_address {
    char url[512];
    char unix_socket[128];      /* "" for TCP */
    const struct fp_site *site; /* in the configuration */
};

/* site: a name, NULL for the only one. False after having said why there is no such target. */
bool fp_upload_address_find(const struct fp_config *config, const char *site,
                            struct fp_upload_address *target) FP_MUST_CHECK;

#endif
