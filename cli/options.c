/*
 * Options that several commands have.
 */
#include "cli/options.h"

#include "cli/command.h"

enum {
    OPTION_JSON = FP_OPTION_SHARED + 0x80,
    OPTION_CSV,
    OPTION_URL,
    OPTION_UNIX_SOCKET,
    OPTION_PAGE,
    OPTION_USER_AGENT,
};

/* ---- --json, --csv ---- */

static const struct argp_option form_options[] = {
    {"json", OPTION_JSON, NULL, 0, "print JSON, with all columns", 0},
    {"csv", OPTION_CSV, NULL, 0, "print CSV, with all columns", 0},
    {0},
};

static error_t parse_form(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    enum fp_form *form = state->input;
    if (key != OPTION_JSON && key != OPTION_CSV)
        return ARGP_ERR_UNKNOWN;
    enum fp_form wanted = key == OPTION_JSON ? FP_FORM_JSON : FP_FORM_CSV;
    if (*form != FP_FORM_PEOPLE && *form != wanted)
        argp_error(state, "--json and --csv exclude each other");
    *form = wanted;
    return 0;
}

const struct argp fp_form_argp = {.options = form_options, .parser = parse_form};

/* ---- FILE... ---- */

static error_t parse_files(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    struct fp_files *files = state->input;
    switch (key) {
    case ARGP_KEY_ARGS:
        files->names = state->argv + state->next;
        files->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no file was named");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp fp_files_argp = {.parser = parse_files};

/* ---- where to upload, and as whom ---- */

static const struct argp_option upload_options[] = {
    {"url", OPTION_URL, "URL", 0,
     "upload to this address, such as http://127.0.0.1:8600/v1/ingest/KEY (default: the "
     "configuration's)",
     0},
    {"unix-socket", OPTION_UNIX_SOCKET, "PATH", 0, "connect to this socket instead of URL's host",
     0},
    {"page", OPTION_PAGE, "URL", 0, "the page of uploads that name none (sent as Referer)", 0},
    {"user-agent", OPTION_USER_AGENT, "TEXT", 0,
     "the browser that the uploads came from (sent as User-Agent; default: unknown)", 0},
    {0},
};

/* Returns a text that can be sent in a header: a line break would start another one. */
static const char *header_value(const char *option, const char *arg, struct argp_state *state)
{
    const char *end = arg;
    while (*end != '\0' && (unsigned char)*end >= ' ' && *end != 0x7f)
        end++;
    if (*end != '\0')
        argp_error(state, "%s has control characters", option);
    return arg;
}

static error_t parse_upload(int key, char *arg, struct argp_state *state)
{
    struct fp_upload_target *target = state->input;
    switch (key) {
    case OPTION_URL:
        target->url = arg;
        return 0;
    case OPTION_UNIX_SOCKET:
        target->unix_socket = arg;
        return 0;
    case OPTION_PAGE:
        target->page = header_value("--page", arg, state);
        return 0;
    case OPTION_USER_AGENT:
        target->user_agent = header_value("--user-agent", arg, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp fp_upload_argp = {.options = upload_options, .parser = parse_upload};

unsigned fp_option_number(const char *name, const char *arg, const char *units, unsigned min,
                          unsigned max, struct argp_state *state)
{
    const size_t len = strlen(arg);
    const bool is_number = len > 0 && len <= 9 && strspn(arg, "0123456789") == len;
    const unsigned long number = is_number ? strtoul(arg, NULL, 10) : 0;
    if (!is_number || number < min || number > max)
        argp_error(state, "--%s takes a whole number%s%s from %u to %u, not \"%s\"", name,
                   units != NULL ? " of " : "", units != NULL ? units : "", min, max, arg);
    return (unsigned)number;
}
