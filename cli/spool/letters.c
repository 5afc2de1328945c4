/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof spool dead-letters list, show: what was refused and is kept.
 */
#include "cli/kit/grid.h"
#include "cli/kit/message.h"
#include "cli/kit/options.h"
#include "cli/kit/terminal.h"
#include "cli/spool/refused.h"
#include "cli/spool/spool.h"

#include <time.h>

enum { OPTION_BODY = FP_OPTION_FIRST };

static const struct fp_grid_column columns[] = {
    {"id", "ID", FP_CELL_WORD},
    {"kind", NULL, FP_CELL_TEXT},
    {"received", "RECEIVED", FP_CELL_WORD},
    {"site", "SITE", FP_CELL_TEXT},
    {"status", "STATUS", FP_CELL_INTEGER},
    {"body_bytes", "BYTES", FP_CELL_INTEGER},
    {"pointer", "WHERE", FP_CELL_TEXT},
    {"offset", NULL, FP_CELL_INTEGER},
    {"detail", "WHY", FP_CELL_SENTENCE},
    {"origin", NULL, FP_CELL_TEXT},
    {"content_type", NULL, FP_CELL_TEXT},
    {"content_encoding", NULL, FP_CELL_TEXT},
    {"format", NULL, FP_CELL_TEXT},
    {"uploads", NULL, FP_CELL_INTEGER},
};
static const size_t column_count = sizeof(columns) / sizeof(columns[0]);

/* ---- rows ---- */

static void add_time(struct fp_grid *grid, int64_t time_us)
{
    char text[64];
    char whole[40];
    struct tm utc;
    time_t seconds = (time_t)(time_us / 1000000);
    if (time_us <= 0 || gmtime_r(&seconds, &utc) == NULL) {
        fp_grid_add(grid, NULL);
        return;
    }
    (void)strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(text, sizeof(text), "%s.%03dZ", whole, (int)(time_us / 1000 % 1000));
    fp_grid_add(grid, text);
}

/* Texts of letters end with a NUL: they are in an arena. */
static void add_text(struct fp_grid *grid, struct fp_str text)
{
    fp_grid_add(grid, text.len > 0 ? text.ptr : NULL);
}

static void add_refused(struct fp_grid *grid, const struct fp_refused_entry *entry,
                        const struct fp_refused *refused)
{
    const struct fp_letter *letter = &refused->letter;
    const struct fp_problem *problem = &letter->problem;
    fp_grid_add(grid, entry->id);
    fp_grid_add(grid, entry->is_record ? "record" : "letter");
    add_time(grid, letter->received_us);
    add_text(grid, letter->site);
    fp_grid_add_optional(grid, problem->status != 0, problem->status);
    fp_grid_add_integer(grid, (int64_t)refused->body.len);
    fp_grid_add(grid, problem->has_pointer ? problem->pointer : NULL);
    fp_grid_add_optional(grid, problem->offset >= 0, problem->offset);
    fp_grid_add_text(grid, problem->detail);
    add_text(grid, letter->origin);
    add_text(grid, letter->content_type);
    add_text(grid, letter->encoding);
    add_text(grid, letter->format);
    fp_grid_add_optional(grid, entry->is_record && refused->is_whole,
                         (int64_t)refused->record.count);
}

/* ---- list ---- */

struct refused_list_options {
    struct fp_refused_options refused;
    enum fp_form form;
};

static error_t parse_list(int key, char *arg, struct argp_state *state)
{
    struct refused_list_options *list = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &list->refused;
        state->child_inputs[1] = &list->form;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child refused_children[] = {
    {&fp_refused_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp list_argp = {
    .parser = parse_list,
    .children = refused_children,
    .doc = "Lists the bodies of refused uploads that the collector keeps (dead_letters.path), the "
           "oldest first, and the records that the database refused.",
};

enum fp_exit fp_spool_list_command(int argc, char **argv)
{
    struct refused_list_options given = {0};
    struct fp_refused_list list = {0};
    struct fp_grid grid;
    fp_command_parse(&list_argp, argc, argv, &given);
    bool fine = fp_refused_find(&given.refused, &list);
    fp_grid_init(&grid, columns, column_count);
    for (size_t i = 0; fine && i < list.count; i++) {
        struct fp_refused refused;
        fine = fp_refused_open(&list, &list.entries[i], &refused);
        if (fine) {
            add_refused(&grid, &list.entries[i], &refused);
            fp_refused_close(&refused);
        }
    }
    if (fine)
        fp_grid_print(&grid, given.form);
    fp_grid_release(&grid);
    fp_refused_release(&list);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

/* ---- show ---- */

struct refused_show_options {
    struct fp_refused_options refused;
    const char *id;
    enum fp_form form;
    bool body;
};

static const struct argp_option show_option_table[] = {
    {"body", OPTION_BODY, NULL, 0,
     "print only the body, byte for byte as it was received; for a record, its bytes", 0},
    {0},
};

static error_t parse_show(int key, char *arg, struct argp_state *state)
{
    struct refused_show_options *show = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &show->refused;
        state->child_inputs[1] = &show->form;
        return 0;
    case OPTION_BODY:
        show->body = true;
        return 0;
    case ARGP_KEY_ARG:
        if (show->id != NULL)
            argp_error(state, "one ID at a time");
        show->id = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no ID was given; `fleetprof spool dead-letters list' lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp show_argp = {
    .options = show_option_table,
    .parser = parse_show,
    .children = refused_children,
    .args_doc = "ID",
    .doc = "Shows one dead letter or record in full, with all that `list' leaves out.",
};

static bool print_refused(const struct refused_show_options *show,
                          const struct fp_refused_entry *entry, const struct fp_refused *refused)
{
    if (show->body) {
        fp_terminal_write_json(stdout, refused->body);
        return ferror(stdout) == 0;
    }
    struct fp_grid grid;
    fp_grid_init(&grid, columns, column_count);
    add_refused(&grid, entry, refused);
    if (show->form != FP_FORM_PEOPLE)
        fp_grid_print(&grid, show->form);
    for (size_t i = 0; show->form == FP_FORM_PEOPLE && i < grid.cell_count; i++) {
        if (grid.cells[i] == NULL)
            continue;
        (void)printf("%-16s ", columns[i].name);
        fp_message_put(grid.cells[i]);
        (void)putchar('\n');
    }
    fp_grid_release(&grid);
    return true;
}

enum fp_exit fp_spool_show_command(int argc, char **argv)
{
    struct refused_show_options given = {0};
    struct fp_refused_list list = {0};
    fp_command_parse(&show_argp, argc, argv, &given);
    enum fp_exit code = FP_EXIT_TROUBLE;
    if (fp_refused_find(&given.refused, &list)) {
        const struct fp_refused_entry *entry = fp_refused_by_id(&list, given.id);
        struct fp_refused refused;
        if (entry == NULL) {
            fp_message_error("there is no dead letter \"%s\"", given.id);
        } else if (fp_refused_open(&list, entry, &refused)) {
            code = print_refused(&given, entry, &refused) ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
            fp_refused_close(&refused);
        }
    }
    fp_refused_release(&list);
    return code;
}
