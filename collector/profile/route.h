/*
 * Route: matching paths with the templates of the configuration. Any thread.
 *
 * A template is a path. `:name` stands for one segment that is not empty, `*` as the last segment
 * for any rest, none included. A slash at the end, of path or template, makes no difference.
 */
#ifndef FP_PROFILE_ROUTE_H
#define FP_PROFILE_ROUTE_H

#include "collector/profile/scrub.h"

/* Returns the first template that the path matches, NULL if none. */
const struct fp_str *fp_route_find(const struct fp_scrub_rules *rules, struct fp_str path);

#endif
