/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Map: linear probing in a power-of-two table that is at most three quarters full.
 *
 * Keys come from uploads, and their hash is public: anybody could send keys that share their low
 * bits and turn each probe into a long walk. Hence the home slot is the product with a random odd
 * multiplier, drawn per map.
 */
#include "collector/base/map.h"

#include "collector/base/assert.h"

#include <stdlib.h>
#include <sys/random.h>

/* The first table holds max_count keys, within these bounds: most maps never grow. */
enum { FIRST_SLOTS_MIN = 64, FIRST_SLOTS_MAX = 16 * 1024 };

struct fp_map_slot {
    uint64_t key;
    uint32_t value; /* FP_MAP_NONE: the slot is free */
};

void fp_map_init(struct fp_map *map, size_t max_count)
{
    *map = (struct fp_map){.max_count = max_count};
}

/* Returns the slot that holds key, or the free slot where it belongs. The table is never full. */
static struct fp_map_slot *find_slot(const struct fp_map *map, uint64_t key)
{
    size_t at = (size_t)((key * map->multiplier) >> __builtin_clzll(map->mask));
    while (map->slots[at].value != FP_MAP_NONE && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

static void free_all_slots(struct fp_map *map)
{
    for (size_t i = 0; i <= map->mask; i++)
        map->slots[i].value = FP_MAP_NONE;
}

static uint64_t draw_multiplier(void)
{
    uint64_t drawn;
    if (getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) != (ssize_t)sizeof(drawn))
        drawn = UINT64_C(0x9e3779b97f4a7c15); /* early boot: still spreads, can be foreseen */
    return drawn | 1;
}

static size_t first_slots(const struct fp_map *map)
{
    size_t slots = FIRST_SLOTS_MIN;
    while (slots < FIRST_SLOTS_MAX && slots / 2 < map->max_count)
        slots *= 2;
    return slots;
}

static bool grow(struct fp_map *map)
{
    size_t old_slots = map->slots != NULL ? map->mask + 1 : 0;
    size_t new_slots = old_slots > 0 ? old_slots * 2 : first_slots(map);
    size_t len;
    if (__builtin_mul_overflow(new_slots, sizeof(*map->slots), &len))
        return false;
    FP_ASSERT((new_slots & (new_slots - 1)) == 0);
    struct fp_map bigger = *map;
    bigger.slots = malloc(len);
    if (bigger.slots == NULL)
        return false;
    bigger.mask = new_slots - 1;
    if (old_slots == 0)
        bigger.multiplier = draw_multiplier();
    free_all_slots(&bigger);
    for (size_t i = 0; i < old_slots; i++)
        if (map->slots[i].value != FP_MAP_NONE)
            *find_slot(&bigger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = bigger;
    return true;
}

static bool needs_growth(const struct fp_map *map)
{
    return map->count >= (map->mask + 1) / 4 * 3;
}

uint32_t fp_map_get(const struct fp_map *map, uint64_t key)
{
    return map->slots != NULL ? find_slot(map, key)->value : FP_MAP_NONE;
}

uint32_t fp_map_put(struct fp_map *map, uint64_t key, uint32_t value)
{
    FP_ASSERT(value != FP_MAP_NONE);
    if (map->slots == NULL && (map->max_count == 0 || !grow(map)))
        return FP_MAP_NONE;
    struct fp_map_slot *slot = find_slot(map, key);
    if (slot->value != FP_MAP_NONE)
        return slot->value;
    if (map->count >= map->max_count)
        return FP_MAP_NONE;
    if (needs_growth(map)) {
        if (!grow(map))
            return FP_MAP_NONE;
        slot = find_slot(map, key);
    }
    *slot = (struct fp_map_slot){key, value};
    map->count++;
    FP_ASSERT(map->count <= map->max_count && map->count <= (map->mask + 1) / 4 * 3);
    return value;
}

void fp_map_clear(struct fp_map *map)
{
    if (map->slots != NULL)
        free_all_slots(map);
    map->count = 0;
}

void fp_map_release(struct fp_map *map)
{
    free(map->slots);
    fp_map_init(map, map->max_count);
}
