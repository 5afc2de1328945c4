/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena: memory of one unit of work (an upload, a flush), with a maximum from the start and freed
 * in one place.
 *
 * Not thread-safe: an arena belongs to one thread at a time.
 */
#ifndef FP_BASE_ARENA_H
#define FP_BASE_ARENA_H

#include "collector/base/base.h"

struct fp_arena_block;
struct fp_arena_adopted;

struct fp_arena {
    struct fp_arena_block *block; /* the newest; it links to the older ones */
    struct fp_arena_adopted *adopted;
    size_t used_bytes; /* handed out by malloc so far, headers included */
    size_t max_bytes;
    bool full; /* max_bytes has refused something; else it was the machine that had no memory */
};

/* Initialises an empty arena that never holds more than max_bytes. Allocates nothing yet. */
void fp_arena_init(struct fp_arena *arena, size_t max_bytes);

/*
 * Returns len bytes aligned for any type, not cleared; a len of 0 gives a valid pointer. NULL when
 * the arena's maximum or the machine's memory is reached; the arena is then unchanged.
 */
void *fp_arena_alloc(struct fp_arena *arena, size_t len) FP_MUST_CHECK;

/* As fp_arena_alloc for count elements of size bytes, cleared; NULL also when the product
 * overflows. */
void *fp_arena_array(struct fp_arena *arena, size_t count, size_t size) FP_MUST_CHECK;

/* Copies str into the arena (a NUL follows it, outside its length). False when out of memory. */
bool fp_arena_copy(struct fp_arena *arena, struct fp_str str, struct fp_str *copy) FP_MUST_CHECK;

/* Takes ownership of len bytes that were allocated with malloc, and frees them with the arena.
 * False if the arena's maximum is reached or memory is out: the caller keeps them. */
bool fp_arena_adopt(struct fp_arena *arena, void *bytes, size_t len) FP_MUST_CHECK;

/* The contents of an arena at some time. */
struct fp_arena_mark {
    struct fp_arena before;
    size_t block_used;
};

/* Returns what the arena holds now. */
struct fp_arena_mark fp_arena_mark(const struct fp_arena *arena);

/* Drops what was allocated since the mark, and the note that the arena was full since. The arena
 * was not cleared in between. */
void fp_arena_rewind(struct fp_arena *arena, const struct fp_arena_mark *mark);

/* Drops all allocations and the note that it was full. Keeps one block for reuse. */
void fp_arena_clear(struct fp_arena *arena);

/* Frees all memory. The arena may be used again. */
void fp_arena_release(struct fp_arena *arena);

#endif
