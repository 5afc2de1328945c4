/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trouble: fills it, and writes it with a JSON library, so that text from a request is always
 * escaped.
 */
#include "cli/serve/trouble.h"

#include <stdarg.h>
#include <yyjson.h>

void fp_trouble_set(struct fp_trouble *trouble, unsigned status, const char *detail, ...)
{
    *trouble = (struct fp_trouble){.status = status};
    va_list args;
    va_start(args, detail);
    (void)vsnprintf(trouble->detail, sizeof(trouble->detail), detail, args);
    va_end(args);
}

void fp_trouble_hint(struct fp_trouble *trouble, const char *hint, ...)
{
    va_list args;
    va_start(args, hint);
    (void)vsnprintf(trouble->hint, sizeof(trouble->hint), hint, args);
    va_end(args);
}

void fp_trouble_parameter(struct fp_trouble *trouble, const char *parameter, const char *detail,
                          ...)
{
    *trouble = (struct fp_trouble){.status = 400, .parameter = parameter};
    va_list args;
    va_start(args, detail);
    (void)vsnprintf(trouble->detail, sizeof(trouble->detail), detail, args);
    va_end(args);
}

void fp_trouble_memory(struct fp_trouble *trouble)
{
    fp_trouble_set(trouble, 503, "The report's server has no memory for this answer.");
    trouble->retry_s = FP_TROUBLE_BUSY_S;
}

static const struct {
    unsigned status;
    const char *title;
} titles[] = {
    {400, "Bad Request"},        {403, "Forbidden"},      {404, "Not Found"},
    {405, "Method Not Allowed"}, {500, "Internal Error"}, {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

static const char *title_of(unsigned status)
{
    for (size_t i = 0; i < FP_COUNT(titles); i++) {
        if (titles[i].status == status)
            return titles[i].title;
    }
    return "Error";
}

/* with_texts: false omits what may contain text from the request. */
static char *write_trouble(const struct fp_trouble *trouble, bool with_texts, size_t *len)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    if (doc == NULL)
        return NULL;
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    const char *title = title_of(trouble->status);
    bool good = yyjson_mut_obj_add_str(doc, root, "type", "about:blank") &&
                yyjson_mut_obj_add_str(doc, root, "title", title) &&
                yyjson_mut_obj_add_uint(doc, root, "status", trouble->status) &&
                yyjson_mut_obj_add_str(doc, root, "detail", with_texts ? trouble->detail : title);
    const char *unknown = with_texts && trouble->unknown[0] != '\0' ? trouble->unknown : NULL;
    const char *parameter = trouble->parameter != NULL ? trouble->parameter : unknown;
    if (parameter != NULL)
        good = good && yyjson_mut_obj_add_str(doc, root, "parameter", parameter);
    if (with_texts && trouble->hint[0] != '\0')
        good = good && yyjson_mut_obj_add_str(doc, root, "hint", trouble->hint);
    char *text = good ? yyjson_mut_write(doc, YYJSON_WRITE_ESCAPE_UNICODE, len) : NULL;
    yyjson_mut_doc_free(doc);
    return text;
}

char *fp_trouble_json(const struct fp_trouble *trouble, size_t *len)
{
    char *text = write_trouble(trouble, true, len);
    /* Text cut inside a character is invalid UTF-8, which the writer refuses. */
    return text != NULL ? text : write_trouble(trouble, false, len);
}
