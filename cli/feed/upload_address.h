/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload address: where a collector with a given configuration takes uploads of a site.
 *
 * One thread.
 */
#ifndef FP_CLI_FEED_UPLOAD_ADDRESS_H
#define FP_CLI_FEED_UPLOAD_ADDRESS_H

#include "cli/feed/upload.h"
#include "collector/config/config.h"

struct fp_upload_address {
    char url[512];
    char unix_socket[128];      /* "" for TCP */
    const struct fp_site *site; /* in the configuration */
};

/* Finds the address of a site, the only one if `site` is NULL. Prints an error and returns false if
 * there is none. */
bool fp_upload_address_find(const struct fp_config *config, const char *site,
                            struct fp_upload_address *target) FP_MUST_CHECK;

/*
 * Completes a target that has no URL with the configuration's address; `found` holds its texts and
 * must outlive the target. config: NULL when there is none. Prints an error and returns false when
 * the address is not known.
 */
bool fp_upload_address_complete(const struct fp_config *config, const char *site,
                                struct fp_upload_address *found,
                                struct fp_upload_target *target) FP_MUST_CHECK;

/* True if the site takes a format, named as in sites[].formats. */
bool fp_upload_is_taken(const struct fp_site *site, const char *format);

#endif
