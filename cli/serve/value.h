/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Value: checks the text of a parameter before it goes to the database. Pure; any thread.
 */
#ifndef FP_CLI_SERVE_VALUE_H
#define FP_CLI_SERVE_VALUE_H

#include "cli/serve/question.h"

/* True if the parameter can have this value, which has a NUL at its end. Otherwise *trouble says
 * why not. */
bool fp_value_check(const struct fp_parameter *parameter, struct fp_str value,
                    struct fp_trouble *trouble) FP_MUST_CHECK;

/* True for a duration back from now, such as "2h": a number of seconds, minutes, hours, days or
 * weeks. */
bool fp_value_is_duration(const char *text);

#endif
