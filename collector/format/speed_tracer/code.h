/*
 * Speed Tracer, code: what lies at which address of a V8 engine, while code comes, moves and goes.
 *
 * A splay tree, as in the engine's own tools: what ticks hit stays near the root, and any sequence
 * of calls costs O(log n) each on average. Not thread-safe.
 */
#ifndef FP_FORMAT_SPEED_TRACER_CODE_H
#define FP_FORMAT_SPEED_TRACER_CODE_H

#include "collector/base/arena.h"
#include "collector/base/base.h"

struct fp_code {
    uint64_t begin; /* address */
    uint64_t len;
    struct fp_str kind; /* "LazyCompile", "Stub", ... */
    struct fp_str name;
    uint32_t frame; /* index of a profile's frame, FP_INDEX_NONE before the first tick there */
    uint32_t left;  /* the map's own; 0: none */
    uint32_t right;
};

struct fp_code_map {
    struct fp_arena *arena;
    struct fp_code *codes; /* the first is nobody's */
    uint32_t count;
    uint32_t cap;
    uint32_t root;
    uint32_t free; /* removed ones, linked by `left` */
};

/* Makes an empty map whose memory is the arena's. */
void fp_code_map_init(struct fp_code_map *map, struct fp_arena *arena);

/* Forgets all code. */
void fp_code_map_clear(struct fp_code_map *map);

/* The code in which the address lies, NULL when there is none. Valid until the next call. */
struct fp_code *fp_code_map_find(struct fp_code_map *map, uint64_t address) FP_MUST_CHECK;

/* Adds code; what began at the same address is gone. False when memory is out. */
bool fp_code_map_put(struct fp_code_map *map, const struct fp_code *code) FP_MUST_CHECK;

/* Takes out the code that begins at the address, to *code. False when none does. */
bool fp_code_map_take(struct fp_code_map *map, uint64_t begin, struct fp_code *code);

#endif
