/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: which page loads of a site come from one client that loads pages again and again, such
 * as a monitor.
 *
 * A source is an address with a User-Agent. Tables of fixed size hold hashes and counts of one UTC
 * day, in memory only; their key is random and lasts as long. Nothing else learns an address or a
 * hash of it. An address with many User-Agents belongs to many visitors or to a proxy, and
 * has no sources. Any thread.
 */
#ifndef FP_INGEST_SOURCES_H
#define FP_INGEST_SOURCES_H

#include "collector/base/base.h"
#include "collector/base/uuid.h"

enum {
    FP_SOURCES_USUAL_MAX = 10,    /* page loads of a source and day; later ones are repeated */
    FP_SOURCES_SHARED_AGENTS = 8, /* User-Agents of an address, about, that many visitors share */
    FP_SOURCES_MAX = 128 * 1024,  /* of all sites; a new one evicts one with few page loads */
    FP_SOURCES_ADDRESSES_MAX = 64 * 1024, /* a new one evicts one with few User-Agents */
    FP_SOURCES_LOADS_MAX = 64 * 1024,     /* whose class is known; a new one evicts an old one */
};

struct fp_sources;

/* Returns NULL when memory is out. */
struct fp_sources *fp_sources_create(void) FP_MUST_CHECK;

/* NULL is fine. */
void fp_sources_free(struct fp_sources *sources);

/* A page load of which an upload has come. */
struct fp_source_load {
    uint64_t site_id;
    struct fp_str address; /* bytes; empty: not known */
    struct fp_str user_agent;
    struct fp_uuid load;
    bool is_page;   /* a visitor's page, not a worker or a frame of it */
    int64_t now_us; /* epoch */
};

/* Counts the page load, once, and returns whether its source repeats page loads. All uploads of a
 * page load get the same answer. False while nothing is known. */
bool fp_sources_is_repeated(struct fp_sources *sources,
                            const struct fp_source_load *load) FP_MUST_CHECK;

#endif
