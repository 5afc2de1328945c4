/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source, session: a kept trace is decoded and folded as the collector does, so that samples weigh
 * what they count in the sums. Names are those that the database shows: of original functions.
 */
#include "cli/ask/session_content.h"
#include "cli/export/source.h"
#include "cli/kit/memory.h"
#include "collector/base/map.h"
#include "collector/format/format.h"
#include "collector/profile/fold/fold.h"
#include "collector/profile/text.h"
#include "collector/rollup/vital.h"

#include <stdlib.h>

#define ARENA_MAX ((size_t)4 << 30)

/* The upload was taken already: these only bound what a damaged one could ask for. */
static const struct fp_format_limits limits = {
    .max_inflated = (size_t)1 << 31,
    .samples = 1 << 24,
    .stacks = 1 << 24,
    .frames = 1 << 24,
    .resources = 1 << 24,
    .entries = 1 << 24,
    .stack_depth = 1 << 20,
    .json_depth = 1024,
    .max_span_us = FP_DELTA_TIME_MAX_US,
};

struct session {
    PGconn *connection;
    const char *id;
    PGresult *facts; /* site, format, thread, is_raw, page, started, received */
    struct fp_arena arena;
    struct fp_profile profile;
    struct fp_delta delta;
    struct fp_part part; /* samples in the order of time */
};

enum { SITE, FORMAT, THREAD, IS_RAW, PAGE, STARTED, TITLE_TIME };

static const char *fact(const struct session *session, int column)
{
    return PQgetvalue(session->facts, 0, column);
}

static bool read_facts(struct session *session)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select site, format, coalesce(thread, ''), is_raw::text, page_url, "
                        "(extract(epoch from coalesce(started, received)) * 1000000)::bigint, "
                        "to_char(received at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' (UTC)' "
                        "from fleetprof.sessions where session_id = ");
    fp_sql_value(&query, "bigint", session->id);
    session->facts = fp_sql_run(session->connection, &query);
    fp_sql_release(&query);
    return session->facts != NULL;
}

static bool decode(struct session *session, struct fp_str content)
{
    struct fp_upload_error error;
    enum fp_verdict verdict = fp_format_decode(content, fp_str_of(fact(session, FORMAT)), &limits,
                                               &session->arena, &session->profile, &error);
    if (verdict == FP_VERDICT_MEMORY)
        fp_memory_end();
    if (verdict != FP_VERDICT_OK) {
        fp_message_error("session %s cannot be read: %s", session->id, error.detail);
        return false;
    }
    static const struct fp_scrub_rules done = {.keep_query = true,
                                               .kept = {.path_parameters = true,
                                                        .path_addresses = true,
                                                        .path_hashes = true,
                                                        .path_numbers = true,
                                                        .path_tokens = true,
                                                        .names = true}};
    const bool is_raw = strcmp(fact(session, IS_RAW), "true") == 0;
    /* Content that is not kept as sent has been scrubbed already, by the site's own rules. */
    const struct fp_fold_context context = {
        .site = fp_str_of(fact(session, SITE)),
        .rules = is_raw ? (struct fp_scrub_rules){0} : done,
        .part = &session->part,
    };
    if (!fp_fold(&session->profile, &context, &session->arena, &session->delta))
        fp_memory_end();
    return true;
}

/* ---- frames ---- */

static struct fp_export_frame frame_of(const struct session *session,
                                       const struct fp_delta_frame *from)
{
    const struct fp_delta_resource *resources = session->part.resources;
    bool is_anonymous = from->function.len == 0;
    return (struct fp_export_frame){
        .function = is_anonymous ? FP_STR("(anonymous)") : from->function,
        .resource = from->resource != FP_INDEX_NONE ? resources[from->resource].url : FP_STR(""),
        .line = from->line,
        .column = from->column,
        .kind = from->kind,
        .generated_line = FP_POSITION_NONE,
        .generated_column = FP_POSITION_NONE,
    };
}

static struct fp_str cell_text(struct fp_export_stacks *stacks, const PGresult *answer, int row,
                               int column)
{
    const struct fp_str text = {PQgetvalue(answer, row, column),
                                (size_t)PQgetlength(answer, row, column)};
    return fp_export_text(stacks, text);
}

static int32_t cell_position(const PGresult *answer, int row, int column)
{
    return PQgetisnull(answer, row, column) == 1
               ? FP_POSITION_NONE
               : (int32_t)strtol(PQgetvalue(answer, row, column), NULL, 10);
}

/* Gives frames that a function table knows their original names and places. */
static void rename_frames(struct fp_export_stacks *stacks, const struct fp_map *index_of,
                          const PGresult *answer)
{
    for (int row = 0; row < PQntuples(answer); row++) {
        uint64_t id = (uint64_t)strtoll(PQgetvalue(answer, row, 0), NULL, 10);
        uint32_t index = fp_map_get(index_of, id);
        if (index == FP_MAP_NONE)
            continue;
        struct fp_export_frame *frame = &stacks->frames[index];
        frame->function = cell_text(stacks, answer, row, 1);
        frame->resource = cell_text(stacks, answer, row, 2);
        frame->line = cell_position(answer, row, 3);
        frame->column = cell_position(answer, row, 4);
        frame->generated_resource = cell_text(stacks, answer, row, 5);
        frame->generated_line = cell_position(answer, row, 6);
        frame->generated_column = cell_position(answer, row, 7);
    }
}

/* Asks for the frames whose source is not the script that the browser saw. */
static bool ask_names(const struct session *session, struct fp_export_stacks *stacks)
{
    struct fp_map index_of;
    struct fp_buf ids;
    fp_map_init(&index_of, session->part.frame_count);
    fp_buf_init(&ids, (size_t)24 * (session->part.frame_count + 1));
    for (uint32_t i = 0; i < session->part.frame_count; i++) {
        uint64_t id = session->part.frames[i].id;
        if (fp_map_put(&index_of, id, i) == FP_MAP_NONE)
            fp_memory_end();
        fp_buf_addf(&ids, "%c%lld", i == 0 ? '{' : ',', (long long)id);
    }
    fp_buf_addf(&ids, "%s}", ids.len == 0 ? "{" : "");
    struct fp_sql_query query;
    fp_sql_init(&query, "select frame_id, function, resource, line, column_number, "
                        "generated_resource, generated_line, generated_column "
                        "from fleetprof_data.named_frames(");
    fp_sql_value(&query, "bigint[]", fp_memory_text(&ids));
    fp_sql_add(&query, ") where resource <> generated_resource");
    PGresult *answer = fp_sql_run(session->connection, &query);
    fp_sql_release(&query);
    fp_buf_release(&ids);
    if (answer != NULL)
        rename_frames(stacks, &index_of, answer);
    fp_map_release(&index_of);
    PQclear(answer);
    return answer != NULL;
}

/* ---- samples and marks ---- */

static void add_samples(const struct session *session, struct fp_export_track *track,
                        struct fp_export_stacks *stacks)
{
    uint32_t unattributed = FP_INDEX_NONE;
    for (uint32_t i = 0; i < session->part.sample_count; i++) {
        const struct fp_fold_sample *from = &session->part.samples[i];
        if (from->stack == FP_INDEX_NONE && unattributed == FP_INDEX_NONE)
            unattributed = fp_export_unattributed(stacks);
        const struct fp_export_sample sample = {
            .node = from->stack != FP_INDEX_NONE ? from->stack : unattributed,
            .time_us = from->start_us,
            .weight_us = from->weight_us,
            .count = from->is_evidence,
        };
        fp_export_add_sample(stacks, track, &sample);
    }
}

/* Adds a vital where it was, or at its end if it is measured from the start of the page. False if
 * nothing says when it was. */
static bool add_vital(const struct fp_profile_vital *vital, struct fp_export_track *track,
                      struct fp_export_stacks *stacks)
{
    bool is_score = fp_vital_is_score(vital->vital);
    if (!vital->has_window && (is_score || !fp_navigation_is_since_start(vital->navigation)))
        return false;
    char *name = is_score ? fp_memory_print("%s %.3f", fp_vital_name(vital->vital),
                                            (double)vital->value_us / 1e6)
                          : fp_memory_print("%s", fp_vital_name(vital->vital));
    bool is_span = vital->has_window && vital->duration_us > 0;
    const struct fp_export_mark mark = {
        .name = fp_export_text(stacks, fp_str_of(name)),
        .time_us = vital->has_window ? vital->start_us : vital->value_us,
        .duration_us = is_span ? vital->duration_us : FP_EXPORT_POINT,
    };
    free(name);
    fp_export_add_mark(track, &mark);
    return true;
}

static void add_vitals(const struct session *session, struct fp_export_track *track,
                       struct fp_export_stacks *stacks)
{
    size_t left_out = 0;
    for (uint32_t i = 0; i < session->profile.vital_count; i++)
        left_out += add_vital(&session->profile.vitals[i], track, stacks) ? 0 : 1;
    if (left_out > 0)
        fp_message_notice("vitals left out, without a time: %zu", left_out);
}

static void add_marks(struct session *session, struct fp_export_track *track,
                      struct fp_export_stacks *stacks)
{
    size_t left_out = 0;
    for (uint32_t i = 0; i < session->profile.timing_count; i++) {
        const struct fp_profile_timing *timing = &session->profile.timings[i];
        bool is_mark = timing->kind == FP_TIMING_MARK;
        if (!is_mark && (!timing->has_start || timing->value_us < 0)) {
            left_out++;
            continue;
        }
        char *name = fp_memory_print("%.*s%.*s", (int)timing->name.len, timing->name.ptr,
                                     (int)timing->detail.len, timing->detail.ptr);
        const struct fp_export_mark mark = {
            .name = fp_export_text(stacks, fp_text_cut(fp_str_of(name), FP_TEXT_NAME_MAX)),
            .time_us = is_mark ? timing->value_us : timing->start_us,
            .duration_us = is_mark ? FP_EXPORT_POINT : timing->value_us,
        };
        free(name);
        fp_export_add_mark(track, &mark);
    }
    if (left_out > 0)
        fp_message_notice("measures left out, without a begin or of negative duration: %zu",
                          left_out);
}

static bool fill(struct session *session, struct fp_export_stacks *stacks)
{
    const struct fp_part *part = &session->part;
    for (uint32_t i = 0; i < part->frame_count; i++) {
        struct fp_export_frame frame = frame_of(session, &part->frames[i]);
        frame.function = fp_export_text(stacks, frame.function);
        frame.resource = fp_export_text(stacks, frame.resource);
        (void)fp_export_add_frame(stacks, &frame);
    }
    for (uint32_t i = 0; i < part->stack_count; i++)
        (void)fp_export_add_node(stacks, part->stacks[i].frame, part->stacks[i].parent);
    const char *thread = fact(session, THREAD);
    struct fp_export_track *track = fp_export_add_track(
        stacks, fp_export_text(stacks, fp_str_of(thread[0] != '\0' ? thread : "window")));
    add_samples(session, track, stacks);
    add_marks(session, track, stacks);
    add_vitals(session, track, stacks);
    return ask_names(session, stacks);
}

/* True if the session's format has events, which the database lists for all of its parts. */
static bool has_events(const struct session *session)
{
    return strcmp(fact(session, FORMAT), "speed-tracer") == 0 ||
           strcmp(fact(session, FORMAT), "opera-scope") == 0;
}

static bool read_content(struct session *session, struct fp_export_stacks *stacks)
{
    size_t len;
    char *content = fp_session_content_read(session->connection, session->id, &len);
    if (content == NULL)
        return false;
    bool fine = decode(session, (struct fp_str){content, len}) && fill(session, stacks);
    free(content);
    return fine;
}

static void describe(const struct session *session, struct fp_export_stacks *stacks)
{
    const char *page = fact(session, PAGE);
    char *title = fp_memory_print("%s, %s%s%s", fact(session, SITE), page,
                                  page[0] != '\0' ? ", " : "", fact(session, TITLE_TIME));
    stacks->title = fp_export_text(stacks, fp_str_of(title));
    stacks->started_us = strtoll(fact(session, STARTED), NULL, 10);
    free(title);
}

static bool read_js_profile(const struct session *session, struct fp_export_stacks *stacks)
{
    if (!fp_export_read_js_profile(session->connection, session->id, stacks))
        return false;
    bool has_ticks = stacks->tracks[0].sample_count > 0;
    if (has_ticks)
        fp_message_notice("each tick of V8's sampler is written as 1 ms");
    else
        fp_message_error("session %s has no V8 profile", session->id);
    return has_ticks;
}

bool fp_export_read_session(PGconn *connection, const char *session_id, bool of_js_profile,
                            struct fp_export_stacks *stacks)
{
    struct session session = {.connection = connection, .id = session_id};
    fp_arena_init(&session.arena, ARENA_MAX);
    bool fine = read_facts(&session);
    bool is_kept = fine && PQntuples(session.facts) > 0;
    if (is_kept)
        describe(&session, stacks);
    if (is_kept && of_js_profile)
        fine = read_js_profile(&session, stacks);
    else if (is_kept && has_events(&session))
        fine = fp_export_read_events(connection, session_id, stacks);
    else
        fine = fine && read_content(&session, stacks); /* it says that a session is not kept */
    fp_arena_release(&session.arena);
    PQclear(session.facts);
    return fine;
}
