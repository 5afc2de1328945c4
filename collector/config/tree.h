/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tree: loads the YAML document of a configuration into the struct. Private to config.c and tree.c.
 */
#ifndef FP_CONFIG_TREE_H
#define FP_CONFIG_TREE_H

#include "collector/config/config.h"
#include "collector/config/settings.h"

#include <yaml.h>

#define FP_CONFIG_SETTINGS_MAX 128

/* The place where a setting was given. */
struct fp_config_place {
    bool given;
    yaml_mark_t mark;
};

struct fp_config_loader {
    const char *file;
    struct fp_buf text; /* of the file */
    yaml_document_t document;
    struct fp_config *config;
    struct fp_buf *errors;
    unsigned error_count;
    /* By index in fp_settings; for a site's settings, those of the latest site. */
    struct fp_config_place places[FP_CONFIG_SETTINGS_MAX];
};

/* Errors past this many are counted, not written. */
#define FP_CONFIG_ERRORS_MAX 50

/* Records an error: `file:line:column: text`. */
void fp_config_complain(struct fp_config_loader *loader, yaml_mark_t mark, const char *format, ...)
    FP_PRINTF(3, 4);

/* Returns the place of a setting. */
struct fp_config_place *fp_config_place(struct fp_config_loader *loader,
                                        const struct fp_setting *setting);

/* Stores all settings of the document's root mapping; records invalid and missing ones. */
void fp_config_load_root(struct fp_config_loader *loader, const yaml_node_t *root);

#endif
