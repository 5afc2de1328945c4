/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof, the operator's and analyst's command line: finds the command and runs it.
 */
#include "cli/kit/command.h"
#include "cli/kit/nearest.h"
#include "collector/base/streams.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

struct command {
    const char *name;
    const char *summary;
    enum fp_exit (*run)(int argc, char **argv);
};

static enum fp_exit help_command(int argc, char **argv);

/* A name without a function to run is the heading of those that follow it. --help leaves out what
 * has no summary. */
static const struct command commands[] = {
    {"Begin here:", NULL, NULL},
    {"summary", "a site at a glance: findings, vitals, what to fix first", fp_summary_command},
    {"Where the time goes:", NULL, NULL},
    {"top", "the functions that cost the most time", fp_top_command},
    {"flame", "a flame graph in the terminal", fp_flame_command},
    {"callers", "who calls a function, or what it calls", fp_callers_command},
    {"cost", "time by package, party, host, page, browser and the like", fp_report_command},
    {"third-parties", "hosts that pages load from: script time, requests, bytes",
     fp_report_command},
    {"chunks", "scripts that page loads load and seldom run: what to split", fp_report_command},
    {"markers", "time by what the thread did: script, layout, painting", fp_report_command},
    {"trend", "a function, a timing or a group by hour or day", fp_trend_command},
    {"What visitors felt:", NULL, NULL},
    {"fix-first", "what to fix first: what would improve a web vital most", fp_fix_first_command},
    {"profiling-cost", "what profiling costs visitors", fp_report_command},
    {"what-if", "what a vital or a measure would be without what ran", fp_report_command},
    {"budgets", "what visitors may wait at most, against what they wait", fp_budgets_command},
    {"vitals", "web vitals: percentiles, and shares of good and poor ones", fp_report_command},
    {"vital-parts", "what web vitals consist of", fp_report_command},
    {"vital-elements", "the elements that web vitals are of", fp_report_command},
    {"ttfb", "time to first byte: the server's share, and the network's", fp_report_command},
    {"interactions", "what visitors clicked and typed, and how long it took", fp_report_command},
    {"waits", "where the time goes until an interaction's result shows", fp_report_command},
    {"timings", "percentiles of User Timing marks and measures", fp_report_command},
    {"long-frames", "scripts of long animation frames", fp_report_command},
    {"hangs", "page loads that hung or crashed: how often, and where", fp_report_command},
    {"violations", "document policies that documents broke", fp_report_command},
    {"What a release did:", NULL, NULL},
    {"compare", "two sides, such as releases: functions, timings, vitals", fp_compare_command},
    {"regressions", "what a release made slower, for pipelines", fp_regressions_command},
    {"The web report, and language models:", NULL, NULL},
    {"serve", "the web report: look at it in a browser", fp_serve_command},
    {"report", "the web report as one file, to send to somebody", fp_save_command},
    {"mcp", "answer programs with a language model, which start it", fp_mcp_command},
    {"Files and other tools:", NULL, NULL},
    {"export", "stacks for other tools: speedscope, Firefox, Chrome, pprof", fp_export_command},
    {"session", "uploads that are kept whole: list them, give one back", fp_session_command},
    {"validate", "check files as the collector would, without a server", fp_validate_command},
    {"import", "upload files to a collector", fp_import_command},
    {"sourcemap", "original names of functions in bundled scripts", fp_sourcemap_command},
    {"owners", "who owns the sources of a site: CODEOWNERS", fp_owners_command},
    {"Running it:", NULL, NULL},
    {"migrate", "bring a database to this version's schema", fp_migrate_command},
    {"doctor", "find out why a site has no profiles", fp_doctor_command},
    {"status", "how collectors and database are, and what is wrong", fp_status_command},
    {"coverage", "how many page loads are profiled, and why not all", fp_report_command},
    {"rates", "which share of each route's page loads to sample", fp_rates_command},
    {"spool", "a collector's spool: check; show and replay refused uploads", fp_spool_command},
    {"help", "explain a command: help top, help session list", help_command},
    {"complete", NULL, fp_complete_command},
};
static const size_t command_count = sizeof(commands) / sizeof(commands[0]);

static void list_commands(FILE *stream)
{
    (void)fprintf(stream, "Commands:\n");
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &commands[i];
        if (command->run == NULL)
            (void)fprintf(stream, " %s\n", command->name);
        else if (command->summary != NULL)
            (void)fprintf(stream, "  %-14s %s\n", command->name, command->summary);
    }
}

static char *fill_help(int key, const char *text, void *input)
{
    (void)input;
    return fp_command_help(key, text, list_commands);
}

/* Takes the first word that is not an option as the command, and leaves it the rest. */
static error_t parse_main(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    int *command_at = state->input;
    switch (key) {
    case 'h':
        argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
        return 0;
    case ARGP_KEY_ARG:
        *command_at = state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_state_help(state, stderr,
                        ARGP_HELP_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG | ARGP_HELP_EXIT_ERR);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option main_options[] = {FP_SHORT_HELP, {0}};

static const struct argp main_argp = {
    .options = main_options,
    .parser = parse_main,
    .args_doc = "COMMAND [ARGUMENT...]",
    .doc = "Which JavaScript costs real users the most time.\v"
           "`fleetprof help COMMAND' explains a command, `fleetprof help filters' the filters. "
           "Exit code: 0 fine, 1 the answer is no, 2 wrong use or cannot run.",
    .help_filter = fill_help,
};

/* Runs a command under its full name, as its messages and its help show it. */
static enum fp_exit run_command(const char *name, int argc, char **argv)
{
    struct fp_nearest nearest = {.word = name};
    for (size_t i = 0; i < command_count; i++) {
        if (commands[i].run == NULL)
            continue;
        fp_nearest_take(&nearest, commands[i].name);
        if (strcmp(commands[i].name, name) == 0) {
            char full_name[32];
            (void)snprintf(full_name, sizeof(full_name), "fleetprof %s", name);
            argv[0] = full_name;
            return commands[i].run(argc, argv);
        }
    }
    fp_message_error("unknown command \"%s\"", name);
    if (nearest.name != NULL)
        fp_message_hint("Did you mean \"%s\"?", nearest.name);
    else
        list_commands(stderr);
    return FP_EXIT_TROUBLE;
}

/* Explains the filters, or runs `COMMAND --help`. COMMAND may have three words:
 * `help spool dead-letters list`. */
static enum fp_exit help_command(int argc, char **argv)
{
    enum { WORDS_MAX = 3 };
    char main_name[] = "fleetprof", help[] = "--help";
    char *help_argv[WORDS_MAX + 2] = {main_name, help};
    if (argc - 1 > WORDS_MAX) {
        fp_message_error("help takes one command");
        return FP_EXIT_TROUBLE;
    }
    if (argc < 2 || argv[1][0] == '-' || strcmp(argv[1], "help") == 0) {
        return argp_parse(&main_argp, 2, help_argv, ARGP_IN_ORDER, NULL, &argc) == 0
                   ? FP_EXIT_FINE
                   : FP_EXIT_TROUBLE;
    }
    if (argc == 2 && strcmp(argv[1], "filters") == 0) {
        fp_filters_explain(stdout);
        return FP_EXIT_FINE;
    }
    for (int i = 2; i < argc; i++)
        help_argv[i - 1] = argv[i];
    help_argv[argc - 1] = help;
    return run_command(argv[1], argc, help_argv);
}

/* Flushes the output at exit, also of help, after which argp exits. */
static void finish_output(void)
{
    bool failed = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !failed)
        return;
    fp_message_error("could not write to standard output: %s",
                     failed ? "write error" : strerror(errno));
    _exit(FP_EXIT_TROUBLE);
}

/* Selects UTF-8, whatever the terminal says; numbers keep their decimal point. */
static bool use_utf8(void)
{
    wchar_t c;
    mbstate_t state = {0};
    /* Two names: once glibc had no memory for a locale, it takes that name as unknown. */
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL && setlocale(LC_CTYPE, "C.utf8") == NULL)
        return false;
    /* The first conversion loads the tables of all others; without memory all would fail. */
    return mbrtowc(&c, "\u00e9", 2, &state) == 2;
}

int main(int argc, char **argv)
{
    if (!fp_streams_hold())
        return FP_EXIT_TROUBLE; /* there is nowhere to print why */
    if (!use_utf8()) {
        fp_message_error("could not load the locale C.UTF-8: it is missing, or memory ran out");
        return FP_EXIT_TROUBLE;
    }
    /* A reader that stops early (`| head`) ends us silently, also if our parent ignores the signal.
     */
    (void)signal(SIGPIPE, SIG_DFL);
    if (atexit(finish_output) != 0) {
        fp_message_error("out of memory");
        return FP_EXIT_TROUBLE;
    }
    argp_program_version = "fleetprof " FP_VERSION;
    argp_err_exit_status = FP_EXIT_TROUBLE;

    int command_at = 0;
    if (argp_parse(&main_argp, argc, argv, ARGP_IN_ORDER, NULL, &command_at) != 0) {
        fp_message_error("out of memory");
        return FP_EXIT_TROUBLE;
    }
    return (int)run_command(argv[command_at], argc - command_at, argv + command_at);
}
