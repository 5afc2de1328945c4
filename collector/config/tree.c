/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree: walks a YAML document by the table of settings and records every error with its place.
 */
#include "collector/config/tree.h"

#include "collector/base/assert.h"
#include "collector/config/performance_budget.h"
#include "collector/config/value.h"
#include "collector/format/format.h"
#include "collector/profile/scrub/custom.h"
#include "collector/profile/scrub/script_template.h"
#include "collector/profile/scrub/timing_name.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    SITES_MAX = 1000,
    LIST_MAX = 1000,
    KEY_MAX = 48, /* longer than any setting's name */
};

/* A mapping of the file: the prefix of its keys' full names, and the owner of their fields. */
struct scope {
    const char *prefix;
    struct fp_site *site; /* NULL outside sites */
};

/* ---- errors ---- */

void fp_config_complain(struct fp_config_loader *loader, yaml_mark_t mark, const char *format, ...)
{
    if (loader->error_count++ >= FP_CONFIG_ERRORS_MAX)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fp_buf_addf(loader->errors, "%s:%zu:%zu: %s\n", loader->file, mark.line + 1, mark.column + 1,
                text);
}

/* Returns the part of a scalar that a message shows. */
static struct fp_str excerpt(struct fp_str text)
{
    enum { SHOWN_MAX = 64 };
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < ' ' || i == SHOWN_MAX)
            text.len = i;
    }
    return text;
}

static void name_bounds(const struct fp_setting *setting, char *text, size_t len)
{
    struct fp_buf buf;
    fp_buf_init(&buf, len);
    fp_setting_print_bounds(setting, &buf);
    snprintf(text, len, "; it must be %.*s", (int)buf.len, (const char *)buf.data);
    fp_buf_release(&buf);
}

/* True if the type's error messages are whole sentences: those on templates and hosts. */
static bool names_template(const struct fp_setting *setting)
{
    return setting->type == FP_SETTING_ROUTES || setting->type == FP_SETTING_TIMING_NAMES ||
           setting->type == FP_SETTING_SCRIPTS || setting->type == FP_SETTING_IGNORED ||
           setting->type == FP_SETTING_DIMENSIONS || setting->type == FP_SETTING_HOSTS ||
           setting->type == FP_SETTING_LINK || setting->type == FP_SETTING_PERFORMANCE_BUDGETS;
}

static void complain_of_value(struct fp_config_loader *loader, const yaml_node_t *node,
                              const struct fp_setting *setting, struct fp_str text,
                              const char *wrong)
{
    /* A connection string may hold a password. */
    bool secret = setting->type == FP_SETTING_CONNECTION;
    char bounds[128] = "";
    if (wrong == fp_setting_out_of_bounds)
        name_bounds(setting, bounds, sizeof(bounds));
    struct fp_str shown = excerpt(text);
    char detail[256];
    if (secret) {
        fp_value_explain_connection(text, detail, sizeof(detail));
        fp_config_complain(loader, node->start_mark, "%s: %s%s", setting->name, wrong, detail);
    } else
        fp_config_complain(loader, node->start_mark, "%s: \"%.*s\"%s %s%s", setting->name,
                           FP_STR_ARG(shown), names_template(setting) ? ":" : "", wrong, bounds);
}

/* ---- nodes ---- */

static struct fp_str scalar(const yaml_node_t *node)
{
    return (struct fp_str){(const char *)node->data.scalar.value, node->data.scalar.length};
}

static const char *node_name(const yaml_node_t *node)
{
    switch (node->type) {
    case YAML_SEQUENCE_NODE:
        return "a list";
    case YAML_MAPPING_NODE:
        return "a mapping";
    case YAML_SCALAR_NODE:
    case YAML_NO_NODE:
    default:
        return "a single value";
    }
}

static bool is_null(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    struct fp_str text = scalar(node);
    return text.len == 0 || fp_str_equal(text, FP_STR("~")) || fp_str_equal(text, FP_STR("null"));
}

static yaml_node_t *node_at(struct fp_config_loader *loader, int index)
{
    return yaml_document_get_node(&loader->document, index);
}

static size_t pair_count(const yaml_node_t *mapping)
{
    return (size_t)(mapping->data.mapping.pairs.top - mapping->data.mapping.pairs.start);
}

static size_t item_count(const yaml_node_t *sequence)
{
    return (size_t)(sequence->data.sequence.items.top - sequence->data.sequence.items.start);
}

/* Returns the key of a mapping's nth pair as text; empty when it is not a scalar. */
static struct fp_str key_at(struct fp_config_loader *loader, const yaml_node_t *mapping, size_t n)
{
    yaml_node_t *key = node_at(loader, mapping->data.mapping.pairs.start[n].key);
    return key->type == YAML_SCALAR_NODE ? scalar(key) : FP_STR("");
}

/* ---- values ---- */

static struct fp_arena *arena_of(struct fp_config_loader *loader, const struct fp_setting *setting)
{
    return setting->home == FP_HOME_CONFIG ? &loader->config->arena : &loader->config->rules->arena;
}

static const char *check_item(const struct fp_setting *setting, struct fp_str text)
{
    const char *wrong = fp_value_check_text(text);
    if (wrong != NULL)
        return wrong;
    if (setting->type == FP_SETTING_ORIGINS)
        return fp_value_check_origin(text);
    if (setting->type == FP_SETTING_ROUTES)
        return fp_route_check(text);
    if (setting->type == FP_SETTING_TIMING_NAMES)
        return fp_timing_name_check(text);
    if (setting->type == FP_SETTING_DIMENSIONS)
        return fp_custom_name_check(text);
    if (setting->type == FP_SETTING_SCRIPTS)
        return fp_script_template_check(text);
    if (setting->type == FP_SETTING_IGNORED)
        return fp_ignored_code_check(text);
    if (setting->type == FP_SETTING_HOSTS)
        return fp_value_check_host(text);
    if (setting->type == FP_SETTING_PERFORMANCE_BUDGETS) {
        struct fp_performance_budget budget;
        return fp_performance_budget_read(text, &budget);
    }
    if (setting->type == FP_SETTING_FORMATS)
        return fp_formats_named(text) != 0
                   ? NULL
                   : "is not a format; write web, speed-tracer or opera-scope";
    return setting->type == FP_SETTING_NAMES ? fp_value_check_name(text)
                                             : fp_value_check_path(text);
}

/* Returns how many entries a list may have. */
static size_t most_items(const struct fp_setting *setting)
{
    if (setting->type == FP_SETTING_PERFORMANCE_BUDGETS)
        return FP_PERFORMANCE_BUDGETS_MAX;
    return setting->type == FP_SETTING_DIMENSIONS ? FP_CUSTOM_DIMENSIONS_MAX : LIST_MAX;
}

static bool list_has(const struct fp_str_list *list, struct fp_str text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (fp_str_equal(list->items[i], text))
            return true;
    }
    return false;
}

static void load_list(struct fp_config_loader *loader, const struct fp_setting *setting,
                      const yaml_node_t *node, struct fp_str_list *list)
{
    struct fp_arena *arena = arena_of(loader, setting);
    const size_t most = most_items(setting);
    if (item_count(node) > most) {
        fp_config_complain(loader, node->start_mark, "%s: has more than %zu entries", setting->name,
                           most);
        return;
    }
    list->count = 0;
    list->items = fp_arena_array(arena, item_count(node), sizeof(*list->items));
    if (list->items == NULL) {
        fp_config_complain(loader, node->start_mark, "%s: does not fit in memory", setting->name);
        return;
    }
    for (size_t i = 0; i < item_count(node); i++) {
        yaml_node_t *item = node_at(loader, node->data.sequence.items.start[i]);
        if (item->type != YAML_SCALAR_NODE) {
            fp_config_complain(loader, item->start_mark, "%s: an entry must be a text, this is %s",
                               setting->name, node_name(item));
            continue;
        }
        const char *wrong = check_item(setting, scalar(item));
        if (wrong == NULL && list_has(list, scalar(item)))
            wrong = "is listed twice; leave one out";
        if (wrong == NULL && !fp_arena_copy(arena, scalar(item), &list->items[list->count++]))
            wrong = "does not fit in memory";
        if (wrong != NULL)
            complain_of_value(loader, item, setting, scalar(item), wrong);
    }
}

static void load_key_file(struct fp_config_loader *loader, yaml_mark_t mark, const char *file,
                          struct fleetprof_token_keys **keys)
{
    struct fleetprof_key_result result = fleetprof_token_keys_load(file, keys);
    char line[24] = "";
    if (result.line > 0)
        snprintf(line, sizeof(line), " line %u:", result.line);
    if (result.error == FLEETPROF_KEY_UNREADABLE)
        fp_config_complain(loader, mark, FP_SITE_PREFIX "token_keys: \"%s\" cannot be read: %s",
                           file, strerror(errno));
    else if (result.error != FLEETPROF_KEY_OK)
        fp_config_complain(loader, mark, FP_SITE_PREFIX "token_keys: \"%s\":%s %s", file, line,
                           fleetprof_key_error_text(result.error));
}

/* Reads the key files that a site's list names. */
static void load_keys(struct fp_config_loader *loader, const yaml_node_t *node,
                      struct fp_site *site)
{
    const struct fp_str_list *files = &site->token_key_files;
    site->token_keys = NULL;
    if (files->count < item_count(node))
        return; /* the list's errors are reported already */
    site->token_keys = fp_arena_array(&loader->config->rules->arena, files->count,
                                      sizeof(struct fleetprof_token_keys *));
    if (site->token_keys == NULL) {
        fp_config_complain(loader, node->start_mark,
                           FP_SITE_PREFIX "token_keys: does not fit in memory");
        return;
    }
    for (size_t i = 0; i < files->count; i++)
        load_key_file(loader, node_at(loader, node->data.sequence.items.start[i])->start_mark,
                      files->items[i].ptr, &site->token_keys[i]);
}

static void load_value(struct fp_config_loader *loader, const struct fp_setting *setting,
                       const yaml_node_t *node, struct fp_site *site)
{
    void *field = fp_setting_field(setting, loader->config, site);
    yaml_node_type_t wanted = fp_setting_is_list(setting) ? YAML_SEQUENCE_NODE : YAML_SCALAR_NODE;
    if (is_null(node)) {
        fp_config_complain(loader, node->start_mark, "%s: has no value; it must be %s",
                           setting->name, fp_setting_type_name(setting->type));
        return;
    }
    if (node->type != wanted) {
        fp_config_complain(loader, node->start_mark, "%s: must be %s, this is %s", setting->name,
                           fp_setting_type_name(setting->type), node_name(node));
        return;
    }
    if (fp_setting_is_list(setting)) {
        load_list(loader, setting, node, field);
        if (setting->type == FP_SETTING_KEY_FILES && site != NULL)
            load_keys(loader, node, site);
        return;
    }
    bool quoted = node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    bool unquoted_type = setting->type == FP_SETTING_COUNT || setting->type == FP_SETTING_FLAG;
    const char *wrong = quoted && unquoted_type ? "is a text; write it without quotes"
                                                : fp_setting_store(setting, scalar(node), field,
                                                                   arena_of(loader, setting));
    if (wrong != NULL)
        complain_of_value(loader, node, setting, scalar(node), wrong);
}

/* ---- mappings ---- */

struct fp_config_place *fp_config_place(struct fp_config_loader *loader,
                                        const struct fp_setting *setting)
{
    FP_ASSERT(fp_settings <= setting && setting < fp_settings + fp_setting_count);
    return &loader->places[setting - fp_settings];
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns the part of a setting's name that is a key of the scope's mapping, "" when the setting
 * belongs elsewhere. */
static struct fp_str key_in_scope(const struct fp_setting *setting, const struct scope *scope)
{
    if (!begins_with(setting->name, scope->prefix))
        return FP_STR("");
    const char *key = setting->name + strlen(scope->prefix);
    return (struct fp_str){key, strcspn(key, ".[")};
}

static void complain_of_unknown(struct fp_config_loader *loader, const struct scope *scope,
                                const yaml_node_t *key)
{
    char known[512] = "";
    size_t len = 0;
    struct fp_str last = FP_STR("");
    for (size_t i = 0; i < fp_setting_count && len < sizeof(known); i++) {
        struct fp_str name = key_in_scope(&fp_settings[i], scope);
        if (name.len == 0 || fp_str_equal(name, last))
            continue;
        len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%.*s", len == 0 ? "" : ", ",
                                FP_STR_ARG(name));
        last = name;
    }
    if (key->type != YAML_SCALAR_NODE) {
        fp_config_complain(loader, key->start_mark, "a setting's name must be a text, this is %s",
                           node_name(key));
        return;
    }
    struct fp_str shown = excerpt(scalar(key));
    fp_config_complain(loader, key->start_mark, "%s%.*s: is not a setting; known here: %s",
                       scope->prefix, FP_STR_ARG(shown), known);
}

/* True if an earlier pair has this key. Compares at most FP_CONFIG_SETTINGS_MAX pairs: a valid
 * mapping is never longer. */
static bool is_repeated(struct fp_config_loader *loader, const yaml_node_t *mapping, size_t n)
{
    struct fp_str key = key_at(loader, mapping, n);
    for (size_t i = 0; i < n && i < FP_CONFIG_SETTINGS_MAX; i++) {
        if (key.len > 0 && fp_str_equal(key_at(loader, mapping, i), key))
            return true;
    }
    return false;
}

static void check_required(struct fp_config_loader *loader, const struct scope *scope,
                           const yaml_node_t *mapping)
{
    for (size_t i = 0; i < fp_setting_count; i++) {
        const struct fp_setting *setting = &fp_settings[i];
        struct fp_str key = key_in_scope(setting, scope);
        bool is_own = key.len > 0 && key.ptr[key.len] == '\0';
        if (is_own && setting->required && !fp_config_place(loader, setting)->given)
            fp_config_complain(loader, mapping->start_mark,
                               "%s: is missing; it must be %s, such as %s", setting->name,
                               fp_setting_type_name(setting->type), setting->value);
    }
}

static void load_mapping(struct fp_config_loader *loader, const struct scope *scope,
                         const yaml_node_t *mapping);

static void check_unique_site(struct fp_config_loader *loader, const struct fp_site *site)
{
    const struct fp_rules *rules = loader->config->rules;
    FP_ASSERT(rules->sites <= site && site < rules->sites + rules->site_count);
    const struct fp_setting *name = fp_setting_find(FP_SITE_PREFIX "name");
    const struct fp_setting *key = fp_setting_find(FP_SITE_PREFIX "key");
    for (const struct fp_site *other = rules->sites; other < site; other++) {
        if (site->name.len > 0 && fp_str_equal(other->name, site->name))
            fp_config_complain(loader, fp_config_place(loader, name)->mark,
                               "%s: \"%.*s\" is the name of an earlier site; names must differ",
                               name->name, FP_STR_ARG(site->name));
        if (site->key.len > 0 && fp_str_equal(other->key, site->key))
            fp_config_complain(loader, fp_config_place(loader, key)->mark,
                               "%s: \"%.*s\" is the key of an earlier site; keys must differ",
                               key->name, FP_STR_ARG(site->key));
    }
}

static void check_site_tokens(struct fp_config_loader *loader, const struct fp_site *site)
{
    const struct fp_setting *require = fp_setting_find(FP_SITE_PREFIX "require_token");
    if (site->require_token && site->token_key_files.count == 0)
        fp_config_complain(loader, fp_config_place(loader, require)->mark,
                           "%s: no token can be valid without a key; name a key file in token_keys",
                           require->name);
}

/* Works out which formats a site does not take; without a list, all but those of the web. */
static void close_formats(struct fp_config_loader *loader, struct fp_site *site)
{
    const struct fp_setting *formats = fp_setting_find(FP_SITE_PREFIX "formats");
    const struct fp_config_place *place = fp_config_place(loader, formats);
    uint32_t open = place->given ? 0 : fp_formats_named(FP_STR("web"));
    for (size_t i = 0; i < site->format_names.count; i++)
        open |= fp_formats_named(site->format_names.items[i]);
    site->closed_formats = ~open;
    if (open == 0 && loader->error_count == 0)
        fp_config_complain(loader, place->mark,
                           "%s: is empty, so the site takes nothing; write [web]", formats->name);
}

/* Initialises a site: no setting given, each at its default, lists empty. */
static bool begin_site(struct fp_config_loader *loader, struct fp_site *site)
{
    for (size_t i = 0; i < fp_setting_count; i++) {
        const struct fp_setting *setting = &fp_settings[i];
        if (setting->home != FP_HOME_SITE)
            continue;
        loader->places[i].given = false;
        if (!setting->required && !fp_setting_is_list(setting) &&
            fp_setting_store(setting, fp_str_of(setting->value),
                             fp_setting_field(setting, loader->config, site),
                             arena_of(loader, setting)) != NULL)
            return false;
    }
    return true;
}

static void load_sites(struct fp_config_loader *loader, const yaml_node_t *node)
{
    struct fp_rules *rules = loader->config->rules;
    /* is_repeated() compares too few pairs to find each second list. */
    if (rules->site_count > 0) {
        fp_config_complain(loader, node->start_mark, "sites: is given twice; leave one out");
        return;
    }
    size_t count = node->type == YAML_SEQUENCE_NODE ? item_count(node) : 0;
    if (count == 0 || count > SITES_MAX) {
        fp_config_complain(loader, node->start_mark, "sites: must be a list of 1 to %d sites",
                           SITES_MAX);
        return;
    }
    rules->sites = fp_arena_array(&rules->arena, count, sizeof(*rules->sites));
    if (rules->sites == NULL) {
        fp_config_complain(loader, node->start_mark, "sites: does not fit in memory");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *item = node_at(loader, node->data.sequence.items.start[i]);
        struct fp_site *site = &rules->sites[i];
        rules->site_count++;
        site->budget = fp_budget_create();
        site->kept = fp_kept_create();
        site->lane = fp_lane_create();
        site->backlog = fp_backlog_create();
        if (site->budget == NULL || site->kept == NULL || site->lane == NULL ||
            site->backlog == NULL || !begin_site(loader, site)) {
            fp_config_complain(loader, item->start_mark, "sites: does not fit in memory");
            return;
        }
        load_mapping(loader, &(struct scope){FP_SITE_PREFIX, site}, item);
        site->metrics = fp_site_metrics_create(site->name);
        if (site->metrics == NULL) {
            fp_config_complain(loader, item->start_mark, "sites: does not fit in memory");
            return;
        }
        check_unique_site(loader, site);
        check_site_tokens(loader, site);
        close_formats(loader, site);
    }
}

/* True if a text can be a key. Full names of settings, with dots and brackets, cannot. */
static bool is_key(struct fp_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '_' && (text.ptr[i] < 'a' || text.ptr[i] > 'z'))
            return false;
    }
    return text.len > 0 && text.len < KEY_MAX;
}

/* Loads the value of a key that is not a setting itself: a section (also of a site), the sites, or
 * a mistake. */
static void load_section(struct fp_config_loader *loader, const struct scope *scope,
                         const yaml_node_t *key, const yaml_node_t *value)
{
    struct fp_str name = key->type == YAML_SCALAR_NODE ? scalar(key) : FP_STR("");
    if (scope->prefix[0] == '\0' && fp_str_equal(name, FP_STR("sites"))) {
        load_sites(loader, value);
        return;
    }
    char prefix[2 * KEY_MAX] = "";
    if (is_key(name)) {
        FP_ASSERT(strlen(scope->prefix) + name.len + strlen(".") < sizeof(prefix));
        snprintf(prefix, sizeof(prefix), "%s%.*s.", scope->prefix, FP_STR_ARG(name));
        for (size_t i = 0; i < fp_setting_count; i++) {
            if (begins_with(fp_settings[i].name, prefix)) {
                load_mapping(loader, &(struct scope){prefix, scope->site}, value);
                return;
            }
        }
    }
    complain_of_unknown(loader, scope, key);
}

static const struct fp_setting *find_in_scope(const struct scope *scope, struct fp_str key)
{
    char name[2 * KEY_MAX];
    if (!is_key(key))
        return NULL;
    FP_ASSERT(strlen(scope->prefix) + key.len < sizeof(name));
    snprintf(name, sizeof(name), "%s%.*s", scope->prefix, FP_STR_ARG(key));
    return fp_setting_find(name);
}

static void load_mapping(struct fp_config_loader *loader, const struct scope *scope,
                         const yaml_node_t *mapping)
{
    if (mapping->type != YAML_MAPPING_NODE) {
        fp_config_complain(loader, mapping->start_mark,
                           "%.*s: must be a mapping of settings, this is %s",
                           (int)strlen(scope->prefix) - 1, scope->prefix,
                           is_null(mapping) ? "nothing" : node_name(mapping));
        return;
    }
    for (size_t i = 0; i < pair_count(mapping); i++) {
        yaml_node_t *key = node_at(loader, mapping->data.mapping.pairs.start[i].key);
        yaml_node_t *value = node_at(loader, mapping->data.mapping.pairs.start[i].value);
        struct fp_str name = key_at(loader, mapping, i);
        const struct fp_setting *setting = find_in_scope(scope, name);
        if (is_repeated(loader, mapping, i)) {
            fp_config_complain(loader, key->start_mark, "%s%.*s: is given twice; leave one out",
                               scope->prefix, FP_STR_ARG(excerpt(name)));
        } else if (setting == NULL) {
            load_section(loader, scope, key, value);
        } else {
            *fp_config_place(loader, setting) = (struct fp_config_place){true, value->start_mark};
            load_value(loader, setting, value, scope->site);
        }
    }
    check_required(loader, scope, mapping);
}

/* Reports the missing sections that hold required settings: a missing section has no mapping for
 * check_required() to check. */
static void check_sections(struct fp_config_loader *loader, const yaml_node_t *root)
{
    bool has_sites = false;
    bool has_spool = false;
    for (size_t i = 0; i < pair_count(root); i++) {
        has_sites = has_sites || fp_str_equal(key_at(loader, root, i), FP_STR("sites"));
        has_spool = has_spool || fp_str_equal(key_at(loader, root, i), FP_STR("spool"));
    }
    if (!has_spool)
        fp_config_complain(loader, root->start_mark,
                           "spool: is missing; it must hold path, such as %s",
                           fp_setting_find("spool.path")->value);
    if (!has_sites)
        fp_config_complain(loader, root->start_mark,
                           "sites: is missing; it must be a list of sites, each with name and key");
}

void fp_config_load_root(struct fp_config_loader *loader, const yaml_node_t *root)
{
    load_mapping(loader, &(struct scope){"", NULL}, root);
    check_sections(loader, root);
}
