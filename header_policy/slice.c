/* SPDX-License-Identifier: Apache-2.0 */
/* Borrowed text and the caller's buffer: the basic operations of header_policy. */
#include "slice.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

bool fleetprof_slice_equal(struct fleetprof_slice a, struct fleetprof_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool fleetprof_slice_is(struct fleetprof_slice text, struct fleetprof_slice wanted)
{
    size_t i;

    /* Nearly every comparison ends at the length or at the first letter. */
    if (text.len != wanted.len || text.len == 0) {
        return text.len == wanted.len;
    }
    if (lower(text.data[0]) != wanted.data[0]) {
        return false;
    }
    if (memcmp(text.data, wanted.data, text.len) == 0) {
        return true;
    }
    for (i = 0; i < text.len; i++) {
        if (lower(text.data[i]) != wanted.data[i]) {
            return false;
        }
    }
    return true;
}

struct fleetprof_slice fleetprof_slice_trim(struct fleetprof_slice text)
{
    while (text.len > 0 && is_blank(text.data[0])) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && is_blank(text.data[text.len - 1])) {
        text.len--;
    }
    return text;
}

bool fleetprof_is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

bool fleetprof_slice_split(struct fleetprof_slice *rest, char separator,
                           struct fleetprof_slice *part)
{
    const char *end;

    if (rest->data == NULL) {
        return false;
    }
    end = rest->len == 0 ? NULL : memchr(rest->data, separator, rest->len);
    *part = *rest;
    if (end == NULL) {
        *rest = (struct fleetprof_slice){NULL, 0};
    } else {
        part->len = (size_t)(end - rest->data);
        rest->data = end + 1;
        rest->len -= part->len + 1;
    }
    *part = fleetprof_slice_trim(*part);
    return true;
}

bool fleetprof_buffer_put(struct fleetprof_buffer *buffer, struct fleetprof_slice text)
{
    if (text.len > buffer->size - buffer->len) {
        return false;
    }
    if (text.len > 0) {
        memcpy(buffer->data + buffer->len, text.data, text.len);
        buffer->len += text.len;
    }
    return true;
}

struct fleetprof_slice fleetprof_buffer_text(const struct fleetprof_buffer *buffer)
{
    return (struct fleetprof_slice){buffer->data, buffer->len};
}
