/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack: a tree becomes columns of varints, which deflate well and lose nothing.
 *
 * Sums of a node follow from its children, so that a column has only what is the node's own. A
 * frame is its rank among the callees of its caller: few functions call many others.
 */
#include "cli/serve/pack.h"

#include "cli/kit/memory.h"
#include "collector/base/hash.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <yyjson.h>

/* Columns of frames; KEY is not written as JSON. */
enum { KEY = FP_PACK_FRAME_COLUMNS };
static const char *const frame_columns[FP_PACK_FRAME_COLUMNS + 1] = {
    "function",     "resource",           "line",           "column_number",
    "kind",         "generated_resource", "generated_line", "generated_column",
    "function_key",
};

/* Columns of nodes. Of REST and SAMPLES the answer has the sums of the subtree. */
enum pack_column { LEVEL, FRAME, SELF, REST, SAMPLES, COLUMN_COUNT };
static const char *const node_columns[COLUMN_COUNT] = {"level", "frame", "self", "total",
                                                       "samples"};

enum {
    NODES_MAX = 1000 * 1000,
    FRAMES_MAX = 4 * 1000 * 1000, /* of all trees */
    CALLEES_MAX = 8 * 1000 * 1000,
};

/* 2^50: sums of a few such numbers are still below 2^53, up to which JavaScript is exact. */
static const int64_t number_max = INT64_C(1125899906842624);

struct pack_tree {
    size_t count;
    size_t frame_count;
    yyjson_val *frames[FP_PACK_FRAME_COLUMNS + 1];
    int64_t *columns[COLUMN_COUNT]; /* owned */
    uint32_t *parents;              /* owned */
    int64_t sample_us;              /* of a sample, on the average */
};

/* ---- what there is to pack ---- */

static bool is_exact(int64_t number)
{
    return number <= number_max && number >= -number_max;
}

/* Reads a function_key: a number of 64 bits, as a text. False if it has another form. */
static bool read_key(yyjson_val *value, int64_t *key)
{
    const char *text = yyjson_get_str(value);
    char again[24];
    if (text == NULL)
        return false;
    errno = 0;
    *key = strtoll(text, NULL, 10);
    (void)snprintf(again, sizeof(again), "%" PRId64, *key);
    return errno == 0 && strcmp(text, again) == 0;
}

/* Returns an array of `count` whole numbers, NULL if it is not one. The caller frees it. */
static int64_t *read_numbers(yyjson_val *array, size_t count)
{
    size_t at;
    size_t size;
    yyjson_val *value;
    if (!yyjson_is_arr(array) || yyjson_arr_size(array) != count)
        return NULL;
    int64_t *numbers = fp_memory_need(calloc(count, sizeof(*numbers)));
    yyjson_arr_foreach(array, at, size, value)
    {
        numbers[at] = yyjson_get_sint(value);
        bool is_large = yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX;
        if (!yyjson_is_int(value) || is_large || !is_exact(numbers[at])) {
            free(numbers);
            return NULL;
        }
    }
    return numbers;
}

static bool read_frames(struct pack_tree *tree, yyjson_val *frames)
{
    tree->frame_count = yyjson_arr_size(yyjson_obj_get(frames, frame_columns[0]));
    for (size_t i = 0; i < FP_COUNT(frame_columns); i++) {
        tree->frames[i] = yyjson_obj_get(frames, frame_columns[i]);
        if (!yyjson_is_arr(tree->frames[i]) ||
            yyjson_arr_size(tree->frames[i]) != tree->frame_count)
            return false;
    }
    size_t at;
    size_t size;
    yyjson_val *value;
    int64_t key;
    yyjson_arr_foreach(tree->frames[KEY], at, size, value)
    {
        if (!read_key(value, &key))
            return false;
    }
    return yyjson_obj_size(frames) == FP_COUNT(frame_columns);
}

/* Finds the parents. False if nodes are not in order, or a frame is not listed. */
static bool read_order(struct pack_tree *tree)
{
    const int64_t *level = tree->columns[LEVEL];
    const int64_t *frame = tree->columns[FRAME];
    uint32_t *path = fp_memory_need(calloc(tree->count, sizeof(*path)));
    bool fine = level[0] == 0 && frame[0] == -1;
    for (size_t i = 1; fine && i < tree->count; i++) {
        fine = level[i] >= 1 && level[i] <= level[i - 1] + 1 && frame[i] >= 0 &&
               (uint64_t)frame[i] < tree->frame_count;
        if (fine) {
            tree->parents[i] = path[level[i] - 1];
            path[level[i]] = (uint32_t)i;
        }
    }
    free(path);
    return fine;
}

/* Takes the sums of its children off each node. False if a number gets too large. */
static bool take_own(struct pack_tree *tree)
{
    int64_t *const *columns = tree->columns;
    bool fine = true;
    for (size_t i = 0; fine && i < tree->count; i++) {
        int64_t *rest = columns[REST];
        int64_t *samples = columns[SAMPLES];
        uint32_t parent = tree->parents[i];
        if (i > 0)
            fine = !__builtin_sub_overflow(rest[parent], rest[i], &rest[parent]) &&
                   !__builtin_sub_overflow(samples[parent], samples[i], &samples[parent]);
        fine = fine && !__builtin_sub_overflow(rest[i], columns[SELF][i], &rest[i]);
    }
    for (size_t i = 0; fine && i < tree->count; i++)
        fine = is_exact(columns[REST][i]) && is_exact(columns[SAMPLES][i]);
    return fine;
}

static void release_tree(struct pack_tree *tree)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        free(tree->columns[i]);
    free(tree->parents);
}

/* Reads a tree of an answer. False if it cannot be packed; release it even then. */
static bool read_tree(struct pack_tree *tree, yyjson_val *json)
{
    *tree = (struct pack_tree){.count = yyjson_arr_size(yyjson_obj_get(json, "level"))};
    if (tree->count == 0 || tree->count > NODES_MAX ||
        !read_frames(tree, yyjson_obj_get(json, "frames")))
        return false;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        tree->columns[i] = read_numbers(yyjson_obj_get(json, node_columns[i]), tree->count);
        if (tree->columns[i] == NULL)
            return false;
    }
    tree->parents = fp_memory_need(calloc(tree->count, sizeof(*tree->parents)));
    int64_t samples = tree->columns[SAMPLES][0];
    int64_t total_us = tree->columns[REST][0];
    tree->sample_us = samples > 0 && total_us > samples ? total_us / samples : 1;
    return read_order(tree) && take_own(tree);
}

/* ---- frames ---- */

static void add_number(struct fp_buf *numbers, uint64_t number)
{
    uint8_t bytes[10];
    size_t len = 0;
    for (; number > 0x7f; number >>= 7)
        bytes[len++] = (uint8_t)(number | 0x80);
    bytes[len++] = (uint8_t)number;
    fp_buf_add(numbers, bytes, len);
}

static void add_json(struct fp_buf *buf, const yyjson_val *value)
{
    size_t len = 0;
    char *text = fp_memory_need(yyjson_val_write(value, YYJSON_WRITE_NOFLAG, &len));
    fp_buf_add(buf, text, len);
    free(text);
}

/* Makes room for the callees of one more frame. */
static void grow_callees(struct fp_packing *packing)
{
    packing->callee_count = fp_memory_grow(packing->callee_count, packing->frame_count + 1,
                                           &packing->callee_cap, sizeof(*packing->callee_count));
    packing->callee_count[packing->frame_count + 1] = 0;
}

/* Adds the function_key of a new frame: 0 and the key, or the place from 1 of one that is there. */
static void add_key(struct fp_packing *packing, yyjson_val *value)
{
    int64_t key = 0;
    (void)read_key(value, &key);
    uint32_t next = (uint32_t)(packing->keys.len / sizeof(key));
    uint32_t place = fp_map_put(&packing->key_places, (uint64_t)key, next);
    if (place == FP_MAP_NONE)
        fp_memory_end();
    add_number(&packing->frame_keys, place == next ? 0 : place + 1);
    if (place < next)
        return;
    const uint64_t bytes = htole64((uint64_t)key);
    fp_buf_add(&packing->keys, &bytes, sizeof(bytes));
}

/* Returns where the file has a frame of a tree; adds it if it is new. */
static uint32_t place_frame(struct fp_packing *packing, const struct pack_tree *tree, size_t frame)
{
    struct fp_buf row;
    size_t ends[FP_PACK_FRAME_COLUMNS];
    fp_buf_init(&row, packing->text.max);
    for (size_t i = 0; i < FP_PACK_FRAME_COLUMNS; i++) {
        fp_buf_add(&row, ",", 1);
        add_json(&row, yyjson_arr_get(tree->frames[i], frame));
        ends[i] = row.len;
    }
    add_json(&row, yyjson_arr_get(tree->frames[KEY], frame));
    if (row.failed)
        fp_memory_end();
    uint32_t place =
        fp_map_put(&packing->places, fp_hash64(row.data, row.len), packing->frame_count);
    if (place == FP_MAP_NONE)
        fp_memory_end();
    if (place == packing->frame_count) {
        for (size_t i = 0, from = 0; i < FP_PACK_FRAME_COLUMNS; from = ends[i++])
            fp_buf_add(&packing->frames[i], row.data + from, ends[i] - from);
        add_key(packing, yyjson_arr_get(tree->frames[KEY], frame));
        grow_callees(packing);
        packing->frame_count++;
    }
    fp_buf_release(&row);
    return place;
}

/* ---- columns ---- */

/* Flags of a node: it has own time, and stacks below it are left out. */
enum { HAS_SELF = 1, HAS_REST = 2, PRESENCES = 4 };

/* Adds what each node has, and by how many levels the next one is nearer to the whole than its
 * child would be. */
static void add_shape(struct fp_buf *numbers, const struct pack_tree *tree)
{
    const int64_t *level = tree->columns[LEVEL];
    for (size_t i = 0; i < tree->count; i++) {
        int64_t up = i + 1 < tree->count ? level[i] + 1 - level[i + 1] : 0;
        int64_t has = (tree->columns[SELF][i] != 0 ? HAS_SELF : 0) |
                      (tree->columns[REST][i] != 0 ? HAS_REST : 0);
        add_number(numbers, (uint64_t)(up * PRESENCES + has));
    }
}

/* Adds the rank from 1 of each node's frame among the callees of its caller, 0 for one that it did
 * not call before. Then adds these: their places from 1, 0 for one that no tree had before. */
static void add_frames(struct fp_packing *packing, const struct pack_tree *tree)
{
    uint32_t *places = fp_memory_need(calloc(tree->count + 1, sizeof(*places))); /* from 1 */
    uint32_t *known = fp_memory_need(calloc(tree->frame_count + 1, sizeof(*known)));
    struct fp_buf added;
    fp_buf_init(&added, packing->numbers.max);
    for (size_t i = 1; i < tree->count; i++) {
        size_t frame = (size_t)tree->columns[FRAME][i];
        uint32_t frames_before = packing->frame_count;
        if (known[frame] == 0)
            known[frame] = place_frame(packing, tree, frame) + 1;
        places[i] = known[frame];
        uint32_t caller = places[tree->parents[i]];
        uint32_t next = packing->callee_count[caller];
        uint32_t rank = fp_map_put(&packing->callees, (uint64_t)caller << 32 | places[i], next);
        if (rank == FP_MAP_NONE)
            fp_memory_end();
        add_number(&packing->numbers, rank == next ? 0 : rank + 1);
        if (rank == next) {
            packing->callee_count[caller]++;
            add_number(&added, packing->frame_count > frames_before ? 0 : places[i]);
        }
    }
    fp_buf_add(&packing->numbers, added.data, added.len);
    packing->numbers.failed |= added.failed;
    fp_buf_release(&added);
    free(known);
    free(places);
}

static int64_t greatest_divisor(int64_t one, int64_t other)
{
    while (other != 0) {
        int64_t left = one % other;
        one = other;
        other = left;
    }
    return one < 0 ? -one : one;
}

/* Adds the times that are not 0, less the least of them, by their unit. Returns the least. */
static int64_t add_times(struct fp_buf *numbers, const int64_t *times, size_t count,
                         int64_t unit_us)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (times[i] != 0 && times[i] < least)
            least = times[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (times[i] != 0)
            add_number(numbers, (uint64_t)((times[i] - least) / unit_us));
    }
    return least < INT64_MAX ? least : 0;
}

/* Adds samples less those that the time of a node lets expect: 0, -1, 1, -2 … as 0, 1, 2, 3 … */
static void add_samples(struct fp_buf *numbers, const struct pack_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        int64_t us = tree->columns[SELF][i] + tree->columns[REST][i];
        int64_t more = tree->columns[SAMPLES][i] - (us > 0 ? us / tree->sample_us : 0);
        add_number(numbers, more >= 0 ? 2 * (uint64_t)more : 2 * (uint64_t)(-1 - more) + 1);
    }
}

/* Adds a tree, and to the text the head that says how to read it. */
static void add_tree(struct fp_packing *packing, const struct pack_tree *tree, yyjson_val *json)
{
    size_t at;
    size_t size;
    yyjson_val *key;
    yyjson_val *value;
    int64_t unit_us = 0;
    for (size_t i = 0; i < tree->count; i++)
        unit_us = greatest_divisor(tree->columns[REST][i],
                                   greatest_divisor(tree->columns[SELF][i], unit_us));
    if (unit_us == 0)
        unit_us = 1;
    add_shape(&packing->numbers, tree);
    add_frames(packing, tree);
    int64_t least_self = add_times(&packing->numbers, tree->columns[SELF], tree->count, unit_us);
    int64_t least_rest = add_times(&packing->numbers, tree->columns[REST], tree->count, unit_us);
    add_samples(&packing->numbers, tree);
    fp_buf_addf(&packing->text,
                "{\"packed\":{\"nodes\":%zu,\"unit_us\":%" PRId64 ",\"sample_us\":%" PRId64
                ",\"least_self_us\":%" PRId64 ",\"least_rest_us\":%" PRId64 "}",
                tree->count, unit_us, tree->sample_us, least_self, least_rest);
    yyjson_obj_foreach(json, at, size, key, value)
    {
        if (yyjson_is_arr(value) || yyjson_is_obj(value))
            continue;
        fp_buf_addf(&packing->text, ",");
        add_json(&packing->text, key);
        fp_buf_addf(&packing->text, ":");
        add_json(&packing->text, value);
    }
    fp_buf_addf(&packing->text, "}");
}

/* ---- the file ---- */

void fp_packing_init(struct fp_packing *packing, size_t max)
{
    *packing = (struct fp_packing){0};
    fp_buf_init(&packing->text, max);
    fp_buf_init(&packing->numbers, max);
    for (size_t i = 0; i < FP_PACK_FRAME_COLUMNS; i++)
        fp_buf_init(&packing->frames[i], max);
    fp_buf_init(&packing->frame_keys, max);
    fp_buf_init(&packing->keys, max);
    fp_map_init(&packing->key_places, FRAMES_MAX);
    fp_map_init(&packing->places, FRAMES_MAX);
    fp_map_init(&packing->callees, CALLEES_MAX);
    packing->callee_count =
        fp_memory_grow(NULL, 0, &packing->callee_cap, sizeof(*packing->callee_count));
    packing->callee_count[0] = 0;
    fp_buf_addf(&packing->text, "{\"answers\":{");
}

/* Appends the members of an answer, a tree packed. */
static void add_answer(struct fp_packing *packing, yyjson_val *answer)
{
    size_t at;
    size_t size;
    yyjson_val *key;
    yyjson_val *value;
    if (yyjson_obj_size(answer) == 0) {
        add_json(&packing->text, answer);
        return;
    }
    yyjson_obj_foreach(answer, at, size, key, value)
    {
        struct pack_tree tree = {0};
        fp_buf_addf(&packing->text, at > 0 ? "," : "{");
        add_json(&packing->text, key);
        fp_buf_addf(&packing->text, ":");
        if (yyjson_equals_str(key, "tree") && read_tree(&tree, value))
            add_tree(packing, &tree, value);
        else
            add_json(&packing->text, value);
        release_tree(&tree);
    }
    fp_buf_addf(&packing->text, "}");
}

void fp_packing_add(struct fp_packing *packing, struct fp_str address, struct fp_str answer)
{
    yyjson_doc *doc = fp_memory_need(yyjson_read(answer.ptr, answer.len, YYJSON_READ_NOFLAG));
    bool is_first = packing->text.data[packing->text.len - 1] == '{';
    fp_buf_addf(&packing->text, "%s\"%.*s\":", is_first ? "" : ",\n", (int)address.len,
                address.ptr);
    add_answer(packing, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
}

bool fp_packing_end(struct fp_packing *packing)
{
    struct fp_buf *text = &packing->text;
    fp_buf_addf(text, "},\"frames\":{");
    for (size_t i = 0; i < FP_PACK_FRAME_COLUMNS; i++) {
        const struct fp_buf *column = &packing->frames[i];
        fp_buf_addf(text, "%s\"%s\":[", i > 0 ? "," : "", frame_columns[i]);
        if (column->len > 0)
            fp_buf_add(text, column->data + 1, column->len - 1); /* without the first comma */
        fp_buf_addf(text, "]");
        text->failed |= column->failed;
    }
    fp_buf_add(text, "}}", 3); /* and the NUL */
    const struct fp_buf *const parts[] = {&packing->frame_keys, &packing->keys, &packing->numbers};
    for (size_t i = 0; i < FP_COUNT(parts); i++) {
        fp_buf_add(text, parts[i]->data, parts[i]->len);
        text->failed |= parts[i]->failed;
    }
    return !text->failed;
}

void fp_packing_release(struct fp_packing *packing)
{
    fp_buf_release(&packing->text);
    fp_buf_release(&packing->numbers);
    for (size_t i = 0; i < FP_PACK_FRAME_COLUMNS; i++)
        fp_buf_release(&packing->frames[i]);
    fp_buf_release(&packing->frame_keys);
    fp_buf_release(&packing->keys);
    fp_map_release(&packing->key_places);
    fp_map_release(&packing->places);
    fp_map_release(&packing->callees);
    free(packing->callee_count);
    packing->callee_count = NULL;
}
