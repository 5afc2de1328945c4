/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, V8 code: the splay tree.
 */
#include "collector/format/speed_tracer/v8_code.h"

#include "collector/base/assert.h"
#include "collector/format/speed_tracer/dump.h"

enum { NO_CODE = 0 /* the index of an element that is never in the tree */ };

void fp_st_code_map_init(struct fp_st_code_map *map, struct fp_arena *arena)
{
    *map = (struct fp_st_code_map){.arena = arena};
}

bool fp_st_code_map_copy(const struct fp_st_code_map *from, struct fp_arena *arena,
                         struct fp_st_code_map *map)
{
    *map = *from;
    map->arena = arena;
    map->cap = from->count;
    map->codes = NULL;
    if (from->count == 0)
        return true;
    map->codes = fp_arena_array(arena, from->count, sizeof(*map->codes));
    if (map->codes == NULL)
        return false;
    for (uint32_t i = 1; i < from->count; i++) {
        struct fp_st_code *code = &map->codes[i];
        *code = from->codes[i];
        code->frame = FP_INDEX_NONE;
        if (!fp_arena_copy(arena, from->codes[i].kind, &code->kind) ||
            !fp_arena_copy(arena, from->codes[i].name, &code->name))
            return false;
    }
    return true;
}

void fp_st_code_map_clear(struct fp_st_code_map *map)
{
    map->count = map->count > 0 ? 1 : 0;
    map->root = NO_CODE;
    map->free = NO_CODE;
}

static uint32_t rotate_right(struct fp_st_code *codes, uint32_t top)
{
    uint32_t left = codes[top].left;
    codes[top].left = codes[left].right;
    codes[left].right = top;
    return left;
}

static uint32_t rotate_left(struct fp_st_code *codes, uint32_t top)
{
    uint32_t right = codes[top].right;
    codes[top].right = codes[right].left;
    codes[right].left = top;
    return right;
}

/*
 * Moves the code that begins at the address, or one next to it, to the top of the tree below `top`.
 * Returns the new top. Sleator and Tarjan's top-down form: collects code above the address in one
 * tree and code below it in another, both rooted in the element NO_CODE.
 */
static uint32_t splay(struct fp_st_code *codes, uint32_t top, uint64_t address)
{
    if (top == NO_CODE)
        return NO_CODE;
    uint32_t lower = NO_CODE;
    uint32_t higher = NO_CODE;
    codes[NO_CODE].left = NO_CODE;
    codes[NO_CODE].right = NO_CODE;
    while (codes[top].begin != address) {
        if (address < codes[top].begin) {
            const uint32_t left = codes[top].left;
            if (left != NO_CODE && address < codes[left].begin)
                top = rotate_right(codes, top);
            if (codes[top].left == NO_CODE)
                break;
            codes[higher].left = top;
            higher = top;
            top = codes[top].left;
        } else {
            const uint32_t right = codes[top].right;
            if (right != NO_CODE && address > codes[right].begin)
                top = rotate_left(codes, top);
            if (codes[top].right == NO_CODE)
                break;
            codes[lower].right = top;
            lower = top;
            top = codes[top].right;
        }
    }
    codes[lower].right = codes[top].left;
    codes[higher].left = codes[top].right;
    codes[top].left = codes[NO_CODE].right;
    codes[top].right = codes[NO_CODE].left;
    return top;
}

/* Returns the code with the highest begin that is not above the address, NULL if there is none. */
static struct fp_st_code *find_floor(struct fp_st_code_map *map, uint64_t address)
{
    struct fp_st_code *codes = map->codes;
    map->root = splay(codes, map->root, address);
    if (map->root == NO_CODE || codes[map->root].begin <= address)
        return map->root != NO_CODE ? &codes[map->root] : NULL;
    /* The one before it is the highest in its left subtree; this moves it to the top there. */
    const uint32_t left = splay(codes, codes[map->root].left, address);
    codes[map->root].left = left;
    return left != NO_CODE ? &codes[left] : NULL;
}

struct fp_st_code *fp_st_code_map_find(struct fp_st_code_map *map, uint64_t address)
{
    struct fp_st_code *code = find_floor(map, address);
    return code != NULL && address - code->begin < code->len ? code : NULL;
}

/* Returns a free element or a new one, NO_CODE when memory is out. */
static uint32_t new_element(struct fp_st_code_map *map)
{
    const uint32_t element = map->free;
    if (element != NO_CODE) {
        map->free = map->codes[element].left;
        return element;
    }
    if (map->count == 0)
        map->count = 1; /* after NO_CODE's element */
    const uint32_t kept = map->codes != NULL ? map->count : 0;
    struct fp_st_code *codes = fp_st_grow(map->arena, map->codes, kept, &map->cap, sizeof(*codes));
    if (codes == NULL)
        return NO_CODE;
    map->codes = codes;
    return map->count++;
}

bool fp_st_code_map_add(struct fp_st_code_map *map, const struct fp_st_code *code)
{
    struct fp_st_code replaced;
    (void)fp_st_code_map_remove(map, code->begin, &replaced);
    const uint32_t element = new_element(map);
    if (element == NO_CODE)
        return false;
    struct fp_st_code *codes = map->codes;
    const uint32_t root = splay(codes, map->root, code->begin);
    FP_ASSERT(root == NO_CODE || codes[root].begin != code->begin);
    codes[element] = *code;
    codes[element].left = root;
    codes[element].right = NO_CODE;
    if (root != NO_CODE && codes[root].begin > code->begin) {
        codes[element].left = codes[root].left;
        codes[element].right = root;
        codes[root].left = NO_CODE;
    } else if (root != NO_CODE) {
        codes[element].right = codes[root].right;
        codes[root].right = NO_CODE;
    }
    map->root = element;
    return true;
}

bool fp_st_code_map_remove(struct fp_st_code_map *map, uint64_t begin, struct fp_st_code *code)
{
    struct fp_st_code *codes = map->codes;
    const uint32_t root = splay(codes, map->root, begin);
    map->root = root;
    if (root == NO_CODE || codes[root].begin != begin)
        return false;
    *code = codes[root];
    /* In its left subtree all begin below it: the highest moves to the top and has no right
     * child. */
    const uint32_t left = splay(codes, codes[root].left, begin);
    FP_ASSERT(left == NO_CODE || codes[left].right == NO_CODE);
    if (left != NO_CODE)
        codes[left].right = codes[root].right;
    map->root = left != NO_CODE ? left : codes[root].right;
    codes[root].left = map->free;
    map->free = root;
    return true;
}
