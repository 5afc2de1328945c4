/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output file: what a command writes with -o FILE. It replaces the file whole, or leaves it as it
 * was; through a symbolic link the file that it leads to. A pipe or a device is written to.
 *
 * One thread.
 */
#ifndef FP_CLI_KIT_OUTPUT_FILE_H
#define FP_CLI_KIT_OUTPUT_FILE_H

#include "collector/base/base.h"

#include <stdio.h>

struct fp_output_file {
    const char *name; /* NULL: standard output */
    char *target;     /* owned: the file that is replaced; NULL: what is there is written to */
    char *part;       /* owned: name of the file while it is written */
    FILE *stream;     /* where to write */
};

/* Opens the file, or standard output for NULL and for "-". Prints an error and returns false on
 * failure; there is nothing to close then. The name outlives the file. */
bool fp_output_file_open(struct fp_output_file *file, const char *name) FP_MUST_CHECK;

/* Closes the file. is_whole: all was written, so that it takes its name; else it is dropped. Prints
 * an error and returns false if a file could not be written. */
bool fp_output_file_close(struct fp_output_file *file, bool is_whole) FP_MUST_CHECK;

#endif
