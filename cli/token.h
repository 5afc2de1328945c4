/*
 * Token: lets files be imported into a site that demands page tokens, by whoever may read its keys.
 *
 * One thread.
 */
#ifndef FP_CLI_TOKEN_H
#define FP_CLI_TOKEN_H

#include "collector/ingest/rules.h"

#include "page_token/page_token.h"

/* With its NUL. */
#define FP_TOKEN_SIZE (FLEETPROF_TOKEN_MAX + 1)

/*
 * Signs a token of now with the site's first key. own: the upload's, "" for none: when one of the
 * site's keys has signed it, however long ago, the new one has its sample rate, else 100 %. False
 * after having said that it failed.
 */
bool fp_token_renew(const struct fp_site *site, struct fp_str own,
                    char text[FP_TOKEN_SIZE]) FP_MUST_CHECK;

#endif
