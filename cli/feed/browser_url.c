/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Browser URL: scheme and host in lower case, the rest percent-encoded.
 */
#include "cli/feed/browser_url.h"

#include "cli/kit/memory.h"

#include <ctype.h>

static bool is_encoded(unsigned char c, const char *also)
{
    return c <= ' ' || c > '~' || strchr("\"<>`{}", c) != NULL || strchr(also, c) != NULL;
}

/* The length of scheme and host with its port; 0 for a text without a host. */
static size_t origin_len(const char *url)
{
    const char *mark = strstr(url, "://");
    if (mark == NULL || strcspn(url, "/?#") < (size_t)(mark + 1 - url))
        return 0;
    return (size_t)(mark + 3 - url) + strcspn(mark + 3, "/?#");
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t end_len = strlen(end);
    return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* The length of an origin, in lower case, without a default port. */
static size_t without_default_port(const char *origin, size_t len)
{
    if (strncmp(origin, "https:", 6) == 0 && ends_with(origin, len, ":443"))
        return len - 4;
    if (strncmp(origin, "http:", 5) == 0 && ends_with(origin, len, ":80"))
        return len - 3;
    return len;
}

char *fp_browser_url(const char *url, const char *also)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t origin = origin_len(url);
    char *written = fp_memory_need(malloc(3 * strlen(url) + 1));
    for (size_t i = 0; i < origin; i++)
        written[i] = (char)tolower((unsigned char)url[i]);
    char *end = written + without_default_port(written, origin);
    for (const char *next = url + origin; *next != '\0'; next++) {
        unsigned char c = (unsigned char)*next;
        if (!is_encoded(c, also)) {
            *end++ = (char)c;
            continue;
        }
        *end++ = '%';
        *end++ = digits[c >> 4];
        *end++ = digits[c & 15];
    }
    *end = '\0';
    return written;
}
