/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Script template: checks the templates of sites[].scripts and the patterns of sites[].ignore. The
 * database matches them (schema/functions/script_name.sql, ignored_code.sql). Any thread.
 *
 * A template is a path on any host, or a URL. `:name` stands for one or more characters without a
 * slash that change with each build, `*` for any text that stays.
 */
#ifndef FP_PROFILE_SCRUB_SCRIPT_TEMPLATE_H
#define FP_PROFILE_SCRUB_SCRIPT_TEMPLATE_H

#include "collector/base/base.h"

/* Checks a template. Returns NULL if it is valid, else what is wrong with it. */
const char *fp_script_template_check(struct fp_str script_template);

/* Checks a pattern of ignored code, a URL, a path or a source in which `*` stands for any text.
 * Returns NULL if it is valid, else what is wrong with it. */
const char *fp_ignored_code_check(struct fp_str pattern);

#endif
