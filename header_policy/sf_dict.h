/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a structured-field dictionary (RFC 9651) member by member, strictly, without allocating.
 *
 * A single syntax error makes a browser drop the whole field, so a caller that acts on members must
 * read to the end first. A key may occur twice: the last one wins.
 */
#ifndef FLEETPROF_SF_DICT_H
#define FLEETPROF_SF_DICT_H

#include "slice.h"

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

enum fleetprof_sf_type {
    FLEETPROF_SF_BOOLEAN,
    FLEETPROF_SF_INTEGER,
    FLEETPROF_SF_DECIMAL,
    FLEETPROF_SF_STRING,
    FLEETPROF_SF_TOKEN,
    FLEETPROF_SF_BYTES,
    FLEETPROF_SF_DATE,
    FLEETPROF_SF_DISPLAY_STRING,
    FLEETPROF_SF_INNER_LIST
};

/* One member. The slices point into the text that is read. */
struct fleetprof_sf_member {
    struct fleetprof_slice text; /* the whole member, parameters included, byte for byte */
    struct fleetprof_slice key;
    struct fleetprof_slice value; /* the item or list without parameters; empty for `key` alone */
    enum fleetprof_sf_type type;  /* `key` alone is a Boolean */
};

enum fleetprof_sf_step { FLEETPROF_SF_MEMBER, FLEETPROF_SF_END, FLEETPROF_SF_ERROR };

struct fleetprof_sf_reader {
    const char *at;
    const char *end;
    bool started;
};

/* Returns a reader at the start of `text`, which must outlive it. */
struct fleetprof_sf_reader fleetprof_sf_read(struct fleetprof_slice text);

/*
 * Reads the next member into `*member` (RFC 9651 §4.2.2). After FLEETPROF_SF_ERROR the reader's
 * `at` is the place of the error, and the reader must not be used again.
 */
FLEETPROF_MUST_CHECK enum fleetprof_sf_step fleetprof_sf_next(struct fleetprof_sf_reader *reader,
                                                              struct fleetprof_sf_member *member);

/*
 * Looks up `key` in a dictionary, the last one if there are several. False when the key is missing
 * or `text` is not a dictionary; `*member` is then unspecified.
 */
FLEETPROF_MUST_CHECK bool fleetprof_sf_find(struct fleetprof_slice text, struct fleetprof_slice key,
                                            struct fleetprof_sf_member *member);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
