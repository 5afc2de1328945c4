/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route: matches paths with the templates of the configuration. Any thread.
 *
 * A template is a path. `:name` matches one segment that is not empty, `*` as the last segment
 * matches any rest, even an empty one. A trailing slash of path or template makes no difference.
 */
#ifndef FP_PROFILE_SCRUB_ROUTE_H
#define FP_PROFILE_SCRUB_ROUTE_H

#include "collector/profile/scrub/scrub.h"

/* Returns the first template that the path matches, NULL if none. */
const struct fp_str *fp_route_find(const struct fp_scrub_rules *rules, struct fp_str path);

#endif
