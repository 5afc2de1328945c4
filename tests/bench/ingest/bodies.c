/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies: the number of heads, then heads and bodies, each preceded by its length; 32 bits, little
 * endian.
 */
#include "tests/bench/ingest/bodies.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADS_MAX = 10000, BODIES_MAX = 100000 };

static bool map_file(const char *path, struct fp_str *bytes)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0 || status.st_size == 0)
        return false;
    void *mapped =
        mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
        return false;
    *bytes = (struct fp_str){mapped, (size_t)status.st_size};
    return true;
}

/* Takes the first text off the rest of the file. */
static bool take_text(struct fp_str *left, struct fp_str *text)
{
    uint32_t little;
    if (left->len < sizeof(little))
        return false;
    memcpy(&little, left->ptr, sizeof(little));
    *text = (struct fp_str){left->ptr + sizeof(little), le32toh(little)};
    if (text->len > left->len - sizeof(little))
        return false;
    left->ptr = text->ptr + text->len;
    left->len -= sizeof(little) + text->len;
    return true;
}

static bool take_head_count(struct fp_str *left, size_t *count)
{
    uint32_t little;
    if (left->len < sizeof(little))
        return false;
    memcpy(&little, left->ptr, sizeof(little));
    *count = le32toh(little);
    left->ptr += sizeof(little);
    left->len -= sizeof(little);
    return *count > 0 && *count <= HEADS_MAX;
}

bool bodies_open(const char *path, struct bodies *bodies)
{
    struct fp_str left;
    *bodies = (struct bodies){.heads = calloc(HEADS_MAX, sizeof(*bodies->heads)),
                              .items = calloc(BODIES_MAX, sizeof(*bodies->items))};
    if (bodies->heads == NULL || bodies->items == NULL || !map_file(path, &left)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    bool good = take_head_count(&left, &bodies->head_count);
    for (size_t i = 0; good && i < bodies->head_count; i++)
        good = take_text(&left, &bodies->heads[i]);
    while (good && bodies->count < BODIES_MAX && take_text(&left, &bodies->items[bodies->count]))
        bodies->count++;
    if (good && left.len == 0 && bodies->count > 0)
        return true;
    fprintf(stderr, "%s: not a file that bodies.mjs writes\n", path);
    return false;
}
