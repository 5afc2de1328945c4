/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multipart: finds delimiters in a body that is completely in memory.
 *
 * A delimiter is CRLF, two hyphens and the boundary, then either two hyphens (the last one) or
 * blanks and CRLF. The first one may be at the very beginning, without its CRLF.
 */
#include "collector/ingest/multipart.h"

enum { BOUNDARY_MAX = 70, PREFIX_LEN = 4 /* CRLF and two hyphens */ };

bool fp_multipart_boundary_ok(struct fp_str boundary)
{
    static const char marks[] = "'()+_,-./:=? ";
    if (boundary.len == 0 || boundary.len > BOUNDARY_MAX || boundary.ptr[boundary.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < boundary.len; i++) {
        char c = boundary.ptr[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!alnum && (c == '\0' || strchr(marks, c) == NULL))
            return false;
    }
    return true;
}

struct delimiter {
    size_t start; /* of its CRLF */
    size_t end;   /* the byte after it */
    bool is_last;
};

/* True if the bytes after prefix and boundary at `at` complete a delimiter. */
static bool ends_delimiter(struct fp_str body, size_t at, struct delimiter *found)
{
    if (body.len - at >= 2 && memcmp(body.ptr + at, "--", 2) == 0) {
        found->is_last = true;
        found->end = at + 2;
        return true;
    }
    while (at < body.len && (body.ptr[at] == ' ' || body.ptr[at] == '\t'))
        at++;
    found->is_last = false;
    found->end = at + 2;
    return body.len - at >= 2 && memcmp(body.ptr + at, "\r\n", 2) == 0;
}

static bool find_delimiter(const struct fp_multipart *multipart, size_t from,
                           struct delimiter *found)
{
    struct fp_str body = multipart->body;
    char text[PREFIX_LEN + BOUNDARY_MAX] = "\r\n--";
    size_t len = PREFIX_LEN + multipart->boundary.len;
    memcpy(text + PREFIX_LEN, multipart->boundary.ptr, multipart->boundary.len);

    if (from == 0 && body.len >= len - 2 && memcmp(body.ptr, text + 2, len - 2) == 0 &&
        ends_delimiter(body, len - 2, found)) {
        found->start = 0;
        return true;
    }
    while (from < body.len) {
        const char *at = memmem(body.ptr + from, body.len - from, text, len);
        if (at == NULL)
            return false;
        found->start = (size_t)(at - body.ptr);
        if (ends_delimiter(body, found->start + len, found))
            return true;
        from = found->start + len;
    }
    return false;
}

/* Finds where the content begins: after the empty line that ends the headers. */
static bool skip_headers(const struct fp_multipart *multipart, size_t end, size_t *content)
{
    const char *start = multipart->body.ptr + multipart->at;
    size_t len = end - multipart->at;
    if (len >= 2 && memcmp(start, "\r\n", 2) == 0) {
        *content = multipart->at + 2;
        return true;
    }
    const char *blank = memmem(start, len, "\r\n\r\n", 4);
    if (blank == NULL)
        return false;
    *content = (size_t)(blank - multipart->body.ptr) + 4;
    return true;
}

enum fp_multipart_step fp_multipart_next(struct fp_multipart *multipart, struct fp_str *part)
{
    struct delimiter delimiter;
    if (multipart->at == 0) {
        if (!find_delimiter(multipart, 0, &delimiter))
            return FP_MULTIPART_BROKEN;
        multipart->at = delimiter.end;
        multipart->closed = delimiter.is_last;
    }
    if (multipart->closed)
        return FP_MULTIPART_END;

    size_t content;
    if (!find_delimiter(multipart, multipart->at, &delimiter) ||
        !skip_headers(multipart, delimiter.start + 2, &content))
        return FP_MULTIPART_BROKEN;
    /* The delimiter's own CRLF is also the empty line, so the part is empty. */
    if (content > delimiter.start)
        content = delimiter.start;
    *part = (struct fp_str){multipart->body.ptr + content, delimiter.start - content};
    multipart->at = delimiter.end;
    multipart->closed = delimiter.is_last;
    return FP_MULTIPART_PART;
}
