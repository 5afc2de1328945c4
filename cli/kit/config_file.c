/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's configuration: the file of -c, else the usual file if it exists.
 */
#include "cli/kit/config_file.h"

#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "collector/config/settings.h"

#include <errno.h>
#include <unistd.h>

bool fp_config_file_load(const char *file, struct fp_config **config)
{
    *config = NULL;
    if (file == NULL) {
        if (access(FP_CONFIG_FILE, F_OK) != 0 && errno == ENOENT)
            return true;
        file = FP_CONFIG_FILE;
    }
    struct fp_buf errors;
    fp_buf_init(&errors, (size_t)64 * 1024);
    *config = fp_config_load(file, &errors);
    if (*config == NULL) {
        fp_message_error("could not read the configuration");
        fp_message_detail("%s", errors.len > 0 ? fp_memory_text(&errors) : "out of memory");
    }
    fp_buf_release(&errors);
    return *config != NULL;
}

/* Returns the default limits and privacy settings. */
static struct fp_rules *default_rules(void)
{
    struct fp_config config = {.rules = fp_rules_create((size_t)64 * 1024)};
    bool fine = config.rules != NULL;
    for (size_t i = 0; fine && i < fp_setting_count; i++) {
        const struct fp_setting *setting = &fp_settings[i];
        if (setting->home == FP_HOME_RULES && !fp_setting_is_list(setting))
            fine = fp_setting_store(setting, fp_str_of(setting->value),
                                    fp_setting_field(setting, &config, NULL),
                                    &config.rules->arena) == NULL;
    }
    if (!fine)
        fp_memory_end();
    return config.rules;
}

struct fp_rules *fp_config_file_rules(const struct fp_config *config)
{
    return config != NULL ? fp_rules_ref(config->rules) : default_rules();
}
