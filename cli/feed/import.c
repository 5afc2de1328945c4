/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof import: uploads files to a collector, as browsers do.
 */
#include "cli/feed/token.h"
#include "cli/feed/upload.h"
#include "cli/feed/upload_address.h"
#include "cli/feed/upload_options.h"
#include "cli/feed/upload_report.h"
#include "cli/feed/wait.h"
#include "cli/kit/command.h"
#include "cli/kit/config_file.h"
#include "cli/kit/grid.h"
#include "cli/kit/input_file.h"
#include "cli/kit/memory.h"
#include "cli/kit/options.h"
#include "cli/kit/query.h"
#include "collector/base/uuid.h"

#include <unistd.h>

enum {
    OPTION_SITE = 's',
    OPTION_WAIT = FP_OPTION_FIRST,
    OPTION_NO_WAIT,
};

enum { REPORT_MAX = 64 * 1024 * 1024, WAIT_DEFAULT_S = 30, WAIT_MAX_S = 3600 };

enum wait_mode {
    WAIT_ON_A_TERMINAL, /* the default */
    WAIT_ALWAYS,
    WAIT_NEVER,
};

struct import_options {
    struct fp_files files;
    struct fp_database_options database; /* its configuration is also the collector's */
    const char *site;
    enum fp_form form;
    enum wait_mode wait;
    int wait_s;
    struct fp_upload_target target;
};

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0,
     "take address, key, limits and database from the collector's configuration (" FP_CONFIG_FILE
     ")",
     0},
    {"site", OPTION_SITE, "NAME", 0,
     "the site in the configuration (not needed when it has only one)", 0},
    {"wait", OPTION_WAIT, "SECONDS", OPTION_ARG_OPTIONAL,
     "return when the uploads are counted, after SECONDS (default: 30) at the latest; the default "
     "on a terminal",
     0},
    {"no-wait", OPTION_NO_WAIT, NULL, 0, "return when the collector has accepted the uploads", 0},
    {"database", 'd', "CONNINFO", 0,
     "the database that --wait watches (default: that of --config, else of $FLEETPROF_DATABASE, "
     "else of " FP_CONFIG_FILE ")",
     0},
    {0},
};

static void parse_wait(const char *arg, struct argp_state *state, struct import_options *import)
{
    import->wait = WAIT_ALWAYS;
    if (arg == NULL)
        return;
    size_t len = strlen(arg);
    bool is_number = len > 0 && len <= 4 && strspn(arg, "0123456789") == len;
    import->wait_s = is_number ? (int)strtol(arg, NULL, 10) : WAIT_MAX_S + 1;
    if (import->wait_s > WAIT_MAX_S)
        argp_error(state, "--wait takes a number of seconds from 0 to %d, not \"%s\"", WAIT_MAX_S,
                   arg);
}

static error_t parse_import(int key, char *arg, struct argp_state *state)
{
    struct import_options *import = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &import->target;
        state->child_inputs[1] = &import->files;
        state->child_inputs[2] = &import->form;
        return 0;
    case 'c':
        import->database.config_file = arg;
        return 0;
    case 'd':
        import->database.conninfo = arg;
        return 0;
    case OPTION_WAIT:
        parse_wait(arg, state, import);
        return 0;
    case OPTION_NO_WAIT:
        import->wait = WAIT_NEVER;
        return 0;
    case OPTION_SITE:
        import->site = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_upload_argp, 0, NULL, 0},
    {&fp_files_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp import_argp = {
    .options = options,
    .parser = parse_import,
    .children = children,
    .args_doc = "FILE...",
    .doc = "Uploads each FILE (- is standard input) to a collector. Files may be compressed (.gz, "
           ".br, .zst). An upload without an id gets one, a hash of its content, so that it counts "
           "once however often it is imported. Prints which records of a dump or session are "
           "refused.\v"
           "While the collector is busy or its budget is spent, import waits and tries again, five "
           "times in all. --wait never changes the exit code: an upload that is not counted in "
           "time is safe in the collector's spool.",
};

static const struct fp_grid_column columns[] = {
    {"file", NULL, FP_CELL_PATH},      {"accepted", NULL, FP_CELL_BOOLEAN},
    {"status", NULL, FP_CELL_INTEGER}, {"id", NULL, FP_CELL_TEXT},
    FP_UPLOAD_REPORT_COLUMNS,          {"pointer", NULL, FP_CELL_TEXT},
    {"offset", NULL, FP_CELL_INTEGER}, {"detail", NULL, FP_CELL_TEXT},
};

struct import {
    const struct import_options *given;
    const struct fp_rules *rules;
    const struct fp_site *site; /* NULL: unknown, with --url */
    struct fp_uploader *uploader;
    struct fp_grid grid;    /* the answers, for JSON */
    struct fp_wait counted; /* the uploads to wait for */
    int accepted;
    int tried;
    bool is_over; /* the next file would fail in the same way */
};

/* A file, and the upload that it becomes. */
struct import_file {
    struct fp_input_file body;
    struct fp_str text; /* inflated, or as it came if that fails */
    struct fp_uuid id;  /* its own, or a hash of the text */
    bool is_valid;      /* in our eyes; the collector decides */
    struct fp_profile profile;
    struct fp_upload_error error;
};

/* Decodes a file as far as that is possible, and chooses the id under which it is sent. */
static void decode(const struct fp_rules *rules, struct fp_arena *arena, struct import_file *file)
{
    const struct fp_format_limits *limits = &rules->format;
    file->text = (struct fp_str){(const char *)file->body.bytes.data, file->body.bytes.len};
    enum fp_verdict verdict =
        fp_input_file_inflate(&file->body, limits, arena, &file->text, &file->error);
    if (verdict == FP_VERDICT_OK)
        verdict =
            fp_format_decode(file->text, FP_STR(""), limits, arena, &file->profile, &file->error);
    file->is_valid = verdict == FP_VERDICT_OK;
    bool has_id = file->is_valid && file->profile.has_id;
    file->id = has_id ? file->profile.id : fp_uuid_of_bytes(file->text.ptr, file->text.len);
    /* Sent now, it might get another id than its own. */
    if (verdict == FP_VERDICT_MEMORY && !arena->full)
        fp_memory_end();
}

/* Returns the file unchanged, except that an uncompressed one is gzipped for the transfer. */
static struct fp_upload_content choose_content(const struct import_file *file,
                                               struct fp_arena *arena)
{
    const struct fp_buf *bytes = &file->body.bytes;
    struct fp_upload_content content = {
        .body = {(const char *)bytes->data, bytes->len},
        .type = FP_STR("application/json"),
        .encoding = file->body.encoding,
        .key = file->id,
    };
    bool is_plain = file->is_valid && file->text.ptr == content.body.ptr;
    if (is_plain && fp_input_file_compress(file->text, arena, &content.body))
        content.encoding = FP_STR("gzip");
    return content;
}

/* Makes the token that lets a file in, "" if the site needs none. Prints an error and returns false
 * on failure. */
static bool choose_token(const struct fp_site *site, const struct import_file *file,
                         char token[FP_TOKEN_SIZE])
{
    token[0] = '\0';
    if (site == NULL || !site->require_token)
        return true;
    return fp_token_renew(site, file->is_valid ? file->profile.token : FP_STR(""), token);
}

/* ---- the answer ---- */

/* Adds a row. profile: NULL if the upload was refused or cannot be decoded here. */
static void add_upload(struct fp_grid *grid, const struct import_file *file,
                       const struct fp_uuid *id, const struct fp_profile *profile,
                       const struct fp_upload_reply *reply)
{
    char text[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(id, text);
    fp_grid_add(grid, file->body.name);
    fp_grid_add(grid, reply->status == 204 ? "true" : "false");
    fp_grid_add_integer(grid, reply->status);
    fp_grid_add(grid, text);
    fp_upload_report_add_cells(profile, grid);
    fp_grid_add_text(grid, reply->pointer);
    fp_grid_add_optional(grid, reply->offset >= 0, reply->offset);
    fp_grid_add_text(grid, reply->detail);
}

/* Adds a row for each upload of the file: several sessions in a recording are several uploads. */
static void add_answer(struct import *import, const struct import_file *file,
                       const struct fp_upload_reply *reply)
{
    const struct fp_profile *profile = &file->profile;
    bool is_known = reply->status == 204 && file->is_valid;
    if (!is_known) {
        add_upload(&import->grid, file, &file->id, NULL, reply);
        return;
    }
    bool is_only = profile->next == NULL;
    for (uint32_t number = 0; profile != NULL; profile = profile->next, number++) {
        const struct fp_uuid id = is_only ? file->id : fp_uuid_of_part(&file->id, number);
        add_upload(&import->grid, file, &id, profile, reply);
        fp_wait_add(&import->counted, &id);
    }
}

/* Prints what was kept and refused of an accepted file. */
static void print_report(const struct import_file *file)
{
    if (!file->is_valid) {
        fp_message_notice("%s was accepted, but cannot be reported on: %s", file->body.name,
                          file->error.detail);
        return;
    }
    struct fp_buf lines;
    fp_buf_init(&lines, REPORT_MAX);
    fp_upload_report_add_lines(&file->profile, file->body.name, &lines);
    (void)fputs(fp_memory_text(&lines), stdout);
    /* In a log, this comes before the errors of the next file. */
    (void)fflush(stdout);
    fp_buf_release(&lines);
}

/* Says so if sessions of the file are not kept whole. */
static void tell_not_kept(const char *name, const struct fp_upload_reply *reply)
{
    if (reply->not_kept == 0)
        return;
    fp_message_notice("%s counts, but is not kept whole: a ceiling for this hour is reached", name);
    fp_message_hint("Raise sites[].kept or limits.kept; a repeated import does not keep it.");
}

/* Prints the error of an answer, if any, and returns its exit code. */
static enum fp_exit judge(struct import *import, const struct import_file *file,
                          const struct fp_upload_reply *reply)
{
    const char *name = file->body.name;
    const struct fp_fault fault = {reply->pointer, reply->offset, reply->detail};
    switch (reply->status) {
    case 204:
        if (import->given->form == FP_FORM_PEOPLE)
            print_report(file);
        tell_not_kept(name, reply);
        return FP_EXIT_FINE;
    case 400:
    case 413:
    case 415:
    case 422:
        if (import->given->form == FP_FORM_PEOPLE)
            fp_message_fault(name, &fault);
        return FP_EXIT_NO;
    default:
        fp_upload_complain(name, reply);
        import->is_over = true;
        return FP_EXIT_TROUBLE;
    }
}

static enum fp_exit send_file(struct import *import, const struct import_file *file,
                              struct fp_arena *arena)
{
    char token[FP_TOKEN_SIZE];
    import->is_over = !choose_token(import->site, file, token);
    if (import->is_over)
        return FP_EXIT_TROUBLE;
    struct fp_upload_content content = choose_content(file, arena);
    content.token = fp_str_of(token);
    struct fp_upload_reply reply;
    fp_message_progress("file %d of %d: sending %.1f MiB of %s", import->tried,
                        import->given->files.count, (double)content.body.len / (1 << 20),
                        file->body.name);
    fp_uploader_send(import->uploader, &content, &reply);
    fp_message_progress_end();
    add_answer(import, file, &reply);
    return judge(import, file, &reply);
}

static enum fp_exit import_file(struct import *import, const char *name)
{
    struct import_file file;
    fp_message_progress("file %d of %d: reading %s", import->tried, import->given->files.count,
                        name);
    if (!fp_input_file_read(name, &file.body))
        return FP_EXIT_TROUBLE;
    struct fp_arena arena;
    fp_arena_init(&arena, 2 * import->rules->upload_memory);
    decode(import->rules, &arena, &file);
    enum fp_exit code = send_file(import, &file, &arena);
    import->accepted += code == FP_EXIT_FINE;
    fp_arena_release(&arena);
    fp_input_file_release(&file.body);
    return code;
}

/* left: files that were not tried. */
static void print_count(const struct import *import, int left)
{
    (void)printf("imported %d of %d files", import->accepted, import->given->files.count);
    if (left > 0)
        (void)printf("; %d %s not tried", left, left == 1 ? "was" : "were");
    (void)printf("\n");
}

/* Waits for the accepted uploads, if that is asked for and possible. */
static void wait_if_asked(struct import *import, const char *conninfo)
{
    const struct import_options *given = import->given;
    bool is_terminal = isatty(STDOUT_FILENO) == 1 || isatty(STDERR_FILENO) == 1;
    if (given->wait == WAIT_NEVER || (given->wait == WAIT_ON_A_TERMINAL && !is_terminal))
        return;
    (void)fflush(stdout);
    const struct fp_wait_place place = {
        .conninfo = conninfo,
        .site = import->site != NULL ? import->site->name.ptr : NULL,
        .seconds = given->wait_s,
    };
    if (conninfo != NULL)
        fp_wait_until_counted(&import->counted, &place);
    else if (import->counted.count > 0)
        fp_message_notice("the uploads are counted at the collector's next flush; name the "
                          "database (--database) to wait for it");
}

/* Imports one file after the other, until one fails for a reason that is not its own. */
static enum fp_exit import_files(const struct import_options *given, const struct fp_rules *rules,
                                 const struct fp_site *site, const struct fp_upload_target *target,
                                 const char *conninfo)
{
    struct import import = {
        .given = given, .rules = rules, .site = site, .uploader = fp_uploader_create(target)};
    fp_wait_init(&import.counted);
    fp_grid_init(&import.grid, columns, sizeof(columns) / sizeof(columns[0]));
    enum fp_exit worst = FP_EXIT_FINE;
    while (import.tried < given->files.count && !import.is_over) {
        enum fp_exit code = import_file(&import, given->files.names[import.tried++]);
        if (code > worst)
            worst = code;
    }
    if (given->form != FP_FORM_PEOPLE)
        fp_grid_print(&import.grid, given->form);
    else
        print_count(&import, given->files.count - import.tried);
    wait_if_asked(&import, conninfo);
    fp_wait_release(&import.counted);
    fp_grid_release(&import.grid);
    fp_uploader_free(import.uploader);
    return worst;
}

/* Imports as the options and the configuration say, config being NULL when there is none. */
static enum fp_exit import_into(const struct import_options *given, const struct fp_config *config)
{
    const char *conninfo = fp_database_given(&given->database, config);
    if (given->wait == WAIT_ALWAYS && conninfo == NULL) {
        fp_message_error("--wait needs a database, and none was named");
        fp_message_hint("Give --database CONNINFO, set FLEETPROF_DATABASE, or give --config FILE.");
        return FP_EXIT_TROUBLE;
    }
    struct fp_upload_address found = {0};
    struct fp_upload_target target = given->target;
    if (!fp_upload_address_complete(config, given->site, &found, &target))
        return FP_EXIT_TROUBLE;
    struct fp_rules *rules = fp_config_file_rules(config);
    enum fp_exit code = import_files(given, rules, found.site, &target, conninfo);
    fp_rules_unref(rules);
    return code;
}

enum fp_exit fp_import_command(int argc, char **argv)
{
    struct import_options given = {.wait_s = WAIT_DEFAULT_S};
    struct fp_config *config = NULL;
    fp_command_parse(&import_argp, argc, argv, &given);
    if (!fp_config_file_load(given.database.config_file, &config))
        return FP_EXIT_TROUBLE;
    enum fp_exit code = import_into(&given, config);
    fp_config_free(config);
    return code;
}
