/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters: keeps the bodies of refused uploads, so that the operator can see what was wrong.
 *
 * Optional and bounded: past its ceiling the oldest letters are evicted. A thread of its own writes
 * at a bounded rate from a bounded queue; what does not fit there, or on the disk, is dropped and
 * counted. So a refusal's reply never waits for its letter, and never fails because of it.
 */
#ifndef FP_LETTERS_LETTERS_H
#define FP_LETTERS_LETTERS_H

#include "collector/base/metrics.h"
#include "collector/letters/letter_file.h"

struct fp_dead_letters_settings {
    const char *path;   /* a directory for this collector alone; created if absent, mode 0700 */
    uint64_t max_bytes; /* ceiling of all letters together */
};

struct fp_dead_letters;

/* Starts the thread. Retries an unusable directory with each letter. Returns NULL when out of
 * memory or threads. The metrics must outlive it. */
struct fp_dead_letters *fp_dead_letters_start(const struct fp_dead_letters_settings *settings,
                                              struct fp_metrics *metrics) FP_MUST_CHECK;

/* Hands a letter over and returns at once. Always takes the body's memory and leaves the buffer
 * empty, even if the letter is dropped. Any thread. */
void fp_dead_letters_add(struct fp_dead_letters *letters, const struct fp_letter *letter,
                         struct fp_buf *body);

/* Writes the queued letters, ends the thread and frees everything. NULL is fine. */
void fp_dead_letters_stop(struct fp_dead_letters *letters);

#endif
