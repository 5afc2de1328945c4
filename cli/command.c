/*
 * Commands: reading their options.
 */
#include "cli/command.h"

bool fp_command_parse(const struct argp *argp, int argc, char **argv, void *given)
{
    /* What is wrong with the options argp says itself, and exits. */
    if (argp_parse(argp, argc, argv, 0, NULL, given) == 0)
        return true;
    fp_message_error("out of memory");
    return false;
}
