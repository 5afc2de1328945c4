/*
 * Report: a command that prints the rows of one SQL function, and what they mean.
 *
 * One thread.
 */
#ifndef FP_CLI_REPORT_H
#define FP_CLI_REPORT_H

#include "cli/analysis.h"
#include "cli/command.h"

struct fp_report {
    bool has_marker; /* it takes --marker */
    const char *doc; /* of --help */
    struct fp_analysis_question question;
    const char *footer; /* a line below the rows, for people */
};

/* Reads filters, database and --json, and prints the report. */
enum fp_exit fp_report_command(const struct fp_report *report, int argc, char **argv);

/* Prints the report with options that a command has read itself. */
enum fp_exit fp_report_answer(const struct fp_report *report, struct fp_analysis *analysis);

/* Reads filters, database and --json into a struct fp_analysis. */
extern const struct argp fp_report_argp;

#endif
