/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Web address: a thin cover of curl_url.
 */
#include "cli/doctor/web_address.h"

#include "cli/kit/memory.h"

#include <curl/curl.h>
#include <stdlib.h>

static void need(CURLUcode code)
{
    if (code == CURLUE_OUT_OF_MEMORY)
        fp_memory_end();
}

/* Returns a part, or NULL if the URL does not have it. */
static char *part_of(CURLU *handle, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    need(curl_url_get(handle, part, &text, flags));
    if (text == NULL)
        return NULL;
    /* libcurl's memory has its own free. */
    char *copy = fp_memory_copy(text);
    curl_free(text);
    return copy;
}

static void to_lower(char *text)
{
    for (; *text != '\0'; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
}

static bool is_web(CURLU *handle)
{
    char *scheme = NULL;
    need(curl_url_get(handle, CURLUPART_SCHEME, &scheme, 0));
    bool fine = scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    curl_free(scheme);
    return fine;
}

bool fp_web_address_parse(const char *url, struct fp_web_address *address)
{
    CURLU *handle = fp_memory_need(curl_url());
    CURLUcode code = curl_url_set(handle, CURLUPART_URL, url, 0);
    need(code);
    bool fine = code == CURLUE_OK && is_web(handle);
    *address = (struct fp_web_address){0};
    if (fine) {
        *address = (struct fp_web_address){
            .scheme = part_of(handle, CURLUPART_SCHEME, 0),
            .host = part_of(handle, CURLUPART_HOST, 0),
            .port = part_of(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT),
            .path = part_of(handle, CURLUPART_PATH, 0),
            .user = part_of(handle, CURLUPART_USER, CURLU_URLDECODE),
            .password = part_of(handle, CURLUPART_PASSWORD, CURLU_URLDECODE),
        };
        to_lower(address->scheme);
        to_lower(address->host);
    }
    curl_url_cleanup(handle);
    return fine;
}

void fp_web_address_release(struct fp_web_address *address)
{
    free(address->scheme);
    free(address->host);
    free(address->port);
    free(address->path);
    free(address->user);
    free(address->password);
    *address = (struct fp_web_address){0};
}

char *fp_web_resolve(const char *base, const char *reference)
{
    CURLU *handle = fp_memory_need(curl_url());
    CURLUcode code = curl_url_set(handle, CURLUPART_URL, base, 0);
    need(code);
    if (code == CURLUE_OK && reference[0] != '\0') {
        code = curl_url_set(handle, CURLUPART_URL, reference, CURLU_URLENCODE);
        need(code);
    }
    char *url = NULL;
    if (code == CURLUE_OK && is_web(handle)) {
        need(curl_url_set(handle, CURLUPART_USER, NULL, 0));
        need(curl_url_set(handle, CURLUPART_PASSWORD, NULL, 0));
        need(curl_url_set(handle, CURLUPART_FRAGMENT, NULL, 0));
        url = part_of(handle, CURLUPART_URL, CURLU_NO_DEFAULT_PORT);
    }
    curl_url_cleanup(handle);
    return url;
}

/* True if the port is the scheme's own, which an origin leaves out. */
static bool has_own_port(const struct fp_web_address *address)
{
    return strcmp(address->port, strcmp(address->scheme, "https") == 0 ? "443" : "80") == 0;
}

char *fp_web_origin(const char *url)
{
    struct fp_web_address address;
    if (!fp_web_address_parse(url, &address))
        return NULL;
    char *origin = has_own_port(&address)
                       ? fp_memory_print("%s://%s", address.scheme, address.host)
                       : fp_memory_print("%s://%s:%s", address.scheme, address.host, address.port);
    fp_web_address_release(&address);
    return origin;
}

bool fp_web_same_origin(const char *one, const char *other)
{
    char *a = fp_web_origin(one), *b = fp_web_origin(other);
    bool same = a != NULL && b != NULL && strcmp(a, b) == 0;
    free(a);
    free(b);
    return same;
}

char *fp_web_with(const char *url, const char *parameter)
{
    return fp_memory_print("%s%c%s", url, strchr(url, '?') != NULL ? '&' : '?', parameter);
}
