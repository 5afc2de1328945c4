/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answer: writes rows as they arrive; text goes through a JSON library.
 */
#include "cli/serve/answer.h"

#include "cli/serve/cell.h"
#include "cli/serve/statement.h"
#include "collector/base/clock.h"
#include "collector/base/hash.h"

#include <yyjson.h>

enum {
    ROWS_MAX = 10 * 1000,
    ROWS_BYTES_MAX = 32 * 1024 * 1024,
    BODY_MAX = 96 * 1024 * 1024, /* a tree of 200,000 nodes takes 30 MiB */
};

/* An answer in the making. */
struct writing {
    const struct fp_inquiry *inquiry;
    struct fp_buf *body;
    size_t rows;
    bool has_columns;
    bool is_truncated;
};

/* Appends a value and frees it with its document. */
static void add_document(struct fp_buf *body, yyjson_mut_doc *doc)
{
    size_t len = 0;
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, &len);
    if (text == NULL)
        body->failed = body->starved = true;
    else
        fp_buf_add(body, text, len);
    free(text);
    yyjson_mut_doc_free(doc);
}

/* Appends a text as JSON. */
static void add_string(struct fp_buf *body, const char *text)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    if (doc == NULL) {
        body->failed = body->starved = true;
        return;
    }
    yyjson_mut_doc_set_root(doc, yyjson_mut_str(doc, text));
    add_document(body, doc);
}

static void add_columns(struct writing *writing, const PGresult *row)
{
    fp_buf_addf(writing->body, ",\"columns\":[");
    for (int i = 0; i < PQnfields(row); i++) {
        fp_buf_addf(writing->body, "%s{\"name\":", i > 0 ? "," : "");
        add_string(writing->body, PQfname(row, i));
        fp_buf_addf(writing->body, ",\"type\":\"%s\"}", fp_cell_type(PQftype(row, i)));
    }
    fp_buf_addf(writing->body, "],\"rows\":[");
    writing->has_columns = true;
}

static void add_row(struct writing *writing, const PGresult *row)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *cells = doc != NULL ? yyjson_mut_arr(doc) : NULL;
    if (cells == NULL) {
        yyjson_mut_doc_free(doc);
        writing->body->failed = writing->body->starved = true;
        return;
    }
    yyjson_mut_doc_set_root(doc, cells);
    for (int i = 0; i < PQnfields(row); i++)
        (void)yyjson_mut_arr_append(cells, fp_cell_value(doc, row, i));
    fp_buf_add(writing->body, ",", writing->rows > 0);
    add_document(writing->body, doc);
    writing->rows++;
}

/* Takes a row; false once there are enough. */
static bool take_row(void *context, const PGresult *row)
{
    struct writing *writing = context;
    if (!writing->has_columns)
        add_columns(writing, row);
    if (PQntuples(row) == 0)
        return true;
    if (writing->rows == ROWS_MAX || writing->body->len > ROWS_BYTES_MAX) {
        writing->is_truncated = true;
        return false;
    }
    add_row(writing, row);
    return !writing->body->failed;
}

/* Takes the one value of a tree, which is JSON already. */
static bool take_tree(void *context, const PGresult *row)
{
    struct writing *writing = context;
    if (PQntuples(row) == 0)
        return true;
    bool is_null = PQgetisnull(row, 0, 0) == 1;
    fp_buf_addf(writing->body, ",\"tree\":");
    fp_buf_add(writing->body, is_null ? "null" : PQgetvalue(row, 0, 0),
               is_null ? strlen("null") : (size_t)PQgetlength(row, 0, 0));
    return !writing->body->failed;
}

/* Appends what stands for the rows. What is shown gives these rows. */
static void add_origin(struct writing *writing, const struct fp_statement *statement)
{
    const char *shown = (const char *)statement->shown.data;
    const char *command = (const char *)statement->command.data;
    struct fp_buf text;
    fp_buf_init(&text, statement->shown.len + 64);
    fp_buf_addf(&text, "%s", shown);
    if (writing->is_truncated)
        fp_buf_addf(&text, " limit %zu", writing->rows);
    fp_buf_add(&text, ";", 2);
    fp_buf_addf(writing->body, ",\"sql\":");
    add_string(writing->body, text.failed ? shown : (const char *)text.data);
    fp_buf_release(&text);
    fp_buf_addf(writing->body, ",\"command\":");
    if (command[0] != '\0')
        add_string(writing->body, command);
    else
        fp_buf_addf(writing->body, "null");
}

static enum fp_reader_result ask(struct writing *writing, const struct fp_statement *statement,
                                 struct fp_readers *readers, int client_fd,
                                 struct fp_trouble *trouble)
{
    bool is_tree = writing->inquiry->question->shape == FP_SHAPE_TREE;
    const struct fp_reader_query query = {
        .statement = (const char *)statement->sql.data,
        .values = statement->values,
        .value_count = statement->value_count,
        .take = is_tree ? take_tree : take_row,
        .context = writing,
        .client_fd = client_fd,
    };
    enum fp_reader_result result = fp_readers_ask(readers, &query, trouble);
    if (result == FP_READER_FINE && !is_tree)
        fp_buf_addf(writing->body, "]%s", writing->is_truncated ? ",\"truncated\":true" : "");
    if (result == FP_READER_TROUBLE && trouble->status == 400)
        fp_inquiry_blame(writing->inquiry, trouble);
    return result;
}

static enum fp_reader_result refuse_size(const struct fp_buf *body, struct fp_trouble *trouble)
{
    if (body->starved) {
        fp_trouble_memory(trouble);
        return FP_READER_TROUBLE;
    }
    fp_trouble_set(trouble, 503, "The answer is larger than %d MiB.", BODY_MAX / 1024 / 1024);
    fp_trouble_hint(trouble, "Ask about less: a shorter time, one route or one release.");
    return FP_READER_TROUBLE;
}

enum fp_reader_result fp_answer_ask(struct fp_answer *answer, const struct fp_inquiry *inquiry,
                                    struct fp_readers *readers, int client_fd,
                                    struct fp_trouble *trouble)
{
    bool is_tree = inquiry->question->shape == FP_SHAPE_TREE;
    struct writing writing = {.inquiry = inquiry, .body = &answer->body};
    struct fp_statement statement;
    int64_t began_us = fp_clock_monotonic_us();
    fp_buf_init(&answer->body, BODY_MAX);
    if (!fp_statement_init(&statement, inquiry, is_tree ? 0 : ROWS_MAX + 1)) {
        fp_statement_release(&statement);
        fp_trouble_memory(trouble);
        return FP_READER_TROUBLE;
    }
    fp_buf_addf(&answer->body, "{\"function\":\"%s\"", inquiry->question->relation);
    enum fp_reader_result result = ask(&writing, &statement, readers, client_fd, trouble);
    if (result == FP_READER_FINE)
        add_origin(&writing, &statement);
    fp_statement_release(&statement);
    answer->rows = writing.rows;
    answer->tag = fp_hash64(answer->body.data, answer->body.len);
    int64_t took_us = fp_clock_monotonic_us() - began_us;
    fp_buf_addf(&answer->body, ",\"took_ms\":%lld.%lld}\n", (long long)(took_us / 1000),
                (long long)(took_us / 100 % 10));
    if (result == FP_READER_FINE && answer->body.failed)
        return refuse_size(&answer->body, trouble);
    return result;
}

enum fp_reader_result fp_answer_version(struct fp_answer *answer, struct fp_readers *readers,
                                        int client_fd)
{
    struct fp_trouble trouble = {0};
    enum fp_reader_result result = fp_readers_try(readers, client_fd, &trouble);
    fp_buf_init(&answer->body, BODY_MAX);
    if (result == FP_READER_GONE)
        return result;
    fp_buf_addf(&answer->body, "{\"version\":\"" FP_VERSION "\",\"schema\":");
    add_string(&answer->body, result == FP_READER_FINE ? "ok" : trouble.detail);
    for (size_t i = 0; i < fp_question_count; i++)
        fp_buf_addf(&answer->body, "%s\"%s\"", i == 0 ? ",\"functions\":[" : ",",
                    fp_questions[i].name);
    fp_buf_addf(&answer->body, "]}\n");
    answer->tag = fp_hash64(answer->body.data, answer->body.len);
    return FP_READER_FINE;
}

void fp_answer_release(struct fp_answer *answer)
{
    fp_buf_release(&answer->body);
}
