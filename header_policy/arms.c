/* SPDX-License-Identifier: Apache-2.0 */
/* Reads experiments from the configuration, draws their arms, and writes what was drawn. */
#include "arms.h"

#include <string.h>

#define WEIGHT_DIGITS_MAX 5

/* The text of a number that is a macro. */
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

/* True if `c` may be in a name: of an experiment in lower case, because it names a variable. */
static bool is_name_char(char c, bool is_lower)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           (!is_lower && ((c >= 'A' && c <= 'Z') || c == '-'));
}

static bool is_name(struct fleetprof_slice text, bool is_lower)
{
    size_t i;

    for (i = 0; i < text.len; i++) {
        if (!is_name_char(text.data[i], is_lower)) {
            return false;
        }
    }
    return text.len > 0 && text.len <= FLEETPROF_ARM_NAME_MAX;
}

/* Takes the text before the first `separator`, and the separator, off the front of `rest`. */
static bool take_until(struct fleetprof_slice *rest, char separator, struct fleetprof_slice *part)
{
    const char *at = rest->len > 0 ? memchr(rest->data, separator, rest->len) : NULL;

    if (at == NULL) {
        return false;
    }
    part->data = rest->data;
    part->len = (size_t)(at - rest->data);
    rest->data += part->len + 1;
    rest->len -= part->len + 1;
    return true;
}

/* Parses a whole number from 1 to FLEETPROF_ARM_WEIGHT_MAX. */
static bool read_weight(struct fleetprof_slice text, uint32_t *weight)
{
    size_t i;

    *weight = 0;
    for (i = 0; i < text.len; i++) {
        if (i == WEIGHT_DIGITS_MAX || text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        *weight = *weight * 10 + (uint32_t)(text.data[i] - '0');
    }
    return *weight >= 1 && *weight <= FLEETPROF_ARM_WEIGHT_MAX;
}

/* Patterns of variants find an arm by how it begins (`chat=on%`), ... */
static enum fleetprof_arms_error find_arm(const struct fleetprof_experiment *experiment,
                                          struct fleetprof_slice name)
{
    size_t i;

    for (i = 0; i < experiment->count; i++) {
        const struct fleetprof_slice other = experiment->arm[i].name;

        if (fleetprof_slice_equal(other, name)) {
            return FLEETPROF_ARMS_TWICE;
        }
        if (memcmp(other.data, name.data, other.len < name.len ? other.len : name.len) == 0) {
            return FLEETPROF_ARMS_ALIKE;
        }
    }
    return FLEETPROF_ARMS_OK;
}

/* ... and an experiment by how it ends (`%hero=b%`). */
static enum fleetprof_arms_error find_experiment(const struct fleetprof_arms *arms,
                                                 struct fleetprof_slice name)
{
    size_t i;

    for (i = 0; i < arms->count; i++) {
        const struct fleetprof_slice other = arms->experiment[i].name;
        const size_t shorter = other.len < name.len ? other.len : name.len;

        if (fleetprof_slice_equal(other, name)) {
            return FLEETPROF_ARMS_EXPERIMENT_TWICE;
        }
        if (memcmp(other.data + (other.len - shorter), name.data + (name.len - shorter), shorter) ==
            0) {
            return FLEETPROF_ARMS_EXPERIMENT_ALIKE;
        }
    }
    return FLEETPROF_ARMS_OK;
}

static enum fleetprof_arms_error add_arm(struct fleetprof_experiment *experiment,
                                         struct fleetprof_slice text)
{
    struct fleetprof_arm arm;
    enum fleetprof_arms_error error;

    if (!take_until(&text, ':', &arm.name)) {
        return FLEETPROF_ARMS_SYNTAX;
    }
    if (!is_name(arm.name, false)) {
        return FLEETPROF_ARMS_ARM_NAME;
    }
    if (!read_weight(text, &arm.weight)) {
        return FLEETPROF_ARMS_WEIGHT;
    }
    error = find_arm(experiment, arm.name);
    if (error != FLEETPROF_ARMS_OK) {
        return error;
    }
    if (experiment->count == FLEETPROF_ARMS_MAX) {
        return FLEETPROF_ARMS_MANY;
    }
    experiment->arm[experiment->count++] = arm;
    experiment->weights += arm.weight;
    return FLEETPROF_ARMS_OK;
}

static enum fleetprof_arms_error read_arms(struct fleetprof_experiment *experiment,
                                           struct fleetprof_slice text)
{
    struct fleetprof_slice part;
    enum fleetprof_arms_error error;

    while (take_until(&text, ',', &part)) {
        error = add_arm(experiment, part);
        if (error != FLEETPROF_ARMS_OK) {
            return error;
        }
    }
    error = add_arm(experiment, text);
    if (error != FLEETPROF_ARMS_OK) {
        return error;
    }
    return experiment->count < 2 ? FLEETPROF_ARMS_ONE : FLEETPROF_ARMS_OK;
}

enum fleetprof_arms_error fleetprof_arms_add(struct fleetprof_arms *arms,
                                             struct fleetprof_slice text)
{
    struct fleetprof_experiment experiment;
    enum fleetprof_arms_error error;

    memset(&experiment, 0, sizeof(experiment));
    if (!take_until(&text, '=', &experiment.name)) {
        return FLEETPROF_ARMS_SYNTAX;
    }
    if (!is_name(experiment.name, true)) {
        return FLEETPROF_ARMS_EXPERIMENT_NAME;
    }
    error = find_experiment(arms, experiment.name);
    if (error != FLEETPROF_ARMS_OK) {
        return error;
    }
    error = read_arms(&experiment, text);
    if (error != FLEETPROF_ARMS_OK) {
        return error;
    }
    if (arms->count == FLEETPROF_EXPERIMENTS_MAX) {
        return FLEETPROF_ARMS_EXPERIMENTS_MANY;
    }
    arms->experiment[arms->count++] = experiment;
    return FLEETPROF_ARMS_OK;
}

const char *fleetprof_arms_error_text(enum fleetprof_arms_error error)
{
    switch (error) {
    case FLEETPROF_ARMS_SYNTAX:
        return "it is not an experiment; write its name and its arms with their weights, such as "
               "\"chat=on:99,off:1\"";
    case FLEETPROF_ARMS_EXPERIMENT_NAME:
        return "the experiment's name is not 1 to " TEXT(FLEETPROF_ARM_NAME_MAX) " of a-z 0-9 _";
    case FLEETPROF_ARMS_ARM_NAME:
        return "an arm's name is not 1 to " TEXT(FLEETPROF_ARM_NAME_MAX) " of A-Z a-z 0-9 _ -";
    case FLEETPROF_ARMS_WEIGHT:
        return "a weight is not a whole number from 1 to " TEXT(
            FLEETPROF_ARM_WEIGHT_MAX) "; write for example "
                                      "\"chat=on:99,off:1\"";
    case FLEETPROF_ARMS_ONE:
        return "there is only one arm; write at least two, such as \"chat=on:99,off:1\"";
    case FLEETPROF_ARMS_MANY:
        return "there are more than " TEXT(FLEETPROF_ARMS_MAX) " arms";
    case FLEETPROF_ARMS_TWICE:
        return "an arm is there twice; keep one";
    case FLEETPROF_ARMS_ALIKE:
        return "an arm's name begins with another's, so a pattern such as \"chat=on%\" would find "
               "both; rename one";
    case FLEETPROF_ARMS_EXPERIMENT_TWICE:
        return "the experiment is there twice; keep one";
    case FLEETPROF_ARMS_EXPERIMENT_ALIKE:
        return "the experiment's name ends in another's, so a pattern such as \"%hero=b%\" would "
               "find both; rename one";
    case FLEETPROF_ARMS_EXPERIMENTS_MANY:
        return "there are more than " TEXT(FLEETPROF_EXPERIMENTS_MAX) " experiments";
    case FLEETPROF_ARMS_OK:
    default:
        return "it is fine";
    }
}

size_t fleetprof_arm_draw(const struct fleetprof_experiment *experiment, uint64_t number)
{
    /* The divisor is the range of numbers per weight, rounded up, as in fleetprof_sampled. */
    uint64_t point = number / (UINT64_MAX / experiment->weights + 1);
    size_t i = 0;

    while (i + 1 < experiment->count && point >= experiment->arm[i].weight) {
        point -= experiment->arm[i].weight;
        i++;
    }
    return i;
}

static size_t put(char *text, struct fleetprof_slice part)
{
    memcpy(text, part.data, part.len);
    return part.len;
}

size_t fleetprof_arms_format(const struct fleetprof_arms *arms,
                             const unsigned char drawn[FLEETPROF_EXPERIMENTS_MAX],
                             char text[FLEETPROF_ARMS_TEXT_MAX])
{
    size_t len = 0;
    size_t i;

    for (i = 0; i < arms->count; i++) {
        const struct fleetprof_experiment *experiment = &arms->experiment[i];

        if (i > 0) {
            text[len++] = ',';
        }
        len += put(text + len, experiment->name);
        text[len++] = '=';
        len += put(text + len, experiment->arm[drawn[i]].name);
    }
    return len;
}
