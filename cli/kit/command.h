/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands: each has a file of its own and one line in the table of main.c.
 *
 * A command reads its options with argp (which knows --help, --usage and --version) and returns an
 * enum fp_exit. argv[0] is "fleetprof NAME".
 */
#ifndef FP_CLI_KIT_COMMAND_H
#define FP_CLI_KIT_COMMAND_H

#include "cli/kit/message.h"

#include <argp.h>
#include <stdio.h>

/* Keys of options that have no letter; commands number theirs from here. */
#define FP_OPTION_FIRST 0x100
/* Keys of options that several commands share start here: filters, then others. */
#define FP_OPTION_SHARED 0x200
#define FP_OPTION_FOLD 0x2c0
#define FP_OPTION_UPLOAD 0x2d0
#define FP_OPTION_READER 0x2e0
#define FP_OPTION_POSTING 0x2f0

/* A row of an argp's options: -h, which --help does not list. */
#define FP_SHORT_HELP {NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0}

/* Reads the options into *given. Ends the process on failure, and for --help and -h. An
 * option that does not exist gets the nearest one as a hint. */
void fp_command_parse(const struct argp *argp, int argc, char **argv, void *given);

/* Returns what an argp help_filter returns for a command whose --help has a list after the options:
 * for the text there, a copy behind the list, NULL without memory; else the text. */
char *fp_command_help(int key, const char *text, void (*list)(FILE *stream));

enum fp_exit fp_migrate_command(int argc, char **argv);
enum fp_exit fp_summary_command(int argc, char **argv);
enum fp_exit fp_top_command(int argc, char **argv);
enum fp_exit fp_flame_command(int argc, char **argv);
/* For timings, vitals and the other commands of cli/ask/reports.c: finds its row by the name. */
enum fp_exit fp_report_command(int argc, char **argv);
/* Not listed by --help: the shells run it. */
enum fp_exit fp_complete_command(int argc, char **argv);
/* Prints what each filter of the command line is, for `fleetprof help filters`. */
void fp_filters_explain(FILE *stream);
enum fp_exit fp_callers_command(int argc, char **argv);
enum fp_exit fp_trend_command(int argc, char **argv);
enum fp_exit fp_compare_command(int argc, char **argv);
enum fp_exit fp_budgets_command(int argc, char **argv);
enum fp_exit fp_fix_first_command(int argc, char **argv);
enum fp_exit fp_regressions_command(int argc, char **argv);
enum fp_exit fp_rates_command(int argc, char **argv);
enum fp_exit fp_export_command(int argc, char **argv);
enum fp_exit fp_validate_command(int argc, char **argv);
enum fp_exit fp_import_command(int argc, char **argv);
enum fp_exit fp_session_command(int argc, char **argv);
enum fp_exit fp_sourcemap_command(int argc, char **argv);
enum fp_exit fp_owners_command(int argc, char **argv);
enum fp_exit fp_spool_command(int argc, char **argv);
enum fp_exit fp_save_command(int argc, char **argv);
enum fp_exit fp_serve_command(int argc, char **argv);
enum fp_exit fp_mcp_command(int argc, char **argv);
enum fp_exit fp_doctor_command(int argc, char **argv);
enum fp_exit fp_status_command(int argc, char **argv);

#endif
