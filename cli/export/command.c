/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof export: stacks of an aggregate, a comparison or a kept session, for other tools.
 */
#include "cli/kit/command.h"
#include "cli/ask/analysis.h"
#include "cli/ask/period.h"
#include "cli/export/format.h"
#include "cli/export/size.h"
#include "cli/export/source.h"
#include "cli/kit/output_file.h"
#include "cli/kit/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    OPTION_FORMAT = FP_OPTION_FIRST,
    OPTION_COMPARE,
    OPTION_SESSION,
    OPTION_JS_PROFILE,
    OPTION_BEFORE_SINCE,
    OPTION_BEFORE_UNTIL,
};

static const struct argp_option options[] = {
    {"format", OPTION_FORMAT, "FORMAT", 0, "the format (required): see below", 0},
    {"output", 'o', "FILE", 0,
     "write this file, which is replaced whole or not at all (default: -, standard output)", 0},
    {"compare", OPTION_COMPARE, NULL, 0,
     "both sides of a comparison: the releases BEFORE and AFTER, or two periods, as `fleetprof "
     "compare' chooses them; not with --release and --marker",
     0},
    {"before-since", OPTION_BEFORE_SINCE, "WHEN", 0,
     "of a comparison, the earlier side from this time on", 0},
    {"before-until", OPTION_BEFORE_UNTIL, "WHEN", 0,
     "of a comparison, the earlier side before this time", 0},
    {"session", OPTION_SESSION, "ID", 0,
     "a kept session, in the order of time, which `fleetprof session list' lists; not with filters "
     "and --fold",
     0},
    {"js-profile", OPTION_JS_PROFILE, NULL, 0,
     "of a session, the V8 profile in a Speed Tracer dump instead of its events", 0},
    {0},
};

struct export_options {
    struct fp_analysis analysis;
    const struct fp_export_format *format;
    const char *file;       /* NULL: standard output */
    const char *session_id; /* NULL: not given, as the next ones */
    const char *before;
    const char *after;
    const char *before_since;
    const char *before_until;
    bool compares;
    bool of_js_profile;
};

/* Appends the names of all formats: "folded, speedscope, …". */
static void list_formats(char *names, size_t size)
{
    names[0] = '\0';
    for (size_t i = 0; i < fp_export_format_count; i++) {
        size_t used = strlen(names);
        (void)snprintf(names + used, size - used, "%s%s", i > 0 ? ", " : "",
                       fp_export_formats[i].name);
    }
}

static void check_format(const struct export_options *export, const char *unknown,
                         const struct argp_state *state)
{
    char names[160];
    if (export->format != NULL)
        return;
    list_formats(names, sizeof(names));
    if (unknown != NULL)
        argp_error(state, "unknown format \"%s\"; there are %s", unknown, names);
    argp_error(state, "--format is missing; there are %s", names);
}

static bool has_filter(const struct fp_filters *filters)
{
    for (size_t i = 0; i < FP_FILTER_COUNT; i++) {
        if (filters->values[i] != NULL || filters->excluded[i] != NULL)
            return true;
    }
    return false;
}

static void check_comparison(const struct export_options *export, const struct argp_state *state)
{
    const struct fp_filters *filters = &export->analysis.filters;
    bool has_period = export->before_since != NULL || export->before_until != NULL;
    if (!export->compares && (export->before != NULL || has_period))
        argp_error(state, "a comparison is --compare BEFORE AFTER");
    if (!export->compares)
        return;
    if (export->before != NULL && export->after == NULL)
        argp_error(state, "BEFORE and AFTER are two releases; AFTER is missing");
    if (export->before == NULL && !has_period)
        argp_error(state, "name two releases, or two periods by --before-since, --before-until, "
                          "--since and --until");
    for (enum fp_filter filter = 0; filter < FP_FILTER_SINCE; filter++) {
        if (filters->values[filter] != NULL || filters->excluded[filter] != NULL)
            argp_error(state, "a comparison has no filter %s", fp_filter_name(filter));
    }
}

static void check_session(const struct export_options *export, const struct argp_state *state)
{
    if (export->of_js_profile && export->session_id == NULL)
        argp_error(state, "--js-profile is of a --session");
    if (export->session_id == NULL)
        return;
    if (export->compares)
        argp_error(state, "--session and --compare exclude each other");
    if (has_filter(&export->analysis.filters) || export->analysis.fold != NULL)
        argp_error(state, "--session is one upload: it takes neither filters nor --fold");
}

static enum fp_export_source source_of(const struct export_options *export)
{
    if (export->session_id != NULL)
        return FP_EXPORT_SESSION;
    return export->compares ? FP_EXPORT_COMPARISON : FP_EXPORT_AGGREGATE;
}

static void check_fit(const struct export_options *export, const struct argp_state *state)
{
    static const char *const sources[FP_EXPORT_SOURCE_COUNT] = {
        [FP_EXPORT_AGGREGATE] = "many page loads",
        [FP_EXPORT_COMPARISON] = "a comparison",
        [FP_EXPORT_SESSION] = "a session",
    };
    enum fp_export_source source = source_of(export);
    const char *obstacle = export->format->obstacles[source];
    if (obstacle != NULL)
        argp_error(state, "%s is not for %s: %s", export->format->name, sources[source], obstacle);
    if (export->format->is_binary && export->file == NULL && isatty(STDOUT_FILENO) == 1)
        argp_error(state, "%s is not for a terminal: name a file with -o", export->format->name);
}

static void take_release(struct export_options *export, const char *arg,
                         const struct argp_state *state)
{
    if (state->arg_num > 1)
        argp_error(state, "BEFORE and AFTER are two releases, not more");
    *(state->arg_num == 0 ? &export->before : &export->after) = arg;
}

static void take_session(struct export_options *export, const char *arg,
                         const struct argp_state *state)
{
    if (arg[0] == '\0' || arg[strspn(arg, "0123456789")] != '\0')
        argp_error(state, "a session's id is a number, not \"%s\"", arg);
    errno = 0;
    (void)strtoll(arg, NULL, 10);
    if (errno == ERANGE)
        argp_error(state, "no session has the id \"%s\": the greatest is %lld", arg,
                   (long long)INT64_MAX);
    export->session_id = arg;
}

static error_t parse_export(int key, char *arg, struct argp_state *state)
{
    struct export_options *export = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &export->analysis;
        state->child_inputs[1] = &export->analysis.fold;
        return 0;
    case OPTION_FORMAT:
        export->format = fp_export_format_find(arg);
        check_format(export, arg, state);
        return 0;
    case 'o':
        export->file = strcmp(arg, "-") != 0 ? arg : NULL;
        return 0;
    case OPTION_COMPARE:
        export->compares = true;
        return 0;
    case OPTION_BEFORE_SINCE:
        export->before_since = arg;
        return 0;
    case OPTION_BEFORE_UNTIL:
        export->before_until = arg;
        return 0;
    case OPTION_SESSION:
        take_session(export, arg, state);
        return 0;
    case OPTION_JS_PROFILE:
        export->of_js_profile = true;
        return 0;
    case ARGP_KEY_ARG:
        take_release(export, arg, state);
        return 0;
    case ARGP_KEY_SUCCESS:
        check_format(export, NULL, state);
        check_comparison(export, state);
        check_session(export, state);
        check_fit(export, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_argp, 0, NULL, 0},
    {&fp_fold_argp, 0, NULL, 0},
    {0},
};

static void explain_formats(FILE *stream)
{
    (void)fprintf(stream, "Formats:\n");
    for (size_t i = 0; i < fp_export_format_count; i++)
        (void)fprintf(stream, "  %-11s %s\n", fp_export_formats[i].name,
                      fp_export_formats[i].meaning);
}

static char *fill_help(int key, const char *text, void *input)
{
    (void)input;
    return fp_command_help(key, text, explain_formats);
}

static const struct argp export_argp = {
    .options = options,
    .parser = parse_export,
    .args_doc = "--format FORMAT\n--format FORMAT --compare [BEFORE AFTER]\n"
                "--format FORMAT --session ID",
    .doc = "Writes the stacks of real users' page loads, of two releases or periods, or of one "
           "kept session, for another tool. Weights are microseconds.\v",
    .children = children,
    .help_filter = fill_help,
};

/* ---- folded stacks of an aggregate, as SQL has them ---- */

struct folded_lines {
    struct fp_output_file file;
    size_t count;
    bool shows_progress; /* standard output has other lines */
};

enum { LINES_PER_STEP = 10000 };

static void put_line(void *context, const PGresult *row)
{
    struct folded_lines *lines = context;
    if (lines->count++ == 0)
        fp_message_progress_end();
    if (lines->shows_progress && lines->count % LINES_PER_STEP == 0)
        fp_message_progress("%zu stacks", lines->count);
    fp_terminal_write_line(lines->file.stream, fp_str_of(PQgetvalue(row, 0, 0)));
    (void)fputc('\n', lines->file.stream);
}

static bool stream_folded(const struct export_options *export)
{
    const struct fp_analysis *analysis = &export->analysis;
    struct folded_lines lines = {.shows_progress = export->file != NULL};
    struct fp_sql_query query;
    if (!fp_output_file_open(&lines.file, export->file))
        return false;
    fp_analysis_query(analysis, "*", "folded", &query);
    fp_message_progress("reading stacks");
    bool fine = fp_sql_stream(analysis->connection, &query, put_line, &lines);
    fp_message_progress_end();
    fp_sql_release(&query);
    fine = fp_output_file_close(&lines.file, fine && lines.count > 0) && fine;
    if (fine && lines.count == 0)
        return fp_analysis_explain(analysis, "stacks");
    return fine;
}

/* ---- everything else ---- */

static bool read_comparison(const struct export_options *export, struct fp_export_stacks *stacks,
                            bool *is_empty)
{
    const struct fp_comparison comparison = {
        .filters = export->analysis.filters,
        .before_since = export->before_since,
        .before_until = export->before_until,
        .connection = export->analysis.connection,
    };
    const struct fp_export_sides sides = {&comparison, export->before, export->after,
                                          export->analysis.fold};
    return fp_export_read_comparison(&sides, stacks, is_empty);
}

static bool read_stacks(const struct export_options *export, struct fp_export_stacks *stacks,
                        bool *is_empty)
{
    switch (source_of(export)) {
    case FP_EXPORT_COMPARISON:
        return read_comparison(export, stacks, is_empty);
    case FP_EXPORT_SESSION:
        return fp_export_read_session(export->analysis.connection, export->session_id,
                                      export->of_js_profile, stacks);
    case FP_EXPORT_AGGREGATE:
    case FP_EXPORT_SOURCE_COUNT:
        break;
    }
    return fp_export_read_aggregate(&export->analysis, stacks, is_empty);
}

static size_t count_marks(const struct fp_export_stacks *stacks)
{
    size_t marks = 0;
    for (size_t i = 0; i < stacks->track_count; i++)
        marks += stacks->tracks[i].mark_count;
    return marks;
}

static bool has_time(const struct fp_export_stacks *stacks)
{
    for (size_t i = 0; i < stacks->track_count; i++) {
        for (size_t k = 0; k < stacks->tracks[i].sample_count; k++) {
            if (stacks->tracks[i].samples[k].weight_us > 0)
                return true;
        }
    }
    return false;
}

/* True, with a message, if the format has no place for anything that a session has. */
static bool is_session_empty(const struct export_options *export,
                             const struct fp_export_stacks *stacks)
{
    size_t marks = count_marks(stacks);
    if (export->session_id == NULL || has_time(stacks) || (marks > 0 && export->format->has_marks))
        return false;
    if (marks > 0)
        fp_message_notice("session %s has no time on stacks, and %s cannot show its marks",
                          export->session_id, export->format->name);
    else
        fp_message_notice("session %s has no time on stacks and no marks", export->session_id);
    return true;
}

/* Says what the file lacks. */
static void print_notices(const struct export_options *export,
                          const struct fp_export_stacks *stacks)
{
    size_t marks = count_marks(stacks);
    if (marks > 0 && !export->format->has_marks)
        fp_message_notice("%s cannot show marks; marks left out: %zu", export->format->name, marks);
    if (stacks->negative_us < 0)
        fp_message_notice("own times of events below zero are left out: %.3f ms",
                          (double)stacks->negative_us / 1000);
}

static bool write_stacks(const struct export_options *export, const struct fp_export_stacks *stacks)
{
    struct fp_output_file file;
    if (!fp_export_check_size(export->format, stacks) || !fp_output_file_open(&file, export->file))
        return false;
    export->format->write(stacks, file.stream);
    if (!fp_output_file_close(&file, true))
        return false;
    print_notices(export, stacks);
    return true;
}

static bool export_stacks(const struct export_options *export)
{
    struct fp_export_stacks stacks;
    bool is_empty = false;
    fp_export_stacks_init(&stacks);
    fp_message_progress("reading stacks");
    bool fine = read_stacks(export, &stacks, &is_empty);
    fp_message_progress("writing %zu stacks", stacks.node_count);
    if (export->file == NULL)
        fp_message_progress_end();
    if (fine && !is_empty && !is_session_empty(export, &stacks))
        fine = write_stacks(export, &stacks);
    if (export->file != NULL)
        fp_message_progress_end();
    fp_export_stacks_release(&stacks);
    return fine;
}

/* Connects, and checks what the source's options say. */
static bool open_source(struct export_options *export)
{
    struct fp_analysis *analysis = &export->analysis;
    if (source_of(export) == FP_EXPORT_AGGREGATE)
        return fp_analysis_open(analysis);
    analysis->connection = fp_database_open(&analysis->database);
    if (analysis->connection == NULL)
        return false;
    bool fine = source_of(export) == FP_EXPORT_SESSION ||
                (fp_filters_choose_site(&analysis->filters, analysis->connection) &&
                 fp_period_check_sides(&analysis->filters, export->before_since,
                                       export->before_until, analysis->connection));
    if (!fine)
        fp_analysis_close(analysis);
    return fine;
}

/* Opens what a source asks: all of its questions are about one moment. */
static bool open_database(struct export_options *export)
{
    struct fp_analysis *analysis = &export->analysis;
    static const char begin[] = "begin transaction isolation level repeatable read, read only";
    if (!open_source(export))
        return false;
    bool fine = fp_sql_begin(analysis->connection, begin);
    if (!fine) {
        fp_sql_complain(analysis->connection, NULL);
        fp_analysis_close(analysis);
    }
    return fine;
}

enum fp_exit fp_export_command(int argc, char **argv)
{
    struct export_options export = {0};
    fp_command_parse(&export_argp, argc, argv, &export);
    if (!open_database(&export))
        return FP_EXIT_TROUBLE;
    bool is_streamed =
        export.format->write == fp_export_write_folded && source_of(&export) == FP_EXPORT_AGGREGATE;
    bool fine = is_streamed ? stream_folded(&export) : export_stacks(&export);
    fp_analysis_close(&export.analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
