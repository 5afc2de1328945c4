/*
 * Commands: reading their options.
 */
#include "cli/command.h"

bool fp_command_parse(const struct argp *argp, int argc, char **argv, void *given)
{
    /* argp itself reports wrong options and exits; it returns only for lack of memory. */
    if (argp_parse(argp, argc, argv, 0, NULL, given) == 0)
        return true;
    fp_message_error("out of memory");
    return false;
}
