/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, custom: the values that a page says of its site's custom dimensions become one text.
 */
#include "collector/profile/scrub/custom.h"
#include "collector/base/assert.h"
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/path.h"

static const struct fp_str separator = {"; ", sizeof("; ") - 1};

/* Returns where the next part goes. */
static char *append(char *to, struct fp_str part)
{
    memcpy(to, part.ptr, part.len);
    return to + part.len;
}

/* Returns the last value of a name, NULL for none. */
static const struct fp_profile_custom *find(const struct fp_profile *profile, struct fp_str name)
{
    for (uint32_t i = profile->said.custom_count; i-- > 0;)
        if (fp_str_equal(profile->said.custom[i].name, name))
            return &profile->said.custom[i];
    return NULL;
}

static bool is_named(const struct fp_fold_context *context, struct fp_str name)
{
    for (size_t i = 0; i < context->custom_count; i++)
        if (fp_str_equal(context->custom[i], name))
            return true;
    return false;
}

/* Counts values that the site does not name, or that cannot be stored. */
static void count_dropped(struct fp_fold *fold)
{
    for (uint32_t i = 0; i < fold->profile->said.custom_count; i++) {
        const struct fp_profile_custom *custom = &fold->profile->said.custom[i];
        if (!is_named(fold->context, custom->name) ||
            (custom->value.len > 0 && !fp_custom_value_is_valid(custom->value)))
            fold->delta->dropped_custom++;
    }
}

/* Finds the values in the site's order, without what looks like an id of a visitor. */
static bool find_values(struct fp_fold *fold, struct fp_profile_custom *values, size_t *count)
{
    const struct fp_fold_context *context = fold->context;
    for (size_t i = 0; i < context->custom_count; i++) {
        const struct fp_profile_custom *said = find(fold->profile, context->custom[i]);
        if (said == NULL || !fp_custom_value_is_valid(said->value))
            continue;
        struct fp_profile_custom *custom = &values[(*count)++];
        custom->name = context->custom[i];
        if (!fp_scrub_path(&context->rules, said->value, fold->arena, &custom->value))
            return false;
        if (fp_fold_is_value_over(fold, custom))
            custom->value = fp_fold_overflow_name;
    }
    return true;
}

bool fp_fold_custom(struct fp_fold *fold, struct fp_str *text)
{
    struct fp_profile_custom values[FP_CUSTOM_DIMENSIONS_MAX];
    size_t count = 0;
    size_t len = 0;
    FP_ASSERT(fold->context->custom_count <= FP_CUSTOM_DIMENSIONS_MAX);
    count_dropped(fold);
    *text = FP_STR("");
    if (!find_values(fold, values, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        len += separator.len + values[i].name.len + 1 + values[i].value.len;
    if (count == 0)
        return true;
    char *bytes = fp_fold_array(fold, len, 1);
    if (bytes == NULL)
        return false;
    char *end = bytes;
    for (size_t i = 0; i < count; i++) {
        end = append(end, i > 0 ? separator : FP_STR(""));
        end = append(end, values[i].name);
        end = append(end, FP_STR("="));
        end = append(end, values[i].value);
    }
    *text = (struct fp_str){bytes, (size_t)(end - bytes)};
    return true;
}
