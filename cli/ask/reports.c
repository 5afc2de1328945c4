/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: commands that print the rows of one SQL function, and what they mean. Each is a row of a
 * table.
 */
#include "cli/ask/analysis.h"
#include "cli/ask/gains.h"
#include "cli/ask/left_out.h"
#include "cli/ask/question_columns.h"
#include "cli/kit/command.h"
#include "cli/kit/note.h"
#include "cli/kit/options.h"
#include "collector/base/assert.h"
#include "collector/rollup/vital.h"

/* ---- the table ---- */

static const struct fp_grid_column timings_columns[] = {FP_COLUMNS_OF_TIMINGS(FP_GRID_COLUMN)};
static const struct fp_grid_column vitals_columns[] = {FP_COLUMNS_OF_VITALS_BY(FP_GRID_COLUMN)};
static const struct fp_grid_column vital_parts_columns[] = {
    FP_COLUMNS_OF_VITAL_PARTS_BY(FP_GRID_COLUMN)};
static const struct fp_grid_column vital_elements_columns[] = {
    FP_COLUMNS_OF_VITAL_ELEMENTS(FP_GRID_COLUMN)};
static const struct fp_grid_column ttfb_columns[] = {FP_COLUMNS_OF_TTFB_PARTS_BY(FP_GRID_COLUMN)};
static const struct fp_grid_column interactions_columns[] = {
    FP_COLUMNS_OF_INTERACTIONS_BY(FP_GRID_COLUMN)};
static const struct fp_grid_column waits_columns[] = {FP_COLUMNS_OF_WAITS(FP_GRID_COLUMN)};
static const struct fp_grid_column long_frames_columns[] = {
    FP_COLUMNS_OF_LONG_FRAMES(FP_GRID_COLUMN)};
static const struct fp_grid_column cost_columns[] = {FP_COLUMNS_OF_COST_BY(FP_GRID_COLUMN)};
static const struct fp_grid_column third_parties_columns[] = {
    FP_COLUMNS_OF_THIRD_PARTIES(FP_GRID_COLUMN)};
static const struct fp_grid_column chunks_columns[] = {FP_COLUMNS_OF_CHUNKS(FP_GRID_COLUMN)};
static const struct fp_grid_column markers_columns[] = {FP_COLUMNS_OF_MARKERS(FP_GRID_COLUMN)};
static const struct fp_grid_column what_if_columns[] = {FP_COLUMNS_OF_WHAT_IF(FP_GRID_COLUMN)};
static const struct fp_grid_column profiling_cost_columns[] = {
    FP_COLUMNS_OF_PROFILING_COST(FP_GRID_COLUMN)};
static const struct fp_grid_column hangs_columns[] = {FP_COLUMNS_OF_HANGS(FP_GRID_COLUMN)};
static const struct fp_grid_column violations_columns[] = {
    FP_COLUMNS_OF_VIOLATIONS(FP_GRID_COLUMN)};
static const struct fp_grid_column coverage_columns[] = {FP_COLUMNS_OF_COVERAGE(FP_GRID_COLUMN)};

struct report {
    const char *command;
    const char *doc; /* of --help */
    const char *function;
    const char
        *function_by;   /* with --by DIMENSION, whose values are the first column; NULL: none */
    const char *things; /* what the rows are about, for a message that there are none */
    const struct fp_grid_column *columns;
    size_t column_count;
    size_t extra_count;           /* the last columns, left out on a narrow terminal */
    const char *footer;           /* a line below the rows, for people */
    bool has_marker;              /* it takes --marker */
    bool has_navigation;          /* it takes --navigation, and --by navigation if any */
    const char *argument;         /* the function's parameter that the command must be given */
    const char *argument_doc;     /* its name in --help; NULL: there is none */
    const char *argument_missing; /* what to say when it is not given */
    /* Prints more lines below the footer; NULL: none. Prints an error and returns false on failure.
     */
    bool (*print_more)(const struct fp_analysis *analysis);
};

#define COLUMNS(list) .columns = (list), .column_count = sizeof(list) / sizeof((list)[0])

static const struct report reports[] = {
    {.command = "timings",
     .doc = "Percentiles of what pages marked and measured with performance.mark() (time since the "
            "page's start) and performance.measure() (duration), in milliseconds.",
     .function = "timings",
     .things = "marks or measures",
     COLUMNS(timings_columns),
     .footer = "Counts are of values observed in uploads of profiled page loads; percentiles leave "
               "out negative durations and are at most 1.6 % off. Values that are LEFT OUT are "
               "counted only: a page load had more of the name than its agent sends.",
     .print_more = fp_left_out_print},
    {.command = "vitals",
     .doc = "Web vitals (" FP_VITAL_NAMES "): percentiles, and shares that are good, need "
            "improvement or are poor.",
     .function = "vitals",
     .function_by = "vitals_by",
     .things = "web vitals; the agent's vitals build sends them",
     COLUMNS(vitals_columns),
     .has_navigation = true,
     .extra_count = 2,
     .footer =
         "Percentiles are in UNIT and at most 1.6 % off. COUNT is of values; shares are of it. "
         "FLAGGED INPs, of 60 s and more, are apart."},
    {.command = "vital-parts",
     .doc = "What web vitals consist of: of LCP the time to the first byte, until its resource was "
            "requested, until that was loaded, and until it was drawn; and so on.",
     .function = "vital_parts",
     .function_by = "vital_parts_by",
     .things = "web vitals with their parts; the agent's vitals build sends them",
     COLUMNS(vital_parts_columns),
     .has_navigation = true,
     .footer = "SHARE % is of the sum of the values whose parts are known. COUNT is of these."},
    {.command = "vital-elements",
     .doc =
         "The elements that values of a web vital are of, the most frequent first. VITAL is LCP, "
         "INP or CLS.",
     .function = "vital_elements",
     .things = "web vitals with their elements; the agent's vitals build sends them",
     COLUMNS(vital_elements_columns),
     .has_navigation = true,
     .footer = "Percentiles are in UNIT and at most 1.6 % off. SHARE % is of the values whose "
               "element is known.",
     .argument = "vital",
     .argument_doc = "VITAL",
     .argument_missing = "name a vital, such as LCP"},
    {.command = "what-if",
     .doc = "What the 75th percentile of a vital would be at most without something that ran, or "
            "with half of it: functions with all that they call, packages, hosts, and what the "
            "browser "
            "did. VITAL is INP, LCP, (response) or the name of an own measure.",
     .function = "what_if",
     .things = "profiled page loads with this vital",
     COLUMNS(what_if_columns),
     .extra_count = 4,
     .footer = FP_GAINS_ASSUMPTIONS,
     .argument = "vital",
     .argument_doc = "VITAL",
     .argument_missing = "name a vital: INP, LCP, (response) or an own measure"},
    {.command = "profiling-cost",
     .doc = "What profiling costs visitors: web vitals and blocking time of page loads that the "
            "web server drew to be profiled, beside those of the others. The agent's vitals build "
            "sends them.",
     .function = "profiling_cost",
     .things = "vitals of page loads that the web server drew",
     COLUMNS(profiling_cost_columns),
     .has_navigation = true,
     .footer = "Values are in UNIT; of blocking they are means per document. LOADS NEEDED, drawn, "
               "make the interval of CHANGE as narrow as 1 % each way. Where the web server draws "
               "visitors (key=), intervals are too narrow."},
    {.command = "ttfb",
     .doc = "Time to first byte by what the server's cache did: how much of it the server's "
            "application took, and how much the network and all else. Web servers with "
            "fleetprof_server_timing say it.",
     .function = "ttfb_parts",
     .function_by = "ttfb_parts_by",
     .things = "times to first byte with a server's share",
     COLUMNS(ttfb_columns),
     .footer = "SERVER MS and NETWORK MS add up to MEAN MS. P75 MS is at most 1.6 % off."},
    {.command = "interactions",
     .doc = "Interactions by type and target, the most time first: how long they took until the "
            "next paint, which shares of it were input delay, processing and presentation, and how "
            "long until the paint that shows the result (RESPONSES).",
     .function = "interactions",
     .function_by = "interactions_by",
     .things = "interactions",
     COLUMNS(interactions_columns),
     .extra_count = 4,
     .has_navigation = true,
     .footer = "Shares are of TOTAL MS, the sum of all durations; percentiles are at most 1.6 % "
               "off. FLAGGED ones, of 60 s and more, are apart."},
    {.command = "waits",
     .doc = "Where the time goes from an interaction to the paint that shows its result. TARGET is "
            "one of `fleetprof interactions', or % for all.",
     .function = "waits",
     .things = "profiled responses of this target",
     COLUMNS(waits_columns),
     .footer =
         "The rows add up to the WINDOWS of profiled responses. NAME of waiting is a host with "
         "a request in flight, which need not be the cause.",
     .argument = "target",
     .argument_doc = "TARGET",
     .argument_missing = "name a target, such as button.search; % is all"},
    {.command = "long-frames",
     .doc = "Scripts of long animation frames, the most blocking time first, as the browser "
            "reports them: also of page loads that are not profiled.",
     .function = "long_frames",
     .things = "long animation frames",
     COLUMNS(long_frames_columns),
     .footer = "A row without names is of frames without scripts. A frame's blocking time is "
               "divided among its scripts by their durations, and so are STYLE MS and LAYOUT MS, "
               "which Chrome 158 and later say."},
    {.command = "cost",
     .doc = "Time by what scripts have in common (BY is package, owner, party, entity, host, "
            "resource or "
            "source), by a dimension (" FP_FILTER_DIMENSIONS ") or by marker.",
     .function = "cost_by",
     .things = "samples",
     COLUMNS(cost_columns),
     .footer = "SHARE % is of profiled time.",
     .has_marker = true,
     .argument = "\"by\"",
     .argument_doc = "BY",
     .argument_missing = "name by what to list time, such as party"},
    {.command = "third-parties",
     .doc = "Hosts that pages load from, the most script time first: self time of their functions "
            "in profiles, and their responses.",
     .function = "third_parties",
     .things = "scripts or responses with a host",
     COLUMNS(third_parties_columns),
     .footer = "SELF % is of profiled time. Opaque responses lack Timing-Allow-Origin: their "
               "durations and sizes are not known."},
    {.command = "chunks",
     .doc = "Script files that page loads load and seldom run, those with the most bytes for "
            "nothing first: what to split, or to load when it is needed.",
     .function = "chunks",
     .things = "script files; the agent's vitals build names those that pages load",
     COLUMNS(chunks_columns),
     .extra_count = 5,
     .footer = "COST NOTHING IN % is at least the share of page loads that loaded the script and "
               "where it did less than profiles see. SEEN RUNNING IN % is of profiled page loads; "
               "it is below AT MOST % with a probability of 95 %. An empty cell is not known: V8 "
               "hides functions of scripts that the page may not read."},
    {.command = "markers",
     .doc =
         "Time by what the page's thread did, the most first: garbage collection, style, layout, "
         "paint, script, functions without a marker, and time without a visible stack.",
     .function = "markers",
     .things = "samples",
     COLUMNS(markers_columns),
     .footer = "SHARE % is of profiled time. (none): a function ran without a marker. "
               "(unattributed): idle, or in code that the page may not see. (hidden): no visible "
               "stack either, but busy for sure. (unseen): the browser did not look; not part of "
               "profiled time.",
     .has_marker = true},
    {.command = "hangs",
     .doc = "Documents that hung, ran out of memory or crashed, as their browsers report: why, in "
            "which function, and how often. Such page loads send nothing else.",
     .function = "hangs",
     .things = "reports of hangs or crashes; fleetprof_reports asks browsers for them",
     COLUMNS(hangs_columns),
     .extra_count = 6,
     .footer = "FUNCTION is where the page was; only hangs have one, in Chromium. LOADS are page "
               "loads that can send such reports and whose agents sent something; an empty cell is "
               "not known."},
    {.command = "violations",
     .doc = "Members of Document-Policy that documents broke, as their browsers report, the most "
            "frequent first.",
     .function = "violations",
     .things = "reports of broken policies; fleetprof_reports asks browsers for them",
     COLUMNS(violations_columns),
     .footer = "js-profiling: a page tried to profile without its policy. COUNT is of reports."},
    {.command = "coverage",
     .doc =
         "How many page loads said whether they were profiled, how many were, and why the others "
         "were not; how many the server had sampled, and how many page loads those stand for.",
     .function = "coverage",
     .things = "profile, and give no reason",
     COLUMNS(coverage_columns),
     .footer = "SAMPLED page loads have a token that proves it; DELIVERED are those of them with a "
               "profile. OVERLOAD are those of PROFILED whose profile ends "
               "early, because it cost a busy device too much. SEEN % is of the time that profiles "
               "watched: in the rest the browser did "
               "not look. An empty cell is not known."},
};

static const struct report *find_report(const char *command)
{
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
        if (strcmp(reports[i].command, command) == 0)
            return &reports[i];
    return NULL;
}

/* ---- options ---- */

enum { OPTION_BY = FP_OPTION_FIRST };

struct given {
    struct fp_analysis analysis;
    const struct report *report;
    const char *by; /* NULL: not given */
};

static const struct argp_option by_options[] = {
    {"by", OPTION_BY, "DIMENSION", 0, "for each value of a dimension: " FP_FILTER_ANY_DIMENSION, 0},
    {0},
};

static const struct argp_option by_options_of_vitals[] = {
    {"by", OPTION_BY, "DIMENSION", 0,
     "for each value of a dimension: " FP_FILTER_DIMENSIONS " or navigation", 0},
    {0},
};

static error_t take_argument(struct given *given, char *arg, struct argp_state *state)
{
    if (given->report->argument == NULL)
        return ARGP_ERR_UNKNOWN;
    if (state->arg_num > 0)
        argp_error(state, "one %s at a time", given->report->argument_doc);
    given->analysis.argument = arg;
    return 0;
}

static error_t parse_report(int key, char *arg, struct argp_state *state)
{
    struct given *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->analysis;
        state->child_inputs[1] = &given->analysis.form;
        return 0;
    case OPTION_BY:
        given->by = arg;
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(given, arg, state);
    case ARGP_KEY_SUCCESS:
        if (given->report->argument != NULL && given->analysis.argument == NULL)
            argp_error(state, "%s", given->report->argument_missing);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_analysis_without_marker_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp_child children_with_marker[] = {
    {&fp_analysis_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp_child children_of_vitals[] = {
    {&fp_analysis_of_vitals_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp_option *options_of(const struct report *report)
{
    if (report->function_by == NULL)
        return NULL;
    return report->has_navigation ? by_options_of_vitals : by_options;
}

static const struct argp_child *children_of(const struct report *report)
{
    if (report->has_navigation)
        return children_of_vitals;
    return report->has_marker ? children_with_marker : children;
}

/* ---- answer ---- */

/* The first column of a report that can be asked by a dimension is that of its values. */
static struct fp_analysis_question question_of(const struct report *report, bool is_by)
{
    const size_t left_out = report->function_by != NULL && !is_by ? 1 : 0;
    return (struct fp_analysis_question){
        .function = is_by ? report->function_by : report->function,
        .things = report->things,
        .columns = report->columns + left_out,
        .column_count = report->column_count - left_out,
        .extra_count = report->extra_count,
    };
}

static bool print_report(const struct report *report, const struct fp_analysis *analysis,
                         bool is_by)
{
    const struct fp_analysis_question question = question_of(report, is_by);
    size_t rows = 0;
    if (!fp_analysis_print(analysis, &question, &rows))
        return false;
    if (rows == 0 || analysis->form != FP_FORM_PEOPLE)
        return true;
    fp_note_gap();
    fp_note_put(report->footer);
    return report->print_more == NULL || report->print_more(analysis);
}

enum fp_exit fp_report_command(int argc, char **argv)
{
    const char *command = strchr(argv[0], ' ');
    struct given given = {.report = find_report(command != NULL ? command + 1 : "")};
    FP_ASSERT(given.report != NULL); /* main.c lists it as a report */
    const struct argp argp = {
        .options = options_of(given.report),
        .parser = parse_report,
        .args_doc = given.report->argument_doc,
        .doc = given.report->doc,
        .children = children_of(given.report),
    };
    fp_command_parse(&argp, argc, argv, &given);
    struct fp_analysis *analysis = &given.analysis;
    analysis->parameter = given.by != NULL ? "dimension" : given.report->argument;
    if (given.by != NULL)
        analysis->argument = given.by;
    if (!fp_analysis_open(analysis))
        return FP_EXIT_TROUBLE;
    const bool fine = print_report(given.report, analysis, given.by != NULL);
    fp_analysis_close(analysis);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
