/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function table: reads line by line, checks each value, and collects the functions of a script as
 * one JSON array.
 */
#include "cli/feed/function_table.h"

#include "cli/kit/input_file.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"

#include <inttypes.h>
#include <yyjson.h>

enum { TEXT_MAX = 1024, PACKAGE_MAX = 214, VERSION = 1 };

static const char tool_hint[] =
    "npx @fleetprof/function-table dist/assets/*.js > table.jsonl makes "
    "a function table from scripts and their source maps.";

struct table_reader {
    const char *file;
    const struct fp_function_table_taker *taker;
    struct fp_str text; /* the whole file */
    int64_t line;
    struct fp_function_table table;
    bool has_table;
    int64_t read;  /* functions of the table */
    int64_t place; /* of the last function: line and column */
};

static bool complain(const struct table_reader *reader, const char *wrong)
{
    fp_message_error("%s:%" PRId64 ": %s", reader->file, reader->line, wrong);
    return false;
}

static bool is_text(yyjson_val *value, size_t least, size_t most)
{
    return yyjson_is_str(value) && yyjson_get_len(value) >= least &&
           yyjson_get_len(value) <= most && strlen(yyjson_get_str(value)) == yyjson_get_len(value);
}

static bool is_position(yyjson_val *value)
{
    return yyjson_is_uint(value) && yyjson_get_uint(value) >= 1 &&
           yyjson_get_uint(value) <= INT32_MAX;
}

/* ---- a script's first line ---- */

static bool end_table(struct table_reader *reader)
{
    struct fp_function_table *table = &reader->table;
    if (!reader->has_table)
        return true;
    reader->has_table = false;
    fp_buf_add(&table->functions_json, "]", sizeof("]"));
    bool fine = reader->read == table->functions;
    if (!fine)
        fp_message_error("%s: the table of %s ends after %" PRId64 " of %" PRId64 " functions",
                         reader->file, table->script, reader->read, table->functions);
    else if (table->functions_json.failed)
        fine = complain(reader, "the table is too large");
    else
        fine = reader->taker->take(reader->taker->context, table);
    fp_buf_release(&table->functions_json);
    free(table->script);
    return fine;
}

/* True for a source map, whether it is written in one line or in many. */
static bool is_source_map(struct fp_str text)
{
    static const struct fp_str members[] = {{"\"mappings\"", 10}, {"\"sections\"", 10}};
    for (size_t i = 0; i < FP_COUNT(members); i++)
        if (text.len > 0 && text.ptr[0] == '{' &&
            memmem(text.ptr, text.len, members[i].ptr, members[i].len) != NULL)
            return true;
    return false;
}

static bool complain_of_file(const struct table_reader *reader)
{
    (void)complain(reader, is_source_map(reader->text)
                               ? "this is a source map, not a function table"
                               : "this is not a function table");
    fp_message_hint("%s", tool_hint);
    return false;
}

static bool begin_table(struct table_reader *reader, yyjson_val *head)
{
    yyjson_val *version = yyjson_obj_get(head, "fleetprof_function_table");
    yyjson_val *script = yyjson_obj_get(head, "script");
    yyjson_val *functions = yyjson_obj_get(head, "functions");
    if (!yyjson_is_uint(version))
        return complain_of_file(reader);
    if (yyjson_get_uint(version) != VERSION)
        return complain(reader, "this is a function table of another version; version 1 is known");
    if (!is_text(script, 1, TEXT_MAX))
        return complain(reader, "\"script\" must be a path of 1 to 1,024 bytes");
    if (!yyjson_is_uint(functions) || yyjson_get_uint(functions) > FP_FUNCTION_TABLE_MAX)
        return complain(reader, "\"functions\" must be a number, at most 500,000");
    reader->has_table = true;
    reader->read = 0;
    reader->place = 0;
    reader->table.script = fp_memory_copy(yyjson_get_str(script));
    reader->table.functions = (int64_t)yyjson_get_uint(functions);
    fp_buf_init(&reader->table.functions_json, FP_FUNCTION_TABLE_BYTES_MAX);
    fp_buf_add(&reader->table.functions_json, "[", 1);
    return true;
}

/* ---- functions ---- */

static const char *check_function(struct table_reader *reader, yyjson_val *row)
{
    if (yyjson_arr_size(row) != 8)
        return "a function is an array of 8: line, column, name or null, source, its line and "
               "column, package, whether it is ignored";
    if (!is_position(yyjson_arr_get(row, 0)) || !is_position(yyjson_arr_get(row, 1)) ||
        !is_position(yyjson_arr_get(row, 4)) || !is_position(yyjson_arr_get(row, 5)))
        return "lines and columns are whole numbers from 1 on";
    if (!yyjson_is_null(yyjson_arr_get(row, 2)) && !is_text(yyjson_arr_get(row, 2), 0, TEXT_MAX))
        return "a name is null or a text of at most 1,024 bytes";
    if (!is_text(yyjson_arr_get(row, 3), 1, TEXT_MAX))
        return "a source is a path of 1 to 1,024 bytes";
    if (!is_text(yyjson_arr_get(row, 6), 0, PACKAGE_MAX))
        return "a package is a text of at most 214 bytes";
    if (!yyjson_is_bool(yyjson_arr_get(row, 7)))
        return "whether a function is ignored is true or false";
    int64_t place = (int64_t)(yyjson_get_uint(yyjson_arr_get(row, 0)) << 32 |
                              yyjson_get_uint(yyjson_arr_get(row, 1)));
    if (place <= reader->place)
        return "functions must be in the order of their lines and columns, each place once";
    reader->place = place;
    return NULL;
}

static bool take_function(struct table_reader *reader, yyjson_val *row, struct fp_str text)
{
    if (!reader->has_table)
        return complain(reader, "a function stands before the line that names its script");
    const char *wrong = check_function(reader, row);
    if (wrong != NULL)
        return complain(reader, wrong);
    if (reader->read++ > 0)
        fp_buf_add(&reader->table.functions_json, ",", 1);
    fp_buf_add(&reader->table.functions_json, text.ptr, text.len);
    return true;
}

static bool take_line(struct table_reader *reader, struct fp_str text)
{
    yyjson_doc *document = yyjson_read(text.ptr, text.len, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(document);
    bool fine;
    if (yyjson_is_obj(root))
        fine = end_table(reader) && begin_table(reader, root);
    else if (yyjson_is_arr(root))
        fine = take_function(reader, root, text);
    else if (document == NULL)
        fine = reader->line == 1 ? complain_of_file(reader) : complain(reader, "is not JSON");
    else
        fine = complain(reader, "is neither an object, which names a script, nor a function");
    yyjson_doc_free(document);
    return fine;
}

static bool take_lines(struct table_reader *reader, struct fp_str rest)
{
    while (rest.len > 0) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct fp_str line = {rest.ptr, end != NULL ? (size_t)(end - rest.ptr) : rest.len};
        reader->line++;
        if (line.len > 0 && !take_line(reader, line))
            return false;
        rest = fp_str_skip(rest, line.len + (end != NULL ? 1 : 0));
    }
    if (reader->line == 0)
        return complain(reader, "is empty");
    return end_table(reader);
}

bool fp_function_table_read(const char *file, const struct fp_function_table_taker *taker)
{
    struct fp_input_file input;
    if (!fp_input_file_read(file, &input))
        return false;
    struct table_reader reader = {
        .file = input.name,
        .taker = taker,
        .text = {(const char *)input.bytes.data, input.bytes.len},
    };
    bool fine = take_lines(&reader, reader.text);
    if (reader.has_table) {
        fp_buf_release(&reader.table.functions_json);
        free(reader.table.script);
    }
    fp_input_file_release(&input);
    return fine;
}
