/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nearest: the distance of Damerau and Levenshtein, in which neighbours change places once (optimal
 * string alignment).
 */
#include "cli/kit/nearest.h"

#include "collector/base/base.h"

#include <string.h>

/* A longer word is not a mistyped name. */
enum { LETTERS_MAX = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many edits make one text of at most LETTERS_MAX bytes another. */
static size_t count_edits(const char *from, const char *to)
{
    size_t rows[3][LETTERS_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    const size_t to_len = strlen(to);
    for (size_t j = 0; j <= to_len; j++)
        row[j] = j;
    for (size_t i = 1; from[i - 1] != '\0'; i++) {
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
        row[0] = i;
        for (size_t j = 1; j <= to_len; j++) {
            row[j] =
                least(least(last[j], row[j - 1]) + 1, last[j - 1] + (from[i - 1] != to[j - 1]));
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[to_len];
}

void fp_nearest_take(struct fp_nearest *nearest, const char *name)
{
    const size_t len = strlen(nearest->word);
    if (len < 2 || len > LETTERS_MAX || strlen(name) > LETTERS_MAX)
        return;
    const size_t limit = len < 6 ? 1 : len / 3;
    size_t edits = count_edits(nearest->word, name);
    if (edits > limit && strncmp(name, nearest->word, len) == 0)
        edits = limit;
    if (edits <= limit && (nearest->name == NULL || edits < nearest->edits)) {
        nearest->name = name;
        nearest->edits = edits;
    }
}
