/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Package: the npm package that a script's URL names.
 */
#ifndef FP_PROFILE_SCRUB_PACKAGE_H
#define FP_PROFILE_SCRUB_PACKAGE_H

#include "collector/base/base.h"

/* Returns the npm package that a script's URL names, as content delivery networks and node_modules
 * directories do: a part of the URL; "" if it names none. The same as url_package of
 * schema/functions/ownership.sql. Any thread. */
struct fp_str fp_package_of_url(struct fp_str url);

#endif
