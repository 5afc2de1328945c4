/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: the one table of all settings. Reading, reloading, --print-default-config and the
 * manual use it: tools/reference.mjs writes it into docs/configuration.md.
 */
#ifndef FP_CONFIG_SETTINGS_H
#define FP_CONFIG_SETTINGS_H

#include "collector/config/config.h"

enum fp_setting_type {
    FP_SETTING_CONNECTION,
    FP_SETTING_PATH,
    FP_SETTING_PATH_OR_NONE,
    FP_SETTING_ADDRESS,
    FP_SETTING_DURATION, /* int64_t microseconds */
    FP_SETTING_BYTES,    /* an integer of 4 or 8 bytes, like a count */
    FP_SETTING_COUNT,
    FP_SETTING_SHARE, /* uint32_t parts per million */
    FP_SETTING_FLAG,
    FP_SETTING_NAME,
    FP_SETTING_LINK,
    FP_SETTING_TIME_ZONE,
    FP_SETTING_ORIGINS, /* this and the following are lists */
    FP_SETTING_ROUTES,
    FP_SETTING_KEY_FILES,
    FP_SETTING_TIMING_NAMES,
    FP_SETTING_DIMENSIONS,
    FP_SETTING_SCRIPTS,
    FP_SETTING_IGNORED,
    FP_SETTING_HOSTS,
    FP_SETTING_PERFORMANCE_BUDGETS,
    FP_SETTING_NAMES,
    FP_SETTING_FORMATS,
};

/* The struct that contains the field. */
enum fp_setting_home { FP_HOME_CONFIG, FP_HOME_RULES, FP_HOME_SITE };

struct fp_setting {
    const char *name; /* dotted path; a site's settings begin with "sites[]." */
    enum fp_setting_type type;
    enum fp_setting_home home;
    size_t offset; /* of the field */
    size_t size;
    const char *value; /* the default; for a required setting, the sample value */
    bool required;
    bool reloadable;
    int64_t min; /* for numbers, bytes and microseconds; inclusive */
    int64_t max;
    const char *help; /* Markdown, with links as from docs/ */
};

extern const struct fp_setting fp_settings[];
extern const size_t fp_setting_count;

#define FP_SITE_PREFIX "sites[]."

/* Returns the setting with this name, NULL when there is none. */
const struct fp_setting *fp_setting_find(const char *name);

/* True if the setting's values are lists. A list has no text form, and outside of sites no
 * default. */
bool fp_setting_is_list(const struct fp_setting *setting);

/* Returns the address of the setting's value. site may be NULL for settings that do not belong to a
 * site. */
void *fp_setting_field(const struct fp_setting *setting, struct fp_config *config,
                       struct fp_site *site);

/* fp_setting_store returns this very pointer for a number outside its bounds. */
extern const char fp_setting_out_of_bounds[];

/*
 * Stores a scalar given as text and copies text values into the arena. Returns NULL on success,
 * else what is wrong. Lists have no text form.
 */
const char *fp_setting_store(const struct fp_setting *setting, struct fp_str text, void *field,
                             struct fp_arena *arena) FP_MUST_CHECK;

/* Returns the type's name for messages: "a duration", "a list of origins", … */
const char *fp_setting_type_name(enum fp_setting_type type);

/* Appends a number as the file would have it: "8MiB", "10s", "5". */
void fp_setting_print_number(const struct fp_setting *setting, int64_t value, struct fp_buf *out);

/* Appends "from 1 to 10"; nothing for a type without bounds. */
void fp_setting_print_bounds(const struct fp_setting *setting, struct fp_buf *out);

#endif
