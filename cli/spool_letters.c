/*
 * fleetprof spool dead-letters list, show: what was refused and is kept.
 */
#include "cli/kept.h"
#include "cli/spool.h"
#include "cli/table.h"

#include <time.h>
#include <wchar.h>
#include <wctype.h>

enum { OPTION_JSON = FP_OPTION_FIRST, OPTION_BODY };

static const struct fp_column columns[] = {
    {"id", "ID", FP_CELL_WORD},
    {"kind", NULL, FP_CELL_TEXT},
    {"received", "RECEIVED", FP_CELL_WORD},
    {"site", "SITE", FP_CELL_TEXT},
    {"status", "STATUS", FP_CELL_INTEGER},
    {"body_bytes", "BYTES", FP_CELL_INTEGER},
    {"pointer", "WHERE", FP_CELL_TEXT},
    {"offset", NULL, FP_CELL_INTEGER},
    {"detail", "WHY", FP_CELL_TEXT},
    {"origin", NULL, FP_CELL_TEXT},
    {"content_type", NULL, FP_CELL_TEXT},
    {"content_encoding", NULL, FP_CELL_TEXT},
    {"format", NULL, FP_CELL_TEXT},
    {"uploads", NULL, FP_CELL_INTEGER},
};
static const size_t column_count = sizeof(columns) / sizeof(columns[0]);

/* ---- rows ---- */

static void add_time(struct fp_table *table, int64_t time_us)
{
    char text[64];
    char whole[40];
    struct tm utc;
    time_t seconds = (time_t)(time_us / 1000000);
    if (time_us <= 0 || gmtime_r(&seconds, &utc) == NULL) {
        fp_table_add(table, NULL);
        return;
    }
    (void)strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(text, sizeof(text), "%s.%03dZ", whole, (int)(time_us / 1000 % 1000));
    fp_table_add(table, text);
}

/* Texts of letters end with a NUL: they lie in an arena. */
static void add_text(struct fp_table *table, struct fp_str text)
{
    fp_table_add(table, text.len > 0 ? text.ptr : NULL);
}

static void add_number(struct fp_table *table, bool applies, int64_t number)
{
    if (applies)
        fp_table_add_integer(table, number);
    else
        fp_table_add(table, NULL);
}

static void add_kept(struct fp_table *table, const struct fp_kept_entry *entry,
                     const struct fp_kept *kept)
{
    const struct fp_letter *letter = &kept->letter;
    const struct fp_problem *problem = &letter->problem;
    fp_table_add(table, entry->id);
    fp_table_add(table, entry->is_record ? "record" : "letter");
    add_time(table, letter->received_us);
    add_text(table, letter->site);
    add_number(table, problem->status != 0, problem->status);
    fp_table_add_integer(table, (int64_t)kept->body.len);
    fp_table_add(table, problem->has_pointer ? problem->pointer : NULL);
    add_number(table, problem->offset >= 0, problem->offset);
    fp_table_add(table, problem->detail[0] != '\0' ? problem->detail : NULL);
    add_text(table, letter->origin);
    add_text(table, letter->content_type);
    add_text(table, letter->encoding);
    add_text(table, letter->format);
    add_number(table, entry->is_record && kept->is_whole, (int64_t)kept->record.count);
}

/* ---- list ---- */

struct list_options {
    struct fp_kept_options kept;
    bool json;
};

static const struct argp_option list_option_table[] = {
    {"json", OPTION_JSON, NULL, 0, "print JSON", 0},
    {0},
};

static error_t parse_list(int key, char *arg, struct argp_state *state)
{
    struct list_options *list = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &list->kept;
        return 0;
    case OPTION_JSON:
        list->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child kept_children[] = {
    {&fp_kept_argp, 0, NULL, 0},
    {0},
};

static const struct argp list_argp = {
    .options = list_option_table,
    .parser = parse_list,
    .children = kept_children,
    .doc = "Lists the bodies of refused uploads that the collector keeps (dead_letters.path), the "
           "oldest first, and the records that the database refused.",
};

enum fp_exit fp_spool_list_command(int argc, char **argv)
{
    struct list_options given = {0};
    struct fp_kept_list list = {0};
    struct fp_table table;
    if (!fp_command_parse(&list_argp, argc, argv, &given))
        return FP_EXIT_TROUBLE;
    bool fine = fp_kept_find(&given.kept, &list);
    fp_table_init(&table, columns, column_count);
    for (size_t i = 0; fine && i < list.count; i++) {
        struct fp_kept kept;
        fine = fp_kept_open(&list, &list.entries[i], &kept);
        if (fine) {
            add_kept(&table, &list.entries[i], &kept);
            fp_kept_close(&kept);
        }
    }
    fine = fine && fp_table_print(&table, given.json);
    fp_table_release(&table);
    fp_kept_release(&list);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}

/* ---- show ---- */

struct show_options {
    struct fp_kept_options kept;
    const char *id;
    bool json;
    bool body;
};

static const struct argp_option show_option_table[] = {
    {"body", OPTION_BODY, NULL, 0,
     "print the body alone, byte for byte, compressed if it came so; of a record its bytes", 0},
    {"json", OPTION_JSON, NULL, 0, "print JSON", 0},
    {0},
};

static error_t parse_show(int key, char *arg, struct argp_state *state)
{
    struct show_options *show = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &show->kept;
        return 0;
    case OPTION_BODY:
        show->body = true;
        return 0;
    case OPTION_JSON:
        show->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (show->id != NULL)
            argp_error(state, "one ID at a time");
        show->id = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no ID was given; `fleetprof spool dead-letters list' names them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp show_argp = {
    .options = show_option_table,
    .parser = parse_show,
    .children = kept_children,
    .args_doc = "ID",
    .doc = "Shows one of what `list' lists, nothing cut.",
};

/* Texts came from a stranger: nothing in them may steer a terminal. */
static void print_member(const char *name, const char *value)
{
    (void)printf("%-16s ", name);
    mbstate_t state = {0};
    for (const char *end = value + strlen(value); value < end;) {
        wchar_t c;
        size_t len = mbrtowc(&c, value, (size_t)(end - value), &state);
        bool good = len > 0 && len <= (size_t)(end - value);
        (void)printf("%.*s", good ? (int)len : 1, good && iswcntrl((wint_t)c) == 0 ? value : "?");
        value += good ? len : 1;
    }
    (void)putchar('\n');
}

static bool print_kept(const struct show_options *show, const struct fp_kept_entry *entry,
                       const struct fp_kept *kept)
{
    if (show->body)
        return fwrite(kept->body.ptr, 1, kept->body.len, stdout) == kept->body.len;
    struct fp_table table;
    fp_table_init(&table, columns, column_count);
    add_kept(&table, entry, kept);
    bool printed = true;
    bool as_json = show->json || table.failed; /* that one says what failed */
    if (as_json)
        printed = fp_table_print(&table, true);
    for (size_t i = 0; !as_json && i < table.cell_count; i++) {
        if (table.cells[i] != NULL)
            print_member(columns[i].name, table.cells[i]);
    }
    fp_table_release(&table);
    return printed;
}

enum fp_exit fp_spool_show_command(int argc, char **argv)
{
    struct show_options given = {0};
    struct fp_kept_list list = {0};
    if (!fp_command_parse(&show_argp, argc, argv, &given))
        return FP_EXIT_TROUBLE;
    enum fp_exit code = FP_EXIT_TROUBLE;
    if (fp_kept_find(&given.kept, &list)) {
        const struct fp_kept_entry *entry = fp_kept_by_id(&list, given.id);
        struct fp_kept kept;
        if (entry == NULL) {
            fp_message_error("there is no dead letter \"%s\"", given.id);
        } else if (fp_kept_open(&list, entry, &kept)) {
            code = print_kept(&given, entry, &kept) ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
            fp_kept_close(&kept);
        }
    }
    fp_kept_release(&list);
    return code;
}
