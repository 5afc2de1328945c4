/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words every room of the collector shares: byte slices, checked results, 128-bit ids.
 */
#ifndef FP_BASE_BASE_H
#define FP_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FP_MUST_CHECK __attribute__((warn_unused_result))
#define FP_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

/* Bytes that somebody else owns; not terminated by NUL. An absent text is {"" or NULL, 0}. */
struct fp_str {
    const char *ptr;
    size_t len;
};

/* The slice of a string literal. */
#define FP_STR(literal) ((struct fp_str){(literal), sizeof(literal) - 1})

/* The number of elements of an array. */
#define FP_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* For printf's "%.*s". */
#define FP_STR_ARG(str) (int)(str).len, (str).ptr

/* The slice of a NUL-terminated string. */
static inline struct fp_str fp_str_of(const char *text)
{
    return (struct fp_str){text, strlen(text)};
}

static inline bool fp_str_equal(struct fp_str a, struct fp_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Returns the text without its first len bytes. len is at most the text's length. */
static inline struct fp_str fp_str_skip(struct fp_str text, size_t len)
{
    return (struct fp_str){text.ptr + len, text.len - len};
}

static inline bool fp_str_has_prefix(struct fp_str text, struct fp_str prefix)
{
    return text.len >= prefix.len && fp_str_equal((struct fp_str){text.ptr, prefix.len}, prefix);
}

/* A list of texts. */
struct fp_str_list {
    struct fp_str *items;
    size_t count;
};

/* A UUID, in the byte order of its text form. */
struct fp_uuid {
    uint8_t bytes[16];
};

static inline bool fp_uuid_equal(const struct fp_uuid *a, const struct fp_uuid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

#endif
