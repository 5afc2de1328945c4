/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables: the descriptions, and the statements built from them.
 */
#include "collector/store/tables.h"

#include "collector/base/assert.h"

#define COLUMN(row, member, name, kind)                                                            \
    {name, FP_COLUMN_##kind, false, false, offsetof(struct row, member), 0}
#define KEY(row, member, name, kind)                                                               \
    {name, FP_COLUMN_##kind, true, false, offsetof(struct row, member), 0}
#define LEAST(row, member, name, kind)                                                             \
    {name, FP_COLUMN_##kind, false, true, offsetof(struct row, member), 0}
#define GIVEN(row, member, has, name, kind)                                                        \
    {name, FP_COLUMN_##kind, false, false, offsetof(struct row, member), offsetof(struct row, has)}

static const struct fp_store_column segment_columns[] = {
    KEY(fp_segment_row, segment_id, "segment_id", BIGINT),
    COLUMN(fp_segment_row, names.site, "site", TEXT),
    COLUMN(fp_segment_row, names.route, "route", TEXT),
    COLUMN(fp_segment_row, names.release, "release", TEXT),
    COLUMN(fp_segment_row, names.environment, "environment", TEXT),
    COLUMN(fp_segment_row, names.variant, "variant", TEXT),
    COLUMN(fp_segment_row, names.browser, "browser", TEXT),
    COLUMN(fp_segment_row, names.os, "os", TEXT),
    COLUMN(fp_segment_row, names.device, "device", TEXT),
    COLUMN(fp_segment_row, names.thread, "thread", TEXT),
    COLUMN(fp_segment_row, names.rate_ppm, "rate_ppm", INTEGER),
    COLUMN(fp_segment_row, names.frame, "frame", TEXT),
    COLUMN(fp_segment_row, names.traffic, "traffic", TEXT),
    COLUMN(fp_segment_row, names.machine, "machine", TEXT),
    COLUMN(fp_segment_row, names.browser_version, "browser_version", TEXT),
    COLUMN(fp_segment_row, names.network, "network", TEXT),
    COLUMN(fp_segment_row, names.custom, "custom", TEXT),
    COLUMN(fp_segment_row, names.drawn, "drawn", TEXT),
    LEAST(fp_segment_row, first_us, "first_seen", TIME),
};

static const struct fp_store_column resource_columns[] = {
    KEY(fp_resource_row, resource_id, "resource_id", BIGINT),
    COLUMN(fp_resource_row, site, "site", TEXT),
    COLUMN(fp_resource_row, url, "url", TEXT),
    COLUMN(fp_resource_row, url, "domain", DOMAIN),
};

static const struct fp_store_column frame_columns[] = {
    KEY(fp_frame_row, frame_id, "frame_id", BIGINT),
    COLUMN(fp_frame_row, function, "function", TEXT),
    COLUMN(fp_frame_row, resource_id, "resource_id", BIGINT_OR_NULL),
    COLUMN(fp_frame_row, line, "line", INTEGER_OR_NULL),
    COLUMN(fp_frame_row, column, "column_number", INTEGER_OR_NULL),
    COLUMN(fp_frame_row, kind, "kind", FRAME_KIND),
};

static const struct fp_store_column stack_columns[] = {
    KEY(fp_stack_row, stack_id, "stack_id", BIGINT),
    COLUMN(fp_stack_row, parent_id, "parent_id", BIGINT_OR_NULL),
    COLUMN(fp_stack_row, frame_id, "frame_id", BIGINT),
    COLUMN(fp_stack_row, level, "level", INTEGER),
};

static const struct fp_store_column timing_columns[] = {
    KEY(fp_timing_row, timing_id, "timing_id", BIGINT),
    COLUMN(fp_timing_row, name, "name", TEXT),
    COLUMN(fp_timing_row, kind, "kind", TIMING_KIND),
    COLUMN(fp_timing_row, source, "source", TEXT),
    COLUMN(fp_timing_row, function, "function", TEXT),
    COLUMN(fp_timing_row, navigation, "navigation", TEXT),
};

static const struct fp_store_column upload_id_columns[] = {
    KEY(fp_upload_row, id, "upload_id", UUID),
    KEY(fp_upload_row, key.site_id, "site_id", BIGINT),
};

static const struct fp_store_column load_id_columns[] = {
    KEY(fp_load_row, id, "load_id", UUID),
    KEY(fp_load_row, key.site_id, "site_id", BIGINT),
};

static const struct fp_store_column upload_columns[] = {
    COLUMN(fp_upload_row, bucket_us, "bucket", TIME),
    COLUMN(fp_upload_row, id, "upload_id", UUID),
    COLUMN(fp_upload_row, received_us, "received", TIME),
    COLUMN(fp_upload_row, segment_id, "segment_id", BIGINT),
    GIVEN(fp_upload_row, load, has_load, "load_id", UUID),
    COLUMN(fp_upload_row, part, "part", INTEGER),
    COLUMN(fp_upload_row, format, "format", FORMAT),
    COLUMN(fp_upload_row, coverage, "coverage", COVERAGE),
    COLUMN(fp_upload_row, truncated, "truncated", BOOLEAN),
    COLUMN(fp_upload_row, browser_version, "browser_version", INTEGER),
    COLUMN(fp_upload_row, agent, "agent", TEXT),
    COLUMN(fp_upload_row, body_bytes, "body_bytes", INTEGER),
    COLUMN(fp_upload_row, samples, "samples", INTEGER),
    COLUMN(fp_upload_row, unattributed_samples, "unattributed_samples", INTEGER),
    COLUMN(fp_upload_row, profiled_us, "profiled_us", BIGINT),
    COLUMN(fp_upload_row, unattributed_us, "unattributed_us", BIGINT),
    COLUMN(fp_upload_row, timings, "timings", INTEGER),
    COLUMN(fp_upload_row, skipped_entries, "skipped_entries", INTEGER),
    COLUMN(fp_upload_row, records_read, "records_read", INTEGER),
    COLUMN(fp_upload_row, records_refused, "records_refused", INTEGER),
    COLUMN(fp_upload_row, unseen_us, "unseen_us", BIGINT),
};

static const struct fp_store_column refusal_columns[] = {
    KEY(fp_refusal_row, key.segment_id, "segment_id", BIGINT),
    KEY(fp_refusal_row, key.bucket_us, "bucket", TIME),
    KEY(fp_refusal_row, format, "format", FORMAT),
    KEY(fp_refusal_row, reason, "reason", RECORD_REFUSAL),
    COLUMN(fp_refusal_row, records, "records", BIGINT),
    COLUMN(fp_refusal_row, uploads, "uploads", BIGINT),
    COLUMN(fp_refusal_row, latest_us, "latest", TIME),
    COLUMN(fp_refusal_row, place, "first_place", TEXT),
};

#define SESSION_KEY(row)                                                                           \
    KEY(row, key.segment_id, "segment_id", BIGINT), KEY(row, key.bucket_us, "bucket", TIME),       \
        KEY(row, key.id, "session_id", BIGINT)

static const struct fp_store_column session_columns[] = {
    SESSION_KEY(fp_session_row),
    COLUMN(fp_session_row, upload, "upload_id", UUID),
    GIVEN(fp_session_row, load, has_load, "load_id", UUID),
    COLUMN(fp_session_row, part, "part", INTEGER),
    COLUMN(fp_session_row, received_us, "received", TIME),
    GIVEN(fp_session_row, started_us, has_started, "started", TIME),
    COLUMN(fp_session_row, format, "format", FORMAT),
    COLUMN(fp_session_row, version, "version", TEXT),
    COLUMN(fp_session_row, source_id, "source_id", BIGINT_OR_NULL),
    COLUMN(fp_session_row, window_id, "window_id", BIGINT_OR_NULL),
    COLUMN(fp_session_row, page_url, "page_url", TEXT),
    COLUMN(fp_session_row, is_raw, "is_raw", BOOLEAN),
    COLUMN(fp_session_row, content_len, "content_bytes", INTEGER),
    COLUMN(fp_session_row, content, "content", BYTES),
    COLUMN(fp_session_row, records_read, "records_read", INTEGER),
    COLUMN(fp_session_row, records_refused, "records_refused", INTEGER),
    COLUMN(fp_session_row, is_detached, "is_detached", BOOLEAN),
    COLUMN(fp_session_row, vector.timing_ids, "vector_timing_ids", BIGINTS),
    COLUMN(fp_session_row, vector.frame_ids, "vector_frame_ids", BIGINTS),
    COLUMN(fp_session_row, vector.self_us, "vector_us", BIGINTS),
    COLUMN(fp_session_row, vector.seen_frame_ids, "seen_frame_ids", BIGINTS),
};

static const struct fp_store_column timeline_columns[] = {
    SESSION_KEY(fp_timeline_row),
    KEY(fp_timeline_row, key.part, "timeline", BIGINT),
    COLUMN(fp_timeline_row, timeline_id, "timeline_id", BIGINT),
    COLUMN(fp_timeline_row, frame_id, "frame_id", BIGINT_OR_NULL),
    COLUMN(fp_timeline_row, mode, "mode", REDUCE_MODE),
    COLUMN(fp_timeline_row, events, "events", INTEGER),
};

static const struct fp_store_column event_columns[] = {
    SESSION_KEY(fp_event_row),
    KEY(fp_event_row, key.part, "event", BIGINT),
    COLUMN(fp_event_row, timeline, "timeline", BIGINT),
    COLUMN(fp_event_row, parent, "parent", BIGINT_OR_NULL),
    COLUMN(fp_event_row, event_id, "event_id", BIGINT_OR_NULL),
    COLUMN(fp_event_row, type, "type", TEXT),
    COLUMN(fp_event_row, type_number, "type_number", INTEGER),
    COLUMN(fp_event_row, start_us, "start_us", BIGINT),
    GIVEN(fp_event_row, duration_us, has_duration, "duration_us", BIGINT),
    COLUMN(fp_event_row, self_us, "self_us", BIGINT),
    COLUMN(fp_event_row, overhead_us, "overhead_us", BIGINT),
    COLUMN(fp_event_row, total_us, "total_us", BIGINT),
    COLUMN(fp_event_row, total_overhead_us, "total_overhead_us", BIGINT),
    COLUMN(fp_event_row, hits, "hits", BIGINT),
    COLUMN(fp_event_row, child_count, "child_count", BIGINT),
    GIVEN(fp_event_row, resource, has_resource, "resource", TEXT),
    COLUMN(fp_event_row, line, "line", INTEGER_OR_NULL),
    GIVEN(fp_event_row, detail, has_detail, "detail", JSON),
    COLUMN(fp_event_row, parent_id, "parent_id", BIGINT_OR_NULL),
};

static const struct fp_store_column vital_columns[] = {
    KEY(fp_vital_row, id, "vital_id", UUID),
    COLUMN(fp_vital_row, count.value_us, "value_us", BIGINT),
    COLUMN(fp_vital_row, count.segment_id, "segment_id", BIGINT),
    COLUMN(fp_vital_row, count.bucket_us, "bucket", TIME),
    COLUMN(fp_vital_row, part, "part", INTEGER),
    COLUMN(fp_vital_row, count.rating, "rating", INTEGER),
    COLUMN(fp_vital_row, count.uploads, "uploads", INTEGER),
    COLUMN(fp_vital_row, count.element_id, "element_id", BIGINT),
    COLUMN(fp_vital_row, count.parts.known, "known_parts", BIGINT),
    COLUMN(fp_vital_row, count.parts.us[0], "part_1_us", BIGINT),
    COLUMN(fp_vital_row, count.parts.us[1], "part_2_us", BIGINT),
    COLUMN(fp_vital_row, count.parts.us[2], "part_3_us", BIGINT),
    COLUMN(fp_vital_row, count.parts.us[3], "part_4_us", BIGINT),
    COLUMN(fp_vital_row, count.navigation, "navigation", INTEGER),
    COLUMN(fp_vital_row, count.without, "without", BYTES),
};

static bool is_counted(const struct fp_rollup *rollup, const void *row)
{
    const struct fp_upload_row *upload = row;
    (void)rollup;
    return upload->counted;
}

static bool is_logged(const struct fp_rollup *rollup, const void *row)
{
    const struct fp_upload_row *upload = row;
    return upload->counted && upload->bucket_us >= rollup->clock.oldest_log_us;
}

_Static_assert(offsetof(struct fp_refusal_row, key) == 0, "is_recent reads the key first");

/* True if the row is within the retention of the upload log. Rows of refusals begin with a fact
 * key. */
static bool is_recent(const struct fp_rollup *rollup, const void *row)
{
    const struct fp_fact_key *key = row;
    return key->bucket_us >= rollup->clock.oldest_log_us;
}

_Static_assert(offsetof(struct fp_session_row, key) == 0 &&
                   offsetof(struct fp_timeline_row, key) == 0 &&
                   offsetof(struct fp_event_row, key) == 0,
               "is_kept reads the key first");

/* True if the row's session is kept. Session rows begin with a fact key. */
static bool is_kept(const struct fp_rollup *rollup, const void *row)
{
    const struct fp_fact_key *key = row;
    return key->bucket_us >= rollup->clock.oldest_session_us;
}

#define TARGET(target, table, style, wants)                                                        \
    {#target,                                                                                      \
     FP_STORE_TABLE_##style,                                                                       \
     FP_ROLLUP_TABLE_##table,                                                                      \
     target##_columns,                                                                             \
     sizeof(target##_columns) / sizeof(target##_columns[0]),                                       \
     wants}

static const struct fp_store_table targets[FP_STORE_TABLE_COUNT] = {
    [FP_STORE_TABLE_SEGMENT] = TARGET(segment, SEGMENT, DICTIONARY, NULL),
    [FP_STORE_TABLE_RESOURCE] = TARGET(resource, RESOURCE, DICTIONARY, NULL),
    [FP_STORE_TABLE_FRAME] = TARGET(frame, FRAME, DICTIONARY, NULL),
    [FP_STORE_TABLE_STACK] = TARGET(stack, STACK, DICTIONARY, NULL),
    [FP_STORE_TABLE_TIMING] = TARGET(timing, TIMING, DICTIONARY, NULL),
    [FP_STORE_TABLE_UPLOAD_ID] = TARGET(upload_id, UPLOAD, BOOK, is_counted),
    [FP_STORE_TABLE_LOAD_ID] = TARGET(load_id, LOAD, BOOK, NULL),
    [FP_STORE_TABLE_VITAL] = TARGET(vital, VITAL, LAST_VALUES, NULL),
    [FP_STORE_TABLE_SESSION] = TARGET(session, SESSION, SESSIONS, is_kept),
    [FP_STORE_TABLE_TIMELINE] = TARGET(timeline, TIMELINE, SESSIONS, is_kept),
    [FP_STORE_TABLE_EVENT] = TARGET(event, EVENT, SESSIONS, is_kept),
    [FP_STORE_TABLE_REFUSAL] = TARGET(refusal, REFUSAL, REFUSALS, is_recent),
    [FP_STORE_TABLE_UPLOAD] = TARGET(upload, UPLOAD, LOG, is_logged),
};

const struct fp_store_table *fp_store_table(enum fp_store_table_id id)
{
    FP_ASSERT((size_t)id < FP_STORE_TABLE_COUNT);
    return &targets[id];
}

/* Types by their numbers in every PostgreSQL (pg_type.dat). Enums are sent as texts: their numbers
 * differ from database to database. */
#define BIGINT {"bigint", 20, NULL}
#define INTEGER {"integer", 23, NULL}
#define TEXT {"text", 25, NULL}

const struct fp_column_type *fp_store_column_type(enum fp_column_kind kind)
{
    static const struct fp_column_type types[FP_COLUMN_KIND_COUNT] = {
        [FP_COLUMN_BIGINT] = BIGINT,
        [FP_COLUMN_BIGINT_OR_NULL] = BIGINT,
        [FP_COLUMN_INTEGER] = INTEGER,
        [FP_COLUMN_INTEGER_OR_NULL] = INTEGER,
        [FP_COLUMN_TIME] = {"timestamptz", 1184, NULL},
        [FP_COLUMN_BOOLEAN] = {"boolean", 16, NULL},
        [FP_COLUMN_TEXT] = TEXT,
        [FP_COLUMN_DOMAIN] = TEXT,
        [FP_COLUMN_UUID] = {"uuid", 2950, NULL},
        [FP_COLUMN_FRAME_KIND] = {"text", 25, "fleetprof_data.frame_kind"},
        [FP_COLUMN_TIMING_KIND] = {"text", 25, "fleetprof_data.timing_kind"},
        [FP_COLUMN_FORMAT] = TEXT,
        [FP_COLUMN_COVERAGE] = TEXT,
        [FP_COLUMN_BIGINTS] = {"text", 25, "bigint[]"},
        [FP_COLUMN_BYTES] = {"bytea", 17, NULL},
        [FP_COLUMN_JSON] = {"jsonb", 3802, NULL},
        [FP_COLUMN_REDUCE_MODE] = TEXT,
        [FP_COLUMN_RECORD_REFUSAL] = TEXT,
    };
    FP_ASSERT((size_t)kind < FP_COLUMN_KIND_COUNT && types[kind].name != NULL);
    return &types[kind];
}

/* Appends the names of all columns, or of the key columns only, separated by commas. */
static void add_names(const struct fp_store_table *target, bool keys_only, struct fp_buf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < target->column_count; i++) {
        const struct fp_store_column *column = &target->columns[i];
        if (keys_only && !column->is_key)
            continue;
        fp_buf_addf(out, "%s%s", comma, column->name);
        comma = ", ";
    }
}

void fp_store_table_copy_sql(const struct fp_store_table *target, struct fp_buf *out)
{
    fp_buf_addf(out, "copy fleetprof_data.%s (", target->name);
    add_names(target, false, out);
    fp_buf_addf(out, ") from stdin (format binary)");
}

/* Appends what to select from the arrays. */
static void add_values(const struct fp_store_table *target, struct fp_buf *out)
{
    for (size_t i = 0; i < target->column_count; i++) {
        const struct fp_column_type *type = fp_store_column_type(target->columns[i].kind);
        fp_buf_addf(out, "%s%s%s%s", i > 0 ? ", " : "", target->columns[i].name,
                    type->cast != NULL ? "::" : "", type->cast != NULL ? type->cast : "");
    }
}

/* Appends the arrays as rows. */
static void add_arrays(const struct fp_store_table *target, struct fp_buf *out)
{
    fp_buf_addf(out, " from unnest(");
    for (size_t i = 0; i < target->column_count; i++)
        fp_buf_addf(out, "%s$%zu::%s[]", i > 0 ? ", " : "", i + 1,
                    fp_store_column_type(target->columns[i].kind)->name);
    fp_buf_addf(out, ") as new (");
    add_names(target, false, out);
    fp_buf_addf(out, ")");
}

bool fp_store_table_is_dated(const struct fp_store_table *target)
{
    return target->style == FP_STORE_TABLE_DICTIONARY || target->style == FP_STORE_TABLE_BOOK ||
           target->style == FP_STORE_TABLE_LAST_VALUES;
}

/* Appends the time that a row notes. */
static void add_time(const struct fp_store_table *target, struct fp_buf *out)
{
    size_t number = target->column_count + 1;
    if (target->style == FP_STORE_TABLE_DICTIONARY || target->style == FP_STORE_TABLE_LAST_VALUES)
        fp_buf_addf(out, ", ($%zu::timestamptz at time zone 'UTC')::date", number);
    else if (target->style == FP_STORE_TABLE_BOOK)
        fp_buf_addf(out, ", $%zu::timestamptz", number);
}

/* Returns the column of the time. */
static const char *time_column(const struct fp_store_table *target)
{
    if (!fp_store_table_is_dated(target))
        return "";
    return target->style == FP_STORE_TABLE_DICTIONARY ? ", last_seen" : ", counted";
}

/*
 * Keeps the later value. An equal one changes nothing but the part: what is counted stays where it
 * is. The row notes what was replaced, since the statement cannot return what it overwrites.
 */
static void add_replacement(struct fp_buf *out)
{
    static const char *const places[] = {"value_us",  "segment_id", "bucket",     "rating",
                                         "uploads",   "navigation", "element_id", "known_parts",
                                         "part_1_us", "part_2_us",  "part_3_us",  "part_4_us"};
    fp_buf_addf(out, " do update set part = excluded.part, counted = excluded.counted,"
                     " sent = least(t.sent, 2147483646) + 1");
    for (size_t i = 0; i < FP_COUNT(places); i++)
        fp_buf_addf(out,
                    ", %s = case when excluded.value_us = t.value_us then t.%s else excluded.%s end"
                    ", replaced_%s = case when excluded.value_us <> t.value_us then t.%s end",
                    places[i], places[i], places[i], places[i], places[i]);
    /* An upload that did not see the page load profiled replaces nothing. */
    fp_buf_addf(out,
                ", without = case when excluded.value_us = t.value_us and excluded.without = ''"
                " then t.without else excluded.without end"
                ", replaced_without = case when excluded.value_us <> t.value_us"
                " or excluded.without not in ('', t.without) then t.without end"
                " where excluded.part >= t.part returning vital_id, sent");
    for (size_t i = 0; i < FP_COUNT(places); i++)
        fp_buf_addf(out, ", replaced_%s", places[i]);
    fp_buf_addf(out, ", replaced_without, segment_id, bucket, navigation");
}

/* Touches a known row once per day, and whenever it learns of an earlier time. */
static void add_touch(const struct fp_store_table *target, struct fp_buf *out)
{
    const struct fp_store_column *first = NULL;
    for (size_t i = 0; i < target->column_count; i++)
        if (target->columns[i].keeps_least)
            first = &target->columns[i];
    if (first == NULL) {
        fp_buf_addf(out, " do update set last_seen = excluded.last_seen"
                         " where t.last_seen < excluded.last_seen");
        return;
    }
    fp_buf_addf(out,
                " do update set last_seen = greatest(t.last_seen, excluded.last_seen),"
                " %s = least(t.%s, excluded.%s)"
                " where t.last_seen < excluded.last_seen or excluded.%s < t.%s",
                first->name, first->name, first->name, first->name, first->name);
}

void fp_store_table_merge_sql(const struct fp_store_table *target, struct fp_buf *out)
{
    fp_buf_addf(out, "insert into fleetprof_data.%s as t (", target->name);
    add_names(target, false, out);
    fp_buf_addf(out, "%s) select ", time_column(target));
    add_values(target, out);
    add_time(target, out);
    add_arrays(target, out);
    fp_buf_addf(out, " order by ");
    add_names(target, true, out);
    fp_buf_addf(out, " on conflict (");
    add_names(target, true, out);
    fp_buf_addf(out, ")");
    switch (target->style) {
    case FP_STORE_TABLE_DICTIONARY:
        add_touch(target, out);
        break;
    case FP_STORE_TABLE_BOOK:
        fp_buf_addf(out, " do nothing returning ");
        add_names(target, true, out);
        break;
    case FP_STORE_TABLE_LAST_VALUES:
        add_replacement(out);
        break;
    case FP_STORE_TABLE_REFUSALS:
        fp_buf_addf(out, " do update set records = t.records + excluded.records,"
                         " uploads = t.uploads + excluded.uploads,"
                         " latest = greatest(t.latest, excluded.latest),"
                         " first_place = case when excluded.latest >= t.latest"
                         " then excluded.first_place else t.first_place end");
        break;
    case FP_STORE_TABLE_SESSIONS:
    case FP_STORE_TABLE_LOG:
        fp_buf_addf(out, " do nothing");
        break;
    }
}
