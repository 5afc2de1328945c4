/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sub-commands: finds one by its words.
 */
#include "cli/kit/sub_command.h"

#include "cli/kit/nearest.h"

#include <argp.h>

static void print_usage(const struct fp_command_family *family, FILE *stream)
{
    (void)fprintf(stream, "Usage: fleetprof %s COMMAND [ARGUMENT...]\n", family->name);
}

static void list(const struct fp_command_family *family, FILE *stream)
{
    print_usage(family, stream);
    (void)fprintf(stream, "%s\n\nCommands:\n", family->summary);
    for (size_t i = 0; i < family->count; i++) {
        const struct fp_sub_command *sub = &family->members[i];
        bool two = sub->words[1] != NULL;
        (void)fprintf(stream, "  %s%s%-*s %s\n", sub->words[0], two ? " " : "",
                      20 - (int)strlen(sub->words[0]) - (two ? 1 : 0), two ? sub->words[1] : "",
                      sub->summary);
    }
    (void)fprintf(stream, "\n`fleetprof %s COMMAND --help' explains one.\n", family->name);
}

/* Returns how many arguments name the sub-command, 0 if they name another. */
static int match(const struct fp_sub_command *sub, int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], sub->words[0]) != 0)
        return 0;
    if (sub->words[1] == NULL)
        return 1;
    return argc > 2 && strcmp(argv[2], sub->words[1]) == 0 ? 2 : 0;
}

static bool is_either(const char *word, const char *one, const char *other)
{
    return strcmp(word, one) == 0 || strcmp(word, other) == 0;
}

/* Handles an option that every command has. False for any other option. */
static bool answer(const struct fp_command_family *family, const char *word)
{
    if (is_either(word, "-?", "--help") || strcmp(word, "-h") == 0)
        list(family, stdout);
    else if (strcmp(word, "--usage") == 0)
        print_usage(family, stdout);
    else if (is_either(word, "-V", "--version"))
        (void)puts(argp_program_version);
    else
        return false;
    return true;
}

/* True if sub-commands of two words begin with this one. */
static bool begins_some(const struct fp_command_family *family, const char *word)
{
    for (size_t i = 0; i < family->count; i++)
        if (family->members[i].words[1] != NULL && strcmp(family->members[i].words[0], word) == 0)
            return true;
    return false;
}

/* Returns the first or second word of a sub-command that a word is nearly; NULL: of none. */
static const char *nearest(const struct fp_command_family *family, bool is_second,
                           const char *first, const char *word)
{
    struct fp_nearest nearest = {.word = word};
    for (size_t i = 0; i < family->count; i++) {
        const char *const *words = family->members[i].words;
        if (!is_second)
            fp_nearest_take(&nearest, words[0]);
        else if (words[1] != NULL && strcmp(words[0], first) == 0)
            fp_nearest_take(&nearest, words[1]);
    }
    return nearest.name;
}

/* Handles words that do not name a sub-command: help, or an error. */
static enum fp_exit explain(const struct fp_command_family *family, int argc, char **argv)
{
    const bool begins = argc > 1 && begins_some(family, argv[1]);
    const char *word = argv[begins ? 2 : 1];
    if (word != NULL && answer(family, word))
        return FP_EXIT_FINE;
    if (word != NULL)
        fp_message_error("%s%s%s has no command \"%s\"", family->name, begins ? " " : "",
                         begins ? argv[1] : "", word);
    const char *meant = word != NULL ? nearest(family, begins, argv[1], word) : NULL;
    if (meant != NULL)
        fp_message_hint("Did you mean \"%s\"?", meant);
    else
        list(family, stderr);
    return FP_EXIT_TROUBLE;
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
    return explain(family, argc, argv);
}
