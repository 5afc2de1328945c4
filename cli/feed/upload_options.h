/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload options: where to upload, and as whom. An argp parser, to be a child of a command's own.
 *
 * One thread.
 */
#ifndef FP_CLI_FEED_UPLOAD_OPTIONS_H
#define FP_CLI_FEED_UPLOAD_OPTIONS_H

#include "cli/feed/upload.h"

#include <argp.h>

/* Reads --url, --unix-socket, --page and --user-agent into a struct fp_upload_target. */
extern const struct argp fp_upload_argp;

#endif
