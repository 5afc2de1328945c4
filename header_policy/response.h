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

/* Which media types make a document. */
struct fleetprof_types {
    const struct fleetprof_slice *type; /* in lower case, without parameters */
    size_t count;
    bool any; /* every response is one */
};

/* text/html and application/xhtml+xml. */
extern const struct fleetprof_types fleetprof_default_types;

enum fleetprof_type_error {
    FLEETPROF_TYPE_OK,
    FLEETPROF_TYPE_SYNTAX,
    FLEETPROF_TYPE_PARAMETER,
    FLEETPROF_TYPE_WILDCARD
};

/* May `type` be configured? Accepts type/subtype (RFC 9110 §8.3.1) in any case. */
FLEETPROF_MUST_CHECK enum fleetprof_type_error fleetprof_type_check(struct fleetprof_slice type);

/* What is wrong and what would be right, for an administrator: constant text, no full stop. */
const char *fleetprof_type_error_text(enum fleetprof_type_error error);

/* Is a response of this Content-Type, parameters and all, a document? An absent type is none. */
bool fleetprof_is_document(const struct fleetprof_types *types,
                           struct fleetprof_slice content_type);

/* The fields that tell, each empty when absent. */
struct fleetprof_exchange {
    struct fleetprof_slice content_type;   /* of the response, parameters and all */
    struct fleetprof_slice sec_fetch_dest; /* of the request */
    struct fleetprof_slice sec_fetch_mode; /* of the request */
    struct fleetprof_slice accept;         /* of the request */
    bool not_modified;                     /* a 304, which has often lost its content type */
};

/*
 * True if a browser makes a document or a worker of the response. Documents are what `types` says;
 * the script of a dedicated or shared worker counts whatever its type (Fetch Metadata,
 * `Sec-Fetch-Dest`). A 304 without a content type goes by the request alone: a navigation counts,
 * else its destination decides, else whether one of `types` stands in its Accept. A service worker
 * that passes a navigation on has the destination "empty"; its mode is still "navigate", unless the
 * request is not the browser's own but a copy.
 */
bool fleetprof_has_policy(const struct fleetprof_types *types,
                          const struct fleetprof_exchange *exchange);

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
