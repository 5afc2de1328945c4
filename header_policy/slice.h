/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Borrowed text, and a caller's buffer with a fixed end: all the memory that header_policy uses.
 *
 * All functions of header_policy are pure: no I/O, no allocation, no state between calls, so any
 * thread may call any of them. The code runs inside other people's servers, hence the hidden
 * visibility.
 */
#ifndef FLEETPROF_SLICE_H
#define FLEETPROF_SLICE_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__GNUC__)
#define FLEETPROF_MUST_CHECK __attribute__((warn_unused_result))
#pragma GCC visibility push(hidden)
#else
#define FLEETPROF_MUST_CHECK
#endif

/* Maximum length of a field value we make, in bytes. A value that would exceed it is left
 * unchanged. */
#define FLEETPROF_FIELD_MAX 4096

/* Text with another owner: not terminated, never written to. `data` may be NULL if len is 0. */
struct fleetprof_slice {
    const char *data;
    size_t len;
};

#define FLEETPROF_SLICE(literal) ((struct fleetprof_slice){(literal), sizeof(literal) - 1})

/* The caller's memory, to write into. `len` bytes of `size` are used. */
struct fleetprof_buffer {
    char *data;
    size_t len;
    size_t size;
};

/* The result for a field. Only FLEETPROF_CHANGED comes with a new value to send. */
enum fleetprof_outcome {
    FLEETPROF_UNCHANGED, /* the existing lines already say it */
    FLEETPROF_CHANGED,   /* the buffer holds one line that replaces all lines */
    FLEETPROF_UNPARSABLE,
    FLEETPROF_TOO_LONG /* more than the buffer holds */
};

/* The lines of a field that one server instance got from the application, in order. */
struct fleetprof_lines {
    const struct fleetprof_slice *line;
    size_t count;
};

/* True if both hold the same bytes. */
bool fleetprof_slice_equal(struct fleetprof_slice a, struct fleetprof_slice b);

/* True for the same bytes, ignoring the case of ASCII letters. `lower` is already lower-case. */
bool fleetprof_slice_is(struct fleetprof_slice text, struct fleetprof_slice lower);

/* Returns `text` without leading and trailing spaces and tabs (RFC 9110 §5.6.3), in the same
 * memory. */
struct fleetprof_slice fleetprof_slice_trim(struct fleetprof_slice text);

/* True for the characters of a token (RFC 9110 §5.6.2). */
bool fleetprof_is_token_char(char c);

/*
 * Takes the part of `*rest` before the next `separator` off its front, trimmed. False once nothing
 * is left; an empty part is an empty slice. Double quotes are ordinary characters here.
 */
bool fleetprof_slice_split(struct fleetprof_slice *rest, char separator,
                           struct fleetprof_slice *part);

/* Appends `text`. False, with the buffer unchanged, when it does not fit. */
FLEETPROF_MUST_CHECK bool fleetprof_buffer_put(struct fleetprof_buffer *buffer,
                                               struct fleetprof_slice text);

/* Returns the used part of `buffer`: valid until the next write to the buffer. */
struct fleetprof_slice fleetprof_buffer_text(const struct fleetprof_buffer *buffer);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
