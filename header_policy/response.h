/*
 * What a response is, as far as the policy depends on it: a document or worker script at all, and
 * one that shared caches may hand to others?
 */
#ifndef FLEETPROF_RESPONSE_H
#define FLEETPROF_RESPONSE_H

#include "slice.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* The fields that tell, each empty when absent. */
struct fleetprof_exchange {
    struct fleetprof_slice content_type;   /* of the response, parameters and all */
    struct fleetprof_slice sec_fetch_dest; /* of the request */
    struct fleetprof_slice accept;         /* of the request */
    bool not_modified;                     /* a 304, which has often lost its content type */
};

/*
 * Will a browser make a document or a worker of it? Documents are text/html and
 * application/xhtml+xml; the script of a dedicated or shared worker counts whatever its type
 * (Fetch Metadata, `Sec-Fetch-Dest`). A 304 without a content type goes by the request alone.
 */
bool fleetprof_has_policy(const struct fleetprof_exchange *exchange);

/* What the Cache-Control lines of a response say so far. Starts as all zero. */
struct fleetprof_cache_control {
    bool is_public;
    bool is_private;
    bool no_store;
    bool s_maxage;
    bool max_age; /* above 0 */
};

/* Adds one field line (RFC 9111 §5.2). `private` with field names leaves the rest storable. */
void fleetprof_cache_control_add(struct fleetprof_cache_control *control,
                                 struct fleetprof_slice line);

/* May a shared cache store the response by what it says explicitly? */
bool fleetprof_cache_control_is_shared(const struct fleetprof_cache_control *control);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
