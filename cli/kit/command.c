/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands: reading their options.
 */
#include "cli/kit/command.h"

#include "cli/kit/memory.h"

void fp_command_parse(const struct argp *argp, int argc, char **argv, void *given)
{
    /* argp itself reports wrong options and exits; it returns an error only for lack of memory. */
    if (argp_parse(argp, argc, argv, 0, NULL, given) != 0)
        fp_memory_end();
}

char *fp_command_help(int key, const char *text, void (*list)(FILE *stream))
{
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    char *filled = NULL;
    size_t len;
    FILE *stream = open_memstream(&filled, &len);
    if (stream == NULL)
        return NULL;
    list(stream);
    if (text != NULL && text[0] != '\0')
        (void)fprintf(stream, "\n%s", text);
    return fclose(stream) == 0 ? filled : NULL;
}
