/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that several commands have.
 */
#include "cli/kit/options.h"

#include "cli/kit/command.h"

enum {
    OPTION_JSON = FP_OPTION_SHARED + 0x80,
    OPTION_CSV,
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
