/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 code: which code is at which address of the engine, as code is created, moved
 * and deleted.
 *
 * A splay tree, as in the engine's own tools: code with many ticks stays near the root, and a call
 * costs O(log n) amortized. Not thread-safe.
 */
#ifndef FP_FORMAT_SPEED_TRACER_V8_CODE_H
#define FP_FORMAT_SPEED_TRACER_V8_CODE_H

#include "collector/base/arena.h"
#include "collector/base/base.h"

struct fp_st_code {
    uint64_t begin; /* address */
    uint64_t len;
    struct fp_str kind; /* "LazyCompile", "Stub", ... */
    struct fp_str name;
    uint32_t frame; /* index of a profile's frame, FP_INDEX_NONE before its first tick */
    uint32_t left;  /* private to the map; 0: none */
    uint32_t right;
};

struct fp_st_code_map {
    struct fp_arena *arena;
    struct fp_st_code *codes; /* the first element is never in the tree */
    uint32_t count;
    uint32_t cap;
    uint32_t root;
    uint32_t free; /* removed ones, linked by `left` */
};

/* Makes an empty map with its memory in the arena. */
void fp_st_code_map_init(struct fp_st_code_map *map, struct fp_arena *arena);

/* Copies all code to an uninitialised map with its memory in the arena. The copies have no frames.
 * False when memory is out. */
bool fp_st_code_map_copy(const struct fp_st_code_map *from, struct fp_arena *arena,
                         struct fp_st_code_map *map) FP_MUST_CHECK;

/* Removes all code. */
void fp_st_code_map_clear(struct fp_st_code_map *map);

/* Returns the code that covers the address, NULL if there is none. Valid until the next call. */
struct fp_st_code *fp_st_code_map_find(struct fp_st_code_map *map, uint64_t address) FP_MUST_CHECK;

/* Adds code, and removes code that began at the same address. False when memory is out. */
bool fp_st_code_map_add(struct fp_st_code_map *map, const struct fp_st_code *code) FP_MUST_CHECK;

/* Removes the code that begins at the address, and copies it to *code. False if there is none. */
bool fp_st_code_map_remove(struct fp_st_code_map *map, uint64_t begin, struct fp_st_code *code);

#endif
