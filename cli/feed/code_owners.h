/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code owners: reads a CODEOWNERS file as GitHub does, strictly. One thread.
 *
 * https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
#ifndef FP_CLI_FEED_CODE_OWNERS_H
#define FP_CLI_FEED_CODE_OWNERS_H

#include "cli/kit/message.h"

/* The largest file, which is GitHub's limit, and the most patterns in it. */
#define FP_CODE_OWNERS_BYTES_MAX ((size_t)3 << 20)
#define FP_CODE_OWNERS_MAX 20000

struct fp_code_owners {
    char *patterns_json; /* what keep_owners takes; owned */
    int64_t patterns;
};

/*
 * Reads a file ("-": standard input). Prints FILE:LINE and what is wrong with each invalid line, up
 * to ten. FP_EXIT_NO for an invalid file, FP_EXIT_TROUBLE for one that cannot be read: there is
 * nothing to release then.
 */
enum fp_exit fp_code_owners_read(const char *file, struct fp_code_owners *owners) FP_MUST_CHECK;
void fp_code_owners_release(struct fp_code_owners *owners);

#endif
