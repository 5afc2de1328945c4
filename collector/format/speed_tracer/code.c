/*
 * Speed Tracer, code: the splay tree.
 */
#include "collector/format/speed_tracer/code.h"

#include "collector/format/speed_tracer/dump.h"

enum { NOBODY = 0 };

void fp_code_map_init(struct fp_code_map *map, struct fp_arena *arena)
{
    *map = (struct fp_code_map){.arena = arena};
}

void fp_code_map_clear(struct fp_code_map *map)
{
    map->count = map->count > 0 ? 1 : 0;
    map->root = NOBODY;
    map->free = NOBODY;
}

static uint32_t rotate_right(struct fp_code *codes, uint32_t top)
{
    uint32_t left = codes[top].left;
    codes[top].left = codes[left].right;
    codes[left].right = top;
    return left;
}

static uint32_t rotate_left(struct fp_code *codes, uint32_t top)
{
    uint32_t right = codes[top].right;
    codes[top].right = codes[right].left;
    codes[right].left = top;
    return right;
}

/*
 * Brings the code that begins at the address, or one next to it, to the top of the tree below
 * `top`, and returns it. Sleator and Tarjan's top-down form: on the way down, what lies above the
 * address is hung up in one tree, what lies below in another, both rooted in nobody's element.
 */
static uint32_t splay(struct fp_code *codes, uint32_t top, uint64_t address)
{
    if (top == NOBODY)
        return NOBODY;
    uint32_t lower = NOBODY;
    uint32_t higher = NOBODY;
    codes[NOBODY].left = NOBODY;
    codes[NOBODY].right = NOBODY;
    while (codes[top].begin != address) {
        if (address < codes[top].begin) {
            const uint32_t left = codes[top].left;
            if (left != NOBODY && address < codes[left].begin)
                top = rotate_right(codes, top);
            if (codes[top].left == NOBODY)
                break;
            codes[higher].left = top;
            higher = top;
            top = codes[top].left;
        } else {
            const uint32_t right = codes[top].right;
            if (right != NOBODY && address > codes[right].begin)
                top = rotate_left(codes, top);
            if (codes[top].right == NOBODY)
                break;
            codes[lower].right = top;
            lower = top;
            top = codes[top].right;
        }
    }
    codes[lower].right = codes[top].left;
    codes[higher].left = codes[top].right;
    codes[top].left = codes[NOBODY].right;
    codes[top].right = codes[NOBODY].left;
    return top;
}

/* The code with the highest beginning that is not above the address. */
static struct fp_code *find_floor(struct fp_code_map *map, uint64_t address)
{
    struct fp_code *codes = map->codes;
    map->root = splay(codes, map->root, address);
    if (map->root == NOBODY || codes[map->root].begin <= address)
        return map->root != NOBODY ? &codes[map->root] : NULL;
    /* The one before it is the highest on its left, which comes to the top there. */
    const uint32_t left = splay(codes, codes[map->root].left, address);
    codes[map->root].left = left;
    return left != NOBODY ? &codes[left] : NULL;
}

struct fp_code *fp_code_map_find(struct fp_code_map *map, uint64_t address)
{
    struct fp_code *code = find_floor(map, address);
    return code != NULL && address - code->begin < code->len ? code : NULL;
}

/* An element to use: one given back before, or a new one. NOBODY when memory is out. */
static uint32_t new_element(struct fp_code_map *map)
{
    const uint32_t element = map->free;
    if (element != NOBODY) {
        map->free = map->codes[element].left;
        return element;
    }
    if (map->count == 0) /* nobody's */
        map->count = 1;
    const uint32_t kept = map->codes != NULL ? map->count : 0;
    struct fp_code *codes =
        fp_speed_tracer_grow(map->arena, map->codes, kept, &map->cap, sizeof(*codes));
    if (codes == NULL)
        return NOBODY;
    map->codes = codes;
    return map->count++;
}

bool fp_code_map_put(struct fp_code_map *map, const struct fp_code *code)
{
    struct fp_code replaced;
    (void)fp_code_map_take(map, code->begin, &replaced);
    const uint32_t element = new_element(map);
    if (element == NOBODY)
        return false;
    struct fp_code *codes = map->codes;
    const uint32_t root = splay(codes, map->root, code->begin);
    codes[element] = *code;
    codes[element].left = root;
    codes[element].right = NOBODY;
    if (root != NOBODY && codes[root].begin > code->begin) {
        codes[element].left = codes[root].left;
        codes[element].right = root;
        codes[root].left = NOBODY;
    } else if (root != NOBODY) {
        codes[element].right = codes[root].right;
        codes[root].right = NOBODY;
    }
    map->root = element;
    return true;
}

bool fp_code_map_take(struct fp_code_map *map, uint64_t begin, struct fp_code *code)
{
    struct fp_code *codes = map->codes;
    const uint32_t root = splay(codes, map->root, begin);
    map->root = root;
    if (root == NOBODY || codes[root].begin != begin)
        return false;
    *code = codes[root];
    /* All on its left begin below it: the highest of them comes to the top and has nothing right.
     */
    const uint32_t left = splay(codes, codes[root].left, begin);
    if (left != NOBODY)
        codes[left].right = codes[root].right;
    map->root = left != NOBODY ? left : codes[root].right;
    codes[root].left = map->free;
    map->free = root;
    return true;
}
