/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload options: reads the target of uploads.
 */
#include "cli/feed/upload_options.h"

#include "cli/kit/command.h"

enum {
    OPTION_URL = FP_OPTION_UPLOAD,
    OPTION_UNIX_SOCKET,
    OPTION_PAGE,
    OPTION_USER_AGENT,
};

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
