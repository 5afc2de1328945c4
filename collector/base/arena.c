/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena: a list of malloc'd blocks, handed out from the front of the newest one.
 *
 * Blocks double up to BLOCK_MAX, so that a small upload costs one block and a large one few. What
 * does not fit the newest block starts a new one; the rest of the old block is left unused.
 */
#include "collector/base/arena.h"

#include "collector/base/assert.h"

#include <stdalign.h>
#include <stdlib.h>

enum { BLOCK_MIN = 4096, BLOCK_MAX = 1024 * 1024, ALIGNMENT = alignof(max_align_t) };

struct fp_arena_block {
    struct fp_arena_block *older;
    size_t cap;  /* bytes of data */
    size_t used; /* bytes handed out; a multiple of ALIGNMENT, or cap */
    alignas(max_align_t) uint8_t data[];
};

/* Memory that somebody else allocated; this record is in the arena itself. */
struct fp_arena_adopted {
    struct fp_arena_adopted *older;
    void *bytes;
};

/* With AddressSanitizer, memory that is not handed out is poisoned, and allocations have a gap
 * between them. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER
#endif
#ifdef HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define GAP(left) ((left) < ALIGNMENT ? (left) : ALIGNMENT)
#define FORBID(bytes, len) ASAN_POISON_MEMORY_REGION(bytes, len)
#define ALLOW(bytes, len) ASAN_UNPOISON_MEMORY_REGION(bytes, len)
#else
#define GAP(left) ((void)(left), (size_t)0)
#define FORBID(bytes, len) ((void)(bytes), (void)(len))
#define ALLOW(bytes, len) ((void)(bytes), (void)(len))
#endif

void fp_arena_init(struct fp_arena *arena, size_t max_bytes)
{
    *arena = (struct fp_arena){.max_bytes = max_bytes};
}

/* Returns the size of the next block, which must hold len bytes; 0 if the arena may not grow that
 * far. */
static size_t next_block_cap(const struct fp_arena *arena, size_t len)
{
    FP_ASSERT(arena->used_bytes <= arena->max_bytes);
    size_t left = arena->max_bytes - arena->used_bytes;
    if (left < sizeof(struct fp_arena_block) || left - sizeof(struct fp_arena_block) < len)
        return 0;
    left -= sizeof(struct fp_arena_block);

    size_t cap = arena->block != NULL ? arena->block->cap * 2 : BLOCK_MIN;
    if (cap > BLOCK_MAX)
        cap = BLOCK_MAX;
    if (cap > left)
        cap = left;
    return cap > len ? cap : len;
}

static bool add_block(struct fp_arena *arena, size_t len)
{
    size_t cap = next_block_cap(arena, len);
    arena->full = arena->full || cap == 0;
    if (cap == 0)
        return false;
    struct fp_arena_block *block = malloc(sizeof(*block) + cap);
    if (block == NULL)
        return false;
    block->older = arena->block;
    block->cap = cap;
    block->used = 0;
    FORBID(block->data, cap);
    arena->block = block;
    arena->used_bytes += sizeof(*block) + cap;
    return true;
}

void *fp_arena_alloc(struct fp_arena *arena, size_t len)
{
    if (len > SIZE_MAX - ALIGNMENT)
        return NULL;
    /* Never 0 bytes: two allocations of 0 bytes are two pointers. */
    size_t rounded = len == 0 ? ALIGNMENT : (len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct fp_arena_block *block = arena->block;
    if (block == NULL || block->cap - block->used < rounded) {
        if (!add_block(arena, rounded))
            return NULL;
        block = arena->block;
    }
    void *bytes = block->data + block->used;
    ALLOW(bytes, len);
    size_t left = block->cap - block->used - rounded;
    block->used += rounded + GAP(left);
    FP_ASSERT(block->used <= block->cap);
    FP_ASSERT((uintptr_t)bytes % ALIGNMENT == 0);
    return bytes;
}

void *fp_arena_array(struct fp_arena *arena, size_t count, size_t size)
{
    size_t len;
    if (__builtin_mul_overflow(count, size, &len))
        return NULL;
    void *elements = fp_arena_alloc(arena, len);
    if (elements != NULL)
        memset(elements, 0, len);
    return elements;
}

bool fp_arena_copy(struct fp_arena *arena, struct fp_str str, struct fp_str *copy)
{
    if (str.len == SIZE_MAX)
        return false;
    char *bytes = fp_arena_alloc(arena, str.len + 1);
    if (bytes == NULL)
        return false;
    if (str.len > 0)
        memcpy(bytes, str.ptr, str.len);
    bytes[str.len] = '\0';
    *copy = (struct fp_str){bytes, str.len};
    return true;
}

bool fp_arena_adopt(struct fp_arena *arena, void *bytes, size_t len)
{
    struct fp_arena_adopted *adopted = fp_arena_alloc(arena, sizeof(*adopted));
    if (adopted == NULL)
        return false;
    if (len > arena->max_bytes - arena->used_bytes) {
        arena->full = true;
        return false;
    }
    *adopted = (struct fp_arena_adopted){arena->adopted, bytes};
    arena->adopted = adopted;
    arena->used_bytes += len;
    FP_ASSERT(arena->used_bytes <= arena->max_bytes);
    return true;
}

static void free_adopted(struct fp_arena *arena, const struct fp_arena_adopted *kept)
{
    for (; arena->adopted != kept; arena->adopted = arena->adopted->older)
        free(arena->adopted->bytes);
}

static void free_blocks(struct fp_arena *arena, const struct fp_arena_block *kept)
{
    while (arena->block != kept) {
        struct fp_arena_block *older = arena->block->older;
        free(arena->block);
        arena->block = older;
    }
}

struct fp_arena_mark fp_arena_mark(const struct fp_arena *arena)
{
    return (struct fp_arena_mark){*arena, arena->block != NULL ? arena->block->used : 0};
}

void fp_arena_rewind(struct fp_arena *arena, const struct fp_arena_mark *mark)
{
    FP_ASSERT(arena->used_bytes >= mark->before.used_bytes);
    free_adopted(arena, mark->before.adopted);
    free_blocks(arena, mark->before.block);
    *arena = mark->before;
    if (arena->block == NULL)
        return;
    FP_ASSERT(arena->block->used >= mark->block_used);
    arena->block->used = mark->block_used;
    FORBID(arena->block->data + arena->block->used, arena->block->cap - arena->block->used);
}

void fp_arena_clear(struct fp_arena *arena)
{
    free_adopted(arena, NULL);
    struct fp_arena_block *kept = NULL;
    struct fp_arena_block *block = arena->block;
    while (block != NULL) {
        struct fp_arena_block *older = block->older;
        /* Does not keep the block of one huge allocation. */
        if (kept == NULL && block->cap <= BLOCK_MAX)
            kept = block;
        else
            free(block);
        block = older;
    }
    arena->block = kept;
    arena->used_bytes = 0;
    arena->full = false;
    if (kept != NULL) {
        kept->older = NULL;
        kept->used = 0;
        FORBID(kept->data, kept->cap);
        arena->used_bytes = sizeof(*kept) + kept->cap;
    }
}

void fp_arena_release(struct fp_arena *arena)
{
    free_adopted(arena, NULL);
    free_blocks(arena, NULL);
    arena->used_bytes = 0;
    arena->full = false;
}
