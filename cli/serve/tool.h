/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tool: the questions that fleetprof mcp offers, as the Model Context Protocol describes tools.
 *
 * A row `tool` of schema/questions makes a question one. Pure; any thread.
 */
#ifndef FP_CLI_SERVE_TOOL_H
#define FP_CLI_SERVE_TOOL_H

#include "cli/serve/question.h"

#include <yyjson.h>

/* The meaning of a question's own parameter. */
struct fp_tool_note {
    const char *parameter;
    const char *meaning;
};

struct fp_tool {
    const char *name;
    const char *route;
    const char *columns; /* names of those that a program reads, between ", "; "": all */
    const char *about;
    struct fp_tool_note notes[FP_OWN_PARAMETERS + 3]; /* the last one has no parameter */
};

/* Returns the tool of this name; NULL if there is none. */
const struct fp_tool *fp_tool_find(struct fp_str name);

/* True if the tool shows this column. */
bool fp_tool_has_column(const struct fp_tool *tool, const char *column);

/* Returns all tools: name, description and input schema of each. Texts stay in static memory. NULL
 * when out of memory. */
yyjson_mut_val *fp_tool_list(yyjson_mut_doc *doc);

#endif
