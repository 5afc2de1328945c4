/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token: signs page tokens for imports, for users who may read the keys of the site.
 *
 * One thread.
 */
#ifndef FP_CLI_FEED_TOKEN_H
#define FP_CLI_FEED_TOKEN_H

#include "collector/ingest/rules.h"

#include "page_token/page_token.h"

/* With its NUL. */
#define FP_TOKEN_SIZE (FLEETPROF_TOKEN_MAX + 1)

/*
 * Signs a token with the current time and the site's first key. own: the upload's token, or "". If
 * one of the site's keys has signed that, however long ago, the new one has its sample rate, else
 * 100 %. Prints an error and returns false on failure.
 */
bool fp_token_renew(const struct fp_site *site, struct fp_str own,
                    char text[FP_TOKEN_SIZE]) FP_MUST_CHECK;

#endif
