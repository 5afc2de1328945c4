/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof validate: checks files as the collector would, without one.
 */
#include "cli/feed/upload_report.h"
#include "cli/kit/command.h"
#include "cli/kit/config_file.h"
#include "cli/kit/input_file.h"
#include "cli/kit/memory.h"
#include "cli/kit/options.h"
#include "collector/profile/fold/fold.h"

enum { REPORT_MAX = 64 * 1024 * 1024 };

struct validate_options {
    struct fp_files files;
    const char *config_file;
    enum fp_form form;
};

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0, "take the limits from the collector's configuration", 0},
    {0},
};

static error_t parse_validate(int key, char *arg, struct argp_state *state)
{
    struct validate_options *validate = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &validate->files;
        state->child_inputs[1] = &validate->form;
        return 0;
    case 'c':
        validate->config_file = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fp_files_argp, 0, NULL, 0},
    {&fp_form_argp, 0, NULL, 0},
    {0},
};

static const struct argp validate_argp = {
    .options = options,
    .parser = parse_validate,
    .children = children,
    .args_doc = "FILE...",
    .doc = "Decodes each FILE (- is standard input) with the collector's own decoder and says what "
           "it holds, or where and why it would be refused. Without a configuration the default "
           "limits apply.",
};

static const struct fp_grid_column columns[] = {
    {"file", "FILE", FP_CELL_PATH},
    {"valid", NULL, FP_CELL_BOOLEAN},
    {"format", "FORMAT", FP_CELL_WORD},
    {"samples", "SAMPLES", FP_CELL_INTEGER},
    {"frames", "FRAMES", FP_CELL_INTEGER},
    {"stacks", "STACKS", FP_CELL_INTEGER},
    {"profiled_ms", "PROFILED MS", FP_CELL_MS},
    {"unattributed_ms", "UNATTRIBUTED MS", FP_CELL_MS},
    {"timings", "TIMINGS", FP_CELL_INTEGER},
    {"events", "EVENTS", FP_CELL_INTEGER},
    {"timelines", NULL, FP_CELL_INTEGER},
    FP_UPLOAD_REPORT_COLUMNS,
    {"pointer", NULL, FP_CELL_TEXT},
    {"offset", NULL, FP_CELL_INTEGER},
    {"detail", NULL, FP_CELL_TEXT},
};

/* A file as the collector would see it. */
struct checked {
    struct fp_profile profile;
    struct fp_delta *deltas; /* of each upload in it */
    struct fp_upload_error error;
};

static void add_ms(struct fp_grid *grid, int64_t time_us)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%lld.%03lld", (long long)(time_us / 1000),
                   (long long)(time_us % 1000));
    fp_grid_add(grid, text);
}

static void add_upload(struct fp_grid *grid, const char *name, const struct fp_profile *profile,
                       const struct fp_delta *delta)
{
    fp_grid_add(grid, name);
    fp_grid_add(grid, "true");
    fp_grid_add(grid, fp_upload_format_name(profile->format));
    fp_grid_add_integer(grid, profile->sample_count);
    fp_grid_add_integer(grid, profile->frame_count);
    fp_grid_add_integer(grid, profile->stack_count);
    add_ms(grid, delta->profiled_us);
    add_ms(grid, delta->unattributed_us);
    fp_grid_add_integer(grid, profile->timing_count);
    fp_grid_add_integer(grid, profile->event_count);
    fp_grid_add_integer(grid, profile->timeline_count);
    fp_upload_report_add_cells(profile, grid);
    fp_grid_add_nothing(grid, 3);
}

/* Adds a row for each upload in a file. For people, the name says which session it is. */
static void add_valid(struct fp_grid *grid, const char *file, enum fp_form form,
                      const struct checked *checked)
{
    const struct fp_profile *profile = &checked->profile;
    bool is_session = form == FP_FORM_PEOPLE && profile->next != NULL;
    for (uint32_t i = 0; profile != NULL; profile = profile->next, i++) {
        struct fp_buf name;
        fp_buf_init(&name, strlen(file) + 32);
        fp_upload_report_add_name(profile, is_session, file, &name);
        add_upload(grid, fp_memory_text(&name), profile, &checked->deltas[i]);
        fp_buf_release(&name);
    }
}

static void add_invalid(struct fp_grid *grid, const char *file, const struct fp_upload_error *error)
{
    fp_grid_add(grid, file);
    fp_grid_add(grid, "false");
    fp_grid_add_nothing(grid, 9);
    fp_upload_report_add_cells(NULL, grid);
    fp_grid_add(grid, error->has_pointer ? error->pointer : NULL);
    fp_grid_add_optional(grid, error->offset >= 0, error->offset);
    fp_grid_add(grid, error->detail);
}

/* Folds each upload in a file. False if the arena is full. */
static bool fold_all(const struct fp_fold_context *context, struct fp_arena *arena,
                     struct checked *checked)
{
    size_t count = 0;
    for (const struct fp_profile *each = &checked->profile; each != NULL; each = each->next)
        count++;
    checked->deltas = fp_arena_array(arena, count, sizeof(*checked->deltas));
    if (checked->deltas == NULL)
        return false;
    struct fp_delta *delta = checked->deltas;
    for (const struct fp_profile *each = &checked->profile; each != NULL; each = each->next)
        if (!fp_fold(each, context, arena, delta++))
            return false;
    return true;
}

/* Decodes and folds one file. An upload that needs more memory than the limit is invalid, as in the
 * collector; the arena is full then. */
static enum fp_verdict check_body(const struct fp_input_file *body, const struct fp_rules *rules,
                                  struct fp_arena *arena, struct checked *checked)
{
    struct fp_str text;
    struct fp_upload_error *error = &checked->error;
    enum fp_verdict verdict = fp_input_file_inflate(body, &rules->format, arena, &text, error);
    if (verdict == FP_VERDICT_OK)
        verdict =
            fp_format_decode(text, FP_STR(""), &rules->format, arena, &checked->profile, error);
    if (verdict != FP_VERDICT_OK)
        return verdict;
    struct fp_fold_context context = {
        .rules = {.keep_query = rules->keep_query, .kept = rules->kept},
        .measures = rules->measures,
        .body_bytes = (uint32_t)body->bytes.len};
    if (fold_all(&context, arena, checked))
        return FP_VERDICT_OK;
    *error = (struct fp_upload_error){.verdict = FP_VERDICT_MEMORY, .offset = -1};
    (void)snprintf(error->detail, sizeof(error->detail),
                   "The upload needs more memory than limits.upload_memory allows.");
    return FP_VERDICT_MEMORY;
}

/* The findings in the files so far. */
struct findings {
    struct fp_grid grid;
    struct fp_buf lines; /* the reports, for people */
};

static enum fp_exit validate_file(const struct validate_options *validate, const char *file,
                                  const struct fp_rules *rules, struct findings *findings)
{
    struct fp_input_file body;
    if (!fp_input_file_read(file, &body))
        return FP_EXIT_TROUBLE;
    struct fp_arena arena;
    struct checked checked;
    const struct fp_upload_error *error = &checked.error;
    fp_arena_init(&arena, rules->upload_memory);
    enum fp_verdict verdict = check_body(&body, rules, &arena, &checked);
    bool valid = verdict == FP_VERDICT_OK;
    if (verdict == FP_VERDICT_MEMORY && !arena.full)
        fp_memory_end();
    if (valid) {
        add_valid(&findings->grid, body.name, validate->form, &checked);
        fp_upload_report_add_lines(&checked.profile, body.name, &findings->lines);
    } else if (validate->form != FP_FORM_PEOPLE) {
        add_invalid(&findings->grid, body.name, error);
    } else {
        struct fp_fault fault = {.pointer = error->has_pointer ? error->pointer : NULL,
                                 .offset = error->offset,
                                 .detail = error->detail};
        fp_message_fault(body.name, &fault);
    }
    fp_arena_release(&arena);
    fp_input_file_release(&body);
    return valid ? FP_EXIT_FINE : FP_EXIT_NO;
}

static void print_findings(struct findings *findings, enum fp_form form)
{
    fp_grid_print(&findings->grid, form);
    if (form == FP_FORM_PEOPLE)
        (void)fputs(fp_memory_text(&findings->lines), stdout);
}

enum fp_exit fp_validate_command(int argc, char **argv)
{
    struct validate_options validate = {0};
    struct fp_config *config;
    fp_command_parse(&validate_argp, argc, argv, &validate);
    if (!fp_config_file_load(validate.config_file, &config))
        return FP_EXIT_TROUBLE;
    struct fp_rules *rules = fp_config_file_rules(config);
    fp_config_free(config);
    struct findings findings;
    fp_grid_init(&findings.grid, columns, sizeof(columns) / sizeof(columns[0]));
    fp_buf_init(&findings.lines, REPORT_MAX);
    enum fp_exit worst = FP_EXIT_FINE;
    for (int i = 0; i < validate.files.count; i++) {
        enum fp_exit code = validate_file(&validate, validate.files.names[i], rules, &findings);
        if (code > worst)
            worst = code;
    }
    print_findings(&findings, validate.form);
    fp_grid_release(&findings.grid);
    fp_buf_release(&findings.lines);
    fp_rules_unref(rules);
    return worst;
}
