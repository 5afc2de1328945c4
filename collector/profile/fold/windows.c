/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, windows: lists of windows by name and time.
 */
#include "collector/profile/fold/internal.h"

#include <stdlib.h>

static int compare_windows(const void *a, const void *b)
{
    const struct fp_fold_window *left = a;
    const struct fp_fold_window *right = b;
    if (left->timing != right->timing)
        return left->timing < right->timing ? -1 : 1;
    return left->start_us < right->start_us ? -1 : left->start_us > right->start_us;
}

void fp_fold_join_windows(struct fp_fold_windows *list)
{
    uint32_t joined = 0;
    qsort(list->items, list->count, sizeof(*list->items), compare_windows);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct fp_fold_window next = list->items[i];
        struct fp_fold_window *last = joined > 0 ? &list->items[joined - 1] : NULL;
        if (last == NULL || last->timing != next.timing || last->end_us < next.start_us)
            list->items[joined++] = next;
        else if (last->end_us < next.end_us)
            last->end_us = next.end_us;
    }
    list->count = joined;
}

/* Adds what is left of a window without those of `less`. *at: the first of them that this window or
 * later ones may touch. */
static void add_rest(struct fp_fold_window window, const struct fp_fold_windows *less, uint32_t *at,
                     struct fp_fold_windows *rest)
{
    while (*at < less->count && (less->items[*at].timing < window.timing ||
                                 (less->items[*at].timing == window.timing &&
                                  less->items[*at].end_us <= window.start_us)))
        ++*at;
    for (uint32_t i = *at; i < less->count && less->items[i].timing == window.timing &&
                           less->items[i].start_us < window.end_us;
         i++) {
        if (less->items[i].start_us > window.start_us)
            rest->items[rest->count++] =
                (struct fp_fold_window){window.timing, window.start_us, less->items[i].start_us};
        window.start_us = less->items[i].end_us;
    }
    if (window.start_us < window.end_us)
        rest->items[rest->count++] = window;
}

bool fp_fold_subtract_windows(struct fp_fold *fold, const struct fp_fold_windows *from,
                              const struct fp_fold_windows *less, struct fp_fold_windows *rest)
{
    uint32_t at = 0;
    rest->count = 0;
    rest->items = fp_fold_array(fold, (size_t)from->count + less->count, sizeof(*rest->items));
    if (rest->items == NULL)
        return false;
    for (uint32_t i = 0; i < from->count; i++)
        add_rest(from->items[i], less, &at, rest);
    return true;
}
