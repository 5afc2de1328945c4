/* SPDX-License-Identifier: Apache-2.0 */
/* Splits Server-Timing at its commas; reads only the name of each metric. */
#include "server_timing.h"

#include <string.h>

static const struct fleetprof_slice our_name = {"fleetprof", 9};

/* Returns the length of the first metric in `text`: a comma inside double quotes does not end it.
 */
static size_t metric_len(struct fleetprof_slice text)
{
    bool quoted = false;
    size_t i;

    for (i = 0; i < text.len && (quoted || text.data[i] != ','); i++) {
        if (quoted && text.data[i] == '\\' && i + 1 < text.len) {
            i++;
        } else if (text.data[i] == '"') {
            quoted = !quoted;
        }
    }
    return i;
}

/* Takes the first metric and its comma off the front of `rest`. False: nothing is left. */
static bool take_metric(struct fleetprof_slice *rest, struct fleetprof_slice *metric)
{
    size_t used;

    if (rest->len == 0) {
        return false;
    }
    metric->data = rest->data;
    metric->len = metric_len(*rest);
    used = metric->len < rest->len ? metric->len + 1 : metric->len;
    rest->data += used;
    rest->len -= used;
    return true;
}

/* True if the metric starts with our name, and the name ends there. */
static bool is_ours(struct fleetprof_slice metric)
{
    metric = fleetprof_slice_trim(metric);
    if (metric.len < our_name.len || memcmp(metric.data, our_name.data, our_name.len) != 0) {
        return false;
    }
    return metric.len == our_name.len || !fleetprof_is_token_char(metric.data[our_name.len]);
}

bool fleetprof_server_timing_names_us(struct fleetprof_slice line)
{
    struct fleetprof_slice metric;

    while (take_metric(&line, &metric)) {
        if (is_ours(metric)) {
            return true;
        }
    }
    return false;
}

/* Moves the text without its leading and trailing blanks to the front of `text`. Returns its
 * length. */
static size_t trim_in_place(char *text, size_t len)
{
    struct fleetprof_slice all = {text, len};
    struct fleetprof_slice trimmed = fleetprof_slice_trim(all);

    memmove(text, trimmed.data, trimmed.len);
    return trimmed.len;
}

size_t fleetprof_server_timing_others(struct fleetprof_slice line, char *others)
{
    struct fleetprof_slice metric;
    size_t len = 0;

    while (take_metric(&line, &metric)) {
        if (is_ours(metric)) {
            continue;
        }
        if (len > 0) {
            others[len++] = ',';
        }
        memcpy(others + len, metric.data, metric.len);
        len += metric.len;
    }
    return trim_in_place(others, len);
}
