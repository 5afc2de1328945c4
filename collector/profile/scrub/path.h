/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, paths: removes what a path says about one visitor. Pure functions; any thread.
 */
#ifndef FP_PROFILE_SCRUB_PATH_H
#define FP_PROFILE_SCRUB_PATH_H

#include "collector/base/arena.h"
#include "collector/profile/scrub/scrub.h"

/*
 * Drops path parameters (`;jsessionid=0F0F`) unless the rules keep them. *scrubbed is the path
 * itself, or lives in the arena. False: the arena is full.
 */
bool fp_scrub_path_parameters(const struct fp_scrub_rules *rules, struct fp_str path,
                              struct fp_arena *arena, struct fp_str *scrubbed) FP_MUST_CHECK;

/*
 * Drops path parameters, and replaces segments that look like the id of one visitor or one thing,
 * as docs/privacy.md lists: e-mail addresses by `:mail`, tokens by `:token`, UUIDs, hexadecimal
 * ids, addresses of machines and long numbers by `:id`. Looks at segments as they read without
 * percent-encoding. Keeps words, versions and dates. Scrubbing twice is like scrubbing once. Linear
 * time. Memory and result as above.
 */
bool fp_scrub_path(const struct fp_scrub_rules *rules, struct fp_str path, struct fp_arena *arena,
                   struct fp_str *scrubbed) FP_MUST_CHECK;

#endif
