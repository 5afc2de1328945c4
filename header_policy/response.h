/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies a response for the policy: is it a document or worker script, and may shared caches
 * store it?
 */
#ifndef FLEETPROF_RESPONSE_H
#define FLEETPROF_RESPONSE_H

#include "slice.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* The media types that make a document. */
struct fleetprof_types {
    const struct fleetprof_slice *type; /* in lower case, without parameters */
    size_t count;
    bool any; /* every response is a document */
};

/* text/html and application/xhtml+xml. */
extern const struct fleetprof_types fleetprof_default_types;

enum fleetprof_type_error {
    FLEETPROF_TYPE_OK,
    FLEETPROF_TYPE_SYNTAX,
    FLEETPROF_TYPE_PARAMETER,
    FLEETPROF_TYPE_WILDCARD
};

/* Checks a type for the configuration. Accepts type/subtype (RFC 9110 §8.3.1) in any case. */
FLEETPROF_MUST_CHECK enum fleetprof_type_error fleetprof_type_check(struct fleetprof_slice type);

/* Returns what is wrong and what would be right, for an administrator: constant text, no full
 * stop. */
const char *fleetprof_type_error_text(enum fleetprof_type_error error);

/* True if a response of this Content-Type, with its parameters, is a document. An absent type is a
 * document only if `types` says that every response is. */
bool fleetprof_is_document(const struct fleetprof_types *types,
                           struct fleetprof_slice content_type);

/* The fields that decide, each empty when absent. */
struct fleetprof_exchange {
    struct fleetprof_slice content_type;   /* of the response, parameters and all */
    struct fleetprof_slice sec_fetch_dest; /* of the request */
    struct fleetprof_slice sec_fetch_mode; /* of the request */
    struct fleetprof_slice accept;         /* of the request */
    bool not_modified;                     /* a 304, which often lacks its content type */
};

/*
 * True if a browser makes a document or a worker of the response. `types` decides for documents.
 * The script of a dedicated or shared worker counts whatever its type (Fetch Metadata,
 * `Sec-Fetch-Dest`). For a 304 without a content type only the request decides: a navigation
 * counts; otherwise its destination decides; if that is absent or "empty", whether its Accept names
 * one of `types`. A service worker that passes a navigation on has the destination "empty"; its
 * mode is still "navigate", unless the request is a copy and not the browser's own.
 */
bool fleetprof_has_policy(const struct fleetprof_types *types,
                          const struct fleetprof_exchange *exchange);

/* Facts about shared caches from the fields read so far. Starts as all zero. */
struct fleetprof_cache_control {
    bool is_public;
    bool is_private;
    bool no_store;
    bool s_maxage;
    bool max_age;     /* above 0 */
    bool has_max_age; /* of any value: Expires does not count then */
    bool expires;     /* Expires lies ahead; the caller parses it */
    bool is_targeted; /* a field for CDNs alone lets them store the response */
};

/*
 * Adds one field line: of Cache-Control (RFC 9111 §5.2), where `private` with field names leaves
 * the rest of the response storable, or of a field for CDNs, which overrides it there:
 * Surrogate-Control, and names that end in -Cache-Control (RFC 9213 §2). Skips other fields.
 */
void fleetprof_cache_control_add(struct fleetprof_cache_control *control,
                                 struct fleetprof_slice name, struct fleetprof_slice line);

/* True if the explicit directives or the date let a shared cache store the response. */
bool fleetprof_cache_control_is_shared(const struct fleetprof_cache_control *control);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
