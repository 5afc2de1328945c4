/*
 * fleetprof import: uploads files to a collector, as browsers do.
 */
#include "cli/body.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/identify.h"
#include "cli/table.h"
#include "cli/target.h"
#include "cli/upload.h"
#include "collector/base/uuid.h"

enum {
    OPTION_JSON = FP_OPTION_FIRST,
    OPTION_URL,
    OPTION_UNIX_SOCKET,
    OPTION_SITE,
    OPTION_PAGE,
    OPTION_USER_AGENT,
};

struct import_options {
    char **files; /* of argv */
    int file_count;
    const char *config_file;
    const char *site;
    bool json;
    struct fp_upload_target target;
};

static const struct argp_option options[] = {
    {"url", OPTION_URL, "URL", 0,
     "upload to this address, such as http://127.0.0.1:8600/v1/ingest/KEY (default: what the "
     "configuration listens on)",
     0},
    {"unix-socket", OPTION_UNIX_SOCKET, "PATH", 0, "connect to this socket instead of URL's host",
     0},
    {"config", 'c', "FILE", 0,
     "take address, key and limits from the collector's configuration (" FP_CONFIG_FILE ")", 0},
    {"site", OPTION_SITE, "NAME", 0,
     "the site in the configuration (not needed when it has only one)", 0},
    {"page", OPTION_PAGE, "URL", 0, "the page of uploads that name none (sent as Referer)", 0},
    {"user-agent", OPTION_USER_AGENT, "TEXT", 0,
     "the browser that made the files (sent as User-Agent; default: unknown)", 0},
    {"json", OPTION_JSON, NULL, 0, "print JSON, one object a file", 0},
    {0},
};

static error_t parse_import(int key, char *arg, struct argp_state *state)
{
    struct import_options *import = state->input;
    switch (key) {
    case OPTION_URL:
        import->target.url = arg;
        return 0;
    case OPTION_UNIX_SOCKET:
        import->target.unix_socket = arg;
        return 0;
    case 'c':
        import->config_file = arg;
        return 0;
    case OPTION_SITE:
        import->site = arg;
        return 0;
    case OPTION_PAGE:
        import->target.page = arg;
        return 0;
    case OPTION_USER_AGENT:
        import->target.user_agent = arg;
        return 0;
    case OPTION_JSON:
        import->json = true;
        return 0;
    case ARGP_KEY_ARGS:
        import->files = state->argv + state->next;
        import->file_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no file was named");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp import_argp = {
    .options = options,
    .parser = parse_import,
    .args_doc = "FILE...",
    .doc = "Uploads each FILE (- is standard input) to a collector. Files may be compressed (.gz, "
           ".br, .zst). A file without an id of its own gets one that is made from its content, so "
           "that it counts once however often it is imported.\v"
           "While the collector is busy or its budget is spent, import waits and tries again, five "
           "times in all.",
};

static const struct fp_column columns[] = {
    {"file", NULL, FP_CELL_PATH},      {"accepted", NULL, FP_CELL_BOOLEAN},
    {"status", NULL, FP_CELL_INTEGER}, {"id", NULL, FP_CELL_TEXT},
    {"pointer", NULL, FP_CELL_TEXT},   {"offset", NULL, FP_CELL_INTEGER},
    {"detail", NULL, FP_CELL_TEXT},
};

struct import {
    const struct import_options *given;
    const struct fp_rules *rules;
    struct fp_uploader *uploader;
    struct fp_table table; /* the answers, for JSON */
    int accepted;
};

static void add_answer(struct fp_table *table, const char *file,
                       const struct fp_identified *identified, const struct fp_upload_reply *reply)
{
    char id[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(&identified->id, id);
    fp_table_add(table, file);
    fp_table_add(table, reply->status == 204 ? "true" : "false");
    fp_table_add_integer(table, reply->status);
    fp_table_add(table, identified->has_id ? id : NULL);
    fp_table_add(table, reply->pointer[0] != '\0' ? reply->pointer : NULL);
    if (reply->offset >= 0)
        fp_table_add_integer(table, reply->offset);
    else
        fp_table_add(table, NULL);
    fp_table_add(table, reply->detail[0] != '\0' ? reply->detail : NULL);
}

static void complain(const char *file, const struct fp_upload_reply *reply)
{
    if (reply->status == 0)
        fp_message_error("could not upload %s", file);
    else
        fp_message_error("%s was not accepted (HTTP status %ld)", file, reply->status);
    if (reply->detail[0] != '\0')
        fp_message_detail("%s", reply->detail);
    if (reply->status == 403 || reply->status == 404)
        fp_message_hint("Does the URL end in /v1/ingest/KEY, with the key of a site?");
}

/* What an answer means for the exit code; anything but FINE has been said. */
static enum fp_exit judge(const struct import *import, const char *file,
                          const struct fp_identified *identified,
                          const struct fp_upload_reply *reply)
{
    struct fp_fault fault = {reply->pointer, reply->offset, reply->detail};
    switch (reply->status) {
    case 204:
        if (!identified->has_id)
            fp_message_notice("%s has no id and counts again each time it is imported", file);
        return FP_EXIT_FINE;
    case 400:
    case 413:
    case 415:
    case 422:
        if (!import->given->json)
            fp_message_fault(file, &fault);
        return FP_EXIT_NO;
    default:
        complain(file, reply);
        return FP_EXIT_TROUBLE;
    }
}

static enum fp_exit import_file(struct import *import, const char *file)
{
    struct fp_body body;
    if (!fp_body_read(file, &body))
        return FP_EXIT_TROUBLE;
    struct fp_arena arena;
    fp_arena_init(&arena, 2 * import->rules->upload_memory);
    struct fp_identified identified = fp_identify(&body, import->rules, &arena);
    struct fp_upload_reply reply;
    const struct fp_upload_content content = {
        .body = identified.body,
        .type = FP_STR("application/json"),
        .encoding = identified.encoding,
    };
    fp_uploader_send(import->uploader, &content, &reply);
    add_answer(&import->table, body.name, &identified, &reply);
    enum fp_exit code = judge(import, body.name, &identified, &reply);
    import->accepted += code == FP_EXIT_FINE;
    fp_arena_release(&arena);
    fp_body_release(&body);
    return code;
}

/* Imports one file after the other; one that the collector did not judge ends it: so would the
 * rest. */
static enum fp_exit import_files(const struct import_options *given, const struct fp_rules *rules,
                                 const struct fp_upload_target *target)
{
    struct import import = {.given = given, .rules = rules, .uploader = fp_uploader_create(target)};
    if (import.uploader == NULL) {
        fp_message_error("out of memory");
        return FP_EXIT_TROUBLE;
    }
    fp_table_init(&import.table, columns, sizeof(columns) / sizeof(columns[0]));
    enum fp_exit worst = FP_EXIT_FINE;
    for (int i = 0; i < given->file_count && worst != FP_EXIT_TROUBLE; i++) {
        enum fp_exit code = import_file(&import, given->files[i]);
        worst = code > worst ? code : worst;
    }
    if (given->json && !fp_table_print(&import.table, true))
        worst = FP_EXIT_TROUBLE;
    if (!given->json)
        (void)printf("imported %d of %d files\n", import.accepted, given->file_count);
    fp_table_release(&import.table);
    fp_uploader_free(import.uploader);
    return worst;
}

/* Completes what the options leave open with the configuration, whose texts go into `found`. */
static bool choose_target(const struct import_options *given, const struct fp_config *config,
                          struct fp_target *found, struct fp_upload_target *target)
{
    *target = given->target;
    if (target->url != NULL)
        return true;
    if (config == NULL) {
        fp_message_error("no collector was named");
        fp_message_hint("Give --url URL or --config FILE.");
        return false;
    }
    if (!fp_target_find(config, given->site, found))
        return false;
    target->url = found->url;
    if (found->unix_socket[0] != '\0')
        target->unix_socket = found->unix_socket;
    return true;
}

enum fp_exit fp_import_command(int argc, char **argv)
{
    struct import_options given = {0};
    struct fp_config *config = NULL;
    if (argp_parse(&import_argp, argc, argv, 0, NULL, &given) != 0 ||
        !fp_config_file_load(given.config_file, &config))
        return FP_EXIT_TROUBLE;
    struct fp_target found;
    struct fp_upload_target target;
    enum fp_exit code = FP_EXIT_TROUBLE;
    if (choose_target(&given, config, &found, &target)) {
        struct fp_rules *rules = fp_config_file_rules(config);
        if (rules != NULL)
            code = import_files(&given, rules, &target);
        fp_rules_unref(rules);
    }
    fp_config_free(config);
    return code;
}
