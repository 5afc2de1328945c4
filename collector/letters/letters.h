/*
 * Dead letters: keeps bodies of refused uploads, for the operator who wants to see what was wrong.
 *
 * Optional and bounded: past its ceiling the oldest letters go first. A thread of its own writes,
 * at a bounded pace, from a bounded queue; what does not fit there, or on the disk, is dropped and
 * counted. So a refusal's reply never waits, and never fails, for its letter's sake.
 */
#ifndef FP_LETTERS_LETTERS_H
#define FP_LETTERS_LETTERS_H

#include "collector/base/metrics.h"
#include "collector/letters/letter_file.h"

struct fp_dead_letters_settings {
    const char *path;   /* a directory for one collector alone; made when absent, mode 0700 */
    uint64_t max_bytes; /* ceiling of all letters together */
};

struct fp_dead_letters;

/* Starts the thread. A directory that cannot be used is tried again with each letter. NULL when
 * there is no memory or thread. The metrics must outlive it. */
struct fp_dead_letters *fp_dead_letters_start(const struct fp_dead_letters_settings *settings,
                                              struct fp_metrics *metrics) FP_MUST_CHECK;

/* Hands a letter over and returns at once. The body's memory is taken and the buffer left empty,
 * whatever becomes of the letter. Any thread. */
void fp_dead_letters_add(struct fp_dead_letters *letters, const struct fp_letter *letter,
                         struct fp_buf *body);

/* Writes what is queued, ends the thread and frees. NULL is fine. */
void fp_dead_letters_stop(struct fp_dead_letters *letters);

#endif
