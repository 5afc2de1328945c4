/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Map: 64-bit key to 32-bit value, open addressing, bounded. For keys that are content hashes.
 *
 * Not thread-safe.
 */
#ifndef FP_BASE_MAP_H
#define FP_BASE_MAP_H

#include "collector/base/base.h"

#define FP_MAP_NONE UINT32_MAX

struct fp_map_slot;

struct fp_map {
    struct fp_map_slot *slots; /* owned */
    size_t count;
    size_t mask;         /* slots - 1, 0 while empty */
    uint64_t multiplier; /* odd, random: nobody outside can choose keys that collide */
    size_t max_count;
};

/* Initialises an empty map of at most max_count keys. Allocates nothing yet. */
void fp_map_init(struct fp_map *map, size_t max_count);

/* Returns the value of key, FP_MAP_NONE if it is absent. */
uint32_t fp_map_get(const struct fp_map *map, uint64_t key);

/*
 * Finds key, or adds it with `value` (anything but FP_MAP_NONE). Returns the value in the map:
 * `value` itself if the key was new; FP_MAP_NONE if there is no room or memory.
 */
uint32_t fp_map_put(struct fp_map *map, uint64_t key, uint32_t value) FP_MUST_CHECK;

/* Drops all keys and keeps the memory. */
void fp_map_clear(struct fp_map *map);

/* Frees the memory. The map may be used again. */
void fp_map_release(struct fp_map *map);

#endif
