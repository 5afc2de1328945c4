/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSP: source lists as CSP Level 3 §6.7.2 matches them.
 */
#include "cli/doctor/csp.h"

#include "cli/doctor/web_address.h"

#include <stdlib.h>
#include <strings.h>

/* Takes the next part in front of one of the separators off `rest`, trimmed. */
static bool take(struct fp_str *rest, const char *separators, struct fp_str *part)
{
    if (rest->ptr == NULL)
        return false;
    size_t len = 0;
    while (len < rest->len && strchr(separators, rest->ptr[len]) == NULL)
        len++;
    *part = (struct fp_str){rest->ptr, len};
    *rest = len < rest->len ? fp_str_skip(*rest, len + 1) : (struct fp_str){NULL, 0};
    while (part->len > 0 && (part->ptr[0] == ' ' || part->ptr[0] == '\t' || part->ptr[0] == '\n'))
        *part = fp_str_skip(*part, 1);
    return true;
}

static bool take_word(struct fp_str *rest, struct fp_str *word)
{
    while (take(rest, " \t\r\n", word))
        if (word->len > 0)
            return true;
    return false;
}

static bool is(struct fp_str text, const char *lower)
{
    return text.len == strlen(lower) && strncasecmp(text.ptr, lower, text.len) == 0;
}

/* Finds a directive by its name. Sets *text to all of it and *sources to what follows its name. The
 * first of a name counts. */
static bool find(struct fp_str policy, const char *name, struct fp_str *text,
                 struct fp_str *sources)
{
    struct fp_str directive, word;
    while (take(&policy, ";", &directive)) {
        *text = directive;
        *sources = directive;
        if (take_word(sources, &word) && is(word, name))
            return true;
    }
    return false;
}

/* ---- one source ---- */

static bool match_scheme(struct fp_str scheme, const struct fp_web_address *url)
{
    return is(scheme, url->scheme) || (is(scheme, "http") && strcmp(url->scheme, "https") == 0);
}

static bool match_host(struct fp_str pattern, const char *host)
{
    if (is(pattern, "*"))
        return true;
    if (!fp_str_has_prefix(pattern, FP_STR("*.")))
        return is(pattern, host);
    const struct fp_str end = fp_str_skip(pattern, 1);
    size_t len = strlen(host);
    return len > end.len && strncasecmp(host + len - end.len, end.ptr, end.len) == 0;
}

static const char *port_of_scheme(const char *scheme)
{
    return strcmp(scheme, "https") == 0 ? "443" : "80";
}

static bool match_port(struct fp_str port, const struct fp_web_address *url)
{
    if (is(port, "*"))
        return true;
    if (port.len == 0)
        return strcmp(url->port, port_of_scheme(url->scheme)) == 0;
    return is(port, url->port) || (is(port, "80") && strcmp(url->port, "443") == 0);
}

/* A path that ends with a slash matches all below it. */
static bool match_path(struct fp_str path, const char *url_path)
{
    if (path.len <= 1)
        return true;
    if (path.ptr[path.len - 1] == '/')
        return strncmp(url_path, path.ptr, path.len) == 0;
    return path.len == strlen(url_path) && strncmp(url_path, path.ptr, path.len) == 0;
}

static bool match_host_source(struct fp_str source, const struct fp_web_address *page,
                              const struct fp_web_address *url)
{
    struct fp_str scheme = fp_str_of(page->scheme), port = {"", 0}, path = {"", 0};
    const char *mark = memmem(source.ptr, source.len, "://", 3);
    if (mark != NULL) {
        scheme = (struct fp_str){source.ptr, (size_t)(mark - source.ptr)};
        source = fp_str_skip(source, scheme.len + 3);
    }
    const char *slash = source.len > 0 ? memchr(source.ptr, '/', source.len) : NULL;
    if (slash != NULL) {
        size_t len = (size_t)(slash - source.ptr);
        path = fp_str_skip(source, len);
        source.len = len;
    }
    const char *colon = source.len > 0 ? memrchr(source.ptr, ':', source.len) : NULL;
    if (colon != NULL) {
        size_t len = (size_t)(colon - source.ptr);
        port = fp_str_skip(source, len + 1);
        source.len = len;
    }
    return match_scheme(scheme, url) && match_host(source, url->host) && match_port(port, url) &&
           match_path(path, url->path);
}

static bool match_self(const struct fp_web_address *page, const struct fp_web_address *url)
{
    if (strcmp(page->host, url->host) != 0)
        return false;
    if (strcmp(page->scheme, url->scheme) == 0)
        return strcmp(page->port, url->port) == 0;
    return strcmp(page->scheme, "http") == 0 &&
           strcmp(page->port, port_of_scheme(page->scheme)) == 0 &&
           strcmp(url->port, port_of_scheme(url->scheme)) == 0;
}

/* Matches a source other than keywords in quotes. */
static bool match_url(struct fp_str source, const struct fp_web_address *page,
                      const struct fp_web_address *url)
{
    if (is(source, "'self'"))
        return match_self(page, url);
    if (source.ptr[0] == '\'')
        return false;
    if (is(source, "*"))
        return true;
    if (source.ptr[source.len - 1] == ':')
        return match_scheme((struct fp_str){source.ptr, source.len - 1}, url);
    return match_host_source(source, page, url);
}

/* True for 'PREFIX…VALUE', as with nonces and hashes. */
static bool is_quoted(struct fp_str source, const char *prefix, struct fp_str value)
{
    size_t len = strlen(prefix);
    return source.len == len + value.len + 2 && source.ptr[0] == '\'' &&
           strncasecmp(source.ptr + 1, prefix, len) == 0 &&
           memcmp(source.ptr + 1 + len, value.ptr, value.len) == 0;
}

/* True if the source is one of the hashes in the integrity attribute. */
static bool match_integrity(struct fp_str source, const char *integrity)
{
    struct fp_str rest = fp_str_of(integrity), hash;
    while (take_word(&rest, &hash))
        if (is_quoted(source, "", hash))
            return true;
    return false;
}

static bool match_tag(struct fp_str source, const struct fp_csp_question *question)
{
    return (question->nonce != NULL && question->nonce[0] != '\0' &&
            is_quoted(source, "nonce-", fp_str_of(question->nonce))) ||
           (question->integrity != NULL && match_integrity(source, question->integrity));
}

/* ---- a list ---- */

struct sources {
    struct fp_str text;
    const struct fp_csp_question *question;
    bool is_script; /* nonces, hashes and 'strict-dynamic' count */
};

static bool has_keyword(struct fp_str sources, const char *keyword)
{
    struct fp_str source;
    while (take_word(&sources, &source))
        if (is(source, keyword))
            return true;
    return false;
}

static bool match_list(const struct sources *list, const struct fp_web_address *page,
                       const struct fp_web_address *url)
{
    struct fp_str rest = list->text, source;
    const bool by_tag_only = list->is_script && has_keyword(list->text, "'strict-dynamic'");
    while (take_word(&rest, &source)) {
        if (list->is_script && match_tag(source, list->question))
            return true;
        if (!by_tag_only && match_url(source, page, url))
            return true;
    }
    return false;
}

static bool match(const struct sources *list)
{
    struct fp_web_address page, url;
    if (!fp_web_address_parse(list->question->page_url, &page))
        return false;
    bool fine = fp_web_address_parse(list->question->url, &url);
    if (fine) {
        fine = match_list(list, &page, &url);
        fp_web_address_release(&url);
    }
    fp_web_address_release(&page);
    return fine;
}

/* True if the first of these directives that each policy has allows the URL. */
static bool allows(const char *policies, const char *const names[], struct sources *list,
                   struct fp_str *directive)
{
    struct fp_str rest = fp_str_of(policies), policy;
    while (take(&rest, ",", &policy)) {
        for (size_t i = 0; names[i] != NULL; i++) {
            if (!find(policy, names[i], directive, &list->text))
                continue;
            if (!match(list))
                return false;
            break;
        }
    }
    return true;
}

/* The first that a policy has decides. */
static const char *const script_directives[] = {"script-src-elem", "script-src", "default-src",
                                                NULL};
static const char *const connect_directives[] = {"connect-src", "default-src", NULL};

bool fp_csp_allows_script(const char *policy, const struct fp_csp_question *question,
                          struct fp_str *directive)
{
    struct sources list = {.question = question, .is_script = true};
    return allows(policy, script_directives, &list, directive);
}

bool fp_csp_allows_connect(const char *policy, const struct fp_csp_question *question,
                           struct fp_str *directive)
{
    struct sources list = {.question = question};
    return allows(policy, connect_directives, &list, directive);
}

bool fp_csp_sandboxes(const char *policies, const char *flag)
{
    struct fp_str rest = fp_str_of(policies), policy, text, flags;
    while (take(&rest, ",", &policy))
        if (find(policy, "sandbox", &text, &flags) && !has_keyword(flags, flag))
            return true;
    return false;
}
