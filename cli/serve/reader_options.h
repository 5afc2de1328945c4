/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader options: those of all commands that keep connections to the database. Main thread.
 */
#ifndef FP_CLI_SERVE_READER_OPTIONS_H
#define FP_CLI_SERVE_READER_OPTIONS_H

#include "cli/serve/reader.h"

#include <argp.h>

/* --statement-timeout, whose default is 30 seconds, and --allow-writer; its input is a struct
 * fp_reader_settings. */
extern const struct argp fp_reader_argp;

#endif
