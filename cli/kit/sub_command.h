/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sub-commands: the members of a command, each named by one word or two.
 */
#ifndef FP_CLI_KIT_SUB_COMMAND_H
#define FP_CLI_KIT_SUB_COMMAND_H

#include "cli/kit/message.h"

struct fp_sub_command {
    const char *words[2]; /* the second may be NULL */
    const char *summary;
    enum fp_exit (*run)(int argc, char **argv); /* argv[0] is its full name */
};

struct fp_command_family {
    const char *name;    /* "spool" */
    const char *summary; /* a sentence */
    const struct fp_sub_command *members;
    size_t count;
};

/* Finds the sub-command in the arguments and runs it; --help lists all. */
enum fp_exit fp_command_family_run(const struct fp_command_family *family, int argc, char **argv);

#endif
