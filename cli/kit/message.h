/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on standard error, in the style of PostgreSQL: short fact, detail, hint.
 *
 * Texts may quote files, servers and uploads: control characters are shown as `?`, so that none of
 * them can steer a terminal. One thread.
 */
#ifndef FP_CLI_KIT_MESSAGE_H
#define FP_CLI_KIT_MESSAGE_H

#include "collector/base/base.h"

/* The exit codes of the process. */
enum fp_exit {
    FP_EXIT_FINE = 0,
    FP_EXIT_NO = 1,      /* the answer is no: an invalid file, a failed check */
    FP_EXIT_TROUBLE = 2, /* wrong use, or cannot run */
};

/* Prints "fleetprof: error: …" and a line end. A detail and a hint follow an error or a notice. */
void fp_message_error(const char *format, ...) FP_PRINTF(1, 2);
void fp_message_detail(const char *format, ...) FP_PRINTF(1, 2);
void fp_message_hint(const char *format, ...) FP_PRINTF(1, 2);
void fp_message_notice(const char *format, ...) FP_PRINTF(1, 2);

/*
 * Shows what long work is at, on a terminal only: a line that the next one, a message or
 * fp_message_progress_end replaces. Call that before anything is printed on standard output.
 */
void fp_message_progress(const char *format, ...) FP_PRINTF(1, 2);
void fp_message_progress_end(void);

/*
 * Prints what is wrong with an upload: "FILE: WHERE: sentence". WHERE is the JSON pointer or the
 * byte offset, if any.
 */
struct fp_fault {
    const char *pointer; /* NULL or "" when it does not apply */
    int64_t offset;      /* bytes into the inflated text; -1 when it does not apply */
    const char *detail;
};
void fp_message_fault(const char *file, const struct fp_fault *fault);

/* Prints a stranger's text to standard output, without need of memory: what would steer a terminal
 * or end the line is `?`. */
void fp_message_put(const char *text);

/* Makes a text what fp_message_put prints of it, in place. Returns it. */
char *fp_message_make_plain(char *text);

#endif
