/*
 * fleetprof spool: finds the sub-command and runs it.
 */
#include "cli/spool.h"

static const struct sub_command {
    const char *words[2]; /* the second may be NULL */
    const char *summary;
    enum fp_exit (*run)(int argc, char **argv);
} sub_commands[] = {
    {{"inspect", NULL}, "the files of a spool and their records", fp_spool_inspect_command},
    {{"verify", NULL}, "check every record of a spool", fp_spool_verify_command},
    {{"dead-letters", "list"}, "what was refused, and why", fp_spool_list_command},
    {{"dead-letters", "show"}, "one of them, or its body", fp_spool_show_command},
    {{"dead-letters", "replay"}, "upload them again", fp_spool_replay_command},
};
static const size_t sub_command_count = sizeof(sub_commands) / sizeof(sub_commands[0]);

static void list_sub_commands(FILE *stream)
{
    (void)fprintf(stream, "Usage: fleetprof spool COMMAND [ARGUMENT...]\n"
                          "A collector's spool and what was refused.\n\nCommands:\n");
    for (size_t i = 0; i < sub_command_count; i++) {
        const struct sub_command *sub = &sub_commands[i];
        bool two = sub->words[1] != NULL;
        (void)fprintf(stream, "  %s%s%-*s %s\n", sub->words[0], two ? " " : "",
                      20 - (int)strlen(sub->words[0]) - (two ? 1 : 0), two ? sub->words[1] : "",
                      sub->summary);
    }
    (void)fprintf(stream, "\n`fleetprof spool COMMAND --help' explains one.\n");
}

/* How many words of the arguments name the sub-command, 0 when they name another. */
static int match(const struct sub_command *sub, int argc, char **argv)
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

enum fp_exit fp_spool_command(int argc, char **argv)
{
    for (size_t i = 0; i < sub_command_count; i++) {
        const struct sub_command *sub = &sub_commands[i];
        int words = match(sub, argc, argv);
        if (words == 0)
            continue;
        char full_name[64];
        (void)snprintf(full_name, sizeof(full_name), "fleetprof spool %s%s%s", sub->words[0],
                       words > 1 ? " " : "", words > 1 ? sub->words[1] : "");
        argv[words] = full_name;
        return sub->run(argc - words, argv + words);
    }
    if (argc > 1 && asks_for_help(argv[1])) {
        list_sub_commands(stdout);
        return FP_EXIT_FINE;
    }
    if (argc > 1)
        fp_message_error("spool has no command \"%s\"", argv[1]);
    list_sub_commands(stderr);
    return FP_EXIT_TROUBLE;
}
