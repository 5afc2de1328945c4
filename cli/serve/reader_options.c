/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader options: --statement-timeout and --allow-writer.
 */
#include "cli/serve/reader_options.h"

#include "cli/kit/command.h"

#include <stdlib.h>

enum {
    OPTION_ALLOW_WRITER = FP_OPTION_READER,
    OPTION_STATEMENT_TIMEOUT,
};

enum {
    STATEMENT_TIMEOUT_S = 30,
    STATEMENT_TIMEOUT_MAX_S = 3600,
};

static const struct argp_option options[] = {
    {"statement-timeout", OPTION_STATEMENT_TIMEOUT, "SECONDS", 0,
     "give a question up after this long, 1 to 3600 (default: 30)", 0},
    {"allow-writer", OPTION_ALLOW_WRITER, NULL, 0,
     "connect as a role that can write, on a machine of your own", 0},
    {0},
};

static void read_timeout(struct fp_reader_settings *given, const char *arg,
                         struct argp_state *state)
{
    char *end;
    unsigned long seconds = strtoul(arg, &end, 10);
    if (arg[0] < '0' || arg[0] > '9' || *end != '\0' || seconds < 1 ||
        seconds > STATEMENT_TIMEOUT_MAX_S)
        argp_error(state, "--statement-timeout takes seconds from 1 to %d, not \"%s\"",
                   STATEMENT_TIMEOUT_MAX_S, arg);
    given->statement_timeout_s = (unsigned)seconds;
}

static error_t parse_reader(int key, char *arg, struct argp_state *state)
{
    struct fp_reader_settings *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        given->statement_timeout_s = STATEMENT_TIMEOUT_S;
        return 0;
    case OPTION_ALLOW_WRITER:
        given->allow_writer = true;
        return 0;
    case OPTION_STATEMENT_TIMEOUT:
        read_timeout(given, arg, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp fp_reader_argp = {.options = options, .parser = parse_reader};
