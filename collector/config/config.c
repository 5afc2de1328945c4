/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration: reads the file, checks settings against each other, and compares configurations
 * for a reload.
 */
#include "collector/config/config.h"

#include "collector/base/assert.h"
#include "collector/base/domain.h"

#include "collector/config/performance_budget.h"
#include "collector/config/settings.h"
#include "collector/config/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FILE_MAX = 1024 * 1024,
    TEXTS_MAX = 4 * FILE_MAX, /* limit of one arena; more than a file of FILE_MAX can need */
};

static yaml_mark_t mark_of(struct fp_config_loader *loader, const char *name)
{
    return fp_config_place(loader, fp_setting_find(name))->mark;
}

/* A setting whose maximum is another setting's value. */
struct order {
    const char *lesser;
    int64_t value;
    const char *greater;
    int64_t most;
};

/* Complains about the lesser setting where the file has it, else about the greater one. */
static void check_order(struct fp_config_loader *loader, const struct order *order)
{
    enum { NUMBER_MAX = 32 };
    if (order->value <= order->most)
        return;
    const struct fp_setting *lesser = fp_setting_find(order->lesser);
    bool is_given = fp_config_place(loader, lesser)->given;
    const char *named = is_given ? order->lesser : order->greater;
    struct fp_buf number;
    fp_buf_init(&number, NUMBER_MAX);
    fp_setting_print_number(lesser, is_given ? order->most : order->value, &number);
    fp_config_complain(loader, mark_of(loader, named), "%s: must be at %s %s, which is %.*s", named,
                       is_given ? "most" : "least", is_given ? order->greater : order->lesser,
                       (int)number.len, (const char *)number.data);
    fp_buf_release(&number);
}

static void check_orders(struct fp_config_loader *loader)
{
    const struct fp_config *config = loader->config;
    const struct fp_rules *rules = config->rules;
    const struct order orders[] = {
        {"flush.min_window", config->flush_min_window_us, "flush.max_window",
         config->flush_max_window_us},
        {"limits.max_body", (int64_t)rules->max_body, "limits.body_memory",
         (int64_t)rules->body_memory},
        {"limits.max_body", (int64_t)rules->max_body, "limits.max_inflated",
         (int64_t)rules->format.max_inflated},
        {"limits.max_inflated", (int64_t)rules->format.max_inflated, "limits.upload_memory",
         (int64_t)rules->upload_memory},
    };
    for (size_t i = 0; i < FP_COUNT(orders); i++)
        check_order(loader, &orders[i]);
}

/* Checks the rules that involve more than one setting. */
static void check_together(struct fp_config_loader *loader)
{
    const struct fp_config *config = loader->config;
    check_orders(loader);
    if (config->spool_max_bytes / 4 < config->spool_segment_bytes)
        fp_config_complain(loader, mark_of(loader, "spool.max_bytes"),
                           "spool.max_bytes: must be at least four times spool.segment_bytes");
    if (fp_str_equal(config->dead_letters_path, config->spool_path))
        fp_config_complain(loader, mark_of(loader, "dead_letters.path"),
                           "dead_letters.path: is the same directory as spool.path");
    if (config->admin.len != 0 && config->admin.len == config->listen.len &&
        memcmp(&config->admin.sa, &config->listen.sa, config->admin.len) == 0)
        fp_config_complain(loader, mark_of(loader, "admin"),
                           "admin: is the same address as listen");
}

/* Stores the defaults. They are texts in the table and are parsed like the file's values. */
static bool store_defaults(struct fp_config *config)
{
    for (size_t i = 0; i < fp_setting_count; i++) {
        const struct fp_setting *setting = &fp_settings[i];
        if (setting->required || setting->home == FP_HOME_SITE ||
            setting->type == FP_SETTING_ADDRESS || fp_setting_is_list(setting))
            continue;
        void *field = fp_setting_field(setting, config, NULL);
        if (fp_setting_store(setting, fp_str_of(setting->value), field, &config->arena) != NULL)
            return false;
    }
    return true;
}

static struct fp_config *create_config(void)
{
    struct fp_config *config = calloc(1, sizeof(*config));
    if (config == NULL)
        return NULL;
    fp_arena_init(&config->arena, TEXTS_MAX);
    config->rules = fp_rules_create(TEXTS_MAX);
    if (config->rules == NULL || !store_defaults(config)) {
        fp_config_free(config);
        return NULL;
    }
    return config;
}

void fp_config_free(struct fp_config *config)
{
    if (config == NULL)
        return;
    fp_rules_unref(config->rules);
    fp_arena_release(&config->arena);
    free(config);
}

/* Converts a byte offset, where the reader stopped, to a line and column. */
static yaml_mark_t mark_of_byte(const struct fp_buf *text, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset && i < text->len; i++) {
        mark.column = text->data[i] == '\n' ? 0 : mark.column + 1;
        mark.line += text->data[i] == '\n';
    }
    return mark;
}

/* Returns the byte at a mark, whose columns are characters; '\0' at the end. */
static uint8_t byte_at(const struct fp_buf *text, yaml_mark_t mark)
{
    size_t i = 0;
    for (size_t line = 0; line < mark.line && i < text->len; i++)
        line += text->data[i] == '\n';
    for (size_t column = 0; i < text->len; i++) {
        bool is_first = (text->data[i] & 0xc0) != 0x80; /* of a character in UTF-8 */
        if (is_first && column++ == mark.column)
            return text->data[i];
    }
    return '\0';
}

/* Returns what a common mistake that the parser has no words for looks like; "" for others. */
static const char *hint_of_yaml(const yaml_parser_t *parser)
{
    const char *problem = parser->problem != NULL ? parser->problem : "";
    return strcmp(problem, "mapping values are not allowed in this context") == 0 ||
                   strcmp(problem, "could not find expected ':'") == 0
               ? "; is a space missing after a colon, here or in the line above?"
               : "";
}

static void complain_of_yaml(struct fp_config_loader *loader, const yaml_parser_t *parser)
{
    yaml_mark_t mark = parser->error == YAML_READER_ERROR
                           ? mark_of_byte(&loader->text, parser->problem_offset)
                           : parser->problem_mark;
    if (parser->error == YAML_SCANNER_ERROR && byte_at(&loader->text, mark) == '\t') {
        fp_config_complain(loader, mark, "not YAML: a tab; indent with spaces");
        return;
    }
    fp_config_complain(loader, mark, "not YAML: %s%s%s%s",
                       parser->problem != NULL ? parser->problem : "out of memory",
                       parser->context != NULL ? " " : "",
                       parser->context != NULL ? parser->context : "", hint_of_yaml(parser));
}

static void load_document(struct fp_config_loader *loader, yaml_parser_t *parser)
{
    if (!yaml_parser_load(parser, &loader->document)) {
        complain_of_yaml(loader, parser);
        return;
    }
    yaml_node_t *root = yaml_document_get_root_node(&loader->document);
    if (root == NULL || root->type != YAML_MAPPING_NODE) {
        fp_config_complain(loader, (yaml_mark_t){0},
                           "the file must hold a mapping of settings, such as "
                           "`listen: 127.0.0.1:8600`");
    } else {
        fp_config_load_root(loader, root);
        if (loader->error_count == 0)
            check_together(loader);
        if (loader->error_count == 0 && !fp_rules_share_nonces(loader->config->rules))
            fp_config_complain(loader, (yaml_mark_t){0},
                               "limits.token_memory: there is not enough");
    }
    yaml_document_delete(&loader->document);

    if (!yaml_parser_load(parser, &loader->document)) {
        complain_of_yaml(loader, parser);
        return;
    }
    root = yaml_document_get_root_node(&loader->document);
    if (root != NULL)
        fp_config_complain(loader, root->start_mark,
                           "a second document begins here; only one is allowed");
    yaml_document_delete(&loader->document);
}

/* Reads the whole file. On failure, appends a line to errors. */
static bool read_file(const char *file, struct fp_buf *text, struct fp_buf *errors)
{
    FILE *stream = fopen(file, "re");
    if (stream == NULL) {
        fp_buf_addf(errors, "%s: cannot be opened: %s\n", file, strerror(errno));
        return false;
    }
    while (feof(stream) == 0 && ferror(stream) == 0 && !text->failed) {
        char chunk[4096];
        size_t got = fread(chunk, 1, sizeof(chunk), stream);
        fp_buf_add(text, chunk, got);
    }
    bool broken = ferror(stream) != 0;
    if (broken)
        fp_buf_addf(errors, "%s: cannot be read: %s\n", file, strerror(errno));
    else if (text->failed)
        fp_buf_addf(errors, "%s: %s\n", file,
                    text->starved ? "out of memory" : "is longer than 1 MiB");
    (void)fclose(stream);
    return !broken && !text->failed;
}

struct fp_config *fp_config_load(const char *file, struct fp_buf *errors)
{
    struct fp_config_loader loader = {.file = file, .errors = errors, .config = create_config()};
    FP_ASSERT(fp_setting_count <= FP_COUNT(loader.places));
    fp_buf_init(&loader.text, FILE_MAX);
    yaml_parser_t parser;
    bool has_parser = yaml_parser_initialize(&parser) != 0;
    if (loader.config == NULL || !has_parser) {
        fp_buf_addf(errors, "%s: out of memory\n", file);
        loader.error_count = 1;
    } else if (!read_file(file, &loader.text, errors)) {
        loader.error_count = 1;
    } else {
        const uint8_t *text = loader.text.data != NULL ? loader.text.data : (const uint8_t *)"";
        yaml_parser_set_input_string(&parser, text, loader.text.len);
        load_document(&loader, &parser);
    }
    if (has_parser)
        yaml_parser_delete(&parser);
    fp_buf_release(&loader.text);
    if (loader.error_count > FP_CONFIG_ERRORS_MAX)
        fp_buf_addf(errors, "%s: and %u errors more\n", file,
                    loader.error_count - FP_CONFIG_ERRORS_MAX);
    if (loader.error_count > 0) {
        fp_config_free(loader.config);
        return NULL;
    }
    return loader.config;
}

/* Names, templates, patterns and domains have no character that JSON escapes. */
static void print_item(bool is_first, struct fp_str text, struct fp_buf *out)
{
    fp_buf_addf(out, "%s\"%.*s\"", is_first ? "" : ",", FP_STR_ARG(text));
}

/* Appends the registrable domains of a site's origins. */
static void print_own_domains(const struct fp_site *site, bool is_first, struct fp_buf *out)
{
    for (size_t i = 0; i < site->origins.count; i++) {
        struct fp_str domain = fp_domain_of_url(site->origins.items[i]);
        if (domain.len == 0)
            continue; /* "null" */
        print_item(is_first, domain, out);
        is_first = false;
    }
}

void fp_config_print_sites(const struct fp_config *config, struct fp_buf *out)
{
    const struct fp_rules *rules = config->rules;
    for (size_t i = 0; i < rules->site_count; i++) {
        const struct fp_site *site = &rules->sites[i];
        fp_buf_addf(out, "%c\"%.*s\":{\"scripts\":[", i == 0 ? '{' : ',', FP_STR_ARG(site->name));
        for (size_t k = 0; k < site->scripts.count; k++)
            print_item(k == 0, site->scripts.items[k], out);
        fp_buf_addf(out, "],\"ignore\":[");
        for (size_t k = 0; k < site->ignore.count; k++)
            print_item(k == 0, site->ignore.items[k], out);
        fp_buf_addf(out, "],\"first_party\":[");
        for (size_t k = 0; k < site->first_party.count; k++)
            print_item(k == 0, site->first_party.items[k], out);
        print_own_domains(site, site->first_party.count == 0, out);
        fp_buf_addf(out, "],\"performance_budgets\":[");
        for (size_t k = 0; k < site->performance_budgets.count; k++) {
            fp_buf_addf(out, "%s", k == 0 ? "" : ",");
            fp_performance_budget_print(site->performance_budgets.items[k], out);
        }
        fp_buf_addf(out, "],\"source_link\":\"%.*s\",\"timezone\":\"%.*s\"}",
                    FP_STR_ARG(site->source_link), FP_STR_ARG(site->timezone));
    }
    fp_buf_addf(out, "}");
}

/* ---- reload ---- */

static bool holds_text(const struct fp_setting *setting)
{
    return setting->type == FP_SETTING_CONNECTION || setting->type == FP_SETTING_PATH ||
           setting->type == FP_SETTING_PATH_OR_NONE;
}

static bool is_same(const struct fp_setting *setting, const void *a, const void *b)
{
    if (!holds_text(setting))
        return memcmp(a, b, setting->size) == 0;
    return fp_str_equal(*(const struct fp_str *)a, *(const struct fp_str *)b);
}

bool fp_config_keep_fixed(struct fp_config *fresh, const struct fp_config *running,
                          void (*tell)(const char *name))
{
    for (size_t i = 0; i < fp_setting_count; i++) {
        const struct fp_setting *setting = &fp_settings[i];
        if (setting->reloadable)
            continue;
        FP_ASSERT(setting->home == FP_HOME_CONFIG);
        void *new_field = (char *)fresh + setting->offset;
        const void *old_field = (const char *)running + setting->offset;
        if (is_same(setting, new_field, old_field))
            continue;
        tell(setting->name);
        if (!holds_text(setting))
            memcpy(new_field, old_field, setting->size);
        else if (!fp_arena_copy(&fresh->arena, *(const struct fp_str *)old_field, new_field))
            return false;
    }
    return true;
}
