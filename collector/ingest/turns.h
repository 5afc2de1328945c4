/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns: decides which upload is decoded next, so that one site cannot keep the others waiting.
 *
 * Decoding is not interrupted, and a body of a few kilobytes may take a second of it. So uploads
 * are decoded on threads of their own, and those of a site wait in its lane, first come, first
 * served:
 *
 *   - The last idle thread takes only an upload of a site that has no other one being decoded. A
 *     site never has all threads, so the next upload of another one begins at once.
 *   - Of the lanes that wait, the one with the fewest uploads being decoded is next; among equals,
 *     the one that has waited longest since its last turn.
 *
 * One site alone uses all threads but one, so there is one more than the machine is meant to keep
 * busy. Uploads of so many sites at once that all threads are taken wait for a thread, however
 * little they need. Any thread may call any function.
 */
#ifndef FP_INGEST_TURNS_H
#define FP_INGEST_TURNS_H

#include "collector/base/base.h"

struct fp_turns;
struct fp_lane; /* of a site */

/* Makes an empty lane with one reference. Returns NULL when out of memory. */
struct fp_lane *fp_lane_create(void) FP_MUST_CHECK;

/* Add and drop a reference; dropping the last one frees the lane. NULL is fine. */
struct fp_lane *fp_lane_ref(struct fp_lane *lane);
void fp_lane_unref(struct fp_lane *lane);

/* An upload's turn, in the caller's memory until `run` is called. */
struct fp_turn {
    /* Called once, on any thread; never with a lock held. is_granted false: too many uploads of the
     * site waited, or this one waited too long; it must not be decoded. */
    void (*run)(void *context, bool is_granted);
    void *context;
    struct fp_lane *lane;

    /* Private. */
    struct fp_turn *next;
    int64_t since_us; /* monotonic: when it was added */
};

/* Returns how many threads decode uploads, if the machine is meant to keep `busy` of them busy. */
unsigned fp_turns_threads(unsigned busy);

/* Makes turns for that many threads, without any upload. Returns NULL when out of memory. */
struct fp_turns *fp_turns_create(unsigned threads) FP_MUST_CHECK;

/* Starts the threads. False if one cannot be started; fp_turns_stop ends the others. */
bool fp_turns_start(struct fp_turns *turns) FP_MUST_CHECK;

/* Lets an upload wait for its turn. If as many as `most` of its site wait, or after fp_turns_stop,
 * `run` is called at once. */
void fp_turns_add(struct fp_turns *turns, struct fp_turn *turn, size_t most);

/* Runs the next upload on the caller's thread. False if none waits that may be decoded now. */
bool fp_turns_take(struct fp_turns *turns);

/* Runs what waits and ends the threads. NULL is fine, as in fp_turns_free. */
void fp_turns_stop(struct fp_turns *turns);

/* Frees stopped turns. */
void fp_turns_free(struct fp_turns *turns);

#endif
