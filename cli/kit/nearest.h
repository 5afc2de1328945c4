/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nearest: which known name a mistyped word means.
 *
 * Threads may use it at the same time.
 */
#ifndef FP_CLI_KIT_NEAREST_H
#define FP_CLI_KIT_NEAREST_H

#include <stddef.h>

/* The name that is nearest to a word so far. Starts as {.word = WORD}. */
struct fp_nearest {
    const char *word;
    const char *name; /* the caller's; NULL: none is near */
    size_t edits;     /* from the word to the name */
};

/* Compares one more name. A name is near if at most one letter in three of the word is inserted,
 * left out, replaced or exchanged with its neighbour, at least one; or if the word begins it. Of
 * equally near names the first stays. */
void fp_nearest_take(struct fp_nearest *nearest, const char *name);

#endif
