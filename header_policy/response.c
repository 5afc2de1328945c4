/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Content-Type, Fetch Metadata, Accept and Cache-Control for the policy. */
#include "response.h"

#include <string.h>

/* Returns the media type without its parameters. */
static struct fleetprof_slice essence(struct fleetprof_slice content_type)
{
    struct fleetprof_slice type = {content_type.data, 0};

    while (type.len < content_type.len && content_type.data[type.len] != ';') {
        type.len++;
    }
    return fleetprof_slice_trim(type);
}

static bool is_any_of(struct fleetprof_slice text, const struct fleetprof_slice *set, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (fleetprof_slice_is(text, set[i])) {
            return true;
        }
    }
    return false;
}

static const struct fleetprof_slice default_types[] = {{"text/html", 9},
                                                       {"application/xhtml+xml", 21}};

const struct fleetprof_types fleetprof_default_types = {
    default_types, sizeof(default_types) / sizeof(default_types[0]), false};

/* True if the text is a token. */
static bool is_name(struct fleetprof_slice text)
{
    size_t i = 0;

    while (i < text.len && fleetprof_is_token_char(text.data[i])) {
        i++;
    }
    return i > 0 && i == text.len;
}

enum fleetprof_type_error fleetprof_type_check(struct fleetprof_slice type)
{
    struct fleetprof_slice name = {NULL, 0};

    if (type.len > 0 && memchr(type.data, ';', type.len) != NULL) {
        return FLEETPROF_TYPE_PARAMETER;
    }
    if (type.len > 0 && memchr(type.data, '*', type.len) != NULL) {
        return FLEETPROF_TYPE_WILDCARD;
    }
    (void)fleetprof_slice_split(&type, '/', &name);
    return is_name(name) && is_name(type) ? FLEETPROF_TYPE_OK : FLEETPROF_TYPE_SYNTAX;
}

const char *fleetprof_type_error_text(enum fleetprof_type_error error)
{
    switch (error) {
    case FLEETPROF_TYPE_SYNTAX:
        return "it is not a media type; write for example \"text/html\"";
    case FLEETPROF_TYPE_PARAMETER:
        return "types are compared without their parameters; leave out everything from the \";\"";
    case FLEETPROF_TYPE_WILDCARD:
        return "\"*\" stands for every type and can't be a part of one; name each type, or use "
               "\"*\" alone";
    case FLEETPROF_TYPE_OK:
    default:
        return "it is fine";
    }
}

bool fleetprof_is_document(const struct fleetprof_types *types, struct fleetprof_slice content_type)
{
    return types->any || is_any_of(essence(content_type), types->type, types->count);
}

static bool is_worker_destination(struct fleetprof_slice destination)
{
    static const struct fleetprof_slice workers[] = {{"worker", 6}, {"sharedworker", 12}};

    return is_any_of(destination, workers, sizeof(workers) / sizeof(workers[0]));
}

static bool is_document_destination(struct fleetprof_slice destination)
{
    static const struct fleetprof_slice documents[] = {
        {"document", 8}, {"iframe", 6}, {"frame", 5}, {"embed", 5}, {"object", 6}};

    return is_any_of(destination, documents, sizeof(documents) / sizeof(documents[0]));
}

/* True if the browser does not say where the response goes: fetch() by a page or a service worker.
 */
static bool is_unknown_destination(struct fleetprof_slice destination)
{
    return destination.len == 0 || fleetprof_slice_is(destination, FLEETPROF_SLICE("empty"));
}

static bool accepts_documents(const struct fleetprof_types *types, struct fleetprof_slice accept)
{
    struct fleetprof_slice range;

    while (fleetprof_slice_split(&accept, ',', &range)) {
        if (fleetprof_is_document(types, range)) {
            return true;
        }
    }
    return false;
}

bool fleetprof_has_policy(const struct fleetprof_types *types,
                          const struct fleetprof_exchange *exchange)
{
    if (fleetprof_is_document(types, exchange->content_type) ||
        is_worker_destination(exchange->sec_fetch_dest)) {
        return true;
    }
    if (exchange->content_type.len > 0 || !exchange->not_modified) {
        return false;
    }
    if (fleetprof_slice_is(exchange->sec_fetch_mode, FLEETPROF_SLICE("navigate"))) {
        return true;
    }
    if (!is_unknown_destination(exchange->sec_fetch_dest)) {
        return is_document_destination(exchange->sec_fetch_dest);
    }
    return accepts_documents(types, exchange->accept);
}

struct directive {
    struct fleetprof_slice name;
    struct fleetprof_slice argument;
    bool has_argument;
};

/* Returns the length of an argument: a comma inside double quotes does not end it. */
static size_t argument_len(struct fleetprof_slice text)
{
    bool quoted = false;
    size_t i;

    for (i = 0; i < text.len && (quoted || text.data[i] != ','); i++) {
        if (quoted && text.data[i] == '\\' && i + 1 < text.len) {
            i++;
        } else if (text.data[i] == '"') {
            quoted = !quoted;
        }
    }
    return i;
}

static void skip(struct fleetprof_slice *rest, size_t len)
{
    rest->data += len;
    rest->len -= len;
}

/* Takes one directive and its comma off the front. False: nothing is left. */
static bool take_directive(struct fleetprof_slice *rest, struct directive *directive)
{
    size_t i = 0;

    if (rest->len == 0) {
        return false;
    }
    while (i < rest->len && rest->data[i] != ',' && rest->data[i] != '=') {
        i++;
    }
    directive->name = fleetprof_slice_trim((struct fleetprof_slice){rest->data, i});
    skip(rest, i);
    directive->has_argument = rest->len > 0 && rest->data[0] == '=';
    if (directive->has_argument) {
        skip(rest, 1);
        i = argument_len(*rest);
        directive->argument = fleetprof_slice_trim((struct fleetprof_slice){rest->data, i});
        skip(rest, i);
    }
    skip(rest, rest->len > 0 ? 1 : 0);
    return true;
}

/* True if the number in `argument`, quoted or not, is above zero. */
static bool is_positive(struct fleetprof_slice argument)
{
    size_t i = argument.len > 0 && argument.data[0] == '"' ? 1 : 0;

    while (i < argument.len && argument.data[i] == '0') {
        i++;
    }
    return i < argument.len && argument.data[i] >= '1' && argument.data[i] <= '9';
}

static void add_directives(struct fleetprof_cache_control *control, struct fleetprof_slice line)
{
    struct directive directive;

    while (take_directive(&line, &directive)) {
        if (fleetprof_slice_is(directive.name, FLEETPROF_SLICE("public"))) {
            control->is_public = true;
        } else if (fleetprof_slice_is(directive.name, FLEETPROF_SLICE("private"))) {
            control->is_private = control->is_private || !directive.has_argument;
        } else if (fleetprof_slice_is(directive.name, FLEETPROF_SLICE("no-store"))) {
            control->no_store = true;
        } else if (fleetprof_slice_is(directive.name, FLEETPROF_SLICE("s-maxage"))) {
            control->s_maxage = true;
        } else if (fleetprof_slice_is(directive.name, FLEETPROF_SLICE("max-age"))) {
            control->has_max_age = true;
            control->max_age =
                control->max_age || (directive.has_argument && is_positive(directive.argument));
        }
    }
}

/* True for Surrogate-Control, CDN-Cache-Control and the like. */
static bool is_for_cdns(struct fleetprof_slice name)
{
    const struct fleetprof_slice end = FLEETPROF_SLICE("-cache-control");

    if (fleetprof_slice_is(name, FLEETPROF_SLICE("surrogate-control"))) {
        return true;
    }
    if (name.len <= end.len) {
        return false;
    }
    skip(&name, name.len - end.len);
    return fleetprof_slice_is(name, end);
}

void fleetprof_cache_control_add(struct fleetprof_cache_control *control,
                                 struct fleetprof_slice name, struct fleetprof_slice line)
{
    if (fleetprof_slice_is(name, FLEETPROF_SLICE("cache-control"))) {
        add_directives(control, line);
    } else if (is_for_cdns(name)) {
        struct fleetprof_cache_control targeted = {0};

        add_directives(&targeted, line);
        control->is_targeted = control->is_targeted || fleetprof_cache_control_is_shared(&targeted);
    }
}

bool fleetprof_cache_control_is_shared(const struct fleetprof_cache_control *control)
{
    const bool is_fresh = control->max_age || (control->expires && !control->has_max_age);

    if (control->is_targeted) {
        return true;
    }
    if (control->no_store) {
        return false;
    }
    return control->is_public || control->s_maxage || (is_fresh && !control->is_private);
}
