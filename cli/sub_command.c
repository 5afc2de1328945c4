/*
 * Sub-commands: finding one by its words.
 */
#include "cli/sub_command.h"

static void list(const struct fp_command_family *family, FILE *stream)
{
    (void)fprintf(stream, "Usage: fleetprof %s COMMAND [ARGUMENT...]\n%s\n\nCommands:\n",
                  family->name, family->summary);
    for (size_t i = 0; i < family->count; i++) {
        const struct fp_sub_command *sub = &family->members[i];
        bool two = sub->words[1] != NULL;
        (void)fprintf(stream, "  %s%s%-*s %s\n", sub->words[0], two ? " " : "",
                      20 - (int)strlen(sub->words[0]) - (two ? 1 : 0), two ? sub->words[1] : "",
                      sub->summary);
    }
    (void)fprintf(stream, "\n`fleetprof %s COMMAND --help' explains one.\n", family->name);
}

/* How many words of the arguments name the sub-command, 0 when they name another. */
static int match(const struct fp_sub_command *sub, int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], sub->words[0]) != 0)
        return 0;
    if (sub->words[1] == NULL)
        return 1;
    return argc > 2 && strcmp(argv[2], sub->words[1]) == 0 ? 2 : 0;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0;
}

enum fp_exit fp_command_family_run(const struct fp_command_family *family, int argc, char **argv)
{
    for (size_t i = 0; i < family->count; i++) {
        const struct fp_sub_command *sub = &family->members[i];
        int words = match(sub, argc, argv);
        if (words == 0)
            continue;
        char full_name[64];
        (void)snprintf(full_name, sizeof(full_name), "fleetprof %s %s%s%s", family->name,
                       sub->words[0], words > 1 ? " " : "", words > 1 ? sub->words[1] : "");
        argv[words] = full_name;
        return sub->run(argc - words, argv + words);
    }
    if (argc > 1 && asks_for_help(argv[1])) {
        list(family, stdout);
        return FP_EXIT_FINE;
    }
    if (argc > 1)
        fp_message_error("%s has no command \"%s\"", family->name, argv[1]);
    list(family, stderr);
    return FP_EXIT_TROUBLE;
}
