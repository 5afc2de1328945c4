/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typical session: the kept page load that is most like its group.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_SESSION_TYPICAL_H
#define FP_CLI_ASK_SESSION_TYPICAL_H

#include "cli/kit/command.h"

enum fp_exit fp_session_typical_command(int argc, char **argv);

#endif
