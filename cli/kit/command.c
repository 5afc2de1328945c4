/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands: reading their options.
 */
#include "cli/kit/command.h"

#include "cli/kit/command_examples.h"
#include "cli/kit/memory.h"
#include "cli/kit/nearest.h"
#include "collector/base/buf.h"

#include <stdlib.h>

/* ---- mistyped options ---- */

/* An option that somebody gave, as far as argp's tables know it. */
struct given_option {
    struct fp_nearest nearest; /* of the long names */
    char letter;               /* of a short option; '\0': a long one */
    bool is_known;
    bool takes_value; /* which is the next argument, unless this one has it */
};

/* An alias takes the value of the option that it is an alias of. */
static void take_option(const struct argp_option *option, const struct argp_option *real,
                        struct given_option *given)
{
    const char *word = given->nearest.word;
    const bool is_short = given->letter != '\0';
    if (option->name != NULL && !is_short)
        fp_nearest_take(&given->nearest, option->name);
    /* argp takes the beginning of a name for the name. */
    if (is_short ? option->key != given->letter
                 : option->name == NULL || strncmp(option->name, word, strlen(word)) != 0)
        return;
    given->is_known = true;
    given->takes_value = real->arg != NULL && (real->flags & OPTION_ARG_OPTIONAL) == 0;
}

static void look_up(const struct argp *argp, struct given_option *given)
{
    static const struct argp_option usual[] = {
        {.name = "help"}, {.name = "usage"}, {.name = "version"}};
    for (size_t i = 0; i < FP_COUNT(usual); i++)
        take_option(&usual[i], &usual[i], given);
    const struct argp_option *option = argp->options, *real = option;
    for (; option != NULL && (option->name != NULL || option->key != 0 || option->doc != NULL);
         option++) {
        if ((option->flags & OPTION_ALIAS) == 0)
            real = option;
        take_option(option, real, given);
    }
    const struct argp_child *child = argp->children;
    for (; child != NULL && child->argp != NULL; child++)
        look_up(child->argp, given);
}

/* Ends the process if a long option does not exist and another one has nearly its name. */
static void suggest_option(const char *command, const char *arg, const struct given_option *given)
{
    if (given->letter != '\0' || given->is_known || given->nearest.name == NULL)
        return;
    fp_message_error("%s has no option \"%s\"", command + strlen("fleetprof "), arg);
    fp_message_hint("Did you mean --%s?", given->nearest.name);
    exit(FP_EXIT_TROUBLE);
}

/* Looks at an argument that begins with "-". Returns whether the next one is its value. */
static bool check_option(const struct argp *argp, const char *command, const char *arg)
{
    char word[64];
    const bool is_long = arg[1] == '-';
    const char *name = arg + (is_long ? 2 : 1);
    const size_t len = strcspn(name, "=");
    if (len >= sizeof(word))
        return false;
    (void)snprintf(word, sizeof(word), "%.*s", (int)len, name);
    struct given_option given = {.nearest = {.word = word}};
    if (!is_long)
        given.letter = name[0];
    look_up(argp, &given);
    suggest_option(command, arg, &given);
    return given.takes_value && name[is_long ? len : 1] == '\0';
}

static void check_options(const struct argp *argp, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (argv[i][0] == '-' && argv[i][1] != '\0' && check_option(argp, argv[0], argv[i]))
            i++;
}

/* ---- examples ---- */

/* Returns what a help page says first, and behind it the manual's examples of a command. The caller
 * frees it. */
static char *make_doc(const struct argp *argp, const char *command)
{
#define EXAMPLE(line) line,
    static const char *const lines[] = {FP_COMMAND_EXAMPLES(EXAMPLE)};
#undef EXAMPLE
    const size_t len = strlen(command);
    size_t found = 0;
    struct fp_buf text;
    fp_buf_init(&text, (size_t)16 * 1024);
    fp_buf_addf(&text, "%.*s", (int)strcspn(argp->doc, "\v"), argp->doc);
    for (size_t i = 0; i < FP_COUNT(lines); i++)
        if (strncmp(lines[i], command, len) == 0 && strchr(" ", lines[i][len]) != NULL)
            fp_buf_addf(&text, "%s  %s", found++ == 0 ? "\vExamples:\n" : "\n", lines[i]);
    char *doc = fp_memory_copy(fp_memory_text(&text));
    fp_buf_release(&text);
    return doc;
}

/* ---- reading ---- */

/* Takes -h as --help, which argp calls -? alone. */
static error_t parse_short_help(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->input;
        return 0;
    case 'h':
        argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void fp_command_parse(const struct argp *argp, int argc, char **argv, void *given)
{
    static const struct argp_option options[] = {FP_SHORT_HELP, {0}};
    const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
    char *doc = argp->doc != NULL ? make_doc(argp, argv[0]) : NULL;
    const struct argp whole = {
        .options = options, .parser = parse_short_help, .doc = doc, .children = children};
    check_options(argp, argc, argv);
    /* argp itself reports wrong options and exits; it returns an error only for lack of memory. */
    if (argp_parse(&whole, argc, argv, 0, NULL, given) != 0)
        fp_memory_end();
    free(doc);
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
