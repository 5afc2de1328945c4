/*
 * Settings: the one table of all settings. Reading, reloading, --print-default-config and the
 * manual's lint go by it.
 */
#ifndef FP_CONFIG_SETTINGS_H
#define FP_CONFIG_SETTINGS_H

#include "collector/config/config.h"

enum fp_setting_type {
    FP_SETTING_TEXT,
    FP_SETTING_PATH,
    FP_SETTING_PATH_OR_NONE,
    FP_SETTING_ADDRESS,
    FP_SETTING_DURATION, /* int64_t microseconds */
    FP_SETTING_BYTES,    /* an integer of 4 or 8 bytes, as a count is */
    FP_SETTING_COUNT,
    FP_SETTING_SHARE, /* uint32_t parts per million */
    FP_SETTING_FLAG,
    FP_SETTING_NAME,
    FP_SETTING_ORIGINS, /* from here on: lists */
    FP_SETTING_ROUTES,
    FP_SETTING_KEY_FILES,
    FP_SETTING_TIMING_NAMES,
    FP_SETTING_NAMES,
};

/* Which struct the field is in. */
enum fp_setting_home { FP_HOME_CONFIG, FP_HOME_RULES, FP_HOME_SITE };

struct fp_setting {
    const char *name; /* dotted path; a site's begin with "sites[]." */
    enum fp_setting_type type;
    enum fp_setting_home home;
    size_t offset; /* of the field in its home */
    size_t size;
    const char *value; /* the default; of a required setting, what a sample shows */
    bool required;
    bool reloadable;
    int64_t min; /* of numbers, bytes and microseconds; inclusive */
    int64_t max;
    const char *help;
};

extern const struct fp_setting fp_settings[];
extern const size_t fp_setting_count;

#define FP_SITE_PREFIX "sites[]."

/* The setting of this name, NULL when there is none. */
const struct fp_setting *fp_setting_find(const char *name);

/* Whether its values are lists; these have no text form, and none outside of sites has a default.
 */
bool fp_setting_is_list(const struct fp_setting *setting);

/* Where the setting's value is; site may be NULL for settings that are not a site's. */
void *fp_setting_field(const struct fp_setting *setting, struct fp_config *config,
                       struct fp_site *site);

/* What fp_setting_store returns (this very pointer) for a number past its bounds. */
extern const char fp_setting_out_of_bounds[];

/*
 * Stores a scalar given as text. NULL when it is good, else what is wrong; the text goes into the
 * arena. Lists have no text form.
 */
const char *fp_setting_store(const struct fp_setting *setting, struct fp_str text, void *field,
                             struct fp_arena *arena) FP_MUST_CHECK;

/* "a duration", "a list of origins", …: what the type is called in messages. */
const char *fp_setting_type_name(enum fp_setting_type type);

/* Appends "from 1 to 10"; nothing for a type without bounds. */
void fp_setting_print_bounds(const struct fp_setting *setting, struct fp_buf *out);

#endif
