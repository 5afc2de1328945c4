/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zone: checks the name of sites[].timezone. The database works with it
 * (schema/functions/timezone.sql). Any thread.
 */
#ifndef FP_CONFIG_TIME_ZONE_H
#define FP_CONFIG_TIME_ZONE_H

#include "collector/base/base.h"

/*
 * Checks a name of the IANA time zone database, such as Australia/Sydney: its form, and that the
 * directory holds it; without such a directory, only its form. Returns NULL if it is valid, else
 * what is wrong with it.
 */
const char *fp_time_zone_check(struct fp_str name, const char *directory) FP_MUST_CHECK;

#define FP_TIME_ZONE_DIRECTORY "/usr/share/zoneinfo"

#endif
