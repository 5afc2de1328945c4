/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that several commands have: argp parsers, to be children of the commands' own.
 *
 * One thread.
 */
#ifndef FP_CLI_KIT_OPTIONS_H
#define FP_CLI_KIT_OPTIONS_H

#include "cli/kit/grid.h"

#include <argp.h>

/* Reads --json and --csv into an enum fp_form. */
extern const struct argp fp_form_argp;

/* Reads the argument of option --name, a whole number (of units; NULL: none) from min to max.
 * Anything else is wrong use. */
unsigned fp_option_number(const char *name, const char *arg, const char *units, unsigned min,
                          unsigned max, struct argp_state *state);

/* Reads the arguments FILE... into a struct fp_files; none is wrong use. */
struct fp_files {
    char **names; /* of argv */
    int count;
};
extern const struct argp fp_files_argp;

#endif
