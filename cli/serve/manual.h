/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual: its built pages below /help/, from the folder that tools/manual/build.mjs writes.
 */
#ifndef FP_CLI_SERVE_MANUAL_H
#define FP_CLI_SERVE_MANUAL_H

#include "collector/base/base.h"

#include <microhttpd.h>

/* Returns the folder where a package installs the manual; NULL if it is not there. */
const char *fp_manual_installed(void);

/* True if the folder has the manual's first page. Any thread. */
bool fp_manual_is_there(const char *folder) FP_MUST_CHECK;

/* True for the path of a page or file of the manual. A path below /help/ without a dot is a view of
 * a site of that name. */
bool fp_manual_owns(const char *path) FP_MUST_CHECK;

/* Sends a file of the manual; without a folder, /help/ is 204, by which the page knows that there
 * is no manual. `folder` may be NULL. */
enum MHD_Result fp_manual_answer(struct MHD_Connection *connection, const char *folder,
                                 const char *path) FP_MUST_CHECK;

#endif
