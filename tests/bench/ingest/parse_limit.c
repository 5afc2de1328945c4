/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit: inflates and parses the bodies one after another, and does nothing with them.
 *
 * Prints microseconds of processor time per body. usage: parse_limit BODIES SECONDS
 */
#include "tests/bench/ingest/bodies.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <yyjson.h>

#define MAX_INFLATED (64u << 20)

static bool parse_once(struct libdeflate_decompressor *inflater, struct fp_str body, char *json)
{
    size_t json_len = 0;
    if (libdeflate_gzip_decompress(inflater, body.ptr, body.len, json, MAX_INFLATED, &json_len) !=
        LIBDEFLATE_SUCCESS)
        return false;
    yyjson_doc *document = yyjson_read(json, json_len, 0);
    yyjson_doc_free(document);
    return document != NULL;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct bodies bodies;
    if (argc != 3) {
        fprintf(stderr, "usage: parse_limit BODIES SECONDS\n");
        return 2;
    }
    if (!bodies_open(argv[1], &bodies))
        return 2;
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    char *json = malloc(MAX_INFLATED);
    double began = cpu_seconds();
    double until = began + strtod(argv[2], NULL);
    size_t count = 0;
    while (json != NULL && cpu_seconds() < until) {
        if (!parse_once(inflater, bodies.items[count++ % bodies.count], json)) {
            fprintf(stderr, "parse_limit: body %zu does not inflate to JSON\n", count);
            return 1;
        }
    }
    printf("{\"count\":%zu,\"cpu_us\":%.2f}\n", count,
           (cpu_seconds() - began) * 1e6 / (double)count);
    free(json);
    libdeflate_free_decompressor(inflater);
    return 0;
}
