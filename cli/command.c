/*
 * Commands: reading their options.
 */
#include "cli/command.h"

#include "cli/memory.h"

void fp_command_parse(const struct argp *argp, int argc, char **argv, void *given)
{
    /* argp itself reports wrong options and exits; it returns an error only for lack of memory. */
    if (argp_parse(argp, argc, argv, 0, NULL, given) != 0)
        fp_memory_end();
}
