/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer: a dump of the retired tracing tool becomes one timeline of nested events, and the
 * V8 profiles in it become stacks and samples. This file reads containers and their records.
 *
 * Nothing ever checked the tool's output, so this decoder is lenient: it skips an invalid record,
 * counts it in profile->session.notes and keeps the valid ones around it. docs/formats.md has the
 * rules.
 */
#include "collector/base/assert.h"
#include "collector/format/content.h"
#include "collector/format/format_decoder.h"
#include "collector/format/json.h"
#include "collector/format/speed_tracer/carry.h"
#include "collector/format/speed_tracer/dump.h"
#include "collector/format/speed_tracer/finish.h"
#include "collector/format/speed_tracer/record.h"
#include "collector/format/speed_tracer/scan.h"
#include "collector/format/speed_tracer/v8.h"
#include "collector/format/utf8.h"

#include <math.h>

/* Records up to SMALL_MAX bytes are parsed in one shared block of memory. */
enum { SMALL_MAX = 32 * 1024, VERSION_MAX = 16 };

/* How much of a body is looked at to see whether it is a dump. */
enum { SNIFFED_OBJECTS = 8, SNIFFED_BROKEN = 1000 };

/* Shapes. */

static bool is_record(yyjson_val *value)
{
    yyjson_val *type = yyjson_obj_get(value, "type");
    double number = yyjson_get_num(type);
    return yyjson_is_num(type) && floor(number) >= number;
}

static bool is_post(yyjson_val *value)
{
    yyjson_val *header = yyjson_obj_get(value, "header");
    return header != NULL && !fp_is_times(header) && yyjson_obj_get(value, "data") != NULL;
}

/* True if an object has a member of another format. */
static bool is_other(yyjson_val *value)
{
    static const char *const others[] = {"trace",  "marks",  "measures", "entries",  "coverage",
                                         "frames", "stacks", "samples",  "resources"};
    for (size_t i = 0; i < FP_COUNT(others); i++)
        if (yyjson_obj_get(value, others[i]) != NULL)
            return true;
    return false;
}

/* True if a value is a record (its `type` is a whole number), the body that the headless extension
 * posts (`header` and `data`), or a raw message. Uploads of other formats are none of these. */
static bool is_of_dump(yyjson_val *value)
{
    return (is_record(value) || is_post(value) || fp_st_is_raw_message(value)) && !is_other(value);
}

/* True if a stream that begins with this value is a dump. Its first record need not be valid: no
 * other format is a stream of objects. */
static bool begins_dump(yyjson_val *value)
{
    bool is_like_record =
        yyjson_obj_get(value, "type") != NULL || yyjson_obj_get(value, "time") != NULL;
    return fp_st_is_raw_message(value) || ((is_like_record || is_post(value)) && !is_other(value));
}

/* Returns the offset after a byte order mark and white space. */
static size_t skip_space(struct fp_str body)
{
    const struct fp_str mark = FP_JSON_BYTE_ORDER_MARK;
    size_t at = fp_str_has_prefix(body, mark) ? mark.len : 0;
    while (at < body.len && fp_is_space(body.ptr[at]))
        at++;
    return at;
}

static bool is_page(struct fp_str body)
{
    size_t begin = skip_space(body);
    return begin < body.len && body.ptr[begin] == '<';
}

enum sniffed { SNIFFED_DUMP, SNIFFED_OTHER, SNIFFED_UNKNOWN, SNIFFED_NOT_JSON };

/* Parses one object of a body, to see what it belongs to. */
static enum sniffed sniff_object(const struct fp_decoder *decoder, struct fp_str text)
{
    struct fp_json json;
    struct fp_upload_error ignored;
    enum fp_verdict verdict =
        fp_json_parse(text, decoder->limits->json_depth, decoder->arena, &json, &ignored);
    if (verdict == FP_VERDICT_MEMORY)
        (void)fp_upload_fail_memory(decoder->error); /* the format stays unknown */
    if (verdict != FP_VERDICT_OK)
        return verdict == FP_VERDICT_MALFORMED ? SNIFFED_NOT_JSON : SNIFFED_UNKNOWN;
    enum sniffed sniffed = begins_dump(json.root) ? SNIFFED_DUMP
                           : is_other(json.root)  ? SNIFFED_OTHER
                                                  : SNIFFED_UNKNOWN;
    fp_json_release(&json);
    return sniffed;
}

/* Says what to do with a body whose first objects are all unreadable: they do not show its format.
 */
static void fail_sniffing(const struct fp_decoder *decoder)
{
    const int64_t offset = decoder->error->offset;
    (void)fp_upload_fail(
        decoder->error, FP_VERDICT_MALFORMED,
        "the first %d objects are not JSON; if this is a dump of Speed Tracer, add "
        "?format=speed-tracer to the URL",
        (int)SNIFFED_BROKEN);
    decoder->error->offset = offset;
}

/* True if a body begins like a dump: with a page, or with an object that resembles a record. Parses
 * the first objects only, not counting those that are not JSON: they may be damaged. */
static bool sniffs(const struct fp_decoder *decoder, struct fp_str body)
{
    if (is_page(body))
        return true;
    struct fp_st_scan scan = {.body = body};
    int unknown = 0;
    int broken = 0;
    while (unknown < SNIFFED_OBJECTS && broken < SNIFFED_BROKEN) {
        struct fp_st_record record;
        struct fp_st_broken_post post;
        enum fp_st_scan_result result = fp_st_scan_next(&scan, &record);
        if (result == FP_ST_SCAN_END)
            return false;
        enum sniffed sniffed =
            result == FP_ST_SCAN_FOUND ? sniff_object(decoder, record.text) : SNIFFED_NOT_JSON;
        if (sniffed == SNIFFED_DUMP || sniffed == SNIFFED_OTHER)
            return sniffed == SNIFFED_DUMP;
        unknown += sniffed == SNIFFED_UNKNOWN;
        if (sniffed != SNIFFED_NOT_JSON)
            continue;
        if (broken++ == 0 && unknown == 0 && fp_st_broken_post_find(&record, &post))
            return true;
        (void)fp_st_scan_resync(&scan, &record);
    }
    if (broken == SNIFFED_BROKEN)
        fail_sniffing(decoder);
    return false;
}

/* Container D: {header, data}. */

static void add_post_header(struct fp_decoder *decoder)
{
    char head[64];
    int len = snprintf(head, sizeof(head), "{\"header\":{\"timeStamp\":%lld},\"data\":[\n",
                       (long long)(decoder->profile->session.started_us / 1000));
    fp_content_add(decoder, (struct fp_str){head, (size_t)len});
}

/* Reads the only member of the header that the tool filled. 0 is what kept contents have without
 * it. */
static void read_start(struct fp_st_dump *dump, yyjson_val *header)
{
    yyjson_val *start = fp_json_member(header, FP_STR("timeStamp"));
    int64_t started_us = 0;
    bool is_time = start == NULL || fp_time_of(start, &started_us);
    bool is_header = header == NULL || yyjson_is_obj(header);
    if (is_time && started_us > 0)
        dump->decoder->profile->session.started_us = started_us;
    else if (!is_header || !is_time || started_us < 0)
        fp_st_add_note(dump, FP_ST_NOTE_BAD_START);
}

static void open_post(struct fp_st_dump *dump, yyjson_val *header)
{
    struct fp_decoder *decoder = dump->decoder;
    read_start(dump, header);
    dump->is_post = true;
    add_post_header(decoder);
}

static bool read_post(struct fp_st_dump *dump, yyjson_val *post)
{
    yyjson_val *data = fp_json_member(post, FP_STR("data"));
    const struct fp_place place = {.member = FP_STR("data")};
    if (!yyjson_is_arr(data))
        return fp_fail_at(dump->decoder, FP_VERDICT_INVALID, &place,
                          "data must be an array of records");
    open_post(dump, fp_json_member(post, FP_STR("header")));
    dump->is_index = true;
    dump->text = (struct fp_str){0}; /* the whole body's, not one record's */
    size_t i;
    size_t count;
    yyjson_val *record;
    yyjson_arr_foreach(data, i, count, record)
    {
        dump->offset = (int64_t)i;
        if (!fp_st_read_record(dump, record))
            return false;
    }
    dump->is_index = false; /* records after the post are text again */
    return true;
}

/* Containers A to C: records as text. */

/* A parsed record: in `doc`, or in `large` if it is large or has unpaired surrogates. */
struct parsed_record {
    yyjson_doc *doc;
    struct fp_json large;
    yyjson_val *root; /* NULL: not JSON */
};

struct record_parser {
    struct fp_st_dump *dump;
    void *memory;
    size_t memory_len;
    struct fp_buf utf8; /* of the current record, if the body is not UTF-8 */
    bool is_first;      /* no record was parsed yet */
};

static bool fail_depth(struct fp_st_dump *dump)
{
    fp_upload_fail(dump->decoder->error, FP_VERDICT_TOO_LARGE,
                   "the JSON is nested deeper than %u levels (limits.json_depth)",
                   (unsigned)dump->decoder->limits->json_depth);
    return fp_st_fail_at_record(dump);
}

static bool parse(struct record_parser *parser, struct fp_str text, struct parsed_record *parsed)
{
    struct fp_decoder *decoder = parser->dump->decoder;
    *parsed = (struct parsed_record){0};
    yyjson_read_err why = {.code = YYJSON_READ_ERROR_INVALID_STRING};
    if (text.len <= SMALL_MAX) {
        yyjson_alc pool;
        yyjson_alc_pool_init(&pool, parser->memory, parser->memory_len);
        /* Without the in-place flag yyjson leaves the bytes as they are. */
        parsed->doc = yyjson_read_opts((char *)(uintptr_t)text.ptr, text.len, YYJSON_READ_NOFLAG,
                                       &pool, &why);
        parsed->root = yyjson_doc_get_root(parsed->doc);
    }
    /* fp_json_parse also replaces unpaired surrogates. */
    if (parsed->doc != NULL || why.code != YYJSON_READ_ERROR_INVALID_STRING)
        return true;
    struct fp_upload_error error;
    enum fp_verdict verdict =
        fp_json_parse(text, FP_JSON_DEPTH_MAX, decoder->arena, &parsed->large, &error);
    if (verdict == FP_VERDICT_MEMORY)
        return fp_fail_memory(decoder);
    if (verdict == FP_VERDICT_TOO_LARGE)
        return fail_depth(parser->dump);
    if (verdict == FP_VERDICT_OK)
        parsed->root = parsed->large.root;
    return true;
}

static void release_parsed(struct parsed_record *parsed)
{
    if (parsed->doc == NULL && parsed->root != NULL)
        fp_json_release(&parsed->large);
}

static bool read_parsed(struct record_parser *parser, yyjson_val *root)
{
    struct fp_st_dump *dump = parser->dump;
    bool is_first = parser->is_first;
    parser->is_first = false;
    if (is_first && is_post(root) && !is_record(root))
        return read_post(dump, root);
    return fp_st_read_record(dump, root);
}

static void skip_text(struct fp_st_dump *dump, enum fp_st_note note)
{
    fp_st_add_note(dump, note);
    dump->decoder->profile->session.records_read++;
}

/* Enters a posted body that is truncated or not JSON: its records may be valid. */
static bool enter_broken_post(struct record_parser *parser, struct fp_st_scan *scan,
                              const struct fp_st_record *record, bool *entered)
{
    struct fp_st_broken_post post;
    *entered = parser->is_first && fp_st_broken_post_find(record, &post);
    if (!*entered)
        return true;
    struct parsed_record header;
    if (!parse(parser, post.header, &header))
        return false;
    open_post(parser->dump, header.root);
    release_parsed(&header);
    fp_st_add_note(parser->dump, FP_ST_NOTE_BROKEN_POST);
    parser->is_first = false;
    scan->at = post.records;
    scan->in_list = true;
    scan->list_end = fp_st_broken_post_end(scan->body, post.records);
    return true;
}

/* Skips a record that is not JSON, or enters a broken posted body. */
static bool read_broken_text(struct record_parser *parser, struct fp_st_scan *scan,
                             const struct fp_st_record *record)
{
    bool entered;
    if (!enter_broken_post(parser, scan, record, &entered) || entered)
        return entered;
    skip_text(parser->dump, FP_ST_NOTE_NOT_JSON);
    (void)fp_st_scan_resync(scan, record);
    return true;
}

/* Returns a text of the body as UTF-8, a NULL pointer when memory is out. Valid until the next
 * call. */
static struct fp_str text_of(struct record_parser *parser, struct fp_str text)
{
    struct fp_buf *utf8 = &parser->utf8;
    if (!parser->dump->is_latin1 || fp_utf8_is_ascii(text))
        return text;
    fp_buf_clear(utf8);
    fp_utf8_add_windows_1252(text, utf8);
    if (utf8->failed)
        return (struct fp_str){NULL, 0};
    return (struct fp_str){(const char *)utf8->data, utf8->len};
}

static bool read_text(struct record_parser *parser, struct fp_st_scan *scan,
                      const struct fp_st_record *record)
{
    const uint32_t depth_limit = parser->dump->decoder->limits->json_depth;
    const struct fp_str text = text_of(parser, record->text);
    struct parsed_record parsed;
    if (text.ptr == NULL)
        return fp_fail_memory(parser->dump->decoder);
    if (!parse(parser, text, &parsed))
        return false;
    if (parsed.root == NULL)
        return read_broken_text(parser, scan, record);
    parser->dump->text = record->is_plain ? text : FP_STR("");
    bool is_too_deep =
        record->depth > (depth_limit < FP_JSON_DEPTH_MAX ? depth_limit : FP_JSON_DEPTH_MAX);
    bool is_done = is_too_deep ? fail_depth(parser->dump) : read_parsed(parser, parsed.root);
    release_parsed(&parsed);
    return is_done;
}

/* Skips a record without its closing brace, or enters a truncated posted body. */
static bool read_truncated(struct record_parser *parser, struct fp_st_scan *scan,
                           const struct fp_st_record *record)
{
    bool entered;
    if (!enter_broken_post(parser, scan, record, &entered))
        return false;
    parser->dump->decoder->profile->truncated = entered;
    if (entered)
        return true;
    if (fp_st_scan_resync(scan, record) || scan->at < scan->body.len) {
        skip_text(parser->dump, FP_ST_NOTE_NOT_JSON);
        return true;
    }
    skip_text(parser->dump, FP_ST_NOTE_TRUNCATED);
    parser->dump->decoder->profile->truncated = true;
    return true;
}

static bool read_texts(struct record_parser *parser, struct fp_st_scan *scan)
{
    struct fp_st_dump *dump = parser->dump;
    for (;;) {
        struct fp_st_record record;
        enum fp_st_scan_result result = fp_st_scan_next(scan, &record);
        if (record.has_junk) {
            dump->offset = (int64_t)record.junk_offset;
            fp_st_add_note(dump, FP_ST_NOTE_JUNK);
        }
        dump->offset = (int64_t)record.offset;
        if (result == FP_ST_SCAN_END)
            return true;
        if (!(result == FP_ST_SCAN_TRUNCATED ? read_truncated : read_text)(parser, scan, &record))
            return false;
    }
}

static bool read_body(struct record_parser *parser, struct fp_st_scan *scan)
{
    struct fp_decoder *decoder = parser->dump->decoder;
    parser->memory_len = yyjson_read_max_memory_usage(SMALL_MAX, YYJSON_READ_NOFLAG);
    parser->memory = fp_arena_alloc(decoder->arena, parser->memory_len);
    if (parser->memory == NULL)
        return fp_fail_memory(decoder);
    fp_buf_init(&parser->utf8, decoder->arena->max_bytes);
    bool is_read = read_texts(parser, scan);
    fp_buf_release(&parser->utf8);
    return is_read;
}

/* The dump. */

/* Begins the content as a page: only a page has a version. */
static void add_page_header(struct fp_decoder *decoder, struct fp_str version)
{
    fp_content_add(decoder, FP_STR("<html isDump=\"true\"><body><div id=\"traceData\""));
    if (version.len > 0) {
        fp_content_add(decoder, FP_STR(" version=\""));
        fp_content_add(decoder, version);
        fp_content_add(decoder, FP_STR("\""));
    }
    fp_content_add(decoder, FP_STR(">\n"));
}

/* True if a text looks like a version of the tool, 0.9 to 0.27. */
static bool is_version(struct fp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!fp_is_digit(text.ptr[i]) && text.ptr[i] != '.')
            return false;
    return text.len <= VERSION_MAX;
}

static bool is_one_of(struct fp_str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fp_str_equal_nocase(name, fp_str_of(names[i])))
            return true;
    return false;
}

/* Finds how to read the bytes of a page. Refuses non-ASCII bytes in an unknown charset.
 */
static bool read_charset(struct fp_st_dump *dump, struct fp_str body, struct fp_str charset)
{
    static const char *const latin1[] = {"iso-8859-1", "iso8859-1", "iso_8859-1", "latin1",
                                         "l1",         "us-ascii",  "ascii",      "windows-1252",
                                         "cp1252",     "x-cp1252"};
    static const char *const utf8[] = {"utf-8", "utf8"};
    const struct fp_str mark = FP_JSON_BYTE_ORDER_MARK;
    if (charset.len == 0 || fp_str_has_prefix(body, mark))
        return true;
    dump->is_latin1 = is_one_of(charset, latin1, FP_COUNT(latin1));
    if (dump->is_latin1 || is_one_of(charset, utf8, FP_COUNT(utf8)) || fp_utf8_is_ascii(body))
        return true;
    fp_upload_fail(dump->decoder->error, FP_VERDICT_UNSUPPORTED,
                   "this page declares a charset that is not read; save it as UTF-8 or ISO-8859-1");
    dump->decoder->error->offset = charset.ptr - body.ptr;
    return false;
}

/* Finds where the records begin and which version wrote them. */
static bool open_container(struct fp_st_dump *dump, struct fp_st_scan *scan)
{
    struct fp_decoder *decoder = dump->decoder;
    dump->may_be_early = true;
    scan->at = skip_space(scan->body);
    if (!is_page(scan->body))
        return true;
    struct fp_st_page page;
    if (!fp_st_page_find(scan->body, &page)) {
        fp_upload_fail(decoder->error, FP_VERDICT_MALFORMED,
                       "this is an HTML page without an element with the id traceData: it is not a "
                       "Speed Tracer dump, and not JSON");
        decoder->error->offset = (int64_t)scan->at;
        return false;
    }
    scan->at = page.begin;
    scan->in_page = true;
    if (page.is_raw) {
        fp_upload_fail(decoder->error, FP_VERDICT_UNSUPPORTED,
                       "this page holds raw messages of a browser's inspector (isRaw); load it "
                       "into Speed Tracer and save it");
        decoder->error->offset = (int64_t)page.begin;
        return false;
    }
    if (!read_charset(dump, scan->body, page.charset))
        return false;
    if (!is_version(page.version))
        page.version = FP_STR("?");
    dump->may_be_early = page.version.len == 0 || fp_str_equal(page.version, FP_STR("0.8"));
    dump->is_early = dump->may_be_early;
    if (!fp_arena_copy(decoder->arena, page.version, &decoder->profile->session.version))
        return fp_fail_memory(decoder);
    add_page_header(decoder, page.version);
    return true;
}

/* Refuses a dump without a valid record. Names the first problem. */
static bool fail_empty(struct fp_st_dump *dump)
{
    enum fp_st_note first = FP_ST_NOTE_REFUSALS;
    for (enum fp_st_note i = 0; i < FP_ST_NOTE_REFUSALS; i++)
        if (dump->notes[i].count > 0 &&
            (first == FP_ST_NOTE_REFUSALS ||
             dump->notes[i].first_offset < dump->notes[first].first_offset))
            first = i;
    struct fp_upload_error *error = dump->decoder->error;
    if (first == FP_ST_NOTE_REFUSALS) {
        fp_upload_fail(error, FP_VERDICT_INVALID,
                       "there is no record in this dump of Speed Tracer");
        return fp_st_fail_at_record(dump);
    }
    fp_upload_fail(error, first <= FP_ST_NOTE_TRUNCATED ? FP_VERDICT_MALFORMED : FP_VERDICT_INVALID,
                   "none of the records is valid; the first problem is %s", fp_st_note_text(first));
    dump->offset = dump->notes[first].first_offset;
    dump->is_index = dump->notes[first].is_index;
    return fp_st_fail_at_record(dump);
}

static bool add_timeline(struct fp_st_dump *dump)
{
    struct fp_profile *profile = dump->decoder->profile;
    profile->timelines = fp_arena_array(dump->decoder->arena, 1, sizeof(*profile->timelines));
    if (profile->timelines == NULL)
        return fp_fail_memory(dump->decoder);
    profile->timelines[0] = (struct fp_profile_timeline){
        .id = 1, .mode = FP_REDUCE_ALL_EVENTS, .event_count = profile->event_count};
    profile->timeline_count = 1;
    profile->has_session = true;
    return true;
}

static bool decode_records(struct fp_st_dump *dump, struct fp_str body)
{
    struct fp_st_scan scan = {.body = body};
    struct record_parser parser = {.dump = dump, .is_first = true};
    if (!open_container(dump, &scan) || !fp_st_carry_restore(dump) || !read_body(&parser, &scan))
        return false;
    const struct fp_profile *profile = dump->decoder->profile;
    FP_ASSERT(profile->session.records_kept == profile->event_count &&
              profile->event_count <= profile->session.records_read);
    if (profile->event_count == 0)
        return fail_empty(dump);
    fp_content_add(dump->decoder, dump->is_post  ? FP_STR("]}\n")
                                  : scan.in_page ? FP_STR("\n</div></body></html>\n")
                                                 : FP_STR("\n"));
    if (!fp_st_finish(dump) || !add_timeline(dump) || !fp_st_list_notes(dump))
        return false;
    fp_st_carry_save(dump);
    return true;
}

/* Reserves memory for the content, which is about as long as the body, so that it need not grow. */
static void reserve_content(struct fp_decoder *decoder, size_t body_len)
{
    enum { CONTAINER_MAX = 256 };
    const size_t len = body_len + CONTAINER_MAX;
    if (decoder->content != NULL && len < decoder->content->max)
        (void)fp_buf_reserve(decoder->content, len);
}

static bool decode_dump(struct fp_decoder *decoder, struct fp_str body)
{
    struct fp_st_dump dump = {.decoder = decoder, .main_resource = FP_INDEX_NONE};
    *decoder->profile = (struct fp_profile){.format = FP_UPLOAD_SPEED_TRACER};
    fp_map_init(&dump.resources, (size_t)decoder->limits->resources + 1);
    fp_map_init(&dump.type_names, decoder->limits->entries);
    fp_map_init(&dump.timer_ids, decoder->limits->entries);
    fp_buf_init(&dump.detail, decoder->arena->max_bytes);
    reserve_content(decoder, body.len);
    bool decoded = decode_records(&dump, body);
    fp_buf_release(&dump.detail);
    fp_st_v8_release(dump.v8);
    fp_map_release(&dump.timer_ids);
    fp_map_release(&dump.type_names);
    fp_map_release(&dump.resources);
    return decoded;
}

/* Some tools wrap a dump in one JSON array; Speed Tracer itself never did. */
static bool is_array_of_records(yyjson_val *root)
{
    yyjson_val *first = yyjson_arr_get_first(root);
    return is_of_dump(first) && yyjson_obj_get(first, "entryType") == NULL;
}

static bool has_shape(yyjson_val *root)
{
    return is_of_dump(root) || is_array_of_records(root);
}

/* Decodes the body. Releases the JSON document of a small dump: records are parsed one by one. */
static bool decode(struct fp_decoder *decoder, struct fp_str body, struct fp_json *json)
{
    const struct fp_place first = {.index = 0};
    if (json != NULL && fp_st_is_raw_message(yyjson_arr_get_first(json->root)))
        return fp_fail_at(decoder, FP_VERDICT_UNSUPPORTED, &first, FP_ST_RAW_MESSAGE);
    if (json != NULL && is_array_of_records(json->root))
        return fp_fail_at(decoder, FP_VERDICT_INVALID, &first,
                          "this is a record of Speed Tracer; a dump has them one after another, or "
                          "in an object with header and data, not in an array");
    if (json != NULL)
        fp_json_release(json);
    return decode_dump(decoder, body);
}

const struct fp_format_decoder fp_format_speed_tracer = {
    .format = FP_UPLOAD_SPEED_TRACER,
    .sniffs = sniffs,
    .has_shape = has_shape,
    .decode = decode,
    .what_else = "not a dump of Speed Tracer",
};
