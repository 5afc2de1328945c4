/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page: walks Gumbo's tree without recursion, so that depth costs nothing.
 */
#include "cli/doctor/page.h"

#include "cli/kit/memory.h"

#include <gumbo.h>
#include <stdlib.h>
#include <strings.h>

enum { TAG_SHOWN_MAX = 300 };

struct page_walk {
    struct fp_page *page;
    struct fp_arena *arena;
};

static const char *keep(struct page_walk *walk, const char *text, size_t len)
{
    struct fp_str copy;
    if (!fp_arena_copy(walk->arena, (struct fp_str){text, len}, &copy))
        fp_memory_end();
    return copy.ptr;
}

/* Returns an attribute's value in the arena, NULL if the element does not have it. */
static const char *value_of(struct page_walk *walk, const GumboElement *element, const char *name)
{
    const GumboAttribute *attribute = gumbo_get_attribute(&element->attributes, name);
    return attribute != NULL ? keep(walk, attribute->value, strlen(attribute->value)) : NULL;
}

static bool has(const GumboElement *element, const char *name)
{
    return gumbo_get_attribute(&element->attributes, name) != NULL;
}

bool fp_page_is_agent(const char *src)
{
    size_t end = strcspn(src, "?#"), start = end;
    while (start > 0 && src[start - 1] != '/')
        start--;
    const struct fp_str name = {src + start, end - start};
    return fp_str_has_prefix(name, FP_STR("fleetprof")) &&
           (memcmp(name.ptr + name.len - 3, ".js", 3) == 0 ||
            memcmp(name.ptr + name.len - 4, ".mjs", 4) == 0);
}

/* The types of classic scripts (HTML, "JavaScript MIME type") that pages use. */
static const char *const classic_types[] = {
    "",
    "text/javascript",
    "application/javascript",
    "application/x-javascript",
    "application/ecmascript",
    "text/ecmascript",
    "text/jscript",
};

static bool is_classic(const char *type)
{
    for (size_t i = 0; i < FP_COUNT(classic_types); i++)
        if (strcasecmp(type, classic_types[i]) == 0)
            return true;
    return false;
}

/* True unless the document's own body tag stands before. Gumbo parses as if scripting were off: an
 * image in a noscript element of the head begins an implied body, which browsers do not see. */
static bool is_before_body(const GumboNode *node)
{
    for (; node != NULL && node->type != GUMBO_NODE_DOCUMENT; node = node->parent)
        if (node->type == GUMBO_NODE_ELEMENT && node->v.element.tag == GUMBO_TAG_BODY)
            return node->v.element.original_tag.length == 0;
    return true;
}

static bool makes_workers(const GumboElement *element)
{
    if (element->children.length == 0)
        return false;
    const GumboNode *text = element->children.data[0];
    return text->type == GUMBO_NODE_TEXT &&
           (strstr(text->v.text.text, "new Worker(") != NULL ||
            strstr(text->v.text.text, "new SharedWorker(") != NULL);
}

static void read_data(struct page_walk *walk, const GumboElement *element,
                      struct fp_page_script *script)
{
    for (unsigned i = 0; i < element->attributes.length; i++) {
        const GumboAttribute *attribute = element->attributes.data[i];
        if (strncmp(attribute->name, "data-", 5) != 0 || script->data_count == FP_PAGE_DATA_MAX)
            continue;
        script->data[script->data_count++] =
            (struct fp_page_data){keep(walk, attribute->name + 5, strlen(attribute->name + 5)),
                                  keep(walk, attribute->value, strlen(attribute->value))};
    }
}

/* Returns the start tag as the document has it. */
static const char *tag_of(struct page_walk *walk, const GumboElement *element)
{
    size_t len = element->original_tag.length;
    return keep(walk, element->original_tag.data, len < TAG_SHOWN_MAX ? len : TAG_SHOWN_MAX);
}

static void read_script(struct page_walk *walk, const GumboNode *node)
{
    const GumboElement *element = &node->v.element;
    struct fp_page *page = walk->page;
    const char *type = value_of(walk, element, "type");
    const char *src = value_of(walk, element, "src");
    const bool is_module = type != NULL && strcasecmp(type, "module") == 0;
    if (type != NULL && !is_module && !is_classic(type)) {
        if (src != NULL && fp_page_is_agent(src) && page->inert_agent == NULL)
            page->inert_agent = tag_of(walk, element);
        return;
    }
    if (page->script_count == FP_PAGE_SCRIPTS_MAX) {
        page->has_more_scripts = true;
        return;
    }
    struct fp_page_script *script = &page->scripts[page->script_count++];
    *script = (struct fp_page_script){
        .src = src,
        .crossorigin = value_of(walk, element, "crossorigin"),
        .integrity = value_of(walk, element, "integrity"),
        .nonce = value_of(walk, element, "nonce"),
        .tag = tag_of(walk, element),
        .is_module = is_module,
        .has_async = has(element, "async"),
        .has_defer = has(element, "defer"),
        .is_in_head = is_before_body(node),
        .makes_workers = src == NULL && makes_workers(element),
    };
    read_data(walk, element, script);
}

static void read_meta(struct page_walk *walk, const GumboElement *element)
{
    const char *name = value_of(walk, element, "http-equiv");
    const char *content = value_of(walk, element, "content");
    if (name == NULL || content == NULL)
        return;
    if (strcasecmp(name, "Document-Policy") == 0)
        walk->page->has_policy_meta = true;
    if (strcasecmp(name, "Content-Security-Policy") == 0 &&
        walk->page->csp_count < FP_PAGE_METAS_MAX)
        walk->page->csp[walk->page->csp_count++] = content;
}

static void read_element(struct page_walk *walk, const GumboNode *node)
{
    const GumboElement *element = &node->v.element;
    if (element->tag == GUMBO_TAG_SCRIPT && element->tag_namespace == GUMBO_NAMESPACE_HTML)
        read_script(walk, node);
    else if (element->tag == GUMBO_TAG_META)
        read_meta(walk, element);
    else if (element->tag == GUMBO_TAG_BASE && walk->page->base == NULL)
        walk->page->base = value_of(walk, element, "href");
}

/* True for a node whose contents the browser does not run. */
static bool is_inert(const GumboNode *node)
{
    return node->type == GUMBO_NODE_TEMPLATE ||
           (node->type == GUMBO_NODE_ELEMENT && node->v.element.tag == GUMBO_TAG_NOSCRIPT);
}

static const GumboVector *children_of(const GumboNode *node)
{
    if (node->type == GUMBO_NODE_DOCUMENT)
        return &node->v.document.children;
    return node->type == GUMBO_NODE_ELEMENT && !is_inert(node) ? &node->v.element.children : NULL;
}

/* Returns the node after this one and its children, NULL at the end of the tree. */
static const GumboNode *after(const GumboNode *node)
{
    for (; node->parent != NULL; node = node->parent) {
        const GumboVector *siblings = children_of(node->parent);
        if (siblings != NULL && node->index_within_parent + 1 < siblings->length)
            return siblings->data[node->index_within_parent + 1];
    }
    return NULL;
}

static const GumboNode *next(const GumboNode *node)
{
    const GumboVector *children = children_of(node);
    return children != NULL && children->length > 0 ? children->data[0] : after(node);
}

static void *allocate(void *context, size_t size)
{
    (void)context;
    return fp_memory_need(malloc(size));
}

static void deallocate(void *context, void *pointer)
{
    (void)context;
    free(pointer);
}

void fp_page_parse(struct fp_str html, struct fp_arena *arena, struct fp_page *page)
{
    *page = (struct fp_page){0};
    page->scripts = fp_arena_array(arena, FP_PAGE_SCRIPTS_MAX, sizeof(*page->scripts));
    fp_memory_need(page->scripts);
    GumboOptions options = kGumboDefaultOptions;
    options.allocator = allocate;
    options.deallocator = deallocate;
    options.max_errors = 0;
    GumboOutput *output =
        gumbo_parse_with_options(&options, html.len > 0 ? html.ptr : "", html.len);
    struct page_walk walk = {page, arena};
    for (const GumboNode *node = output->document; node != NULL; node = next(node))
        if (node->type == GUMBO_NODE_ELEMENT && !is_inert(node))
            read_element(&walk, node);
    gumbo_destroy_output(&options, output);
}
