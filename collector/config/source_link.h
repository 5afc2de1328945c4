/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source link: checks the template of sites[].source_link. The database fills it
 * (schema/functions/function_origin.sql). Any thread.
 */
#ifndef FP_CONFIG_SOURCE_LINK_H
#define FP_CONFIG_SOURCE_LINK_H

#include "collector/base/base.h"

/* Checks a template: an http or https address with {file}, and perhaps {release}, {line} and
 * {column}, after its host. Returns NULL if it is valid, else what is wrong with it. */
const char *fp_source_link_check(struct fp_str source_link) FP_MUST_CHECK;

#endif
