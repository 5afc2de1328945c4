/*
 * Bodies: each request stands behind its length and its body's length, 32 bits each, little endian.
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

enum { BODIES_MAX = 100000 };

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

/* Takes the first request off what is left of the file. */
static bool take_request(struct fp_str *left, struct bodies_request *request)
{
    uint32_t lengths[2];
    if (left->len < sizeof(lengths))
        return false;
    memcpy(lengths, left->ptr, sizeof(lengths));
    size_t whole_len = le32toh(lengths[0]);
    size_t body_len = le32toh(lengths[1]);
    if (whole_len > left->len - sizeof(lengths) || body_len > whole_len)
        return false;
    const char *whole = left->ptr + sizeof(lengths);
    request->whole = (struct fp_str){whole, whole_len};
    request->body = (struct fp_str){whole + whole_len - body_len, body_len};
    left->ptr = whole + whole_len;
    left->len -= sizeof(lengths) + whole_len;
    return true;
}

bool bodies_open(const char *path, struct bodies *bodies)
{
    struct fp_str left;
    *bodies = (struct bodies){.requests = calloc(BODIES_MAX, sizeof(*bodies->requests))};
    if (bodies->requests == NULL || !map_file(path, &left)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    while (bodies->count < BODIES_MAX && take_request(&left, &bodies->requests[bodies->count]))
        bodies->count++;
    if (left.len == 0)
        return true;
    fprintf(stderr, "%s: not a file that bodies.mjs writes\n", path);
    return false;
}
