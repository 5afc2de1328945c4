/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: what the formats that are JSON have in common.
 *
 * Out of memory ends the process, so no call needs a check. One thread.
 */
#ifndef FP_CLI_EXPORT_JSON_H
#define FP_CLI_EXPORT_JSON_H

#include "collector/base/base.h"

#include <stdio.h>
#include <yyjson.h>

/* Returns an empty document. Texts that are added must live as long as it. */
yyjson_mut_doc *fp_export_json_begin(void);

/* Writes the document with this root, and frees it. A terminal gets it with escapes, as
 * fp_terminal_write_json says. */
void fp_export_json_end(yyjson_mut_doc *doc, yyjson_mut_val *root, FILE *out);

/* Returns a text as a value. */
yyjson_mut_val *fp_export_json_text(yyjson_mut_doc *doc, struct fp_str text);

/* Returns a time in milliseconds. */
yyjson_mut_val *fp_export_json_ms(yyjson_mut_doc *doc, int64_t time_us);

/* Adds `count` equal integers as an array. */
void fp_export_json_fill(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, size_t count,
                         int64_t value);

/* Adds an array of `count` nulls. */
void fp_export_json_nulls(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                          size_t count);

#endif
