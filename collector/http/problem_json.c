/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problem: writes refusals with a JSON library, so that text from a request is always escaped.
 */
#include "collector/http/problem_json.h"

#include <yyjson.h>

/* Returns the reason phrase of a status that the collector sends; "Error" for any other. */
static const char *title_of(unsigned status)
{
    static const struct {
        unsigned status;
        const char *title;
    } titles[] = {
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
    };
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        if (titles[i].status == status)
            return titles[i].title;
    }
    return "Error";
}

/* Serialises a problem. with_texts: false omits the members that may contain text from the
 * request. */
static char *write_json(const struct fp_problem *problem, bool with_texts, size_t *len)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    if (doc == NULL)
        return NULL;
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    const char *title = title_of(problem->status);
    bool good = yyjson_mut_obj_add_str(doc, root, "type", "about:blank") &&
                yyjson_mut_obj_add_str(doc, root, "title", title) &&
                yyjson_mut_obj_add_uint(doc, root, "status", problem->status);
    good =
        good && yyjson_mut_obj_add_str(doc, root, "detail", with_texts ? problem->detail : title);
    if (with_texts && problem->has_pointer)
        good = good && yyjson_mut_obj_add_str(doc, root, "pointer", problem->pointer);
    if (problem->offset >= 0)
        good = good && yyjson_mut_obj_add_sint(doc, root, "offset", problem->offset);
    char *text = good ? yyjson_mut_write(doc, YYJSON_WRITE_ESCAPE_UNICODE, len) : NULL;
    yyjson_mut_doc_free(doc);
    return text;
}

char *fp_problem_json(const struct fp_problem *problem, size_t *len)
{
    char *text = write_json(problem, true, len);
    /* Text truncated inside a character is invalid UTF-8, which the writer refuses. */
    return text != NULL ? text : write_json(problem, false, len);
}
