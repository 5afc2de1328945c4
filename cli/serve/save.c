/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof report: the page of the web report as one file, with its answers in it.
 *
 * The file has a policy of its own, which allows its one script and its one style by their hashes.
 */
#include "cli/ask/empty_answer.h"
#include "cli/ask/filters.h"
#include "cli/ask/period.h"
#include "cli/kit/command.h"
#include "cli/kit/memory.h"
#include "cli/kit/output_file.h"
#include "cli/serve/answer.h"
#include "cli/serve/pack.h"
#include "cli/serve/page.h"
#include "collector/base/ascii.h"
#include "collector/base/assert.h"

#include <libdeflate.h>
#include <openssl/evp.h>
#include <time.h>
#include <yyjson.h>

enum { OPTION_COMPARE = FP_OPTION_FIRST };

enum {
    FILE_MAX = 256 * 1024 * 1024,
    ADDRESS_MAX = 32 * 1024,
    TIMEOUT_S = 300,
    EXTRA_MAX = 6,
    FUNCTIONS_MAX = 10, /* of one answer */
    RELEASE_MAX = 4096,
    KEY_MAX = 24,
    PACK_LEVEL = 12,
};

struct save_options {
    struct fp_database_options database;
    struct fp_filters filters;
    const char *file;
    bool compares;
    const char *before; /* NULL: not given, as the next one */
    const char *after;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "write this file", 0},
    {"compare", OPTION_COMPARE, NULL, 0, "the comparison of the releases BEFORE and AFTER", 0},
    {0},
};

static error_t parse_save(int key, char *arg, struct argp_state *state)
{
    struct save_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->filters;
        state->child_inputs[1] = &given->database;
        state->child_inputs[2] = &given->filters;
        return 0;
    case 'o':
        given->file = arg;
        return 0;
    case OPTION_COMPARE:
        given->compares = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "BEFORE and AFTER are two releases, not more");
        *(state->arg_num == 0 ? &given->before : &given->after) = arg;
        return 0;
    case ARGP_KEY_SUCCESS:
        if (given->file == NULL)
            argp_error(state, "-o FILE is missing");
        if (given->compares != (given->after != NULL) ||
            (given->before != NULL && !given->compares))
            argp_error(state, "a comparison is --compare BEFORE AFTER");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_filters_argp, 0, "Which page loads (in a PATTERN, % matches any text):", 1},
    {&fp_database_argp, 0, "The database:", 2},
    {&fp_filters_of_vitals_argp, 0, "Which vitals and interactions:", 1},
    {0},
};

static const struct argp save_argp = {
    .options = options,
    .parser = parse_save,
    .args_doc = "-o FILE [--compare BEFORE AFTER]",
    .doc = "Writes the web report as one file that any browser opens, without a server: a flame "
           "graph, functions, timings and vitals of the page loads that the filters select, or the "
           "comparison of two releases.",
    .children = children,
};

/* ---- answers ---- */

struct saved_value {
    const char *name;
    const char *value;
};

/* A report in the making. */
struct saving {
    const struct fp_filters *filters;
    struct fp_readers *readers;
    struct fp_packing answers;
    bool is_empty;           /* no upload has what the filters select */
    unsigned questions;      /* asked so far */
    struct fp_answer answer; /* the last one */
};

/* Appends a part of an address, with all but unreserved characters escaped (RFC 3986 §2.3). */
static void add_escaped(struct fp_buf *address, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (fp_is_alnum(*c) || strchr("-._~", *c) != NULL)
            fp_buf_add(address, c, 1);
        else
            fp_buf_addf(address, "%%%02X", (unsigned char)*c);
    }
}

static bool add_value(struct fp_inquiry *inquiry, struct fp_buf *address, const char *name,
                      const char *value)
{
    struct fp_trouble trouble;
    fp_buf_addf(address, "%s%s=", memchr(address->data, '?', address->len) != NULL ? "&" : "?",
                name);
    add_escaped(address, value);
    if (fp_inquiry_add(inquiry, fp_str_of(name), fp_str_of(value), &trouble))
        return true;
    fp_message_error("%s", trouble.detail);
    return false;
}

/* True if the question has the parameter. */
static bool takes(const struct fp_inquiry *inquiry, const char *name)
{
    for (size_t i = 0; i < inquiry->count; i++) {
        if (strcmp(inquiry->parameters[i]->name, name) == 0)
            return true;
    }
    return false;
}

static bool is_among(const struct saved_value *extra, const char *name)
{
    for (size_t i = 0; i < EXTRA_MAX && extra[i].name != NULL; i++) {
        if (strcmp(extra[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Adds the filters that the question takes, and the extra values, which go before filters. */
static bool fill(struct fp_inquiry *inquiry, struct fp_buf *address,
                 const struct fp_filters *filters, const struct saved_value extra[EXTRA_MAX])
{
    for (enum fp_filter filter = 0; filter < FP_FILTER_COUNT; filter++) {
        const char *name = fp_filter_name(filter);
        if (filters->values[filter] != NULL && takes(inquiry, name) && !is_among(extra, name) &&
            !add_value(inquiry, address, name, filters->values[filter]))
            return false;
        char twin[40];
        snprintf(twin, sizeof(twin), "exclude_%s", name);
        if (filters->excluded[filter] != NULL && takes(inquiry, twin) &&
            !add_value(inquiry, address, twin, filters->excluded[filter]))
            return false;
    }
    for (size_t i = 0; i < EXTRA_MAX && extra[i].name != NULL; i++) {
        if (extra[i].value != NULL && !add_value(inquiry, address, extra[i].name, extra[i].value))
            return false;
    }
    return true;
}

static struct fp_str text_of(const struct fp_buf *buf)
{
    return (struct fp_str){(const char *)buf->data, buf->len};
}

/* Asks one question and saves its answer under its address. */
static bool save(struct saving *saving, const char *name, const struct saved_value extra[EXTRA_MAX])
{
    struct fp_trouble trouble = {0};
    struct fp_inquiry inquiry;
    struct fp_buf address;
    fp_inquiry_init(&inquiry, fp_question_find(name));
    fp_buf_init(&address, ADDRESS_MAX);
    fp_buf_addf(&address, "/api/v1/%s", name);
    fp_answer_release(&saving->answer);
    fp_message_progress("question %u: %s", ++saving->questions, name);
    bool fine = fill(&inquiry, &address, saving->filters, extra);
    if (fine &&
        fp_answer_ask(&saving->answer, &inquiry, saving->readers, -1, &trouble) == FP_READER_FINE) {
        fp_packing_add(&saving->answers, text_of(&address), text_of(&saving->answer.body));
    } else if (fine) {
        fp_message_error("%s", trouble.detail);
        if (trouble.hint[0] != '\0')
            fp_message_hint("%s", trouble.hint);
        fine = false;
    }
    if (address.failed)
        fp_memory_end();
    fp_buf_release(&address);
    fp_inquiry_release(&inquiry);
    return fine;
}

#define EXTRA(...) ((const struct saved_value[EXTRA_MAX]){__VA_ARGS__})

#define NAME_OF(id, of, name, ...) name

/* ---- functions ---- */

/* Functions whose pages a report has. */
struct saved_functions {
    char keys[2 * FUNCTIONS_MAX][KEY_MAX];
    size_t count;
};

/* Returns the place of a column in an answer; its number of columns if it has no such column. */
static size_t find_column(yyjson_val *columns, const char *column)
{
    size_t i = 0;
    while (i < yyjson_arr_size(columns) &&
           !yyjson_equals_str(yyjson_obj_get(yyjson_arr_get(columns, i), "name"), column))
        i++;
    return i;
}

/* True if a row has no verdict, or one that is a finding. */
static bool is_found(yyjson_val *verdict)
{
    return verdict == NULL || yyjson_equals_str(verdict, "slower") ||
           yyjson_equals_str(verdict, "faster") || yyjson_equals_str(verdict, "new") ||
           yyjson_equals_str(verdict, "gone");
}

static bool has_function(const struct saved_functions *functions, const char *key)
{
    for (size_t i = 0; i < functions->count; i++)
        if (strcmp(functions->keys[i], key) == 0)
            return true;
    return false;
}

/* Adds the functions of the first rows of an answer; of a comparison, those that it found. */
static void read_functions(const struct fp_answer *answer, struct saved_functions *functions)
{
    yyjson_doc *doc =
        yyjson_read((const char *)answer->body.data, answer->body.len, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *columns = yyjson_obj_get(root, "columns");
    const size_t key_column = find_column(columns, "function_key");
    const size_t verdict_column = find_column(columns, "verdict");
    const size_t most = functions->count + FUNCTIONS_MAX;
    FP_ASSERT(most <= FP_COUNT(functions->keys));
    size_t i, rows;
    yyjson_val *row;
    yyjson_arr_foreach(yyjson_obj_get(root, "rows"), i, rows, row)
    {
        const char *key = yyjson_get_str(yyjson_arr_get(row, key_column));
        if (functions->count < most && key != NULL && strlen(key) < KEY_MAX &&
            is_found(yyjson_arr_get(row, verdict_column)) && !has_function(functions, key))
            (void)snprintf(functions->keys[functions->count++], KEY_MAX, "%s", key);
    }
    yyjson_doc_free(doc);
}

/* Saves what the page of one function asks. */
static bool save_function(struct saving *saving, const char *key,
                          const struct saved_value period[2])
{
    return save(saving, "callers", EXTRA({"key", key}, period[0], period[1])) &&
           save(saving, "callees", EXTRA({"key", key}, period[0], period[1])) &&
           save(saving, "trend",
                EXTRA({"by", "function"}, {"key", key}, {"step", "hour"}, period[0], period[1])) &&
           save(saving, "change_point",
                EXTRA({"by", "function"}, {"key", key}, period[0], period[1])) &&
           save(saving, "function_by",
                EXTRA({"by", "route"}, {"key", key}, period[0], period[1])) &&
           save(saving, "function_by",
                EXTRA({"by", "measure"}, {"key", key}, period[0], period[1])) &&
           save(saving, "typical_load", EXTRA({"key", key}, period[0], period[1]));
}

static bool save_functions(struct saving *saving, const struct saved_functions *functions,
                           const struct saved_value period[2])
{
    bool fine = true;
    for (size_t i = 0; fine && i < functions->count; i++)
        fine = save_function(saving, functions->keys[i], period);
    return fine;
}

/* ---- views ---- */

/* Reads a release out of the first row of an answer, as the filter that finds it; fails if there
 * is none. */
static bool read_release(const struct fp_answer *answer, const char *column, struct fp_buf *filter)
{
    yyjson_doc *doc =
        yyjson_read((const char *)answer->body.data, answer->body.len, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *row = yyjson_arr_get_first(yyjson_obj_get(root, "rows"));
    const char *release =
        yyjson_get_str(yyjson_arr_get(row, find_column(yyjson_obj_get(root, "columns"), column)));
    for (const char *c = release; c != NULL && *c != '\0'; c++)
        fp_buf_addf(filter, "%s%c", *c == '%' ? "\\" : "", *c);
    fp_buf_add(filter, "", 1);
    if (filter->failed)
        fp_memory_end();
    yyjson_doc_free(doc);
    return release != NULL;
}

/* Saves the finding that the overview begins with: about the latest release, whatever the period.
 */
static bool save_finding(struct saving *saving, struct saved_functions *functions)
{
    struct fp_buf before;
    struct fp_buf after;
    if (!save(saving, "overview", EXTRA({"of_part", "release"})))
        return false;
    fp_buf_init(&before, RELEASE_MAX);
    fp_buf_init(&after, RELEASE_MAX);
    bool fine = true;
    if (saving->filters->excluded[FP_FILTER_RELEASE] == NULL &&
        read_release(&saving->answer, "before_release", &before) &&
        read_release(&saving->answer, "after_release", &after)) {
        const struct saved_value sides[2] = {{"before", (const char *)before.data},
                                             {"after", (const char *)after.data}};
        fine =
            save(saving, "compare_vitals",
                 EXTRA(sides[0], sides[1], {"since", NULL}, {"until", NULL}, {"release", NULL})) &&
            save(saving, "compare_releases",
                 EXTRA(sides[0], sides[1], {"since", NULL}, {"until", NULL}, {"release", NULL},
                       {"top", "500"}));
        if (fine)
            read_functions(&saving->answer, functions);
    }
    fp_buf_release(&before);
    fp_buf_release(&after);
    return fine;
}

/* Saves the trend of each vital of the last answer. */
static bool save_vital_trends(struct saving *saving)
{
    yyjson_doc *doc = yyjson_read((const char *)saving->answer.body.data, saving->answer.body.len,
                                  YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(doc);
    const size_t column = find_column(yyjson_obj_get(root, "columns"), "name");
    size_t i, rows;
    yyjson_val *row;
    bool fine = true;
    yyjson_arr_foreach(yyjson_obj_get(root, "rows"), i, rows, row)
    {
        const char *name = yyjson_get_str(yyjson_arr_get(row, column));
        fine = fine && name != NULL &&
               save(saving, "trend", EXTRA({"by", "vital"}, {"key", name}, {"step", "hour"}));
    }
    yyjson_doc_free(doc);
    return fine;
}

static bool save_views(struct saving *saving)
{
    static const char *const plain[] = {
        "summary",    "releases",     "timings",       "left_out",       "vitals",
        "coverage",   "interactions", "third_parties", "refusals",       "long_frames",
        "ttfb_parts", "hangs",        "violations",    "profiling_cost", "budgets"};
    /* Those that the view offers. */
    static const char *const groups[] = {"host",   "party",   "owner",
                                         "entity", "package", "resource",
                                         "source", "marker",  FP_FILTERS_OF_DIMENSIONS(NAME_OF)};
    struct saved_functions functions = {.count = 0};
    bool fine = save(saving, "flamegraph_columns", EXTRA({"max_nodes", "50000"})) &&
                save(saving, "hotspots", EXTRA({"top", "500"}));
    if (fine)
        read_functions(&saving->answer, &functions);
    fine = fine && save(saving, "fix_first", EXTRA({"top", "10"})) &&
           save(saving, "overview", EXTRA({"of_part", "need"})) &&
           save(saving, "typical_load", EXTRA({"measure_name", "(interaction)"})) &&
           save(saving, "typical_load", EXTRA({"measure_name", "(long frame)"})) &&
           save_finding(saving, &functions);
    for (size_t i = 0; fine && i < FP_COUNT(plain); i++) {
        fine = save(saving, plain[i], EXTRA({NULL, NULL}));
        if (strcmp(plain[i], "summary") == 0)
            saving->is_empty = saving->answer.rows == 0;
        else if (strcmp(plain[i], "vitals") == 0)
            fine = fine && save_vital_trends(saving);
    }
    for (size_t i = 0; fine && i < FP_COUNT(groups); i++)
        fine = save(saving, "cost_by", EXTRA({"by", groups[i]}));
    return fine && save_functions(saving, &functions, (struct saved_value[2]){{NULL, NULL}});
}

/* Copies a bound of the hours of a side from the answer of compare_summary; "" if there is none. */
static void read_bound(const struct fp_answer *summary, const char *column, size_t bound,
                       char text[40])
{
    text[0] = '\0';
    yyjson_doc *doc =
        yyjson_read((const char *)summary->body.data, summary->body.len, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *columns = yyjson_obj_get(root, "columns");
    yyjson_val *row = yyjson_arr_get_first(yyjson_obj_get(root, "rows"));
    for (size_t i = 0; i < yyjson_arr_size(columns); i++) {
        const char *name = yyjson_get_str(yyjson_obj_get(yyjson_arr_get(columns, i), "name"));
        if (name == NULL || strcmp(name, column) != 0)
            continue;
        const char *time = yyjson_get_str(yyjson_arr_get(yyjson_arr_get(row, i), bound));
        (void)snprintf(text, 40, "%s", time != NULL ? time : "");
    }
    yyjson_doc_free(doc);
}

static bool save_side(struct saving *saving, const char *release, char bounds[2][40])
{
    if (bounds[0][0] == '\0')
        return true;
    return save(saving, "flamegraph_columns",
                EXTRA({"since", bounds[0]}, {"until", bounds[1]}, {"release", release},
                      {"max_nodes", "50000"})) &&
           save(saving, "summary",
                EXTRA({"since", bounds[0]}, {"until", bounds[1]}, {"release", release}));
}

/* Saves the page loads and releases of the time from the first hour of a side to the last one, and
 * in that time the functions that were found. */
static bool save_around(struct saving *saving, char sides[2][2][40],
                        const struct saved_functions *functions)
{
    if (sides[0][0][0] == '\0' || sides[1][0][0] == '\0')
        return true;
    const struct saved_value period[2] = {
        {"since", sides[strcmp(sides[0][0], sides[1][0]) <= 0 ? 0 : 1][0]},
        {"until", sides[strcmp(sides[0][1], sides[1][1]) >= 0 ? 0 : 1][1]}};
    return save(saving, "summary", EXTRA(period[0], period[1], {"release", NULL})) &&
           save(saving, "releases", EXTRA(period[0], period[1])) &&
           (functions->count == 0 ||
            (save(saving, "flamegraph_columns",
                  EXTRA({"max_nodes", "50000"}, period[0], period[1])) &&
             save(saving, "third_parties", EXTRA(period[0], period[1])) &&
             save(saving, "hotspots", EXTRA({"top", "500"}, period[0], period[1])) &&
             save_functions(saving, functions, period)));
}

static bool save_comparison(struct saving *saving, const char *before, const char *after)
{
    char sides[2][2][40];
    const char *since = saving->filters->values[FP_FILTER_SINCE];
    if (!save(saving, "compare_summary", EXTRA({"before", before}, {"after", after})))
        return false;
    for (size_t side = 0; side < 2; side++) {
        for (size_t bound = 0; bound < 2; bound++)
            read_bound(&saving->answer, side == 0 ? "before_hours" : "after_hours", bound,
                       sides[side][bound]);
    }
    if (!save(saving, "compare_releases",
              EXTRA({"before", before}, {"after", after}, {"top", "500"})))
        return false;
    saving->is_empty = saving->answer.rows == 0;
    struct saved_functions functions = {.count = 0};
    read_functions(&saving->answer, &functions);
    return save(saving, "compare_vitals", EXTRA({"before", before}, {"after", after})) &&
           save(saving, "compare_timings", EXTRA({"before", before}, {"after", after})) &&
           save(saving, "releases", EXTRA({"since", since != NULL ? since : "30d"})) &&
           save(saving, "overview", EXTRA({"of_part", "release"})) &&
           save_side(saving, before, sides[0]) && save_side(saving, after, sides[1]) &&
           save_around(saving, sides, &functions);
}

/* ---- the file ---- */

static const struct fp_page_file *find_file(const char *path)
{
    const struct fp_page_file *file = fp_page_files;
    while (strcmp(file->path, path) != 0)
        file++;
    return file;
}

/* Appends 'sha256-…', as a policy names a script or style. */
static void add_hash(struct fp_buf *file, struct fp_str content)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned char text[2 * EVP_MAX_MD_SIZE];
    unsigned len = 0;
    if (EVP_Digest(content.ptr, content.len, digest, &len, EVP_sha256(), NULL) != 1)
        fp_memory_end();
    (void)EVP_EncodeBlock(text, digest, (int)len);
    fp_buf_addf(file, "'sha256-%s'", (const char *)text);
}

static void add_policy(struct fp_buf *file)
{
    fp_buf_addf(file, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "script-src ");
    add_hash(file, find_file("/assets/report.js")->content);
    fp_buf_addf(file, "; style-src ");
    add_hash(file, find_file("/assets/report.css")->content);
    fp_buf_addf(file, "; img-src data:; base-uri 'none'; form-action 'none'; "
                      "require-trusted-types-for 'script'; trusted-types 'none'\">\n"
                      "<meta name=\"referrer\" content=\"no-referrer\">\n");
}

static void add_text(struct fp_buf *file, struct fp_str text)
{
    fp_buf_add(file, text.ptr, text.len);
}

/* Takes the page up to a line, which the caller replaces. */
static bool add_up_to(struct fp_buf *file, struct fp_str *page, struct fp_str line)
{
    const char *found = memmem(page->ptr, page->len, line.ptr, line.len);
    if (found == NULL)
        return false;
    size_t before = (size_t)(found - page->ptr);
    fp_buf_add(file, page->ptr, before);
    *page = fp_str_skip(*page, before + line.len);
    return true;
}

/* Begins the file: the page with its policy, style and script in it. */
static bool begin_file(struct fp_buf *file)
{
    struct fp_str page = find_file("/")->content;
    const struct fp_str style = FP_STR("<link rel=\"stylesheet\" href=\"/assets/report.css\">\n");
    const struct fp_str script =
        FP_STR("<script type=\"module\" src=\"/assets/report.js\"></script>\n");
    const struct fp_str charset = FP_STR("<meta charset=\"utf-8\">\n");
    if (!add_up_to(file, &page, charset))
        return false;
    add_text(file, charset);
    add_policy(file);
    if (!add_up_to(file, &page, style))
        return false;
    fp_buf_addf(file, "<style>");
    add_text(file, find_file("/assets/report.css")->content);
    fp_buf_addf(file, "</style>\n");
    if (!add_up_to(file, &page, script))
        return false;
    fp_buf_addf(file, "<script type=\"module\">");
    add_text(file, find_file("/assets/report.js")->content);
    fp_buf_addf(file, "</script>\n");
    add_text(file, page);
    return true;
}

/* Appends bytes in base 85: five digits for four bytes, one digit more than bytes at the end. No
 * digit is a <, which alone could end the element. */
static void add_base85(struct fp_buf *file, const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i += 4) {
        char digits[5];
        size_t count = len - i < 4 ? len - i + 1 : sizeof(digits);
        uint32_t number = 0;
        for (size_t k = 0; k < 4; k++)
            number = number << 8 | (i + k < len ? bytes[i + k] : 0);
        for (size_t k = sizeof(digits); k-- > 0; number /= 85)
            digits[k] = (char)('#' + number % 85 + (number % 85 >= '<' - '#' ? 1 : 0));
        fp_buf_add(file, digits, count);
    }
}

/* Ends the file: the time, and the answers by gzip. */
static void end_file(struct fp_buf *file, const struct fp_buf *answers)
{
    char now[32];
    struct tm utc;
    const time_t seconds = time(NULL);
    (void)strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &utc));
    struct libdeflate_compressor *compressor =
        fp_memory_need(libdeflate_alloc_compressor(PACK_LEVEL));
    size_t most = libdeflate_gzip_compress_bound(compressor, answers->len);
    unsigned char *packed = fp_memory_need(malloc(most));
    size_t len = libdeflate_gzip_compress(compressor, answers->data, answers->len, packed, most);
    libdeflate_free_compressor(compressor);
    fp_buf_addf(
        file,
        "<script type=\"application/octet-stream\" id=\"fleetprof-answers\" data-saved=\"%s\">",
        now);
    add_base85(file, packed, len);
    fp_buf_addf(file, "</script>\n</html>\n");
    free(packed);
}

static bool write_file(const char *name, const struct fp_buf *content)
{
    struct fp_output_file file;
    if (!fp_output_file_open(&file, name))
        return false;
    (void)fwrite(content->data, 1, content->len, file.stream);
    return fp_output_file_close(&file, true);
}

/* ---- the command ---- */

/* Writes a time of the filters as it stays: a report of yesterday is not one of today tomorrow. */
static bool pin(PGconn *connection, enum fp_filter filter, const char *otherwise,
                struct fp_filters *filters, char text[40])
{
    const char *value = filters->values[filter];
    struct fp_sql_query query;
    fp_sql_init(&query, "select to_char((");
    fp_filters_add_value(filter, value != NULL ? value : otherwise, &query);
    fp_sql_add(&query, ") at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    if (answer == NULL)
        return false;
    (void)snprintf(text, 40, "%s", PQgetvalue(answer, 0, 0));
    filters->values[filter] = text;
    PQclear(answer);
    return true;
}

/* Chooses the site and pins the times, but those that a comparison finds by itself. */
static bool settle(struct save_options *given, PGconn *connection, char times[2][40])
{
    struct fp_filters *filters = &given->filters;
    bool fine = fp_filters_choose_site(filters, connection) &&
                (given->compares ? fp_period_check_sides(filters, NULL, NULL, connection)
                                 : fp_period_check(filters, connection));
    if (fine && (!given->compares || filters->values[FP_FILTER_UNTIL] != NULL))
        fine = pin(connection, FP_FILTER_UNTIL, "0s", filters, times[1]);
    if (fine && (!given->compares || filters->values[FP_FILTER_SINCE] != NULL))
        fine = pin(connection, FP_FILTER_SINCE, "1d", filters, times[0]);
    return fine;
}

/* Says why a report is empty. */
static bool explain_nothing(const struct save_options *given, PGconn *connection)
{
    if (!given->compares)
        return fp_empty_answer_explain(&given->filters, NULL, connection);
    fp_message_notice("there is nothing to compare");
    fp_message_hint("`fleetprof compare %s %s' with the same filters says why.", given->before,
                    given->after);
    return true;
}

static bool write_report(const struct save_options *given, const char *conninfo, PGconn *connection)
{
    const struct fp_reader_settings settings = {.conninfo = conninfo,
                                                .connections = 1,
                                                .statement_timeout_s = TIMEOUT_S,
                                                .allow_writer = true,
                                                .stop_fd = -1};
    struct fp_buf file;
    fp_buf_init(&file, FILE_MAX);
    struct saving saving = {.filters = &given->filters,
                            .readers = fp_memory_need(fp_readers_start(&settings))};
    fp_packing_init(&saving.answers, FILE_MAX);
    bool fine = begin_file(&file);
    if (!fine)
        fp_message_error("the page that this program was built with is not as expected");
    fine = fine && (given->compares ? save_comparison(&saving, given->before, given->after)
                                    : save_views(&saving));
    if (fine && !fp_packing_end(&saving.answers)) {
        fp_message_error("the answers are larger than %d MiB", FILE_MAX / 1024 / 1024);
        fine = false;
    }
    if (fine)
        end_file(&file, &saving.answers.text);
    if (fine && file.failed)
        fp_memory_end();
    fine = fine && write_file(given->file, &file);
    if (fine)
        fp_message_notice("%s: %zu KiB", given->file, file.len / 1024);
    if (fine && saving.is_empty)
        fine = explain_nothing(given, connection);
    fp_answer_release(&saving.answer);
    fp_packing_release(&saving.answers);
    fp_readers_stop(saving.readers);
    fp_buf_release(&file);
    return fine;
}

enum fp_exit fp_save_command(int argc, char **argv)
{
    struct save_options given = {0};
    char times[2][40];
    fp_command_parse(&save_argp, argc, argv, &given);
    char *conninfo = fp_database_choose(&given.database);
    if (conninfo == NULL)
        return FP_EXIT_TROUBLE;
    PGconn *connection = fp_database_connect(conninfo);
    bool fine = connection != NULL && settle(&given, connection, times) &&
                write_report(&given, conninfo, connection);
    PQfinish(connection);
    free(conninfo);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
