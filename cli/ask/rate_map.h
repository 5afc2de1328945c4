/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rate map: sample rates of routes, as a web server reads them from its configuration.
 *
 * A route is a text that anybody may have sent, so nothing of it but letters, digits and a few
 * marks gets into the file as it is. One thread.
 */
#ifndef FP_CLI_ASK_RATE_MAP_H
#define FP_CLI_ASK_RATE_MAP_H

#include "collector/base/base.h"

#include <stdio.h>

enum fp_rate_server { FP_RATE_NGINX, FP_RATE_HTTPD };

struct fp_route_rate {
    const char *route; /* NULL: all others */
    size_t place;      /* of routes of the same addresses, the lowest has the rate */
    int64_t ppm;
};

/* Writes the first line of the file, with its line end, into a text of FP_RATE_HEAD_MAX bytes: it
 * is the same for all files of an hour. site is the caller's. */
enum { FP_RATE_HEAD_MAX = 512 };
void fp_rate_map_head(enum fp_rate_server server, const char *site, int64_t now_us, char *head);

/* Writes the rest. Puts the rates into another order; the routes stay the caller's. */
void fp_rate_map_write(enum fp_rate_server server, const char *site, struct fp_route_rate *rates,
                       size_t count, FILE *stream);

#endif
