/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suspects: the commits that touched a function's lines between two releases, as git has them.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_SUSPECTS_H
#define FP_CLI_ASK_SUSPECTS_H

#include "collector/base/base.h"

struct fp_suspects; /* a repository, and the commits of both releases */

/*
 * Finds the commits that releases are of: a tag, a branch or a hash of the release's name, or of
 * the name after a v; a number is not a part of a hash. *suspects: NULL if there are none, which a
 * notice says. Prints an error and returns false if the directory is not in a git repository. The
 * caller calls fp_suspects_close.
 */
bool fp_suspects_open(const char *directory, const char *before, const char *after,
                      struct fp_suspects **suspects) FP_MUST_CHECK;
void fp_suspects_close(struct fp_suspects *suspects);

/* The lines of a function in a source, as texts. */
struct fp_suspects_lines {
    const char *source; /* a stranger's path, below the top of the repository */
    const char *first;
    const char *last; /* if the source does not show where the function ends */
};

enum { FP_SUSPECTS_MAX = 3 };

/* Returns the last commits that touched the lines, "1a2b3c4 Author: subject", a line each; "" if
 * there are none or the repository does not have the source. The caller frees it. */
char *fp_suspects_find(const struct fp_suspects *suspects, const struct fp_suspects_lines *lines);

#endif
