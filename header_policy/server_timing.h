/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-Timing: removes our member from the application's lines.
 *
 * The value is a comma list of metrics, `name;parameter=value;…` (W3C Server Timing). Browsers read
 * the lines as one list and stop at the first byte that they do not understand. So our member gets
 * a line of its own before the application's: nothing that the application sends can hide it, and a
 * search for the first metric of our name finds ours.
 */
#ifndef FLEETPROF_SERVER_TIMING_H
#define FLEETPROF_SERVER_TIMING_H

#include "slice.h"

/* The server's share of the time to first byte, in whole ms, and what its cache says. They are
 * additional to our member. */
#define FLEETPROF_TIMING_SERVER ", fleetprof-server;dur="
#define FLEETPROF_TIMING_CACHE ", fleetprof-cache;desc="

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* True if a metric in `line` is named "fleetprof", byte for byte. */
bool fleetprof_server_timing_names_us(struct fleetprof_slice line);

/*
 * Copies `line` to `others`, which has room for line.len bytes, without the metrics that are named
 * "fleetprof". Returns the length. All other metrics keep every byte.
 */
size_t fleetprof_server_timing_others(struct fleetprof_slice line, char *others);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
