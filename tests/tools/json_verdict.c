/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON verdict: prints what the collector's JSON reader makes of documents, for a test that
 * compares it with another reader.
 *
 * Standard input holds documents, each behind its length (4 bytes, little-endian). For each one a
 * line: `reject`, `deep` (over json_depth), or what a decoder sees of it:
 *
 *     n  t  f           null, true, false
 *     d3ff0000000000000 a number, the bits of its double
 *     s666f6f           a string, its UTF-8 in hexadecimal
 *     [a,b]             an array
 *     {666f6f:a,…}      an object, by the bytes of its names, the last of equal ones
 */
#include "collector/format/json.h"
#include "collector/format/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARENA_MAX = 256 * 1024 * 1024, DOCUMENT_MAX = 16 * 1024 * 1024, DEPTH_MAX = 64 };

struct member {
    struct fp_str name;
    yyjson_val *value;
    size_t index;
};

static void die(const char *what)
{
    fprintf(stderr, "json_verdict: %s\n", what);
    exit(2);
}

static void print_hex(struct fp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        printf("%02x", (unsigned char)text.ptr[i]);
}

static void print_value(yyjson_val *value, struct fp_arena *arena);

static void print_number(yyjson_val *value)
{
    double number = yyjson_get_num(value);
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    printf("d%016" PRIx64, bits);
}

static void print_string(yyjson_val *value, struct fp_arena *arena)
{
    struct fp_str text = {yyjson_get_str(value), yyjson_get_len(value)};
    if (!fp_utf8_copy(arena, text, &text))
        die("out of memory");
    putchar('s');
    print_hex(text);
}

static void print_array(yyjson_val *array, struct fp_arena *arena)
{
    yyjson_arr_iter elements = yyjson_arr_iter_with(array);
    const char *separator = "[";
    for (yyjson_val *element; (element = yyjson_arr_iter_next(&elements)) != NULL;) {
        fputs(separator, stdout);
        print_value(element, arena);
        separator = ",";
    }
    fputs(yyjson_arr_size(array) > 0 ? "]" : "[]", stdout);
}

static int by_name(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;
    size_t len = a->name.len < b->name.len ? a->name.len : b->name.len;
    int order = memcmp(a->name.ptr, b->name.ptr, len);
    if (order == 0)
        order = (a->name.len > b->name.len) - (a->name.len < b->name.len);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static void print_object(yyjson_val *object, struct fp_arena *arena)
{
    size_t count = yyjson_obj_size(object);
    struct member *members = fp_arena_array(arena, count, sizeof(*members));
    if (members == NULL)
        die("out of memory");
    yyjson_obj_iter names = yyjson_obj_iter_with(object);
    for (size_t i = 0; i < count; i++) {
        yyjson_val *name = yyjson_obj_iter_next(&names);
        members[i] = (struct member){.name = {yyjson_get_str(name), yyjson_get_len(name)},
                                     .value = yyjson_obj_iter_get_val(name),
                                     .index = i};
    }
    qsort(members, count, sizeof(*members), by_name);
    const char *separator = "{";
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && fp_str_equal(members[i].name, members[i + 1].name))
            continue;
        fputs(separator, stdout);
        print_hex(members[i].name);
        putchar(':');
        print_value(members[i].value, arena);
        separator = ",";
    }
    fputs(count > 0 ? "}" : "{}", stdout);
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX
static void print_value(yyjson_val *value, struct fp_arena *arena)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_BOOL:
        putchar(yyjson_get_bool(value) ? 't' : 'f');
        break;
    case YYJSON_TYPE_NUM:
        print_number(value);
        break;
    case YYJSON_TYPE_STR:
        print_string(value, arena);
        break;
    case YYJSON_TYPE_ARR:
        print_array(value, arena);
        break;
    case YYJSON_TYPE_OBJ:
        print_object(value, arena);
        break;
    default:
        putchar('n');
        break;
    }
}

static void judge(struct fp_str document, struct fp_arena *arena)
{
    struct fp_json json;
    struct fp_upload_error error;
    switch (fp_json_parse(document, DEPTH_MAX, arena, &json, &error)) {
    case FP_VERDICT_OK:
        print_value(json.root, arena);
        fp_json_release(&json);
        break;
    case FP_VERDICT_MALFORMED:
        fputs("reject", stdout);
        break;
    case FP_VERDICT_TOO_LARGE:
        fputs("deep", stdout);
        break;
    case FP_VERDICT_UNSUPPORTED:
    case FP_VERDICT_INVALID:
    case FP_VERDICT_MEMORY:
        die("a verdict that JSON cannot have");
    }
    putchar('\n');
}

/* Reads a document into memory of exactly its size, so that a sanitizer sees a read past its end.
 * False at the end of the input. */
static bool read_document(struct fp_str *document)
{
    uint8_t prefix[4];
    size_t got = fread(prefix, 1, sizeof(prefix), stdin);
    if (got == 0)
        return false;
    size_t len = (size_t)prefix[0] | (size_t)prefix[1] << 8 | (size_t)prefix[2] << 16 |
                 (size_t)prefix[3] << 24;
    char *bytes = got == sizeof(prefix) && len <= DOCUMENT_MAX ? malloc(len) : NULL;
    if ((bytes == NULL && len > 0) || fread(bytes, 1, len, stdin) != len)
        die("the input ends early, or a document is too long");
    *document = (struct fp_str){bytes, len};
    return true;
}

int main(void)
{
    struct fp_arena arena;
    struct fp_str document;
    fp_arena_init(&arena, ARENA_MAX);
    while (read_document(&document)) {
        judge(document, &arena);
        fp_arena_clear(&arena);
        free((void *)(uintptr_t)document.ptr);
    }
    fp_arena_release(&arena);
    return 0;
}
