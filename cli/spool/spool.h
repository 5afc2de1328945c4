/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof spool: its sub-commands, each with a row in the table of
 * spool.c. They are called as commands are, with their full name in argv[0]. One thread.
 */
#ifndef FP_CLI_SPOOL_SPOOL_H
#define FP_CLI_SPOOL_SPOOL_H

#include "cli/kit/command.h"

enum fp_exit fp_spool_inspect_command(int argc, char **argv);
enum fp_exit fp_spool_verify_command(int argc, char **argv);
enum fp_exit fp_spool_list_command(int argc, char **argv);
enum fp_exit fp_spool_show_command(int argc, char **argv);
enum fp_exit fp_spool_replay_command(int argc, char **argv);

#endif
